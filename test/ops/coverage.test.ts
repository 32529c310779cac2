import { expect, test } from 'vitest'
import { OPERATIONS } from '../../host/isa/operations.ts'
import { LANE_FUNCTIONS } from '../../host/reference/lanes.ts'

/** They read other lanes' registers, or none: the engine runs them itself. */
const WAVE_WIDE = /^v_(nop|clrexcp|readfirstlane_b32|readlane_b32|writelane_b32|movrel\w+|interp_\w+)$/
const names = OPERATIONS.filter(({ table }) => /^vop[123c]$/.test(table)).map(({ name }) => name)

test('every vector operation but the wave-wide ones has a lane function', () => {
  expect(names.filter((name) => !WAVE_WIDE.test(name) && !LANE_FUNCTIONS.has(name))).toEqual([])
})

test('every lane function but compares stands for an operation', () => {
  expect([...LANE_FUNCTIONS.keys()].filter((name) => !name.startsWith('v_cmp') && !names.includes(name))).toEqual([])
})

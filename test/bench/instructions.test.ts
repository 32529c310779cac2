import { beforeAll, describe, expect, test } from 'vitest'
import { KINDS, LOOP_LENGTH, looped, type Subject, subjects, TARGET } from '../../bench/instructions.ts'
import { bareWave, Device, type Execution, openEngine } from '../../host/index.ts'
import { OPERATIONS } from '../../host/isa/operations.ts'

const all = subjects(true, /./)

describe('the benchmark of operations', () => {
  test('measures every vector ALU operation that gfx803 has and Lanewise runs, but for interpolation, which reads LDS', () => {
    const has = OPERATIONS.filter(({ table, unsupported, opcode }) => {
      if (unsupported !== undefined || !/^vop[123c]$/.test(table)) return false
      return [table, 'vop3'].some((format) => opcode(format as 'vop1', TARGET.generation) !== undefined)
    })
    const measured = new Set(all.map(({ name }) => name))
    expect(has.map(({ name }) => name).filter((name) => !measured.has(name) && !name.startsWith('v_interp'))).toEqual([])
  })

  test('has a kind for each of them', () => {
    expect(all.filter(({ kind }) => !KINDS.includes(kind))).toEqual([])
  })
})

describe('each instruction of the benchmark runs over and over', () => {
  const TIMES = 3
  const devices: Device[] = []
  beforeAll(async () => {
    for (const engine of ['reference', 'core'] as const) devices.push(new Device(await openEngine(engine), TARGET))
  })
  const run = (device: Device, { words, vgprs, sgprs }: Subject): Execution => {
    const code = device.loadCode(looped(Uint32Array.from([...words, ...words])))
    const execution = bareWave(device, code, { vgprs, sgprs: new Map([...sgprs, [0, TIMES]]) })
    execution.step(1000)
    return execution
  }

  test.each(all.map((subject) => [subject.name, subject] as const))('%s', (_name, subject) => {
    const [reference, core] = devices.map((device) => run(device, subject))
    const own = subject.name.startsWith('v_cmpx') || subject.name.startsWith('v_cmpsx') ? 2 : 1
    for (const { status, error, instructions } of [reference!, core!])
      expect({ status, error, instructions }).toEqual({
        status: 'done',
        error: undefined,
        instructions: TIMES * (2 * own + LOOP_LENGTH) + 1,
      })
  })
})

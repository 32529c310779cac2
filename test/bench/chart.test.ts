import { expect, test } from 'vitest'
import { chart } from '../../bench/chart.ts'
import type { KernelResult } from '../../bench/kernels.ts'
import type { Machine } from '../../bench/machine.ts'

const MACHINE: Machine = { node: 'v22', v8: '12', cpu: 'A & <B>', threads: 4, relaxedFuses: true, compiler: undefined }
/** 100 million instructions: 1, 10, 100, 200 million a second; no C program. */
const RESULT: KernelResult = {
  name: 'saxpy.gfx803.O2.large',
  path: '',
  instructions: 100e6,
  reference: 100,
  referenceInstructions: 2e6,
  core: 10,
  translate: 1,
  coreOnce: undefined,
  auto: undefined,
  again: 0.25,
  together: { threads: 4, seconds: 0.5, again: 0.5 },
  native: undefined,
}

const widths = (svg: string): number[] =>
  [...svg.matchAll(/<rect class="s\d" x="116" y="\d+" width="([\d.]+)" height="11"/g)].map(([, width]) => Number(width))

test('bars are as long as the logarithm of the speed; what was not measured has none', () => {
  const [reference, core, translate, together, ...rest] = widths(chart([RESULT], MACHINE))
  expect(rest).toEqual([])
  expect(reference).toBe(1)
  expect(translate! / core!).toBeCloseTo(2, 2)
  expect(together! / core!).toBeCloseTo(Math.log10(200), 2)
})

test('the chart has all that it needs in itself, and names are text', () => {
  const svg = chart([RESULT], MACHINE)
  expect(svg).toContain('A &amp; &lt;B>')
  expect(svg).toContain('translate, 4 threads')
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|@import|url\(|<script/)
})

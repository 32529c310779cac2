/** Any text assembles or is refused in words; what assembles prints the same again. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decode } from '../../host/codec/decode.ts'
import { encode } from '../../host/codec/encode.ts'
import type { Instruction } from '../../host/codec/instruction.ts'
import { AssembleError } from '../../host/errors.ts'
import { TARGETS, type Target } from '../../host/isa/targets.ts'
import { assemble, assembleProgram } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { corpus, targets } from '../codec/corpus.ts'

function attempt<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof AssembleError)) throw error
    expect(error.line).toBeGreaterThan(0)
    expect(error.column).toBeGreaterThan(0)
    return undefined
  }
}

function checkAssembled(instruction: Instruction, target: Target): void {
  const words = Uint32Array.from(encode(instruction))
  expect(words).toHaveLength(instruction.dwords)
  expect(decode(words, 0, target)).toEqual(instruction)
  const text = disassemble(instruction)
  const again = attempt(() => assemble(text, target))
  if (again !== undefined) expect(disassemble(again)).toBe(text)
}

const pieces = [
  'v_add_f32',
  'v_mov_b32_dpp',
  's_mov_b64',
  'ds_read_b32',
  'exp',
  'mrt0',
  's_waitcnt',
  'vmcnt(0)',
  'v0',
  'v[0:1]',
  's[2:3]',
  's5',
  'vcc',
  'exec',
  'm0',
  '1.0',
  '-1',
  '0x12345678',
  '|v1|',
  '-v2',
  'neg(',
  'abs(v1)',
  'sext(v1)',
  'off',
  ',',
  ' ',
  ', ',
  ':',
  '[',
  ']',
  '(',
  ')',
  '"',
  'offset:4',
  'glc',
  'clamp',
  'mul:2',
  'quad_perm:[0,1,2,3]',
  'row_shl:1',
  'src0_sel:BYTE_0',
  'lit(5)',
  'label',
  '//',
  ';',
  '/*',
  '*/',
  '.set',
  '.long',
  '=',
  'x',
  '+',
  '<<',
  '\t',
  '\n',
]

test.each(targets)('$name: random pieces never break the assembler', (target) => {
  const head = fc.constantFrom(
    'v_add_f32 v0, ',
    's_mov_b64 ',
    'exp mrt0 ',
    's_waitcnt ',
    'ds_read_b32 v1',
    'v_mov_b32_dpp v0, v1',
    'buffer_load_dword v0, off',
    '',
  )
  const text = fc.tuple(head, fc.array(fc.constantFrom(...pieces), { maxLength: 12 })).map(([head, list]) => head + list.join(''))
  fc.assert(
    fc.property(text, (text) => {
      attempt(() => assembleProgram(text, target))
      const instruction = attempt(() => assemble(text, target))
      if (instruction !== undefined) checkAssembled(instruction, target)
    }),
    { numRuns: 200 },
  )
})

test.each(targets)('$name: lines with a change are read or refused', (target) => {
  const texts = corpus(target)
    .slice(0, 4000)
    .map(({ text }) => text)
    .filter((text) => text !== '')
  const change = fc.record({ text: fc.constantFrom(...texts), at: fc.nat(60), remove: fc.nat(4), insert: fc.constantFrom('', ...pieces) })
  fc.assert(
    fc.property(change, ({ text, at, remove, insert }) => {
      const changed = text.slice(0, at) + insert + text.slice(at + remove)
      const instruction = attempt(() => assemble(changed, target))
      if (instruction !== undefined) checkAssembled(instruction, target)
    }),
    { numRuns: 200 },
  )
})

test.each([
  'v_cmp_lt_i32_sdwa vcc, -v2, v3 src0_sel:BYTE_2 src1_sel:DWORD',
  'v_cmp_lt_i32_sdwa vcc, v2, |v3| src0_sel:BYTE_2 src1_sel:DWORD',
  'v_xor_b32_sdwa v1, |v2|, v3 dst_sel:DWORD src0_sel:BYTE_2 src1_sel:DWORD',
  'v_add_f32_sdwa v1, sext(v2), v3 dst_sel:DWORD src0_sel:BYTE_2 src1_sel:DWORD',
  'v_cvt_f32_u32_sdwa v1, -v2 dst_sel:DWORD src0_sel:BYTE_2',
  'v_mov_b32_dpp v1, -v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf',
  'v_add_u32_e64 v1, vcc, -v2, v3',
])('a sign that the operand does not take is refused: %s', (text) => {
  expect(() => assemble(text, TARGETS.gfx803)).toThrow(/cannot be encoded/)
})

test('deep nesting is refused, not run into', () => {
  const [target] = targets
  expect(attempt(() => assemble(`s_mov_b32 s0, ${'('.repeat(100_000)}1${')'.repeat(100_000)}`, target!))).toBeUndefined()
  expect(attempt(() => assemble(`s_mov_b32 s0, ${'-'.repeat(100_000)}1`, target!))).toBeUndefined()
  expect(attempt(() => assemble(`v_mov_b32 v0, ${'['.repeat(10_000)}v1${']'.repeat(10_000)}`, target!))).toBeUndefined()
})

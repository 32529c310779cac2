/** Whole sources: labels, symbols, comments, directives. The words are LLVM's. */
import { describe, expect, test } from 'vitest'
import { AssembleError } from '../../host/errors.ts'
import { TARGETS } from '../../host/isa/targets.ts'
import { assemble, assembleProgram } from '../../host/text/assemble.ts'
import { disassemble } from '../../host/text/disassemble.ts'
import { hexOf } from '../codec/corpus.ts'

const { gfx803, gfx600 } = TARGETS
const words = (source: string, target: (typeof TARGETS)[keyof typeof TARGETS] = gfx803): string =>
  hexOf(assembleProgram(source, target).words)

function refusal(source: string): AssembleError {
  try {
    assembleProgram(source, gfx803)
  } catch (error) {
    if (error instanceof AssembleError) return error
    throw error
  }
  throw new Error('the source was assembled')
}

describe('assembleProgram', () => {
  test('a loop: branches count dwords from the next instruction', () => {
    const source = `
      s_mov_b32 s0, 4        // counter
    loop:
      s_sub_u32 s0, s0, 1    ; one less
      s_cmp_lg_u32 s0, 0
      s_cbranch_scc1 loop
      s_branch end
      s_nop 0
    end: s_endpgm`
    const program = assembleProgram(source, gfx803)
    expect(hexOf(program.words)).toBe('be800084 80808100 bf078000 bf85fffd bf820001 bf800000 bf810000')
    expect(program.labels).toEqual(
      new Map([
        ['loop', 4],
        ['end', 24],
      ]),
    )
  })

  test('literals count: a label behind them is two dwords further', () => {
    expect(assembleProgram('s_mov_b32 s0, 0x12345678\nafter: s_branch after', gfx803).labels.get('after')).toBe(8)
    expect(words('s_branch over\ns_mov_b32 s0, 0x12345678\nover: s_endpgm')).toBe('bf820002 be8000ff 12345678 bf810000')
  })

  test('comments of three kinds, over lines too', () => {
    expect(words('/* a\n b */ s_nop 0 // c ; d\n; e\n s_nop /* in */ 1\n')).toBe('bf800000 bf800001')
  })

  test('symbols and expressions', () => {
    expect(words('.set n, 3\nk = n * 2 + 1\ns_mov_b32 s0, k\ns_movk_i32 s1, (1 << n) | 1\n.set n, 5\ns_nop n')).toBe(
      'be800087 b0010009 bf800005',
    )
    expect(words('.long 1, 0x10, -1\n.4byte end\nend: s_endpgm')).toBe('00000001 00000010 ffffffff 00000010 bf810000')
  })

  test('what compilers write around the code is read over', () => {
    const source = `
      .amdgcn_target "amdgcn-amd-amdhsa--gfx803"
      .amdhsa_code_object_version 5
      .text
      .globl k
      .p2align 8
      .type k,@function
    k:
      s_endpgm
      .section .rodata,"a",@progbits
      .long 7
      .amdhsa_kernel k
        .amdhsa_next_free_vgpr 4
      .end_amdhsa_kernel
      .text
    .Lend:
      .size k, .Lend-k
      .amdgpu_metadata
---
amdhsa.kernels: []
      .end_amdgpu_metadata`
    const program = assembleProgram(source, gfx803)
    expect(hexOf(program.words)).toBe('bf810000')
    expect([...program.labels]).toEqual([
      ['k', 0],
      ['.Lend', 4],
    ])
  })

  test('.p2align fills with s_nop', () => {
    expect(words('s_endpgm\n.p2align 3\ns_endpgm')).toBe('bf810000 bf800000 bf810000')
  })

  test('the same source has other words on another generation', () => {
    expect(words('v_add_f32 v5, v1, v2', gfx803)).toBe('020a0501')
    expect(words('v_add_f32 v5, v1, v2', gfx600)).toBe('060a0501')
  })

  test('errors name line and column', () => {
    const error = refusal('s_nop 0\n  v_mov_b32 v0, s[0:1]\n')
    expect([error.line, error.column]).toEqual([2, 17])
    expect(refusal('a:\na:').message).toMatch(/label a is defined twice/)
    expect(refusal('s_branch nowhere').message).toMatch(/no label nowhere is defined/)
    expect(refusal('.macro m').message).toMatch(/the directive \.macro is not understood/)
    expect(refusal('.amdgcn_target "amdgcn--gfx900"').message).toMatch(/the source is for gfx900, but is assembled for gfx803/)
    expect(refusal('.amdhsa_kernel k').message).toMatch(/the source ends before \.end_amdhsa_kernel/)
    expect(refusal('x = y + 1').message).toMatch(/y \+ 1 is no number/)
  })

  test('a branch that is too far is refused', () => {
    const far = `s_branch end\n${'s_nop 0\n'.repeat(32768)}end: s_endpgm`
    expect(refusal(far).message).toMatch(/end is 32768 dwords away; a branch reaches from -32768 to 32767/)
  })
})

describe('assemble', () => {
  test.each([
    // shortest encoding, constants
    ['v_add_f32 v0, 1.0, v1', '020002f2'],
    ['v_mul_f32 v0, 0x40490fdb, v1', '0a0002ff 40490fdb'],
    ['v_mul_f32 v0, 3.14159274, v1', '0a0002ff 40490fdb'],
    ['v_mul_f32 v0, 0.15915494, v1', '0a0002f8'],
    ['s_mov_b32 s0, -1', 'be8000c1'],
    ['s_mov_b32 s0, 0xffffffff', 'be8000c1'],
    ['s_mov_b32 s0, 1.0', 'be8000f2'],
    ['s_mov_b32 s0, 0x3f800000', 'be8000f2'],
    ['s_mov_b32 s0, lit(1)', 'be8000ff 00000001'],
    // modifiers need the long one
    ['v_add_f32 v0, -v1, v2', 'd1010000 20020501'],
    ['v_add_f32 v0, |v1|, -|v2|', 'd1010300 40020501'],
    ['v_add_f32 v0, v1, v2 clamp', 'd1018000 00020501'],
    ['v_add_f32 v0, v1, s2', 'd1010000 00000501'],
    ['v_cmp_lt_f32 s[2:3], v1, v2', 'd0410002 00020501'],
    // spaces, register lists, other spellings
    ['  v_mov_b32   v0 ,  v1  ', '7e000301'],
    ['s_mov_b64 [s0,s1], exec', 'be80017e'],
    ['s_waitcnt vmcnt(0) & lgkmcnt(0)', 'bf8c0070'],
    ['s_waitcnt vmcnt(0), lgkmcnt(0)', 'bf8c0070'],
    ['v_mov_b32_dpp v0, v1 quad_perm:[0, 1, 2, 3] row_mask:0xf bank_mask:0xf bound_ctrl:0', '7e0002fa ff08e401'],
  ])('%s is %s', (text, wanted) => {
    expect(words(text)).toBe(wanted)
  })

  test('a branch takes a number of dwords without a program around it', () => {
    expect(assemble('s_cbranch_scc0 -2', gfx803).fields.simm16).toBe(0xfffe)
  })
})

describe('disassemble', () => {
  test('with its place, a branch says where it goes', () => {
    expect(disassemble(assemble('s_branch -2', gfx803), 0x20)).toBe('s_branch 65534 // 0x001c')
    expect(disassemble(assemble('s_branch 3', gfx803), 0x20)).toBe('s_branch 3 // 0x0030')
    expect(disassemble(assemble('s_nop 0', gfx803), 0x20)).toBe('s_nop 0')
  })
})

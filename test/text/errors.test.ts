/** What the assembler says when it refuses: the column of the culprit, what was expected, what to do. */
import { describe, expect, test } from 'vitest'
import { AssembleError } from '../../host/errors.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { assemble } from '../../host/text/assemble.ts'

function refusal(line: string, target: TargetName = 'gfx803'): AssembleError {
  try {
    assemble(line, TARGETS[target])
  } catch (error) {
    if (error instanceof AssembleError) return error
    throw error
  }
  throw new Error(`${line} was assembled`)
}

/** The culprit is the text that begins at the error's column. */
const cases: [line: string, culprit: string, message: RegExp, target?: TargetName][] = [
  // names
  ['v_ad_f32 v0, v1, v2', 'v_ad_f32', /unknown instruction v_ad_f32; the nearest known names? (is|are) (v_mad_f32, )?v_add_f32/],
  ['flat_load_dword v0, v[2:3]', 'flat_load_dword', /does not exist on gfx600 \(gfx6\), only on gfx7, gfx8/, 'gfx600'],
  ['v_mad_f32_e32 v0, v1, v2, v3', 'v_mad_f32_e32', /v_mad_f32 has no e32 encoding on gfx803; there is v_mad_f32_e64/],
  // how many operands
  ['v_add_f32 v0, v1', '', /v_add_f32 in vop3a takes 3 operands \(vdst, src0, src1\), but 2 are given/],
  ['s_mov_b32 s0, s1, s2', 's2', /s_mov_b32 in sop1 takes 2 operands \(sdst, ssrc0\), but 3 are given/],
  ['s_barrier s0', 's0', /takes no operands, but 1 is given/],
  // kinds of operands
  ['v_add_f32_e32 v0, v1, s2', 's2', /s2 is no VGPR; vsrc1 of v_add_f32 in vop2 must be one/],
  ['s_mov_b32 v0, s1', 'v0', /v0 is no scalar register of gfx803; sdst of s_mov_b32 in sop1 must be 1 scalar register/],
  ['s_mov_b32 s0, v1', 'v1', /v1 is a VGPR; ssrc0 of s_mov_b32 in sop1 must be a scalar register or a constant/],
  ['v_readfirstlane_b32 s0, s1', 's1', /s1 is no VGPR/],
  ['v_mov_b32 v0, foo', 'foo', /foo is no operand of gfx803; a register, a number or a defined symbol was expected/],
  ['s_load_dword s0, s[2:3], v1', 'v1', /an offset of scalar memory is a scalar register or a number/],
  // widths, ranges, alignment
  ['v_add_f64 v[0:1], v2, v[4:5]', 'v2', /v2 has 1 register, but this operand of v_add_f64 in vop3a has 2; write v\[2:3\]/],
  ['s_mov_b64 s[1:2], s[4:5]', 's[1:2]', /s\[1:2\] is not aligned: 2 scalar registers must begin at a multiple of 2/],
  ['s_load_dwordx4 s[2:5], s[0:1], 0x0', 's[2:5]', /4 scalar registers must begin at a multiple of 4/],
  ['v_mov_b32 v256, v0', 'v256', /v256 goes beyond v255/],
  ['s_mov_b32 s102, s0', 's102', /s102 goes beyond the scalar registers of gfx803; s101 is the last/],
  ['s_mov_b32 s104, s0', 's104', /s104 goes beyond the scalar registers of gfx600; s103 is the last/, 'gfx600'],
  ['s_movk_i32 s0, 0x10000', '0x10000', /0x10000 does not fit 16 bits; it must be from -32768 to 65535/],
  ['s_load_dword s0, s[2:3], 0x100', '0x100', /offset 0x100 does not fit 8 bits; it must be from 0 to 255 dwords/, 'gfx600'],
  ['s_load_dword s0, s[2:3], 0x100000', '0x100000', /does not fit 20 bits; it must be from 0 to 1048575 bytes/],
  ['ds_read_b32 v0, v1 offset:65536', 'offset:65536', /offset:N with N from 0 to 65535 was expected/],
  ['buffer_load_dword v0, off, s[0:3], 0 offset:4096', 'offset:4096', /N from 0 to 4095/],
  // what a vector operation may read
  ['v_add_f32 v0, s1, s2', 's2', /would read 2 scalar registers; before gfx10 a vector operation reads one scalar register or one literal/],
  ['v_cndmask_b32_e32 v0, s0, v1, vcc', 'vcc', /would read 2 scalar registers \(with vcc, which it implies\)/],
  ['v_mad_f32 v0, v1, v2, 0x12345', '0x12345', /needs a literal, but src2 of v_mad_f32 in vop3a takes none on gfx803/],
  ['v_add_f32_e64 v0, 0.3, v1', '0.3', /0\.3 needs a literal, but src0 of v_add_f32 in vop3a takes none/],
  ['v_add_f32 v0, v1, 1234', '1234', /needs a literal/],
  ['s_add_u32 s0, 0x1234, 0x5678', '0x5678', /0x5678 would be a second literal beside 0x1234/],
  ['v_add_f32 v0, v1, lds_direct', 'lds_direct', /lds_direct can only be the first source/],
  ['v_ceil_f64 v[0:1], 0.1', '0.1', /does not fit the 32 bits of a literal for f64/],
  // modifiers
  ['v_add_u32 v0, vcc, |v1|, v2', '|v1|', /abs on v1 cannot be encoded: v_add_u32 in vop3b has no abs/],
  ['v_and_b32_e64 v0, -v1, v2', '-v1', /neg on v1 cannot be encoded/],
  ['v_and_b32_e64 v0, v1, v2 mul:2', 'mul:2', /v_and_b32 in vop3a does not take mul:2; remove it/],
  ['v_add_f32_e64 v0, v1, v2 mul:3', 'mul:3', /mul:2 or :4 was expected/],
  ['ds_read_b32 v0, v1 glc', 'glc', /glc is no modifier of ds_read_b32 in ds; known are offset, gds/],
  ['flat_load_dword v0, v[2:3] glc glc', 'glc', /glc repeats a modifier/],
  ['v_add_f32 v0, v1, v2 row_shl:1 src0_sel:BYTE_0', 'row_shl:1', /has no encoding on gfx803 with row_shl:1 and src0_sel:BYTE_0 together/],
  ['v_mov_b32_dpp v0, v1 row_shl:16', 'row_shl:16', /row_shl:N with N from 1 to 15 was expected/],
  ['v_mov_b32_sdwa v0, v1 dst_sel:BYTE_4', 'dst_sel:BYTE_4', /one of BYTE_0, BYTE_1/],
  ['buffer_load_dword v0, v1, s[0:3], 0', 'v1', /v1 is not used: neither idxen nor offen is set; write off or add a flag/],
  ['buffer_load_dword v0, off, s[0:3], 0 offen', 'off', /off stands where 1 VGPR must/],
  ['buffer_load_dword v0, v1, s[0:3], 0 offen idxen', 'v1', /v1 has 1 register, but this operand of buffer_load_dword in mubuf has 2/],
  ['ds_gws_init v0 offset:1', '', /ds_gws_init needs gds/],
  // immediates with names
  ['s_waitcnt vmcnt(16)', 'vmcnt(16)', /vmcnt\(16\) is no counter of s_waitcnt; write vmcnt\(0 to 15\)/],
  ['s_getreg_b32 s0, hwreg(HW_REG_MOOD)', 'hwreg', /is no hardware register/],
  ['s_sendmsg sendmsg(MSG_FOO)', 'sendmsg', /MSG_FOO is no message of gfx803; write a number from 0 to 15 or one of MSG_INTERRUPT/],
  ['exp mrt9 v0, v1, v2, v3', 'mrt9', /mrt9 is no export target; mrt0 to mrt7/],
  ['exp mrt0 v0, v1, v2, v2 compr', 'v1', /v1 must be v0: with compr a register holds two values/],
  ['v_interp_p1_f32 v0, v1, attr64.x', 'attr64.x', /attr0 to attr63/],
  ['s_branch loop', 'loop', /no label loop is defined/],
  ['s_add_u32 s0, s0, data@rel32@lo', 'data@rel32@lo', /is a relocation, which only a linker can fill in/],
  // punctuation
  ['v_mov_b32 v0,, v1', ', v1', /nothing stands before this comma/],
  ['v_mov_b32 v0,', ',', /nothing stands after this comma/],
  ['v_mov_b32 v0, v[1', '', /1 bracket is not closed at the end of the line/],
  ['v_mov_b32 v0 v1', 'v1', /operands are separated by commas/],
]

describe('the assembler refuses', () => {
  test.each(cases)('%s', (line, culprit, message, target) => {
    const error = refusal(line, target)
    expect(error.message).toMatch(message)
    expect(error.code).toBe('ERR_ASSEMBLE')
    expect(error.line).toBe(1)
    const rest = line.slice(error.column - 1)
    if (culprit === '') expect(rest).toBe('')
    else expect(rest.startsWith(culprit), `column ${error.column} is at "${rest}"`).toBe(true)
  })

  test('an empty line', () => {
    expect(refusal('   // nothing').message).toMatch(/the line is empty; an instruction was expected/)
  })
})

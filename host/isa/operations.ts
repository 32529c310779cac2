/** All operations of all tables in one list; an operation's place in it is its number in plan records. */
import { parseShape, type NativeFormat, type Opcodes, type RowSource, type Shape, type Trait } from './row.ts'
import { GENERATIONS, type Generation } from './targets.ts'
import { DS } from './rows/ds.ts'
import { EXP } from './rows/exp.ts'
import { FLAT } from './rows/flat.ts'
import { MIMG } from './rows/mimg.ts'
import { MTBUF } from './rows/mtbuf.ts'
import { MUBUF } from './rows/mubuf.ts'
import { SMEM } from './rows/smem.ts'
import { SOP1 } from './rows/sop1.ts'
import { SOP2 } from './rows/sop2.ts'
import { SOPC } from './rows/sopc.ts'
import { SOPK } from './rows/sopk.ts'
import { SOPP } from './rows/sopp.ts'
import { VINTRP } from './rows/vintrp.ts'
import { VOP1 } from './rows/vop1.ts'
import { VOP2 } from './rows/vop2.ts'
import { VOP3 } from './rows/vop3.ts'
import { VOPC } from './rows/vopc.ts'

/** A table's name is the native format of its operations and the file that holds their kernels. */
export type Table =
  | 'sop1' | 'sop2' | 'sopc' | 'sopk' | 'sopp' | 'smem' | 'vop1' | 'vop2' | 'vopc' | 'vop3' | 'vintrp'
  | 'ds' | 'flat' | 'mubuf' | 'mtbuf' | 'mimg' | 'exp'

/** An operation: what an instruction does, whatever its encoding. */
export interface Operation {
  /** The manual's lower-case mnemonic: the key of the reference function and of the kernel. */
  readonly name: string
  /** Place in OPERATIONS, and `op` of a plan record. */
  readonly number: number
  readonly table: Table
  readonly shape: Shape
  readonly traits: ReadonlySet<Trait>
  readonly forms: 'none' | 'sdwa' | 'dpp' | 'both'
  readonly literal: 0 | 1 | 2 | undefined
  /** Why Lanewise does not run it; undefined where it does. */
  readonly unsupported: string | undefined
  /** Why Lanewise does not run it in all its forms; undefined where it does. */
  readonly partly: string | undefined
  /** What assembly text calls it on a generation. */
  mnemonic(generation: Generation): string
  /** The opcode in a format (`vop3` derived from the native one where the table does not say), if there is one. */
  opcode(format: NativeFormat, generation: Generation): number | undefined
}

/** What is added to a native opcode to make the VOP3 one (GCN3 manual, section 13.3; Southern Islands manual, 7.2). */
export const VOP3_OFFSET: Readonly<Record<'vopc' | 'vop2' | 'vop1', Readonly<Record<Generation, number>>>> = {
  vopc: { gfx6: 0x000, gfx7: 0x000, gfx8: 0x000 },
  vop2: { gfx6: 0x100, gfx7: 0x100, gfx8: 0x100 },
  vop1: { gfx6: 0x180, gfx7: 0x180, gfx8: 0x140 },
}

/** Records that no instruction stands for; they come before the operations, so `op` of operation n is n itself. */
export const PSEUDO_OPERATIONS = ['illegal', 'unsupported', 'goto', 'end', 'device'] as const

const TABLES: Readonly<Record<Table, readonly RowSource[]>> = {
  sop1: SOP1, sop2: SOP2, sopc: SOPC, sopk: SOPK, sopp: SOPP, smem: SMEM,
  vop1: VOP1, vop2: VOP2, vopc: VOPC, vop3: VOP3, vintrp: VINTRP,
  ds: DS, flat: FLAT, mubuf: MUBUF, mtbuf: MTBUF, mimg: MIMG, exp: EXP,
}

const NO_TRAITS: ReadonlySet<Trait> = new Set()

function operation(table: Table, [name, opcodes, shape, rest = {}]: RowSource, number: number): Operation {
  const native = (['vopc', 'vop2', 'vop1'] as const).find((f) => opcodes[f] !== undefined)
  return {
    name, number, table,
    shape: parseShape(shape),
    traits: rest.traits === undefined ? NO_TRAITS : new Set(rest.traits.split(' ') as Trait[]),
    forms: rest.forms ?? 'both',
    literal: rest.literal,
    unsupported: rest.unsupported,
    partly: rest.partly,
    mnemonic: (generation) => rest.names?.[generation] ?? name,
    opcode(format, generation) {
      const column = GENERATIONS.indexOf(generation)
      const stated = (opcodes as Readonly<Record<string, Opcodes | null | undefined>>)[format]
      if (stated !== undefined) return stated?.[column]
      if (format !== 'vop3' || native === undefined) return undefined
      const base = opcodes[native]?.[column]
      return base === undefined ? undefined : base + VOP3_OFFSET[native][generation]
    },
  }
}

/** Every operation; `OPERATIONS[n].number === n + PSEUDO_OPERATIONS.length`. */
export const OPERATIONS: readonly Operation[] = (Object.keys(TABLES) as Table[])
  .flatMap((table) => TABLES[table].map((row) => [table, row] as const))
  .map(([table, row], index) => operation(table, row, index + PSEUDO_OPERATIONS.length))

/** Operations by the manual's lower-case mnemonic, without `_e32` or `_e64`. */
export const OPERATION_BY_NAME: ReadonlyMap<string, Operation> = new Map(OPERATIONS.map((o) => [o.name, o]))

/** The operation of a plan record's `op`, or undefined for a pseudo operation. */
export const operationOf = (op: number): Operation | undefined => OPERATIONS[op - PSEUDO_OPERATIONS.length]

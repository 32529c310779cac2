/** A bare wave: raw code that starts with exactly the registers it is given, without a dispatch. */
import { EXEC_HI, EXEC_LO, M0, SCALAR_COUNT, VCC_HI, VCC_LO, WAVE_SCC } from '../plan/layout.ts'
import type { Device } from './device.ts'
import { Execution, type Workload } from './execution.ts'
import type { Code } from './program.ts'
import { allocateWaves, headerOf, SGPR_LIMIT, type Wave, writeWave } from './wave.ts'

/** MODE as compilers start compute kernels on gfx8: nearest, f32 denormals flushed, f16 and f64 denormals kept, DX10_CLAMP, IEEE. */
export const DEFAULT_MODE = 0x3c0

/** What a bare wave starts with; registers not named are 0. */
export interface WaveState {
  /** Default: all lanes. */
  readonly exec?: bigint
  readonly vcc?: bigint
  readonly scc?: 0 | 1
  readonly m0?: number
  /** Default {@link DEFAULT_MODE}. */
  readonly mode?: number
  /** Dwords by scalar operand encoding, 0 to 127; the fields above go before. */
  readonly sgprs?: ReadonlyMap<number, number>
  /** By VGPR, 0 to 255: a dword for every lane, or one a lane; missing lanes are 0. */
  readonly vgprs?: ReadonlyMap<number, number | ArrayLike<number>>
  /** First bytes of LDS; the rest of its `ldsBytes` is 0. */
  readonly lds?: Uint8Array
  /** Bytes of LDS; default 65536. */
  readonly ldsBytes?: number
  /** Byte offset of the first instruction; default 0. */
  readonly pc?: number
}

/** All VGPRs that an encoding can name. */
const VGPR_COUNT = 256
const LDS_BYTES = 0x10000

/**
 * Prepares one wave with 256 VGPRs. Run it with {@link Execution.run}, or instruction by instruction with {@link Execution.step}.
 * @throws {RangeError} where a register does not exist
 */
export function bareWave(device: Device, code: Code, state: WaveState = {}): Execution {
  const { arena, target } = device
  const ldsBytes = Math.max(state.ldsBytes ?? LDS_BYTES, state.lds?.byteLength ?? 0)
  const lds = arena.allocate(ldsBytes)
  const program = device.program(code, VGPR_COUNT)
  const blocks = allocateWaves(arena, program, 1)
  const wave = blocks.waves[0]!
  const prepare = (): readonly Wave[] => {
    arena.bytes.fill(0, lds, lds + ldsBytes)
    if (state.lds) arena.bytes.set(state.lds, lds)
    const header = headerOf(device.machine, {
      pc: state.pc ?? 0,
      mode: state.mode ?? DEFAULT_MODE,
      lds,
      ldsBytes,
      sgprCount: SGPR_LIMIT[target.generation],
      waves: 1,
      index: 0,
    })
    header.set(WAVE_SCC, state.scc ?? 0)
    writeWave(arena, wave, { header, scalars: scalarsOf(state, target.waveSize), vectors: vectorsOf(state, target.waveSize) })
    return blocks.waves
  }
  const workload: Workload = {
    groupCount: 1,
    prepare,
    position: () => [0, 0, 0],
    free: () => {
      blocks.free()
      arena.free(lds)
    },
  }
  return new Execution(device, workload)
}

function scalarsOf(state: WaveState, waveSize: number): Uint32Array {
  const scalars = new Uint32Array(SCALAR_COUNT)
  state.sgprs?.forEach((value, encoding) => {
    check('scalar encoding', encoding, SCALAR_COUNT)
    scalars[encoding] = value
  })
  const pairs: [number, number, bigint | undefined][] = [
    [VCC_LO, VCC_HI, state.vcc],
    [EXEC_LO, EXEC_HI, state.exec ?? (1n << BigInt(waveSize)) - 1n],
  ]
  for (const [low, high, value] of pairs) {
    if (value === undefined) continue
    scalars[low] = Number(value & 0xffffffffn)
    scalars[high] = Number((value >> 32n) & 0xffffffffn)
  }
  if (state.m0 !== undefined) scalars[M0] = state.m0
  return scalars
}

function vectorsOf(state: WaveState, waveSize: number): Map<number, ArrayLike<number>> {
  const vectors = new Map<number, ArrayLike<number>>()
  for (const [register, value] of state.vgprs ?? []) {
    check('VGPR', register, VGPR_COUNT)
    if (typeof value === 'number') vectors.set(register, new Uint32Array(waveSize).fill(value))
    else if (value.length <= waveSize) vectors.set(register, value)
    else throw new RangeError(`v${register} has ${value.length} lanes; a wave has ${waveSize}`)
  }
  return vectors
}

function check(what: string, register: number, count: number): void {
  if (!Number.isInteger(register) || register < 0 || register >= count)
    throw new RangeError(`${what} is ${register}; it must be an integer from 0 to ${count - 1}`)
}

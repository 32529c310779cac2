/** What was measured on. */
import { cpus } from 'node:os'
import { hasFusedMadd } from '../host/core/relaxed.ts'
import { FLAGS, findCompiler } from './native.ts'

export interface Machine {
  readonly node: string
  readonly v8: string
  readonly cpu: string
  /** Threads that it runs at once. */
  readonly threads: number
  /** Whether relaxed SIMD is there and its relaxed_madd is a fused multiply-add: which of the two cores runs. */
  readonly relaxedFuses: boolean
  /** The C compiler with its flags, if there is one. */
  readonly compiler: string | undefined
}

export function thisMachine(): Machine {
  const compiler = findCompiler()
  return {
    node: process.version,
    v8: process.versions.v8,
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    threads: cpus().length,
    relaxedFuses: hasFusedMadd(),
    compiler: compiler && `${compiler.version} ${FLAGS.join(' ')}`,
  }
}

export const showMachine = ({ node, v8, cpu, threads, relaxedFuses, compiler }: Machine): string =>
  `Node ${node} (V8 ${v8}), ${cpu}, ${threads} threads; relaxed SIMD ${relaxedFuses ? 'fuses' : 'is not there or does not fuse'}\nC: ${compiler ?? 'no compiler'}\n`

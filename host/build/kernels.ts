/** Finds the kernels: the exported functions of assembly/ops and their signatures. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An exported function of a file in assembly/ops. */
export interface Kernel {
  readonly name: string
  /** File name without extension. */
  readonly file: string
  /** Parameter types in order, and the parameters' names. */
  readonly parameters: readonly string[]
  readonly names: readonly string[]
  readonly result: string
}

const EXPORT = /^export function (\w+)\(([^)]*)\)\s*:\s*(\w+)/gm

/** All kernels by name. @throws {Error} where two files export one name */
export function findKernels(directory: string): ReadonlyMap<string, Kernel> {
  const found = new Map<string, Kernel>()
  for (const entry of readdirSync(directory).sort()) {
    if (!entry.endsWith('.ts')) continue
    const source = readFileSync(join(directory, entry), 'utf8')
    for (const [, name, parameters, result] of source.matchAll(EXPORT)) {
      const other = found.get(name!)
      if (other) throw new Error(`${name} is exported by assembly/ops/${other.file}.ts and by ${entry}; one of them must go`)
      const pairs = [...parameters!.matchAll(/(\w+)\s*:\s*(\w+)/g)]
      found.set(name!, {
        name: name!,
        file: entry.slice(0, -3),
        parameters: pairs.map(([, , type]) => type!),
        names: pairs.map(([, parameter]) => parameter!),
        result: result!,
      })
    }
  }
  return found
}

/** A kernel that takes record and wave runs as it is. */
export const isWaveKernel = (kernel: Kernel): boolean => kernel.parameters[0] === 'usize'

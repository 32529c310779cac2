/** Tells which kernels translated code calls, since their bodies cannot stand in it (host/translate/wasm/kernels.ts): each call costs. */
import { Kernels } from '../translate/wasm/kernels.ts'
import { OP, type ParsedModule, parseModule, tokens } from '../translate/wasm/wasm.ts'

/** Why a kernel is called: what it is made of, or else its length. */
export type CallReason = 'long' | 'global' | 'table' | 'import' | 'recursion'

/**
 * The kernels that are called, by reason: a body is too long with all that it calls, or uses a global that the core does not export, calls
 * through the table, calls an import, or calls itself.
 * @param names of kernels that the core exports
 */
export function calledKernels(core: Uint8Array, names: readonly string[]): ReadonlyMap<CallReason, readonly string[]> {
  const kernels = new Kernels(core)
  const module = parseModule(core)
  const called = new Map<CallReason, string[]>()
  for (const name of names.filter((exported) => !kernels.spliceable(exported))) {
    const reason = obstacle(module, module.exports.get(name)!.index, []) ?? 'long'
    called.set(reason, [...(called.get(reason) ?? []), name])
  }
  return called
}

/** What in a function, or in one that it calls, cannot stand in another module; undefined where all can. */
function obstacle(module: ParsedModule, index: number, callers: readonly number[]): CallReason | undefined {
  if (index < module.importedFunctions) return 'import'
  if (callers.includes(index)) return 'recursion'
  for (const { op, index: used } of tokens(module, module.body(index - module.importedFunctions))) {
    if (op === OP.callIndirect) return 'table'
    if ((op === OP.globalGet || op === OP.globalSet) && !exported(module, 'global', used)) return 'global'
    const inner = op === OP.call && !exported(module, 'function', used) ? obstacle(module, used, [...callers, index]) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

const exported = ({ exports }: ParsedModule, kind: 'function' | 'global', index: number): boolean =>
  [...exports.values()].some((entry) => entry.kind === kind && entry.index === index)

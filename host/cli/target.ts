/** The option that says for which processor code is. */
import { LanewiseError, nearest, TARGETS, type Target } from '../index.ts'
import { type Option, UsageError, type Values } from './arguments.ts'

export const targetOption: Option = { short: 't', value: 'NAME', help: `LLVM processor name: ${Object.keys(TARGETS).join(', ')}.` }

/** @throws {UsageError} none or an unknown one is named; {LanewiseError} ERR_UNSUPPORTED: Lanewise has no tables for it */
export function targetOf(values: Values): Target {
  const name = values.text('target')
  if (name === undefined) throw new UsageError(`--target is missing; ${targetOption.help}`)
  return targetNamed(name)
}

/** A target by its name; throws as {@link targetOf}. */
export function targetNamed(name: string): Target {
  if (Object.hasOwn(TARGETS, name)) return TARGETS[name as keyof typeof TARGETS]
  const known = Object.keys(TARGETS)
  if (/^gfx[0-9a-f]{3,4}$/.test(name))
    throw new LanewiseError('ERR_UNSUPPORTED', `target ${name} is not supported; supported are ${known.join(', ')}`)
  throw new UsageError(`unknown target ${name}; did you mean ${nearest(name, known) ?? known.join(', ')}?`)
}

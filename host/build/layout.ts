/** Writes assembly/generated/layout.ts: the numbers of host/plan and host/engine that the core shares, copied from where they are written. */
import { FaultCode, Stop } from '../engine.ts'
import { OPERATIONS, PSEUDO_OPERATIONS } from '../isa/operations.ts'
import { LITERAL } from '../isa/registers.ts'
import { GENERATIONS } from '../isa/targets.ts'
import * as layout from '../plan/layout.ts'
import * as record from '../plan/record.ts'
import * as templates from '../plan/templates.ts'

/** Offsets and sizes are addresses in the core (`usize`), everything else is a plain number. */
const isAddress = (name: string): boolean =>
  /^(MACHINE|REGION|PROGRAM|WAVE|RECORD|EXEC_MASKS|PLANNER|LAYOUT|SLOT|TEMPLATE|FIELD|REMEMBERED)_/.test(name)
const constant = (name: string, value: number): string => `export const ${name}: ${isAddress(name) ? 'usize' : 'i32'} = ${value | 0};`

export function layoutSource(): string {
  const numbers = [...Object.entries(layout), ...Object.entries(record), ...Object.entries(templates)].filter(
    (e): e is [string, number] => typeof e[1] === 'number',
  )
  return [
    '// Written by host/build; the numbers live in host/plan and host/engine.ts.',
    ...numbers.map(([name, value]) => constant(name, value)),
    ...Object.entries(Stop).map(([name, value]) => constant(`STOP_${name.toUpperCase()}`, value)),
    ...Object.entries(FaultCode).map(([name, value]) => constant(`FAULT_${name.toUpperCase()}`, value)),
    ...GENERATIONS.map((name, index) => constant(name.toUpperCase(), index)),
    constant('LITERAL', LITERAL),
    constant('OPERATION_COUNT', PSEUDO_OPERATIONS.length + OPERATIONS.length),
    '',
  ].join('\n')
}

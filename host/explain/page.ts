/** The table of all operations as Markdown: docs/operations.md. */
import { meaningOf } from '../isa/descriptions/index.ts'
import type { FormatName } from '../isa/formats.ts'
import { OPERATIONS, type Operation, type Table } from '../isa/operations.ts'
import { GENERATIONS, type Generation } from '../isa/targets.ts'
import { explain, formatsOf } from './explain.ts'
import { generationsOf } from './find.ts'

const HEAD = `# Operations

Every operation that Lanewise decodes, by the tables of \`host/isa/rows\`. Written by \`npm run docs\`; do not edit.

\`lanewise explain NAME\` shows one of them with its bits, and runs it on values.

- *Opcodes* are hexadecimal, gfx6 / gfx7 / gfx8 (GCN 1.0, 1.1, 1.2), – where a generation has none. *e32* is the native encoding, *e64* VOP3.
  sdwa and dpp are forms of gfx8 with the opcode of e32.
- *Shape*: results = sources; f float, i signed, u unsigned, b bits, mask a bit a lane, \`=f32\` the destination's old value.
- *Modifiers* are those of the VOP3 form where there is one.
- *Fidelity*: *exact*, or *about*: hardware promises about one unit in the last place, and Lanewise returns the correctly rounded result;
  *no*: decoded, not run.
- *Meaning*: D is the result, S0 to S2 are the sources.
`

/** The text of docs/operations.md. */
export function operationsPage(): string {
  const tables = [...new Set(OPERATIONS.map((o) => o.table))]
  return `${HEAD}${tables.map(section).join('')}`
}

function section(table: Table): string {
  const operations = OPERATIONS.filter((o) => o.table === table)
  const rows = operations.map((o) => `| ${cells(o).join(' | ')} |\n`)
  return `\n## ${table}\n\n| name | opcodes | shape | modifiers | fidelity | meaning |\n|---|---|---|---|---|---|\n${rows.join('')}`
}

function cells(operation: Operation): string[] {
  const { encodings, fidelity, unsupported } = explain(operation)
  const widest = encodings.findLast(({ format }) => format.startsWith('vop3')) ?? encodings.at(-1)!
  return [
    names(operation),
    opcodes(operation),
    `\`${operation.shape.text}\``,
    widest.modifiers.map((name) => name.replace(/ .*/, '')).join(' '),
    unsupported !== undefined ? 'no' : fidelity === 'exact' ? 'exact' : 'about',
    meaningOf(operation).replaceAll('|', '\\|'),
  ]
}

/** The tables' name, and what generations call it otherwise. */
function names(operation: Operation): string {
  const others = new Map<string, Generation[]>()
  for (const generation of generationsOf(operation)) {
    const mnemonic = operation.mnemonic(generation)
    if (mnemonic !== operation.name) others.set(mnemonic, [...(others.get(mnemonic) ?? []), generation])
  }
  return [`**${operation.name}**`, ...[...others].map(([name, on]) => `${name} on ${on.join(', ')}`)].join('<br>')
}

/** A line for the native form, one for VOP3, and the names of the forms of gfx8. */
function opcodes(operation: Operation): string {
  const opcodeOf = (generation: Generation, wanted: (name: FormatName) => boolean) => {
    const format = formatsOf(operation, generation).find(({ name }) => wanted(name))
    return format === undefined ? undefined : operation.opcode(format.opcodes, generation)!.toString(16).padStart(2, '0')
  }
  const line = (label: string, wanted: (name: FormatName) => boolean) => {
    const list = GENERATIONS.map((generation) => opcodeOf(generation, wanted))
    return list.every((x) => x === undefined) ? [] : [`${label}${list.map((x) => x ?? '–').join(' / ')}`]
  }
  const isVop3 = (name: FormatName) => name.startsWith('vop3')
  const isForm = (name: FormatName) => /_(sdwa|dpp)$/.test(name)
  const vector = operation.table.startsWith('v')
  const native = line(vector ? 'e32 ' : '', (name) => !isVop3(name) && !isForm(name))
  const forms = ['sdwa', 'dpp'].filter((form) => opcodeOf('gfx8', (name) => name.endsWith(form)) !== undefined)
  return [...native, ...line('e64 ', isVop3), ...(forms.length > 0 ? [forms.join(', ')] : [])].join('<br>')
}

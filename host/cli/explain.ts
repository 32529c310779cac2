/** `lanewise explain`: what an operation means, how it is encoded, and what it does to given values. */
import {
  drawBits,
  ENGINES,
  type Encoding,
  type ExampleRun,
  type Explanation,
  explain as explanationOf,
  findOperation,
  type JobEngine,
  nearest,
  OPERATIONS,
  type Operation,
  type RegisterValue,
  runExample,
  similarNames,
  TARGETS,
  type Target,
  type Value,
} from '../index.ts'
import { type Command, type Option, UsageError, type Values } from './arguments.ts'
import { type Io, WIDTH } from './io.ts'
import { table, wrap } from './table.ts'
import { targetNamed, targetOption } from './target.ts'

const REGISTER = /^([vs]\d+|[vs]\[\d+:\d+\]|vcc|exec|scc|m0)$/

export const explain: Command = {
  summary: 'show what an operation means, its bits, and what it does to values',
  usage: 'explain [NAME [OPERAND, ...] [--REGISTER VALUE ...]]',
  options: {
    target: { ...targetOption, help: `${targetOption.help} Default: all generations; an example runs on the newest one that has it.` },
    mode: { value: 'BITS', help: 'MODE register of the run, 0x and digits; default 0x3c0.' },
    engine: { value: 'NAME', help: `Engine of the run: ${ENGINES.join(', ')}; default core.` },
  },
  registers: (name): Option | undefined =>
    REGISTER.test(name)
      ? { value: 'VALUE', help: 'A register at the start: a float, a whole number or a 0x word; a list with commas is lane by lane.' }
      : undefined,
  notes: [
    'With operands or values the instruction is run on them. --v1, --v[2:3], --s4, --vcc, --exec, --scc and --m0 set registers; all others are 0, EXEC all ones.',
    'Without a name all families of operations are listed, with the name of a family (vop3, ds, ...) its operations.',
  ],
  examples: [
    ['lanewise explain v_cubesc_f32', 'meaning, operands, encodings, opcodes'],
    ['lanewise explain v_cubesc_f32 v5, v1, v2, v3 --v1 1.0 --v2 -2.5 --v3 0.5', 'the same, and what it gives for these values'],
    ['lanewise explain v_add_u32 --target gfx803', 'by the name of a generation'],
  ],
  run: explainCommand,
}

async function explainCommand(values: Values, io: Io): Promise<number> {
  const [name, ...operands] = values.positionals
  const json = values.flag('json')
  if (name === undefined) {
    const list = families()
    await io.out.write(json ? `${JSON.stringify(list)}\n` : familyList(list))
    return 0
  }
  const target = values.text('target') === undefined ? undefined : targetNamed(values.text('target')!)
  const family = OPERATIONS.filter(({ table: of }) => of === name.toLowerCase())
  const operation = findOperation(name, target?.generation)
  if (operation === undefined && family.length > 0) {
    const names = family.map((o) => o.name)
    await io.out.write(
      json ? `${JSON.stringify({ family: name.toLowerCase(), operations: names })}\n` : `${wrap(names.join(' '), WIDTH)}\n`,
    )
    return 0
  }
  if (operation === undefined) throw unknown(name, target)
  const explanation = explanationOf(operation, target)
  const run = await runOf(explanation, operation, name, operands.join(' '), values, target)
  await io.out.write(json ? `${JSON.stringify(run === undefined ? explanation : { ...explanation, run })}\n` : page(explanation, run))
  if (run?.error === undefined) return 0
  return run.error.code === 'ERR_UNSUPPORTED' ? 3 : 1
}

function unknown(name: string, target: Target | undefined): UsageError {
  const elsewhere = target === undefined ? undefined : findOperation(name)
  if (elsewhere !== undefined)
    return new UsageError(`${target!.name} has no ${name}; without --target it is explained for the generations that have it`)
  const near = similarNames(name)
  return new UsageError(
    `unknown operation ${name}; ${near.length > 0 ? `did you mean ${near.join(', ')}?` : 'lanewise explain lists the families, lanewise explain vop3 one of them'}`,
  )
}

// --- families

const TITLES: Readonly<Record<Operation['table'], string>> = {
  sop1: 'scalar, one operand',
  sop2: 'scalar, two operands',
  sopc: 'scalar compares',
  sopk: 'scalar with a 16-bit immediate',
  sopp: 'program control',
  smem: 'scalar memory',
  vop1: 'vector, one operand',
  vop2: 'vector, two operands',
  vopc: 'vector compares',
  vop3: 'vector, three operands',
  vintrp: 'interpolation',
  ds: 'LDS and GDS',
  flat: 'memory by 64-bit addresses',
  mubuf: 'untyped buffers',
  mtbuf: 'typed buffers',
  mimg: 'images',
  exp: 'exports',
}

interface Family {
  readonly family: Operation['table']
  readonly title: string
  readonly operations: number
  readonly example: string
}

function families(): Family[] {
  return (Object.keys(TITLES) as Operation['table'][]).map((family) => {
    const list = OPERATIONS.filter(({ table: of }) => of === family)
    return { family, title: TITLES[family], operations: list.length, example: list[Math.min(3, list.length - 1)]!.name }
  })
}

function familyList(list: readonly Family[]): string {
  const rows = list.map((f) => [f.family, f.title, `${f.operations}`, f.example])
  return `${table(['family', 'what', 'operations', 'for example'], rows, [2])}\nlanewise explain vop3 lists a family, lanewise explain v_fma_f32 explains an operation.\n`
}

// --- running

async function runOf(
  { mnemonics }: Explanation,
  operation: Operation,
  name: string,
  operands: string,
  values: Values,
  target: Target | undefined,
): Promise<ExampleRun | undefined> {
  const { registers } = values
  const given = Object.keys(registers).length > 0
  for (const option of ['mode', 'engine'] as const)
    if (!given && operands === '' && values.text(option) !== undefined)
      throw new UsageError(`--${option} is for running an example; give operands or values, such as --v1 1.0`)
  if (!given && operands === '') return undefined
  const on = target ?? runTarget(mnemonics)
  const text = operands === '' ? explanationOf(operation, on).example.text : `${mnemonicFor(name, operation, on)} ${operands}`
  try {
    return await runExample(text, registers, { target: on, mode: modeOf(values), engine: engineOf(values) })
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message)
    throw error
  }
}

/** The newest target that has the operation. */
const runTarget = (mnemonics: Explanation['mnemonics']): Target =>
  Object.values(TARGETS).findLast(({ generation }) => mnemonics[generation] !== undefined)!

/** What the target's assembler calls it, with the suffix that was typed. */
const mnemonicFor = (name: string, operation: Operation, { generation }: Target): string =>
  operation.mnemonic(generation) + (/_(e32|e64|sdwa|dpp)$/i.exec(name)?.[0].toLowerCase() ?? '')

function modeOf(values: Values): number {
  const text = values.text('mode') ?? '0x3c0'
  if (!/^0x[0-9a-f]{1,8}$/i.test(text)) throw new UsageError(`--mode is ${text}; it must be 0x and up to eight digits, such as 0x3c0`)
  return Number(text)
}

function engineOf(values: Values): JobEngine {
  const text = values.text('engine') ?? 'core'
  const engine = ENGINES.find((name) => name === text)
  if (engine === undefined) throw new UsageError(`unknown engine ${text}; did you mean ${nearest(text, ENGINES) ?? ENGINES.join(', ')}?`)
  return engine
}

// --- the page

function page(e: Explanation, run: ExampleRun | undefined): string {
  const aliases = Object.entries(e.mnemonics).filter(([, name]) => name !== e.name)
  const parts = [
    `${e.name}\n`,
    ...(aliases.length === 0 ? [] : [`${wrap(aliases.map(([g, name]) => `${g}: ${name}`).join(', '), WIDTH, 2)}\n`]),
    `\n${wrap(e.meaning, WIDTH)}\n`,
    ...(e.unsupported === undefined ? [] : [`\n${wrap(`Lanewise does not run it: ${e.unsupported}.`, WIDTH)}\n`]),
    ...(e.partly === undefined ? [] : [`\n${wrap(`Not all its forms are run: ${e.partly}.`, WIDTH)}\n`]),
    ...(e.operands.length === 0
      ? []
      : [
          '\nOperands\n',
          indented(
            table(
              ['', '', '', ''],
              e.operands.map((o) => [o.field, o.type, o.access, o.takes]),
            ),
          ),
        ]),
    ...(e.implied.length === 0 ? [] : [`${wrap(e.implied.join('; '), WIDTH, 2)}\n`]),
    '\nFidelity\n',
    `${wrap([e.fidelity, ...e.mode].join('; '), WIDTH, 2)}\n`,
    '\nEncodings\n',
    ...e.encodings.map(encodingText),
    ...(run === undefined
      ? [`\nExample (${e.example.target})\n${wrap(e.example.text, WIDTH, 2)}\n  ${e.example.words.join(' ')}\n`]
      : [runText(run)]),
  ]
  return parts.join('')
}

/** A table without its head. */
const indented = (text: string): string =>
  text
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => `  ${line}\n`)
    .join('')

function encodingText(encoding: Encoding): string {
  const { format, generations, opcode, literal, modifiers, example } = encoding
  const head = `${format.toUpperCase()} on ${generations.join(', ')}: opcode ${opcode} (0x${opcode.toString(16)})`
  return [
    `\n${head}${literal ? ', a literal dword follows' : ''}`,
    drawBits(encoding.bits),
    ...(modifiers.length === 0 ? [] : [wrap(`modifiers: ${modifiers.join(', ')}`, WIDTH, 2)]),
    wrap(example.text, WIDTH, 2),
    '',
  ].join('\n')
}

function runText(run: ExampleRun): string {
  const head = `\nRun on ${run.target}, ${run.engine}, MODE 0x${run.mode.toString(16)}\n${wrap(run.instruction, WIDTH, 2)}\n\n`
  if (run.error !== undefined) return `${head}${wrap(`${run.error.code}: ${run.error.message}`, WIDTH, 2)}\n`
  const rows = [...run.before.flatMap((r) => rowsOf('', r)), ...run.after.flatMap((r) => rowsOf('→', r))]
  return head + indented(table(['', '', '', '', ''], rows))
}

/** A line for each lane that is shown. */
const rowsOf = (mark: string, { register, lanes }: RegisterValue): string[][] =>
  lanes.map((value: Value, lane) => [
    mark,
    lane === 0 ? register : '',
    lanes.length > 1 ? `lane ${lane}` : '',
    value.hex,
    value.number ?? '',
  ])

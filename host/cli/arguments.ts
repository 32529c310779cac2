/** The command line: what options a command has, reading them, and the help text. */
import { parseArgs } from 'node:util'
import { nearest } from '../index.ts'
import type { Io } from './io.ts'
import { wrap } from './table.ts'

export interface Option {
  /** One letter. */
  readonly short?: string
  /** What stands for the value in the help text; an option without one is a switch. */
  readonly value?: string
  /** The option may be given several times. */
  readonly multiple?: boolean
  readonly help: string
}

export interface Command {
  /** One line. */
  readonly summary: string
  /** The command line, after `lanewise`. */
  readonly usage: string
  readonly options: Readonly<Record<string, Option>>
  /** Options without fixed names: the registers of `explain`. */
  readonly registers?: (name: string) => Option | undefined
  /** Command line and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
  /** More to know, a paragraph each. */
  readonly notes?: readonly string[]
  /** Does it; the exit code. */
  readonly run: (values: Values, io: Io) => Promise<number>
}

/** A mistake on the command line. */
export class UsageError extends Error {
  readonly code = 'ERR_USAGE'
}

/** Options by name and everything else in order. */
export class Values {
  constructor(
    private readonly options: ReadonlyMap<string, readonly (string | true)[]>,
    readonly positionals: readonly string[],
    /** Values of options without fixed names. */
    readonly registers: Readonly<Record<string, string>> = {},
  ) {}

  flag(name: string): boolean {
    return this.options.has(name)
  }

  /** The value, if the option was given. */
  text(name: string): string | undefined {
    return this.list(name).at(-1)
  }

  list(name: string): readonly string[] {
    return (this.options.get(name) ?? []).filter((value) => value !== true)
  }
}

/** Options that every command has. */
const COMMON: Readonly<Record<string, Option>> = {
  json: { help: 'Print results and errors as JSON.' },
  help: { short: 'h', help: 'Print this help.' },
}

export const optionsOf = (command: Command): Readonly<Record<string, Option>> => ({ ...command.options, ...COMMON })

/**
 * Reads a command line.
 * @param registers finds options without fixed names
 * @throws {UsageError} an unknown option, a missing or an unwanted value
 */
export function readArguments(
  args: readonly string[],
  options: Readonly<Record<string, Option>>,
  registers?: Command['registers'],
): Values {
  // An operand may begin with a minus (-v1, -|s2|) where registers are options; so may a value.
  const hide = (arg: string): string => (registers !== undefined && /^-\|?[vs]?[\d[]/.test(arg) ? HIDDEN + arg : arg)
  const shown = (arg: string): string => (arg.startsWith(HIDDEN) ? arg.slice(HIDDEN.length) : arg)
  const named = args.flatMap((arg) => {
    const name = /^--([^=]+)/.exec(arg)?.[1]
    const option = name === undefined ? undefined : registers?.(name)
    return option === undefined ? [] : [[name!, option] as const]
  })
  const all = { ...Object.fromEntries(named), ...options }
  const config = Object.fromEntries(
    Object.entries(all).map(([name, { value, short }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short === undefined ? {} : { short }) },
    ]),
  )
  const { tokens } = parseArgs({ args: args.map(hide), options: config, strict: false, tokens: true, allowPositionals: true })
  const found = new Map<string, (string | true)[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(shown(token.value))
    if (token.kind !== 'option') continue
    const option = all[token.name]
    if (option === undefined) throw unknownOption(token.rawName, Object.keys(options))
    const value = option.value === undefined ? true : token.value === undefined ? undefined : shown(token.value)
    if (value === undefined) throw new UsageError(`${token.rawName} needs a value: --${token.name} ${option.value}`)
    if (value === true && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`)
    if (found.has(token.name) && value !== true && option.multiple !== true) throw new UsageError(`${token.rawName} is given twice`)
    found.set(token.name, [...(found.get(token.name) ?? []), value])
  }
  const values = new Values(found, positionals)
  return new Values(found, positionals, Object.fromEntries(named.map(([name]) => [name, values.text(name) ?? ''])))
}

/** Stands before arguments that must not be read as options. */
const HIDDEN = '\u0000'

function unknownOption(raw: string, names: readonly string[]): UsageError {
  const near = nearest(raw.replace(/^-+/, ''), names)
  return new UsageError(`unknown option ${raw}; ${near === undefined ? 'see --help' : `did you mean --${near}?`}`)
}

const EXIT_CODES = 'Exit code: 0 ok, 1 results differ or a kernel faulted, 2 wrong usage or bad input, 3 unsupported, 130 interrupted.'

/** Help of all commands, at most 80 columns wide. */
export function helpOfAll(commands: Readonly<Record<string, Command>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, command]) => `  ${name.padEnd(width)}  ${command.summary}`)
  return [
    'lanewise: runs AMD GPU machine code (GCN) without a GPU',
    '',
    'Usage: lanewise COMMAND [OPTION...]',
    '',
    ...lines,
    '',
    'lanewise COMMAND --help has options and examples of a command.',
    wrap(EXIT_CODES, 80),
    '',
  ].join('\n')
}

/** Help of one command, at most 80 columns wide. */
export function helpOf(name: string, command: Command): string {
  const options = Object.entries(optionsOf(command)).map(([option, { short, value, help }]) => {
    const head = `  ${short === undefined ? '    ' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`
    return `${head.padEnd(27)} ${wrap(help, 80, 28).trimStart()}`
  })
  const examples = command.examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`])
  return [
    `lanewise ${name}: ${command.summary}`,
    '',
    `Usage: lanewise ${command.usage}`,
    '',
    ...options,
    ...(command.notes ?? []).flatMap((note) => ['', wrap(note, 80)]),
    '',
    'Examples:',
    ...examples,
    '',
    wrap(EXIT_CODES, 80),
    '',
  ].join('\n')
}

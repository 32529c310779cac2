/** The command line in one screen: arguments → command → exit code. */
import { LanewiseError, nearest, resultError } from '../index.ts'
import { type Command, helpOf, helpOfAll, optionsOf, readArguments, UsageError } from './arguments.ts'
import { asm } from './asm.ts'
import { demo } from './demo.ts'
import { dis } from './dis.ts'
import { explain } from './explain.ts'
import type { Io } from './io.ts'
import { run } from './run.ts'

export const COMMANDS: Readonly<Record<string, Command>> = { run, dis, asm, explain, demo }

/** Runs a command line; the exit code. Never throws. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    const code = await execute(args, io)
    return io.signal.aborted ? 130 : code
  } catch (error) {
    if (io.signal.aborted) return 130
    const problem = error instanceof UsageError ? { code: error.code, message: error.message } : resultError(error)
    if (args.includes('--json')) await io.out.write(`${JSON.stringify({ error: problem })}\n`)
    else await io.err.write(`error: ${problem.message}\n`)
    return error instanceof LanewiseError && error.code === 'ERR_UNSUPPORTED' ? 3 : 2
  }
}

async function execute(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined) throw new UsageError(`no command; there are ${Object.keys(COMMANDS).join(', ')}; see lanewise --help`)
  if (name === '--help' || name === '-h' || name === 'help') {
    await io.out.write(helpOfAll(COMMANDS))
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    const near = nearest(name, Object.keys(COMMANDS))
    throw new UsageError(
      `unknown command ${name}; ${near === undefined ? `there are ${Object.keys(COMMANDS).join(', ')}` : `did you mean ${near}?`}`,
    )
  }
  const values = readArguments(rest, optionsOf(command), command.registers)
  if (!values.flag('help')) return command.run(values, io)
  await io.out.write(helpOf(name, command))
  return 0
}

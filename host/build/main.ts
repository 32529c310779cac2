/**
 * Builds the core: writes assembly/generated, compiles assembly/ with asc, and inlines the result in host/core/generated.
 *
 *   node build/build.mjs release|debug     debug: -O1 and no relaxed SIMD; for work, it compiles in seconds
 *     --missing                            names the operations without kernel and the kernels that translated code calls
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import asc, { type Transform } from 'assemblyscript/asc'
import binaryen from 'assemblyscript/binaryen'
import { OPERATIONS } from '../isa/operations.ts'
import { calledKernels } from './called.ts'
import { dispatchSource, entryName, exportsSource, material, missing, operandsSource } from './dispatch.ts'
import { findKernels } from './kernels.ts'
import { layoutSource } from './layout.ts'
import { scalarsSource } from './scalars.ts'

/** The release core without relaxed SIMD may not grow beyond this unnoticed (bytes). */
const SIZE_LIMIT = 200_000

/** asc warns of exported functions that take v128, and of code that would not do in 64-bit memory; the first are for other files only. */
const QUIET = ['--disableWarning', '112', '--disableWarning', '201']

/**
 * Functions that stand once instead of in every loop or step that calls them: they are called once an instruction, or rarely. Without this
 * the core is 130 KB larger and no faster. Names as the compiler gives them, `*` for the rest.
 */
const OUT_OF_LINE = [
  'assembly/fetch/*',
  'assembly/finish/*',
  'assembly/staged/signRow',
  'assembly/lib/half/*',
  'assembly/lib/rules/nan*',
  'assembly/lib/rules/*16',
  'assembly/lib/rules/*64',
  // Kernels that take so long, or are so rare, that a call of them costs little.
  ...['half', 'double', 'clamped', 'elementary', 'convert', 'wide'].map((file) => `assembly/ops/${file}/*`),
  ...['cube*', 'div*', 'sad*', 'msad*', 'ldexp*', 'cvt*', 'lerp*', 'mullit*'].map((name) => `assembly/ops/vop3/v_${name}`),
  'assembly/ops/vopc/v_cmp_class*',
  'assembly/lib/float/*ounded*',
  'assembly/lib/float/dropNaNs',
  // The long ways of memory instructions.
  'assembly/memory/*',
  ...['ds', 'flat', 'mubuf'].map((file) => `assembly/ops/${file}/locate*`),
  ...['refreshExec', 'setExec', 'fault', 'halt', 'jump', 'jumpTo'].map((name) => `assembly/state/${name}`),
]

/** What is done to the compiled core before it is optimized: what stands out of line, and the function table. */
const arrange: Partial<Transform> = {
  afterCompile(module) {
    fillTable(module)
    for (const pattern of OUT_OF_LINE) {
      binaryen.setPassArgument('no-inline', pattern)
      module.runPasses(['no-inline'])
    }
  },
}

/** Calls of binaryen's C interface that its types leave out. */
type TableCalls = Readonly<Record<'_BinaryenTableSetInitial' | '_BinaryenTableSetMax', (table: number, entries: number) => void>>

/**
 * Puts steps and kernels into the function table. AssemblyScript would make an object in static memory for every function that is a value;
 * here they are exports until now, and then only entries of the table.
 */
function fillTable(module: binaryen.Module): void {
  const functions: string[] = []
  for (;;) {
    const entry = entryName(functions.length + 1)
    const value = module.getExport(entry)
    if (!value) break
    functions.push(binaryen.getExportInfo(value).value)
    module.removeExport(entry)
  }
  const table = module.getTable('0')
  const { _BinaryenTableSetInitial: setInitial, _BinaryenTableSetMax: setMaximum } = binaryen as unknown as TableCalls
  setInitial(table, functions.length + 1)
  setMaximum(table, functions.length + 1)
  module.addActiveElementSegment('0', 'functions', functions, module.i32.const(1))
}

/** Writes a file whole or not at all; other builds may be reading it. */
function write(path: string, content: string | Uint8Array): void {
  if (typeof content === 'string' && existsSync(path) && readFileSync(path, 'utf8') === content) return
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}

async function compile(target: string): Promise<Uint8Array> {
  const outFile = `build/core.${target}.${process.pid}.wasm`
  const flags = ['--config', 'asconfig.json', '--target', target, '--outFile', outFile, ...QUIET]
  const { error, stderr } = await asc.main(flags, { transforms: [arrange as Transform] })
  const said = stderr.toString()
  if (said !== '') console.error(said)
  if (error) throw error
  const bytes = readFileSync(outFile)
  renameSync(outFile, `build/core.${target}.wasm`)
  return bytes
}

/** Packages that become part of the bundle, and the licences that must go wherever they go. */
const BUNDLED = {
  '@assemblyscript/loader': 'node_modules/assemblyscript/LICENSE',
  '@msgpack/msgpack': 'node_modules/@msgpack/msgpack/LICENSE',
  fzstd: 'node_modules/fzstd/LICENSE',
}

const licences = (): string =>
  Object.entries(BUNDLED)
    .map(([name, file]) => `${name}\n\n${readFileSync(file, 'utf8')}`)
    .join('\n\n')

/** A module that holds a wasm binary as base64, or undefined where this build does not make that core. */
const inlined = (wasm: Uint8Array | undefined): string =>
  `// Written by host/build.\nexport const base64: string | undefined = ${wasm ? `'${Buffer.from(wasm).toString('base64')}'` : 'undefined'}\n`

async function build(kind: string | undefined): Promise<void> {
  if (kind !== 'release' && kind !== 'debug') throw new Error(`build is called with ${kind}; it must be release or debug`)
  // Chunks have their hash in their name: those of the last build would stay.
  rmSync('dist', { recursive: true, force: true })
  const kernels = findKernels('assembly/ops')
  write('assembly/generated/layout.ts', layoutSource())
  write('assembly/generated/operands.ts', operandsSource())
  write('assembly/generated/dispatch.ts', dispatchSource(kernels))
  write('assembly/generated/exports.ts', exportsSource(kernels))
  write('host/core/generated/scalars.ts', scalarsSource(OPERATIONS, kernels))
  const simd = await compile(kind)
  const relaxed = kind === 'release' ? await compile('release-relaxed') : undefined
  write('host/core/generated/simd.ts', inlined(simd))
  write('host/core/generated/relaxed.ts', inlined(relaxed))
  write('dist/core/core.wasm', simd)
  write('dist/licences.txt', licences())
  const lacking = missing(kernels)
  const spliced = material(kernels).map(({ name }) => name)
  const called = calledKernels(relaxed ?? simd, spliced)
  const calls = [...called.values()].flat().length
  console.log(
    `core (${kind}): ${simd.length} bytes${relaxed ? `, relaxed ${relaxed.length}` : ''}; ${lacking.length} operations have no kernel; translated code calls ${calls} of ${spliced.length} kernels`,
  )
  if (process.argv.includes('--missing')) {
    for (const name of lacking) console.log(`no kernel: ${name}`)
    for (const [reason, names] of called) console.log(`called (${reason}): ${names.join(' ')}`)
  }
  if (kind === 'release' && simd.length > SIZE_LIMIT) throw new Error(`the core has ${simd.length} bytes; it may have ${SIZE_LIMIT}`)
}

await build(process.argv[2])

/**
 * Writes assembly/generated/dispatch.ts: a loop over the wave's lanes around every lane kernel, and the tables that the step loop calls
 * through.
 */
import { OPERATIONS, type Operation, PSEUDO_OPERATIONS } from '../isa/operations.ts'
import { bitsOf, type OperandType } from '../isa/row.ts'
import { isWaveKernel, type Kernel } from './kernels.ts'
import {
  carefulSource,
  flushes,
  hasCareful,
  hasMask,
  isMask,
  type Loop,
  loopSource,
  PLAIN,
  typeOf,
  type Variant,
  valueType,
  variantsOf,
} from './loops.ts'
import { isScalarKernel, scalarFits, scalarStep } from './scalars.ts'

type Kernels = ReadonlyMap<string, Kernel>

/** v_cmpx, v_cmps and v_cmpsx compare as v_cmp does. */
export const compareOf = (name: string): string => name.replace(/^v_cmp(x|s|sx)_/, 'v_cmp_')

/** Operations besides those of 16 bits that are rare, or take so long that a call more does not matter. */
const RARE = new RegExp(
  `^v_(${[
    'cmp_(f|t|tru)_\\w+',
    'cmp_\\w+_f64',
    '(exp|log|sin|cos)_f32',
    '\\w+_(clamp|legacy)_f\\d+',
    '(rcp|rsq|sqrt|trunc|ceil|rndne|floor|min|max|ldexp|fract|trig_preop)_f64',
    '(cube\\w\\w|mullit|div_fixup|frexp_mant)_f\\d+',
    'frexp_exp_\\w+',
    '[mq]*sad_\\w+',
    'lerp_u8',
    'cvt_(pk\\w+|\\w+_f64|f64_\\w+|off_\\w+|rpi_\\w+|flr_\\w+)',
    'mul_hi_[iu]32_[iu]24',
  ].join('|')})$`,
)
/** Of 16 bits, but not rare. */
const OWN_HALF = /^v_cvt_(f16_f32|f32_f16)$/
/** Inlined, the loop of the other round modes leaves V8 better code for that of nearest: an eighth of its time. */
const OWN_VARIANT = /^v_ma[cd]\w*_f32$/

/**
 * Whether an operation uses a common loop: one that would be the same for others but for the kernel stands once, and calls the kernel
 * through the function table. That costs some nanoseconds a chunk, and saves a quarter of the core's bytes.
 */
function isCommon({ name, shape }: Operation, { suffix }: Variant): boolean {
  if (shape.results.length > 1) return false
  const half = [...shape.results, ...shape.sources].some((type) => !isMask(type) && bitsOf(type) === 16)
  return (suffix !== '' && !OWN_VARIANT.test(name)) || (half && !OWN_HALF.test(name)) || RARE.test(name)
}

/** Loops of one operation: that of its kernel, and where MODE or the clamp bit can ask for another one, that of each variant. */
function loopsOf(operation: Operation, kernels: Kernels): readonly Loop[] {
  const maskKernel = hasMask(operation) && valueType(operation) ? kernels.get(`${operation.name}_mask`) : undefined
  return [PLAIN, ...variantsOf(operation)].flatMap((variant) => {
    const name = operation.name + variant.suffix
    const kernel = kernels.get(name)
    const quick = (variant === PLAIN && kernels.get(`${name}_quick`)) || kernel
    return kernel
      ? [{ name, operation, kernel, quick: quick!, maskKernel, variant, common: isCommon(operation, variant), modified: false }]
      : []
  })
}

/**
 * Operations that have a loop with modifiers besides their plain one: what compilers give modifiers, where staging them would take longer
 * than the operation itself. All others are staged (assembly/staged.ts).
 */
const MODIFIED = OPERATIONS.filter(({ name }) =>
  /^v_(add|sub|subrev|mul|mul_legacy|mad|fma|min|max|min3|max3|med3|rcp|sqrt|floor|ceil|fract|trunc|rndne|cvt_[iu]32|cmp_(n?(lt|le|gt|ge|eq|lg)|[ou]))_f32$|^v_(add|mul|fma)_f64$|^v_cvt_(f32_[iu]32|f32_f64|f64_f32)$|^v_cndmask_b32$/.test(
    name,
  ),
)
/** What stands in MODIFIED for an operation: v_mac_f32 is v_mad_f32 here, and v_rcp_iflag_f32 differs by an exception only. */
const modifiedOf = ({ name }: Operation): string =>
  compareOf(name)
    .replace(/^v_mac_f32$/, 'v_mad_f32')
    .replace(/^v_rcp_iflag_f32$/, 'v_rcp_f32')
const modifiedName = (operation: Operation): string => `${operation.name}_modified`
const modifiedLoop = (operation: Operation, kernels: Kernels): Loop => ({
  ...loopsOf(operation, kernels)[0]!,
  name: modifiedName(operation),
  common: false,
  modified: true,
})

/** Texts of which there are several, under names. */
function shared(texts: readonly string[], name: string): ReadonlyMap<string, string> {
  const several = new Set(texts.filter((text, i) => texts.indexOf(text) !== i))
  return new Map([...several].map((text, i) => [text, `${name}${i}`]))
}

/** The functions that stand once for several operations, and the kernels that they call, in the order of their numbers. */
class CommonLoops {
  /** Names by text; a loop that only one operation would use is that operation's own. */
  readonly #names: ReadonlyMap<string, string>
  /** The same of what does chunks that need care. */
  readonly #careful: ReadonlyMap<string, string>
  readonly kernels: Kernel[] = []

  constructor(loops: readonly Loop[]) {
    this.#names = shared(
      loops.filter((l) => l.common).map((l) => this.#text(l)),
      'common',
    )
    this.#careful = shared(loops.filter((l) => hasCareful(l) && !OWN_VARIANT.test(l.operation.name)).map(carefulSource), 'careful')
  }

  #text(loop: Loop): string {
    return loopSource({ ...loop, name: '' })
  }

  get sources(): readonly string[] {
    return [...this.#names, ...this.#careful].map(([text, name]) => text.replace('function ', `function ${name}`))
  }

  /** The function under a loop's name: it passes the kernel to the common loop, or is a loop of its own. */
  sourceOf(loop: Loop): string {
    const common = loop.common ? this.#names.get(this.#text(loop)) : undefined
    if (common !== undefined) return `function ${loop.name}(u: usize, w: usize): void {\n  ${common}(u, w, ${this.#kernel(loop)});\n}`
    const own = { ...loop, common: false }
    const careful = hasCareful(own) ? this.#careful.get(carefulSource(own)) : undefined
    return loopSource(careful === undefined ? own : { ...own, careful: { name: careful, kernel: this.#kernel(loop) } })
  }

  /** The number of a loop's kernel in the function table. */
  #kernel({ kernel }: Loop): number {
    return FIRST_KERNEL + this.kernels.push(kernel) - 1
  }
}

/** The functions of one operation: its step, or its loops, of which the first one asks whether it is the turn of another. */
function functionsOf(operation: Operation, kernels: Kernels, common: CommonLoops): string[] {
  const kernel = kernels.get(operation.name)!
  if (isWaveKernel(kernel)) return []
  if (isScalarKernel(kernel)) return [scalarStep(operation, kernel, kernels)]
  const [plain, ...others] = loopsOf(operation, kernels)
  const detours = others.map(({ name, variant }) => `  if (${variant.global}) return ${name}(u, w);\n`).join('')
  return [common.sourceOf(plain!).replace('{\n', `{\n${detours}`), ...others.map((loop) => common.sourceOf(loop))]
}

/** Whether a kernel has the parameters that the shape asks for. */
function fits(operation: Operation, kernel: Kernel): boolean {
  if (isScalarKernel(kernel)) return scalarFits(operation, kernel)
  return kernel.parameters.length === (isWaveKernel(kernel) ? 2 : operation.shape.sources.length)
}

/** Types of operands as the staging code (assembly/fetch.ts, finish.ts) reads them: 4 bits a source, 4 bits the value, then flags. */
const TYPE_CODES: Readonly<Partial<Record<OperandType, number>>> = {
  f16: 2,
  f32: 3,
  f64: 4,
  i16: 5,
  u16: 5,
  b16: 5,
  i64: 6,
  u64: 6,
  b64: 6,
  mask: 7,
  vcc: 7,
  s32: 8,
  b128: 9,
}
const typeCode = (type: OperandType | undefined): number => (type === undefined ? 0 : (TYPE_CODES[type] ?? 1))
function operandsWord(operation: Operation): number {
  const { sources } = operation.shape
  let word = 0
  for (let i = 0; i < 3; i++) word |= typeCode(typeOf(operation, sources[i])) << (4 * i)
  word |= typeCode(valueType(operation)) << 12
  if (/^v_cmps?x_/.test(operation.name)) word |= 1 << 16
  if (/^vop/.test(operation.table)) word |= 1 << 19
  if (!/^s/.test(operation.table)) word |= 1 << 20
  if (operation.name === 'v_interp_p2_f32') word |= 1 << 21
  if (operation.shape.tied === 2) word |= 1 << 22
  if (flushes(operation, valueType(operation))) word |= operation.traits.has('ftz') ? 3 << 17 : 1 << 17
  // Above: the number of the loop with modifiers from 1 on, 0 where there is none.
  return word | ((MODIFIED.findIndex(({ name }) => name === modifiedOf(operation)) + 1) << 23)
}

/** The name under which the core exports a function to the build, which puts it into the function table behind the empty entry 0. */
export const entryName = (entry: number): string => `entry_${entry}`
const stepName = (number: number): string => entryName(number + 1)
/** Behind the steps: the loops with modifiers, then the kernels of the common loops. */
const FIRST_MODIFIED = PSEUDO_OPERATIONS.length + OPERATIONS.length + 1
const FIRST_KERNEL = FIRST_MODIFIED + MODIFIED.length

/** Of compares that signs do not matter to, the plain loop will do. */
const ignoresSigns = ({ name }: Operation): boolean => /^v_cmp_[ou]_f32$/.test(name)

function stepExport({ number }: Operation, kernel: Kernel | undefined): string {
  if (!kernel) return `export { unsupported as ${stepName(number)} } from '../pseudo';`
  return `export { ${kernel.name} as ${stepName(number)} }${isWaveKernel(kernel) ? ` from '../ops/${kernel.file}'` : ''};`
}

/** The text of assembly/generated/dispatch.ts. */
export function dispatchSource(kernels: Kernels): string {
  const running = OPERATIONS.map((o) => ({ operation: o, kernel: kernels.get(o.table === 'vopc' ? compareOf(o.name) : o.name) }))
  const wrong = running.filter(({ operation, kernel }) => kernel && !fits(operation, kernel))
  for (const { operation, kernel } of wrong) {
    console.warn(
      `${operation.name}: the kernel in ${kernel!.file}.ts takes (${kernel!.parameters.join(', ')}), its shape is ${operation.shape.text}; left out`,
    )
  }
  const good = running.filter((r) => !wrong.includes(r))
  // v_cmpx and its like have no kernel of their own.
  const own = good.filter(({ operation, kernel }) => kernel?.name === operation.name)
  const modified = MODIFIED.filter((o) => !ignoresSigns(o)).map((o) => modifiedLoop(o, kernels))
  const common = new CommonLoops([
    ...own.filter(({ kernel }) => kernel!.result === 'v128').flatMap(({ operation }) => loopsOf(operation, kernels)),
    ...modified,
  ])
  const functions = [
    ...own.flatMap(({ operation }) => functionsOf(operation, kernels, common)),
    ...modified.map((loop) => common.sourceOf(loop)),
  ]
  const files = [...new Set([...kernels.values()].map((k) => k.file))]
  return [
    '// Written by host/build.',
    "import * as layout from './layout';",
    "import { EXEC_MASKS_BYTES, RECORD_DST, RECORD_IMM, RECORD_MODS, RECORD_SRC0, RECORD_SRC1, RECORD_SRC2, WAVE_EXEC_MASKS } from './layout';",
    "import { flippedBits, keptBits, kindMask, scalarSource64, spread32, spread64, SPREAD_HIGH } from '../fetch';",
    "import { factor32, factor64, finish32, finish64, finishOf32, finishOf64, highest32, highest64, leastMagnitude64, leastSize32, lowest32, lowest64 } from '../finish';",
    "import { size32, sizeOfLimit32, within32, within64, writeMask } from '../finish';",
    "import { flushResult16, flushResult32, flushResult64, flushSource16, flushSource32, flushSource64, limit32, limit64, rowBytes, vcc } from '../state';",
    "import * as state from '../state';",
    "import { allActive, highs, lows, masks2, masks4, pairHigh, pairLow, put } from '../lib/lanes';",
    "import { integerClamp, round32, round64, setChunkLane } from '../lib/mode';",
    "import { source, source64 } from '../lib/scalar';",
    "import { anyNan16, anyNan32, anyNan64, flush16, flush32, flush64, nan16, nan32, nan64 } from '../lib/rules';",
    "import { device, end, goOn, illegal, unsupported } from '../pseudo';",
    ...files.map((file) => `import * as ${file} from '../ops/${file}';`),
    '',
    ...common.sources,
    ...functions,
    '',
    '// The function table (host/build/main.ts makes it): one function an operation, by number; loops with modifiers; kernels of common loops.',
    ...PSEUDO_OPERATIONS.map((p, number) => `export { ${p === 'goto' ? 'goOn' : p} as ${stepName(number)} } from '../pseudo';`),
    ...OPERATIONS.map((o) => stepExport(o, good.find((g) => g.operation === o)?.kernel)),
    ...MODIFIED.map((o, i) => `export { ${ignoresSigns(o) ? o.name : modifiedName(o)} as ${entryName(FIRST_MODIFIED + i)} };`),
    ...common.kernels.map(({ name, file }, i) => `export { ${name} as ${entryName(FIRST_KERNEL + i)} } from '../ops/${file}';`),
    '',
  ].join('\n')
}

/** The text of assembly/generated/operands.ts. */
export const operandsSource = (): string =>
  `// Written by host/build.\n/** Operand types, one word an operation; see host/build/dispatch.ts. */\nexport const OPERANDS: usize = memory.data<u32>([${[...PSEUDO_OPERATIONS.map(() => 0), ...OPERATIONS.map(operandsWord)].join(', ')}]);\n`

/** Names of operations that are run but have no kernel. */
export const missing = (kernels: Kernels): readonly string[] =>
  OPERATIONS.filter(
    (o) => o.unsupported === undefined && !o.traits.has('device') && !kernels.has(o.table === 'vopc' ? compareOf(o.name) : o.name),
  ).map((o) => o.name)

/** Kernels that translated code is made of. */
export const material = (kernels: Kernels): readonly Kernel[] =>
  [...kernels.values()].filter(
    (k) => isScalarKernel(k) || (k.result === 'v128' && k.parameters.every((p) => p === 'v128') && !k.name.endsWith('_quick')),
  )

/** The text of assembly/generated/exports.ts, which exports them. */
export function exportsSource(kernels: Kernels): string {
  const wanted = material(kernels)
  const files = [...new Set(wanted.map((k) => k.file))]
  const lines = files.map(
    (file) =>
      `export { ${wanted
        .filter((k) => k.file === file)
        .map((k) => k.name)
        .join(', ')} } from '../ops/${file}';`,
  )
  return ['// Written by host/build.', ...lines, ''].join('\n')
}

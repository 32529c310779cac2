/**
 * Writes assembly/generated/dispatch.ts: a loop over the wave's lanes around every lane kernel, and the tables that the step loop calls
 * through. A loop is what the row says: how sources come in, what is flushed, what happens to a NaN, where masks go.
 */
import { OPERATIONS, type Operation, PSEUDO_OPERATIONS } from '../isa/operations.ts'
import { bitsOf, isFloat, type OperandType } from '../isa/row.ts'
import { isWaveKernel, type Kernel } from './kernels.ts'
import { isScalarKernel, scalarFits, scalarStep } from './scalars.ts'

type Kernels = ReadonlyMap<string, Kernel>

/** Letters of the chunk's sources in the generated code. */
const LETTERS = ['a', 'b', 'c', 'm'] as const
const isMask = (type: OperandType): boolean => type === 'mask' || type === 'vcc'

/** v_cmpx, v_cmps and v_cmpsx compare as v_cmp does. */
export const compareOf = (name: string): string => name.replace(/^v_cmp(x|s|sx)_/, 'v_cmp_')

/** What one loop is made of. */
interface Loop {
  readonly name: string
  readonly operation: Operation
  readonly kernel: Kernel
  /** The kernel for chunks that are tried: one that calls nothing where there is such a one, or else the same. */
  readonly quick: Kernel
  /** The kernel of the mask result, where there is a value too. */
  readonly maskKernel: Kernel | undefined
  /** The kernel of the value that this loop calls, and what it gets behind the sources. */
  readonly variant: Variant
  /** The kernel comes as a number of the function table. */
  readonly common: boolean
  /** The loop does abs, neg, omod and clamp, too. */
  readonly modified: boolean
  /** The function that does what needs care in a loop that leaves that to one, and the kernel's number. */
  readonly careful?: { readonly name: string; readonly kernel: number }
}

/** A second kernel of an operation, for a state of the wave that is rare: its loop runs while `global` is not 0. */
interface Variant {
  readonly suffix: '' | '_rounded' | '_clamped'
  readonly global: string
  /** The kernel takes the global as its last parameter. */
  readonly passed: boolean
}
const PLAIN: Variant = { suffix: '', global: '', passed: false }
const variantsOf = (operation: Operation): readonly Variant[] => [
  { suffix: '_clamped', global: 'integerClamp', passed: false },
  { suffix: '_rounded', global: roundOf(operation), passed: true },
]

const valueType = ({ shape }: Operation): OperandType | undefined => shape.results.find((r) => r !== 'mask')
const hasMask = ({ shape }: Operation): boolean => shape.results.includes('mask')
const isWide = ({ shape }: Operation): boolean => [...shape.results, ...shape.sources].some((t) => !isMask(t) && bitsOf(t) === 64)
/** MODE's field for the result's type, or for the source's where the result is no float (v_cvt_pk_u8_f32). */
const roundOf = (operation: Operation): 'round32' | 'round64' =>
  [valueType(operation), ...operation.shape.sources].find(isFloat) === 'f32' ? 'round32' : 'round64'

/** f16, f32 and f64 name the helpers of assembly/lib/rules.ts. */
const floatBits = (type: OperandType): 16 | 32 | 64 => bitsOf(type) as 16 | 32 | 64

/** The least magnitude that is not flushed, as a vector, from MODE or (trait ftz) whatever MODE says. */
function least(operation: Operation, type: OperandType, side: 'Source' | 'Result'): string {
  const bits = floatBits(type)
  if (operation.traits.has('ftz')) return 'i32x4.splat(0x00800000)'
  return bits === 64 ? `i64x2.splat(flush${side}64)` : `i32x4.splat(flush${side}${bits})`
}
const flushes = (operation: Operation, type: OperandType | undefined): boolean =>
  isFloat(type) && (operation.traits.has('flush') || operation.traits.has('ftz'))

/** Whether abs and neg of a source count in this loop. */
const isSigned = ({ modified, operation }: Loop, type: OperandType): boolean => modified && /^f(32|64)$/.test(typeOf(operation, type)!)
/** Whether this loop does omod and clamp. */
const finishes = ({ modified, operation }: Loop): boolean => modified && /^f(32|64)$/.test(valueType(operation) ?? '')

/** Lines that resolve a source to pointer and mask before the loop. */
function sourceSetup(loop: Loop, type: OperandType, i: number, wide: boolean): string[] {
  const { operation } = loop
  const x = LETTERS[i]
  if (type === 'vcc') return [`  const ${x}Bits = vcc(w);`]
  if (type === 'mask') return [`  const ${x}Bits = scalarSource64(u, w, ${i});`]
  const pair = wide && bitsOf(type) === 64
  return [
    `  let ${x}At = w + load<u32>(u, RECORD_SRC${i}), ${x}Mask: usize = -1${pair ? `, ${x}High = ${x}At + rowBytes` : ''};`,
    `  if (kinds & kindMask(${i})) { ${x}At = spread${pair ? 64 : 32}(u, w, ${i}); ${x}Mask = 0;${pair ? ` ${x}High = ${x}At + SPREAD_HIGH;` : ''} }`,
    ...(isSigned(loop, type) ? [`  const ${x}Kept = keptBits(kinds, ${i}), ${x}Flipped = flippedBits(kinds, ${i});`] : []),
    ...(flushes(operation, type) && !(finishes(loop) && !wide) ? [`  const ${x}Least = ${least(operation, type, 'Source')};`] : []),
  ]
}

/** The call of the value's kernel (or of a mask's) on one chunk; `half` is '' in narrow loops, 0 or 1 in wide ones. */
function call(loop: Loop, kernel: Kernel, half: '' | 0 | 1): string {
  const sources = loop.operation.shape.sources.map((_, i) => `${LETTERS[i]}${half}`)
  const extra = kernel === loop.kernel && loop.variant.passed ? [loop.variant.global] : []
  const passed = [...sources, ...extra].join(', ')
  return loop.common ? `call_indirect<v128>(kernel, ${passed})` : `${kernel.file}.${kernel.name}(${passed})`
}

/** Lines that flush the sources of a chunk. */
function flushSources(operation: Operation, half: '' | 0 | 1): string[] {
  return operation.shape.sources.flatMap((type, i) => {
    if (!flushes(operation, type)) return []
    const x = `${LETTERS[i]}${half}`
    return [`    ${x} = flush${floatBits(type)}(${x}, ${LETTERS[i]}Least);`]
  })
}

/** Lines that rebuild NaNs and flush the result `r` of a chunk. */
function finishResult(operation: Operation, value: OperandType, half: '' | 0 | 1): string[] {
  const lines: string[] = []
  const r = `r${half}`
  if (operation.traits.has('nan') && isFloat(value)) {
    const floats = operation.shape.sources.flatMap((t, i) => (t === value ? [`${LETTERS[i]}${half}`] : []))
    const [a, b = a, c = b] = floats
    lines.push(`    if (anyNan${floatBits(value)}(${r})) ${r} = nan${floatBits(value)}(${r}, ${a}, ${b}, ${c});`)
  }
  if (flushes(operation, value)) lines.push(`    ${r} = flush${floatBits(value)}(${r}, least);`)
  return lines
}

/** The statement that writes a chunk's result to the active lanes, where it matters that mostly all are active and nothing is to be merged. */
const putQuickly = (at: string, offset: string, result: string): string =>
  `if (all) v128.store(${at}, ${result}); else put(${at}, w + WAVE_EXEC_MASKS + ${offset}, ${result});`

/** The statement that writes a chunk's result in a loop. */
const putIn = ({ modified }: Loop, at: string, result: string): string =>
  modified ? putQuickly(at, 'o', result) : `put(${at}, w + WAVE_EXEC_MASKS + o, ${result});`

/** Kernels that are long: they do not stand there twice. */
const LONG = /^v_div_fmas_f(32|64)$/

/** Approximate in name: one instruction of SIMD each. */
const SHORT_APPROXIMATE = /^v_(rcp|rcp_iflag|sqrt)_f32$/

/**
 * Whether a chunk is tried without flushing and the NaN rule first. Denormals and NaNs are rare, zeros are not common, and one test tells:
 * the least magnitude of result and sources is that of a normal number. A kernel that is long does not stand there twice.
 */
const triesFirst = (operation: Operation): boolean =>
  operation.traits.has('nan') &&
  !LONG.test(operation.name) &&
  (!operation.traits.has('approximate') || SHORT_APPROXIMATE.test(operation.name)) &&
  flushes(operation, valueType(operation)) &&
  bitsOf(valueType(operation)!) === (isWide(operation) ? 64 : 32)

/** Whether the result `r` of a chunk that was tried has to be computed with care. */
function isHard({ operation }: Loop, value: OperandType, half: '' | 0 | 1): string {
  const [f, all, bitmask] = floatBits(value) === 32 ? ['f32x4', 15, 'i32x4.bitmask'] : ['f64x2', 3, 'i64x2.bitmask']
  const floats = operation.shape.sources.flatMap((t, i) => (t === value ? [`${LETTERS[i]}${half}`] : []))
  // pmin keeps its first operand where that is NaN, so the result comes first.
  const magnitude = floats.reduce((t, x) => `${f}.pmin(${t}, ${f}.abs(${x}))`, `${f}.abs(r${half})`)
  return `${bitmask}(${f}.ge(${magnitude}, limit)) != ${all}`
}

/** Lines that compute the result `r` of a chunk: sources flushed, operation, NaN rule, result flushed. */
const computeWithCare = (loop: Loop, value: OperandType, half: '' | 0 | 1): string[] => [
  ...flushSources(loop.operation, half),
  `    r${half} = ${call(loop, loop.kernel, half)};`,
  ...finishResult(loop.operation, value, half),
]
/** The same, without care where that does; with modifiers in wide loops. */
function compute(loop: Loop, value: OperandType, half: '' | 0 | 1): string[] {
  const { operation, careful } = loop
  const tries = triesFirst(operation)
  const lines = computeWithCare(loop, value, half)
  if (!tries && !finishes(loop)) return [`    let r${half}: v128;`, ...lines]
  const r = `r${half}`
  const sources = operation.shape.sources.map((_, i) => `${LETTERS[i]}${half}, `).join('')
  const finish = finishes(loop) ? [`      ${r} = finish64(${r}, finish, least);`] : []
  const withCare =
    careful === undefined
      ? [...(tries ? lines.map((line) => `  ${line}`) : []), ...finish]
      : [`      ${r} = ${careful.name}(${sources}${careful.kernel}, ${finishes(loop) ? 'finish' : '0'});`]
  return [
    ...(tries ? [`    let ${r} = ${call(loop, loop.kernel, half)};`] : [`    let ${r}: v128;`, ...lines]),
    `    if (${tries ? isHard(loop, value, half) : `i64x2.bitmask(f64x2.eq(${r}, ${r})) != 3`}) {`,
    ...withCare,
    finishes(loop) ? `    } else if (finish != 0) ${r} = within64(f64x2.mul(${r}, k), low, high);` : '    }',
  ]
}

/** Behind chunks up to the next multiple of 16 lanes: one that needs care is seldom alone. */
const CAREFUL_END = 'min(rowBytes, (o & ~63) + 64)'

/** The least of the sizes (size32 in assembly/finish.ts) of some values: zeros are the largest, denormals the smallest. */
const leastSize = (names: readonly string[]): string => names.map((x) => `size32(${x})`).reduce((x, y) => `i32x4.min_u(${x}, ${y})`)

/** Sums and products, as they run in every kernel: with many zeros among their operands, too. */
const MEETS_ZEROS = /^v_(add|sub|subrev|mul|mac|mad|madmk|madak|fma)_f32$/

/**
 * A loop over chunks of four lanes in which those that need no care have inner loops of their own: ones that call nothing, so that all they
 * need is in registers. The first one takes zeros, too, for chunks that need care, which makes its test short.
 */
function triedLoop(loop: Loop, value: OperandType): string[] {
  const sources = loadSources(loop, '')
  const tried = (hard: string, indent: string): string[] =>
    [
      'for (; o < rowBytes; o += 16) {',
      ...sources.map((line) => `${line.slice(2).replace('let', 'const')}`),
      `  const r = ${call(loop, loop.quick, '')};`,
      `  if (${hard}) break;`,
      '  put(d + o, w + WAVE_EXEC_MASKS + o, r);',
      '}',
    ].map((line) => indent + line)
  const floats = loop.operation.shape.sources.flatMap((t, i) => (t === value ? [LETTERS[i]!] : []))
  const isTiny = `i32x4.bitmask(v128.and(i32x4.ge_u(${leastSize([...floats, 'r'])}, limitSize), f32x4.eq(r, r))) != 15`
  // Elsewhere, and in other round modes, zeros in many chunks are rare: one test does.
  const takesZeros = loop.variant === PLAIN && MEETS_ZEROS.test(loop.operation.name)
  const first = [
    ...tried(isHard(loop, value, ''), '  '),
    '  if (o >= rowBytes) return;',
    `  const limitSize = sizeOfLimit32(${loop.operation.traits.has('ftz') ? '0x00800000' : 'limit32'});`,
  ]
  return [
    '  let o: usize = 0;',
    ...(takesZeros ? first : []),
    '  for (;;) {',
    ...tried(takesZeros ? isTiny : isHard(loop, value, ''), '    '),
    '    if (o >= rowBytes) return;',
    ...leaveChunks(loop),
    '  }',
  ]
}

/** Where a chunk takes so long, or so little of it is left to do, that two at a time would gain nothing. */
const ONE_AT_A_TIME = /^v_(fma|min|max|min3|max3|med3)_f32$/

/**
 * A loop with modifiers, two chunks at a time, and another one for chunks that need care. Zeros need none; denormals do where anything is flushed, and
 * NaNs, which come from sources where the NaN rule does not apply.
 */
function finishingLoop(loop: Loop): string[] {
  const { operation } = loop
  const halves = ONE_AT_A_TIME.test(operation.name) ? ([0] as const) : ([0, 1] as const)
  const results = halves.map((half) => `r${half}`)
  const floats = halves.flatMap((half) => operation.shape.sources.flatMap((t, i) => (t === 'f32' ? [`${LETTERS[i]}${half}`] : [])))
  const tries = triesFirst(operation)
  if (!tries && (operation.traits.has('nan') || flushes(operation, 'f32'))) throw new Error(`${operation.name} has no loop with modifiers`)
  const ordered = (tries ? results : floats).map((x) => `f32x4.eq(${x}, ${x})`)
  const tests = tries ? [`i32x4.ge_u(${leastSize([...floats, ...results])}, limit)`, ...ordered] : ordered
  const finished = results.map((r) => `${r} = within32(f32x4.mul(${r}, k), low, high);`)
  const quick = [
    `    for (; o < rowBytes; o += ${16 * halves.length}) {`,
    ...halves
      .flatMap((half) => [...loadSources(loop, half), `    let r${half} = ${call(loop, loop.quick, half)};`])
      .map((line) => `  ${line}`),
    ...(tests.length > 0 ? [`      if (i32x4.bitmask(${tests.reduce((x, y) => `v128.and(${x}, ${y})`)}) != 15) break;`] : []),
    `      if (finish != 0) { ${finished.join(' ')} }`,
    ...halves.map((half) => `      ${half === 0 ? putQuickly('d + o', 'o', 'r0') : putQuickly('d + o + 16', 'o + 16', 'r1')}`),
    '    }',
  ]
  return [
    '  const finish = finishOf32(kinds), k = factor32(finish), low = lowest32(finish), high = highest32(finish);',
    ...(tries ? [`  const limit = ${operation.traits.has('ftz') ? '' : 'limit32 == 0 ? i32x4.splat(0) : '}leastSize32(finish);`] : []),
    '  let o: usize = 0;',
    ...(tests.length === 0
      ? quick.map((line) => line.slice(2))
      : ['  for (;;) {', ...quick, '    if (o >= rowBytes) return;', ...leaveChunks(loop), '  }']),
  ]
}

/** Whether a loop may leave what needs care to a function. */
const hasCareful = (loop: Loop): boolean => !loop.common && (triesFirst(loop.operation) || (finishes(loop) && !isWide(loop.operation)))

/** Lines that go on with chunks that need care from `o` to where chunks are tried again. */
const leaveChunks = (loop: Loop): readonly string[] =>
  loop.careful === undefined
    ? carefulLoop(loop).map((line) => `  ${line}`)
    : [`    o = ${loop.careful.name}(u, w, o, ${loop.careful.kernel});`]

function carefulLoop(loop: Loop): string[] {
  const { operation, modified } = loop
  const tries = triesFirst(operation)
  const leasts = operation.shape.sources.flatMap((type, i) =>
    tries && flushes(operation, type) ? [`  const ${LETTERS[i]}Least = ${least(operation, type, 'Source')};`] : [],
  )
  return [
    ...(modified ? [...leasts, `  const least = ${tries ? least(operation, 'f32', 'Result') : 'i32x4.splat(0)'};`] : []),
    `  for (const end = ${CAREFUL_END}; o < end; o += 16) {`,
    ...loadSources(loop, '', 'let'),
    '    let r: v128;',
    ...computeWithCare(loop, 'f32', ''),
    `    put(d + o, w + WAVE_EXEC_MASKS + o, ${modified ? 'finish32(r, finish, least)' : 'r'});`,
    '  }',
  ]
}

/**
 * The function that does what needs care for loops that are alike but for the kernel: so many chunks from `o` on, or two lanes of 64 bits. Care is
 * rare enough for the kernel to be called through the function table.
 */
function carefulSource(loop: Loop): string {
  const { operation, modified } = loop
  const value = valueType(operation)!
  if (isWide(operation)) {
    return [
      `function (${operation.shape.sources.map((_, i) => `${LETTERS[i]}: v128, `).join('')}kernel: u32, finish: u32): v128 {`,
      ...operation.shape.sources.flatMap((type, i) =>
        flushes(operation, type) ? [`  const ${LETTERS[i]}Least = ${least(operation, type, 'Source')};`] : [],
      ),
      `  const least = ${least(operation, value, 'Result')};`,
      '  let r: v128;',
      ...computeWithCare({ ...loop, common: true }, value, ''),
      '  return finish ? finish64(r, finish, least) : r;',
      '}',
    ].join('\n')
  }
  return [
    'function (u: usize, w: usize, o: usize, kernel: u32): usize {',
    `  const kinds = load<u32>(u, RECORD_MODS), d = w + load<u32>(u, RECORD_DST)${modified ? ', finish = finishOf32(kinds)' : ''};`,
    ...operation.shape.sources.flatMap((type, i) => sourceSetup(loop, type, i, false)),
    ...(modified ? [] : [`  const least = ${least(operation, 'f32', 'Result')};`]),
    ...carefulLoop({ ...loop, common: true }),
    '  return o;',
    '}',
  ].join('\n')
}

/** A chunk of source `x` with its abs and neg, where the loop does these. */
const signed = (loop: Loop, type: OperandType, x: string, chunk: string): string =>
  isSigned(loop, type) ? `v128.xor(v128.and(${chunk}, ${x}Kept), ${x}Flipped)` : chunk

/** Lines that load the sources of a chunk of four lanes; `half` is 1 for the second one of two. */
function loadSources(loop: Loop, half: '' | 0 | 1, keyword: 'let' | 'const' = finishes(loop) ? 'const' : 'let'): string[] {
  return loop.operation.shape.sources.map((type, i) => {
    const x = LETTERS[i]
    if (isMask(type)) return `    const ${x} = masks4(<i32>(${x}Bits >> (o >> 2)));`
    const chunk = `v128.load(${x}At + (o & ${x}Mask)${half === 1 ? ', 16' : ''})`
    return `    ${keyword} ${x}${half} = ${signed(loop, type, x!, chunk)};`
  })
}

/** A loop over chunks of four lanes. */
function narrowLoop(loop: Loop): string[] {
  const { operation } = loop
  const value = valueType(operation)
  if (finishes(loop)) return finishingLoop(loop)
  if (triesFirst(operation) && !loop.common) return triedLoop(loop, value!)
  const lines = loadSources(loop, '')
  if (/^v_mbcnt/.test(operation.name)) lines.push('    setChunkLane(<i32>(o >> 2));')
  if (hasMask(operation)) {
    lines.push(...flushSources(operation, ''))
    const mask = loop.maskKernel ?? loop.kernel
    lines.push(`    const mask = ${call(loop, mask, '')};`)
    lines.push('    bits |= <u64>i32x4.bitmask(v128.and(mask, v128.load(w + o, WAVE_EXEC_MASKS))) << <u64>(o >> 2);')
  }
  if (value !== undefined) {
    lines.push(...compute(loop, value, ''))
    if (bitsOf(value) === 16) lines.push('    r = v128.and(r, i32x4.splat(0xffff));')
    lines.push(`    ${putIn(loop, 'd + o', 'r')}`)
  }
  return inLoop(lines)
}
const inLoop = (lines: readonly string[]): string[] => ['  for (let o: usize = 0; o < rowBytes; o += 16) {', ...lines, '  }']

/** A loop over chunks of four lanes that calls kernels for two lanes at a time. Of a row pair all is read before anything is written. */
function wideLoop(loop: Loop): string[] {
  const { operation } = loop
  const value = valueType(operation)
  const lines = operation.shape.sources.flatMap((type, i) => {
    const x = LETTERS[i]
    if (isMask(type)) {
      return [`    const ${x}Here = <i32>(${x}Bits >> (o >> 2)), ${x}0 = masks2(${x}Here), ${x}1 = masks2(${x}Here >> 2);`]
    }
    const load = (at: string): string => signed(loop, type, x!, `v128.load(${x}${at} + (o & ${x}Mask))`)
    if (bitsOf(type) !== 64) {
      return [
        `    const ${x}Low = ${load('At')};`,
        `    let ${x}0 = i64x2.extend_low_i32x4_u(${x}Low), ${x}1 = i64x2.extend_high_i32x4_u(${x}Low);`,
      ]
    }
    return [
      `    const ${x}Low = v128.load(${x}At + (o & ${x}Mask)), ${x}Top = ${load('High')};`,
      `    let ${x}0 = pairLow(${x}Low, ${x}Top), ${x}1 = pairHigh(${x}Low, ${x}Top);`,
    ]
  })
  if (hasMask(operation)) {
    lines.push(...flushSources(operation, 0), ...flushSources(operation, 1))
    const mask = loop.maskKernel ?? loop.kernel
    lines.push(`    const mask = lows(${call(loop, mask, 0)}, ${call(loop, mask, 1)});`)
    lines.push('    bits |= <u64>i32x4.bitmask(v128.and(mask, v128.load(w + o, WAVE_EXEC_MASKS))) << <u64>(o >> 2);')
  }
  if (value !== undefined) {
    if (bitsOf(value) === 64) {
      lines.push(...compute(loop, value, 0), ...compute(loop, value, 1))
      lines.push(`    ${putIn(loop, 'd + o', 'lows(r0, r1)')}`, `    ${putIn(loop, 'd + rowBytes + o', 'highs(r0, r1)')}`)
    } else {
      lines.push(...flushSources(operation, 0), ...flushSources(operation, 1))
      lines.push(`    let r = lows(${call(loop, loop.kernel, 0)}, ${call(loop, loop.kernel, 1)});`, ...finishResult(operation, value, ''))
      if (finishes(loop)) {
        lines.push(
          '    if (finish != 0) {',
          '      if (i32x4.bitmask(v128.and(f32x4.eq(r, r), i32x4.ge_u(size32(r), size))) != 15) r = finish32(r, finish, least);',
          '      else r = within32(f32x4.mul(r, k), low, high);',
          '    }',
        )
      }
      lines.push(`    ${putIn(loop, 'd + o', 'r')}`)
    }
  }
  return [...(finishes(loop) ? finishSetup(loop, value!) : []), ...inLoop(lines)]
}

/** Lines before a wide loop with modifiers: what omod and clamp do, and the least magnitude of what needs no care. */
function finishSetup({ operation }: Loop, value: OperandType): string[] {
  const bits = floatBits(value)
  return [
    `  const finish = finishOf${bits}(kinds), k = factor${bits}(finish), low = lowest${bits}(finish), high = highest${bits}(finish);`,
    ...(bits === 32 ? ['  const size = leastSize32(finish);'] : []),
    ...(triesFirst(operation) ? ['  const limit = leastMagnitude64(finish, limit64);'] : []),
  ]
}

/** The larger one of the least magnitudes of sources and result: from a global, or the loop would compute it for every chunk. */
const limitOf = ({ traits }: Operation, value: OperandType): string =>
  traits.has('ftz') ? 'i32x4.splat(0x00800000)' : floatBits(value) === 32 ? 'i32x4.splat(limit32)' : 'i64x2.splat(limit64)'

function loopSource(loop: Loop): string {
  const { operation } = loop
  const value = valueType(operation)
  const wide = isWide(operation)
  const { sources } = operation.shape
  return [
    `function ${loop.name}(u: usize, w: usize${loop.common ? ', kernel: u32' : ''}): void {`,
    ...(sources.some((t) => !isMask(t)) ? ['  const kinds = load<u32>(u, RECORD_MODS);'] : []),
    ...sources.flatMap((type, i) => sourceSetup(loop, type, i, wide)),
    ...(value !== undefined ? [`  const d = w + load<u32>(u, RECORD_DST)${loop.modified ? ', all = allActive' : ''};`] : []),
    ...(flushes(operation, value) && !(finishes(loop) && !wide) ? [`  const least = ${least(operation, value!, 'Result')};`] : []),
    ...(triesFirst(operation) && !loop.modified ? [`  const limit = ${limitOf(operation, value!)};`] : []),
    ...(hasMask(operation) ? ['  let bits: u64 = 0;'] : []),
    ...(wide ? wideLoop(loop) : narrowLoop(loop)),
    ...(hasMask(operation) ? ['  writeMask(u, w, bits);'] : []),
    '}',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

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
/** Operations on plain bits whose abs and neg work as on an f32 (LLVM's VOP3, SDWA and DPP forms of these have them). */
const BITS_WITH_SIGN = new Set(['v_mov_b32', 'v_cndmask_b32'])
/** The type that a source of `type` has for abs and neg. */
const typeOf = ({ name }: Operation, type: OperandType | undefined): OperandType | undefined =>
  type === 'b32' && BITS_WITH_SIGN.has(name) ? 'f32' : type

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

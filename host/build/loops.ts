/**
 * The text of loops over a wave's lanes around lane kernels. A loop is what the row says: how sources come in, what is flushed, what happens to a NaN,
 * where masks go.
 */
import type { Operation } from '../isa/operations.ts'
import { bitsOf, isFloat, type OperandType } from '../isa/row.ts'
import type { Kernel } from './kernels.ts'

/** Letters of the chunk's sources in the generated code. */
const LETTERS = ['a', 'b', 'c', 'm'] as const
export const isMask = (type: OperandType): boolean => type === 'mask' || type === 'vcc'

/** Operations on plain bits whose abs and neg work as on an f32 (LLVM's VOP3, SDWA and DPP forms of these have them). */
const BITS_WITH_SIGN = new Set(['v_mov_b32', 'v_cndmask_b32'])
/** The type that a source of `type` has for abs and neg. */
export const typeOf = ({ name }: Operation, type: OperandType | undefined): OperandType | undefined =>
  type === 'b32' && BITS_WITH_SIGN.has(name) ? 'f32' : type

/** What one loop is made of. */
export interface Loop {
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
export interface Variant {
  readonly suffix: '' | '_rounded' | '_clamped'
  readonly global: string
  /** The kernel takes the global as its last parameter. */
  readonly passed: boolean
}
export const PLAIN: Variant = { suffix: '', global: '', passed: false }
export const variantsOf = (operation: Operation): readonly Variant[] => [
  { suffix: '_clamped', global: 'integerClamp', passed: false },
  { suffix: '_rounded', global: roundOf(operation), passed: true },
]

export const valueType = ({ shape }: Operation): OperandType | undefined => shape.results.find((r) => r !== 'mask')
export const hasMask = ({ shape }: Operation): boolean => shape.results.includes('mask')
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
export const flushes = (operation: Operation, type: OperandType | undefined): boolean =>
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

/** Kernels that are long. */
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
const ONE_AT_A_TIME = /^v_(rcp|sqrt|min|max|min3|max3|med3)_f32$/

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
export const hasCareful = (loop: Loop): boolean =>
  !loop.common && (triesFirst(loop.operation) || (finishes(loop) && !isWide(loop.operation)))

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
export function carefulSource(loop: Loop): string {
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

export function loopSource(loop: Loop): string {
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

/** Throws damaged input at everything that reads input, and random words at the engines. A case is made of a seed alone, so it can be made again. */
import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import {
  assemble,
  type CheckResult,
  disassemble,
  LanewiseError,
  list,
  parseJson,
  readJob,
  runJob,
  runTrace,
  TARGETS,
  type TargetName,
} from '../../host/index.ts'
import { bundle, compressed } from '../object/bundles.ts'

/** Numbers from a seed: Marsaglia's xorshift32. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1
    for (let i = 0; i < 8; i++) this.word()
  }

  word(): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state
  }

  /** 0 to n - 1. */
  below(n: number): number {
    return this.word() % n
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

const KERNELS = 'test/data/kernels'
const OBJECTS = 'test/data/objects'
const lines = readFileSync(`${KERNELS}/gfx803.ndjson`, 'utf8').trim().split('\n')
const objects = ['saxpy', 'reduce', 'scan', 'bitonic', 'histogram'].map((kernel) => ({
  kernel,
  line: lines.find((line) => line.startsWith(`{"name":"${kernel}.`))!,
  bytes: readFileSync(`${KERNELS}/${kernel}/gfx803.co`),
}))
const relocatable = ['fill.gfx803.v3.o', 'fill.gfx803.v2.o', 'fill.gfx600.v3.o', 'fill.gfx700.v4.o'].map((name) => ({
  target: name.split('.')[1] as TargetName,
  bytes: new Uint8Array(readFileSync(`${OBJECTS}/${name}`)),
}))
const plainBundle = bundle(relocatable.slice(1).map(({ target, bytes }) => [`hipv4-amdgcn-amd-amdhsa--${target}`, bytes]))
const zstdBundle = new Uint8Array(readFileSync(`${OBJECTS}/fill.bundle.zstd`))
/** e_ident[EI_ABIVERSION], and its value for code object version 6. */
const ABI_VERSION = 8
const VERSION_6 = 4
const TEXT = `
.set count, 4
start:
  s_mov_b32 s0, count
  v_mad_f32 v3, v0, -v1, |v2| clamp mul:2
  v_add_f32_sdwa v2, v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:DWORD
  v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf
  buffer_load_dword v1, v2, s[4:7], s8 offen offset:16 glc
  ds_read2_b32 v[4:5], v2 offset0:1 offset1:2
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_cbranch_scc1 start
  s_endpgm
`
const BUDGET = 3000

/** Bytes with some of them changed, cut, doubled or shifted. */
function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes)
  for (let n = random.below(8) + 1; n > 0; n--) {
    const at = random.below(Math.max(1, copy.length))
    if (random.below(2) === 0) copy[at] = random.word()
    else if (copy.length >= at + 4) new DataView(copy.buffer).setUint32(at, random.of([0, 1, 0x7fffffff, 0xffffffff, random.word()]), true)
  }
  const kind = random.below(8)
  if (kind === 0) return copy.subarray(0, random.below(copy.length + 1))
  if (kind === 1) return Uint8Array.from([...copy.subarray(random.below(copy.length)), ...copy])
  return copy
}

function mutatedText(text: string, random: Random): string {
  const pieces = [
    'v255',
    's[0:',
    '0x',
    '-',
    ',',
    ':',
    '\n',
    ' ',
    '(',
    '"',
    '\u0000',
    '99999999999',
    'vcc',
    '1.5',
    '.long ',
    '{',
    '}',
    '[',
    ']',
    'null',
    '1e400',
    '/*',
  ]
  let changed = text
  for (let n = random.below(4) + 1; n > 0; n--) {
    const at = random.below(changed.length + 1)
    changed = changed.slice(0, at) + random.of(pieces) + changed.slice(at + random.below(6))
  }
  return changed
}

/** Words near to instructions: the top bits of each format, the rest random. */
function randomWords(random: Random): string[] {
  const heads = [
    0x00000000, 0x7e000000, 0x7c000000, 0x80000000, 0xb0000000, 0xbe800000, 0xbf000000, 0xbf800000, 0xc0000000, 0xd0000000, 0xd8000000,
    0xdc000000, 0xe0000000, 0xe8000000,
  ]
  return Array.from(
    { length: 1 + random.below(40) },
    () => `0x${((random.of(heads) | (random.word() & 0x01ffffff & ~(random.below(2) ? 0x00ff0000 : 0))) >>> 0).toString(16)}`,
  )
}

const wave = (random: Random) => ({
  exec: random.of(['0x0', '0x1', '0xffffffffffffffff', '0xaaaaaaaaaaaaaaaa']),
  sgpr: { s0: random.word(), 's[4:5]': '0x10000', s6: random.of([0, 4096, 0xffffffff]), s7: 0x27fac },
  vgpr: { v0: random.word(), v1: random.of([0, 64, 0x10000]), v2: random.word() },
})
const buffers = { x: { type: 'u32', length: 1024, init: { fill: 0 }, address: '0x10000' } }
const engineOf = (random: Random) => random.of(['core', 'core', 'translate', 'reference'] as const)

type Outcome = {
  readonly status: string
  readonly error?: { readonly code: string; readonly message: string } | undefined
  readonly check?: CheckResult | undefined
}

/** Runs what may be a job; sometimes compared with the reference step by step. */
async function attempt(value: unknown, random: Random, readFile: (path: string) => Promise<Uint8Array>): Promise<Outcome> {
  const job = readJob(value)
  return runJob(
    { ...job, budget: Math.min(job.budget, BUDGET) },
    { engine: engineOf(random), readFile, threads: 1, check: random.below(3) === 0 },
  )
}

/** Runs the kernel `fill` of what may be a code object. */
const attemptObject = (target: TargetName, bytes: Uint8Array, random: Random): Promise<Outcome> =>
  attempt({ target, code: { object: 'o', kernel: 'fill' }, buffers, args: [{ buffer: 'x' }, { type: 'u32', value: 1 }] }, random, () =>
    Promise.resolve(bytes),
  )

const nothing = (): Promise<Uint8Array> => Promise.reject(new Error('no file'))

/** Damages bytes between two places. */
function mutatedWithin(bytes: Uint8Array, from: number, to: number, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes)
  for (let n = random.below(6) + 1; n > 0; n--) copy[from + random.below(Math.max(1, to - from))] = random.word()
  return copy
}

/** Where the notes' metadata is: from the vendor's name on, the next 600 bytes. */
function metadataOf(bytes: Uint8Array): readonly [from: number, to: number] {
  const text = new TextDecoder('latin1').decode(bytes)
  const at = Math.max(text.indexOf('AMDGPU\0'), text.indexOf('AMD\0'))
  return [Math.max(0, at), Math.min(bytes.length, at + 600)]
}

/** A bundle in one of its forms, damaged inside or outside of what is compressed. */
function damagedBundle(random: Random): Uint8Array {
  const version = 1 + random.below(3)
  switch (random.below(4)) {
    case 0:
      return mutated(plainBundle, random)
    case 1:
      return mutated(zstdBundle, random)
    case 2: {
      const plain = mutated(plainBundle, random)
      return compressed(version, 0, plain.length, deflateSync(plain))
    }
    default:
      return mutated(compressed(version, 0, plainBundle.length, deflateSync(plainBundle)), random)
  }
}

/** Words that are instructions have a text, which gives the same instruction. */
function throughText(random: Random): Outcome {
  const target = TARGETS[random.of(Object.keys(TARGETS) as TargetName[])]
  const words = Uint32Array.from(randomWords(random), Number)
  for (const line of list(words, target)) {
    const text = line.text.replace(/ \/\/.*/, '')
    if (text.startsWith('.long')) continue
    const again = disassemble(assemble(text, target))
    if (again !== text) throw new Error(`${target.name}: ${text} became ${again}`)
  }
  return { status: 'ok' }
}

const KINDS: Readonly<Record<string, (random: Random) => Promise<Outcome>>> = {
  object: (random) => {
    const { line, bytes } = random.of(objects)
    const damaged = random.below(2) === 0 ? mutated(bytes, random) : mutatedWithin(bytes, ...metadataOf(bytes), random)
    if (random.below(3) === 0) damaged[ABI_VERSION] = VERSION_6
    return attempt(JSON.parse(line), random, () => Promise.resolve(damaged))
  },
  relocatable: (random) => {
    const { target, bytes } = random.of(relocatable)
    const damaged = random.below(2) === 0 ? mutated(bytes, random) : mutatedWithin(bytes, ...metadataOf(bytes), random)
    return attemptObject(target, damaged, random)
  },
  bundle: (random) => attemptObject(random.of(relocatable).target, damagedBundle(random), random),
  job: (random) => attempt(parseJson(mutatedText(random.of(lines).slice(0, 3000), random)), random, nothing),
  words: (random) => {
    const target = random.of(Object.keys(TARGETS))
    return attempt({ target, code: { words: randomWords(random) }, wave: wave(random), buffers }, random, nothing)
  },
  text: (random) =>
    attempt(
      { target: random.of(Object.keys(TARGETS)), code: { asm: mutatedText(TEXT, random) }, wave: wave(random), buffers },
      random,
      nothing,
    ),
  dispatch: (random) =>
    attempt(
      {
        target: random.of(Object.keys(TARGETS)),
        code: { words: randomWords(random) },
        grid: [1 + random.below(200), 1 + random.below(2), 1],
        workgroup: [random.of([1, 64, 100, 128]), 1, 1],
        lds: random.of([0, 1024]),
        descriptor: {
          rsrc1: random.word() & 0xfff3ff,
          rsrc2: random.word() & 0x1fff,
          lds: random.of([0, 512]),
          scratch: random.of([0, 64]),
        },
        buffers,
      },
      random,
      nothing,
    ),
  listing: (random) => Promise.resolve(throughText(random)),
  'trace of text': (random) =>
    runTrace(
      { target: random.of(Object.keys(TARGETS)), wave: wave(random), buffers, budget: BUDGET },
      [new TextEncoder().encode(random.below(2) === 0 ? mutatedText(TEXT, random) : TEXT)],
      { engine: random.of(['core', 'reference'] as const), form: 'text' },
    ),
  trace: async (random) => {
    const words = Uint32Array.from(randomWords(random), Number)
    const target = random.of(Object.keys(TARGETS))
    const engine = random.of(['core', 'reference'] as const)
    const bytes =
      random.below(3) === 0
        ? mutated(await recording(), random)
        : new Uint8Array(words.buffer).subarray(0, words.byteLength - random.below(4))
    return runTrace({ target, wave: wave(random), buffers, budget: BUDGET }, [bytes], { engine })
  },
}

let recorded: Uint8Array | undefined

/** A good recording. */
async function recording(): Promise<Uint8Array> {
  if (recorded !== undefined) return recorded
  const chunks: number[] = []
  const job = readJob({ target: 'gfx803', code: { asm: 's_mov_b32 s0, 3\nv_add_f32 v0, 1.0, v0\nds_read_b32 v1, v0\ns_endpgm' }, wave: {} })
  await runJob(job, { record: { registers: true, write: (bytes) => void chunks.push(...bytes) } })
  recorded = Uint8Array.from(chunks)
  return recorded
}

/** Errors that would be Lanewise's own fault. */
const OWN_FAULTS = ['ERR_INTERNAL', 'ERR_CORE']
/** No case has more to do than this by far. */
const MOST_MS = 20_000

export interface Found {
  readonly seed: number
  readonly kind: string
  readonly what: string
}

/** Runs the case of a seed; undefined where nothing is wrong: it ran, or was refused with an error that is meant for people. */
export async function runCase(seed: number): Promise<Found | undefined> {
  const random = new Random(seed)
  const kind = random.of(Object.keys(KINDS))
  const start = performance.now()
  const found = (what: string): Found => ({ seed, kind, what })
  try {
    const { error, check } = await KINDS[kind]!(random)
    if (check?.parting != null) return found(`the engines part: ${JSON.stringify(check.parting)}`)
    // A recording that was tampered with may be told from what it records.
    if (error !== undefined && OWN_FAULTS.includes(error.code) && !error.message.startsWith('the replay differs'))
      return found(error.message)
  } catch (error) {
    if (!(error instanceof LanewiseError) || OWN_FAULTS.includes(error.code)) return found(`${(error as Error).stack ?? error}`)
  }
  const ms = performance.now() - start
  return ms > MOST_MS ? found(`took ${Math.round(ms)} ms`) : undefined
}

/** Runs cases one after another for so many seconds. */
export async function fuzz(firstSeed: number, seconds: number): Promise<{ readonly cases: number; readonly found: readonly Found[] }> {
  const end = performance.now() + seconds * 1000
  const found: Found[] = []
  let seed = firstSeed
  for (; performance.now() < end && found.length < 10; seed++) {
    const wrong = await runCase(seed)
    if (wrong !== undefined) found.push(wrong)
  }
  return { cases: seed - firstSeed, found }
}

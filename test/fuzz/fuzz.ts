/** Throws damaged input at everything that reads input, and random words at the engines. A case is made of a seed alone, so it can be made again. */
import { readFileSync } from 'node:fs'
import { LanewiseError, parseJson, readJob, runJob, runTrace, TARGETS, type TargetName } from '../../host/index.ts'

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
  bytes: readFileSync(`${OBJECTS}/${name}`),
}))
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

type Outcome = { readonly status: string; readonly error?: { readonly code: string; readonly message: string } | undefined }

/** Runs what may be a job. */
async function attempt(value: unknown, random: Random, readFile: (path: string) => Promise<Uint8Array>): Promise<Outcome> {
  const job = readJob(value)
  return runJob({ ...job, budget: Math.min(job.budget, BUDGET) }, { engine: engineOf(random), readFile, threads: 1 })
}

const nothing = (): Promise<Uint8Array> => Promise.reject(new Error('no file'))

const KINDS: Readonly<Record<string, (random: Random) => Promise<Outcome>>> = {
  object: (random) => {
    const { line, bytes } = random.of(objects)
    const damaged = mutated(bytes, random)
    return attempt(JSON.parse(line), random, () => Promise.resolve(damaged))
  },
  relocatable: (random) => {
    const { target, bytes } = random.of(relocatable)
    const damaged = mutated(bytes, random)
    return attempt({ target, code: { object: 'o', kernel: 'fill' } }, random, () => Promise.resolve(damaged))
  },
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
    const { error } = await KINDS[kind]!(random)
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

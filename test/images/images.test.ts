/** Image instructions by hand: layouts, formats, masks, atomics, sizes, faults. Expectations follow docs/images.md and were worked out on paper. */
import { describe, expect, test } from 'vitest'
import { createCore } from '../../host/core/engine.ts'
import { bareWave, Device, type WaveState } from '../../host/device/index.ts'
import type { Engine } from '../../host/engine.ts'
import { FaultError, MemoryFault, UnsupportedError } from '../../host/errors.ts'
import { TARGETS, type TargetName } from '../../host/isa/targets.ts'
import { createReference } from '../../host/reference/index.ts'
import { assembleProgram } from '../../host/text/assemble.ts'
import { createTranslate } from '../../host/translate/engine.ts'
import { descriptorOf, type Image } from './descriptor.ts'

const engines: readonly (readonly [string, () => Engine | Promise<Engine>])[] = [
  ['reference', createReference],
  ['core', createCore],
  ['translate', () => createTranslate({ threshold: 1 })],
]

const ADDRESS = 0x12_3456_7800n
const [UNORM, SNORM, UINT, SINT, FLOAT] = [0, 1, 4, 5, 7]
const [F8, F16, F8_8, F32, F8_8_8_8, F32_32] = [1, 2, 3, 4, 10, 11]

interface Start {
  readonly asm: string
  readonly image: Omit<Image, 'address'>
  readonly target?: TargetName
  /** Address registers from v16 on, lane by lane. */
  readonly at?: readonly (readonly number[])[]
  /** Data registers from v0 on. */
  readonly data?: readonly (number | readonly number[])[]
  readonly exec?: bigint
  /** Dwords of memory; its number where not given. */
  readonly memory?: readonly number[]
  readonly dwords?: number
}

describe.each(engines)('%s', (_, create) => {
  /** Runs an instruction on v0…, v16…, s[0:7]; memory holds in each dword its number. */
  async function run({ asm, image, target = 'gfx803', at = [], data = [], exec, memory, dwords = 1024 }: Start) {
    const device = new Device(await create(), TARGETS[target])
    const region = device.memory.allocate(dwords * 4, { address: ADDRESS, name: 'image' })
    const view = (): Uint32Array => new Uint32Array(device.memory.view(region).slice().buffer)
    device.memory.write(ADDRESS, new Uint8Array(Uint32Array.from({ length: dwords }, (_, i) => memory?.[i] ?? (memory ? 0 : i)).buffer))
    const program = assembleProgram(`${asm}\ns_endpgm`, TARGETS[target])
    const code = device.loadCode(Uint32Array.from(program.words))
    const state: WaveState = {
      exec: exec ?? (1n << BigInt(Math.max(1, at[0]?.length ?? 1))) - 1n,
      sgprs: new Map(descriptorOf({ ...image, address: ADDRESS }).map((word, i) => [i, word])),
      vgprs: new Map<number, number | readonly number[]>([
        ...Array.from({ length: 8 }, (_, i) => [i, data[i] ?? 0xdeadbeef] as const),
        ...at.map((lanes, i) => [16 + i, lanes] as const),
      ]),
    }
    const execution = bareWave(device, code, state)
    while (execution.status === 'running') execution.step(100)
    const wave = execution.waves[0]!
    const lanes = Math.max(1, at[0]?.length ?? 1)
    return { error: execution.error, v: (n: number) => [...wave.vgpr(n)].slice(0, lanes), memory: view() }
  }
  const lane0 = ({ v }: Awaited<ReturnType<typeof run>>, count: number) => Array.from({ length: count }, (_, k) => v(k)[0])

  describe('where a texel is', () => {
    const u32 = { dataFormat: F32, numberFormat: UINT }
    test.each<[string, Omit<Image, 'address'>, number[][], number[]]>([
      ['1d', { ...u32, type: '1d', width: 5 }, [[0, 4, 5, 0xffffffff]], [0, 4, 0, 0]],
      [
        '2d',
        { ...u32, type: '2d', width: 5, height: 3, pitch: 8 },
        [
          [1, 4, 5, 0, 0],
          [0, 2, 0, 3, 0xffffffff],
        ],
        [1, 20, 0, 0, 0],
      ],
      [
        '3d, 4 × 3 texels a slice',
        { ...u32, type: '3d', width: 4, height: 3, depth: 2 },
        [
          [1, 1],
          [2, 2],
          [1, 2],
        ],
        [21, 0],
      ],
      ['3d, padded to 4 × 4', { ...u32, type: '3d', width: 4, height: 3, depth: 2, padded: true }, [[1], [2], [1]], [25]],
      [
        '1d array from layer 1 to 3',
        { ...u32, type: '1d array', width: 9, pitch: 16, layers: [1, 3] },
        [
          [3, 3, 3],
          [2, 3, 0xffffffff],
        ],
        [51, 0, 0],
      ],
      ['2d array', { ...u32, type: '2d array', width: 4, height: 2, layers: [0, 4], depth: 5 }, [[3], [1], [4]], [39]],
      [
        'cube, second cube, last face',
        { ...u32, type: 'cube', width: 4, height: 4, layers: [0, 11], depth: 2 },
        [
          [1, 1],
          [2, 2],
          [11, 12],
        ],
        [185, 0],
      ],
      ['no layer where the last one is before the first', { ...u32, type: '2d array', width: 4, layers: [2, 1] }, [[1], [0], [0]], [0]],
    ])('%s', async (_, image, at, want) => {
      const da = /array|cube/.test(String(image.type)) ? 'da' : ''
      const w = await run({ asm: `image_load v0, v[16:18], s[0:7] dmask:0x1 unorm ${da}`, image, at })
      expect([w.error, w.v(0)]).toEqual([undefined, want])
    })

    // 20 × 6 texels of 4 bytes, pitch 32. Level 0: 32 × 8; level 1: 16 × 4, from dword 256; level 2: 16 is too little for 64 texels, so 64 × 1,
    // from 320; level 3 from 384.
    const mipmap = { ...u32, type: '2d', width: 20, height: 6, pitch: 32, padded: true, levels: [0, 4] } as const
    test('levels', async () => {
      const at = [
        [19, 9, 10, 4, 4, 1, 0],
        [5, 2, 0, 0, 1, 0, 0],
        [0, 1, 1, 2, 2, 3, 5],
      ]
      const w = await run({ asm: 'image_load_mip v0, v[16:18], s[0:7] dmask:0x1 unorm', image: mipmap, at })
      expect([w.error, w.v(0)]).toEqual([undefined, [179, 297, 0, 324, 0, 385, 0]])
    })
    test('BASE_LEVEL is the first level', async () => {
      const image = { ...mipmap, levels: [1, 2] } as const
      const plain = await run({
        asm: 'image_load v0, v[16:17], s[0:7] dmask:0x1 unorm',
        image,
        at: [
          [9, 10],
          [2, 0],
        ],
      })
      expect(plain.v(0)).toEqual([297, 0])
      const mip = await run({
        asm: 'image_load_mip v0, v[16:18], s[0:7] dmask:0x1 unorm',
        image,
        at: [
          [4, 0],
          [0, 0],
          [1, 2],
        ],
      })
      expect(mip.v(0)).toEqual([324, 0])
    })
    test('levels of a volume get fewer slices', async () => {
      // Level 0: four slices of 64 × 4 bytes; level 1, from byte 1024: 64 × 2 is too little for 256 bytes, so two slices of 128 × 2.
      const image = {
        type: '3d',
        dataFormat: F8,
        numberFormat: UINT,
        width: 4,
        height: 4,
        depth: 4,
        pitch: 64,
        padded: true,
        levels: [0, 1],
      } as const
      const memory = Array.from({ length: 1024 }, (_, i) => (i % 64 === 0 ? 0x01010101 * (i / 64) : 0))
      const w = await run({
        asm: 'image_load_mip v0, v[16:19], s[0:7] dmask:0x1',
        image,
        at: [
          [1, 1],
          [0, 0],
          [3, 1],
          [0, 1],
        ],
        memory,
      })
      expect([w.error, w.v(0)]).toEqual([undefined, [3, 5]])
    })
    test('a texel of 12 bytes, whose third dword only is in its place', async () => {
      const image = { type: '2d', dataFormat: 13, numberFormat: UINT, width: 3, height: 2, pitch: 4 } as const
      const w = await run({ asm: 'image_load v[0:3], v[16:17], s[0:7] dmask:0xf', image, at: [[2], [1]] })
      expect(lane0(w, 4)).toEqual([18, 19, 20, 1])
    })
    test('R128 has no pitch: rows are multiples of 64 bytes', async () => {
      const image = { ...u32, type: '2d', width: 5, height: 3, pitch: 100 } as const
      const w = await run({
        asm: 'image_load v0, v[16:17], s[0:7] dmask:0x1 r128',
        image,
        at: [
          [1, 4],
          [1, 2],
        ],
      })
      expect(w.v(0)).toEqual([17, 36])
    })
  })

  describe('formats', () => {
    const texel = (dataFormat: number, numberFormat: number, rest: Partial<Image> = {}) =>
      ({ type: '1d', dataFormat, numberFormat, width: 8, ...rest }) as const
    const xyzw = 'image_load v[0:3], v16, s[0:7] dmask:0xf'
    test.each<[string, number, number, number, number[]]>([
      ['8_8_8_8 unorm', F8_8_8_8, UNORM, 0x00ff80ff, [0x3f800000, 0x3f008081, 0x3f800000, 0]],
      ['5_6_5 unorm', 16, UNORM, 0xf81f, [0x3f800000, 0, 0x3f800000, 0x3f800000]],
      ['5_6_5 uint', 16, UINT, (3 << 11) | (2 << 5) | 1, [1, 2, 3, 1]],
      ['1_5_5_5 uint', 17, UINT, 0x8c41, [1, 2, 3, 1]],
      ['1_5_5_5 sint', 17, SINT, 0xfc1f, [0xffffffff, 0, 0xffffffff, 0xffffffff]],
      ['5_5_5_1 uint', 18, UINT, 0x20c5, [1, 2, 3, 4]],
      ['4_4_4_4 uint', 19, UINT, 0x4321, [1, 2, 3, 4]],
      ['4_4_4_4 snorm', 19, SNORM, 0x0987, [0x3f800000, 0xbf800000, 0xbf800000, 0]],
      ['16 float', F16, FLOAT, 0xc000, [0xc0000000, 0, 0, 0x3f800000]],
      ['16 float, a signalling NaN is quieted', F16, FLOAT, 0xfd55, [0xffeaa000, 0, 0, 0x3f800000]],
    ])('%s', async (_, data, number, bits, want) => {
      const w = await run({ asm: xyzw, image: texel(data, number), at: [[0]], memory: [bits] })
      expect([w.error, lane0(w, 4)]).toEqual([undefined, want])
    })
    test('DST_SEL chooses, then DMASK packs', async () => {
      const image = texel(F8_8_8_8, UINT, { select: [6, 0, 1, 4] })
      const w = await run({ asm: 'image_load v[0:1], v16, s[0:7] dmask:0xc', image, at: [[0, 9]], memory: [0x04030201] })
      expect([w.v(0), w.v(1), w.v(2)]).toEqual([
        [1, 1],
        [1, 0],
        [0xdeadbeef, 0xdeadbeef],
      ])
      const none = await run({ asm: 'image_load v0, v16, s[0:7]', image, at: [[0]], memory: [0x04030201] })
      expect(lane0(none, 2)).toEqual([3, 0xdeadbeef])
    })
    test.each<[string, string, number, number, Partial<Image>, number[], number]>([
      ['what DMASK lacks is 0', 'image_store v[0:1], v16, s[0:7] dmask:0x5', F8_8_8_8, UINT, {}, [1, 3], 0x00030001],
      [
        'DST_SEL z, y, x, w is undone',
        'image_store v[0:3], v16, s[0:7] dmask:0xf',
        F8_8_8_8,
        UINT,
        { select: [6, 5, 4, 7] },
        [1, 2, 3, 4],
        0x04010203,
      ],
      [
        'a small texel leaves its neighbour',
        'image_store v[0:2], v16, s[0:7] dmask:0x7',
        16,
        UNORM,
        {},
        [0x3f800000, 0, 0x3f800000],
        0x5555f81f,
      ],
      ['1_5_5_5 unorm', 'image_store v[0:3], v16, s[0:7] dmask:0xf', 17, UNORM, {}, [0x3f800000, 0, 0, 0x3f800000], 0x5555801f],
      ['_mip, level 0', 'image_store_mip v0, v[16:17], s[0:7] dmask:0x1', F16, UINT, {}, [0x12345], 0x5555ffff],
      ['_mip_pck, level 0', 'image_store_mip_pck v0, v[16:17], s[0:7] dmask:0x1', F16, UINT, {}, [0x12345], 0x55552345],
      ['_pck: as it is', 'image_store_pck v0, v16, s[0:7] dmask:0x1', F16, UNORM, {}, [0x12345678], 0x55555678],
    ])('stores: %s', async (_, asm, data, number, rest, values, want) => {
      const w = await run({ asm, image: texel(data, number, rest), at: [[0]], data: values, memory: [0x55555555] })
      expect([w.error, w.memory[0], w.memory[1]]).toEqual([undefined, want, 0])
    })
    test.each<[string, string, number, number[], number[]]>([
      ['_pck extends by zeros', 'image_load_pck v[0:1], v16, s[0:7] dmask:0x3', F16, [0x8001], [0x8001, 0]],
      ['_pck_sgn extends by the sign', 'image_load_pck_sgn v[0:1], v16, s[0:7] dmask:0x3', F16, [0x8001], [0xffff8001, 0]],
      ['_pck of two dwords', 'image_load_pck v[0:2], v16, s[0:7] dmask:0x7', F32_32, [7, 8, 9], [7, 8, 0]],
      ['_mip_pck_sgn, level 0', 'image_load_mip_pck_sgn v0, v[16:17], s[0:7] dmask:0x1', F8, [0x80], [0xffffff80]],
      ['_mip_pck, level 0', 'image_load_mip_pck v0, v[16:17], s[0:7] dmask:0x1', F8, [0x80], [0x80]],
      ['_pck of components', 'image_load_pck v0, v16, s[0:7] dmask:0x1', F8_8_8_8, [0x04030201], [0x04030201]],
    ])('loads: %s', async (_, asm, data, memory, want) => {
      const w = await run({ asm, image: texel(data, UINT, { select: [0, 0, 0, 0] }), at: [[0]], memory })
      expect([w.error, lane0(w, want.length)]).toEqual([undefined, want])
    })
    test('D16 rounds to halves', async () => {
      const w = await run({ asm: 'image_load v[0:1], v16, s[0:7] dmask:0x3 d16', image: texel(F8_8, UNORM), at: [[0]], memory: [0x80ff] })
      expect(lane0(w, 3)).toEqual([0x3c00, 0x3804, 0xdeadbeef])
    })
    test.each(['tfe', 'lwe'])('%s puts a status of 0 behind the data', async (bit) => {
      const asm = bit === 'tfe' ? 'image_load v[0:1], v16, s[0:7] dmask:0x1 tfe' : 'image_load v0, v16, s[0:7] dmask:0x1 lwe'
      const w = await run({ asm, image: texel(F32, UINT), at: [[3]] })
      expect(lane0(w, 3)).toEqual([3, 0, 0xdeadbeef])
    })
  })

  describe('atomics', () => {
    const image = { type: '1d', dataFormat: F32, numberFormat: UINT, width: 8 } as const
    test('lanes at one texel take their turns; out of range is 0', async () => {
      const at = [[2, 2, 8]]
      const w = await run({ asm: 'image_atomic_add v0, v16, s[0:7] dmask:0x1 glc', image, at, data: [[5, 6, 7]], memory: [0, 0, 10] })
      expect([w.v(0), w.memory[2], w.memory[8]]).toEqual([[10, 15, 0], 21, 0])
    })
    test('without GLC nothing comes back', async () => {
      const w = await run({ asm: 'image_atomic_smax v0, v16, s[0:7] dmask:0x1', image, at: [[1]], data: [5], memory: [0, 0xffffffff] })
      expect([w.v(0)[0], w.memory[1]]).toEqual([5, 5])
    })
    test('compare and swap: the value, behind it what it is compared with', async () => {
      const asm = 'image_atomic_cmpswap v[0:1], v16, s[0:7] dmask:0x3 glc'
      const w = await run({
        asm,
        image,
        at: [[1, 2]],
        data: [
          [7, 7],
          [3, 4],
        ],
        memory: [0, 3, 3],
      })
      expect([w.v(0), w.v(1), [...w.memory.slice(1, 3)]]).toEqual([
        [3, 3],
        [3, 4],
        [7, 3],
      ])
    })
    test('two dwords', async () => {
      const wide = { ...image, dataFormat: F32_32 }
      const w = await run({
        asm: 'image_atomic_sub v[0:1], v16, s[0:7] dmask:0x3 glc',
        image: wide,
        at: [[1]],
        data: [1, 0],
        memory: [9, 9, 0, 1],
      })
      expect([lane0(w, 2), [...w.memory.slice(0, 4)]]).toEqual([
        [0, 1],
        [9, 9, 0xffffffff, 0],
      ])
    })
    test('rsub and fmin of gfx6 and gfx7', async () => {
      const rsub = await run({
        asm: 'image_atomic_rsub v0, v16, s[0:7] dmask:0x1',
        target: 'gfx700',
        image,
        at: [[0]],
        data: [5],
        memory: [2],
      })
      expect(rsub.memory[0]).toBe(3)
      const asm = 'image_atomic_fmin v0, v16, s[0:7] dmask:0x1'
      const fmin = await run({ asm, target: 'gfx600', image, at: [[0]], data: [0xbf800000], memory: [0x3f800000] })
      expect(fmin.memory[0]).toBe(0xbf800000)
    })
    const NAN = 0x7fc00000
    test.each<[name: string, data: number, before: number, after: number]>([
      ['image_atomic_swap', 5, 9, 5],
      ['image_atomic_add', 0xffffffff, 9, 8],
      ['image_atomic_sub', 10, 9, 0xffffffff],
      ['image_atomic_smin', 0xffffffff, 9, 0xffffffff],
      ['image_atomic_umin', 0xffffffff, 9, 9],
      ['image_atomic_smax', 0xffffffff, 9, 9],
      ['image_atomic_umax', 0xffffffff, 9, 0xffffffff],
      ['image_atomic_and', 12, 9, 8],
      ['image_atomic_or', 12, 9, 13],
      ['image_atomic_xor', 12, 9, 5],
      ['image_atomic_inc', 9, 9, 0],
      ['image_atomic_inc', 10, 9, 10],
      ['image_atomic_dec', 10, 9, 8],
      ['image_atomic_dec', 8, 9, 8],
      ['image_atomic_dec', 8, 0, 8],
      ['image_atomic_rsub', 10, 9, 1],
      ['image_atomic_fmin', 0xbf800000, 0, 0xbf800000],
      ['image_atomic_fmin', NAN, 0x3f800000, 0x3f800000],
      ['image_atomic_fmax', 0xbf800000, 0, 0],
      ['image_atomic_fmax', 0x3f800000, 0, 0x3f800000],
    ])('%s of %i makes %i to %i', async (name, value, before, after) => {
      const target = /rsub|_f/.test(name) ? 'gfx700' : 'gfx803'
      const w = await run({ asm: `${name} v0, v16, s[0:7] dmask:0x1 glc`, target, image, at: [[1]], data: [value], memory: [7, before, 7] })
      expect([w.error, w.v(0)[0], [...w.memory.slice(0, 3)]]).toEqual([undefined, before, [7, after, 7]])
    })
    test('image_atomic_fcmpswap compares numbers', async () => {
      const asm = 'image_atomic_fcmpswap v[0:1], v16, s[0:7] dmask:0x3'
      const w = await run({ asm, target: 'gfx600', image, at: [[0, 1]], data: [5, [0x80000000, NAN]], memory: [0, NAN] })
      expect([...w.memory.slice(0, 2)]).toEqual([5, NAN])
    })
    test.each([
      ['a wrong DMASK', 'image_atomic_add v[0:1], v16, s[0:7] dmask:0x3', F32],
      ['no DMASK', 'image_atomic_add v0, v16, s[0:7]', F32],
      ['16 bits', 'image_atomic_add v0, v16, s[0:7] dmask:0x1', F16],
    ])('%s is unsupported', async (_, asm, dataFormat) => {
      const { error } = await run({ asm, image: { ...image, dataFormat }, at: [[0]], data: [1] })
      expect(error).toBeInstanceOf(UnsupportedError)
    })
  })

  test.each<[string, Partial<Image>, number, number[]]>([
    ['1d', { width: 9 }, 0, [9, 0, 0, 1]],
    ['2d', { width: 20, height: 6, levels: [1, 3] }, 1, [5, 1, 0, 3]],
    ['2d', { width: 20, height: 6, levels: [1, 3] }, 3, [0, 0, 0, 3]],
    ['3d', { width: 20, height: 6, depth: 9, levels: [0, 3] }, 2, [5, 1, 2, 4]],
    ['cube', { width: 8, height: 8, depth: 2, layers: [6, 11] }, 0, [8, 8, 6, 1]],
    ['1d array', { width: 8, layers: [2, 4] }, 0, [8, 3, 0, 1]],
    ['2d array', { width: 8, height: 4, layers: [2, 4] }, 0, [8, 4, 3, 1]],
  ])('image_get_resinfo of %s %j, level %i', async (type, sizes, level, want) => {
    const image = { dataFormat: 0, numberFormat: 0, width: 1, ...sizes, type: type as '1d', tiling: 3 }
    const da = /array|cube/.test(type) ? 'da' : ''
    const w = await run({ asm: `image_get_resinfo v[0:3], v16, s[0:7] dmask:0xf ${da}`, image, at: [[level]] })
    expect([w.error, lane0(w, 4)]).toEqual([undefined, want])
  })

  describe('what stops the wave', () => {
    const image = { type: '2d', dataFormat: F32, numberFormat: UINT, width: 64, height: 64 } as const
    const load = 'image_load v0, v[16:17], s[0:7] dmask:0x1'
    test.each<[string, Partial<Image>, string]>([
      ['a tiled image', { tiling: 14 }, load],
      ['a buffer', { type: 0 }, load],
      ['several samples', { type: 14 }, load],
      ['an array without DA', { type: '2d array' }, load],
      ['DA without an array', {}, `${load} da`],
      ['interlacing', { interlaced: true }, load],
      ['compression', { compressed: true }, load],
      ['a format that is none', { dataFormat: 20 }, load],
      ['srgb', { dataFormat: F8_8_8_8, numberFormat: 9 }, load],
      ['a float of 8 bits', { dataFormat: F8, numberFormat: FLOAT }, load],
      ['a signed fraction of one bit', { dataFormat: 17, numberFormat: SNORM }, load],
      ['the sign of several components', { dataFormat: F8_8 }, 'image_load_pck_sgn v0, v[16:17], s[0:7] dmask:0x1'],
      ['a second level without POW2_PAD', { levels: [1, 1] }, load],
      ['an array with R128', { type: '2d array' }, `${load} da r128`],
      ['sampling', {}, 'image_sample v0, v[16:17], s[0:7], s[8:11] dmask:0x1'],
    ])('%s is unsupported', async (_, rest, asm) => {
      const { error, v } = await run({ asm, image: { ...image, ...rest }, at: [[0], [0], [0]] })
      expect(error).toBeInstanceOf(UnsupportedError)
      expect(v(0)).toEqual([0xdeadbeef])
    })
    test('the message tells which image it was', async () => {
      const { error } = await run({ asm: load, image: { ...image, tiling: 14, dataFormat: F8_8_8_8 }, at: [[0], [0]] })
      expect(error!.message).toMatch(/docs\/images\.md says which .* this one has TYPE 9, TILING_INDEX 14, DATA_FORMAT 10, NUM_FORMAT 4/)
    })
    test('compression is nothing that gfx6 and gfx7 know', async () => {
      const w = await run({ asm: load, target: 'gfx700', image: { ...image, compressed: true }, at: [[1], [1]] })
      expect([w.error, w.v(0)]).toEqual([undefined, [65]])
    })
    test('D16 before gfx8', async () => {
      const { error } = await run({ asm: `${load} d16`, target: 'gfx700', image, at: [[0], [0]] })
      expect(error).toBeInstanceOf(UnsupportedError)
    })
    test('a texel that is in nobody’s memory names its lane, and no lane has acted', async () => {
      const at = [
        [0, 0, 1],
        [0, 15, 16],
      ]
      const w = await run({ asm: 'image_store v0, v[16:17], s[0:7] dmask:0x1', image, at, data: [7], exec: 7n })
      expect(w.error).toBeInstanceOf(MemoryFault)
      expect([(w.error as MemoryFault).lane, (w.error as MemoryFault).address]).toEqual([2, ADDRESS + 4n * (16n * 64n + 1n)])
      expect([...w.memory.slice(0, 2)]).toEqual([0, 1])
    })
    test('registers beyond the wave’s', async () => {
      const { error } = await run({ asm: 'image_load v0, v255, s[0:7] dmask:0x1', image, exec: 0n })
      expect(error).toBeInstanceOf(FaultError)
      expect(error?.message).toMatch(/a register index beyond the wave's 256 VGPRs/)
    })
    test('data beyond the wave’s registers is an illegal instruction', async () => {
      const { error } = await run({ asm: 'image_load v[254:255], v[16:17], s[0:7] dmask:0x3 lwe', image, at: [[0], [0]] })
      expect(error).toBeInstanceOf(FaultError)
      expect(error?.message).toMatch(/VGPRs beyond the wave's 256/)
    })
  })
})

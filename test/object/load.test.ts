import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ObjectError } from '../../host/errors.ts'
import { loadObject } from '../../host/object/index.ts'

const saxpy = () => new Uint8Array(readFileSync('test/data/kernels/saxpy/gfx803.co'))
const fill = (variant: string) => new Uint8Array(readFileSync(`test/data/objects/fill.${variant}.o`))
const changed = (bytes: Uint8Array, offset: number, ...values: number[]) => {
  bytes.set(values, offset)
  return bytes
}

describe('a linked version 5 object', () => {
  // Expected: llvm-readelf -hlS --notes --symbols on the file.
  test('says version, target and segments', () => {
    const object = loadObject(saxpy())
    expect([object.version, object.mach, object.target, object.features]).toEqual([5, 0x2a, 'gfx803', []])
    expect(object.segments.map(({ address, memoryBytes, writable, executable }) => [address, memoryBytes, writable, executable])).toEqual([
      [0, 0x8c0, false, false],
      [0x1900, 0x84, false, true],
      [0x2988, 0x678, true, false],
    ])
  })

  test('has the kernel with descriptor and metadata', () => {
    const kernel = loadObject(saxpy()).kernel('saxpy')
    expect([kernel.descriptorAddress, kernel.entry]).toEqual([0x880, 0x1900])
    expect(kernel.descriptor).toEqual({
      groupSegmentBytes: 0,
      privateSegmentBytes: 0,
      kernargBytes: 280,
      rsrc1: 0xac0040,
      rsrc2: 0x8c,
      rsrc3: 0,
      properties: 9,
      kernargPreload: 0,
    })
    const { args, kernargBytes, waveSize, maxFlatWorkgroupSize, requiredWorkgroupSize } = kernel.metadata!
    expect([kernargBytes, waveSize, maxFlatWorkgroupSize, requiredWorkgroupSize]).toEqual([280, 64, 256, undefined])
    expect(args.slice(0, 4).map((a) => [a.typeName, a.offset, a.bytes, a.valueKind])).toEqual([
      ['u32', 0, 4, 'by_value'],
      ['f32', 4, 4, 'by_value'],
      ['f32*', 8, 8, 'global_buffer'],
      ['f32*', 16, 8, 'global_buffer'],
    ])
    expect(args.find((a) => a.valueKind === 'hidden_shared_base')).toMatchObject({ offset: 220, bytes: 4 })
  })

  test('is version 6 where the ABI version is 4', () => {
    expect(loadObject(changed(saxpy(), 8, 4)).version).toBe(6)
  })

  test('says target features that have a state', () => {
    // Version 4 and later: xnack in bits 9:8, sramecc in bits 11:10; 2 is off, 3 is on. gfx90a is 0x3f.
    expect(loadObject(changed(saxpy(), 48, 0x3f, 0x0b))).toMatchObject({ target: 'gfx90a', features: ['xnack+', 'sramecc-'] })
  })
})

describe('a wrong file', () => {
  test.each([
    ['empty', new Uint8Array(), /has 0 bytes; an ELF file has at least 64/],
    ['text', new TextEncoder().encode('s_endpgm\n'.repeat(20)), /the magic number is/],
    ['for another machine', changed(saxpy(), 18, 62, 0), /the machine is 0x3e, expected 0xe0/],
    ['32-bit', changed(saxpy(), 4, 1), /the ELF class is 0x1/],
    ['big-endian', changed(saxpy(), 5, 2), /the byte order/],
    ['for another OS', changed(saxpy(), 7, 65), /the OS ABI is 0x41.*amdgcn-amd-amdhsa/],
    ['of an unknown version', changed(saxpy(), 8, 9), /the ABI version is 9/],
    ['for an unknown processor', changed(saxpy(), 48, 0x27), /EF_AMDGPU_MACH 0x27/],
    ['of another ELF type', changed(saxpy(), 16, 2), /the ELF type is 2/],
    ['with an absurd section table', changed(saxpy(), 40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), /shoff.*0xffffffffffffffff/],
    ['with absurd arguments', changed(saxpy(), 0x888, 0xff, 0xff, 0xff, 0xff), /kernel saxpy wants 4294967295 bytes of arguments/],
    [
      'with an absurd segment',
      changed(saxpy(), 64 + 56 + 40, 0, 0, 0, 0x7f),
      /reaches to 0x7f000000; Lanewise loads objects of at most 0x10000000/,
    ],
    ['a compressed bundle', new TextEncoder().encode('CCOB'.padEnd(100)), /compressed offload bundle; unpack it first/],
  ])('that is %s says so', (_, bytes, message) => {
    expect(() => loadObject(bytes)).toThrow(ObjectError)
    expect(() => loadObject(bytes)).toThrow(message)
  })

  test('for another target than wanted names both', () => {
    expect(() => loadObject(saxpy(), { target: 'gfx700' })).toThrow(/is for gfx803, expected gfx700/)
  })

  test.each([['gfx803.v2'], ['gfx803.v4']])('a relocatable file %s cut anywhere is an ObjectError or still whole', (variant) => {
    const whole = fill(variant)
    for (let length = 0; length < whole.length; length += 7) {
      try {
        loadObject(whole.subarray(0, length))
      } catch (error) {
        expect(error).toBeInstanceOf(ObjectError)
      }
    }
  })

  test('a linked file with any word turned over never gives anything but an object or an ObjectError', () => {
    const whole = saxpy()
    for (let offset = 0; offset < whole.length; offset += 4) {
      const bytes = whole.slice()
      for (let i = offset; i < Math.min(offset + 4, bytes.length); i++) bytes[i] = ~bytes[i]!
      try {
        loadObject(bytes)
      } catch (error) {
        expect(error, `word at ${offset}`).toBeInstanceOf(ObjectError)
      }
    }
  })
})

describe('kernels by name', () => {
  test('without a name the only one is taken', () => {
    expect(loadObject(saxpy()).kernel().name).toBe('saxpy')
  })

  test('a missing one lists those that exist', () => {
    expect(() => loadObject(fill('gfx803.v4')).kernel('fil')).toThrow('the code object has no kernel "fil"; it has fill, nothing')
    expect(() => loadObject(fill('gfx803.v4')).kernel()).toThrow('has 2 kernels: fill, nothing; name one of them')
  })
})

describe('relocatable objects', () => {
  test.each([
    ['gfx600.v3', 3, 'gfx600'],
    ['gfx700.v4', 4, 'gfx700'],
    ['gfx803.v2', 2, 'gfx803'],
    ['gfx803.v3', 3, 'gfx803'],
    ['gfx803.v4', 4, 'gfx803'],
  ] as const)('fill.%s has its kernels, arguments and symbols', (variant, version, target) => {
    const object = loadObject(fill(variant))
    expect([object.version, object.target]).toEqual([version, target])
    expect(object.kernels.map(({ name }) => name)).toEqual(['fill', 'nothing'])
    const { metadata, entry } = object.kernel('fill')
    expect(metadata!.args.slice(0, 2).map((a) => [a.name, a.offset, a.bytes, a.valueKind, a.addressSpace])).toEqual([
      ['out', 0, 8, 'global_buffer', 'global'],
      ['bias', 8, 4, 'by_value', undefined],
    ])
    const text = object.segments.find((segment) => segment.executable)!
    expect(entry).toBeGreaterThanOrEqual(text.address)
    expect([...object.symbols.keys()]).toEqual(expect.arrayContaining(['callee', 'table', 'counter']))
  })

  test('the global offset table waits for the base, and code reaches it relative to pc', () => {
    const object = loadObject(fill('gfx803.v4'))
    const { table, counter } = Object.fromEntries(object.symbols)
    expect(object.relocations.map(({ value, kind }) => [value, kind])).toEqual([
      [table!.address, 'abs64'],
      [counter!.address, 'abs64'],
    ])
    // s_getpc_b64 s[n:n+1]; s_add_u32 sn, sn, literal: sn is then the address of the table's entry.
    const text = object.segments.find((segment) => segment.executable)!
    const words = new Uint32Array(text.bytes.slice().buffer)
    const getpc = words.findIndex((word) => (word & 0xff80ff00) >>> 0 === 0xbe801c00)
    const entry = text.address + (getpc + 1) * 4 + words[getpc + 2]!
    expect(object.relocations.map(({ address }) => address)).toContain(entry)
  })
})

const kernels = '../shared/kernels'
describe.runIf(existsSync(kernels))('all compiled kernels', () => {
  const files = !existsSync(kernels)
    ? []
    : readdirSync(kernels).flatMap((kernel) => {
        const directory = join(kernels, kernel, 'co')
        return existsSync(directory) ? readdirSync(directory).map((file) => join(directory, file)) : []
      })

  test.each(files)('%s is for the target in its name and has a kernel with metadata', (path) => {
    const object = loadObject(new Uint8Array(readFileSync(path)))
    expect(object.target).toBe(path.split('/').at(-1)!.split('.')[0])
    expect(object.kernels.length).toBeGreaterThan(0)
    for (const kernel of object.kernels) expect(kernel.metadata?.kernargBytes).toBe(kernel.descriptor.kernargBytes)
  })
})

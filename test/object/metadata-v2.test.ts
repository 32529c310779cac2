import { expect, test } from 'vitest'
import { ObjectError } from '../../host/errors.ts'
import { parseMetadataV2 } from '../../host/object/metadata-v2.ts'

const parse = (text: string) => parseMetadataV2(new TextEncoder().encode(text))

/** In the form of LLVM's "Code Object V2 Metadata" tables. */
const TEXT = `---
Version:         [ 1, 0 ]
Printf:
  - '1:1:4:%d\\n'
Kernels:
  - Name:            a
    SymbolName:      'a@kd'
    Language:        OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [ 8, 4, 2 ]
    Args:
    - Name:            c
      TypeName:        char
      Size:            1
      Align:           1
      ValueKind:       ByValue
    - TypeName:        'int*'
      Size:            8
      Align:           8
      ValueKind:       GlobalBuffer
      AddrSpaceQual:   Global
    - Size:            4
      Align:           4
      ValueKind:       DynamicSharedPointer
      PointeeAlign:    8
      AddrSpaceQual:   Local
    - Size:            8
      Align:           8
      ValueKind:       HiddenGlobalOffsetX
    - Size:            8
      Align:           8
      ValueKind:       HiddenMultiGridSyncArg
    CodeProps:
      KernargSegmentSize: 40
      WavefrontSize:   64
      IsDynamicCallStack: true
  - Name:            b
    SymbolName:      'b@kd'
...
`

test('offsets follow from sizes and alignments, and value kinds are spelled as in later versions', () => {
  const [a] = parse(TEXT).kernels
  expect(a!.args.map(({ offset, bytes, valueKind, addressSpace }) => [offset, bytes, valueKind, addressSpace])).toEqual([
    [0, 1, 'by_value', undefined],
    [8, 8, 'global_buffer', 'global'],
    [16, 4, 'dynamic_shared_pointer', 'local'],
    [24, 8, 'hidden_global_offset_x', undefined],
    [32, 8, 'hidden_multigrid_sync_arg', undefined],
  ])
  expect(a!.args[2]!.pointeeAlign).toBe(8)
  expect(a).toMatchObject({ requiredWorkgroupSize: [8, 4, 2], kernargBytes: 40, usesDynamicStack: true })
})

test('what is not said takes its default', () => {
  const { kernels, printf } = parse(TEXT)
  expect(kernels[1]).toMatchObject({
    name: 'b',
    args: [],
    kernargBytes: 0,
    waveSize: 64,
    maxFlatWorkgroupSize: 1024,
    requiredWorkgroupSize: undefined,
  })
  expect(printf).toEqual(['1:1:4:%d\\n'])
})

test('text that is no metadata is an ObjectError, or has no kernels', () => {
  expect(() => parse('Kernels:\n  - Name: a\n    nonsense\n')).toThrow(ObjectError)
  expect(() => parse('Kernels:\n  - Name: a\n    CodeProps:\n      NumSGPRs: many\n')).toThrow(/NumSGPRs of the metadata is many/)
  expect(parse('').kernels).toEqual([])
})

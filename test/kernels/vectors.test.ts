import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'
import { cases, differences, haveVectors } from './vectors.ts'

const kernels = await compileKernels(['double', 'half', 'convert', 'elementary', 'wide'])

describe.skipIf(!haveVectors)('kernels give what the vectors say', () => {
  describe.each(['gfx803', 'gfx700', 'gfx600'])('%s', (target) => {
    const all = haveVectors ? cases(target, kernels) : []
    const names = [...new Set(all.map((c) => c.operation.name))]
    test.each(names)('%s', (name) => {
      const group = all.filter((c) => c.operation.name === name)
      expect(group.flatMap((c) => differences(kernels, c).map((d) => `${c.text} ${d}`))).toEqual([])
    })
  })
})

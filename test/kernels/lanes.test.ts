import { describe, expect, test } from 'vitest'
import { compileKernels } from './compile.ts'
import { cases, differences, haveVectors } from './vectors.ts'

const kernels = await compileKernels(['vop1', 'vop2', 'vop3', 'vopc', 'clamped'])

describe.skipIf(!haveVectors)('kernels give what the vectors say', () => {
  describe.each(['gfx803', 'gfx700', 'gfx600'])('%s', (target) => {
    const jobs = haveVectors ? cases(target, kernels) : []
    test.each([...new Set(jobs.map((c) => c.operation.name))])('%s', (name) => {
      const own = jobs.filter((c) => c.operation.name === name)
      expect(own.flatMap((c) => differences(kernels, c).map((d) => `${c.text} ${d}`))).toEqual([])
    })
  })
})

import { describe, expect, test } from 'vitest'
import { calledKernels } from '../../host/build/called.ts'
import { material } from '../../host/build/dispatch.ts'
import { findKernels } from '../../host/build/kernels.ts'
import { base64 as relaxed } from '../../host/core/generated/relaxed.ts'
import { coreBytes } from '../../host/core/load.ts'

const kernels = material(findKernels('assembly/ops')).map(({ name }) => name)

/** Kernels whose bodies are too long; they take so long that a call is little. */
const LONG = ['v_div_fmas_f64', 'v_rsq_f64']
/** Without relaxed SIMD a fused multiply-add is computed exactly from parts. */
const LONG_FMA = ['v_fma_f64']

// A debug build leaves bodies as they were written, which are longer; what the package has is what counts.
const isRelease = relaxed !== undefined
describe.skipIf(!isRelease)(isRelease ? 'a release build' : 'a release build (this is a debug build: bodies are longer there)', () => {
  test.each([
    ['simd', [...LONG, ...LONG_FMA]],
    ['relaxed', LONG],
  ] as const)('of the %s core: translated code calls the kernels that are known to need it, and no other', async (build, long) => {
    const called = calledKernels(await coreBytes(build), kernels)
    const names = Object.fromEntries([...called].map(([reason, list]) => [reason, [...list].sort()]))
    expect(names).toEqual({ long: [...long].sort() })
  })
})

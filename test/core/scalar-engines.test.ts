/** The core and the reference do the same to random scalars. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SCALAR_KERNELS } from '../../host/core/generated/scalars.ts'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { createReference } from '../../host/reference/index.ts'
import { TestWave, waveOf } from './wave.ts'

const register = (at: number, wide: boolean) => (wide ? `s[${at}:${at + 1}]` : `s${at}`)
const isWide = (type: string | undefined) => type?.endsWith('64') ?? false

/** LLVM text of an operation with s[0:1] as destination, s[2:3] and s[4:5] as sources. */
function textOf(name: string, k: number): string {
  const { parameters, types, result } = SCALAR_KERNELS[name]!
  const operands = parameters.flatMap((p, i) => (p === 'a' || p === 'b' ? [register(p === 'a' ? 2 : 4, isWide(types[i]))] : []))
  if (OPERATION_BY_NAME.get(name)!.table === 'sopk') operands.push(`0x${(k & 0xffff).toString(16)}`)
  if (result !== 'bool' || parameters.includes('old')) operands.unshift(register(0, isWide(result)))
  return `${name} ${operands.join(', ')}`
}

const word = fc.oneof(
  fc.constantFrom(0, 1, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x00200000, 0x0020001f),
  fc.nat(0x7fffff),
  fc.nat(0xffffffff),
)

test.each(Object.keys(SCALAR_KERNELS))('%s', async (name) => {
  const reference = await createReference()
  const words = fc.array(word, { minLength: 8, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(words, fc.constantFrom(0, 1), fc.nat(0xffff), async ([a, b, c, d, e, f, low, high], scc, k) => {
      const start = {
        asm: textOf(name, k),
        scc,
        exec: (BigInt(high!) << 32n) | BigInt(low!),
        sgpr: { 0: a!, 1: b!, 2: c!, 3: d!, 4: e!, 5: f! },
      }
      const state = (w: TestWave) => {
        w.run()
        return [w.s64(0), w.s64(2), w.s64(4), w.scc, w.exec]
      }
      expect(state(await waveOf(start)), start.asm).toEqual(state(new TestWave(reference, start)))
    }),
    { numRuns: 40 },
  )
})

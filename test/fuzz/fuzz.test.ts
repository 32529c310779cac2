import { expect, test } from 'vitest'
import { fuzz, runCase } from './fuzz.ts'

/** A minute; `npm run fuzz` sets it to ten. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 60)
/** Another one each day, so that time finds more; FUZZ_SEED runs one case again. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Date.now() / 86_400_000) * 1_000_000)

test(`damaged input from seed ${SEED} on is refused with an error, or runs`, { timeout: SECONDS * 1000 + 120_000 }, async () => {
  if (process.env.FUZZ_SEED !== undefined) return expect(await runCase(SEED)).toBe(undefined)
  const { cases, found } = await fuzz(SEED, SECONDS)
  console.log(`${cases} cases from seed ${SEED} on`)
  expect(found).toEqual([])
  expect(cases).toBeGreaterThan(10)
})

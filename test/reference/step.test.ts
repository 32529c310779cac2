/** Records are kept ready by address, so they must be read again when memory is used for others. */
import { expect, test } from 'vitest'
import { OPERATION_BY_NAME } from '../../host/isa/operations.ts'
import { RECORD_BYTES } from '../../host/plan/layout.ts'
import { Steps } from '../../host/reference/step.ts'
import { viewsOf } from '../../host/reference/wave.ts'

const ADDRESS = 64
const memory = () => {
  const views = viewsOf(new ArrayBuffer(1024))
  views.words[ADDRESS / 4] = OPERATION_BY_NAME.get('v_mov_b32')!.number
  return views
}

test('a record that is still the same is read once', () => {
  const views = memory()
  const steps = new Steps()
  expect(steps.at(views, ADDRESS)).toBe(steps.at(views, ADDRESS))
})

test.each(Array.from({ length: RECORD_BYTES / 4 }, (_, k) => k))('a record with another dword %i is another record', (k) => {
  const views = memory()
  const steps = new Steps()
  const before = steps.at(views, ADDRESS)
  views.words[ADDRESS / 4 + k]! ^= 1
  const after = steps.at(views, ADDRESS)
  expect(after.record).not.toEqual(before.record)
  views.words[ADDRESS / 4 + k]! ^= 1
  expect(steps.at(views, ADDRESS).record).toEqual(before.record)
})

test('records of a grown memory are found where they were copied to', () => {
  const views = memory()
  const steps = new Steps()
  const before = steps.at(views, ADDRESS)
  const larger = viewsOf(new ArrayBuffer(2048))
  larger.words.set(views.words)
  expect(steps.at(larger, ADDRESS)).toBe(before)
})

/** Tables by field say what planning the common way says, for the values of every field of every operation. */
import { describe, expect, test } from 'vitest'
import { decode, layoutsOf } from '../../host/codec/decode.ts'
import { createCore, Device, TARGETS, type TargetName } from '../../host/index.ts'
import { packRecord } from '../../host/plan/plan.ts'
import { OP_ILLEGAL, OP_UNSUPPORTED } from '../../host/plan/record.ts'
import { traceRecord } from '../../host/trace/planner.ts'
import { fieldsOf, Tables } from '../../host/trace/tables.ts'

/** Each operation tries every fifth value, another one the next; `npm run test:deep` all. */
const STEP = process.env.LANEWISE_TIMES === undefined ? 5 : 1

/** Formats that are mostly made of independent fields. Scalar memory is not: a bit says what another field means. */
const TABULATED = /^(vop|sop|ds|flat|mubuf|mtbuf|vintrp|exp)/

describe.each(Object.keys(TARGETS) as TargetName[])('%s', (name) => {
  const target = TARGETS[name]
  const options = { waveSize: 64, vgprCount: 256 }
  const layouts = [...new Set(layoutsOf(target.generation).flat())]

  test.each(layouts.map((layout) => [layout.format.name, layout] as const))('%s', async (_, layout) => {
    const packed = new Uint32Array(8)
    const { arena, engine } = new Device(await createCore(), target)
    const templates = engine.templates!
    const tables = new Tables(arena, templates)
    const record = arena.allocate(32)
    let compared = 0
    layout.entries.forEach((entry, op) => {
      if (entry === undefined) return
      const example = (layout.value | (op << layout.opLo)) >>> 0
      const { dwords } = layout.format
      const plan = (w0: number, w1: number): Uint32Array | undefined => {
        const instruction = decode(Uint32Array.of(w0, w1), 0, target)
        if (instruction === undefined || instruction.dwords !== dwords || instruction.format !== layout.format) return undefined
        const record = traceRecord(instruction, 0, options)
        if (record.op === OP_ILLEGAL || record.op === OP_UNSUPPORTED) return undefined
        packRecord(packed, 0, record)
        return packed
      }
      const template = tables.tabulate(layout, example, dwords, plan)
      if (template === 0) return
      for (const { word, shift, mask } of fieldsOf(layout)) {
        for (let value = op % STEP; value <= mask; value += STEP) {
          const words = [example, 0] as [number, number]
          words[word] = ((words[word] & ~(mask << shift)) | (value << shift)) >>> 0
          if (!templates.planBy(template, BigInt(words[0]) | (BigInt(words[1]) << 32n), record)) continue
          const wanted = plan(...words)
          const made = arena.words.subarray(record / 4, record / 4 + 8)
          made[1] = 0
          if (wanted === undefined || wanted.some((w, i) => w !== made[i]))
            expect([entry.operation.name, value, [...made]]).toEqual([entry.operation.name, value, wanted && [...wanted]])
          compared++
        }
      }
    })
    if (TABULATED.test(layout.format.name)) expect(compared).toBeGreaterThan(0)
  })
})

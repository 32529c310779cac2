import { describe, expect, test } from 'vitest'
import { DEFAULT_DESCRIPTOR, dispatch, type Execution, rawKernel } from '../../host/device/index.ts'
import { FaultCode, Stop } from '../../host/engine.ts'
import { FaultError, LimitError, MemoryFault, UnsupportedError } from '../../host/errors.ts'
import {
  WAVE_FAULT,
  WAVE_FAULT_ADDRESS,
  WAVE_FAULT_BYTES,
  WAVE_FAULT_LANE,
  WAVE_HW_ID,
  WAVE_INSTRUCTIONS,
  WAVE_LDS,
  WAVE_SCALARS,
  WAVE_STATUS,
} from '../../host/plan/layout.ts'
import { type FakeInstruction, type FakeWave, fakeDevice } from './fake.ts'

/** A dispatch of `waves` waves in each of `groups` workgroups. */
function start(instruction: FakeInstruction, { groups = 1, waves = 1, options = {} } = {}) {
  const device = fakeDevice(instruction, 'gfx803', options)
  const code = device.loadCode(new Uint32Array(64), { name: 'test' })
  const kernel = rawKernel(code, { ...DEFAULT_DESCRIPTOR, rsrc1: 0, groupSegmentBytes: 64 })
  const execution = dispatch(device, kernel, { grid: [groups * waves * 64, 1, 1], workgroup: [waves * 64, 1, 1] })
  return { device, execution }
}

const END = 0x20
/** Numbers waves by when they first run. */
function waveLog() {
  const hosts: number[] = []
  return (wave: FakeWave) => {
    if (!hosts.includes(wave.host)) hosts.push(wave.host)
    return hosts.indexOf(wave.host)
  }
}
const stopAt: Record<number, Stop> = { 8: Stop.Barrier, [END]: Stop.End }

describe('turns', () => {
  test('each wave runs to the barrier, then each from there to its end, in order', async () => {
    const log: string[] = []
    const number = waveLog()
    const { execution } = start(
      (wave) => {
        log.push(`${number(wave)}@${wave.pc}`)
        return stopAt[wave.pc]
      },
      { waves: 3 },
    )
    expect((await execution.run()).status).toBe('done')
    const before = [0, 4, 8]
    const after = [12, 16, 20, 24, 28, 32]
    const of = (pcs: number[]) => [0, 1, 2].flatMap((wave) => pcs.map((pc) => `${wave}@${pc}`))
    expect(log).toEqual([...of(before), ...of(after)])
  })

  test('waves that have ended do not count at a barrier', async () => {
    const number = waveLog()
    const { execution } = start((wave) => (number(wave) === 1 && wave.pc === 4 ? Stop.End : stopAt[wave.pc]), { waves: 3 })
    expect((await execution.run()).status).toBe('done')
  })

  test('a barrier in a single wave is passed at once', async () => {
    const { execution } = start((wave) => stopAt[wave.pc])
    expect(await execution.run()).toMatchObject({ status: 'done', instructions: 9 })
  })

  test('s_sleep gives the turn away', async () => {
    const log: number[] = []
    const number = waveLog()
    const { execution } = start(
      (wave) => {
        log.push(number(wave))
        return wave.pc === 4 ? Stop.Yield : wave.pc === 8 ? Stop.End : undefined
      },
      { waves: 2 },
    )
    await execution.run()
    expect(log).toEqual([0, 0, 1, 1, 0, 1])
  })

  test('a wave that waits in a loop for another one does not keep it from running', async () => {
    const number = waveLog()
    const { execution } = start(
      (wave) => {
        const lds = wave.get(WAVE_LDS)
        if (number(wave) === 1) {
          wave.view.setUint32(lds, 1, true)
          return Stop.End
        }
        if (wave.view.getUint32(lds, true) === 1) return Stop.End
        wave.pc = 0
        return undefined
      },
      { waves: 2 },
    )
    expect((await execution.run({ budget: 1e6 })).status).toBe('done')
  })

  test('workgroups run one after another, x first, and use the same blocks', async () => {
    const seen: string[] = []
    const device = fakeDevice((wave) => {
      seen.push([6, 7, 8].map((s) => wave.get(WAVE_SCALARS + s * 4)).join())
      return Stop.End
    })
    const kernel = rawKernel(device.loadCode(new Uint32Array(1)), DEFAULT_DESCRIPTOR)
    await dispatch(device, kernel, { grid: [128, 2, 2], workgroup: [64, 1, 1] }).run()
    expect(seen).toEqual(['0,0,0', '1,0,0', '0,1,0', '1,1,0', '0,0,1', '1,0,1', '0,1,1', '1,1,1'])
  })
})

describe('steps', () => {
  test('a step of one instruction is the next instruction of the next wave', () => {
    const { execution } = start((wave) => (wave.pc === 4 ? Stop.End : undefined), { waves: 2, groups: 2 })
    const log: string[] = []
    while (execution.next) {
      const wave = execution.next
      log.push(`${execution.workgroup[0]}/${wave.index}@${wave.pc}`)
      expect(execution.step(1)).toBe(1)
    }
    expect(log).toEqual(['0/0@0', '0/0@4', '0/1@0', '0/1@4', '1/0@0', '1/0@4', '1/1@0', '1/1@4'])
    expect(execution.status).toBe('done')
  })

  test('the size of the steps does not change what runs', () => {
    const order = (size: number) => {
      const log: string[] = []
      const number = waveLog()
      const { execution } = start(
        (wave) => {
          log.push(`${number(wave)}@${wave.pc}`)
          return stopAt[wave.pc]
        },
        { waves: 3, groups: 2 },
      )
      while (execution.status === 'running') execution.step(size)
      return log
    }
    expect(order(1)).toEqual(order(1000))
    expect(order(7)).toEqual(order(1000))
  })

  test('waves that wait, give way and end anywhere run in the same order wave by wave and in steps of any size', () => {
    // What an instruction does follows from the seed, the wave and its place alone.
    const instruction =
      (seed: number, log: string[]): FakeInstruction =>
      (wave) => {
        const index = wave.get(WAVE_HW_ID) >>> 4
        log.push(`${index}@${wave.pc}`)
        if (wave.pc === LAST) return Stop.End
        const chance = Math.imul(Math.imul(seed + 1, 0x9e3779b1) ^ (index * 64 + wave.pc), 0x85ebca6b) >>> 24
        return chance < 40 ? Stop.Barrier : chance < 52 ? Stop.Yield : chance < 60 ? Stop.End : undefined
      }
    const LAST = 0xa0
    const run = (seed: number, advance: (execution: Execution) => void) => {
      const log: string[] = []
      const { execution } = start(instruction(seed, log), { waves: 1 + (seed & 3), groups: 3 })
      while (execution.status === 'running') advance(execution)
      return { log, status: execution.status, instructions: execution.instructions, groupsDone: execution.groupsDone }
    }
    for (let seed = 0; seed < 200; seed++) {
      const expected = run(seed, (execution) => execution.next && execution.stepWave(1))
      expect(expected.instructions).toBe(expected.log.length)
      for (const size of [1, 2, 5, 1000]) expect(run(seed, (execution) => execution.step(size))).toEqual(expected)
      // In and out of the middle of a round.
      let turn = seed
      expect(run(seed, (execution) => (turn++ % 3 ? execution.step(1 + (turn % 5)) : execution.stepWave(3)))).toEqual(expected)
    }
  })

  test('a workgroup that has ended stays readable until the next step', () => {
    const { execution } = start(() => Stop.End, { groups: 2 })
    execution.step(1)
    expect([execution.groupsDone, execution.waves[0]!.ended, execution.waves[0]!.instructions]).toEqual([1, true, 1])
    execution.step(1)
    expect(execution.status).toBe('done')
  })
})

const options = { disassemble: (_words: Uint32Array, index: number) => `text of dword ${index}` }

describe('limits', () => {
  const loop: FakeInstruction = (wave) => {
    wave.pc = 0
    return undefined
  }

  test('a budget ends an endless loop exactly, and the wave stays readable', async () => {
    const { execution } = start(loop)
    const outcome = await execution.run({ budget: 100_001 })
    expect(outcome).toMatchObject({ status: 'stopped', instructions: 100_001 })
    expect(outcome.error).toBeInstanceOf(LimitError)
    expect(outcome.error!.message).toMatch(
      /budget of 100001 wave instructions is used up before 0x00000000 0x00000000 at pc 0x[04] \(workgroup 0,0,0, wave 0\), 0 of 1 workgroups done; look/,
    )
    expect(outcome.wave!.exec).toBe(0xffffffffffffffffn)
  })

  test('the error of a used-up budget says who waits for whom', async () => {
    const number = waveLog()
    const { execution } = start((wave) => (number(wave) === 0 ? loop(wave) : stopAt[wave.pc]), { waves: 4, options })
    const { error } = await execution.run({ budget: 200_000 })
    const { place, message } = error as LimitError
    expect(message).toMatch(/; wave 0: next is text of dword [01] at pc 0x[04]; wave 1, 2, 3: waits at text of dword 2 at pc 0x8; look/)
    expect(place).toMatchObject({ wave: 0, workgroup: [0, 0, 0] })
    expect(place!.context).toContain(`> 0x000${place!.pc}  ${place!.instruction}`)
  })

  test('an abort rejects with its reason, between slices of an endless loop', async () => {
    const { execution } = start(loop)
    const controller = new AbortController()
    const reason = new Error('enough')
    setTimeout(() => controller.abort(reason), 10)
    await expect(execution.run({ signal: controller.signal, budget: Number.MAX_SAFE_INTEGER })).rejects.toBe(reason)
    await expect(execution.run({ signal: controller.signal })).rejects.toBe(reason)
  })

  test('progress counts workgroups, rises, and ends with all of them', async () => {
    const { execution } = start((wave) => (wave.pc === 100 ? Stop.End : undefined), { groups: 3000 })
    const calls: [number, number][] = []
    await execution.run({ onProgress: (done, total) => calls.push([done, total]) })
    expect(calls.at(-1)).toEqual([3000, 3000])
    expect(calls.map(([done]) => done)).toEqual(calls.map(([done]) => done).sort((a, b) => a - b))
  })

  test('no call of the engine has a budget beyond 2^31 - 1 or below 1', async () => {
    const { device, execution } = start((wave) => stopAt[wave.pc], { waves: 4, groups: 4 })
    await execution.run({ budget: 2 ** 53 - 1 })
    for (const budget of (device.engine as unknown as { budgets: number[] }).budgets) {
      expect(budget).toBeGreaterThanOrEqual(1)
      expect(budget).toBeLessThanOrEqual(2 ** 31 - 1)
    }
    await expect(execution.run({ budget: 0 })).rejects.toThrow(RangeError)
  })

  test('a halted wave that others wait for is a deadlock that lists all of them', async () => {
    const number = waveLog()
    const { execution } = start(
      (wave) => {
        if (number(wave) !== 1) return stopAt[wave.pc]
        wave.set(WAVE_STATUS, wave.get(WAVE_STATUS) | (1 << 13))
        return Stop.Yield
      },
      { waves: 3, options },
    )
    const { error, wave } = await execution.run()
    expect(error).toBeInstanceOf(FaultError)
    expect(error!.code).toBe('ERR_DEADLOCK')
    expect(error!.message).toMatch(/wave 0, 2: waits at text of dword 2 at pc 0x8; wave 1: was halted by text of dword 0 at pc 0x0;/)
    expect([(error as FaultError).place.pc, (error as FaultError).place.context![2]]).toEqual([8, '> 0x0008  text of dword 2'])
    expect(wave!.index).toBe(0)
  })
})

describe('faults', () => {
  const fault =
    (code: FaultCode, { lane = 5, address = 0n, bytes = 4 } = {}): FakeInstruction =>
    (wave) => {
      if (wave.pc !== 8) return undefined
      wave.set(WAVE_FAULT, code)
      wave.set(WAVE_FAULT_LANE, lane)
      wave.view.setBigUint64(wave.host + WAVE_FAULT_ADDRESS, address, true)
      wave.set(WAVE_FAULT_BYTES, bytes)
      return Stop.Fault
    }
  async function run(instruction: FakeInstruction, prepare = (_device: ReturnType<typeof start>['device']) => {}) {
    const { device, execution } = start(instruction, { waves: 2, options })
    prepare(device)
    return { device, outcome: await execution.run() }
  }

  test('a memory fault says instruction, place, lane, address and what is near', async () => {
    const { outcome } = await run(fault(FaultCode.Memory, { address: 0x5014n }), (device) => {
      device.memory.allocate(16, { name: 'y', address: 0x5000n })
    })
    const error = outcome.error as MemoryFault
    expect(error).toBeInstanceOf(MemoryFault)
    expect([error.code, error.lane, error.address, error.place]).toEqual([
      'ERR_MEMORY_FAULT',
      5,
      0x5014n,
      {
        pc: 8,
        instruction: 'text of dword 2',
        workgroup: [0, 0, 0],
        wave: 0,
        context: [0, 1, 2, 3, 4].map(
          (dword) => `${dword === 2 ? '>' : ' '} 0x${(dword * 4).toString(16).padStart(4, '0')}  text of dword ${dword}`,
        ),
      },
    ])
    expect(error.message).toBe(
      "text of dword 2 at pc 0x8 (workgroup 0,0,0, wave 0): lane 5 accessed 4 bytes at 0x5014; the nearest buffer is y (16 bytes at 0x5000), whose end is 4 bytes before; check the index and the buffer's size",
    )
    expect(outcome.instructions).toBe(2)
    expect(outcome.wave!.pc).toBe(8)
  })

  test('writing a read-only region and reaching beyond an end are told apart', async () => {
    const readOnly = await run(fault(FaultCode.Memory, { address: 0x5000n }), (device) => {
      device.memory.allocate(16, { name: 'table', address: 0x5000n, writable: false })
    })
    expect(readOnly.outcome.error!.message).toMatch(/table \(16 bytes at 0x5000\) is read-only/)
    const across = await run(fault(FaultCode.Memory, { address: 0x500en }), (device) => {
      device.memory.allocate(16, { name: 'x', address: 0x5000n })
    })
    expect(across.outcome.error!.message).toMatch(/begins 2 bytes before the end of x .* and reaches beyond/)
  })

  test('a scalar access names no lane', async () => {
    const { outcome } = await run(fault(FaultCode.Memory, { lane: 0xffffffff, address: 1n }))
    expect((outcome.error as MemoryFault).lane).toBeUndefined()
    expect(outcome.error!.message).toMatch(/a scalar access accessed 4 bytes/)
  })

  test.each([
    [0x2000_0001_0000_0040n, /scratch: lane 5 accessed 4 bytes at 0x2000000100000040, a work-item has 0 bytes/],
    [0x2000_0000_0000_0040n, /LDS: .* the workgroup has 64 bytes/],
    [0x8n, /a null pointer or close to one/],
  ])('address %s is told for what it is', async (address, message) => {
    const { outcome } = await run(fault(FaultCode.Memory, { address }))
    expect(outcome.error!.message).toMatch(message)
  })

  test.each([
    [FaultCode.Lds, 'ERR_MEMORY_FAULT', MemoryFault, /LDS: lane 5 accessed/],
    [FaultCode.Misaligned, 'ERR_MEMORY_FAULT', MemoryFault, /no multiple/],
    [FaultCode.Unsupported, 'ERR_UNSUPPORTED', UnsupportedError, /does not run this instruction on gfx803/],
    // The code is all zeros: v_cndmask_b32 v0, s0, v0.
    [FaultCode.Illegal, 'ERR_ILLEGAL', FaultError, /operands that gfx803 does not allow, or VGPRs beyond the wave's 4/],
    [FaultCode.Jump, 'ERR_ILLEGAL', FaultError, /pc left the code, which has 256 bytes/],
    [FaultCode.Trap, 'ERR_TRAP', FaultError, /trapped/],
    [FaultCode.Register, 'ERR_ILLEGAL', FaultError, /register index beyond/],
  ])('fault %d is %s', async (code, name, type, message) => {
    const { outcome } = await run(fault(code))
    expect(outcome.error).toBeInstanceOf(type)
    expect(outcome.error!.code).toBe(name)
    expect(outcome.error!.message).toMatch(message)
  })

  test('an engine that asks for a plan that it has, or outside the code, is an error and no endless loop', async () => {
    const planned = await run((wave) => (wave.pc === 0 ? Stop.Plan : Stop.End))
    expect(planned.outcome.error!.code).toBe('ERR_CORE')
    const idle = await run((wave) => {
      wave.set(WAVE_INSTRUCTIONS, wave.get(WAVE_INSTRUCTIONS) - 1)
      return Stop.Yield
    })
    expect(idle.outcome.error!.message).toMatch(/without running anything/)
    const outside = await run((wave) => {
      wave.pc = 0x1000
      return Stop.Plan
    })
    expect(outside.outcome.error!.message).toMatch(/0x1000, which is outside the code/)
  })
})

/** The property of LDS and flat instructions: whole waves, faults, LDS and memory are the same on all engines, however addresses lie. */
import { randomProgram } from './addresses.ts'
import { describeMemory } from './memory.ts'

describeMemory(['gfx700', 'gfx803'], ['ds', 'flat'], randomProgram)

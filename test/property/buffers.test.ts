/** The property of buffer instructions: whole waves, faults and memory are the same on all engines. */
import { randomProgram } from './buffers.ts'
import { describeMemory } from './memory.ts'

describeMemory(['gfx600', 'gfx700', 'gfx803'], ['mubuf', 'mtbuf'], randomProgram)

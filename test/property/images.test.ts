/** The property of image instructions: whole waves, faults and memory are the same on all engines. */
import { randomProgram } from './images.ts'
import { describeMemory } from './memory.ts'

describeMemory(['gfx600', 'gfx700', 'gfx803'], ['mimg'], randomProgram)

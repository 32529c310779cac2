import { testProperties } from './property.ts'

testProperties('gfx600')

import { testEdgeCases } from './suite.ts'

testEdgeCases('gfx600')

/** The plain reference engine. */
export { createReference } from './engine.ts'
export { referenceOperations } from './operations.ts'

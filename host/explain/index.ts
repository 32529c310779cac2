/** What the tables know of an operation, and one instruction tried out. */
export { type Encoding, type Example, type ExplainedOperand, type Explanation, explain } from './explain.ts'
export { findOperation, generationsOf, similarNames } from './find.ts'
export { type BitRange, drawBits } from './layout.ts'
export { type ExampleOptions, type ExampleRun, type RegisterValue, runExample } from './run.ts'
export type { Value } from './value.ts'

/** Export: there is no pipeline behind the shader that could take anything. */
import { FaultCode } from '../engine.ts'
import { Fault } from './fault.ts'
import type { WaveFunction } from './scalar.ts'

/** Exports to a render target, position or parameter cache. @throws {Fault} Unsupported */
export const exp: WaveFunction = () => {
  throw new Fault(FaultCode.Unsupported)
}

/** AMDGPU code objects. `loadObject(bytes).kernel('name')`; bundles that may be compressed: `loadObject(await unbundle(bytes, 'gfx803'))`. */
export { unbundle } from './bundle.ts'
export type {
  CodeObject,
  Kernel,
  KernelArgument,
  KernelDescriptor,
  KernelMetadata,
  ObjectSymbol,
  Relocation,
  Segment,
} from './code-object.ts'
export { type LoadOptions, loadObject } from './load.ts'

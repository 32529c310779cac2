/**
 * The structures in guest memory that kernels may read: AQL kernel dispatch packet and queue (HSA Platform System Architecture
 * Specification 1.2, "Architected Queuing Language"; amd_queue_t of ROCm's amd_hsa_queue.h).
 */
/** Work-items or workgroups in x, y and z. */
export type Size = readonly [x: number, y: number, z: number]

/** Packet type kernel dispatch, barrier bit, system scope fences. */
const PACKET_HEADER = 2 | (1 << 8) | (2 << 9) | (2 << 11)

export interface PacketFacts {
  readonly grid: Size
  readonly workgroup: Size
  readonly privateSegmentBytes: number
  readonly groupSegmentBytes: number
  /** Guest address of the kernel descriptor. */
  readonly kernelObject: bigint
  readonly kernarg: bigint
}

/** hsa_kernel_dispatch_packet_t, 64 bytes. */
export function dispatchPacket(facts: PacketFacts): Uint8Array {
  const view = new DataView(new ArrayBuffer(64))
  view.setUint16(0, PACKET_HEADER, true)
  view.setUint16(2, dimensions(facts.grid), true)
  facts.workgroup.forEach((items, d) => {
    view.setUint16(4 + d * 2, items, true)
  })
  facts.grid.forEach((items, d) => {
    view.setUint32(12 + d * 4, items, true)
  })
  view.setUint32(24, facts.privateSegmentBytes, true)
  view.setUint32(28, facts.groupSegmentBytes, true)
  view.setBigUint64(32, facts.kernelObject, true)
  view.setBigUint64(40, facts.kernarg, true)
  return new Uint8Array(view.buffer)
}

/** Dimensions of a grid: those beyond the last that has more than one work-item do not count. */
export const dimensions = ([, y, z]: Size): number => (z > 1 ? 3 : y > 1 ? 2 : 1)

/** As much of amd_queue_t as compiled code reads: the aperture bases at 0x40 and 0x44. 256 bytes. */
export function queue(apertures: { readonly shared: number; readonly private: number }): Uint8Array {
  const view = new DataView(new ArrayBuffer(256))
  view.setUint32(0x40, apertures.shared, true)
  view.setUint32(0x44, apertures.private, true)
  return new Uint8Array(view.buffer)
}

/** Image descriptors as docs/images.md has them. */

export const TYPES = { '1d': 8, '2d': 9, '3d': 10, cube: 11, '1d array': 12, '2d array': 13 } as const

/** Fields of a descriptor; sizes are numbers of texels, layers and levels, not minus 1. */
export interface Image {
  readonly type: keyof typeof TYPES | number
  /** Guest address, a multiple of 256. */
  readonly address: bigint
  readonly dataFormat: number
  readonly numberFormat: number
  readonly width: number
  readonly height?: number
  readonly depth?: number
  readonly pitch?: number
  readonly padded?: boolean
  /** DST_SEL_X to W; default x, y, z, w. */
  readonly select?: readonly [number, number, number, number]
  readonly levels?: readonly [base: number, last: number]
  readonly layers?: readonly [base: number, last: number]
  readonly tiling?: number
  readonly interlaced?: boolean
  readonly compressed?: boolean
}

/** Eight dwords; R128 takes the first four. */
export function descriptorOf(image: Image): number[] {
  const { type, address, dataFormat, numberFormat, width, height = 1, depth = 1, pitch = width, select = [4, 5, 6, 7] } = image
  const [baseLevel, lastLevel] = image.levels ?? [0, 0]
  const [baseArray, lastArray] = image.layers ?? [0, 0]
  const [x, y, z, w] = select
  const words = [
    Number((address >> 8n) & 0xffffffffn),
    Number(address >> 40n) | (dataFormat << 20) | (numberFormat << 26),
    (width - 1) | ((height - 1) << 14) | (image.interlaced ? 1 << 31 : 0),
    x |
      (y << 3) |
      (z << 6) |
      (w << 9) |
      (baseLevel << 12) |
      (lastLevel << 16) |
      ((image.tiling ?? 8) << 20) |
      (image.padded ? 1 << 25 : 0) |
      ((typeof type === 'number' ? type : TYPES[type]) << 28),
    (depth - 1) | ((pitch - 1) << 13),
    baseArray | (lastArray << 13),
    image.compressed ? 1 << 21 : 0,
    0,
  ]
  return words.map((word) => word >>> 0)
}

/** MODE, as far as it decides how lanes are translated. */
export interface LaneModes {
  readonly flushSources32: boolean
  readonly flushResults32: boolean
  readonly flush64: boolean
  readonly round32: number
  readonly round64: number
  /** Clamp sends NaN to 0. */
  readonly dx10Clamp: boolean
  readonly ieee: boolean
}

/** MODE taken apart (GCN3 manual, "MODE register"): round 1:0 and 3:2, denormals 5:4 and 7:6 (sources, results), DX10_CLAMP 8, IEEE 9. */
export function modesOf(mode: number): LaneModes {
  return {
    round32: mode & 3,
    round64: (mode >>> 2) & 3,
    flushSources32: (mode & 0x10) === 0,
    flushResults32: (mode & 0x20) === 0,
    flush64: (mode & 0xc0) !== 0xc0,
    dx10Clamp: (mode & 0x100) !== 0,
    ieee: (mode & 0x200) !== 0,
  }
}

/** MODE bits that the above are made of. */
export const MODE_KEY = 0x3ff

/** EF_AMDGPU_MACH: which processor a code object is for (LLVM, "User Guide for AMDGPU Backend", AMDGPU ELF Header e_flags). */

const NAMES: Readonly<Record<number, string>> = {
  32: 'gfx600',
  33: 'gfx601',
  34: 'gfx700',
  35: 'gfx701',
  36: 'gfx702',
  37: 'gfx703',
  38: 'gfx704',
  40: 'gfx801',
  41: 'gfx802',
  42: 'gfx803',
  43: 'gfx810',
  44: 'gfx900',
  45: 'gfx902',
  46: 'gfx904',
  47: 'gfx906',
  48: 'gfx908',
  49: 'gfx909',
  50: 'gfx90c',
  51: 'gfx1010',
  52: 'gfx1011',
  53: 'gfx1012',
  54: 'gfx1030',
  55: 'gfx1031',
  56: 'gfx1032',
  57: 'gfx1033',
  58: 'gfx602',
  59: 'gfx705',
  60: 'gfx805',
  61: 'gfx1035',
  62: 'gfx1034',
  63: 'gfx90a',
  64: 'gfx940',
  65: 'gfx1100',
  66: 'gfx1013',
  67: 'gfx1150',
  68: 'gfx1103',
  69: 'gfx1036',
  70: 'gfx1101',
  71: 'gfx1102',
  72: 'gfx1200',
  73: 'gfx1250',
  74: 'gfx1151',
  75: 'gfx941',
  76: 'gfx942',
  78: 'gfx1201',
  79: 'gfx950',
  81: 'gfx9-generic',
  82: 'gfx10-1-generic',
  83: 'gfx10-3-generic',
  84: 'gfx11-generic',
  85: 'gfx1152',
  88: 'gfx1153',
  89: 'gfx12-generic',
  95: 'gfx9-4-generic',
}

/** LLVM's name of the processor, undefined where the number is none that is known. */
export const machineName = (mach: number): string | undefined => NAMES[mach]

const FEATURES = [
  ['xnack', 8],
  ['sramecc', 10],
] as const
const STATES = ['', '', '-', '+']

/** Target features with a state. Versions 4 and later use two bits each: unsupported, any, off, on; version 3 one. */
export function featuresOf(flags: number, version: number): string[] {
  if (version === 2) return []
  if (version === 3) return FEATURES.flatMap(([name], i) => ((flags >>> (8 + i)) & 1 ? [`${name}+`] : []))
  return FEATURES.map(([name, bit]) => [name, STATES[(flags >>> bit) & 3]!] as const).flatMap(([name, state]) =>
    state === '' ? [] : [name + state],
  )
}

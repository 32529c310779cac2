/** What memory, LDS, image and export operations mean, put together from the parts of their names. */

/** What an atomic operation leaves in memory, M what was there and S what the lane brings. */
const ATOMICS: Readonly<Record<string, string>> = {
  swap: 'S', wrxchg: 'S', add: 'M + S', sub: 'M - S', rsub: 'S - M', inc: 'M + 1, or 0 if M ≥ S', dec: 'M - 1, or S if M = 0 or M > S',
  min: 'the smaller of M and S', smin: 'the smaller of M and S, signed', umin: 'the smaller of M and S, unsigned',
  max: 'the larger of M and S', smax: 'the larger of M and S, signed', umax: 'the larger of M and S, unsigned',
  fmin: 'the smaller of M and S, floats', fmax: 'the larger of M and S, floats', and: 'M and S', or: 'M or S', xor: 'M xor S',
  mskor: 'M with the bits of the first datum cleared and those of the second set', write: 'S',
  cmpswap: 'the first datum if M is the second, else M', fcmpswap: 'the first datum if M equals the second, floats, else M',
  cmpst: 'the second datum if M is the first, else M',
  wrap: 'M - the first datum if M is not below it, else M + the second', condxchg32: 'S, each half only if its sign bit is set',
}
const WHOLE: Readonly<Record<string, string>> = {
  ds_nop: 'Does nothing.',
  ds_swizzle_b32: 'D = the source of another lane, which the offset says how to find.',
  ds_permute_b32: 'Gives S1 to the lane that S0 / 4 names.',
  ds_bpermute_b32: 'D = S1 of the lane that S0 / 4 names.',
  ds_consume: 'D = the counter at M0; less by the number of active lanes afterwards.',
  ds_append: 'D = the counter at M0; more by the number of active lanes afterwards.',
  ds_ordered_count: 'Counts in the order of waves, in GDS.',
  ds_gws_init: 'Sets a global wave semaphore.',
  ds_gws_sema_v: 'Releases a global wave semaphore.',
  ds_gws_sema_br: 'Releases a global wave semaphore many times.',
  ds_gws_sema_p: 'Waits for a global wave semaphore.',
  ds_gws_barrier: 'Waits for other waves at a global barrier.',
  ds_gws_sema_release_all: 'Releases all that wait for a global wave semaphore.',
  buffer_wbinvl1: 'Writes the first-level cache back and empties it.',
  buffer_wbinvl1_sc: 'Writes the first-level cache back and empties it.',
  buffer_wbinvl1_vol: 'Empties the first-level cache of volatile lines.',
  buffer_store_lds_dword: 'Stores a dword from LDS into a buffer.',
  exp: 'Sends up to four VGPRs to a colour, depth, position or parameter export.',
  image_get_resinfo: "D = width, height, depth or layers of an image's level, and how many levels there are.",
  image_get_lod: 'D = the level of detail that sampling would use.',
}
const PARTS: Readonly<Record<string, string>> = {
  ubyte: 'an unsigned byte', sbyte: 'a signed byte', ushort: 'an unsigned half', sshort: 'a signed half', byte: 'a byte', short: 'a half',
  dword: 'a dword', dwordx2: '2 dwords', dwordx3: '3 dwords', dwordx4: '4 dwords',
  b8: 'a byte', b16: 'a half', b32: 'a dword', b64: '2 dwords', b96: '3 dwords', b128: '4 dwords',
  i8: 'a signed byte', u8: 'an unsigned byte', i16: 'a signed half', u16: 'an unsigned half',
}

/** The meaning of a DS, flat, buffer, image or export operation; undefined where there is none. */
export function memoryMeaning(name: string): string | undefined {
  return WHOLE[name] ?? (name.startsWith('ds_') ? ldsMeaning(name) : name.startsWith('image_') ? imageMeaning(name) : placeMeaning(name))
}

const typeOf = (type: string): string => `${type.startsWith('f') ? 'floats of ' : type.startsWith('i') ? 'signed, ' : ''}${type.slice(1)} bits`

function ldsMeaning(name: string): string | undefined {
  const [, move, two, far, part] = /^ds_(read|write)(2?)(st64)?_(\w+)$/.exec(name) ?? []
  const what = part === undefined ? undefined : PARTS[part]
  if (what !== undefined) {
    const each = two === '2' ? `${what} each at two places${far === undefined ? '' : ', 64 elements a step'}` : what
    return move === 'read' ? `D = ${each} of LDS.` : `Writes ${each} to LDS.`
  }
  const [, exchange, stride] = /^ds_(wrxchg2)(st64)?_rtn_/.exec(name) ?? []
  if (exchange !== undefined) return `Writes at two places of LDS${stride === undefined ? '' : ', 64 elements a step'}; D = what was there.`
  const [, atomic, form, type] = /^ds_([a-z]+(?:32)?)_(?:(rtn|src2)_)?([biuf]\d\d)$/.exec(name) ?? []
  const leaves = atomic === undefined ? undefined : ATOMICS[atomic]
  if (leaves === undefined || type === undefined) return undefined
  const source = form === 'src2' ? ', S from a second place of LDS' : ''
  return `In LDS, M = ${leaves}${source}, ${typeOf(type)}.${form === 'rtn' ? ' D = M as it was.' : ''}`
}

function placeMeaning(name: string): string | undefined {
  const [, space, rest] = /^(flat|buffer|tbuffer)_(\w+)$/.exec(name) ?? []
  if (space === undefined || rest === undefined) return undefined
  const place = space === 'flat' ? 'memory, LDS or scratch by a 64-bit address' : 'a buffer'
  const [, direction, what] = /^(load|store)_(\w+)$/.exec(rest) ?? []
  if (direction !== undefined && what !== undefined) {
    const [, half, components] = /^format_(d16_)?(xyzw|xyz|xy|x)$/.exec(what) ?? []
    const amount = components === undefined ? PARTS[what] : `${components.length} component${components.length > 1 ? 's' : ''}${half === undefined ? '' : ' (f16 in registers)'}`
    if (amount === undefined) return undefined
    const converted = components === undefined ? '' : ', converted as the format says'
    return `${direction === 'load' ? `D = ${amount} of` : `Stores ${amount} into`} ${place}${converted}.`
  }
  const [, atomic, wide] = /^atomic_([a-z]+)(_x2)?$/.exec(rest) ?? []
  const leaves = atomic === undefined ? undefined : ATOMICS[atomic]
  if (leaves === undefined) return undefined
  return `In ${place}, M = ${leaves}, ${wide === undefined ? 32 : 64} bits. With GLC D = M as it was.`
}

function imageMeaning(name: string): string | undefined {
  const [, direction, kinds] = /^image_(load|store)(\w*)$/.exec(name) ?? []
  if (direction !== undefined) {
    const level = kinds!.includes('mip') ? ', of the level that the address ends with' : ''
    const raw = kinds!.includes('pck') ? `, as its dwords are${kinds!.includes('sgn') ? ', a small one extended by its sign' : ''}` : ''
    return `${direction === 'load' ? 'D = a texel of an image' : 'Stores a texel into an image'}${level}${raw}.`
  }
  const [, atomic] = /^image_atomic_([a-z]+)$/.exec(name) ?? []
  if (atomic !== undefined && ATOMICS[atomic] !== undefined) return `In an image, M = ${ATOMICS[atomic]}. With GLC D = M as it was.`
  const [, sampling, ways] = /^image_(sample|gather4)((?:_\w+)?)$/.exec(name) ?? []
  if (sampling === undefined) return undefined
  const notes = ways!.split('_').filter((w) => w !== '').map((way) => SAMPLING[way])
  const what = sampling === 'sample' ? 'D = a filtered sample of an image' : 'D = one component of the four texels that a sample would mix'
  return `${what}${notes.length > 0 ? `, ${notes.join(', ')}` : ''}.`
}

const SAMPLING: Readonly<Record<string, string>> = {
  c: 'compared with a depth', d: 'with given derivatives', cd: 'with given coarse derivatives', cl: 'the level clamped', l: 'of a given level',
  b: 'the level biased', lz: 'of level 0', o: 'moved by an offset',
}

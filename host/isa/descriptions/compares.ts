/** What compares mean, put together from the parts of their names. */

const RELATIONS: Readonly<Record<string, string>> = {
  f: 'never',
  lt: 'S0 < S1',
  eq: 'S0 = S1',
  le: 'S0 ≤ S1',
  gt: 'S0 > S1',
  lg: 'S0 < S1 or S0 > S1',
  ne: 'S0 ≠ S1',
  ge: 'S0 ≥ S1',
  o: 'neither S0 nor S1 is NaN',
  u: 'S0 or S1 is NaN',
  nge: 'not S0 ≥ S1, so also where one is NaN',
  nlg: 'S0 = S1, or one is NaN',
  ngt: 'not S0 > S1, so also where one is NaN',
  nle: 'not S0 ≤ S1, so also where one is NaN',
  neq: 'S0 ≠ S1, so also where one is NaN',
  nlt: 'not S0 < S1, so also where one is NaN',
  tru: 'always',
  t: 'always',
  class: 'S0 is of a class of floats that S1 names: bit 0 signalling NaN, 1 quiet NaN, 2 -∞, 3 negative, 4 negative denormal, 5 -0, 6 to 9 +0 to +∞',
}

const ENDINGS: Readonly<Record<string, string>> = {
  cmp: '',
  cmpx: ' EXEC gets the same bits.',
  cmps: ' Any NaN is signalled.',
  cmpsx: ' EXEC gets the same bits; any NaN is signalled.',
}

/** The meaning of a v_cmp_*, v_cmpx_*, v_cmps_* or v_cmpsx_*; undefined for other names. */
export function compareMeaning(name: string): string | undefined {
  const [, kind, relation, type] = /^v_(cmps?x?)_(\w+)_([fiu]\d\d)$/.exec(name) ?? []
  const says = relation === undefined ? undefined : RELATIONS[relation]
  if (kind === undefined || says === undefined || type === undefined) return undefined
  const numbers = type.startsWith('f') ? '' : type.startsWith('i') ? ', signed' : ', unsigned'
  return `A bit a lane of the mask: ${says}${/^(eq|ne|f|t|tru)$/.test(relation!) ? '' : numbers}.${ENDINGS[kind]}`
}

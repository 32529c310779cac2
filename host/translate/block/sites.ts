/**
 * How imported globals begin that hold where an access was last, with the access's pc behind it: an address in the table of regions, 0
 * where nothing is known.
 */
export const SITE = 'site'

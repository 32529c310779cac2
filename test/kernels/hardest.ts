/**
 * The f32 arguments whose exact results lie nearest to the middle between two f32 (within 12 units of the last place of an f64 there; log
 * 2 units): found among all of them, as assembly/lib/elementary.ts tells. Of quotients and square roots the f64 result decides.
 */
export const HARDEST: Readonly<Record<'rcp' | 'sqrt' | 'rsq' | 'exp' | 'log' | 'sin' | 'cos', readonly bigint[]>> = {
  rcp: [0x3f800001n, 0x3fffffffn, 0x3f7fffffn, 0x3fb504f3n],
  sqrt: [0x3f800001n, 0x3f7fffffn, 0x407fffffn, 0x3f7ffffen],
  rsq: [0x3f8a5c86n, 0x3fba2a39n, 0x3fd2208fn, 0x3fdae942n, 0x3fed3230n, 0x4009f038n, 0x403a18e3n, 0x407dbbacn, 0x407de1e1n, 0x407ffffen],
  exp: [
    0x33b8aa3bn,
    0x36879cf7n,
    0x37e338ebn,
    0x3a07857cn,
    0x3a0b4316n,
    0x3b429d37n,
    0x3b53aa14n,
    0x3c02a9adn,
    0x3d036455n,
    0x3dc9abe2n,
    0xb338aa3bn,
    0xb466d4cbn,
    0xb5160a52n,
    0xb52d1f9an,
    0xb8acad70n,
    0xb8bbd3a2n,
    0xb8d3d026n,
    0xbae36f38n,
    0xbaec2b40n,
    0xbcaf4d02n,
    0xbcf3a937n,
    0xbe1f29den,
  ],
  log: [],
  sin: [0x34654db5n, 0x359652f2n, 0x35cd79e0n, 0x37a51f5an, 0x37da58fcn, 0x37eacaf6n, 0x3c6eb990n, 0x3d00c8a4n, 0x3d7d7f58n],
  cos: [0x388d23e4n, 0x390721a7n, 0x3aa5bca6n, 0x3be25b7cn, 0x3d33021an, 0x3e40a02an, 0x3e5fcdd7n, 0x3e711467n, 0x3e9fafebn],
}

"""Makes interpolation.ndjson.gz: v_interp_* and v_clrexcp with results in exact fractions, rounded by IEEE 754.

python3 interpolation.py | gzip -9n > interpolation.ndjson.gz
"""
import json
from fractions import Fraction

F16, F32 = (16, 10), (32, 23)  # bits, stored bits of the significand


def parts(f):
    bits, fraction = f
    return 1 << (bits - 1), (1 << (bits - 1 - fraction)) - 1 << fraction, (1 << (bits - 2 - fraction)) - 1


def value(f, word):
    """The number that a word stands for; infinities and NaN as strings."""
    sign, infinity, bias = parts(f)
    size = word & (sign - 1)
    if size >= infinity:
        return "inf" if size == infinity else "nan"
    field, rest = size >> f[1], size & ((1 << f[1]) - 1)
    whole = rest if field == 0 else rest | 1 << f[1]
    return Fraction(whole) * Fraction(2) ** (max(field, 1) - bias - f[1]) * (-1 if word & sign else 1)


def rounded(f, x, mode, negative_zero=False):
    """Round modes: 0 nearest even, 1 up, 2 down, 3 towards zero."""
    sign, infinity, bias = parts(f)
    if x == 0:
        return sign if negative_zero else 0
    negative, size = x < 0, abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, 1 - bias) - f[1])
    whole = size // unit
    rest = size - whole * unit
    if mode == 0:
        up = rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
    else:
        up = rest > 0 and (mode == 1 and not negative or mode == 2 and negative)
    size = (whole + up) * unit
    field = 0 if size < Fraction(2) ** (1 - bias) else max(exponent, 1 - bias) + bias
    whole += up
    word = (max(field, 1) - 1 << f[1]) + int(whole) if field else int(whole)
    if word >= infinity:
        word = infinity if mode == 0 or (mode == 1 and not negative) or (mode == 2 and negative) else infinity - 1
    return word | (sign if negative else 0)


def flush(f, word):
    return word & parts(f)[0] if word & (parts(f)[0] - 1) < 1 << f[1] else word


def is_nan(f, word):
    return value(f, word) == "nan"


def times(f, a, b, mode):
    sign, infinity, _ = parts(f)
    x, y, negative = value(f, a), value(f, b), (a ^ b) & sign
    if "inf" in (x, y):
        return infinity | 1 << f[1] - 1 if 0 in (x, y) else infinity | negative
    return rounded(f, x * y, mode, negative != 0)


def plus(f, a, b, mode):
    sign, infinity, _ = parts(f)
    x, y = value(f, a), value(f, b)
    if "nan" in (x, y):
        return infinity | 1 << f[1] - 1
    if "inf" in (x, y):
        if x == y and a != b:
            return infinity | 1 << f[1] - 1
        return a if x == "inf" else b
    return rounded(f, x + y, mode, a == b == sign or (mode == 2 and not (a == b == 0)))


def mad(a, b, c, mode):
    """a * b + c in f32, rounded twice, without denormals; the first NaN among them comes back quiet. None where infinity times
    zero meets a NaN: no source says which NaN that is."""
    for word in (a, b):
        if is_nan(F32, word):
            return word | 0x400000
    a, b, c = (flush(F32, word) for word in (a, b, c))
    if is_nan(F32, c):
        return None if {value(F32, a), value(F32, b)} in ({"inf", 0},) else c | 0x400000
    return flush(F32, plus(F32, flush(F32, times(F32, a, b, mode)), c, mode))


def convert(f, to, word, mode):
    sign, infinity, _ = parts(to)
    negative = sign if word & parts(f)[0] else 0
    x = value(f, word)
    if x == "nan":
        shift = to[1] - f[1]
        payload = word & ((1 << f[1] - 1) - 1)
        return negative | infinity | 1 << to[1] - 1 | (payload << shift if shift > 0 else payload >> -shift)
    return infinity | negative if x == "inf" else rounded(to, x, mode, negative != 0)


def single(x):
    return rounded(F32, Fraction(x), 0)


def half(x):
    return rounded(F16, Fraction(x), 0)


WORDS = [
    0, 0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x40400000, 0x3F000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
    0x7FC00000, 0xFFC12345, 0x7F800001, 0xFF812345, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x01000000, 0x33800000,
    0x34000000, 0xB4000001, 0x4B000001, 0x3EAAAAAB, 0xBE99999A, 0x3DCCCCCD, 0x477FE000, 0x477FF000, 0x38800000, 0x33000001, 0x387FC000,
    0x20000000, 0x1F800000, 0x5F000000, 0x41A9999A, 0xC2C80001, 0x42FF0001, 0x3FAAAAAB,
]
LANES = [WORDS[lane % len(WORDS)] for lane in range(64)]
ADDENDS = [WORDS[(5 * lane + 2) % len(WORDS)] for lane in range(64)]
# P0, P10, P20 of two primitives; the second begins at quad 8.
PARAMETERS = [(single(1), single(Fraction(1, 3)), single(-3)), (single(Fraction(-7, 10)), 0x7F000000, 0x3F800001)]
HALVES = [[(half(1), half(Fraction(1, 3)), half(-3)), (half(100), 1, 0x83FF)], [(half(-2), 0x7BFF, half(Fraction(1, 10))), (0x8001, 0x3C01, 0x0400)]]
MODES = [0x3C0, 0x1F0, 0x1F5, 0x1FA, 0x1FF, 0x110]
EXEC = 0xFFFFFFFFFFFFFFFF & ~(1 << 9)
M0 = 1 << 16 + 7


def primitive(lane):
    return 0 if lane < 32 else 1


def job(name, target, asm, dwords, mode, of):
    hexes = lambda words: [word if word is None else f"0x{word:x}" for word in words]
    lds = b"".join(word.to_bytes(4, "little") for word in dwords)
    result = [ADDENDS[lane] if lane == 9 else of(lane) for lane in range(64)]
    return {
        "name": f"{name}, MODE 0x{mode:x}", "target": target, "code": {"asm": asm},
        "wave": {"exec": f"0x{EXEC:x}", "mode": f"0x{mode:x}", "m0": f"0x{M0:x}", "lds": {"hex": lds.hex()},
                 "vgpr": {"v1": hexes(LANES), "v2": hexes(ADDENDS)}},
        "expect": {"v1": hexes(LANES), "v2": hexes(result)},
    }


def layout(parameters):
    """Twelve dwords an attribute and primitive: P0 and P10 of x, y, z, w in turn, then P20; here of y."""
    dwords = []
    for p0, p10, p20 in parameters:
        block = [0xDEADBEEF] * 12
        block[2], block[3], block[9] = p0, p10, p20
        dwords += block
    return dwords


def jobs():
    for target in ("gfx600", "gfx700", "gfx803"):
        yield job("v_clrexcp", target, "v_clrexcp", [0], 0x3C0, lambda lane: ADDENDS[lane])
        for mode in MODES:
            step1 = lambda lane: mad(PARAMETERS[primitive(lane)][1], LANES[lane], PARAMETERS[primitive(lane)][0], mode & 3)
            step2 = lambda lane: mad(PARAMETERS[primitive(lane)][2], LANES[lane], ADDENDS[lane], mode & 3)
            yield job("v_interp_p1_f32", target, "v_interp_p1_f32 v2, v1, attr0.y", layout(PARAMETERS), mode, step1)
            yield job("v_interp_p2_f32", target, "v_interp_p2_f32 v2, v1, attr0.y", layout(PARAMETERS), mode, step2)
        for n, which in enumerate(("p0", "p10", "p20")):
            yield job(f"v_interp_mov_f32 {which}", target, f"v_interp_mov_f32 v2, {which}, attr0.y", layout(PARAMETERS), 0x3C0,
                      lambda lane: PARAMETERS[primitive(lane)][n])
    for high in (0, 1):
        dwords = layout([tuple(low | top << 16 for low, top in zip(*pair)) for pair in HALVES])
        for mode in MODES:
            def parameter(lane, n):
                word = HALVES[primitive(lane)][high][n]
                return convert(F16, F32, word if mode & 0x40 else flush(F16, word), 0)

            def from_vgpr(lane):
                word = ADDENDS[lane] >> 16 * high & 0xFFFF
                return convert(F16, F32, word if mode & 0x40 else flush(F16, word), 0)

            def second(lane):
                total = mad(parameter(lane, 2), LANES[lane], ADDENDS[lane], mode >> 2 & 3)
                if total is None:
                    return None
                word = convert(F32, F16, total, mode >> 2 & 3)
                return word if mode & 0x80 else flush(F16, word)

            suffix = " high" if high else ""
            yield job("v_interp_p1ll_f16" + suffix, "gfx803", f"v_interp_p1ll_f16 v2, v1, attr0.y{suffix}", dwords, mode,
                      lambda lane: mad(parameter(lane, 1), LANES[lane], parameter(lane, 0), mode >> 2 & 3))
            yield job("v_interp_p1lv_f16" + suffix, "gfx803", f"v_interp_p1lv_f16 v2, v1, attr0.y, v2{suffix}", dwords, mode,
                      lambda lane: mad(parameter(lane, 1), LANES[lane], from_vgpr(lane), mode >> 2 & 3))
            yield job("v_interp_p2_f16" + suffix, "gfx803", f"v_interp_p2_f16 v2, v1, attr0.y, v2{suffix}", dwords, mode, second)


for line in jobs():
    print(json.dumps(line))

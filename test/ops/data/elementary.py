"""Makes elementary-edges.json, and prints the sums that elementary.test.ts has of all results of f16. Needs mpmath 1.3.

Values are computed to 2,000 bits; where a result is a number of its format it is one exactly, so rounding is comparing fractions.
Run from this folder: python3 elementary.py
"""
import json
from fractions import Fraction
from functools import cache
from math import isqrt
from mpmath import mp, mpf, sinpi, cospi, power, log

mp.prec = 2000
# fraction bits, bias
FORMATS = {'f16': (10, 15), 'f32': (23, 127), 'f64': (52, 1023)}


def value(bits, form):
    """A finite word as a fraction."""
    fraction, bias = FORMATS[form]
    sign = -1 if bits >> (fraction + bias.bit_length() + 1) else 1
    exponent = (bits >> fraction) & (2 * bias + 1)
    low = bits & ((1 << fraction) - 1)
    n = low if exponent == 0 else low | (1 << fraction)
    return sign * Fraction(n) * Fraction(2) ** (max(exponent, 1) - bias - fraction)


def exact(x):
    """An mpf as a fraction."""
    sign, man, exp, _ = x._mpf_
    return (-1 if sign else 1) * Fraction(int(man)) * Fraction(2) ** exp


def rounded(x, form, mode):
    """The word of a fraction, not zero, rounded: 0 nearest even, 1 up, 2 down, 3 to zero."""
    fraction, bias = FORMATS[form]
    negative, size = x < 0, abs(x)
    sign = (1 if negative else 0) << (fraction + bias.bit_length() + 1)
    infinity = (2 * bias + 1) << fraction
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    n, rest = divmod(size / Fraction(2) ** (exponent - fraction), 1)
    away = (mode == 1 and not negative) or (mode == 2 and negative)
    if rest and (away if mode else rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1)):
        n += 1
    # A carry out of the significand adds one to the exponent, as it shall.
    word = n if exponent == 1 - bias else n + ((exponent + bias - 1) << fraction)
    if word >= infinity:
        word = infinity if mode == 0 or away else infinity - 1
    return sign | word


def root(x):
    """The square root as a fraction, exact where it is rational."""
    up, down = isqrt(x.numerator), isqrt(x.denominator)
    if up * up == x.numerator and down * down == x.denominator:
        return Fraction(up, down)
    return exact(mp.sqrt(mpf(x.numerator) / x.denominator))


def log2(x):
    for n in (x.numerator, x.denominator):
        if n & (n - 1):
            return exact(log(mpf(x.numerator) / x.denominator) / log(2))
    return Fraction(x.numerator.bit_length() - x.denominator.bit_length())


def exp2(x):
    # Far beyond either end of every format it is enough to be there.
    return Fraction(2) ** max(-2000, min(2000, int(x))) if x.denominator == 1 or abs(x) > 2000 else exact(power(2, mpf(x.numerator) / x.denominator))


def turn(f):
    return lambda x: exact(f(2 * mpf(x.numerator) / x.denominator))


FUNCTIONS = {
    'rcp': (lambda x: 1 / x, lambda x: x != 0),
    'sqrt': (root, lambda x: x > 0),
    'rsq': (lambda x: 1 / root(x), lambda x: x > 0),
    'exp': (exp2, lambda x: True),
    'log': (log2, lambda x: x > 0),
    'sin': (turn(sinpi), lambda x: abs(x) <= 256),
    'cos': (turn(cospi), lambda x: abs(x) <= 256),
}
# What is left: by the manuals' examples, in every round mode.
SPECIAL = {
    'rcp': lambda x, s, i, n: i | s if x == 0 else s,
    'sqrt': lambda x, s, i, n: s if x == 0 else n if s else i,
    'rsq': lambda x, s, i, n: i | s if x == 0 else n if s else 0,
    'exp': lambda x, s, i, n: 0 if s else i,
    'log': lambda x, s, i, n: i | (1 << 15) if x == 0 else n if s else i,
    'sin': lambda x, s, i, n: n if x is None else 0,
    'cos': lambda x, s, i, n: n if x is None else 0x3c00,
}


@cache
def computed(name, x):
    return FUNCTIONS[name][0](x)


def result(name, bits, form, mode):
    x = value(bits, form)
    y = computed(name, x)
    if y != 0:
        return rounded(y, form, mode)
    # Zeros: sin of -0 is -0, all others are +0.
    return bits if name == 'sin' and x == 0 else 0


def result16(name, bits, mode):
    x = None if bits & 0x7fff == 0x7c00 else value(bits, 'f16')
    if x is not None and FUNCTIONS[name][1](x):
        return result(name, bits, 'f16', mode)
    return SPECIAL[name](x, bits & 0x8000, 0x7c00, 0x7e00)


def sums():
    for name in FUNCTIONS:
        row = []
        for mode in range(4):
            total = 0xcbf29ce484222325
            for bits in range(0x10000):
                if bits & 0x7fff > 0x7c00:
                    continue
                word = result16(name, bits, mode)
                for byte in (word & 255, word >> 8):
                    total = ((total ^ byte) * 0x100000001b3) % 2**64
            row.append(f'0x{total:016x}n')
        print(f"['v_{name}_f16', [{', '.join(row)}]],", flush=True)


# Where results turn: the ends of the format, the ends of normal numbers, about 1, and what is next to exact.
EDGES32 = {
    'rcp': [0x00800000, 0x00800001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40400000, 0xc0400000, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0xff7fffff, 0x7effffff],
    'sqrt': [0x00800000, 0x00800001, 0x3f7fffff, 0x3f800001, 0x40000000, 0x40800000, 0x40800001, 0x407fffff, 0x7f7fffff, 0x3f7ffffe, 0x41100000],
    'rsq': [0x00800000, 0x00800001, 0x3f7fffff, 0x3f800001, 0x40000000, 0x40800000, 0x40800001, 0x407fffff, 0x7f7fffff, 0x7f000000, 0x3e800000],
    'exp': [0x42ffffff, 0x43000000, 0x43000001, 0x7f7fffff, 0xff7fffff, 0xc2fc0000, 0xc2fc0001, 0xc2fbffff, 0xc3150000, 0xc3150001, 0xc3160000, 0xc3160001, 0x00800000, 0x80800000, 0x33800000, 0xb3800000, 0x33000000, 0xb3000000, 0x34000000, 0x3f000000, 0xbf000000, 0x3f800001, 0x41200001],
    'log': [0x00800000, 0x00800001, 0x3f7fffff, 0x3f800001, 0x3f000000, 0x40000000, 0x40000001, 0x3fffffff, 0x7f7fffff, 0x7f000000, 0x40400000, 0x3f400000, 0x3fbfffff, 0x3fc00000],
    'sin': [0x00800000, 0x80800000, 0x01000000, 0x3e7fffff, 0x3e800000, 0x3e800001, 0x3effffff, 0x3f000001, 0xbeffffff, 0x3f7fffff, 0x3e000000, 0x437fffff, 0x43800000, 0xc37fffff, 0x42c80001, 0x3daaaaab],
    'cos': [0x00800000, 0x80800000, 0x39800000, 0x3e7fffff, 0x3e800000, 0x3e800001, 0x3effffff, 0x3f000001, 0xbe800001, 0x3f3fffff, 0x3f7fffff, 0x3e000000, 0x437fffff, 0x43800000, 0xc37fffff, 0x42c80001],
}
EDGES64 = {
    'rcp': [1, 3, 0x0004000000000000, 0x0004000000000001, 0x0003ffffffffffff, 0x000fffffffffffff, 0x0010000000000000, 0x3fefffffffffffff, 0x3ff0000000000001, 0x4008000000000000, 0xc008000000000000, 0x7fd0000000000000, 0x7fd0000000000001, 0x7fefffffffffffff, 0xffefffffffffffff],
    'sqrt': [1, 2, 3, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x3fefffffffffffff, 0x3fefffffffffffff - 1, 0x3ff0000000000001, 0x4000000000000000, 0x4010000000000000, 0x4010000000000001, 0x400fffffffffffff, 0x7fefffffffffffff],
    'rsq': [1, 2, 3, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x3fefffffffffffff, 0x3ff0000000000001, 0x4000000000000000, 0x4010000000000000, 0x4010000000000001, 0x400fffffffffffff, 0x7fefffffffffffff],
}


def edges():
    lines = []
    for form, table in (('f32', EDGES32), ('f64', EDGES64)):
        for name, sources in table.items():
            rows = [json.dumps([hex(w) for w in [s, *(result(name, s, form, mode) for mode in range(4))]]) for s in sources]
            lines.append(f'"v_{name}_{form}": [\n' + ',\n'.join(rows) + '\n]')
    with open('elementary-edges.json', 'w') as file:
        file.write('{\n' + ',\n'.join(lines) + '\n}\n')


edges()
sums()

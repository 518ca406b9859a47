"""Decimal digits to the nearest float, ties to even (Clinger 1990).

A short number is a division of exact floats. A long one is a product of two 64-bit integers with a
known error; the few that lie too near the middle between two floats are compared with it in whole
numbers.
"""

import math

import numpy as np

from .addresses import MINUS, PLUS, POINT, byte
from .compiling import compiled, inlined

DIGITS = 18  # that always fit in 63 bits; 19 in 64
EXACT = 1 << 53  # integers up to here are floats
EXACT_TENS = np.array([10.0**e for e in range(23)])
LEAST, MOST = -342, 308  # 19 digits times a smaller power of ten are 0, times a larger infinite
TINY = -1074  # the exponent of 2 in the smallest float
SIGNIFICANT = 800  # digits; the middle between two floats has fewer
LIMBS = 128  # of 32 bits, for 800 digits times 2^1075

BIT, TEN = np.uint64(1), np.uint64(10)
FIRST_BIT = np.uint64(1 << 63)
LIMB, LOW = np.uint64(32), np.uint64((1 << 32) - 1)


def power_of_ten(e):
    """P and q with 10ᵉ = P·2ᑫ, where P has 64 bits and is rounded down."""
    q = (10**e).bit_length() - 64 if e >= 0 else -63 - (10**-e).bit_length()
    return (10 ** max(e, 0) << max(-q, 0)) // (10 ** max(-e, 0) << max(q, 0)), q


TENS = [power_of_ten(e) for e in range(LEAST, MOST + 1)]
TENS_BITS = np.array([P for P, _ in TENS], dtype=np.uint64)
TENS_EXPONENT = np.array([q for _, q in TENS])


@inlined
def is_digit(c):
    """Whether a byte is a decimal digit."""
    return ord("0") <= c <= ord("9")


@inlined
def digits(i, m):
    """Carry m on over the decimal digits from i on; m and where they end."""
    while is_digit(byte(i)):
        m = 10 * m + byte(i) - ord("0")
        i += 1
    return m, i


@inlined
def exponent(i):
    """The exponent whose letter is at i, and where it ends; 0 and i if there is none."""
    negative = byte(i + 1) == MINUS
    first = i + 2 if negative or byte(i + 1) == PLUS else i + 1
    e, end = digits(first, 0)
    if end == first:
        return 0, i
    if end - first > 9:
        e = 1_000_000_000
    return (-e if negative else e), end


@inlined
def number(i, kind):
    """The number at i, rounded once to a kind of float, and where it ends; i if there is none."""
    negative = byte(i) == MINUS
    first = i + 1 if negative or byte(i) == PLUS else i
    m, end = digits(first, 0)
    count, e, scale = end - first, 0, 0
    if byte(end) == POINT:
        point = end + 1
        m, end = digits(point, m)
        e = point - end
        count -= e
    elif 0 < count < 8 and byte(end) | 32 != ord("e"):
        return (-kind(m) if negative else kind(m)), end  # exact in every kind
    if count == 0:
        return kind(0), i
    last = end
    if byte(end) | 32 == ord("e"):
        scale, end = exponent(end)
        e += scale
    if count > DIGITS or m > EXACT or not -22 <= e <= 22:
        d = nearest(first, last, scale)
    elif e < 0:
        d = m / EXACT_TENS[np.uint64(-e)]
    else:
        d = m * EXACT_TENS[np.uint64(e)]
    x = kind(d)
    if x != d and kind(2 * d - x) == 2 * d - x:
        x = kind(off_middle(first, last, scale, d))
    return (-x if negative else x), end


@compiled
def off_middle(first, last, scale, d):
    """The float next to d on the side of the decimal, or d if they are equal.

    For d in the middle between two shorter floats: rounded again, it would forget the side.
    """
    m, q = math.frexp(d)
    side = compare(first, last, scale, np.uint64(math.ldexp(m, 53)), q - 53)
    return d if side == 0 else np.nextafter(d, side * np.inf)


@compiled
def nearest(first, last, scale):
    """The float nearest to the decimal first to last times a power of ten.

    The first digits and the power of ten are made 64-bit integers whose first bit is set. The
    upper half P of their product is at most error below the decimal; its last bits are rounded.
    """
    m, e, more = significant(first, last, scale)
    if m == 0 or e < LEAST:
        return 0.0
    if e > MOST:
        return np.inf
    q = TENS_EXPONENT[e - LEAST] + 64
    while m < FIRST_BIT:
        m <<= BIT
        q -= 1
    P = upper_half(m, TENS_BITS[e - LEAST])
    if P < FIRST_BIT:
        P <<= BIT
        q -= 1
    error = np.uint64(36) if more else np.uint64(4)

    surplus = max(11, TINY - q)
    q += surplus
    m, below, above = np.uint64(0), False, False
    if surplus < 64:
        middle = BIT << np.uint64(surplus - 1)
        rest = P & (middle + middle - BIT)
        m, below, above = P >> np.uint64(surplus), rest + error <= middle, rest > middle
    if not (below or above):
        side = compare(first, last, scale, m + m + BIT, q - 1)
        above = side > 0 or (side == 0 and m & BIT == BIT)
    return math.ldexp(np.float64(m + BIT if above else m), q)


@compiled
def significant(i, last, e):
    """The first 19 digits of the decimal i to last times 10ᵉ, their exponent, if more follow."""
    m, count, more, whole = np.uint64(0), 0, False, True
    while i < last:
        if byte(i) == POINT:
            whole = False
        elif count < 19:
            m = TEN * m + np.uint64(byte(i) - ord("0"))
            count += m > 0
            e -= not whole
        else:
            more |= byte(i) != ord("0")
            e += whole
        i += 1
    return m, e, more


@compiled
def upper_half(a, b):
    """The upper 64 bits of the 128 of a·b."""
    a1, a0, b1, b0 = a >> LIMB, a & LOW, b >> LIMB, b & LOW
    middle = a1 * b0 + (a0 * b0 >> LIMB)
    other = a0 * b1 + (middle & LOW)
    return a1 * b1 + (middle >> LIMB) + (other >> LIMB)


@compiled
def compare(i, last, e, m, q):
    """The sign of the decimal i to last times 10ᵉ, less m·2ᑫ, in whole numbers."""
    left, right = np.zeros(LIMBS, np.uint64), np.zeros(LIMBS, np.uint64)
    size, count, more, whole = 0, 0, False, True
    while i < last:
        if byte(i) == POINT:
            whole = False
        elif count < SIGNIFICANT:
            size = times(left, size, 10, np.uint64(byte(i) - ord("0")))
            count += size > 0
            e -= not whole
        else:
            more |= byte(i) != ord("0")
            e += whole
        i += 1
    power(left, power(left, size, 10, e), 2, -q)
    size = times(right, times(right, 0, 1, m >> LIMB), 1 << 32, m & LOW)
    power(right, power(right, size, 10, -e), 2, q)
    for k in range(LIMBS - 1, -1, -1):
        if left[k] != right[k]:
            return 1 if left[k] > right[k] else -1
    return 1 if more else 0


@compiled
def times(big, size, factor, carry):
    """Big = big·factor + carry, for an integer in limbs of 32 bits; how many it has."""
    for k in range(size):
        carry += big[k] * np.uint64(factor)
        big[k] = carry & LOW
        carry >>= LIMB
    if carry > 0:
        big[size] = carry
        size += 1
    return size


@compiled
def power(big, size, factor, e):
    """Big = big·factorᵉ; how many limbs it has."""
    for _ in range(e):
        size = times(big, size, factor, np.uint64(0))
    return size

"""Parse decimal numbers to the nearest float, ties to even (Clinger 1990).

A short number is a quotient of exact floats. A long one is a product of two 64-bit integers with a
known error. Numbers too near the middle between two floats are parsed by Python.
"""

import ctypes
import math
from decimal import Decimal

import numpy as np

from .addresses import (
    MINUS,
    ONES,
    PLUS,
    POINT,
    UPPER,
    byte,
    can_read_eight,
    eight_bytes,
    high_zeros,
    low_zeros,
)
from .compiling import NUMBA, helper, inlined, instruction, library

DIGITS = 18  # that always fit in 63 bits; 19 in 64
EXACT = 1 << 53  # integers up to here are floats
EXACT_TENS = np.array([10.0**e for e in range(23)])
LEAST, MOST = -342, 308  # 19 digits times a smaller power of ten are 0, times a larger infinite
TINY = -1074  # the exponent of 2 in the smallest float
ZERO, NINE, LETTER_E, LOWER_CASE = ord("0"), ord("9"), ord("e"), 32
NOTHING, DOUBLE = np.int64(0), np.bool_(False)  # of types that literals do not have
BIT, TEN, FIRST_BIT = np.uint64(1), np.uint64(10), np.uint64(1 << 63)
EIGHT_ZEROS = ONES * np.uint64(ZERO)
ABOVE_NINE = ONES * np.uint64(127 - 9)  # added to a byte above 9, it sets the upper bit
WHOLE_TENS = 10 ** np.arange(8)
TEN_TO_EIGHT = 10**8
PAIRS = np.uint64(0xFF000000FF)
FIRST_PAIRS = np.uint64(100 + (1_000_000 << 32))
SECOND_PAIRS = np.uint64(1 + (10_000 << 32))


def power_of_ten(e):
    """P and q with 10ᵉ = P·2ᑫ; P has 64 bits and is rounded down."""
    q = (10**e).bit_length() - 64 if e >= 0 else -63 - (10**-e).bit_length()
    return (10 ** max(e, 0) << max(-q, 0)) // (10 ** max(-e, 0) << max(q, 0)), q


TENS = [power_of_ten(e) for e in range(LEAST, MOST + 1)]
TENS_BITS = np.array([P for P, _ in TENS], dtype=np.uint64)
TENS_EXPONENT = np.array([q for _, q in TENS])


@inlined
def is_digit(c):
    """Whether a byte is a decimal digit."""
    return ZERO <= c <= NINE


@inlined
def digits(i, m):
    """Append the decimal digits from i on to the number m; return m and where they end."""
    while can_read_eight(i):
        word = eight_bytes(i) ^ EIGHT_ZEROS
        others = ((word & ~UPPER) + ABOVE_NINE | word) & UPPER
        if others != 0:
            n = low_zeros(others) >> 3
            few = word << np.uint64(56 - 8 * n) << np.uint64(8)
            return m * WHOLE_TENS[np.uint64(n)] + eight_digits(few), i + n
        m = m * TEN_TO_EIGHT + eight_digits(word)
        i += 8
    while is_digit(byte(i)):
        m = 10 * m + byte(i) - ZERO
        i += 1
    return m, i


@inlined
def eight_digits(word):
    """The number of eight digits from 0 to 9, the first one in the lowest byte.

    Digits are added in pairs, pairs in fours, and fours in one multiplication each.
    """
    pairs = word * TEN + (word >> np.uint64(8))
    odd, even = pairs & PAIRS, pairs >> np.uint64(16) & PAIRS
    return np.int64((odd * FIRST_PAIRS + even * SECOND_PAIRS) >> np.uint64(32))


@inlined
def number(i, single):
    """The number at i, rounded once to single or double precision, and where it ends.

    The end is i if there is no number.
    """
    negative = byte(i) == MINUS
    first = i + 1 if negative or byte(i) == PLUS else i
    m, end = digits(first, NOTHING)
    count, e, scale = end - first, 0, 0
    if byte(end) == POINT:
        point = end + 1
        m, end = digits(point, m)
        e = point - end
        count -= e
    elif 0 < count < 8 and byte(end) | LOWER_CASE != LETTER_E:
        return (-np.float64(m) if negative else np.float64(m)), end  # exact in both precisions
    if count == 0:
        return 0.0, i
    last = end
    if byte(end) | LOWER_CASE == LETTER_E:
        scale, end = exponent(end)
        e += scale
    if count > DIGITS or m > EXACT or not -22 <= e <= 22:
        d = nearest(np.uint64(m), e, count, first, last, end, scale)
    elif e < 0:
        d = m / EXACT_TENS[np.uint64(-e)]
    else:
        d = m * EXACT_TENS[np.uint64(e)]
    if single:
        x = np.float64(np.float32(d))
        if x != d and np.float32(2 * d - x) == 2 * d - x:  # d is the middle of two
            x = np.float64(np.float32(in_python(first, end, 1)))
        d = x
    return (-d if negative else d), end


@helper
def exponent(i):
    """The exponent whose letter is at i, and where it ends; 0 and i if there is none."""
    negative = byte(i + 1) == MINUS
    first = i + 2 if negative or byte(i + 1) == PLUS else i + 1
    digit = first
    while byte(digit) == ZERO:
        digit += 1
    e, end = digits(digit, NOTHING)
    if end == first:
        return 0, i
    if end - digit > 9:
        e = 1_000_000_000
    return (-e if negative else e), end


@helper
def nearest(m, e, count, first, last, end, scale):
    """The float nearest to m·10ᵉ, the decimal of count digits from first to last times 10^scale.

    Its exponent is up to end; of more than 18 digits, m and e are found here. The first digits
    and the power of ten become 64-bit integers whose first bit is set. The upper half P of their
    product is at most error below the decimal; its last bits are rounded.
    """
    error = np.uint64(4)
    if count > DIGITS:
        m, e, error = significant(first, last, scale)
    if m == 0 or e < LEAST:
        return 0.0
    if e > MOST:
        return np.inf
    ten = np.uint64(e - LEAST)
    surplus = high_zeros(m)
    m <<= np.uint64(surplus)
    q = TENS_EXPONENT[ten] + 64 - surplus
    P = upper_half(m, TENS_BITS[ten])
    if P < FIRST_BIT:
        P <<= BIT
        q -= 1

    surplus = TINY - q if TINY - q > 11 else 11
    if surplus >= 64:
        return in_python(first, end, 0)
    middle = BIT << np.uint64(surplus - 1)
    rest = P & (middle + middle - BIT)
    m = P >> np.uint64(surplus)
    if rest > middle:
        m += BIT
    elif rest + error > middle:
        return in_python(first, end, 0)
    return math.ldexp(np.float64(m), int(q + surplus))


@inlined
def significant(i, last, e):
    """The first 19 digits of the decimal i to last times 10ᵉ, their exponent, and an error bound.

    The bound counts in last bits of the upper half of a product; it is larger for more digits.
    """
    m, count, error, whole = np.uint64(0), 0, np.uint64(4), True
    while i < last:
        if byte(i) == POINT:
            whole = False
        elif count < 19:
            m = TEN * m + np.uint64(byte(i) - ZERO)
            count += m > 0
            e -= not whole
        else:
            if byte(i) != ZERO:
                error = np.uint64(36)
            e += whole
        i += 1
    return m, e, error


@instruction
def upper_half(a, b):
    """The upper 64 bits of the 128 of a·b."""
    return np.uint64(int(a) * int(b) >> 64)


def nearest_float(text, single):
    """The float nearest to a decimal.

    For single precision, if that is the middle between two shorter floats, return the next float
    on the side of the decimal: rounding again would lose the side.
    """
    d = float(text)
    exact, near = Decimal(text if single else 0), Decimal(d if single else 0)
    return d if exact == near else math.nextafter(d, math.inf if exact > near else -math.inf)


@ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
def round_decimal(first, end, single):
    """The float nearest to the decimal between two addresses; NaN after an interrupt."""
    try:
        return nearest_float(ctypes.string_at(first, end - first).decode("ascii"), single)
    except KeyboardInterrupt:  # which cannot pass through compiled code
        return math.nan


@instruction
def in_python(first, end, single):
    """The float nearest to the decimal between two addresses, by Python."""
    return round_decimal(int(first), int(end), int(single))


def name_to_compiler():
    """Let code that Numba compiles, or loads from disk, find ``round_decimal``."""
    from llvmlite.binding import add_symbol

    add_symbol("rosenblatt_round", ROUND_ADDRESS)


ROUND_ADDRESS = ctypes.cast(round_decimal, ctypes.c_void_p).value
NUMBA.tell(name_to_compiler)
if library is not None:
    library.set_round(ROUND_ADDRESS)

"""Every compiled line that turns bytes into rows: svmlight, Vowpal Wabbit text, tokens and hashes.

Numba's disk cache watches only the file in which a kernel is defined, so each kernel and every
compiled helper that it calls live here. Kernels write into arrays that the caller made. They stop
when an array is full or at a broken line, say how far they got, and go on from there.

Bytes are read without asking for the end each time: a text kernel reads whole lines only, and
nothing that it scans for goes past a newline. Positions are unsigned (``i += ONE``): a signed one
costs a wrap-around test at every byte.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit


class Block(NamedTuple):
    """Room for sparse rows: row r has the values, and their columns, ``starts[r]:starts[r + 1]``.

    ``starts`` has one more element than there may be rows, and ``starts[0]`` is 0.
    """

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


class Progress(NamedTuple):
    """How far a text kernel got: give it back to go on.

    ``at`` is the first byte not taken, always the start of a line; ``rows``, ``values`` and
    ``lines`` count what was taken before it. ``ignored`` counts the fields that were read and have
    no use here (qid, base). ``error`` is 0, or why the line at ``at`` was not taken, and ``where``
    the byte that is to blame.
    """

    at: int = 0
    rows: int = 0
    values: int = 0
    lines: int = 0
    ignored: int = 0
    error: int = 0
    where: int = 0


class Grams(NamedTuple):
    """Which n-grams of a text are features, and how they count.

    Runs of ``shortest`` to ``longest`` words, or ``characters``; each hashed from ``salt`` to the
    columns 0 to ``mask`` (one less than a power of 2). A value is how often an n-gram occurs, or 1
    for ``presence``; with ``unit_length`` every row is divided by its length.
    """

    shortest: int
    longest: int
    characters: bool
    presence: bool
    unit_length: bool
    salt: np.uint64
    mask: np.uint64


class Names(NamedTuple):
    """Room for the names of the first features met: what a hash cannot tell.

    Feature ``indices[n]`` is spelt by the bytes ``begins[n]:ends[n]``, for n below ``count[0]``.
    ``seen`` has one byte per column, 1 when its name is known. Set ``count[0]`` to 0 when the
    names are copied out.
    """

    seen: np.ndarray
    indices: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    count: np.ndarray


# Why a kernel stopped.
FULL = 1
LABEL = 2
LABELS = 3
QUERY = 4
INDEX = 5
INDEX_TOO_SMALL = 6
INDEX_TOO_LARGE = 7
INDEX_ORDER = 8
VALUE = 9
VALUE_TOO_LARGE = 10
WEIGHT = 11
NAME = 12
NUL = 13

REASONS = {
    FULL: "there is no room for more",
    LABEL: "the label is not a finite number",
    LABELS: "there are several labels",
    QUERY: "the query is not written as qid:number",
    INDEX: "a feature is not written as index:value",
    INDEX_TOO_SMALL: "an index is below the first column",
    INDEX_TOO_LARGE: "an index is beyond the last column",
    INDEX_ORDER: "the indices do not increase",
    VALUE: "a value is not a finite number",
    VALUE_TOO_LARGE: "a value is too large for its type",
    WEIGHT: "the importance is not a number of at least 0",
    NAME: "a feature has no name",
    NUL: "there is a NUL byte",
}

compiled = njit(cache=True, nogil=True)

NEWLINE, RETURN, TAB, SPACE = ord("\n"), ord("\r"), ord("\t"), ord(" ")
PLUS, MINUS, POINT, COLON, COMMA = ord("+"), ord("-"), ord("."), ord(":"), ord(",")
COMMENT, QUOTE, BAR = ord("#"), ord("'"), ord("|")
NOTHING, ONE, TWO, NINE, TEN = np.array([0, 1, 2, 9, 10], dtype=np.uint64)


# Bytes. i is a position in the buffer.


@compiled
def is_blank(byte):
    """White space within a line."""
    return byte == SPACE or (TAB <= byte <= RETURN and byte != NEWLINE)


@compiled
def ends_field(byte):
    """Whether a field of a line is over."""
    return is_blank(byte) or byte == NEWLINE


@compiled
def after_blanks(buffer, i):
    """The first byte from i on that is not blank."""
    while is_blank(buffer[i]):
        i += ONE
    return i


@compiled
def line_end(buffer, i):
    """The first newline from i on."""
    while buffer[i] != NEWLINE:
        i += ONE
    return i


@compiled
def last_line_end(buffer, first, stop):
    """The byte after the last newline of first to stop, or first."""
    while stop > first and buffer[stop - ONE] != NEWLINE:
        stop -= ONE
    return stop


@compiled
def blame(buffer, i, error):
    """What to say of the byte i: a NUL byte is an error of its own."""
    return NUL if buffer[i] == 0 else error


# Numbers: decimal digits to the nearest float, ties to even (Clinger 1990). A short one is a
# division of exact floats. A long one is a product of two 64-bit integers with a known error; the
# few that lie too near the middle between two floats are compared with it in whole numbers.

EXACT = np.uint64(1 << 53)  # integers up to here are floats
EXACT_TENS = np.array([float(10**e) for e in range(23)])
DIGITS = 19  # that always fit in 64 bits
SMALLEST, LARGEST = -342, 308  # 19 digits times a power of ten beyond these are 0 or infinite
TINY = -1074  # the exponent of the smallest float
FIRST_BIT = np.uint64(1 << 63)
LIMB, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
SIGNIFICANT = 800  # a middle between two floats has fewer digits
LIMBS = 160


def power_of_ten(e):
    """P and q with 10ᵉ ≈ P·2ᑫ, where P has 64 bits and is rounded down."""
    if e >= 0:
        q = (10**e).bit_length() - 64
        return (10**e << -q if q < 0 else 10**e >> q), q
    q = -63 - (10**-e).bit_length()
    P = (1 << -q) // 10**-e
    return (P >> 1, q + 1) if P.bit_length() > 64 else (P, q)


TENS = [power_of_ten(e) for e in range(SMALLEST, LARGEST + 1)]
TENS_UPPER = np.array([P for P, _ in TENS], dtype=np.uint64)
TENS_EXPONENT = np.array([q for _, q in TENS])


@compiled
def digit(byte):
    """The digit that a byte stands for; above nine when it stands for none."""
    return np.uint64(byte) - np.uint64(48)


@compiled
def digits(buffer, i, m):
    """Carry m on over the decimal digits from i on; m and where they end."""
    d = digit(buffer[i])
    while d <= NINE:
        m = TEN * m + d
        i += ONE
        d = digit(buffer[i])
    return m, i


@compiled
def exponent(buffer, i):
    """The exponent that begins with the e at i and where it ends, or 0 and i."""
    negative = buffer[i + ONE] == MINUS
    first = i + ONE
    if negative or buffer[first] == PLUS:
        first += ONE
    e, end = digits(buffer, first, NOTHING)
    if end == first:
        return 0, i
    e = 1_000_000_000 if end - first > NINE else np.int64(e)
    return (-e if negative else e), end


@compiled
def number(buffer, i, like):
    """The number at i, rounded once to the type of an array, and where it ends; i if none."""
    negative = buffer[i] == MINUS
    first = i + ONE if negative or buffer[i] == PLUS else i
    m, end = digits(buffer, first, NOTHING)
    count = end - first
    e = 0
    if buffer[end] == POINT:
        point = end + ONE
        m, end = digits(buffer, point, m)
        count += end - point
        e = np.int64(point) - np.int64(end)
    x = like.dtype.type(0)
    if count == NOTHING:
        return x, i
    mantissa_end, scale = end, 0
    if buffer[end] | 32 == ord("e"):
        scale, end = exponent(buffer, end)
        e += scale
    if count > np.uint64(DIGITS) or m > EXACT or not -23 < e < 23:
        d = nearest(buffer, first, mantissa_end, scale)
    elif e < 0:
        d = m / EXACT_TENS[np.uint64(-e)]
    else:
        d = m * EXACT_TENS[np.uint64(e)]
    x = like.dtype.type(d)
    if x != d and like.dtype.type(2 * d - x) == 2 * d - x:
        x = like.dtype.type(off_middle(buffer, first, mantissa_end, scale, d))
    return (-x if negative else x), end


@compiled
def off_middle(buffer, first, end, scale, d):
    """The float beside d on the side where the decimal lies; d itself if they are equal.

    For d in the middle between two shorter floats: rounding it again would forget the side.
    """
    m, e = math.frexp(d)
    side = compare(buffer, first, end, scale, np.uint64(math.ldexp(m, 53)), e - 53)
    return np.nextafter(d, side * np.inf) if side != 0 else d


@compiled
def significant(buffer, i, end, e):
    """The first 19 digits m, and the exponent e, of the decimal i to end times 10ᵉ.

    The last result says whether anything but zeros was left out.
    """
    m, count, more, after_point = NOTHING, 0, False, False
    while i < end:
        if buffer[i] == POINT:
            after_point = True
        elif count < DIGITS:
            m = TEN * m + digit(buffer[i])
            count += m > NOTHING
            e -= after_point
        else:
            more |= digit(buffer[i]) > NOTHING
            e += not after_point
        i += ONE
    return m, e, more


@compiled
def upper_product(a, b):
    """The upper 64 of the 128 bits of a·b."""
    a1, a0, b1, b0 = a >> LIMB, a & LOW, b >> LIMB, b & LOW
    middle = a1 * b0 + (a0 * b0 >> LIMB)
    other = a0 * b1 + (middle & LOW)
    return a1 * b1 + (middle >> LIMB) + (other >> LIMB)


@compiled
def nearest(buffer, first, end, scale):
    """The float nearest to the decimal first to end times a power of ten.

    With the digits m and the power of ten as 64-bit integers whose first bit is set, the decimal
    lies between P and P + error, times 2ᑫ. The last bits of P are rounded away.
    """
    m, e, more = significant(buffer, first, end, scale)
    if m == NOTHING or e < SMALLEST:
        return 0.0
    if e > LARGEST:
        return np.inf
    q = TENS_EXPONENT[e - SMALLEST] + 64
    while m < FIRST_BIT:
        m <<= ONE
        q -= 1
    P = upper_product(m, TENS_UPPER[e - SMALLEST])
    if P < FIRST_BIT:
        P <<= ONE
        q -= 1
    error = np.uint64(40) if more else np.uint64(4)

    surplus = max(11, TINY - q)
    if surplus > 63:
        m, below, above = NOTHING, False, False
    else:
        m = P >> np.uint64(surplus)
        middle = ONE << np.uint64(surplus - 1)
        rest = P & (middle + middle - ONE)
        below, above = rest + error <= middle, rest > middle
    q += surplus
    if not (below or above):
        side = compare(buffer, first, end, scale, m + m + ONE, q - 1)
        above = side > 0 or (side == 0 and m & ONE == ONE)
    return math.ldexp(np.float64(m + ONE if above else m), q)


@compiled
def times_plus(big, used, factor, carry):
    """Big = big·factor + carry, for an integer in limbs of 32 bits; how many are in use."""
    for k in range(used):
        carry += big[k] * factor
        big[k] = carry & LOW
        carry >>= LIMB
    if carry > NOTHING:
        big[used] = carry
        used += 1
    return used


@compiled
def compare(buffer, i, end, e, m, q):
    """The sign of the decimal i to end times 10ᵉ, less m·2ᑫ, in whole numbers."""
    left, right = np.zeros(LIMBS, np.uint64), np.zeros(LIMBS, np.uint64)
    used, count, more, after_point = 0, 0, False, False
    while i < end:
        if buffer[i] == POINT:
            after_point = True
        elif count < SIGNIFICANT:
            used = times_plus(left, used, TEN, digit(buffer[i]))
            count += used > 0
            e -= after_point
        else:
            more |= digit(buffer[i]) > NOTHING
            e += not after_point
        i += ONE
    for _ in range(e):
        used = times_plus(left, used, TEN, NOTHING)
    for _ in range(-q):
        used = times_plus(left, used, TWO, NOTHING)
    used = times_plus(right, 0, ONE, m >> LIMB)
    used = times_plus(right, used, ONE << LIMB, m & LOW)
    for _ in range(-e):
        used = times_plus(right, used, TEN, NOTHING)
    for _ in range(q):
        used = times_plus(right, used, TWO, NOTHING)
    for k in range(LIMBS - 1, -1, -1):
        if left[k] != right[k]:
            return 1 if left[k] > right[k] else -1
    return 1 if more else 0

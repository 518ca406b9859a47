"""Every compiled line that turns bytes into rows: svmlight, Vowpal Wabbit text, tokens and hashes.

Numba's disk cache watches only the file in which a kernel is defined, so each kernel and every
compiled helper that it calls live here. Kernels write into arrays that the caller made. They stop
when an array is full or at a broken line, say how far they got, and go on from there.

Bytes are read by their address: an array that is handed from function to function costs two atomic
counts each time, and a signed position in it a wrap-around test at each byte. No end is asked for
either: a text kernel reads whole lines only, and nothing that it looks for goes past a newline.
"""

import math
import sys
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


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
    no use here (qid, base). ``error`` is 0, or why the line at ``at`` was not taken; ``where`` is
    the byte to blame, or ``at``.
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
    ``seen`` has one byte for every column, mask + 1 in all, which is 1 once its feature was met.
    Set ``count[0]`` to 0 when the names are copied out.
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
CELLS = 14

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
    CELLS: "the row has too few or too many cells",
}

compiled = njit(cache=True, nogil=True)
inlined = njit(cache=True, nogil=True, forceinline=True)  # what runs for each byte or number

NEWLINE, RETURN, TAB, SPACE = ord("\n"), ord("\r"), ord("\t"), ord(" ")
PLUS, MINUS, POINT, COLON, COMMA = ord("+"), ord("-"), ord("."), ord(":"), ord(",")
COMMENT, QUOTE, BAR, MARKS = ord("#"), ord("'"), ord("|"), ord('"')


# Bytes. i is an address.


@intrinsic
def byte(context, i):
    """The byte at an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.load(pointer)

    return types.uint8(types.int64), generate


@intrinsic
def eight_bytes(context, i):
    """The eight bytes from an address on, the first in the lowest bits."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        word = builder.load(pointer, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(types.int64), generate


@intrinsic
def low_zeros(context, word):
    """How many bits are 0 before the first that is 1, from the lowest on."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


@inlined
def eight(i, end):
    """The eight bytes from i on; zeros from the end on."""
    if i + 8 <= end:
        return eight_bytes(i)
    word = np.uint64(0)
    while end > i:
        end -= 1
        word = word << np.uint64(8) | np.uint64(byte(end))
    return word


@compiled
def address(array):
    """Where an array begins."""
    return np.int64(array.ctypes.data)


@inlined
def is_blank(c):
    """White space within a line."""
    return c == SPACE or (TAB <= c <= RETURN and c != NEWLINE)


@inlined
def ends_field(c):
    """Whether a field of a line is over."""
    return is_blank(c) or c == NEWLINE


@inlined
def after_blanks(i):
    """The first byte from i on that is not blank."""
    while is_blank(byte(i)):
        i += 1
    return i


@compiled
def line_end(i):
    """The first newline from i on."""
    while byte(i) != NEWLINE:
        i += 1
    return i


@compiled
def last_line_end(first, stop):
    """The byte after the last newline of first to stop, or first."""
    while stop > first and byte(stop - 1) != NEWLINE:
        stop -= 1
    return stop


@compiled
def blame(i, error):
    """What to say of the byte at i: a NUL byte is an error of its own."""
    return NUL if byte(i) == 0 else error


# Numbers: decimal digits to the nearest float, ties to even (Clinger 1990). A short one is a
# division of exact floats. A long one is a product of two 64-bit integers with a known error; the
# few that lie too near the middle between two floats are compared with it in whole numbers.

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


# Lines. A kernel takes the whole lines from progress.at to stop and leaves what follows the last
# newline. i is an address, k the number of values so far.


@inlined
def ends_item(c):
    """Whether a field of an svmlight line is over."""
    return ends_field(c) or c == COMMENT


@compiled
def svmlight(buffer, stop, progress, labels, block, first, limit, increasing, labelled=True):
    """Rows of lines ``label qid:number index:value … # comment``.

    The columns are index - first, below limit; with ``increasing`` each must be above the last.
    Unless ``labelled``, a label may be absent, and is then not a number.
    """
    values, indices, starts = block
    at, row, k, lines, ignored, error, _ = progress
    base, room = address(buffer), min(len(labels), len(starts) - 1)
    line, stop = base + at, last_line_end(base + at, base + stop)
    i, error = line, 0
    while line < stop:
        i = after_blanks(line)
        if not ends_item(byte(i)):
            if row == room:
                error = FULL
                break
            labels[row], i, queries, error = svmlight_label(i, labelled)
            if error == 0:
                i, end, error = svmlight_features(i, k, values, indices, first, limit, increasing)
            if error != 0:
                break
            row, k, ignored = row + 1, end, ignored + queries
            starts[row] = k
        line, lines = line_end(i) + 1, lines + 1
    where = line if error == 0 else i
    return Progress(line - base, row, k, lines, ignored, error, where - base)


@inlined
def svmlight_label(i, labelled):
    """The label at i, where the features begin, how many queries there are, and an error."""
    label, end = number(i, np.float64)
    if not labelled and (byte(end) == COLON or byte(end) == ord("q")):
        label, end = np.nan, i
    elif end == i or not ends_item(byte(end)):
        several = end > i and byte(end) == COMMA
        return label, end, 0, LABELS if several else blame(end, LABEL)
    if np.isinf(label):
        return label, i, 0, LABEL
    i = after_blanks(end)
    if byte(i) != ord("q"):
        return label, i, 0, 0
    if byte(i + 1) == ord("i") and byte(i + 2) == ord("d") and byte(i + 3) == COLON:
        _, end = digits(i + 4, 0)
        if end > i + 4 and ends_item(byte(end)):
            return label, end, 1, 0
    return label, i, 0, QUERY


@compiled
def svmlight_features(i, k, values, indices, first, limit, increasing):
    """Write the features from i on to the places from k on; where both end, and an error."""
    kind, room = values.dtype.type, min(len(values), len(indices))
    limit = min(limit, (1 << 32) - 1)
    least = first
    while True:
        i = after_blanks(i)
        if byte(i) == NEWLINE or byte(i) == COMMENT:
            return i, k, 0
        index, end = digits(i, 0)
        if end == i or byte(end) != COLON:
            negative = byte(i) == MINUS and is_digit(byte(i + 1))
            return end, k, INDEX_TOO_SMALL if negative else blame(end, INDEX)
        if end - i > DIGITS or index - first >= limit:
            return i, k, INDEX_TOO_LARGE
        if index < least:
            return i, k, INDEX_TOO_SMALL if index < first else INDEX_ORDER
        if k == room:
            return i, k, FULL
        x, i = number(end + 1, kind)
        if i == end + 1 or not ends_item(byte(i)):
            return i, k, blame(i, VALUE)
        if np.isinf(x):
            return end + 1, k, VALUE_TOO_LARGE
        values[np.uint64(k)], indices[np.uint64(k)] = x, index - first
        k += 1
        if increasing:
            least = index + 1


# Hashes of 64 bits, eight bytes at a time. A column is the last bits of a scattered hash.


@inlined
def spell(h, letters):
    """Carry a hash on over up to eight letters."""
    h = (h ^ letters) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))


@inlined
def mix(z):
    """Scatter the bits of a hash (the finaliser of SplitMix64, Steele et al. 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def hash_bytes(i, end, stop, h):
    """The hash of the bytes i to end, from another hash on; the bytes up to stop may be read."""
    h = spell(h, np.uint64(end - i))
    while i + 8 < end:
        h = spell(h, eight_bytes(i))
        i += 8
    if i < end:
        surplus = np.uint64(8 * (8 - (end - i)))
        h = spell(h, eight(i, stop) << surplus)
    return mix(h)


@compiled
def salt(name):
    """Where the hashes of a column begin: a hash of its name, an array of bytes."""
    i = address(name)
    return hash_bytes(i, i + len(name), i + len(name), np.uint64(0))


@compiled
def seen_names(names):
    """Where the marks of the known names begin, or 0 when names are not kept."""
    return 0 if names is None else address(names.seen)


@inlined
def is_new(seen, index):
    """Whether a feature's name is to be kept."""
    return seen != 0 and byte(seen + index) == 0


@compiled
def note(names, index, begin, end):
    """Keep the name of a feature that is met for the first time, while there is room."""
    if names is not None:
        seen, indices, begins, ends, count = names
        n = count[0]
        seen[index] = 1
        if n < len(indices):
            indices[n], begins[n], ends[n] = index, begin, end
            count[0] += 1


# Vowpal Wabbit's text.


NAME_ENDS = np.array([chr(c) in "\0\t\n\v\f\r :|" for c in range(256)])


@inlined
def ends_name(c):
    """Whether the name of a feature is over."""
    return NAME_ENDS[c]


@compiled
def vowpal_wabbit(buffer, stop, progress, labels, weights, block, groups, mask, names):
    """Rows of lines ``label importance base 'tag |namespace:scale name:value … |namespace …``.

    All but the bar may be missing: a label is then not a number, and the others are 1. A value's
    group is the first letter of its namespace, as in Vowpal Wabbit, or a space.
    """
    values, indices, starts = block
    at, row, k, lines, ignored, error, _ = progress
    base, room = address(buffer), min(len(labels), len(weights), len(starts) - 1)
    line, stop = base + at, last_line_end(base + at, base + stop)
    i, error = line, 0
    while line < stop:
        i = after_blanks(line)
        if byte(i) != NEWLINE:
            if row == room:
                error = FULL
                break
            labels[row], weights[row], i, bases, error = vw_label(i)
            if error == 0:
                i, end, error = vw_features(
                    i, base, stop, k, values, indices, groups, np.uint64(mask), names
                )
            if error != 0:
                break
            row, k, ignored = row + 1, end, ignored + bases
            starts[row] = k
        line, lines = line_end(i) + 1, lines + 1
    where = line if error == 0 else i
    return Progress(line - base, row, k, lines, ignored, error, where - base)


@compiled
def vw_label(i):
    """The label and the importance at i, where the features begin, how many bases, and an error."""
    label, weight, count = np.nan, 1.0, 0
    while byte(i) != BAR and byte(i) != NEWLINE:
        x, end = number(i, np.float64)
        if end > i and ends_field(byte(end)) and count < 3:
            if np.isinf(x) or (count == 1 and x < 0):
                return label, weight, i, 0, LABEL if count == 0 else WEIGHT
            if count == 0:
                label = x
            elif count == 1:
                weight = x
            count += 1
        else:
            end = i
            while not (ends_field(byte(end)) or byte(end) == BAR or byte(end) == 0):
                end += 1
            if byte(end) == 0:
                return label, weight, end, 0, NUL
            if byte(i) != QUOTE and byte(end) != BAR:
                return label, weight, i, 0, WEIGHT if count == 1 else LABEL
        i = after_blanks(end)
    return label, weight, i, max(count - 2, 0), 0


@compiled
def vw_features(i, base, stop, k, values, indices, groups, mask, names):
    """Write the features from i on to the places from k on; where both end, and an error."""
    kind, room = values.dtype.type, min(len(values), len(indices), len(groups))
    space, group, scale, seen = np.uint64(0), np.uint8(SPACE), kind(1), seen_names(names)
    while byte(i) != NEWLINE:
        if byte(i) == BAR:
            begin = i + 1
            space, i = vw_namespace(begin, stop)
            group = byte(begin) if i > begin else np.uint8(SPACE)
            scale, i, error = vw_value(i, kind(1))
            if error != 0:
                return i, k, error
        else:
            h, end = vw_name(i, stop, space)
            if end == i or byte(end) == 0:
                return end, k, blame(end, NAME)
            if k == room:
                return i, k, FULL
            index = np.uint32(h & mask)
            if is_new(seen, index):
                note(names, index, i - base, end - base)
            x, i, error = vw_value(end, scale)
            if error != 0:
                return i, k, error
            place = np.uint64(k)
            values[place], indices[place], groups[place] = x, index, group
            k += 1
        i = after_blanks(i)
    return i, k, 0


@inlined
def vw_name(i, stop, space):
    """The hash of the name at i in a namespace, and where it ends. Digits alone are a number."""
    m, end = digits(i, 0)
    if ends_name(byte(end)) and 0 < end - i <= DIGITS:
        return space + np.uint64(m), end
    while not ends_name(byte(end)):
        end += 1
    return hash_bytes(i, end, stop, space), end


@compiled
def vw_namespace(i, stop):
    """The hash of the namespace at i, 0 for the one without name, and where it ends."""
    end = i
    while not ends_name(byte(end)):
        end += 1
    return (hash_bytes(i, end, stop, np.uint64(0)) if end > i else np.uint64(0)), end


@inlined
def vw_value(i, scale):
    """What stands after a colon at i, or 1, times the scale; where it ends, and an error."""
    if byte(i) != COLON:
        return scale, i, 0 if ends_field(byte(i)) or byte(i) == BAR else blame(i, NAME)
    x, end = number(i + 1, type(scale))
    if end == i + 1 or not (ends_field(byte(end)) or byte(end) == BAR):
        return x, end, blame(end, VALUE)
    if np.isinf(x * scale):
        return x, i + 1, VALUE_TOO_LARGE
    return x * scale, end, 0


# Tables as text: cells between delimiters. Quotation marks may hide a delimiter or a newline.


MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "#N/A"]
MISSING_WORDS = np.array([int.from_bytes(word.encode(), "little") for word in MISSING], np.uint64)


@compiled
def row_ends(data, delimiter, ends):
    """Set where each whole row ends; how many there are."""
    i, n, quoted, may_open = address(data), 0, False, True
    base, stop = i, i + len(data)
    while i < stop:
        c = byte(i)
        i += 1
        if quoted:
            quoted = c != MARKS
            may_open = True  # a mark that follows is one within the cell
        else:
            quoted = may_open and c == MARKS
            may_open = c in (delimiter, NEWLINE)
            if c == NEWLINE:
                ends[n] = i - base
                n += 1
    return n


@compiled
def table(buffer, stop, progress, delimiter, places, labels, values, width):
    """Dense rows of lines of numbers.

    Cell j is the label if places[j] is -1, and else number places[j] of its row; those from width
    on are left out. A missing number is 0, and counted as ignored.
    """
    at, row, _, lines, ignored, error, _ = progress
    base, room = address(buffer), min(len(labels), len(values) // width)
    line, stop = base + at, last_line_end(base + at, base + stop)
    i, error = line, 0
    while line < stop:
        i = after_blanks(line)
        if byte(i) != NEWLINE:
            if row == room:
                error = FULL
                break
            i, missing, error = table_row(line, delimiter, places, labels, row, values, width)
            if error != 0:
                break
            row, ignored = row + 1, ignored + missing
        line, lines = line_end(i) + 1, lines + 1
    where = line if error == 0 else i
    return Progress(line - base, row, row * width, lines, ignored, error, where - base)


@compiled
def table_row(i, delimiter, places, labels, row, values, width):
    """Write the cells from i on to a row; where they end, how many are missing, and an error."""
    kind, first, missing, last = values.dtype.type, row * width, 0, len(places) - 1
    for j in range(last + 1):
        place = places[j]
        if place < 0:
            labels[row], end, error = cell(i, delimiter, np.float64)
            if error == 0 and np.isnan(labels[row]):
                error = LABEL
        elif place < width:
            x, end, error = cell(i, delimiter, kind)
            if np.isnan(x):
                x = kind(0)
                missing += 1
            values[np.uint64(first + place)] = x
        else:
            end, error = cell_end(i, delimiter), 0
        if error != 0:
            return end, missing, error
        if byte(end) != (NEWLINE if j == last else delimiter):
            return end, missing, CELLS
        i = end + 1
    return i - 1, missing, 0


@compiled
def cell_end(i, delimiter):
    """The delimiter or newline after the cell at i."""
    while byte(i) != delimiter and byte(i) != NEWLINE:
        i += 1
    return i


@inlined
def cell(i, delimiter, kind):
    """The number in the cell at i, or NaN if it is missing; where the cell ends, and an error."""
    x, end = number(i, kind)
    if end == i or not (byte(end) == delimiter or byte(end) == NEWLINE):
        x, end, error = odd_cell(i, delimiter, kind)
        return x, end, error
    if np.isinf(x):
        return x, i, VALUE_TOO_LARGE
    return x, end, 0


@compiled
def is_missing(word, last):
    """Whether up to eight letters, of which the last is given too, stand for a missing number."""
    return last != 0 and np.any(word == MISSING_WORDS)


@compiled
def odd_cell(i, delimiter, kind):
    """What cell gives, for a number that is missing or has blanks or marks around it."""
    end = cell_end(i, delimiter)
    last = end
    while i < last and (is_blank(byte(i)) or byte(i) == MARKS):
        i += 1
    while i < last and (is_blank(byte(last - 1)) or byte(last - 1) == MARKS):
        last -= 1
    if i == last or (last - i <= 8 and is_missing(eight(i, last), byte(last - 1))):
        return kind(np.nan), end, 0
    x, after = number(i, kind)
    if after < last or after == i:
        return x, after, blame(after, VALUE)
    return (x, i, VALUE_TOO_LARGE) if np.isinf(x) else (x, end, 0)


# Columns of a table become blocks with the same rows: of text, of categories, of numbers. Strings
# lie one after the other in data, row r between offsets r and r + 1, as Arrow keeps them. A kernel
# goes on from a row and a number k of values, stops before a row without room, and returns both.


@compiled
def text(data, offsets, row, k, grams, block, names):
    """The n-grams of each string, once each, sorted by column."""
    values, indices, starts = block
    base, rows = address(data), min(len(offsets), len(starts)) - 1
    longest = 0
    for r in range(row, rows):
        longest = max(longest, offsets[r + 1] - offsets[r])
    most = longest if grams.characters else (longest + 1) // 3
    keys = np.empty(most * (grams.longest - grams.shortest + 1), np.uint32)
    ordered, counts = np.empty_like(keys), np.empty(BUCKETS + 1, np.uint32)
    hashes, letters = np.empty(grams.longest, np.uint64), np.empty(most, np.uint8)
    edges, begins = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    while row < rows:
        i, end = base + offsets[row], base + offsets[row + 1]
        if grams.characters:
            n = character_keys(i, end, base, grams, letters, edges, begins, keys, names)
        else:
            n = word_keys(i, end, base, grams, hashes, begins, keys, names)
        if n > min(len(values), len(indices)) - k:
            break
        order(keys, n, grams.mask, counts, ordered)
        last = tally(ordered, n, k, values, indices, grams.presence)
        if grams.unit_length:
            normalise(values, k, last)
        row, k = row + 1, last
        starts[row] = k
    return row, k


@compiled
def categories(data, offsets, row, k, seed, mask, block, names):
    """Each string as one feature of value 1; none if it is empty."""
    values, indices, starts = block
    base, seen = address(data), seen_names(names)
    while row < min(len(offsets), len(starts)) - 1 and k < min(len(values), len(indices)):
        i, end = base + offsets[row], base + offsets[row + 1]
        if i < end:
            index = np.uint32(hash_bytes(i, end, end, np.uint64(seed)) & np.uint64(mask))
            if is_new(seen, index):
                note(names, index, i - base, end - base)
            values[k], indices[k] = 1, index
            k += 1
        row += 1
        starts[row] = k
    return row, k


@compiled
def numbers(column, row, k, index, block):
    """Each number as one feature in a given column; none if it is 0 or missing."""
    values, indices, starts = block
    while row < min(len(column), len(starts) - 1) and k < min(len(values), len(indices)):
        if column[row] != 0 and not np.isnan(column[row]):
            values[k], indices[k] = column[row], index
            k += 1
        row += 1
        starts[row] = k
    return row, k


@compiled
def append(block, group, ends, out, groups):
    """Put the rows of a block into out, where row r ends at ends[r] so far.

    Blocks that are appended one after the other become one, with the group of each value.
    """
    values, indices, starts = block
    for row in range(len(ends)):
        end = ends[row]
        for k in range(starts[row], starts[row + 1]):
            out.values[end], out.indices[end], groups[end] = values[k], indices[k], group
            end += np.uint64(1)
        ends[row] = end


# Words, eight bytes at a time. Some of eight bytes are told by the upper bits of these.

ONES = np.uint64(0x0101010101010101)
UPPER = np.uint64(0x8080808080808080)


@inlined
def between(word, first, last):
    """The bytes from one letter to another, in a word without upper bits."""
    return (word + ONES * np.uint64(128 - first)) & ~(word + ONES * np.uint64(127 - last)) & UPPER


@inlined
def lower(word):
    """The letters of words in lower case; an underscore becomes a byte that is in no word."""
    return word | (~word & UPPER) >> np.uint64(2)


@inlined
def in_words(word):
    """The letters, digits and underscores of ASCII, and every byte of other characters."""
    plain = word & ~UPPER
    letters = between(lower(plain), ord("a"), ord("z"))
    others = between(plain, ord("0"), ord("9")) | between(plain, ord("_"), ord("_"))
    return letters | others | (word & UPPER)


@inlined
def character_starts(word):
    """The bytes that begin a character of UTF-8: all but 10xxxxxx."""
    return ~(word & ~(word << np.uint64(1))) & UPPER


@inlined
def read_word(i, end, h):
    """The hash of the word at i in lower case, where it ends, and if it has several characters."""
    after_first = UPPER << np.uint64(8)
    several = False
    while True:
        word = eight(i, end)
        outside = ~in_words(word) & UPPER
        first_outside = outside & (~outside + np.uint64(1))
        inside = (first_outside >> np.uint64(7)) - np.uint64(1)
        several |= character_starts(word) & inside & after_first != 0
        if inside != 0:
            h = spell(h, lower(word) & inside)
        i += low_zeros(outside) >> 3
        if outside != 0:
            return h, i, several
        after_first = UPPER


@compiled
def word_keys(i, end, base, grams, hashes, begins, keys, names):
    """The columns of the word n-grams between two addresses; how many they are.

    Words are what scikit-learn takes for words: two or more letters, digits or underscores, in
    lower case. hashes[n] is the hash of the last n + 1 words, which begin at begins[n].
    """
    n, words, seen = 0, 0, seen_names(names)
    while i < end:
        h, after, several = read_word(i, end, grams.salt)
        if several:
            words += 1
            for before in range(min(words, grams.longest) - 1, -1, -1):
                g, begin, place = h, i, np.uint64(before)
                if before > 0:
                    shorter = place - np.uint64(1)
                    g = spell(spell(hashes[shorter], np.uint64(SPACE)), h)
                    begin = begins[shorter]
                hashes[place], begins[place] = g, begin
                if before + 1 >= grams.shortest:
                    index = np.uint32(mix(g) & grams.mask)
                    if is_new(seen, index):
                        note(names, index, begin - base, after - base)
                    keys[np.uint64(n)] = index
                    n += 1
        i = after + 1
    return n


LOWER = np.arange(256, dtype=np.uint8)
LOWER[65:91] += 32
LOWER[9:14] = SPACE


@compiled
def character_keys(i, end, base, grams, letters, edges, begins, keys, names):
    """The columns of the character n-grams between two addresses; how many they are.

    Letters are taken in lower case, and white space as one space. Character c lies at edges[c] to
    edges[c + 1] of the letters, and came from begins[c].
    """
    size = characters = n = 0
    while i < end:
        c = LOWER[byte(i)]
        if c != SPACE or size == 0 or letters[size - 1] != SPACE:
            if c & 0xC0 != 0x80 or size == 0:
                edges[characters], begins[characters] = size, i
                characters += 1
            letters[size] = c
            size += 1
        i += 1
    edges[characters], begins[characters] = size, end

    first, seen = address(letters), seen_names(names)
    for c in range(characters):
        for d in range(c + grams.shortest, min(c + grams.longest, characters) + 1):
            h = hash_bytes(first + edges[c], first + edges[d], first + size, grams.salt)
            index = np.uint32(h & grams.mask)
            if is_new(seen, index):
                note(names, index, begins[c] - base, begins[d] - base)
            keys[n] = index
            n += 1
    return n


BUCKETS = 1 << 16


@compiled
def order(keys, n, mask, counts, ordered):
    """Sort n keys of 0 to mask. They are hashes: about one falls into each of n equal buckets."""
    buckets, shift = BUCKETS, np.uint32(0)
    while buckets > n + n and buckets > 2:
        buckets >>= 1
    while mask >> np.uint64(shift) >= np.uint64(buckets):
        shift += np.uint32(1)
    counts[: buckets + 1] = 0
    for t in range(n):
        counts[(keys[t] >> shift) + np.uint32(1)] += np.uint32(1)
    for b in range(buckets):
        counts[b + 1] += counts[b]
    for t in range(n):
        b = keys[t] >> shift
        ordered[counts[b]] = keys[t]
        counts[b] += np.uint32(1)
    for t in range(1, n):
        key, place = ordered[t], t
        while place > 0 and ordered[place - 1] > key:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = key


@compiled
def tally(ordered, n, k, values, indices, presence):
    """Write each key once from place k on, with how often it comes; where they end."""
    count = 0
    for t in range(n):
        again = t > 0 and ordered[t] == ordered[t - 1]
        count = count + 1 if again else 1
        k += not again
        values[k - 1], indices[k - 1] = 1 if presence else count, ordered[t]
    return k


@compiled
def normalise(values, k, end):
    """Divide the values k to end by their Euclidean length."""
    total = 0.0
    for t in range(k, end):
        total += np.float64(values[t]) * values[t]
    for t in range(k, end):
        values[t] = values[t] / math.sqrt(total)


# Crosses: the products of the features of two groups, as features of their own.


@compiled
def count_crosses(starts, groups, pairs, crossed_starts):
    """Set where each row will begin and end when it has the products of pairs of groups too."""
    for row in range(len(starts) - 1):
        size = starts[row + 1] - starts[row]
        for p in range(len(pairs)):
            ones = others = np.uint64(0)
            for k in range(starts[row], starts[row + 1]):
                ones += np.uint64(groups[k] == pairs[p, 0])
                others += np.uint64(groups[k] == pairs[p, 1])
            if pairs[p, 0] == pairs[p, 1]:
                others = ones - np.uint64(1)
                size += (ones * others) >> np.uint64(1)
            else:
                size += ones * others
        crossed_starts[row + 1] = crossed_starts[row] + size


@compiled
def cross(block, groups, pairs, mask, out, names):
    """Copy rows, and add to each the products of pairs of groups: one for every two features.

    A group with itself gives one for every two different places. A name is kept as the columns
    that are multiplied. The starts of out are those that count_crosses gives.
    """
    values, indices, starts = block
    for row in range(len(starts) - 1):
        end = out.starts[row]
        for k in range(starts[row], starts[row + 1]):
            out.values[end], out.indices[end] = values[k], indices[k]
            end += np.uint64(1)
        for p in range(len(pairs)):
            end = multiply(
                row, pairs[p, 0], pairs[p, 1], block, groups, np.uint64(mask), out, end, names
            )


@compiled
def multiply(row, a, b, block, groups, mask, out, end, names):
    """Write the products of groups a and b in a row from place end on; where they end."""
    values, indices, starts = block
    seen = seen_names(names)
    for k in range(starts[row], starts[row + 1]):
        if groups[k] == a:
            for j in range(k + np.uint64(1) if a == b else starts[row], starts[row + 1]):
                if groups[j] == b:
                    index = cross_index(indices[k], indices[j], a == b, mask)
                    if is_new(seen, index):
                        note(names, index, indices[k], indices[j])
                    out.values[end], out.indices[end] = values[k] * values[j], index
                    end += np.uint64(1)
    return end


@inlined
def cross_index(i, j, unordered, mask):
    """The column of two features together; in one group it does not matter which is first."""
    if unordered and i > j:
        i, j = j, i
    return np.uint32(mix(np.uint64(i) << np.uint64(32) | np.uint64(j)) & mask)

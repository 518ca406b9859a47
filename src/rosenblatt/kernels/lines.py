"""Lines of text become rows: svmlight, Vowpal Wabbit, and tables of numbers.

Kernels write into arrays that the caller made. They take the whole lines from the cursor to stop,
leave what follows the last newline, stop when an array is full or at a broken line, say how far
they got, and go on from there.
"""

from typing import NamedTuple

import numpy as np

from .addresses import (
    BAR,
    COLON,
    COMMA,
    COMMENT,
    MARKS,
    MINUS,
    NEWLINE,
    QUOTE,
    RETURN,
    SPACE,
    address,
    after_blanks,
    byte,
    eight,
    ends_field,
    is_blank,
    last_line_end,
    line_end,
)
from .compiling import compiled, inlined
from .numbers import DIGITS, digits, is_digit, number
from .words import hash_bytes, is_new, note, seen_names


class Cursor(NamedTuple):
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


# i is an address, k the number of values so far.


@compiled
def blame(i, error):
    """What to say of the byte at i: a NUL byte is an error of its own."""
    return NUL if byte(i) == 0 else error


@inlined
def ends_item(c):
    """Whether a field of an svmlight line is over."""
    return ends_field(c) or c == COMMENT


@compiled
def svmlight(buffer, stop, cursor, labels, block, first, limit, increasing, labelled=True):
    """Rows of lines ``label qid:number index:value … # comment``.

    The columns are index - first, below limit; with ``increasing`` each must be above the last.
    Unless ``labelled``, a label may be absent, and is then not a number.
    """
    values, indices, starts = block
    at, row, k, lines, ignored, error, _ = cursor
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
    return Cursor(line - base, row, k, lines, ignored, error, where - base)


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


# Vowpal Wabbit's text.


NAME_ENDS = np.array([chr(c) in "\0\t\n\v\f\r :|" for c in range(256)])


@inlined
def ends_name(c):
    """Whether the name of a feature is over."""
    return NAME_ENDS[c]


@compiled
def vowpal_wabbit(buffer, stop, cursor, labels, weights, block, groups, mask, names):
    """Rows of lines ``label importance base 'tag |namespace:scale name:value … |namespace …``.

    All but the bar may be missing: a label is then not a number, and the others are 1. A value's
    group is the first letter of its namespace, as in Vowpal Wabbit, or a space.
    """
    values, indices, starts = block
    at, row, k, lines, ignored, error, _ = cursor
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
    return Cursor(line - base, row, k, lines, ignored, error, where - base)


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
            may_open = c in (delimiter, NEWLINE, RETURN)
            if c == NEWLINE:
                ends[n] = i - base
                n += 1
    return n


@compiled
def table(buffer, stop, cursor, delimiter, places, labels, values, width):
    """Dense rows of lines of numbers.

    Cell j is the label if places[j] is -1, and else number places[j] of its row; those from width
    on are left out. A missing number is 0, and counted as ignored.
    """
    at, row, _, lines, ignored, error, _ = cursor
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
    return Cursor(line - base, row, row * width, lines, ignored, error, where - base)


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

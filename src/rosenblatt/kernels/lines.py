"""Parse lines of text into rows, svmlight and Vowpal Wabbit, and find the rows of tables.

Kernels write into arrays of the caller. They parse the whole lines from the cursor to ``stop`` and
leave what follows the last newline. They stop when an array is full or at an invalid line, and
return a cursor to continue from.
"""

import math
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
    address,
    after_blanks,
    byte,
    eight,
    ends_field,
    is_blank,
    last_line_end,
    line_end,
)
from .algebra import smaller
from .compiling import compiled, helper, inlined
from .forms import BITS, FLAG, WHOLE, given, vector
from .numbers import DIGITS, DOUBLE, NOTHING, digits, is_digit, number
from .words import NAMES, each_buffer, hash_bytes, is_new, keep_name, seen_names


class Cursor(NamedTuple):
    """The state of a text kernel; pass it again to continue.

    ``at`` is the first byte that was not parsed, always the start of a line; ``rows``, ``values``
    and ``lines`` count what was parsed before. ``ignored`` counts the fields without a use here
    (qid, base). ``error`` is 0, or why the line at ``at`` was not parsed; ``where`` is the invalid
    byte, or ``at``.
    """

    at: int = 0
    rows: int = 0
    values: int = 0
    lines: int = 0
    ignored: int = 0
    error: int = 0
    where: int = 0


REALS = vector(np.float64)
LINES = given(np.uint8), WHOLE, Cursor(), REALS, vector(np.int64)

# Why a kernel stopped.
FULL, LABEL, LABELS, QUERY, INDEX, INDEX_TOO_SMALL, INDEX_TOO_LARGE = range(1, 8)
INDEX_ORDER, VALUE, VALUE_TOO_LARGE, WEIGHT, NAME, NUL = range(8, 14)

REASONS = {
    FULL: ("full", "there is no room for more"),
    LABEL: ("label", "the label is not a finite number"),
    LABELS: ("several-labels", "there are several labels"),
    QUERY: ("query", "the query is not written as qid:number"),
    INDEX: ("feature", "a feature is not written as index:value"),
    INDEX_TOO_SMALL: ("index-too-small", "an index is below the first column"),
    INDEX_TOO_LARGE: ("index-too-large", "an index is beyond the last column"),
    INDEX_ORDER: ("index-order", "the indices do not increase"),
    VALUE: ("value", "a value is not a finite number"),
    VALUE_TOO_LARGE: ("value-too-large", "a value is too large for its type"),
    WEIGHT: ("weight", "the importance is not a number of at least 0"),
    NAME: ("feature-name", "a feature has no name"),
    NUL: ("nul-byte", "there is a NUL byte"),
}
"""The codes of errors, and their sentences."""


LETTER_Q, LETTER_I, LETTER_D = ord("q"), ord("i"), ord("d")


# i is an address, k the number of values so far; single: whether values are float32.


@inlined
def make_cursor(base, line, i, counts, error):
    """The cursor of a kernel that stopped before a line; i is the address of an error."""
    row, k, lines, ignored = counts
    if error == 0:
        i = line
    elif error != FULL and byte(i) == 0:
        error = NUL
    return Cursor(line - base, row, k, lines, ignored, error, i - base)


@inlined
def ends_item(c):
    """Whether a byte ends a field of an svmlight line."""
    return ends_field(c) or c == COMMENT


@compiled(lambda: ((*LINES, rows, WHOLE, WHOLE, FLAG, FLAG) for rows in each_buffer()))
def svmlight(buffer, stop, cursor, labels, label_starts, rows, first, limit, lenient, labelled):
    """Parse lines ``label qid:number index:value … # comment``.

    The columns are index - first, below limit, in increasing order; ``lenient`` leaves out those
    beyond the limit. Unless ``labelled``, a label may be absent, and is then NaN. Unless
    ``label_starts`` is empty, a row has any number of labels, ``1,4,7``: row r those from
    ``label_starts[r]`` to ``label_starts[r + 1]``. Queries are not used.
    """
    values, indices, starts = rows
    at, row, k, lines, ignored, error, _ = cursor
    several = len(label_starts) > 0
    room = smaller(len(label_starts) - 1 if several else len(labels), len(starts) - 1)
    base, last = address(buffer), 0
    line, stop = base + at, last_line_end(base + at, base + stop)
    i, error = line, 0
    while line < stop:
        i = after_blanks(line)
        if not ends_item(byte(i)):
            if row == room:
                error = FULL
                break
            if several:
                i, last, error = svmlight_labels(i, labels, label_starts[row])
            else:
                labels[row], i, error = svmlight_label(i, labelled)
            if error == 0:
                i, found, error = svmlight_query(i)
            if error == 0:
                i, end, error = svmlight_features(i, k, values, indices, first, limit, lenient)
            if error != 0:
                break
            row, k, ignored = row + 1, end, ignored + found
            starts[row] = k
            if several:
                label_starts[row] = last
        line, lines = line_end(i) + 1, lines + 1
    return make_cursor(base, line, i, (row, k, lines, ignored), error)


@inlined
def svmlight_label(i, labelled):
    """Parse the label at i; return it, where it ends, and an error."""
    label, end = number(i, DOUBLE)
    if not labelled and (byte(end) == COLON or byte(end) == LETTER_Q):
        label, end = np.nan, i
    elif end == i or not ends_item(byte(end)):
        return label, end, LABELS if end > i and byte(end) == COMMA else LABEL
    if math.isinf(label):
        return label, i, LABEL
    return label, end, 0


@helper
def svmlight_labels(i, labels, k):
    """Parse the labels at i into the places from k on; return where both end, and an error."""
    _, end = digits(i, NOTHING)
    if byte(i) == LETTER_Q or (end > i and byte(end) == COLON):
        return i, k, 0  # features: there are none
    return label_list(i, labels, k)


@inlined
def label_list(i, labels, k):
    """Parse labels between commas into the places from k on; return both ends, and an error."""
    label, end = number(i, DOUBLE)
    while True:
        if end == i or math.isinf(label):
            return i, k, LABEL
        if k == len(labels):
            return i, k, FULL
        labels[k] = label
        k += 1
        if byte(end) != COMMA:
            return end, k, 0 if ends_item(byte(end)) else LABEL
        i = end + 1
        label, end = number(i, DOUBLE)


@inlined
def svmlight_query(i):
    """Parse a query after the label: where it ends, how many there are, an error."""
    i = after_blanks(i)
    if byte(i) != LETTER_Q:
        return i, 0, 0
    if byte(i + 1) == LETTER_I and byte(i + 2) == LETTER_D and byte(i + 3) == COLON:
        _, end = digits(i + 4, NOTHING)
        if end > i + 4 and ends_item(byte(end)):
            return end, 1, 0
    return i, 0, QUERY


@inlined
def svmlight_features(i, k, values, indices, first, limit, lenient):
    """Parse the features at i into the places from k on; return where both end, and an error."""
    single, room = values.itemsize == 4, smaller(len(values), len(indices))
    limit = smaller(limit, (1 << 32) - 1)
    least = first
    while True:
        i = after_blanks(i)
        if byte(i) == NEWLINE or byte(i) == COMMENT:
            return i, k, 0
        index, end = digits(i, NOTHING)
        if end == i or byte(end) != COLON:
            negative = byte(i) == MINUS and is_digit(byte(i + 1))
            return end, k, INDEX_TOO_SMALL if negative else INDEX
        beyond = end - i > DIGITS or index - first >= limit
        if beyond and not lenient:
            return i, k, INDEX_TOO_LARGE
        if index < least and not beyond:
            return i, k, INDEX_TOO_SMALL if index < first else INDEX_ORDER
        if k == room:
            return i, k, FULL
        x, i = number(end + 1, single)
        if i == end + 1 or not ends_item(byte(i)):
            return i, k, VALUE
        if beyond:
            continue
        if not math.isfinite(x):
            return end + 1, k, VALUE_TOO_LARGE
        values[np.uint64(k)], indices[np.uint64(k)] = x, index - first
        k, least = k + 1, index + 1


# Vowpal Wabbit's text.


NAME_ENDS = np.array([chr(c) in "\0\t\n\v\f\r :|" for c in range(256)])


@compiled(lambda: ((*LINES, REALS, rows, BITS, NAMES) for rows in each_buffer()))
def vowpal_wabbit(buffer, stop, cursor, labels, label_starts, weights, rows, mask, names):
    """Parse lines ``label importance base 'tag |namespace:scale name:value … |namespace …``.

    All but the bar may be missing: a label is then NaN, and the others are 1. Unless
    ``label_starts`` is empty, a row has any number of labels, as in svmlight.
    """
    values, indices, starts = rows
    at, row, k, lines, ignored, error, _ = cursor
    several = len(label_starts) > 0
    room = len(label_starts) - 1 if several else len(labels)
    base, room, last = address(buffer), smaller(room, smaller(len(weights), len(starts) - 1)), 0
    line, stop = base + at, last_line_end(base + at, base + stop)
    i, error = line, 0
    while line < stop:
        i = after_blanks(line)
        if byte(i) != NEWLINE:
            if row == room:
                error = FULL
                break
            if several:
                i, last, error = vw_labels(i, labels, label_starts[row])
            if error == 0:
                label, weights[row], i, bases, error = vw_label(i, several)
            if error == 0:
                i, end, error = vw_features(i, base, stop, k, values, indices, mask, names)
            if error != 0:
                break
            if several:
                label_starts[row + 1] = last
            else:
                labels[row] = label
            row, k, ignored = row + 1, end, ignored + bases
            starts[row] = k
        line, lines = line_end(i) + 1, lines + 1
    return make_cursor(base, line, i, (row, k, lines, ignored), error)


@helper
def vw_labels(i, labels, k):
    """Parse the labels at i into the places from k on; return both ends, and an error."""
    end = i
    while not (ends_field(byte(end)) or byte(end) == BAR or byte(end) == 0):
        end += 1
    if byte(i) == QUOTE or byte(end) == BAR or end == i:
        return i, k, 0  # a tag, or features: there are none
    i, k, error = label_list(i, labels, k)
    return (after_blanks(i) if error == 0 else i), k, error


@inlined
def vw_label(i, labelled):
    """Parse label and importance at i; also where features begin, the bases, and an error.

    If ``labelled``, the label was parsed before, and the importance comes first.
    """
    label, weight, count = np.nan, 1.0, 1 if labelled else 0
    while byte(i) != BAR and byte(i) != NEWLINE:
        x, end = number(i, DOUBLE)
        several = count == 0 and end > i and byte(end) == COMMA
        if end > i and ends_field(byte(end)) and count < 3:
            if math.isinf(x) or (count == 1 and x < 0):
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
                error = LABELS if several else WEIGHT if count == 1 else LABEL
                return label, weight, i, 0, error
        i = after_blanks(end)
    return label, weight, i, 1 if count == 3 else 0, 0


@inlined
def vw_features(i, base, stop, k, values, indices, mask, names):
    """Parse the features at i into the places from k on; return where both end, and an error."""
    single, room = values.itemsize == 4, smaller(len(values), len(indices))
    space, scale, seen = np.uint64(0), 1.0, seen_names(names)
    while byte(i) != NEWLINE:
        is_space = byte(i) == BAR
        begin = i + 1 if is_space else i
        if is_space:
            space, scale = np.uint64(0), 1.0
        h, end = vw_name(begin, stop, space, is_space)
        if end == begin and not is_space:
            return end, k, NAME
        if k == room and not is_space:
            return i, k, FULL
        x, i, error = vw_value(end, scale, single)
        if error != 0:
            return i, k, error
        if not is_space:
            place, index = np.uint64(k), np.uint32(h & mask)
            if is_new(seen, index):
                keep_name(names, index, begin - base, end - base)
            values[place], indices[place] = x, index
            k += 1
        else:
            space, scale = (h if end > begin else space), x
        i = after_blanks(i)
    return i, k, 0


@inlined
def vw_name(i, stop, space, is_space):
    """Hash the name or namespace at i; return where it ends. Digits alone are a column number."""
    m, end = digits(i, NOTHING)
    if NAME_ENDS[byte(end)] and 0 < end - i <= DIGITS and not is_space:
        return space + np.uint64(m), end
    while not NAME_ENDS[byte(end)]:
        end += 1
    return hash_bytes(i, end, stop, space), end


@inlined
def vw_value(i, scale, single):
    """Parse the value after a colon at i, else 1; return it times scale, its end, and an error."""
    if byte(i) != COLON:
        return scale, i, 0 if ends_field(byte(i)) or byte(i) == BAR else NAME
    x, end = number(i + 1, single)
    if end == i + 1 or not (ends_field(byte(end)) or byte(end) == BAR):
        return x, end, VALUE
    x = np.float64(np.float32(x * scale)) if single else x * scale
    if not math.isfinite(x):
        return x, i + 1, VALUE_TOO_LARGE
    return x, end, 0


# Tables as text: cells between delimiters. Within quotation marks, these have no meaning.


MISSING = ["", "?", "-", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>", "#N/A", "NaN", "nan", "NULL"]
MISSING += ["null", "None"]
MISSING_WORDS = np.array([int.from_bytes(word.encode(), "little") for word in MISSING], np.uint64)


@compiled(lambda: [(given(np.uint8), WHOLE, FLAG, vector(np.int64))])
def row_ends(data, delimiter, last, ends):
    """Set where each whole row ends; return the number of rows, and of unclosed quotation marks.

    The row of an unclosed mark ends where its line ends. Nothing follows the ``last`` data.
    """
    i, n, unclosed = address(data), 0, 0
    base, stop = i, i + len(data)
    while i < stop:
        i, is_open = row_end(i, stop, delimiter, last)
        unclosed += is_open
        if i == 0:
            break
        ends[n] = i - base
        n += 1
    return n, unclosed


@inlined
def row_end(i, stop, delimiter, last):
    """Where the row at i ends, 0 if it does not, and whether it has an unclosed quotation mark.

    What seems to close a mark in another line closes it if the cell ends there.
    """
    quoted, may_open, line = False, True, 0  # the second line of a cell begins at ``line``
    while i < stop:
        c = byte(i)
        i += 1
        if not quoted:
            if c == NEWLINE:
                return i, False
            quoted, line = may_open and c == MARKS, 0
            may_open = ends_cell(c, delimiter) or c == RETURN
        elif c == NEWLINE and line == 0:
            line = i
        elif c == MARKS and i < stop:
            after = byte(i)
            if after == MARKS:  # both are part of the cell
                i += 1
            elif line == 0 or ends_cell(after, delimiter) or after == RETURN:
                quoted = False
            else:
                return line, True
    return (line if last else 0), quoted


@inlined
def ends_cell(c, delimiter):
    """Whether a byte ends a cell."""
    return c == delimiter or c == NEWLINE  # `in` takes longer to compile


@inlined
def surrounds(c, delimiter):
    """Whether a byte may surround a number in a cell: a blank or a quotation mark."""
    return (is_blank(c) or c == MARKS) and c != delimiter


@helper
def missing_end(i, delimiter):
    """Where the word at i ends if it stands for a missing number, else -1."""
    end = i
    while not (ends_cell(byte(end), delimiter) or surrounds(byte(end), delimiter)):
        end += 1
    if end - i <= 8 and (end == i or byte(end - 1) != 0):
        word = eight(i, end)
        for missing in MISSING_WORDS:
            if word == missing:
                return end
    return -1

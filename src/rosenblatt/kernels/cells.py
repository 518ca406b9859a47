"""Divide the rows of a table into numbers and words, if all cells are written plainly.

A plain number stands alone, between blanks or between quotation marks; a plain word has no
quotation mark within it. Other rows, and broken ones, are for a slower parser that knows every way
to write a cell.
"""

import math

import numpy as np

from .addresses import (
    MARKS,
    NEWLINE,
    ONES,
    POINT,
    RETURN,
    SPACE,
    UPPER,
    address,
    byte,
    can_read_eight,
    eight_bytes,
    low_zeros,
)
from .compiling import compiled, helper, inlined
from .forms import FLOATS, REAL, WHOLE, given, vector
from .lines import ends_cell, missing_end
from .numbers import LETTER_E, LOWER_CASE, NOTHING, ZERO, digits, is_digit, number

CONTROL = 14  # NUL, tabs and ends of lines are below it
CONTROLS, ALL_MARKS = ONES * np.uint64(CONTROL), ONES * np.uint64(MARKS)
SKIPPED, LABEL_PLACE, NOT_PLAIN = -1, -2, -1
LARGEST = float(np.finfo(np.float64).max)


def forms_of_cells():
    """Numbers of either precision."""
    for kind in FLOATS:
        found = vector(np.float64), vector(kind, 2), vector(np.int32, 3)
        yield given(np.uint8), WHOLE, given(np.int64), REAL, *found


@compiled(forms_of_cells)
def plain_cells(data, delimiter, places, limit, labels, numbers, spans):
    """Parse whole rows; return how many, and how many numbers are missing, which become NaN.

    Cell j is left out if places[j] is SKIPPED, and is the label, a number, if LABEL_PLACE. It is
    column places[j] of the matrix of numbers, or a word where that is beyond its last column; then
    its begin and end are set in ``spans``. The number of rows is NOT_PLAIN if a cell is not plain,
    a number is above the limit, a label has leading zeros, or a row has too few or too many cells.
    """
    i, row, missing = address(data), 0, 0
    base, stop = i, i + len(data)
    if len(data) == 0 or byte(stop - 1) != NEWLINE:
        return NOT_PLAIN, 0
    while i < stop:
        if byte(i) == RETURN and byte(i + 1) == NEWLINE:
            i += 1
        if byte(i) == NEWLINE:  # the row is empty
            i += 1
            continue
        i, gaps = plain_row(i, base, delimiter, places, limit, labels, numbers, spans, row)
        if i == 0:
            return NOT_PLAIN, 0
        row, missing = row + 1, missing + gaps
    return row, missing


@inlined
def plain_row(i, base, delimiter, places, limit, labels, numbers, spans, row):
    """Parse the cells at i; return where the next row begins, or 0, and the missing numbers."""
    single, width, row = numbers.itemsize == 4, numbers.shape[1], np.uint64(row)
    gaps, last = 0, len(places) - 1
    for j in range(last + 1):
        place = places[np.uint64(j)]
        if 0 <= place < width:
            x, end = plain_number(i, delimiter, single)
            if end == 0 or abs(x) > limit:
                return 0, gaps
            gaps += math.isnan(x)
            numbers[row, np.uint64(place)] = x
        elif place == LABEL_PLACE:
            x, end = plain_number(i, delimiter, False)
            if end == 0 or abs(x) > LARGEST or has_leading_zeros(i):
                return 0, gaps
            labels[row] = x
        else:
            begin, end, after = plain_word(i, delimiter)
            if after == 0:
                return 0, gaps
            if place >= width:
                span = np.uint64(place - width)
                spans[row, span, 0], spans[row, span, 1] = begin - base, end - base
            end = after
        if j == last and byte(end) == RETURN:
            end += 1
        if byte(end) != (NEWLINE if j == last else delimiter):
            return 0, gaps
        i = end + 1
    return i, gaps


@inlined
def ends_plain(c, delimiter):
    """Whether a byte ends a cell; a carriage return does before a newline."""
    return ends_cell(c, delimiter) or c == RETURN


@inlined
def plain_number(i, delimiter, single):
    """Parse the number in the cell at i, NaN if missing; also where the cell ends, or 0."""
    x, end = number(i, single)
    if end > i and ends_plain(byte(end), delimiter):
        return x, end
    return surrounded_number(i, delimiter, single)


@helper
def surrounded_number(i, delimiter, single):
    """Parse a number among blanks or quotation marks, or a missing one, as Arrow does."""
    quoted = byte(i) == MARKS
    begin = first = i + 1 if quoted else i
    while byte(first) == SPACE and delimiter != SPACE:
        first += 1
    x, end = number(first, single)
    if end == first:
        x, end = np.nan, missing_end(first, delimiter)
        if end < 0 or first - begin > 1:
            return x, 0
    else:
        while byte(end) == SPACE and delimiter != SPACE:
            end += 1
    if quoted:
        if byte(end) != MARKS:
            return x, 0
        end += 1
    return x, end if ends_plain(byte(end), delimiter) else 0


@inlined
def has_leading_zeros(i):
    """Whether the cell at i is an integer with leading zeros, such as 01."""
    while byte(i) == SPACE or byte(i) == MARKS:
        i += 1
    if byte(i) != ZERO or not is_digit(byte(i + 1)):
        return False
    _, end = digits(i, NOTHING)
    return byte(end) != POINT and byte(end) | LOWER_CASE != LETTER_E


@inlined
def plain_word(i, delimiter):
    """Find the word in the cell at i: its begin, its end, and where the cell ends, or 0."""
    quoted = byte(i) == MARKS
    begin = i + 1 if quoted else i
    end = find_mark(begin, MARKS if quoted else delimiter)
    after = end + 1 if quoted else end
    if quoted != (byte(end) == MARKS) or not ends_plain(byte(after), delimiter):
        after = 0
    return begin, end, after


@inlined
def find_mark(i, mark):
    """The first byte from i on that is the mark, a quotation mark or a control character."""
    marks = ONES * np.uint64(mark)
    while True:
        if can_read_eight(i):
            word = eight_bytes(i)
            found = zero_bytes(word ^ marks) | zero_bytes(word ^ ALL_MARKS)
            found |= (word - CONTROLS) & ~word & UPPER
            if found != 0:
                return i + (low_zeros(found) >> 3)
            i += 8
        else:
            c = byte(i)
            if ends_cell(c, mark) or c == MARKS or c < CONTROL:
                return i
            i += 1


@inlined
def zero_bytes(word):
    """A mask whose lowest bit is in the first byte that is 0, or 0 if there is none."""
    return (word - ONES) & ~word & UPPER


@compiled(
    lambda: [(given(np.uint8), given(np.int32, 3), WHOLE, vector(np.uint8), vector(np.int32))]
)
def copy_words(data, spans, column, letters, offsets):
    """Copy the words of a column of spans one after the other; return whether all are ASCII."""
    base, k, bits = address(data), 0, np.uint8(0)
    offsets[0] = 0
    for row in range(len(spans)):
        i, end = base + spans[row, column, 0], base + spans[row, column, 1]
        while i < end:
            letters[np.uint64(k)] = byte(i)
            bits |= byte(i)
            i, k = i + 1, k + 1
        offsets[row + 1] = k
    return bits < 128

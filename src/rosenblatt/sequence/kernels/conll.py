"""Parse tagged text: one token per line, with empty lines between sentences."""

from typing import NamedTuple

import numpy as np

from ...kernels.addresses import COMMENT, MINUS, NEWLINE, POINT, RETURN, SPACE, TAB
from ...kernels.algebra import larger, smaller
from ...kernels.compiling import compiled, inlined
from ...kernels.forms import FLAG, WHOLE, given, vector

EQUALS = ord("=")
DOCUMENT = np.frombuffer(b"-DOCSTART-", np.uint8)


class TokenLines(NamedTuple):
    """A buffer for tokens: where each wanted field begins and ends, and the end of the line.

    A field that a line lacks begins at -1. ``sentences`` has the number of the token after each
    sentence.
    """

    begins: np.ndarray
    ends: np.ndarray
    line_ends: np.ndarray
    sentences: np.ndarray


NUMBERS, TABLE = vector(np.int64), vector(np.int64, 2)
FOUND = TokenLines(TABLE, TABLE, NUMBERS, NUMBERS)


@inlined
def field_end(data, i, end, tabs):
    """Where the field at i ends."""
    while i < end and data[i] != TAB and (tabs or data[i] != SPACE):
        i += 1
    return i


@inlined
def is_word_of_tree(data, first, end):
    """Whether an id of CoNLL-U belongs to a word: a number without - and point."""
    for i in range(first, end):
        if data[i] == TAB:
            break
        if data[i] == MINUS or data[i] == POINT:
            return False
    return True


@inlined
def is_document(data, first, end):
    """Whether a line marks the start of a document."""
    matching, most = 0, smaller(len(DOCUMENT), end - first)
    while matching < most and data[first + matching] == DOCUMENT[matching]:
        matching += 1
    return matching == len(DOCUMENT)


@inlined
def read_fields(data, first, end, tabs, wanted, out, n):
    """Find the wanted fields of the line from first to end; return its number of fields."""
    count, i = 0, first
    for k in range(len(wanted)):
        out.begins[k, n] = -1
    while i <= end:
        stop = field_end(data, i, end, tabs)
        if tabs or stop > i:
            for k in range(len(wanted)):
                if wanted[k] == count:
                    out.begins[k, n], out.ends[k, n] = i, stop
            count += 1
        i = stop + 1
    return count


@inlined
def is_comment(data, first, end, count, columns):
    """Whether a line is a comment: it has # and other columns than tokens, or # a = b."""
    if data[first] != COMMENT or columns == 0:
        return False
    if count != columns:
        return True
    place, i = 0, first
    while i <= end and place < 3:
        stop = field_end(data, i, end, False)
        if stop > i:
            place += 1
            if place == 3:
                return stop == i + 1 and data[i] == EQUALS
        i = stop + 1
    return False


@compiled(lambda: [(given(np.uint8), FLAG, FLAG, WHOLE, given(np.int64), FOUND)])
def read_token_lines(data, tabs, trees, columns, wanted, out):
    """Find the wanted fields of all token lines.

    ``columns`` is the usual number of fields, to recognize comments before a sentence; 0 for no
    comments. Returns the number of tokens and sentences, the fewest and most fields of a line, and
    the number of the first line with the fewest.
    """
    n = sentences = line = 0
    fewest, most, short_line = 1 << 30, 0, 0
    i, begun, size = 0, 0, len(data)
    while i < size:
        stop = i
        while stop < size and data[stop] != NEWLINE:
            stop += 1
        end = stop - 1 if stop > i and data[stop - 1] == RETURN else stop
        line += 1
        blank = True
        for k in range(i, end):
            if data[k] != SPACE and data[k] != TAB:
                blank = False
                break
        if blank:
            if n > begun:
                out.sentences[sentences] = n
                sentences, begun = sentences + 1, n
        elif trees and data[i] == COMMENT:
            pass
        elif is_word_of_tree(data, i, end) if trees else not is_document(data, i, end):
            count = read_fields(data, i, end, tabs, wanted, out, n)
            if trees or n > begun or not is_comment(data, i, end, count, columns):
                if count < fewest:
                    fewest, short_line = count, line
                most = larger(most, count)
                out.line_ends[n] = end
                n += 1
        i = stop + 1
    if n > begun:
        out.sentences[sentences] = n
        sentences += 1
    return n, sentences, fewest, most, short_line

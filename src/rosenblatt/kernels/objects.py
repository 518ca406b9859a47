"""Flat JSON objects, found in bytes: where each begins and ends."""

from .addresses import COMMA, MARKS, NEWLINE, SPACE
from .compiling import compiled, inlined

OPEN, CLOSE, LIST, ESCAPE = ord("{"), ord("}"), ord("["), ord("\\")
NOT_A_NUMBER, INFINITY = ord("N"), ord("I")


@inlined
def object_end(data, i):
    """Where the object whose brace is at i ends, or -1 if it is not plain."""
    quoted = False
    for j in range(i + 1, len(data)):
        letter = data[j]
        if letter < SPACE or letter == ESCAPE:
            return -1
        if letter == MARKS:
            quoted = not quoted
        elif not quoted:
            if letter == CLOSE:
                return j + 1
            if letter in (OPEN, LIST, NOT_A_NUMBER, INFINITY):
                return -1
    return -1


@compiled
def find_objects(data, separator, begins, ends):
    """Note where objects begin and end; how many there are, or -1 if not all are plain.

    Plain ones have no nesting, escapes or control characters, no NaN and no Infinity, and one
    separator (a comma, or newlines) between them. More than there is room for are not plain either.
    """
    count, i, apart = 0, 0, True
    while i < len(data):
        letter = data[i]
        if letter == OPEN and apart and count < len(begins):
            end = object_end(data, i)
            if end < 0:
                return -1
            begins[count], ends[count] = i, end
            count, i, apart = count + 1, end, False
            continue
        if letter == separator and (not apart or separator == NEWLINE):
            apart = True
        elif letter != SPACE and letter != NEWLINE:
            return -1
        i += 1
    return -1 if separator == COMMA and apart and count else count

"""Bytes, read by their address.

An array that is passed from function to function costs two atomic counts each time, and a signed
index a wrap-around test at each byte. There is no check of an end either: a kernel that reads lines
reads whole lines only, and no search goes past a newline.
"""

import ctypes

import numpy as np

from .compiling import helper, inlined, instruction

NEWLINE, RETURN, TAB, SPACE = ord("\n"), ord("\r"), ord("\t"), ord(" ")
PLUS, MINUS, POINT, COLON, COMMA = ord("+"), ord("-"), ord("."), ord(":"), ord(",")
COMMENT, QUOTE, BAR, MARKS = ord("#"), ord("'"), ord("|"), ord('"')
PAGE = 4096  # bytes that can all be read if one of them can
ONES = np.uint64(0x0101010101010101)
UPPER = np.uint64(0x8080808080808080)


# i is an address.


@instruction
def byte(i):
    """The byte at an address."""
    return ctypes.string_at(int(i), 1)[0]


@instruction
def eight_bytes(i):
    """Eight bytes at an address as a number, the first byte in the lowest bits."""
    return np.uint64(int.from_bytes(ctypes.string_at(int(i), 8), "little"))


@instruction
def low_zeros(word):
    """The number of 0 bits below the lowest bit that is 1."""
    word = int(word) | 1 << 64
    return (word & -word).bit_length() - 1


@instruction
def high_zeros(word):
    """The number of 0 bits above the highest bit that is 1."""
    return 64 - int(word).bit_length()


@inlined
def can_read_eight(i):
    """Whether eight bytes at i lie on one page, so that those after an array may be read."""
    return i & (PAGE - 1) <= PAGE - 8


@inlined
def eight(i, end):
    """Eight bytes at i as a number, with zeros for the bytes from the end on."""
    if i + 8 <= end:
        return eight_bytes(i)
    word = np.uint64(0)
    while end > i:
        end -= 1
        word = word << np.uint64(8) | np.uint64(byte(end))
    return word


@inlined
def address(array):
    """The address of an array."""
    return np.int64(array.ctypes.data)


@inlined
def is_blank(c):
    """Whether a byte is white space within a line."""
    return c == SPACE or (TAB <= c <= RETURN and c != NEWLINE)


@inlined
def ends_field(c):
    """Whether a byte ends a field of a line."""
    return is_blank(c) or c == NEWLINE


@inlined
def after_blanks(i):
    """The address of the first byte from i on that is not blank."""
    while is_blank(byte(i)):
        i += 1
    return i


@inlined
def line_end(i):
    """The address of the first newline from i on."""
    while byte(i) != NEWLINE:
        i += 1
    return i


@helper
def last_line_end(first, stop):
    """The address after the last newline between first and stop, or first."""
    while stop > first and byte(stop - 1) != NEWLINE:
        stop -= 1
    return stop

"""Bytes, read by their address.

An array that is handed from function to function costs two atomic counts each time, and a signed
position in it a wrap-around test at each byte. No end is asked for either: a kernel that reads
lines reads whole ones only, and nothing that it looks for goes past a newline.
"""

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiling import compiled, helper, inlined

NEWLINE, RETURN, TAB, SPACE = ord("\n"), ord("\r"), ord("\t"), ord(" ")
PLUS, MINUS, POINT, COLON, COMMA = ord("+"), ord("-"), ord("."), ord(":"), ord(",")
COMMENT, QUOTE, BAR, MARKS = ord("#"), ord("'"), ord("|"), ord('"')


# i is an address.


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


@inlined
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


@helper
def last_line_end(first, stop):
    """The byte after the last newline of first to stop, or first."""
    while stop > first and byte(stop - 1) != NEWLINE:
        stop -= 1
    return stop

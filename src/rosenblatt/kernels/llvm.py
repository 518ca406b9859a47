"""What the functions with ``@instruction`` beside this file do, as LLVM code; for the compiler."""

import sys

from llvmlite import ir
from numba import types


def byte(context, i):
    """The byte at an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        return builder.load(pointer)

    return types.uint8(types.int64), generate


def eight_bytes(context, i):
    """Eight bytes at an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        word = builder.load(pointer, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(types.int64), generate


def low_zeros(context, word):
    """Count trailing zeros."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


def high_zeros(context, word):
    """Count leading zeros."""

    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


def upper_half(context, a, b):
    """Multiply to 128 bits."""

    def generate(context, builder, signature, arguments):
        a, b = (builder.zext(argument, ir.IntType(128)) for argument in arguments)
        upper = builder.lshr(builder.mul(a, b), ir.IntType(128)(64))
        return builder.trunc(upper, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


def fetch(context, array, k):
    """Prefetch a cache line."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.gep(data, [arguments[1]])
        flag = ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], signature)
        to_read, to_keep, data = flag(0), flag(3), flag(1)
        builder.call(prefetch, [address, to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, k), generate


def in_python(context, first, end, single):
    """Call the function that ``numbers.py`` names to the compiler and to the library."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.DoubleType(), [ir.IntType(64)] * 3)
        function = builder.module.globals.get("rosenblatt_round") or ir.Function(
            builder.module, kind, "rosenblatt_round"
        )
        return builder.call(function, arguments)

    return types.float64(types.int64, types.int64, types.int64), generate

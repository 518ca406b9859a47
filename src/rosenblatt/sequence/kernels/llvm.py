"""Sums of rows, and largest sums per column, as LLVM code with vectors of eight numbers.

Numba compiles short loops over tags without vectors, which is four times slower.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .paths import LANES

AT_ONCE = (6, 3, 1)  # vectors of a row that one pass computes
SIZE, VECTOR = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)


def pointer_to(context, builder, kind, array, place):
    """The address of an element of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [place])


def load_eight(builder, pointer):
    """Load eight numbers from an address."""
    return builder.load(builder.bitcast(pointer, VECTOR.as_pointer()), align=4)


def store_eight(builder, value, pointer):
    """Store eight numbers at an address."""
    builder.store(value, builder.bitcast(pointer, VECTOR.as_pointer()), align=4)


def repeat_eight(builder, number):
    """A vector of the same number eight times."""
    lanes = ir.VectorType(ir.IntType(32), LANES)
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(lanes, [0] * LANES))


def loop_over_vectors(builder, width, start):
    """Loop over a row of ``width`` numbers, as many vectors at once as fit.

    The caller's loop body generates the code for the vectors from a lane on: one variable each,
    which begins as ``start``.
    """
    begin = SIZE(0)
    for vectors in AT_ONCE:  # so that most rows take one pass
        step = SIZE(vectors * LANES)
        variables = [cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)]
        whole = builder.mul(builder.udiv(builder.sub(width, begin), step), step)
        end = builder.add(begin, whole)
        with cgutils.for_range_slice(builder, begin, end, step, SIZE) as (lane, _):
            for variable in variables:
                builder.store(ir.Constant(VECTOR, [start] * LANES), variable)
            yield lane, variables
        begin = end


def add_rows(context, rows, places, features, values, first, last, out, place, width):
    """Set a row to the sum of some rows, times values."""

    def generate(context, builder, signature, arguments):
        weights, places, numbers, factors, first, last, out, place, width = arguments
        kinds = signature.args
        for lane, totals in loop_over_vectors(builder, width, 0.0):
            with cgutils.for_range_slice(builder, first, last, SIZE(1), SIZE) as (k, _):
                number = builder.load(pointer_to(context, builder, kinds[2], numbers, k))
                number = builder.zext(number, SIZE)
                if not isinstance(kinds[1], types.NoneType):
                    at = pointer_to(context, builder, kinds[1], places, number)
                    number = builder.zext(builder.load(at), SIZE)
                row = builder.add(builder.mul(number, width), lane)
                if not isinstance(kinds[3], types.NoneType):
                    factor = builder.load(pointer_to(context, builder, kinds[3], factors, k))
                    factor = repeat_eight(builder, factor)
                for v, total in enumerate(totals):
                    there = builder.add(row, SIZE(v * LANES))
                    at = pointer_to(context, builder, kinds[0], weights, there)
                    eight = load_eight(builder, at)
                    if not isinstance(kinds[3], types.NoneType):
                        eight = builder.fmul(eight, factor)
                    builder.store(builder.fadd(builder.load(total), eight), total)
            for v, total in enumerate(totals):
                there = builder.add(builder.add(place, lane), SIZE(v * LANES))
                at = pointer_to(context, builder, kinds[6], out, there)
                store_eight(builder, builder.load(total), at)
        return context.get_dummy_value()

    size = types.int64
    return types.void(rows, places, features, values, size, size, out, size, size), generate


def max_plus(context, before, start, sources, count, moves, out, place, width):
    """Add the largest sums to a row."""

    def generate(context, builder, signature, arguments):
        before, start, sources, count, moves, out, place, width = arguments
        kinds = signature.args
        for lane, bests in loop_over_vectors(builder, width, float("-inf")):
            with cgutils.for_range_slice(builder, SIZE(0), count, SIZE(1), SIZE) as (k, _):
                source = builder.load(pointer_to(context, builder, kinds[2], sources, k))
                source = builder.zext(source, SIZE)
                from_tag = builder.add(start, source)
                score = builder.load(pointer_to(context, builder, kinds[0], before, from_tag))
                score = repeat_eight(builder, score)
                to_tags = builder.add(builder.mul(source, width), lane)
                for v, best in enumerate(bests):
                    there = builder.add(to_tags, SIZE(v * LANES))
                    at = pointer_to(context, builder, kinds[4], moves, there)
                    path = builder.fadd(score, load_eight(builder, at))
                    known = builder.load(best)
                    larger = builder.fcmp_ordered(">", path, known)
                    builder.store(builder.select(larger, path, known), best)
            for v, best in enumerate(bests):
                there = builder.add(builder.add(place, lane), SIZE(v * LANES))
                at = pointer_to(context, builder, kinds[5], out, there)
                total = builder.fadd(load_eight(builder, at), builder.load(best))
                store_eight(builder, total, at)
        return context.get_dummy_value()

    size = types.int64
    return types.void(before, size, sources, size, moves, out, size, size), generate

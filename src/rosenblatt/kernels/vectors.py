"""Rows of numbers as vectors of eight: their sums, and the best of a sum for each place.

Numba leaves short loops over tags scalar, which is four times slower.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
AT_ONCE = (6, 3, 1)  # vectors of a row that are gone through together


def pointer_to(context, builder, kind, array, place):
    """The address of an element of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [place])


def load_eight(builder, pointer):
    """Eight numbers from an address on."""
    vector = ir.VectorType(ir.FloatType(), LANES).as_pointer()
    return builder.load(builder.bitcast(pointer, vector), align=4)


def store_eight(builder, value, pointer):
    """Write eight numbers from an address on."""
    vector = ir.VectorType(ir.FloatType(), LANES).as_pointer()
    builder.store(value, builder.bitcast(pointer, vector), align=4)


def repeat_eight(builder, number):
    """The same number eight times."""
    vector = ir.VectorType(ir.FloatType(), LANES)
    lanes = ir.VectorType(ir.IntType(32), LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(lanes, [0] * LANES))


@intrinsic
def add_rows(context, rows, places, features, values, first, last, out, place, width):
    """Set a row of ``out`` to the sum of the rows of features first to last, times values.

    ``places`` says which row a feature has, unless that is None.
    """

    def generate(context, builder, signature, arguments):
        weights, places, numbers, factors, first, last, out, place, width = arguments
        kinds = signature.args
        size, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)
        zero = ir.Constant(vector, [0.0] * LANES)
        begin = size(0)
        for vectors in AT_ONCE:  # so that most rows are gone through once
            step = size(vectors * LANES)
            totals = [cgutils.alloca_once(builder, vector) for _ in range(vectors)]
            whole = builder.mul(builder.udiv(builder.sub(width, begin), step), step)
            end = builder.add(begin, whole)
            with cgutils.for_range_slice(builder, begin, end, step, size) as (lane, _):
                for total in totals:
                    builder.store(zero, total)
                with cgutils.for_range_slice(builder, first, last, size(1), size) as (k, _):
                    number = builder.load(pointer_to(context, builder, kinds[2], numbers, k))
                    number = builder.zext(number, size)
                    if not isinstance(kinds[1], types.NoneType):
                        at = pointer_to(context, builder, kinds[1], places, number)
                        number = builder.zext(builder.load(at), size)
                    row = builder.add(builder.mul(number, width), lane)
                    if not isinstance(kinds[3], types.NoneType):
                        factor = builder.load(pointer_to(context, builder, kinds[3], factors, k))
                        factor = repeat_eight(builder, factor)
                    for v, total in enumerate(totals):
                        there = builder.add(row, size(v * LANES))
                        at = pointer_to(context, builder, kinds[0], weights, there)
                        eight = load_eight(builder, at)
                        if not isinstance(kinds[3], types.NoneType):
                            eight = builder.fmul(eight, factor)
                        builder.store(builder.fadd(builder.load(total), eight), total)
                for v, total in enumerate(totals):
                    there = builder.add(builder.add(place, lane), size(v * LANES))
                    at = pointer_to(context, builder, kinds[6], out, there)
                    store_eight(builder, builder.load(total), at)
            begin = end
        return context.get_dummy_value()

    size = types.int64
    return types.void(rows, places, features, values, size, size, out, size, size), generate


@intrinsic
def max_plus(context, before, start, stride, moves, begin, step, count, out, place, width):
    """Add to a row of ``out`` the best of ``before`` plus ``moves``.

    Of ``count`` numbers, from ``start`` on at every ``stride``, each is added to its row of
    ``moves``, from ``begin`` on at every ``step``; for each tag the largest counts.
    """

    def generate(context, builder, signature, arguments):
        before, start, stride, moves, begin, step, count, out, place, width = arguments
        kinds = signature.args
        size, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)
        least, done = ir.Constant(vector, [float("-inf")] * LANES), size(0)
        for vectors in AT_ONCE:
            lanes = size(vectors * LANES)
            bests = [cgutils.alloca_once(builder, vector) for _ in range(vectors)]
            whole = builder.mul(builder.udiv(builder.sub(width, done), lanes), lanes)
            end = builder.add(done, whole)
            with cgutils.for_range_slice(builder, done, end, lanes, size) as (lane, _):
                for best in bests:
                    builder.store(least, best)
                row = builder.add(begin, lane)
                with cgutils.for_range_slice(builder, size(0), count, size(1), size) as (p, _):
                    from_tag = builder.add(start, builder.mul(p, stride))
                    score = builder.load(pointer_to(context, builder, kinds[0], before, from_tag))
                    score = repeat_eight(builder, score)
                    to_tags = builder.add(row, builder.mul(p, step))
                    for v, best in enumerate(bests):
                        there = builder.add(to_tags, size(v * LANES))
                        at = pointer_to(context, builder, kinds[3], moves, there)
                        path = builder.fadd(score, load_eight(builder, at))
                        known = builder.load(best)
                        larger = builder.fcmp_ordered(">", path, known)
                        builder.store(builder.select(larger, path, known), best)
                for v, best in enumerate(bests):
                    there = builder.add(builder.add(place, lane), size(v * LANES))
                    at = pointer_to(context, builder, kinds[7], out, there)
                    total = builder.fadd(load_eight(builder, at), builder.load(best))
                    store_eight(builder, total, at)
            done = end
        return context.get_dummy_value()

    size = types.int64
    known = before, size, size, moves, size, size, size, out, size, size
    return types.void(*known), generate

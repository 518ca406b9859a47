"""Functions whose implementation the class of their first argument chooses, at compile time."""

import inspect

from .compiling import INLINED, NUMBA


def by_kind(default):
    """Let a function have an implementation for a class (a NamedTuple) of its first argument.

    ``@function.of(Kind)`` registers one; other classes have the function's own. Plain Python
    chooses in the same way.
    """
    kinds = {}

    def call(first, *rest):
        return kinds.get(type(first), default)(first, *rest)

    def choose(*given):
        return kinds.get(given[0].instance_class, default)

    def of(*classes):
        return lambda function: kinds.update(dict.fromkeys(classes, function)) or function

    def tell():
        from numba.extending import overload

        overload(call, jit_options=INLINED)(choose)

    call.kinds = kinds
    choose.__signature__, call.of = inspect.signature(default), of
    NUMBA.tell(tell)
    return call

"""The kernels that read text as plain Python, in a memory where every step outside is an error.

A compiled kernel reads by address and does not look at bounds, and a fuzzer cannot see into it. Its
source, run as Python, has neither weakness once three things are replaced: bytes are read from
arrays that were asked for their address, arrays refuse negative numbers, and NumPy makes such.
Only where a kernel asks for eight bytes on one page may it read behind an array.
"""

import inspect
import math
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import numpy as np

from rosenblatt.kernels import addresses, algebra, cells, compiling, lines, numbers, words

REGION = 1 << 20  # addresses between two arrays: a step outside of one never meets another


class Guarded(np.ndarray):
    """An array that does not count from its end when a number is negative."""

    def __getitem__(self, place):
        self.check(place)
        found = super().__getitem__(place)
        return found.view(Guarded) if isinstance(found, np.ndarray) else found

    def __setitem__(self, place, value):
        self.check(place)
        super().__setitem__(place, value)

    def check(self, place):
        """Refuse what compiled code would read or write before the beginning."""
        for number in place if isinstance(place, tuple) else (place,):
            if not isinstance(number, (slice, np.ndarray, type(...))) and number < 0:
                raise IndexError(f"{number} is below the first place")


def guarded(thing):
    """An array, or a tuple of arrays, whose bounds are watched."""
    if isinstance(thing, np.ndarray):
        return np.asarray(thing).view(Guarded)
    if isinstance(thing, tuple):
        return type(thing)(*map(guarded, thing))
    return thing


class Memory:
    """Arrays at made-up addresses."""

    def __init__(self):
        self.arrays, self.allowed = [], None

    def address(self, array):
        """Where an array begins."""
        here = array.ctypes.data, len(array)
        for number, known in enumerate(self.arrays):
            if (known.ctypes.data, len(known)) == here:
                return (number + 1) * REGION
        self.arrays.append(np.asarray(array).view(np.uint8))
        return len(self.arrays) * REGION

    def byte(self, i):
        """The byte at an address, if there is one."""
        number, place = divmod(int(i), REGION)
        if not (0 < number <= len(self.arrays) and place < len(self.arrays[number - 1])):
            raise IndexError(f"a byte outside of every array was read: {number}, {place}")
        return int(self.arrays[number - 1][place])

    def can_read_eight(self, i):
        """Sometimes allow eight bytes, of which those behind an array are digits."""
        self.allowed = int(i) if i % 3 else None
        return self.allowed is not None

    def eight_bytes(self, i):
        """The eight bytes from an address on, the first in the lowest bits."""
        size = len(self.arrays[int(i) // REGION - 1]) - int(i) % REGION
        inside = range(min(size, 8) if i == self.allowed else 8)
        found = [self.byte(i + k) for k in inside] + [ord("7")] * (8 - len(inside))
        return np.uint64(int.from_bytes(found, "little"))


class WatchedNumpy(ModuleType):
    """NumPy, but what it makes is watched, and filled with what nobody wrote."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, size, dtype):
        return guarded(np.full(size, 113, dtype))

    def empty_like(self, array):
        return self.empty(len(array), array.dtype)

    def zeros(self, size, dtype):
        return guarded(np.zeros(size, dtype))


def ldexp(m, q):
    """m·2ᑫ, infinite where Python raises; NumPy takes a plain float for one of any precision."""
    try:
        return np.float64(math.ldexp(m, int(q)))
    except OverflowError:
        return np.float64(math.copysign(math.inf, m))


def interpreted():
    """All of them in one module of plain Python; its memory is forgotten by ``forget()``."""

    def plain(function):
        return function

    module, memory, own = ModuleType("interpreted_kernels"), Memory(), {}
    module.__package__ = "rosenblatt.kernels"
    decorators = dict.fromkeys(("helper", "inlined", "inlined_sum", "instruction"), plain)
    decorators |= {"compiled": lambda forms: plain, "library": None, "NUMBA": compiling.Numba()}
    with patch.multiple("rosenblatt.kernels.compiling", **decorators):
        for source in (algebra, addresses, numbers, words, lines, cells):
            path = Path(inspect.getfile(source))
            exec(compile(path.read_text("utf-8"), path, "exec"), vars(module))
            own |= {
                name: function
                for name, function in vars(module).items()
                if inspect.isfunction(function) and function.__module__ == module.__name__
            }
    vars(module).update(own)  # over those that one file imports from another, which are compiled
    for name, value in list(vars(module).items()):
        if isinstance(value, np.ndarray):
            setattr(module, name, guarded(value))
    module.np = WatchedNumpy("numpy")
    module.math = SimpleNamespace(
        ldexp=ldexp,
        sqrt=np.sqrt,
        log=math.log,
        isnan=math.isnan,
        isinf=math.isinf,
        isfinite=math.isfinite,
    )
    module.forget = memory.arrays.clear
    module.in_python = lambda first, end, single: np.float64(
        numbers.nearest_float(bytes(map(memory.byte, range(first, end))).decode(), single)
    )
    for name in ("address", "byte", "eight_bytes", "can_read_eight"):
        setattr(module, name, getattr(memory, name))
    # The same tuples as the compiled kernels take.
    module.Cursor, module.CSRBuffer = lines.Cursor, words.CSRBuffer
    module.Grams, module.Names = words.Grams, words.Names
    return module

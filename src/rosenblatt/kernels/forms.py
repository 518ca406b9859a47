"""Arguments that stand for their types: the axes of the forms in which kernels are compiled.

Only types matter, so arrays are empty and numbers are any. A form with an array that is read also
serves one that can be written to.
"""

import numpy as np

FLOATS = np.float32, np.float64
WHOLE, BITS, REAL, FLAG = 0, np.uint64(0), 0.0, False


def vector(kind, dimensions=1):
    """An array that a kernel writes to."""
    return np.empty((0,) * dimensions, kind)


def given(kind, dimensions=1):
    """An array that a kernel reads only."""
    array = vector(kind, dimensions)
    array.flags.writeable = False
    return array

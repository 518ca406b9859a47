"""Decorators of compiled functions: kernels of the library of the package, or of Numba.

A wheel has a library of all kernels (build/library.py), and Numba is not needed. Where the library
is absent, as in a checkout, Numba compiles a kernel when it is called for the first time. So it
does for what the library lacks, such as the loop of a rule from another package.

``ROSENBLATT_KERNELS=numba`` leaves the library alone; ``ROSENBLATT_KERNELS=python`` runs all
kernels as plain Python, for a debugger.
"""

import hashlib
import os
import sys
import warnings
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType

PACKAGE = __package__.partition(".")[0]
MODE = os.environ.get("ROSENBLATT_KERNELS", "")
if MODE not in ("", "numba", "python"):
    raise ImportError(f"ROSENBLATT_KERNELS must be numba or python; got {MODE!r}.")
if not MODE:
    with suppress(ModuleNotFoundError):
        resolve_name(f"{__package__}._library:TARGET")
library = sys.modules.get(f"{__package__}._library")
ORIGIN = "Numba compiles kernels when they are called"
if library is not None:
    ORIGIN = f"kernels compiled for {library.TARGET}"
if MODE == "python":  # NumPy warns where hashes wrap around, as they should
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=rf"{__package__}\.")

# Kernels allocate nothing, so they count no references; divisions by 0 are infinite or NaN.
KERNEL = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy", "_nrt": False}
HELPER = {**KERNEL, "no_cpython_wrapper": True}
INLINED = {**HELPER, "forceinline": True}
SUM = {"reassoc", "contract"}  # NaN and infinity keep their meaning

KERNELS = {}
"""All kernels by name: the function, and a function that yields its forms."""
SUMS = set()
"""The names of functions with sums that may be reordered."""


class Numba:
    """Numba, once something is to be compiled here; until then, what it is to be told."""

    def __init__(self):
        self.started, self.waiting = False, []

    def tell(self, action):
        """Call a function when Numba is started."""
        action() if self.started else self.waiting.append(action)

    def start(self):
        """Import Numba, and tell it of all functions that kernels call."""
        if not self.started:
            try:
                import numba  # noqa: F401
            except ModuleNotFoundError:
                message = "To compile a kernel here, `pip install rosenblatt[jit]`."
                raise ModuleNotFoundError(message, name="numba") from None
            self.started = True
            for action in self.waiting:
                action()


NUMBA = Numba()


def helper(function, **options):
    """Compile a function that only compiled functions call; called by Python, it runs as Python."""

    def tell():
        from numba import njit, types

        function.compiled = njit(**{**HELPER, **options})(function)  # types refer to it weakly
        function._numba_type_ = types.Dispatcher(function.compiled)

    NUMBA.tell(tell)
    return function


def inlined(function):
    """Compile a function into its callers: for work on each byte, number or row."""
    return helper(function, forceinline=True)


def inlined_sum(function):
    """Compile a function into its callers, with sums that may be reordered for vector units."""
    SUMS.add(function.__name__)
    return helper(function, forceinline=True, fastmath=SUM)


def instruction(function):
    """A function of which ``llvm.py``, beside its file, generates the compiled code."""

    def tell():
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        package = function.__module__.rpartition(".")[0]
        function.compiled = intrinsic(resolve_name(f"{package}.llvm:{function.__name__}"))
        context = cpu_target.typing_context
        context.refresh()
        function._numba_type_ = context.resolve_value_type(function.compiled)

    NUMBA.tell(tell)
    return function


def compiled(forms):
    """Compile a function that Python calls; it releases the GIL.

    ``forms`` yields arguments, one tuple for each combination of types that the package passes.
    The library has a compiled form for each.
    """

    def decorate(function):
        name = f"{function.__module__.partition('.')[2]}.{function.__name__}"
        KERNELS[name] = function, forms
        if MODE == "python":
            return function
        if library is None:
            return compile_here(function)
        return library.kernel(name, partial(call_unknown, function))

    return decorate


def call_unknown(function, *arguments):
    """Call a kernel for types that the library has no form for: Numba compiles one, if it can."""
    try:
        kernel = compile_here(function)
    except ModuleNotFoundError:
        given = ", ".join(map(describe, arguments))
        raise TypeError(
            f"{function.__name__} is not compiled for ({given}); `pip install rosenblatt[jit]` "
            "installs Numba, which can compile it."
        ) from None
    return kernel(*arguments)


def describe(argument):
    """The type of an argument of a kernel, for a message."""
    if isinstance(argument, tuple):
        return f"{type(argument).__name__}({', '.join(map(describe, argument))})"
    if hasattr(argument, "dtype"):
        gaps = "" if argument.flags.c_contiguous else " with gaps"
        return f"{argument.dtype}[{argument.ndim}]{gaps}"
    return type(argument).__name__


@cache
def compile_here(function, *kinds):
    """Compile a kernel with Numba when it is called, for classes of other packages too.

    The result is kept on disk, unless no folder is writable.
    """
    NUMBA.start()
    from numba import njit

    for kind in kinds:  # a copy of another name, so that its code on disk has another name, too
        name = f"{function.__name__}_{kind.__module__}_{kind.__name__}".replace(".", "_")
        copy = FunctionType(function.__code__, function.__globals__, name)
        copy.__module__, copy.__qualname__ = function.__module__, name
        function = copy
    try:
        kernel = njit(cache=True, **KERNEL)(function)
    except RuntimeError:
        return njit(**KERNEL)(function)
    with suppress(AttributeError):  # a name that is private to Numba: then its own stamp remains
        kernel._cache._cache_file._source_stamp = stamp_sources(kinds)
    return kernel


def list_sources():
    """All files with kernels."""
    root = Path(__file__).parents[1]
    found = [*root.glob("kernels/*.py"), *root.glob("*/kernels/*.py"), *root.glob("*/kernels.py")]
    return sorted(found)


@cache
def stamp_sources(kinds):
    """Hash all files with kernels, and those of some classes: code on disk contains helpers."""
    files = [getattr(sys.modules[kind.__module__], "__file__", None) for kind in kinds]
    digest = hashlib.sha256()
    for path in [*list_sources(), *map(Path, filter(None, files))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()

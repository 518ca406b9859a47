"""The one place that makes compiled functions, kept on disk until any compiled file changes."""

import hashlib
import logging
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from numba import njit
from numba.core import event
from numba.core.options import DefaultOptions

BLAS = "scipy.linalg.cython_blas"


def load_without_blas():
    """Load what Numba needs for arrays, but not SciPy, which it would only look for BLAS in.

    That takes a quarter of a command's start, and no kernel here needs it. Where SciPy is loaded
    anyway, nothing changes.
    """
    if "scipy.linalg" in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[BLAS] = None  # not to be found
    try:
        import_module("numba.np.arraymath")
    except ImportError:
        pass  # another Numba, which loads it when it wants to
    finally:
        del sys.modules[BLAS]


load_without_blas()


def sources_stamp():
    """A hash of every file of this folder."""
    stamp = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        stamp.update(path.read_bytes())
    return stamp.hexdigest()


STAMP = sources_stamp()


def stamped(function):
    """Have Numba's disk cache watch all compiled files, not only the one of the function.

    Else a kernel from before would still call the helper from before after an update of this
    package. These names are private to Numba: where they are gone, its own stamp remains.
    """
    try:
        kept = function._cache._cache_file
        kept._source_stamp = kept._source_stamp, STAMP
    except AttributeError:
        pass
    return function


KERNEL = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
HELPER = {**KERNEL, "no_cpython_wrapper": True}  # half of what a small one takes to compile
if hasattr(DefaultOptions, "_nrt"):
    HELPER["_nrt"] = False  # keeps no array, so it need not count who does: two atomic steps each
SUM = {"reassoc", "contract"}  # NaN and infinity keep their meaning


def compiled(function):
    """A compiled function that Python calls; it lets other threads run."""
    return stamped(njit(**KERNEL)(function))


def helper(function):
    """One that only compiled functions call."""
    return stamped(njit(**HELPER)(function))


def inlined(function):
    """One that becomes a part of those that call it: what runs for each byte, number or row."""
    return stamped(njit(**HELPER, forceinline=True)(function))


def inlined_sum(function):
    """One whose sums may be reordered and fused, as the vector units need."""
    return stamped(njit(**HELPER, forceinline=True, fastmath=SUM)(function))


class CompilationNotice(event.Listener):
    """Says once, when a kernel of this package is not in the disk cache, why the user waits."""

    def __init__(self):
        self.said, self.tell = False, self.say

    def on_start(self, event):
        """Tell what is being compiled."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith(__package__):
            self.tell(function.__name__)

    def on_end(self, event):
        """Nothing to say when it is over."""

    def say(self, kernel):
        """Say it, the first time."""
        if not self.said:
            self.said = True
            logging.getLogger(__package__.partition(".")[0]).warning(
                "Rosenblatt compiles %s and what else this needs; that takes some seconds, once. "
                "The command `rosenblatt warm-up` compiles all beforehand.",
                kernel,
            )

    @contextmanager
    def told_to(self, listener):
        """Let somebody else hear the names of what is compiled."""
        self.tell = listener
        try:
            yield
        finally:
            self.tell = self.say


NOTICE = CompilationNotice()
event.register("numba:compile", NOTICE)

"""The one place that makes compiled functions, kept on disk until any compiled file changes."""

import hashlib
import logging
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from numba import config, njit
from numba.core import event
from numba.core.options import DefaultOptions
from numba.core.runtime import rtsys

BLAS = "scipy.linalg.cython_blas"


def hide_blas():
    """Let Numba not find BLAS, for which it would load SciPy; tell whether it is hidden now.

    That takes a quarter of a command's start, and no kernel here needs it. Where SciPy is loaded
    anyway, nothing changes.
    """
    if "scipy.linalg" in sys.modules or "numba.np.arraymath" in sys.modules:
        return False
    sys.modules[BLAS] = None
    return True


def sources_stamp():
    """A hash of every file of this folder."""
    stamp = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        stamp.update(path.read_bytes())
    return stamp.hexdigest()


STAMP = sources_stamp()


def load_kernel(cache, signature, target):
    """A kernel from the disk, or None, without all that only the compiler needs.

    Numba would first load every function that it can compile: a third of a command's start.
    """
    hidden = hide_blas()
    try:
        with cache._guard_against_spurious_io_errors():
            rtsys.initialize(target)  # what kernels allocate memory with
            kernel = cache._load_overload(signature, target)
            if kernel is None:
                target.refresh()
            return kernel
    finally:
        if hidden:
            del sys.modules[BLAS]


def stamped(function):
    """Have Numba's disk cache watch all compiled files, not only the one of the function.

    Else a kernel from before would still call the helper from before after an update of this
    package. These names are private to Numba: where they are gone, its own ways remain.
    """
    if config.DISABLE_JIT:  # for debuggers: kernels are plain functions
        function.py_func = function
        return function
    try:
        cache = function._cache
        cache._cache_file._source_stamp = cache._cache_file._source_stamp, STAMP
        if callable(cache._load_overload) and callable(cache._guard_against_spurious_io_errors):
            cache.load_overload = partial(load_kernel, cache)
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


COMPILING = "Rosenblatt is compiling code for this computer, which takes some seconds."
OFFER = (
    " The result is kept for the next time. To compile everything in advance, run"
    " `rosenblatt warm-up` once."
)


class CompilationNotice(event.Listener):
    """Logs once a process, when a kernel is not in the disk cache, why the user waits.

    The first one for a cache folder also offers ``warm-up``.
    """

    def __init__(self):
        self.said, self.tell = False, None

    def on_start(self, event):
        """Report that something is being compiled."""
        dispatcher = event.data["dispatcher"]
        if not dispatcher.py_func.__module__.startswith(__package__):
            return
        if self.tell is not None:
            self.tell(dispatcher.py_func.__name__)
        elif not self.said:
            self.said = True
            offer = is_first_offer(dispatcher)
            logging.getLogger(__package__.partition(".")[0]).warning(
                "%s%s", COMPILING, OFFER if offer else ""
            )

    def on_end(self, event):
        """Nothing to say when it is over."""

    @contextmanager
    def told_to(self, listener):
        """Pass the names of the kernels that are compiled to a function, and log nothing."""
        self.tell = listener
        try:
            yield
        finally:
            self.tell = None


def is_first_offer(dispatcher):
    """Whether no process has offered ``warm-up`` for this cache folder; remembered there."""
    try:
        folder = Path(dispatcher._cache.cache_path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rosenblatt-warm-up-offered").touch(exist_ok=False)
    except FileExistsError:
        return False
    except (AttributeError, OSError):  # Numba has changed, or the folder cannot be written to
        pass
    return True


NOTICE = CompilationNotice()
event.register("numba:compile", NOTICE)

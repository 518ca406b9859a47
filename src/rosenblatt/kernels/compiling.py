"""Decorators that compile functions with Numba; results stay on disk until their sources change."""

import hashlib
import logging
import re
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import FunctionType

from numba import config, njit
from numba.core import event
from numba.core.options import DefaultOptions
from numba.core.runtime import rtsys
from numba.extending import intrinsic

from .clock import TIMER

BLAS = {"scipy", "scipy.linalg", "scipy.linalg.cython_blas"}
IMPORT = re.compile(rb"^ *from (\.+)([\w.]+) import", re.MULTILINE)


class BlasHider:
    """Fails the imports of SciPy's BLAS by the thread that made it; other threads can import it."""

    def __init__(self):
        self.thread = threading.get_ident()

    def find_spec(self, name, path=None, target=None):
        """Raise ImportError, or leave a module to the usual finders."""
        if name in BLAS and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def hide_blas():
    """Keep Numba from loading SciPy for its BLAS.

    Loading takes a quarter of a command's start, and no kernel needs BLAS. Where SciPy is loaded
    already, nothing changes.
    """
    if "scipy.linalg" in sys.modules or "numba.np.arraymath" in sys.modules:
        yield
        return
    hider = BlasHider()
    sys.meta_path.insert(0, hider)
    try:
        yield
    finally:
        sys.meta_path.remove(hider)


@cache
def hash_module(path):
    """Hash a kernel file together with the kernel files that it imports."""
    source = path.read_bytes()
    stamp = hashlib.sha256(source)
    for dots, name in IMPORT.findall(source):
        imported = path.parents[len(dots) - 1].joinpath(*name.decode().split("."))
        stamp.update(hash_module(imported.with_suffix(".py")).encode())
    return stamp.hexdigest()


def load_kernel(kept, signature, target):
    """Load a kernel from the disk cache, or return None, without loading the compiler.

    Numba would first load every function that it can compile: a third of a command's start.
    """
    with hide_blas(), TIMER.load(), kept._guard_against_spurious_io_errors():
        rtsys.initialize(target)  # kernels allocate memory with it
        kernel = load_whole(kept, signature, target)
        if kernel is None:
            target.refresh()
        return kernel


def load_whole(kept, signature, target):
    """Load a kernel, or return None; damaged files, as a full disk leaves them, are forgotten."""
    try:
        return kept._load_overload(signature, target)
    except OSError:
        raise  # Numba knows what to do
    except Exception:
        Path(kept._cache_file._index_path).unlink(missing_ok=True)
        return None


def show_plain(function):
    """Give a function that is not compiled, for debuggers, the attribute of a compiled one."""
    if config.DISABLE_JIT:
        function.py_func = function
    return function


def stamp_cache(function):
    """Make Numba's disk cache depend on the text of a kernel file and of those that it imports.

    Otherwise a cached kernel would still contain an old helper after an update of this package, and
    a copy of the package, whose files have other times, would be compiled again.
    These names are private to Numba; where they are missing, Numba's own stamp remains.
    """
    if config.DISABLE_JIT:
        return show_plain(function)
    try:
        kept = function._cache
        stamp = hash_module(Path(function.py_func.__code__.co_filename))
        kept._cache_file._source_stamp = stamp
        if callable(kept._load_overload) and callable(kept._guard_against_spurious_io_errors):
            kept.load_overload = partial(load_kernel, kept)
    except AttributeError:
        pass
    return function


KERNEL = {"nogil": True, "no_cfunc_wrapper": True}
if hasattr(DefaultOptions, "_nrt"):
    KERNEL["_nrt"] = False  # kernels allocate nothing, and count no references
HELPER = {**KERNEL, "no_cpython_wrapper": True}
with suppress(ImportError):  # of names that are private to Numba: then its own compiler remains
    from .linking import LinkedCompiler

    HELPER["pipeline_class"] = LinkedCompiler
SUM = {"reassoc", "contract"}  # NaN and infinity keep their meaning
if config.DISABLE_JIT:  # NumPy warns where hashes wrap around, as they should
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=rf"{__package__}\.")


def compiled(function, **options):
    """Compile a function that Python calls, when it is first called; it releases the GIL.

    The result is kept on disk, unless no folder is writable.
    """
    try:
        return stamp_cache(njit(cache=True, **KERNEL, **options)(function))
    except RuntimeError:
        return njit(**KERNEL, **options)(function)


def compile_copy(function, kind):
    """Compile a function for a class, on whose file its code on disk depends, too.

    The class may be that of another package.
    """
    name = f"{function.__name__}_{kind.__module__.replace('.', '_')}_{kind.__name__}"
    copy = FunctionType(function.__code__, function.__globals__, name)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, name, function.__doc__
    kernel = compiled(copy)
    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp"):
        own = getattr(sys.modules.get(kind.__module__), "__file__", None)
        sources = [*sorted(Path(__file__).parent.glob("*.py")), *([Path(own)] if own else [])]
        together = b"".join(source.read_bytes() for source in sources)
        kept._source_stamp = hashlib.sha256(together).hexdigest()
    return kernel


def run_plain(function):
    """Let calls from Python run the plain function, which has no machine code of its own.

    These names are private to Numba, which calls what ``_compile_for_args`` returns unless
    ``_insert`` was given compiled code for the types of the arguments.
    """
    if not config.DISABLE_JIT:
        function._insert = lambda *overload: None
        function._compile_for_args = lambda *args, **keywords: function.py_func
    return function


def helper(function, **options):
    """Compile a function that only compiled functions call; called by Python, it runs as Python."""
    return run_plain(show_plain(njit(**HELPER, **options)(function)))


def inlined(function):
    """Compile a function into its callers: for work on each byte, number or row."""
    return helper(function, forceinline=True)


def inlined_sum(function):
    """Compile a function into its callers, with sums that may be reordered for vector units."""
    return helper(function, forceinline=True, fastmath=SUM)


def instruction(plain):
    """Generate LLVM code for what Numba lacks; ``plain`` does the same without a compiler."""
    return (lambda generator: plain) if config.DISABLE_JIT else intrinsic


def stays_on_disk(kernel: object) -> bool:
    """Whether the compiled code of a kernel is kept: a folder is writable, and Numba compiles."""
    return getattr(getattr(kernel, "_cache", None), "cache_path", None) is not None


COMPILING = "Rosenblatt is compiling code for this computer, which takes some seconds."
OFFER = (
    " The result is kept for the next time. To compile everything in advance, run"
    " `python -m rosenblatt.shell.warm` once."
)


class CompilationNotice(event.Listener):
    """Logs once per process that kernels are being compiled, which makes the user wait.

    The first notice for a cache folder also mentions ``warm-up``.
    """

    def __init__(self):
        self.logged, self.report = False, None

    def on_start(self, event):
        """Report that a kernel is being compiled."""
        dispatcher = event.data["dispatcher"]
        if not dispatcher.py_func.__module__.startswith(__package__.partition(".")[0]):
            return
        if self.report is not None:
            self.report(dispatcher.py_func.__name__)
        elif not self.logged:
            self.logged = True
            offer = is_first_offer(dispatcher)
            logging.getLogger(__package__.partition(".")[0]).warning(
                "%s%s", COMPILING, OFFER if offer else ""
            )

    def on_end(self, event):
        """Report nothing when a compilation ends."""

    @contextmanager
    def report_to(self, function):
        """Call a function with the name of each kernel that is compiled, and log nothing."""
        self.report = function
        try:
            yield
        finally:
            self.report = None


def is_first_offer(dispatcher):
    """Return whether no process has mentioned ``warm-up`` for this cache folder; mark it there."""
    try:
        folder = Path(dispatcher._cache.cache_path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rosenblatt-warm-up-offered").touch(exist_ok=False)
    except (AttributeError, OSError, TypeError):  # it was mentioned, or nothing can be kept
        return False
    return True


NOTICE = CompilationNotice()
event.register("numba:compile", NOTICE)

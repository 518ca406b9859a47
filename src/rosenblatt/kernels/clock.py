"""A clock that stands still while kernels are compiled, so that speeds are those of later runs."""

import time
from contextlib import contextmanager

from numba.core import event


class CompilationTimer(event.Listener):
    """Adds up the seconds in which at least one kernel is being compiled, or loaded from disk."""

    def __init__(self):
        self.depth, self.total, self.since = 0, 0.0, 0.0

    def on_start(self, event=None):
        """Start the clock at the outermost compilation."""
        if not self.depth:
            self.since = time.perf_counter()
        self.depth += 1

    def on_end(self, event=None):
        """Add the time of the outermost compilation."""
        self.depth -= 1
        if not self.depth:
            self.total += time.perf_counter() - self.since

    @contextmanager
    def load(self):
        """Count the time of loading a kernel, and with the first one the compiler."""
        self.on_start()
        try:
            yield
        finally:
            self.on_end()

    def seconds(self) -> float:
        """Return the seconds of compiling so far in this process."""
        return self.total + (time.perf_counter() - self.since if self.depth else 0.0)


TIMER = CompilationTimer()
event.register("numba:compile", TIMER)

"""The time of compiling is counted once, however compilations nest."""

import time

import numpy as np
import pytest
from numba import config, njit

from rosenblatt.kernels.clock import TIMER, CompilationTimer


def test_nested_compilations_count_once(monkeypatch):
    timer, now = CompilationTimer(), [10.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    timer.on_start(None)
    now[0] += 2
    timer.on_start(None)
    now[0] += 3
    assert timer.seconds() == 5
    timer.on_end(None)
    now[0] += 1
    timer.on_end(None)
    now[0] += 100
    assert timer.seconds() == 6


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_numba_tells_the_clock():
    before = TIMER.seconds()
    njit(lambda x: x + 1)(np.float32(1.0))
    assert TIMER.seconds() > before

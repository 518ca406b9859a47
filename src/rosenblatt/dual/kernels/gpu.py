"""The dual perceptron on a GPU: the same updates as ``cpu.py``, and votes.

A thread block has one problem. Its rows are divided among the threads, which synchronize to find
the next mistake, and after the owner of that row has logged it.
"""

import math
from contextlib import nullcontext, suppress
from unittest import mock

import numpy as np
from numba import config, cuda, int32

from .cpu import best_after as best_after_on_cpu, measure as measure_on_cpu

# The array functions of numba-cuda, which the compiler needs: up to version 0.30.4 they ask for
# ``row_stack``, which NumPy 2.5 no longer has. The GPU code that comes with Numba lacks the module.
stack = mock.patch.object(np, "row_stack", lambda arrays: np.vstack(arrays), create=True)
with suppress(ImportError), nullcontext() if hasattr(np, "row_stack") else stack:
    import numba.cuda.np.arrayobj  # noqa: F401

SIMULATED = bool(config.ENABLE_CUDASIM)
THREADS = 4 if SIMULATED else 1024
NONE = 2**31 - 1
measure = cuda.jit(device=True)(measure_on_cpu)
best_after = cuda.jit(device=True)(best_after_on_cpu)


@cuda.jit(device=True)
def next_mistake(firsts, turn, found):
    """The first row that any thread found wrong in this turn, or NONE.

    There are three places, so that clearing one needs no synchronization: between two barriers, no
    thread reads or writes the place of the next turn.
    """
    if cuda.threadIdx.x == 0:
        firsts[(turn + 1) % 3] = NONE
    if found < firsts[turn % 3]:
        cuda.atomic.min(firsts, turn % 3, found)
    cuda.syncthreads()
    return firsts[turn % 3]


@cuda.jit
def replay(problems, values, steps, labels, scores, b, above, below, bias_step, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy; a rival loses as much.

    The log has a line for each field of ``device.LOGGED``; its first number is that of updates.
    """
    p, me = problems[cuda.blockIdx.x], cuda.threadIdx.x
    firsts = cuda.shared.array(3, int32)
    moved = cuda.shared.array(2, int32)  # the simulator identifies arrays by their lines
    if me < 3:
        firsts[me] = NONE
    cuda.syncthreads()
    t, updates, step = -1, 0, 0.0
    while True:
        found = NONE
        for u in range(me, scores.shape[1], cuda.blockDim.x):
            if t >= 0:
                scores[moved[0], u] += step * values[t, u]
                if moved[1] != moved[0]:
                    scores[moved[1], u] -= step * values[t, u]
            if u > t and found == NONE:
                margin, y, rival = measure(scores, b, p, u, steps[p, u], labels)
                if not margin > (above if steps[p, u] > 0 else -below) or math.isinf(margin):
                    found = u
        t = next_mistake(firsts, updates, found)
        if t == NONE:
            break
        updates += 1
        step = steps[p, t]
        if t % cuda.blockDim.x == me:  # the owner of these scores
            margin, y, rival = measure(scores, b, p, t, step, labels)
            log[p, 0, updates], log[p, 1, updates], log[p, 2, updates] = t, y, rival
            log[p, 3, updates], log[p, 4, updates] = margin, step
            moved[0], moved[1] = y, rival
            b[y] += step * bias_step
            if rival != y:
                b[rival] -= step * bias_step
        cuda.syncthreads()
    if me == 0:
        log[p, 0, 0] = updates


@cuda.jit
def vote(
    values, places, steps, bias_steps, labels, rivals, lasted, sign_of_zero, scores, best, out
):
    """Before each update, let the weights vote as often as they lasted; one thread per row."""
    u = cuda.grid(1)
    if u >= values.shape[1]:
        return
    for k in range(len(places)):
        y, rival, votes = labels[k], rivals[k], lasted[k]
        change = steps[k] * (values[places[k], u] + bias_steps[k])
        if rival == y:
            a = scores[y, u]
            out[y, u] += votes if a > 0.0 else (-votes if a < 0.0 else votes * sign_of_zero)
            scores[y, u] += change
        else:
            out[best[u], u] += votes
            scores[y, u] += change
            scores[rival, u] -= change
            best[u] = best_after(scores, best[u], y, rival, u)

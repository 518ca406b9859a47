"""The dual perceptron on a GPU: the same updates as ``cpu.py``, and votes.

A thread block has one problem. Its rows are divided among the threads; only the owner changes the
score of a row, so that threads synchronize only to find the next mistake.
"""

import math

import numpy as np
from numba import config, cuda, float64, int32


def load_array_functions():
    """Load the array functions of numba-cuda, which the compiler needs.

    Up to version 0.30.4 they need ``row_stack``, which NumPy 2.5 no longer has.
    """
    lacking = not hasattr(np, "row_stack")
    if lacking:
        np.row_stack = lambda arrays: np.vstack(arrays)
    try:
        import numba.cuda.np.arrayobj  # noqa: F401
    except ImportError:  # the GPU code that comes with Numba, which has no such module
        pass
    finally:
        if lacking:
            del np.row_stack


load_array_functions()

SIMULATED = bool(config.ENABLE_CUDASIM)
THREADS = 4 if SIMULATED else 1024
NONE = 2**31 - 1


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


@cuda.jit(device=True)
def clear(firsts):
    """Start without a mistake."""
    if cuda.threadIdx.x < 3:
        firsts[cuda.threadIdx.x] = NONE
    cuda.syncthreads()


# What a replay writes: one line of each of these per problem. The first number is the number of
# updates; of the margins, it is the bias afterwards.
POSITION, MARGIN, OWN, RIVAL = range(4)
LINES = 4


@cuda.jit
def replay_each(problems, values, steps, scores, b, above, below, bias_step, log):
    """On every mistake of a problem, f += ηyK(x, ·) and b += ηy."""
    p, me = problems[cuda.blockIdx.x], cuda.threadIdx.x
    firsts = cuda.shared.array(3, int32)
    clear(firsts)
    bias, step, t, updates = b[p], 0.0, -1, 0
    while True:
        found = NONE
        for u in range(me, scores.shape[1], cuda.blockDim.x):
            if t >= 0:
                scores[p, u] += step * values[t, u]
            if u > t and found == NONE:
                a = scores[p, u] + bias
                right = a > above if steps[p, u] > 0 else a < below
                if not right or math.isinf(a):
                    found = u
        t = next_mistake(firsts, updates, found)
        if t == NONE:
            break
        step = steps[p, t]
        updates += 1
        if t % cuda.blockDim.x == me:  # the owner of these scores
            a = scores[p, t] + bias
            log[p, POSITION, updates] = t
            log[p, MARGIN, updates] = a if step > 0 else -a
            log[p, OWN, updates] = values[t, t]
        bias += step * bias_step
    if me == 0:
        b[p] = log[p, MARGIN, 0] = bias
        log[p, POSITION, 0] = updates


@cuda.jit(device=True)
def best_rival(scores, b, u, y):
    """The best class of row u other than y; of equals, the first."""
    best = 0 if y else 1
    for c in range(best + 1, len(b)):
        if c != y and scores[c, u] + b[c] > scores[best, u] + b[best]:
            best = c
    return best


@cuda.jit
def replay_all(values, steps, labels, scores, b, above, bias_step, log):
    """Add ηK(x, ·) to the right class and subtract it from its best rival; one log for all."""
    me = cuda.threadIdx.x
    firsts = cuda.shared.array(3, int32)
    chosen = cuda.shared.array(1, int32)  # the simulator identifies arrays by their lines
    clear(firsts)
    t, updates = -1, 0
    while True:
        found = NONE
        for u in range(me, scores.shape[1], cuda.blockDim.x):
            if t >= 0:
                change = steps[t] * values[t, u]
                scores[labels[t], u] += change
                scores[chosen[0], u] -= change
            if u > t and found == NONE:
                rival = best_rival(scores, b, u, labels[u])
                lead = scores[labels[u], u] + b[labels[u]] - (scores[rival, u] + b[rival])
                if not lead > above or math.isinf(lead):
                    found = u
        t = next_mistake(firsts, updates, found)
        if t == NONE:
            break
        updates += 1
        if t % cuda.blockDim.x == me:
            y = labels[t]
            rival = best_rival(scores, b, t, y)
            log[0, POSITION, updates], log[0, RIVAL, updates] = t, rival
            log[0, MARGIN, updates] = scores[y, t] + b[y] - (scores[rival, t] + b[rival])
            log[0, OWN, updates] = values[t, t]
            b[y] += steps[t] * bias_step
            b[rival] -= steps[t] * bias_step
            chosen[0] = rival
        cuda.syncthreads()
    if me == 0:
        log[0, POSITION, 0] = updates
    for c in range(me, len(b), cuda.blockDim.x):
        log[c, MARGIN, 0] = b[c]


@cuda.jit
def votes_each(values, places, steps, bias_steps, survived, sign_of_zero, out):
    """Sum the sign of each function on a row, times the rows it survived; one thread per row."""
    u = cuda.grid(1)
    if u >= values.shape[1]:
        return
    a = float64(0.0)
    votes = survived[0] * sign_of_zero
    for k in range(len(places)):
        a += steps[k] * (values[places[k], u] + bias_steps[k])
        sign = sign_of_zero
        if a > 0:
            sign = 1.0
        elif a < 0:
            sign = -1.0
        votes += survived[k + 1] * sign
    out[u] = votes


@cuda.jit
def votes_all(values, places, steps, bias_steps, labels, rivals, survived, scores, out):
    """Count for each function's best class on a row the rows it survived; ``scores`` begin as 0."""
    u = cuda.grid(1)
    if u >= values.shape[1]:
        return
    out[u, 0] = survived[0]
    for k in range(len(places)):
        change = steps[k] * (values[places[k], u] + bias_steps[k])
        scores[labels[k], u] += change
        scores[rivals[k], u] -= change
        best = 0
        for c in range(1, len(scores)):
            if scores[c, u] > scores[best, u]:
                best = c
        out[u, best] += survived[k + 1]

"""The dual form on a GPU: the same updates, block by block, and the same scores."""

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ...data.rows import Array, to_dense
from ...kernels.linear import UPDATE, Updates
from .forms import Block
from .gram import Gram, dense, scores_overflow
from .moves import NO_MOVES, Moves
from .state import DualState
from .unbounded import GrowingTask, Support, stacked

if TYPE_CHECKING:
    from types import ModuleType

ROWS_AT_ONCE = 6144  # of a block, whose own kernel values are all computed
FEW = 257  # numbers of a line of updates, which are fetched without asking how many there are
SUPPORT_AT_ONCE = 16_384  # of a product of matrices
SENDERS, CHUNK = range(8), 8 << 20  # threads that copy rows for the card, and bytes at a time
SHARE = 0.5  # of the free memory of a card may be the rows; else they are sent block by block


def is_on_gpu(X: Any) -> bool:
    """Whether an array lives on a GPU."""
    if hasattr(X, "__cuda_array_interface__"):
        return True
    device = getattr(X, "__dlpack_device__", None)
    return device is not None and not isinstance(X, np.ndarray) and int(device()[0]) == 2


def like(support: Any, X: Any) -> Any:
    """X in the layout of the support, dense or sparse; on a GPU all is dense."""
    if hasattr(support, "indptr") == hasattr(X, "indptr") or is_on_gpu(X):
        return X
    return csr_array(X) if hasattr(support, "indptr") else X.toarray()


@cache
def arrays() -> "ModuleType":
    """CuPy, or where Numba simulates a GPU, NumPy."""
    from ...kernels import gpu

    if gpu.SIMULATED:
        return np
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise RuntimeError(
            'device="cuda" needs an NVIDIA GPU with its driver, CuPy and numba-cuda '
            "(pip install 'rosenblatt[gpu]'); leave device out to learn on the CPU."
        ) from error
    module: ModuleType = cupy
    return module


def to_gpu(X: Any) -> Any:
    """An array on the GPU; without a copy if it is there already."""
    xp = arrays()
    if is_on_gpu(X) and not hasattr(X, "__cuda_array_interface__"):
        return xp.from_dlpack(X)
    return xp.asarray(X)


def check_on_gpu(X: Any, model: Any, dtype: Any) -> Any:
    """X on the GPU as a matrix of floats, with the columns that a model knows or is to know.

    Parameters
    ----------
    X
        An array that lives there.
    model
        An estimator.
    dtype
        Of its support, or None if it begins anew.
    """
    X = to_gpu(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a matrix of rows and columns; it has shape {X.shape}.")
    if dtype is None:
        model.n_features_in_ = X.shape[1]
        model.__dict__.pop("feature_names_in_", None)
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    elif X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    return X.astype(dtype, order="C", copy=False)


def on_host(array: Any) -> Array:
    """An array as NumPy has it."""
    if is_on_gpu(array):
        array = to_gpu(array).get()
    return np.asarray(array)


def rows_to_gpu(X: Any) -> Any:
    """X on the GPU if it fits, else as it is; sparse rows are sent block by block, too."""
    if is_on_gpu(X) or hasattr(X, "indptr"):
        return X
    xp = arrays()
    if xp is np or X.nbytes < len(SENDERS) * CHUNK:
        return xp.asarray(X)
    return X if X.nbytes > SHARE * xp.cuda.runtime.memGetInfo()[0] else sent(X)


def sent(X: Any) -> Any:
    """A large array, copied by several threads to memory that a card may read at full speed."""
    xp = arrays()
    there = xp.empty(X.shape, X.dtype)
    xp.cuda.get_current_stream().synchronize()  # what was in that memory is done with
    source, goal = X.reshape(-1).view(np.uint8), there.reshape(-1).view(np.uint8)
    free = deque(stagings())

    def send(begin: int) -> None:
        part = source[begin : begin + CHUNK]
        buffer, stream = free.popleft()
        buffer[: len(part)] = part
        goal[begin : begin + CHUNK].set(buffer[: len(part)], stream)
        stream.synchronize()
        free.append((buffer, stream))

    with ThreadPoolExecutor(len(SENDERS)) as threads:
        list(threads.map(send, range(0, X.nbytes, CHUNK)))
    return there


@cache
def stagings() -> list[tuple[Array, Any]]:
    """For each sender a buffer that does not move, and a stream."""
    xp = arrays()
    made = []
    for _ in SENDERS:
        memory = xp.cuda.alloc_pinned_memory(CHUNK)
        made.append((np.frombuffer(memory, np.uint8, CHUNK), xp.cuda.Stream(non_blocking=True)))
    return made


@contextmanager
def on_card() -> Iterator[None]:
    """Work on a GPU: say in a sentence what did not fit, and nothing of idle processors."""
    xp = arrays()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*Grid size \d+ will likely")
            yield
    except MemoryError as error:  # of which CuPy's own is a kind
        if xp is np:
            raise
        free, whole = xp.cuda.runtime.memGetInfo()
        raise MemoryError(
            "The support, its kernel values with a block of rows and the scores do not fit on the "
            f"GPU ({free / 2**30:.1f} of {whole / 2**30:.1f} GB are free: {error}); use fewer rows "
            "or the CPU."
        ) from error


@dataclass
class DeviceTask(GrowingTask):
    """Without a budget, on a GPU: scores, support and coefficients live there, updates do not.

    A block's own kernel values are computed at once, and one thread block per problem replays it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        from ...kernels import gpu

        xp, state = arrays(), self.state
        self.scores = xp.zeros(self.scores.shape)
        self.support = Support(xp.asarray(dense(state.support)))
        self.coef, self.bias = xp.asarray(state.coef), xp.asarray(state.bias)
        self.steps = xp.asarray(self.form.steps(np.arange(self.X.shape[0])))
        self.labels = xp.asarray(self.form.codes)
        shape = len(state.bias), gpu.LINES, self.rows_at_once + 1
        self.updates_there = xp.zeros(shape)
        self.updates_there[:, gpu.MARGIN, 0] = self.bias

    def block_size(self) -> int:
        return ROWS_AT_ONCE

    def index(self, numbers: Array) -> Any:
        return arrays().asarray(numbers)

    def picked(self, numbers: Array) -> Any:
        index = self.index(numbers)
        return index if self.gram.kernel == "precomputed" else fetched(self.X, numbers, index)

    def rows(self, block: Block) -> Any:
        if block.rows is None:
            block.rows = fetched(self.X, block.numbers, block.index)
        return block.rows

    def visit(self, block: Block) -> None:
        self.take_in(block)
        if self.is_right(block):
            self.pieces.append(NO_MOVES)
            self.put_away(block)
            return
        rows = self.rows(block)
        values = self.gram(block.index if self.gram.kernel == "precomputed" else rows, rows)
        log, own = self.replay(block, values)
        moves = NO_MOVES
        if len(log):
            broken = np.flatnonzero(~np.isfinite(log["margin"]))
            if len(broken):
                raise scores_overflow(int(block.numbers[log["position"][broken[0]]]))
            self.loss -= float(np.minimum(log["margin"], 0.0).sum())
            block.steps = self.form.steps(block.numbers)
            at = log["position"] if self.together else (log["rival"], log["position"])
            log["step"] = block.steps[at]
            moves = self.record(block, own, log)
            self.move(moves)
        self.pieces.append(moves)
        self.put_away(block)

    def is_right(self, block: Block) -> bool:
        """Whether a block teaches nothing, so that its own kernel values are of no use."""
        if self.together:
            return False  # which only the replay knows
        a, steps = block.scores + self.bias[:, None], self.steps[:, block.index]
        right = ((steps > 0) & (a > self.settings.above)) | (
            (steps < 0) & (a < self.settings.below)
        )
        return bool((right & np.isfinite(a))[self.index(np.flatnonzero(self.learning))].all())

    def replay(self, block: Block, values: Any) -> tuple[Array, Array]:
        """Learn from a block on the GPU: its updates as rows come, and K(x, x) of each."""
        from ...kernels import gpu

        xp, (above, below, bias_step) = arrays(), self.settings[:3]
        steps, out = self.steps[..., block.index], self.updates_there
        if self.together:
            labels = self.labels[block.index]
            task = values, steps, labels, block.scores, self.bias
            gpu.replay_all[1, gpu.THREADS](*task, above, bias_step, out)
        else:
            problems = np.flatnonzero(self.learning)
            tasks = xp.asarray(problems), values, steps, block.scores, self.bias
            gpu.replay_each[len(problems), gpu.THREADS](*tasks, above, below, bias_step, out)
        found = on_host(out[:, :, :FEW])  # one wait for the GPU, if there were few
        self.state.bias[:] = found[:, gpu.MARGIN, 0]
        counts = np.where(self.learning, found[:, gpu.POSITION, 0], 0).astype(np.intp)
        if counts.max() >= FEW:
            found = on_host(out[:, :, : int(counts.max()) + 1])
        lines, columns = np.nonzero(np.arange(counts.max()) < counts[:, None])
        position, margin, own, rival = found[lines, :, columns + 1].T
        log = np.zeros(len(lines), UPDATE)
        log["position"], log["margin"] = position, margin
        log["rival"] = rival if self.together else lines
        in_order = np.lexsort((log["rival"], log["position"]))
        return log[in_order], own[in_order]

    def move(self, moves: Moves) -> None:
        """Add new updates to the coefficients; none is of the same row and output as another."""
        xp, (outputs, room) = arrays(), self.coef.shape
        if self.size > room:
            wider = xp.zeros((outputs, max(self.size, 2 * room)))
            wider[:, :room] = self.coef
            self.coef = wider
        cells = xp.asarray(moves.outputs * self.coef.shape[1] + moves.places)
        self.coef.reshape(-1)[cells] += xp.asarray(moves.steps)

    def take_in(self, block: Block) -> None:
        block.scores = self.scores[:, block.index]
        if block.version == 0:  # all that there is
            coef, support = self.coef[:, : self.size], self.support.room[: self.size]
        else:
            places, lacking = self.lacking(block)
            coef, support = arrays().asarray(lacking), self.support.room[self.index(places)]
        for begin in range(0, len(support), SUPPORT_AT_ONCE):
            part = slice(begin, begin + SUPPORT_AT_ONCE)
            block.scores += coef[:, part] @ self.gram(support[part], self.rows(block))

    def kept_support(self) -> Any:
        if is_on_gpu(self.X):
            return on_host(self.support.room[: self.support.count])
        fresh = np.concatenate(self.numbers[1:] or [np.zeros(0, np.int64)]) - self.state.given
        return stacked(self.begun.support, self.gram.pick(self.X, fresh))


def fetched(X: Any, numbers: Array, index: Any) -> Any:
    """Some rows, on the GPU; the index is the numbers there."""
    return X[index] if is_on_gpu(X) else arrays().asarray(to_dense(X[numbers]))


# Predicting


class DeviceScorer:
    """Scores rows on the GPU, to which the support is sent once."""

    def __init__(self, gram: Gram, state: DualState) -> None:
        xp = arrays()
        self.gram, self.state = gram, state
        self.support = xp.asarray(dense(state.support))

    def scores(self, X: Any, coef: Array, bias: Array) -> Array:
        """The score of every output for rows."""
        xp = arrays()
        weights, lift = xp.asarray(coef), xp.asarray(bias)

        def scored(values: Any) -> Any:
            return (weights @ values).T + lift

        return self.by_blocks(X, scored)

    def votes(self, X: Any, together: bool, sign_of_zero: float) -> Array:
        """The share of the votes for each output."""
        if together:
            return self.by_blocks(X, self.votes_of_all(self.state.updates))
        problems = [self.votes_of_one(p, sign_of_zero) for p in range(len(self.state.bias))]

        def voted(values: Any) -> Any:
            return arrays().stack([problem(values) for problem in problems], axis=1)

        return self.by_blocks(X, voted)

    def by_blocks(self, X: Any, scored: Callable[[Any], Any]) -> Array:
        """What a function makes of the kernel values of the support with some rows at a time."""
        parts = [np.empty((0, len(self.state.bias)))]
        room = max(1, 2**31 // (8 * max(len(self.state.numbers), 1)))  # bytes of kernel values
        at_once = min(2 * ROWS_AT_ONCE, room)
        for begin in range(0, X.shape[0], at_once):
            rows = X[begin : begin + at_once]
            rows = rows if is_on_gpu(rows) else arrays().asarray(to_dense(rows))
            parts.append(on_host(scored(self.gram(self.support, rows))))
        return np.concatenate(parts)

    def votes_of_one(self, problem: int, sign_of_zero: float) -> Callable[[Any], Any]:
        """The votes of one problem's functions."""
        from ...kernels import gpu

        xp, seen = arrays(), int(self.state.seen[problem])
        own = Updates(*(part[self.state.updates.labels == problem] for part in self.state.updates))
        survived = np.diff(own.times, prepend=0, append=seen).astype(np.float64)
        given = [xp.asarray(part) for part in (own.rows, own.steps, own.intercept_steps, survived)]

        def voted(values: Any) -> Any:
            out = xp.empty(values.shape[1])
            gpu.votes_each[grid(len(out)), gpu.THREADS](values, *given, sign_of_zero, out)
            return out / max(seen, 1)

        return voted

    def votes_of_all(self, updates: Updates) -> Callable[[Any], Any]:
        """The votes of functions of all classes."""
        from ...kernels import gpu

        xp, seen, classes = arrays(), int(self.state.seen[0]), len(self.state.bias)
        survived = np.diff(updates.times, prepend=0, append=seen).astype(np.float64)
        kept = updates.rows, updates.steps, updates.intercept_steps, updates.labels, updates.rivals
        given = [xp.asarray(part) for part in (*kept, survived)]

        def voted(values: Any) -> Any:
            scores = xp.zeros((classes, values.shape[1]))
            out = xp.zeros((values.shape[1], classes))
            gpu.votes_all[grid(len(out)), gpu.THREADS](values, *given, scores, out)
            return out / max(seen, 1)

        return voted


def grid(count: int) -> int:
    """How many thread blocks have a thread for each of so many rows."""
    from ...kernels import gpu

    return max(1, -(-count // gpu.THREADS))

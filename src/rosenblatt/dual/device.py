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

from ..data.rows import Array, to_dense
from ..kernels.loop import UPDATE
from .forms import Block
from .gram import Gram, as_dense, overflow_error
from .kernels.cpu import Updates
from .moves import NO_MOVES, Moves
from .state import DualState
from .unbounded import GrowingTask, Support, stack_rows

if TYPE_CHECKING:
    from types import ModuleType

ROWS_AT_ONCE = 6144  # of a block, whose kernel values with each other are all computed
FEW = 257  # numbers of a line of updates that are fetched before their count is known
SUPPORT_AT_ONCE = 16_384  # of a product of matrices
SENDERS, CHUNK = range(8), 8 << 20  # threads that copy rows to the GPU, and bytes at a time
SHARE = 0.5  # of the free memory that rows may take; larger ones are sent block by block


def is_on_gpu(X: Any) -> bool:
    """Whether an array is on a GPU."""
    if hasattr(X, "__cuda_array_interface__"):
        return True
    device = getattr(X, "__dlpack_device__", None)
    return device is not None and not isinstance(X, np.ndarray) and int(device()[0]) == 2


def match_layout(support: Any, X: Any) -> Any:
    """Return X in the layout of the support, dense or sparse; as it is if it is on a GPU."""
    if hasattr(support, "indptr") == hasattr(X, "indptr") or is_on_gpu(X):
        return X
    return csr_array(X) if hasattr(support, "indptr") else X.toarray()


@cache
def get_array_module() -> "ModuleType":
    """Return CuPy, or NumPy where Numba simulates a GPU."""
    try:
        from .kernels import gpu

        if gpu.SIMULATED:
            return np
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
    """Return an array on the GPU, without a copy if it is there already."""
    xp = get_array_module()
    if is_on_gpu(X) and not hasattr(X, "__cuda_array_interface__"):
        return xp.from_dlpack(X)
    return xp.asarray(X)


def check_on_gpu(X: Any, model: Any, dtype: Any) -> Any:
    """Return X on the GPU as a matrix of floats; check or set the number of its columns.

    Parameters
    ----------
    X
        An array on a GPU.
    model
        The estimator, whose number of columns is checked or set.
    dtype
        The type of its support, or None if it is fitted from the beginning.
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


def to_host(array: Any) -> Array:
    """Return an array of NumPy."""
    if is_on_gpu(array):
        array = to_gpu(array).get()
    return np.asarray(array)


def rows_to_gpu(X: Any) -> Any:
    """Return X on the GPU if it fits; else, and if it is sparse, X itself, to send by blocks."""
    if is_on_gpu(X) or hasattr(X, "indptr"):
        return X
    xp = get_array_module()
    if xp is np or X.nbytes < len(SENDERS) * CHUNK:
        return xp.asarray(X)
    return X if X.nbytes > SHARE * xp.cuda.runtime.memGetInfo()[0] else send_to_gpu(X)


def send_to_gpu(X: Any) -> Any:
    """Return a copy of a large array on the GPU, sent by several threads from pinned memory."""
    xp = get_array_module()
    there = xp.empty(X.shape, X.dtype)
    xp.cuda.get_current_stream().synchronize()  # nothing uses that memory any more
    source, goal = X.reshape(-1).view(np.uint8), there.reshape(-1).view(np.uint8)
    free = deque(make_staging_buffers())

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
def make_staging_buffers() -> list[tuple[Array, Any]]:
    """Return a buffer of pinned memory and a stream for each sender."""
    xp = get_array_module()
    made = []
    for _ in SENDERS:
        memory = xp.cuda.alloc_pinned_memory(CHUNK)
        made.append((np.frombuffer(memory, np.uint8, CHUNK), xp.cuda.Stream(non_blocking=True)))
    return made


@contextmanager
def use_gpu() -> Iterator[None]:
    """A context on the GPU: errors of its memory say what to do, and its warnings are hidden."""
    xp = get_array_module()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*Grid size \d+ will likely")
            yield
    except MemoryError as error:  # CuPy's is a subclass
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
    """Learns without a budget on a GPU, which keeps the scores, support and coefficients.

    A block's own kernel values are computed at once, and one thread block per problem replays it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        from .kernels import gpu

        xp, state = get_array_module(), self.state
        self.scores = xp.zeros(self.scores.shape)
        self.support = Support(xp.asarray(as_dense(state.support)))
        self.coef, self.bias = xp.asarray(state.coef), xp.asarray(state.bias)
        self.steps = xp.asarray(self.form.steps(np.arange(self.X.shape[0])))
        self.labels = xp.asarray(self.form.codes)
        shape = len(state.bias), gpu.LINES, self.rows_at_once + 1
        self.updates_there = xp.zeros(shape)
        self.updates_there[:, gpu.MARGIN, 0] = self.bias

    def block_size(self) -> int:
        return ROWS_AT_ONCE

    def index(self, numbers: Array) -> Any:
        return get_array_module().asarray(numbers)

    def pick_support(self, numbers: Array) -> Any:
        index = self.index(numbers)
        return index if self.gram.kernel == "precomputed" else fetch_rows(self.X, numbers, index)

    def rows(self, block: Block) -> Any:
        if block.rows is None:
            block.rows = fetch_rows(self.X, block.numbers, block.index)
        return block.rows

    def visit(self, block: Block) -> None:
        self.add_updates(block)
        if self.is_right(block):
            self.pieces.append(NO_MOVES)
            self.store_scores(block)
            return
        rows = self.rows(block)
        values = self.gram(block.index if self.gram.kernel == "precomputed" else rows, rows)
        log, own = self.replay(block, values)
        moves = NO_MOVES
        if len(log):
            broken = np.flatnonzero(~np.isfinite(log["margin"]))
            if len(broken):
                raise overflow_error(int(block.numbers[log["position"][broken[0]]]))
            self.loss -= float(np.minimum(log["margin"], 0.0).sum())
            block.steps = self.form.steps(block.numbers)
            at = log["position"] if self.together else (log["rival"], log["position"])
            log["step"] = block.steps[at]
            moves = self.record(block, own, log)
            self.move(moves)
        self.pieces.append(moves)
        self.store_scores(block)

    def is_right(self, block: Block) -> bool:
        """Whether all rows of a block are right, so that their kernel values are not needed."""
        if self.together:
            return False  # only the replay knows
        a, steps = block.scores + self.bias[:, None], self.steps[:, block.index]
        right = ((steps > 0) & (a > self.settings.above)) | (
            (steps < 0) & (a < self.settings.below)
        )
        return bool((right & np.isfinite(a))[self.index(np.flatnonzero(self.learning))].all())

    def replay(self, block: Block, values: Any) -> tuple[Array, Array]:
        """Learn from a block on the GPU; return its updates in their order, and K(x, x) of each."""
        from .kernels import gpu

        xp, (above, below, bias_step) = get_array_module(), self.settings[:3]
        steps, out = self.steps[..., block.index], self.updates_there
        if self.together:
            labels = self.labels[block.index]
            task = values, steps, labels, block.scores, self.bias
            gpu.replay_all[1, gpu.THREADS](*task, above, bias_step, out)
        else:
            problems = np.flatnonzero(self.learning)
            tasks = xp.asarray(problems), values, steps, block.scores, self.bias
            gpu.replay_each[len(problems), gpu.THREADS](*tasks, above, below, bias_step, out)
        found = to_host(out[:, :, :FEW])  # one wait for the GPU, if there are few
        self.state.bias[:] = found[:, gpu.MARGIN, 0]
        counts = np.where(self.learning, found[:, gpu.POSITION, 0], 0).astype(np.intp)
        if counts.max() >= FEW:
            found = to_host(out[:, :, : int(counts.max()) + 1])
        lines, columns = np.nonzero(np.arange(counts.max()) < counts[:, None])
        position, margin, own, rival = found[lines, :, columns + 1].T
        log = np.zeros(len(lines), UPDATE)
        log["position"], log["margin"] = position, margin
        log["rival"] = rival if self.together else lines
        in_order = np.lexsort((log["rival"], log["position"]))
        return log[in_order], own[in_order]

    def move(self, moves: Moves) -> None:
        """Add new updates to the coefficients; no two are of the same row and output."""
        xp, (outputs, room) = get_array_module(), self.coef.shape
        if self.size > room:
            wider = xp.zeros((outputs, max(self.size, 2 * room)))
            wider[:, :room] = self.coef
            self.coef = wider
        cells = xp.asarray(moves.outputs * self.coef.shape[1] + moves.places)
        self.coef.reshape(-1)[cells] += xp.asarray(moves.steps)

    def add_updates(self, block: Block) -> None:
        block.scores = self.scores[:, block.index]
        if block.version == 0:  # the scores contain no update yet
            coef, support = self.coef[:, : self.size], self.support.room[: self.size]
        else:
            places, lacking = self.find_lacking(block)
            coef = get_array_module().asarray(lacking)
            support = self.support.room[self.index(places)]
        for begin in range(0, len(support), SUPPORT_AT_ONCE):
            part = slice(begin, begin + SUPPORT_AT_ONCE)
            block.scores += coef[:, part] @ self.gram(support[part], self.rows(block))

    def copy_support(self) -> Any:
        if is_on_gpu(self.X):
            return to_host(self.support.room[: self.support.count])
        fresh = np.concatenate(self.numbers[1:] or [np.zeros(0, np.int64)]) - self.state.given
        return stack_rows(self.begun.support, self.gram.pick(self.X, fresh))


def fetch_rows(X: Any, numbers: Array, index: Any) -> Any:
    """Return some rows on the GPU; ``index`` is their numbers there."""
    return X[index] if is_on_gpu(X) else get_array_module().asarray(to_dense(X[numbers]))


# Predicting


class DeviceScorer:
    """Scores rows on the GPU; the support is sent once."""

    def __init__(self, gram: Gram, state: DualState) -> None:
        xp = get_array_module()
        self.gram, self.state = gram, state
        self.support = xp.asarray(as_dense(state.support))

    def scores(self, X: Any, coef: Array, bias: Array) -> Array:
        """Return the score of every output for each row."""
        xp = get_array_module()
        weights, lift = xp.asarray(coef), xp.asarray(bias)

        def score(values: Any) -> Any:
            return (weights @ values).T + lift

        return self.compute_by_block(X, score)

    def votes(self, X: Any, together: bool, sign_of_zero: float) -> Array:
        """Return the share of the votes for each output."""
        if together:
            return self.compute_by_block(X, self.votes_of_all(self.state.updates))
        problems = [self.votes_of_one(p, sign_of_zero) for p in range(len(self.state.bias))]

        def vote(values: Any) -> Any:
            return get_array_module().stack([problem(values) for problem in problems], axis=1)

        return self.compute_by_block(X, vote)

    def compute_by_block(self, X: Any, compute: Callable[[Any], Any]) -> Array:
        """Apply a function to the kernel values of the support with a block of rows at a time."""
        parts = [np.empty((0, len(self.state.bias)))]
        room = max(1, 2**31 // (8 * max(len(self.state.numbers), 1)))  # bytes of kernel values
        at_once = min(2 * ROWS_AT_ONCE, room)
        for begin in range(0, X.shape[0], at_once):
            rows = X[begin : begin + at_once]
            rows = rows if is_on_gpu(rows) else get_array_module().asarray(to_dense(rows))
            parts.append(to_host(compute(self.gram(self.support, rows))))
        return np.concatenate(parts)

    def votes_of_one(self, problem: int, sign_of_zero: float) -> Callable[[Any], Any]:
        """Return a function that computes the votes for one problem from kernel values."""
        from .kernels import gpu

        xp, seen = get_array_module(), int(self.state.seen[problem])
        own = Updates(*(part[self.state.updates.labels == problem] for part in self.state.updates))
        survived = np.diff(own.times, prepend=0, append=seen).astype(np.float64)
        given = [xp.asarray(part) for part in (own.rows, own.steps, own.intercept_steps, survived)]

        def vote(values: Any) -> Any:
            out = xp.empty(values.shape[1])
            blocks = count_thread_blocks(len(out))
            gpu.votes_each[blocks, gpu.THREADS](values, *given, sign_of_zero, out)
            return out / max(seen, 1)

        return vote

    def votes_of_all(self, updates: Updates) -> Callable[[Any], Any]:
        """Return a function that computes the votes for all classes from kernel values."""
        from .kernels import gpu

        xp, seen, classes = get_array_module(), int(self.state.seen[0]), len(self.state.bias)
        survived = np.diff(updates.times, prepend=0, append=seen).astype(np.float64)
        kept = updates.rows, updates.steps, updates.intercept_steps, updates.labels, updates.rivals
        given = [xp.asarray(part) for part in (*kept, survived)]

        def vote(values: Any) -> Any:
            scores = xp.zeros((classes, values.shape[1]))
            out = xp.zeros((values.shape[1], classes))
            gpu.votes_all[count_thread_blocks(len(out)), gpu.THREADS](values, *given, scores, out)
            return out / max(seen, 1)

        return vote


def count_thread_blocks(count: int) -> int:
    """Return the number of thread blocks with a thread for each of some rows."""
    from .kernels import gpu

    return max(1, -(-count // gpu.THREADS))

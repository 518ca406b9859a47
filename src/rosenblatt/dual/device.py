"""The dual form on a GPU: the same updates, block by block, and the same scores."""

import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.rows import Array, stack_rows, to_dense
from .gram import as_dense, overflow_error
from .kernels.cpu import UPDATES
from .task import Block, DualTask, Support

GPU_ROWS = 12_288  # to score at once; learning has blocks of half as many
GPU_BYTES = 2**31  # for kernel values
SUPPORT_AT_ONCE = 16_384  # of a product of matrices
FEW = 257  # numbers of a line of updates that are fetched before their count is known
LOGGED = ("position", "label", "rival", "margin", "step")  # as gpu.py writes them
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
def get_array_module() -> Any:
    """Return CuPy, or NumPy where Numba simulates a GPU."""
    try:
        from .kernels import gpu

        if gpu.SIMULATED:
            return np
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        return cupy
    except Exception as error:
        raise RuntimeError(
            'device="cuda" needs an NVIDIA GPU with its driver, CuPy and numba-cuda '
            "(pip install 'rosenblatt[gpu]'); leave device out to learn on the CPU."
        ) from error


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
    get_array_module()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r".*Grid size \d+ will likely")
            yield
    except MemoryError as error:  # CuPy's is a subclass
        raise MemoryError(
            "The support, its kernel values with a block of rows and the scores do not fit on the "
            f"GPU ({error}); use fewer rows or the CPU."
        ) from error


class DeviceTask(DualTask):
    """Learns without a budget on a GPU, which keeps the scores and the support.

    A block's own kernel values are computed at once, and one thread block per problem replays it.
    """

    most_rows = GPU_ROWS // 2

    @property
    def xp(self) -> Any:
        """CuPy."""
        return get_array_module()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.limits = self.width, SUPPORT_AT_ONCE, GPU_BYTES
        self.support = Support(self.xp.asarray(as_dense(self.state.support)), self.xp)
        shape = len(self.learning), len(LOGGED), self.rows_at_once + 1
        self.log_there = self.xp.zeros(shape)

    def fetch(self, numbers: Array) -> Any:
        if is_on_gpu(self.X):
            return self.X[self.xp.asarray(numbers)]
        return rows_as_there(self.X[numbers])

    def find_mistakes(self, block: Block) -> Iterator[Array]:
        from .kernels import gpu

        excess, out = self.excess(block), self.log_there
        if ((excess > 0) & self.xp.isfinite(excess)).all():
            return
        rows, problems = self.rows(block), self.xp.asarray(np.flatnonzero(self.learning))
        values = self.gram(block.index if self.gram.kernel == "precomputed" else rows, rows)
        given = values, block.steps, block.labels, block.scores, self.bias
        gpu.replay[len(problems), gpu.THREADS](problems, *given, *self.rule[:3], out)
        found = to_host(out[:, :, :FEW])  # one wait for the GPU, if there are few
        self.state.bias[:] = to_host(self.bias)
        counts = np.where(self.learning, found[:, 0, 0], 0).astype(np.intp)
        if counts.max() >= FEW:
            found = to_host(out[:, :, : int(counts.max()) + 1])
        lines, columns = np.nonzero(np.arange(counts.max()) < counts[:, None])
        log = np.zeros(len(lines), UPDATES)
        for name, numbers in zip(LOGGED, found[lines, :, columns + 1].T, strict=True):
            log[name] = numbers
        broken = log["position"][~np.isfinite(log["margin"])]
        if len(broken):
            raise overflow_error(int(block.numbers[broken[0]]))
        yield log[np.lexsort((log["label"], log["position"]))]

    def copy_support(self) -> Any:
        if is_on_gpu(self.X):
            return to_host(self.support.buffer[: self.support.count])
        fresh = np.concatenate(self.numbers[1:] or [np.zeros(0, np.int64)]) - self.state.given
        return stack_rows([self.state.support, self.gram.pick(self.X, fresh)])


def rows_as_there(rows: Any) -> Any:
    """Return rows, from here or on the GPU, dense on the GPU."""
    return rows if is_on_gpu(rows) else get_array_module().asarray(to_dense(rows))


def vote_on_gpu(products: Any, *given: Any) -> None:
    """Let weights vote on the GPU, as ``cpu.vote`` does."""
    from .kernels import gpu

    blocks = max(1, -(-products.shape[1] // gpu.THREADS))
    gpu.vote[blocks, gpu.THREADS](products, *given)

"""More than one machine: training, predicting and proving on a Dask cluster.

The data stay on the workers. In each epoch every partition is learnt from the same weights by the
same compiled kernel; what changed comes back, is mixed in a tree, and the mixed change goes out.
"""

import copy
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

try:
    import dask.array as da
    from dask import config
    from dask.base import compute
    from dask.delayed import delayed
    from distributed import Client, Future, KilledWorker, get_client, wait
    from distributed.comm.core import CommClosedError
except ImportError as missing:
    raise ImportError(
        "rosenblatt.distributed needs Dask; install it with: pip install 'rosenblatt[dask]'"
    ) from missing

from . import progress, storage
from .classifiers import Lesson, Perceptron, overflow, refuse_not_finite, seed_of
from .files import LateLabelError, codes_of, labels_of, tidy
from .files import Lesson as FileLesson
from .kernels.algebra import Rows, largest_squared_norm
from .kernels.linear import Settings
from .reading.batches import one_batch
from .reading.reader import read
from .reading.sources import Source
from .rows import encode, matrix_of, read_only, rows_between, rows_of
from .storage import Model
from .theory.bounds import mistake_bound, radius_with_bias, weights_with_bias
from .theory.certificates import Inseparable, Separable, Undecided
from .theory.separability import separability as decided
from .training import (
    SOLUTIONS,
    Array,
    Average,
    Bookmark,
    Epoch,
    Last,
    NotFiniteError,
    Run,
    Task,
    Vote,
    chosen,
    merged,
    new_solution,
    widened,
)

MODES = ("mixing", "sequential")
MIXES = ("uniform", "mistakes")
MIXED_AT_ONCE = 8  # reports that one task of the tree adds up
LOST_AT_MOST = 10  # times that an epoch is begun again because workers took its weights with them
RUNS_HELD = 4  # whose weights a worker keeps, to be sent only what changed
HARD_ROWS = 200  # of each partition that a proof looks at together, per round

T = TypeVar("T")


class Round(NamedTuple):
    """What happened in one epoch on the cluster.

    Attributes
    ----------
    epoch : Epoch
        The counts of all partitions together.
    mistakes : tuple of int
        Updates made on each partition.
    weighted_mistakes : float
        Σ μ k: the mistakes as the mixing weighs them.
    bytes_moved : int
        What was sent between tasks: changes to the workers, reports up the tree.
    seconds : float
        How long it took.
    """

    epoch: Epoch
    mistakes: tuple[int, ...]
    weighted_mistakes: float
    bytes_moved: int
    seconds: float


class Mixing(NamedTuple):
    """How a model was made on a cluster; ``fit`` leaves it in ``mixing_``.

    Attributes
    ----------
    mode, mix : str
        As given to ``fit``.
    rows : tuple of int
        Gone through in an epoch, of each partition that has any.
    rounds : tuple of Round
        One per epoch.
    weighted_mistakes : float
        Σ μ k over all epochs. If the rows can be separated with margin γ, it is at most R²/γ²
        (McDonald, Hall & Mann 2010).
    radius, margin : float or None
        R, and the margin that the last weights attain, both with the bias as one more coordinate;
        known when two plain classes were separated.
    """

    mode: str
    mix: str
    rows: tuple[int, ...]
    rounds: tuple[Round, ...]
    weighted_mistakes: float
    radius: float | None = None
    margin: float | None = None

    @property
    def bound(self) -> float | None:
        """R²/γ² for the margin attained, which ``weighted_mistakes`` cannot exceed.

        >>> Mixing("mixing", "uniform", (4, 4), (), 7.5, radius=3.0, margin=0.5).bound
        36.0
        """
        if self.radius is None or self.margin is None:
            return None
        return mistake_bound(self.radius, self.margin)


class WorkersLostError(RuntimeError):
    """There is nobody left to learn."""


def fit(
    estimator: Perceptron,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    classes: Iterable[Any] | None = None,
    mode: str = "mixing",
    mix: str = "uniform",
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    patience: float = 30.0,
    report: Callable[[Round], None] | None = None,
    **reading: Any,
) -> Perceptron:
    """Fit a Perceptron to data on a Dask cluster by iterative parameter mixing.

    McDonald, Hall & Mann (2010), "Distributed training strategies for the structured perceptron",
    NAACL. The model depends on the data, their partitions and ``random_state`` only, not on how
    many workers there are or which of them die. One partition gives exactly what
    ``estimator.fit`` does.

    Parameters
    ----------
    estimator : Perceptron
        What to fit, with ``solution`` "last" or "average" and ``order`` "each", "once" or "fixed".
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
        The rows. Arrays may have dense or CSR blocks; a file is a partition.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    sample_weight : dask array, default=None
        Weights of the rows.
    classes : iterable, default=None
        All labels; without them they are looked up first.
    mode : {"mixing", "sequential"}, default="mixing"
        "sequential" passes the model from partition to partition: exactly what one machine does
        with ``order="fixed"``, and no faster.
    mix : {"uniform", "mistakes"}, default="uniform"
        Whether each partition's weights count alike, or as much as it made mistakes.
    client : distributed.Client, default=None
        The cluster; without one, the client made last.
    checkpoint : path-like, default=None
        Write the mixed model here after each epoch.
    resume : bool, default=False
        Whether to go on from the checkpoint, if there is one.
    patience : float, default=30.0
        How many seconds to wait for a worker when there are none.
    report : callable, default=None
        Called with a Round after each epoch; without it, ``verbose`` prints a line.
    **reading
        Of files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    Perceptron
        The estimator, with ``mixing_`` besides its usual attributes.
    """
    estimator._check_parameters()
    check_supported(estimator, mode, mix)
    cluster = Cluster(client or current_client(), patience)
    data = partitions_of(X, y, sample_weight, estimator.intercept_step == "radius", reading)
    wishes = Wishes(mode, mix, tuple(classes) if classes is not None else None, checkpoint, resume)
    with estimator._unchanged_by_errors(), told(report, estimator) as tell:
        if data.stream(estimator):
            try:
                return trained(estimator, data, data.parts, cluster, wishes, tell)
            except LateLabelError:
                if classes is not None:
                    raise
        return trained(estimator, data, data.loaded(cluster), cluster, wishes, tell)


class Wishes(NamedTuple):
    """What fit was asked for besides the estimator's parameters."""

    mode: str
    mix: str
    classes: tuple[Any, ...] | None
    checkpoint: str | os.PathLike[str] | None
    resume: bool


def check_supported(model: Perceptron, mode: str, mix: str) -> None:
    """Refuse what cannot be mixed."""
    for name, value, allowed in [("mode", mode, MODES), ("mix", mix, MIXES)]:
        if value not in allowed:
            options = " or ".join(map(repr, allowed))
            raise ValueError(f"{name} must be {options}; got {value!r}.")
    for unfit, what, instead in [
        (
            model.solution in ("vote", "pocket"),
            f"solution={model.solution!r} needs all rows in one place",
            'solution="average"',
        ),
        (
            model.order in ("active", "first", "worst"),
            f"order={model.order!r} chooses among all rows",
            'order="each", "once" or "fixed"',
        ),
        (
            mode == "sequential" and model.order != "fixed",
            'mode="sequential" goes through the rows as they lie',
            'order="fixed"',
        ),
        (model.warm_start, "warm_start is not known to a cluster", "checkpoint= and resume=True"),
    ]:
        if unfit:
            raise ValueError(f"{what}; use {instead}.")


def current_client() -> Client:
    """The client made last."""
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "There is no Dask client; make one first, such as distributed.Client(), or give "
            "client=."
        ) from None


# The cluster: named tasks, results that are waited for only while somebody works on them


class Cluster:
    """A client that names its tasks, and notices when nobody is left."""

    def __init__(self, client: Any, patience: float) -> None:
        self.client, self.patience = client, patience
        self.token, self.count = token_hex(6), 0

    def name(self, what: str) -> str:
        """A key that Dask's dashboard shows as the words before the number."""
        self.count += 1
        return f"perceptron-{what}-{self.count}-{self.token}"

    def submit(
        self, what: str, function: Callable[..., Any], *arguments: Any, where: Any = None
    ) -> Any:
        """A task on some worker, or on one of those where its rows are, while they live."""
        key = self.name(what)
        pinned = {"workers": where, "allow_other_workers": True} if where else {}
        return self.client.submit(function, *arguments, key=key, pure=False, **pinned)

    def on_each(
        self, what: str, function: Callable[..., Any], parts: list[Any], *arguments: Any
    ) -> list[Any]:
        """A task per partition, where it lies: function(part, its number, …)."""
        holders = self.holders(parts)
        return [
            self.submit(what, function, part, number, *arguments, where=holders[number])
            for number, part in enumerate(parts)
        ]

    def holders(self, parts: list[Any]) -> list[Any]:
        """The workers that hold each partition."""
        if not isinstance(parts[0], Future):
            return [None] * len(parts)
        found = self.client.who_has(parts)
        return [list(found.get(part.key, ())) for part in parts]

    def compute(self, tasks: list[Any]) -> list[Any]:
        """Delayed tasks, begun; their results stay on the workers."""
        return list(self.client.compute(tasks))

    def share(self, value: Any, everywhere: bool = True) -> Any:
        """Send a value to the workers."""
        sent = self.client.scatter([value], broadcast=everywhere, hash=False, timeout=self.patience)
        return sent[0]

    def workers(self) -> int:
        """How many there are."""
        return len(self.client.nthreads())

    def result(self, what: str, function: Callable[..., T], *arguments: Any) -> T:
        """What one task gives."""
        (value,) = self.results([self.submit(what, function, *arguments)])
        return value  # type: ignore[no-any-return]

    def results(self, futures: list[Any]) -> list[Any]:
        """What tasks gave."""
        self.wait(futures)
        return list(self.client.gather(futures))

    def wait(self, futures: list[Any]) -> None:
        """Wait for tasks; an error when there are no workers for too long."""
        idle_since = None
        while True:
            try:
                with self.client.as_current():  # or Dask would ask for a default one
                    wait(futures, timeout=1.0)
                return
            except TimeoutError:
                if self.workers():
                    idle_since = None
                    continue
            now = time.monotonic()
            idle_since = idle_since or now
            if now - idle_since >= self.patience:
                raise WorkersLostError(f"no worker came back within {self.patience:g} seconds")

    def again_when_lost(self, work: Callable[[], T]) -> T:
        """Do something, and again when workers took what was shared with them."""
        for _ in range(LOST_AT_MOST):
            try:
                return work()
            except KilledWorker as killed:
                raise WorkersLostError(f"a task ended several workers ({killed.task})") from killed
            except (CancelledError, CommClosedError, TimeoutError) as lost:
                self.wait_for_workers(lost)
        raise WorkersLostError(f"workers were lost {LOST_AT_MOST} times in one epoch")

    def wait_for_workers(self, lost: BaseException) -> None:
        """Wait until there is a worker."""
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except (TimeoutError, OSError, RuntimeError):
            raise WorkersLostError(
                f"no worker came back within {self.patience:g} seconds"
            ) from lost


# What comes in: partitions of arrays, data frames or files become shards


class Shard(NamedTuple):
    """The rows of one partition, as they stay on a worker.

    ``labels`` are as given, later the numbers of classes; ``everything`` are the rows to learn
    from, ``held_out`` those to validate with.
    """

    rows: Rows
    labels: Array
    weights: Array | None
    width: int
    everything: Array | None = None
    held_out: Array | None = None

    def lessons(self, plan: "Plan") -> Iterator[tuple[Lesson, int]]:
        """The one lesson that there is, and its width."""
        rows = seen_read_only(self.rows)
        yield lesson_of(rows, self.labels, self.weights, self.everything, self.held_out, plan)


def seen_read_only(rows: Rows) -> Rows:
    """Rows as kernels want them, which is not how they arrive from another worker."""
    indices = None if rows.indices is None else read_only(rows.indices)
    return Rows(read_only(rows.values), indices, read_only(rows.starts))


class Stream(NamedTuple):
    """Files that are read batch by batch whenever they are needed."""

    paths: tuple[str, ...]
    reading: dict[str, Any]

    def lessons(self, plan: "Plan") -> Iterator[tuple[Lesson, int]]:
        """A lesson per batch, and its width."""
        for path in self.paths:
            row = 0
            for batch in read(path, **self.reading):
                codes = codes_of(labels_of(batch, row), plan.classes, row)
                weights = plan.model._row_weights(plan.classes, codes, batch.weights, False)
                lesson, _ = lesson_of(batch.rows, codes, weights, None, None, plan)
                yield lesson, batch.width
                row += len(codes)


class Part(Protocol):
    """A shard or a stream."""

    def lessons(self, plan: "Plan") -> Iterator[tuple[Lesson, int]]:
        """What there is to learn, and how many columns are known by then."""


def lesson_of(
    rows: Rows,
    codes: Array,
    weights: Array | None,
    everything: Array | None,
    held: Array | None,
    plan: "Plan",
) -> tuple[Lesson, int]:
    """Rows as a lesson for the estimator, which needs only the type of X besides."""
    if everything is None:
        seen = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
        everything = seen.astype(np.uint32)
    lesson = Lesson(rows.values, rows, plan.classes, codes, weights, everything, held, plan.seed)
    return lesson, plan.width


class Plan(NamedTuple):
    """All that a worker must know: an estimator without open questions, and what it learns."""

    model: Perceptron
    classes: Array
    rule: Settings
    width: int
    dtype: Any
    seed: int
    mix: str

    def problems(self) -> list[int | None]:
        """The class that counts as positive in each problem."""
        return self.model._problems(self.classes)


class Partitions(NamedTuple):
    """Where the rows are: delayed shards, or streams; and what is known of their columns."""

    parts: list[Any]
    names: list[str] | None
    features: dict[str, Any]

    def stream(self, model: Perceptron) -> bool:
        """Whether one pass over files will do, so that the rows need not be kept."""
        needs = model.measure, model.early_stopping, model.intercept_step == "radius"
        simple = model.max_iter == 1 and model.order == "fixed" and model.class_weight != "balanced"
        return self.from_files and simple and not any(needs)

    @property
    def from_files(self) -> bool:
        """Whether the parts are files."""
        return bool(self.features)

    def loaded(self, cluster: Cluster) -> list[Any]:
        """Shards in the memory of the workers."""
        if self.from_files:
            return [cluster.submit("load", load_files, part) for part in self.parts]
        return cluster.compute(self.parts)


def partitions_of(
    X: Any, y: Any, weights: Any, canonical: bool, reading: dict[str, Any]
) -> Partitions:
    """The partitions of whatever the caller has."""
    if not hasattr(X, "dask"):
        if y is not None or weights is not None:
            raise ValueError("Files hold their labels and weights; leave y and sample_weight out.")
        return files_of(X, reading)
    if hasattr(X, "npartitions") and not hasattr(X, "columns") and not isinstance(X, da.Array):
        return files_of(X, reading)  # a bag
    if reading:
        raise TypeError(f"{sorted(reading)} are options for files, and X is a dask collection.")
    names = None
    if hasattr(X, "columns"):
        if isinstance(y, str):
            X, y = X.drop(columns=y), X[y]
        names = list(X.columns) if all(isinstance(name, str) for name in X.columns) else None
    if y is None:
        raise ValueError("y is missing: the labels, or the name of a data frame's column.")
    blocks = blocks_of(X)
    labels = blocks_like(y, X, len(blocks), "y")
    scales = (
        [None] * len(blocks)
        if weights is None
        else blocks_like(weights, X, len(blocks), "sample_weight")
    )
    key = token_hex(6)
    parts = [
        delayed(shard_of, pure=False)(
            *block, number, canonical, dask_key_name=f"perceptron-load-{number}-{key}"
        )
        for number, block in enumerate(zip(blocks, labels, scales, strict=True))
    ]
    return Partitions(parts, names, {})


def blocks_of(X: Any) -> list[Any]:
    """The blocks of rows of a collection, as delayed values."""
    if isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def blocks_like(y: Any, X: Any, count: int, name: str) -> list[Any]:
    """The blocks of y, cut as X is."""
    if not hasattr(y, "dask"):
        y = da.from_array(np.asarray(y))
    if isinstance(X, da.Array) and isinstance(y, da.Array):
        known = not np.isnan([*X.chunks[0], *y.chunks[0]]).any()
        if known and len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows and {name} {len(y)}; each row needs one.")
        if known:
            y = y.rechunk((X.chunks[0], *y.chunks[1:]))
    blocks = blocks_of(y)
    if len(blocks) != count:
        raise ValueError(
            f"X has {count} partitions and {name} {len(blocks)}; cut both at the same rows."
        )
    return blocks


def files_of(X: Any, reading: dict[str, Any]) -> Partitions:
    """A partition per file, or per partition of a bag; all read as the first file asks for."""
    if hasattr(X, "dask"):
        groups = X.map_partitions(lambda paths: [tuple(paths)]).compute(scheduler="synchronous")
    else:
        given = [X] if isinstance(X, str | os.PathLike) else list(X)
        groups = [(file,) for path in given for file in Source(path).files]
    groups = [tuple(map(str, group)) for group in groups if group]
    if not groups:
        raise ValueError("There are no files to learn from.")
    reader = read(groups[0][0], **reading)
    kept = "skip_bad", "dtype", "batch_bytes", "header"
    same: dict[str, Any] = {name: reading[name] for name in kept if name in reading}
    recipe = reader.features()
    alike = {"features": recipe, "label": recipe["label"], "format": reader.format, **same}
    streams = [Stream(group, alike) for group in groups]
    features = {"recipe": recipe, "format": reader.format, "largest": []}
    return Partitions(streams, None, features)


def shard_of(X: Any, y: Any, weights: Any, number: int, canonical: bool) -> Shard:
    """A block of a collection as a shard."""
    with in_partition(number):
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        if canonical and hasattr(X, "sum_duplicates"):
            X = X.copy()
            X.sum_duplicates()  # or the norms would be wrong
        y = np.asarray(column_or_1d(y))
        weights = None if weights is None else np.asarray(weights, np.float64)
        for name, column in (("y", y), ("sample_weight", weights)):
            if column is not None and column.shape != (X.shape[0],):
                raise ValueError(f"X has {X.shape[0]} rows and {name} {len(column)}.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("y contains NaN or infinity; labels must be known.")
        return Shard(rows_of(X), y, weights, X.shape[1])


def load_files(stream: Stream) -> Shard:
    """All rows of some files."""
    batches = [batch for path in stream.paths for batch in read(path, **stream.reading)]
    if not batches:
        nothing = np.zeros(0, np.float32)
        rows = Rows(nothing, np.zeros(0, np.uint32), np.zeros(1, np.uint64))
        return Shard(rows, nothing, None, 0)
    whole = one_batch(batches)
    return Shard(whole.rows, tidy(labels_of(whole)), whole.weights, whole.width)


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Say in which partition something is wrong."""
    try:
        yield
    except LateLabelError:
        raise
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from None


# What is found in the partitions, and what follows for all of them


class Found(NamedTuple):
    """What the driver must know of a partition; ``counts`` are of the classes."""

    rows: int
    width: int
    dense: bool
    dtype: Any
    classes: Array
    counts: Array
    squared_radius: float


def survey(shard: Shard) -> Found:
    """Look at a shard."""
    rows = seen_read_only(shard.rows)
    classes, codes = encode(shard.labels)
    everything = np.arange(len(codes), dtype=np.uint32)
    return Found(
        len(codes),
        shard.width,
        rows.indices is None,
        rows.values.dtype,
        classes,
        np.bincount(codes, minlength=len(classes)),
        float(largest_squared_norm(rows, everything)),
    )


def peek(stream: Stream) -> Found:
    """Look at the first batch of some files."""
    for path in stream.paths:
        for batch in read(path, **stream.reading):
            labels = tidy(labels_of(batch))
            return survey(Shard(batch.rows, labels, None, batch.width))
    return survey(load_files(stream))


def planned(
    model: Perceptron, found: list[Found], wishes: Wishes, widen: bool, begun: Model | None
) -> Plan:
    """What the workers must know, from what was found in all partitions."""
    width = max(one.width for one in found)
    for number, one in enumerate(found):
        if one.width != width and not (widen and not one.dense):
            raise ValueError(
                f"Partition {number} has {one.width} columns and another {width}; give all the "
                "same columns."
            )
    classes = all_classes(found, wishes.classes)
    dtype = np.float32 if all(one.dtype == np.float32 for one in found) else np.float64
    seed = seed_of(model.random_state if begun is None else begun.parameters["random_state"])
    plain = clone(model).set_params(verbose=0, random_state=seed)
    if model.class_weight == "balanced":
        plain.set_params(class_weight=balanced(found, classes))
    if model.intercept_step == "radius":
        plain.set_params(intercept_step=max(one.squared_radius for one in found))
    nothing = np.zeros(0, np.uint32)
    lesson = Lesson(None, None, classes, nothing, None, nothing, None, seed)  # type: ignore[arg-type]
    return Plan(plain, classes, plain._rule(lesson), width, np.dtype(dtype), seed, wishes.mix)


def all_classes(found: list[Found], named: tuple[Any, ...] | None) -> Array:
    """The labels of all partitions, in order, or those that were named."""
    kinds = {one.classes.dtype.kind in "biuf" for one in found}
    if len(kinds) > 1:
        raise ValueError("Some partitions have numbers as labels and some have words.")
    met = np.unique(np.concatenate([one.classes for one in found]))
    classes = met if named is None else np.unique(np.array(named))
    unknown = np.setdiff1d(met, classes)
    if len(unknown):
        raise ValueError(f"The label {unknown.tolist()[0]!r} is not among the classes named.")
    if len(classes) < 2:
        raise LateLabelError(
            f"y has only one class, {classes.tolist()[0]!r}; rows of at least two are needed."
        )
    return classes


def balanced(found: list[Found], classes: Array) -> dict[Any, float]:
    """Weights by the rarity of each class among all rows."""
    counts = np.zeros(len(classes))
    for one in found:
        counts[np.searchsorted(classes, one.classes)] += one.counts
    if not counts.all():
        raise ValueError(f"No row has the label {classes[np.argmin(counts)]!r} to balance.")
    weights = counts.sum() / (len(classes) * counts)
    return dict(zip(classes.tolist(), weights.tolist(), strict=True))


def numbered(shard: Shard, number: int, plan: Plan) -> Shard:
    """A shard with class numbers for labels, row weights, and the type that all shards have."""
    with in_partition(number):
        model, labels = plan.model, shard.labels
        codes = model._number(labels.astype(plan.classes.dtype, copy=False), plan.classes)
        weights = model._row_weights(plan.classes, codes, shard.weights, False)
        seen = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
        everything, held = seen.astype(np.uint32), None
        if model.early_stopping:
            everything, held = split(everything, codes, model)
        rows = shard.rows._replace(values=shard.rows.values.astype(plan.dtype, copy=False))
        if held is not None:
            refuse_not_finite(matrix_of(rows, len(codes), shard.width))
        small = codes.astype(np.min_scalar_type(len(plan.classes)), copy=False)
        return Shard(rows, small, weights, shard.width, everything, held)


def split(everything: Array, codes: Array, model: Perceptron) -> tuple[Array, Array]:
    """The rows to learn from and those to hold out, as Perceptron.fit splits them."""
    try:
        learnt, held = train_test_split(
            everything,
            test_size=model.validation_fraction,
            stratify=codes[everything],
            random_state=model.random_state,
        )
    except ValueError as error:
        raise ValueError(f"early_stopping cannot hold rows out: {error}") from None
    return np.sort(learnt), held


# One epoch on a partition


@dataclass
class ShardRun(Run):
    """A run over one partition, whose permutations differ from those of the others."""

    number: int = field(kw_only=True)
    tasks: Iterable[tuple[Task, int]] = field(kw_only=True)

    def sweeps(self) -> Iterator[Array]:
        """The rows of a shard in the order asked for, or of a stream batch by batch."""
        for task, width in self.tasks:
            self.task = task
            self.solution.widen(width)
            yield from super().sweeps()

    def permutation(self, number: int) -> Array:
        """The rows in a random order; the first partition has that of a local run."""
        return super().permutation(self.number << 32 | number)


def no_rows(rule: Settings) -> Task:
    """A task to start a run with, before its first rows come."""
    return Task(None, np.zeros(0, np.uint32), rule)  # type: ignore[arg-type]


def learn_once(
    part: Part, number: int, positive: int | None, solution: Last, plan: Plan, epoch: int
) -> Epoch:
    """Change a solution by one epoch over a partition."""
    tasks = (
        (plan.model._task(lesson, plan.rule, positive), width)
        for lesson, width in part.lessons(plan)
    )
    run = ShardRun(
        no_rows(plan.rule),
        solution,
        plan.model.order,
        epoch,
        plan.seed,
        start=Bookmark(epoch=epoch - 1),
        number=number,
        tasks=tasks,
    )
    with explained(part, number):
        run.train()
    return run.history[-1]


@contextmanager
def explained(part: Part, number: int) -> Iterator[None]:
    """Turn an activation that is not finite into a sentence on why."""
    try:
        with in_partition(number), np.errstate(over="ignore", invalid="ignore"):
            yield
    except NotFiniteError as stop:
        if isinstance(part, Shard):
            with in_partition(number):
                row = rows_between(part.rows, stop.row, stop.row + 1)
                refuse_not_finite(matrix_of(row, 1, part.width), stop.row)
        raise overflow(solution_type(part)) from None


def solution_type(part: Part) -> Any:
    """The type of the numbers of a partition."""
    return part.rows.values.dtype if isinstance(part, Shard) else np.dtype(np.float32)


# What travels. Down: the weights that changed since the last epoch. Up: how far each partition
# moved them, and how far they were from where they started, summed over its rows.


class Weights(NamedTuple):
    """Weights and biases of one problem: all of them, or those at some positions."""

    shape: tuple[int, ...]
    positions: Array | None
    values: Array
    bias: Array

    def put(self, base: Array | None) -> Array:
        """The whole weights, from those before or from zero."""
        if self.positions is None:
            return self.values.reshape(self.shape)
        whole = np.zeros(self.shape, self.values.dtype)
        if base is not None:
            whole[: len(base)] = base
        whole.reshape(-1)[self.positions] = self.values
        return whole


class Change(NamedTuple):
    """The weights that an epoch starts from, by problem, told from those of an epoch before.

    ``since`` is that epoch, or None when they are told from zero.
    """

    run: str
    epoch: int
    since: int | None
    weights: dict[int, Weights]


class Sums(NamedTuple):
    """What the partitions of one problem add up to.

    ``share`` is Σ a, where a is 1 or a partition's mistakes. ``moves`` is Σ a·Δ and ``excess`` is
    Σ Q, where Δ is how far a partition moved the weights, and Q sums over its rows how far the
    weights after each are from where the epoch started; both travel in the precision of the weights
    and are summed in double precision. ``size`` is the number of all weights, and
    ``positions`` are those that are told, or None for all.
    """

    share: float
    size: int
    positions: Array | None
    moves: Array
    excess: Array | None
    bias_moves: Array
    bias_excess: Array | None
    epochs: tuple[Epoch, ...]

    def packed(self) -> "Sums":
        """The same with positions as small as they can be, or without when that is smaller."""
        assert self.positions is not None
        values = bytes_in((self.moves, self.excess)) // max(len(self.positions), 1)
        kind = np.dtype(np.uint32 if self.size <= 2**32 else np.uint64)
        if len(self.positions) * (kind.itemsize + values) <= self.size * values:
            return self._replace(positions=self.positions.astype(kind, copy=False))
        every = partial(spread, self.positions, self.size)
        excess = None if self.excess is None else every(self.excess)
        return self._replace(positions=None, moves=every(self.moves), excess=excess)


def spread(positions: Array, size: int, values: Array) -> Array:
    """Values at their positions among zeros."""
    whole = np.zeros(size, values.dtype)
    whole[positions] = values
    return whole


class Report(NamedTuple):
    """What tasks send up: sums by problem, the partitions that lacked weights, bytes so far."""

    sums: dict[int, Sums]
    behind: tuple[int, ...]
    sent: int


_held: dict[str, tuple[int, dict[int, tuple[Array, Array]]]] = {}
_lock = Lock()


def held_weights(change: Change) -> dict[int, tuple[Array, Array]] | None:
    """The weights after a change, kept for the next; None if this worker lacks those before.

    They are shared by the threads of a worker, and never changed in place.
    """
    with _lock:
        epoch, before = _held.get(change.run, (None, {}))
        if epoch != change.epoch:
            if change.since not in (None, epoch):
                return None
            base = before if change.since is not None else {}
            before = {
                problem: (weights.put(base[problem][0] if problem in base else None), weights.bias)
                for problem, weights in change.weights.items()
            }
            _held.pop(change.run, None)
            _held[change.run] = change.epoch, before
            while len(_held) > RUNS_HELD:
                del _held[next(iter(_held))]
        return before


def forget(run: str) -> None:
    """Drop the weights of a run that is over."""
    with _lock:
        for name in [name for name in _held if name.startswith(run)]:
            del _held[name]


def learn(part: Part, number: int, change: Change, plan: Plan) -> Report:
    """Go through a partition once, from the mixed weights, and tell what came of it."""
    start = held_weights(change)
    if start is None:
        return Report({}, (number,), 0)
    sums = {}
    for problem, (weights, bias) in start.items():
        solution = SOLUTIONS[plan.model.solution](weights.copy(), bias.copy())
        positive = plan.problems()[problem]
        epoch = learn_once(part, number, positive, solution, plan, change.epoch)
        sums[problem] = sums_of(solution, weights, bias, epoch, plan.mix)
    return Report(sums, (), sum(map(bytes_in, sums.values())))


def sums_of(solution: Last, weights: Array, bias: Array, epoch: Epoch, mix: str) -> Sums:
    """How a solution differs from the weights that it started from."""
    share = float(epoch.mistakes if mix == "mistakes" else epoch.rows > 0)
    before = widened(weights, len(solution.weights)).reshape(-1)
    after, missing, excess, bias_excess = solution.weights.reshape(-1), None, None, None
    touched = after != before
    if isinstance(solution, Average):
        missing = solution.missing.reshape(-1)
        touched |= missing != 0
    where = np.flatnonzero(touched)
    moves = after[where].astype(np.float64) - before[where]
    bias_moves = solution.bias.astype(np.float64) - bias
    if isinstance(solution, Average) and missing is not None:
        excess = solution.seen * moves - missing[where]
        bias_excess = solution.seen * bias_moves - solution.missing_bias
        excess = excess.astype(after.dtype, copy=False)
    moves = (share * moves).astype(after.dtype, copy=False)
    told = moves, excess, share * bias_moves, bias_excess
    return Sums(share, len(after), where, *told, (epoch,)).packed()


def bytes_in(parts: Iterable[Any]) -> int:
    """The bytes of all arrays among some values."""
    return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


def add_up(*reports: Report) -> Report:
    """Several reports as one, added in their order whoever was first."""
    behind = tuple(number for report in reports for number in report.behind)
    sent = sum(report.sent for report in reports)
    if behind:
        return Report({}, behind, sent)
    sums = {
        problem: total([report.sums[problem] for report in reports]) for problem in reports[0].sums
    }
    return Report(sums, (), sent + sum(map(bytes_in, sums.values())))


def total(parts: list[Sums]) -> Sums:
    """The sums of several."""
    size = max(part.size for part in parts)
    averages = parts[0].excess is not None
    moves, excess = np.zeros(size), np.zeros(size if averages else 0)
    touched = np.zeros(size, bool)
    for part in parts:
        where = slice(0, part.size) if part.positions is None else part.positions
        touched[where] = True
        moves[where] += part.moves
        if part.excess is not None:
            excess[where] += part.excess
    where = np.flatnonzero(touched)
    return Sums(
        sum(part.share for part in parts),
        size,
        where,
        moves[where].astype(parts[0].moves.dtype, copy=False),
        excess[where].astype(parts[0].moves.dtype, copy=False) if averages else None,
        np.sum([part.bias_moves for part in parts], axis=0),
        sum_or_none([part.bias_excess for part in parts]),
        sum((part.epochs for part in parts), ()),
    ).packed()


def sum_or_none(parts: list[Array | None]) -> Array | None:
    """The sum of arrays, if there are any."""
    given = [part for part in parts if part is not None]
    return np.asarray(np.sum(given, axis=0)) if given else None


def mix_into(solution: Last, sums: Sums) -> Array:
    """Move a solution to the mixed weights; return the positions that changed.

    With c rows seen before the epoch, m in it, and D = Σ a·Δ / Σ a, the weights become w + D. The
    average is over the weights after every row seen on any partition, so their sum c·w - u must
    grow by m·w + Σ Q. Hence u becomes u + (c + m)·D - Σ Q.
    """
    outputs = solution.weights.shape[1:]
    solution.widen(sums.size // int(np.prod(outputs)))
    solution.seen += sum(epoch.rows for epoch in sums.epochs)
    solution.mistakes += sum(epoch.mistakes for epoch in sums.epochs)
    where = np.arange(sums.size) if sums.positions is None else sums.positions
    weights, share = solution.weights.reshape(-1), sums.share or 1.0
    D = moved(weights, where, sums.moves / share)
    bias_D = moved(solution.bias, np.arange(len(solution.bias)), sums.bias_moves / share)
    if isinstance(solution, Average):
        solution.missing.reshape(-1)[where] += solution.seen * D - sums.excess
        solution.missing_bias += solution.seen * bias_D - sums.bias_excess
    return np.asarray(where[D != 0])


def moved(weights: Array, where: Array, by: Array) -> Array:
    """Move weights, and tell how far they went in their own precision."""
    before = weights[where].astype(np.float64)
    weights[where] = before + by
    return np.asarray(weights[where] - before)


# The model that moves while the data stay


class Baton(NamedTuple):
    """What goes from partition to partition: solutions by problem, and what each epoch counted."""

    solutions: dict[int, Last]
    epochs: dict[int, tuple[Epoch, ...]]


def relay(part: Part, number: int, baton: Baton, plan: Plan, epoch: int) -> Baton:
    """Go through a partition from where the one before it left off."""
    solutions = {problem: copy.deepcopy(last) for problem, last in baton.solutions.items()}
    epochs = {}
    for problem, solution in solutions.items():
        positive = plan.problems()[problem]
        result = learn_once(part, number, positive, solution, plan, epoch)
        epochs[problem] = (*baton.epochs[problem], result)
    return Baton(solutions, epochs)


# A look at all rows with given weights


class Look(NamedTuple):
    """What weights are worth on a partition, for one problem."""

    errors: int
    loss: float
    clean: bool
    least: float
    rows: int
    right: int


def look(
    shard: Shard, number: int, change: Change, plan: Plan, validating: bool
) -> dict[int, Look] | None:
    """Measure weights on the rows to learn from, or count right answers on those held out."""
    weights = held_weights(change)
    if weights is None:
        return None
    ((lesson, _),) = shard.lessons(plan)
    looks = {}
    for problem, (w, b) in weights.items():
        positive = plan.problems()[problem]
        if validating:
            looks[problem] = answers(shard, lesson, positive, w, b, plan)
        else:
            task = plan.model._task(lesson, plan.rule, positive)
            with explained(shard, number):
                looks[problem] = losses(task, w, b)
    return looks


def losses(task: Task, weights: Array, bias: Array) -> Look:
    """Both losses of weights, whether all rows are right, and the least margin."""
    run = Run(task, Last(weights, bias))
    clean = run.measure_losses()
    least = float(task.margins(weights, bias).min(initial=np.inf))
    return Look(run.errors, run.loss, clean, least, len(task.everything), 0)


def answers(
    shard: Shard, lesson: Lesson, positive: int | None, weights: Array, bias: Array, plan: Plan
) -> Look:
    """How many of the rows held out come out right."""
    held = np.zeros(0, np.uint32) if lesson.held_out is None else lesson.held_out
    X = matrix_of(lesson.rows, len(lesson.codes), shard.width)[held]
    codes = lesson.codes[held]
    wanted = codes if positive is None else (codes == positive).astype(np.intp)
    scores = X @ weights + bias
    predicted = chosen(scores if positive is None else scores.ravel(), plan.model.ties)
    right = int(np.count_nonzero(predicted == wanted))
    return Look(0, 0.0, True, np.inf, len(held), right)


def all_together(looks: list[Look]) -> Look:
    """What weights are worth on all partitions."""
    errors, loss, clean, least, rows, right = zip(*looks, strict=True)
    return Look(sum(errors), sum(loss), all(clean), min(least), sum(rows), sum(right))


# The epochs


class Track(Run):
    """The stop rules, history and best solution of one problem, whose epochs happen elsewhere."""

    measured: Look | None = None

    def take(self, epochs: Iterable[Epoch]) -> None:
        """Begin an epoch and count what happened in it."""
        self.begin_epoch()
        for epoch in epochs:
            self.rows += epoch.rows
            self.mistakes += epoch.mistakes
            self.errors += epoch.errors
            self.loss += epoch.loss

    def measure_losses(self) -> bool:
        """The losses that the workers found."""
        assert self.measured is not None
        self.errors, self.loss = self.measured.errors, self.measured.loss
        return self.measured.clean

    def chosen(self) -> Last:
        """The solution to keep: the best on the rows held out, if there are any."""
        return self.solution if self.best is None else self.best[2]


class Job:
    """A training on a cluster: the driver's side.

    Parameters
    ----------
    cluster
        Where to.
    parts
        Streams, or shards on the workers.
    plan
        What to learn.
    wishes
        How.
    """

    def __init__(self, cluster: Cluster, parts: list[Any], plan: Plan, wishes: Wishes) -> None:
        self.cluster, self.parts, self.plan, self.wishes = cluster, parts, plan, wishes
        self.relays = wishes.mode == "sequential" or len(parts) == 1  # nothing to mix
        self.tracks = [new_track(plan) for _ in plan.problems()]
        self.epoch, self.rounds, self.rows = 0, list[Round](), tuple[int, ...]()
        self.changed: dict[int, Array] | None = None
        self.run = token_hex(8)

    def unfinished(self) -> dict[int, Track]:
        """The problems that go on."""
        left = enumerate(self.tracks)
        return {problem: track for problem, track in left if not track.stop_reason}

    def train(self, after: Callable[["Job"], None]) -> None:
        """Go through epochs until all problems have stopped."""
        while self.unfinished():
            started, tracks = time.perf_counter(), self.unfinished()
            self.epoch += 1
            once = self.relay_once if self.relays else self.mix_once
            epochs, moved = self.cluster.again_when_lost(once)
            for problem, track in tracks.items():
                track.take(epochs[problem])
            looked = self.cluster.again_when_lost(self.look_around)
            for track in tracks.values():
                track.end_epoch()
                if track.epoch >= track.max_iter:
                    track.stop_reason = track.stop_reason or "max_iter"
            self.keep_round(epochs, moved + looked, time.perf_counter() - started)
            after(self)

    # Mixing

    def mix_once(self) -> tuple[dict[int, tuple[Epoch, ...]], int]:
        """One epoch on all partitions at once; nothing is changed before all is there."""
        change, moved = self.change()
        learnt = self.cluster.on_each("learn", learn, self.parts, change, self.plan)
        report = self.sum_of(learnt)
        while report.behind:
            change, more = self.change(from_zero=True)
            moved += more
            for i in report.behind:
                again = self.parts[i], i, change, self.plan
                learnt[i] = self.cluster.submit("learn", learn, *again)
            report = self.sum_of(learnt)
        self.changed = {
            problem: mix_into(self.tracks[problem].solution, sums)
            for problem, sums in report.sums.items()
        }
        return {problem: sums.epochs for problem, sums in report.sums.items()}, moved + report.sent

    def sum_of(self, reports: list[Any]) -> Report:
        """The sum of reports, added up in a tree whose shape depends on their number only."""
        while len(reports) > 1:
            groups = range(0, len(reports), MIXED_AT_ONCE)
            reports = [
                self.cluster.submit("mix", add_up, *reports[i : i + MIXED_AT_ONCE]) for i in groups
            ]
        (result,) = self.cluster.results(reports)
        return Report(*result)

    def change(self, from_zero: bool = False) -> tuple[Any, int]:
        """The weights that the next epoch starts from, sent to the workers, and how many bytes.

        Told from the epoch before, unless there is none or somebody lacks it.
        """
        changed = None if from_zero else self.changed
        since = None if changed is None else self.epoch - 1
        weights = {
            problem: weights_at(track.solution, None if changed is None else changed[problem])
            for problem, track in self.unfinished().items()
        }
        return self.send(Change(self.run, self.epoch, since, weights))

    def send(self, change: Change) -> tuple[Any, int]:
        """A change on its way to all workers, and how many bytes that takes."""
        size = sum(map(bytes_in, change.weights.values()))
        return self.cluster.share(change), size * self.cluster.workers()

    # Sequential

    def relay_once(self) -> tuple[dict[int, tuple[Epoch, ...]], int]:
        """One epoch from partition to partition."""
        tracks = self.unfinished()
        solutions = {problem: track.solution for problem, track in tracks.items()}
        start = Baton(solutions, dict.fromkeys(tracks, ()))
        baton = self.cluster.share(start, everywhere=False)
        places = self.cluster.holders(self.parts)
        for i, part in enumerate(self.parts):
            lap = part, i, baton, self.plan, self.epoch
            baton = self.cluster.submit("relay", relay, *lap, where=places[i])
        (last,) = self.cluster.results([baton])
        for problem, track in tracks.items():
            track.solution = copy.deepcopy(last.solutions[problem])  # what arrives is read-only
        hops = len(self.parts) + 1
        return last.epochs, hops * sum(solution_bytes(track.solution) for track in tracks.values())

    # After an epoch

    def look_around(self) -> int:
        """Measure and validate, if the estimator asks for it; tell the bytes that this took."""
        model, moved = self.plan.model, 0
        if model.measure:
            looks, moved = self.look(lambda last: (last.weights, last.bias), False)
            for problem, found in looks.items():
                self.tracks[problem].measured = found
        if model.early_stopping:
            looks, more = self.look(lambda last: last.answer(), True)
            moved += more
            for problem, found in looks.items():
                score = found.right / found.rows
                self.tracks[problem].validate = lambda _, score=score: score
        return moved

    def look(
        self, weights_of: Callable[[Last], tuple[Array, Array]], validating: bool
    ) -> tuple[dict[int, Look], int]:
        """What weights are worth on all partitions."""
        tracks = self.unfinished() or dict(enumerate(self.tracks))
        weights = {problem: whole(*weights_of(track.solution)) for problem, track in tracks.items()}
        name = f"{self.run}-{validating}"  # kept apart from the weights to learn from
        change, moved = self.send(Change(name, self.epoch, None, weights))
        looks = self.cluster.on_each("look", look, self.parts, change, self.plan, validating)
        found = self.cluster.results(looks)
        together = {problem: all_together([look[problem] for look in found]) for problem in tracks}
        return together, moved

    def keep_round(self, epochs: dict[int, tuple[Epoch, ...]], moved: int, seconds: float) -> None:
        """Write down what happened."""
        by_part = zip(*epochs.values(), strict=True)
        mistakes = tuple(sum(epoch.mistakes for epoch in part) for part in by_part)
        self.rows = tuple(epoch.rows for epoch in next(iter(epochs.values())))
        record = merged([track.history for track in self.tracks])[-1]
        weighted = weighted_mistakes((sum(mistakes),) if self.relays else mistakes, self.plan.mix)
        self.rounds.append(Round(record, mistakes, weighted, moved, seconds))


def weighted_mistakes(mistakes: tuple[int, ...], mix: str) -> float:
    """Σ μ k of one epoch.

    >>> weighted_mistakes((1, 3), "uniform"), weighted_mistakes((1, 3), "mistakes")
    (2.0, 2.5)
    """
    if mix == "uniform":
        return sum(mistakes) / len(mistakes)
    return sum(k * k for k in mistakes) / (sum(mistakes) or 1)


def new_track(plan: Plan) -> Track:
    """A problem that has not begun."""
    model = plan.model
    count = 2 if plan.problems() != [None] else len(plan.classes)
    return Track(
        no_rows(plan.rule),
        new_solution(model.solution, count, plan.width, plan.dtype),
        max_iter=model.max_iter,
        measure=model.measure,
        patience=model.n_iter_no_change,
    )


def weights_at(solution: Last, positions: Array | None) -> Weights:
    """The weights of a solution at some positions, or all that are not zero."""
    values = solution.weights.reshape(-1)
    if positions is None:
        return whole(solution.weights, solution.bias)
    kind = np.uint32 if len(values) <= 2**32 else np.uint64
    positions = positions.astype(kind, copy=False)
    if positions.nbytes + len(positions) * values.itemsize >= values.nbytes:
        return Weights(solution.weights.shape, None, values.copy(), solution.bias.copy())
    return Weights(solution.weights.shape, positions, values[positions], solution.bias.copy())


def whole(weights: Array, bias: Array) -> Weights:
    """All weights, told from zero."""
    return weights_at(Last(weights, bias), np.flatnonzero(weights.reshape(-1)))


def solution_bytes(solution: Last) -> int:
    """The bytes of the arrays of a solution."""
    return bytes_in(vars(solution).values())


def trained(
    estimator: Perceptron,
    data: Partitions,
    parts: list[Any],
    cluster: Cluster,
    wishes: Wishes,
    tell: Callable[[Round], None],
) -> Perceptron:
    """The estimator, fitted to partitions."""
    begun = begun_model(wishes)
    streams = bool(parts) and isinstance(parts[0], Stream)
    found, parts = peeked(cluster, parts) if streams else surveyed(cluster, parts)
    plan = planned(estimator, found, wishes, data.from_files, begun)
    if not streams:
        number = partial(cluster.submit, "prepare", numbered)
        parts = [number(part, i, plan) for i, part in enumerate(parts)]
        cluster.again_when_lost(partial(cluster.wait, parts))  # to know where they are
    job = Job(cluster, parts, plan, wishes)
    if len(job.tracks) > 1 and estimator.early_stopping and wishes.checkpoint is not None:
        raise ValueError(
            'A run with multi_class="ovr" and early_stopping cannot be left and resumed; leave '
            "checkpoint= out."
        )
    first_rows = [one.rows for one in found]
    keeper = Keeper(estimator, data, first_rows, wishes.checkpoint)
    if begun is not None:
        keeper.restore(job, begun)

    def after(job: Job) -> None:
        tell(job.rounds[-1])
        keeper.save(job)

    try:
        job.train(after)
        return keeper.fitted(job, proof_of(job, found, streams))
    except WorkersLostError as lost:
        raise WorkersLostError(keeper.last_words(job, lost)) from lost.__cause__
    finally:
        with suppress(OSError, RuntimeError, TimeoutError):
            cluster.client.run(forget, job.run, on_error="ignore")


def surveyed(cluster: Cluster, parts: list[Any]) -> tuple[list[Found], list[Any]]:
    """What is found in the partitions that have rows, and these partitions."""

    def surveys() -> list[Found]:
        return cluster.results([cluster.submit("survey", survey, part) for part in parts])

    with before_the_first_epoch():
        found = cluster.again_when_lost(surveys)
    full = [number for number, one in enumerate(found) if one.rows]
    if not full:
        raise ValueError("There are no rows to learn from.")
    return [found[number] for number in full], [parts[number] for number in full]


def peeked(cluster: Cluster, parts: list[Any]) -> tuple[list[Found], list[Any]]:
    """What is found at the beginning of the first files that have two labels, and all files."""
    found: list[Found] = []
    for part in parts:
        with before_the_first_epoch():
            one = cluster.again_when_lost(partial(cluster.result, "survey", peek, part))
        found += [one] if one.rows else []
        if len({label for one in found for label in one.classes.tolist()}) > 1:
            break
    if not found:
        raise ValueError("There are no rows to learn from.")
    return found, parts


@contextmanager
def before_the_first_epoch() -> Iterator[None]:
    """Say so when all workers are lost."""
    try:
        yield
    except WorkersLostError as lost:
        raise WorkersLostError(f"The workers are lost before the first epoch: {lost}.") from lost


def proof_of(job: Job, found: list[Found], streams: bool) -> tuple[float, float] | None:
    """The radius and the margin of the last weights, when they separate two plain classes."""
    model, (track, *more) = job.plan.model, job.tracks
    plain = model.margin == 0 and model.class_weight is None and not model.early_stopping
    if streams or more or track.stop_reason != "separated" or track.solution.weights.ndim > 1:
        return None
    if not plain or model.ties != "mistake":
        return None
    looks, _ = job.cluster.again_when_lost(
        lambda: job.look(lambda last: (last.weights, last.bias), False)
    )
    weights, bias = track.solution.weights.astype(np.float64), float(track.solution.bias[0])
    step = job.plan.rule.intercept_step
    length = np.linalg.norm(weights_with_bias(weights, bias, step))
    radius = radius_with_bias(np.sqrt(max(one.squared_radius for one in found)), step)
    return radius, float(looks[0].least / length)


# What is kept: on disk after each epoch, in the estimator at the end


def begun_model(wishes: Wishes) -> Model | None:
    """The model of an earlier run to go on with, if it is asked for and there is one."""
    if wishes.resume and wishes.checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the file to go on from.")
    if not wishes.resume or wishes.checkpoint is None or not Path(wishes.checkpoint).exists():
        return None
    begun = storage.load(wishes.checkpoint)
    if "cluster" not in begun.facts:
        raise ValueError(f"{wishes.checkpoint} is no checkpoint of a cluster; begin the run anew.")
    return begun


class Keeper(NamedTuple):
    """Turns what a job has into a model file or a fitted estimator, and back."""

    estimator: Perceptron
    data: Partitions
    rows: list[int]
    path: str | os.PathLike[str] | None

    def save(self, job: Job) -> None:
        """Write the model so far, if there is a place for it."""
        if self.path is not None:
            storage.save(self.path, self.model(job))

    def model(self, job: Job) -> Model:
        """All that going on needs."""
        tracks, histories = job.tracks, [track.history for track in job.tracks]
        about = self.identity(job) | {
            "histories": histories,
            "stop_reasons": [track.stop_reason for track in tracks],
            "rounds": job.rounds,
            "rows": job.rows,
        }
        facts = {
            "stop_reason": stop_reason(tracks) or "unfinished",
            "rows": sum(job.rows),
            "intercept_step": job.plan.rule.intercept_step,
            "plain": False,
            "cluster": about,
        }
        bookmark = None
        if job.unfinished():
            bookmark = tracks[0].bookmark() if len(tracks) == 1 else Bookmark(epoch=job.epoch)
        features = self.data.features or {}
        if self.data.names is not None:
            features = {"names": self.data.names}
        solutions = [track.solution if bookmark else track.chosen() for track in tracks]
        parameters = self.estimator.get_params() | {"random_state": job.plan.seed}
        history = merged(histories)
        return Model(parameters, job.plan.classes, solutions, features, facts, history, bookmark)

    def identity(self, job: Job) -> dict[str, Any]:
        """What a run must share with one that it goes on from."""
        return {"mode": job.wishes.mode, "mix": job.wishes.mix, "partitions": self.rows}

    def restore(self, job: Job, begun: Model) -> None:
        """Take a job to where an earlier run stood."""
        about = begun.facts["cluster"]
        now = self.identity(job) | self.estimator.get_params()
        before = about | begun.parameters
        if self.estimator.random_state is None:
            now["random_state"] = before["random_state"]
        for name, value in now.items():
            if before[name] != value:
                raise ValueError(
                    f"The run in {self.path} began with {name} = {before[name]}, not {value}; "
                    "resume it with the same data and parameters."
                )
        if not np.array_equal(begun.classes, job.plan.classes):
            raise ValueError(f"The run in {self.path} began with other labels.")
        job.rounds = [round_of(values) for values in about["rounds"]]
        job.epoch, job.rows = len(job.rounds), tuple(about["rows"])
        for track, solution, history, reason in zip(
            job.tracks, begun.solutions, about["histories"], about["stop_reasons"], strict=True
        ):
            track.solution, track.stop_reason = solution, reason
            track.history = [Epoch(*values) for values in history]
            track.epoch = len(track.history)
            mark = begun.bookmark
            if mark is not None and mark.best is not None:
                track.best = mark.best_score, mark.best_epoch, mark.best

    def last_words(self, job: Job, lost: WorkersLostError) -> str:
        """What to say when nobody is left."""
        done = len(job.rounds)
        if self.path is None:
            hope = "Give checkpoint= a file to be able to go on from the last epoch."
        elif done:
            hope = f"The model after epoch {done} is in {self.path}; go on with resume=True."
        else:
            hope = "No epoch was complete."
        return f"The workers are lost: {lost}. {hope}"

    def fitted(self, job: Job, proof: tuple[float, float] | None) -> Perceptron:
        """The estimator with what was learnt."""
        model, plan = self.estimator, job.plan
        model.classes_ = plan.classes
        model._solutions, model._answered = [track.chosen() for track in job.tracks], None
        model._intercept_step = plan.rule.intercept_step
        model._features = self.data.features
        model.__dict__.pop("feature_names_in_", None)
        if self.data.names is not None:
            model.feature_names_in_ = np.array(self.data.names, object)
        model.n_features_in_ = len(model._solutions[0].weights)
        model.n_mistakes_ = sum(solution.mistakes for solution in model._solutions)
        model.history_ = merged([track.history for track in job.tracks])
        model.n_iter_, model.stop_reason_ = len(model.history_), stop_reason(job.tracks)
        plain = model.margin == 0 and model.class_weight is None and not model.early_stopping
        model._plain = plain and job.relays  # mixed weights are no sum of mistakes
        weighted = sum(one.weighted_mistakes for one in job.rounds)
        made = job.wishes.mode, job.wishes.mix, job.rows, tuple(job.rounds), weighted
        model.mixing_ = Mixing(*made, *(proof or ()))
        model._answer()
        return model


def stop_reason(tracks: list[Track]) -> str:
    """Why training ended, or nothing while it goes on: the least that holds for all problems."""
    reasons = {track.stop_reason for track in tracks}
    return next(name for name in ("", "max_iter", "no_improvement", "separated") if name in reasons)


def round_of(values: list[Any]) -> Round:
    """A round as it was before it was written to a file."""
    epoch, mistakes, *rest = values
    return Round(Epoch(*epoch), tuple(mistakes), *rest)


# What is said


@contextmanager
def told(
    report: Callable[[Round], None] | None, model: Perceptron
) -> Iterator[Callable[[Round], None]]:
    """Who hears of the rounds: the caller, or whoever reads standard output."""
    if report is not None or not model.verbose:
        yield report or (lambda _: None)
    elif sys.stdout.isatty():
        with progress.new_bar() as bar:
            line = bar.add_task("", total=model.max_iter, speed="")

            def show(done: Round) -> None:
                print(line_of(done), flush=True)
                number = done.epoch.epoch
                what = f"epoch {number} of {model.max_iter}"
                bar.update(line, description=what, completed=number)

            yield show
    else:
        yield lambda done: print(line_of(done), flush=True)


def line_of(done: Round) -> str:
    """What happened in an epoch, in one line.

    >>> line_of(Round(Epoch(3, 200, 10, 8, 2.5), (4, 6), 5.0, 2_500_000, 0.5))
    'epoch    3          10 mistakes (4-6 per shard)    4.00% error     2.5 MB moved    0.50 s'
    """
    epoch, mistakes = done.epoch, done.mistakes
    share = epoch.errors / max(epoch.rows, 1)
    return (
        f"epoch {epoch.epoch:4d}  {epoch.mistakes:10,d} mistakes "
        f"({min(mistakes):,d}-{max(mistakes):,d} per shard)  {share:7.2%} error  "
        f"{done.bytes_moved / 1e6:6,.1f} MB moved  {done.seconds:6.2f} s"
    )


# Predicting


def predict(model: Perceptron, X: Any, **reading: Any) -> Any:
    """The label of each row of a dask collection or of files, when it is computed.

    Parameters
    ----------
    model : Perceptron
        Fitted, here or elsewhere.
    X, **reading
        As for ``fit``; of files, the features are made as the model's were.

    Returns
    -------
    dask array, or dask series for a data frame
        Nothing is computed yet.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0], [-1.0]], [1, 0])
    >>> predict(model, da.from_array(np.array([[3.0], [-3.0], [1.0]]), chunks=(2, 1))).compute()
    array([1, 0, 1])
    """
    light = delayed(answering(model), pure=True)
    if hasattr(X, "columns"):
        meta = (None, model.classes_.dtype)
        return X.map_partitions(labels_of_frame, light, meta=meta)
    if isinstance(X, da.Array):
        empty = np.empty(0, model.classes_.dtype)
        whole_rows = X.rechunk({1: -1})
        return whole_rows.map_blocks(labels_for, light, drop_axis=1, dtype=empty.dtype, meta=empty)
    shards = like_the_model(model, X, reading)
    labels = (
        da.from_delayed(delayed(labels_for)(shard, light), (np.nan,), model.classes_.dtype)
        for shard in shards
    )
    return da.concatenate(list(labels))


def score(model: Perceptron, X: Any, y: Any = None, **reading: Any) -> float:
    """The share of rows of a dask collection or of files that come out right.

    Parameters
    ----------
    model : Perceptron
        Fitted, here or elsewhere.
    X, y, **reading
        As for ``fit``.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0], [-1.0]], [1, 0])
    >>> X, y = np.array([[3.0], [-3.0], [1.0]]), np.array([1, 0, 0])
    >>> round(score(model, da.from_array(X, chunks=(2, 1)), da.from_array(y, chunks=2)), 3)
    0.667
    """
    light = delayed(answering(model), pure=True)
    if hasattr(X, "dask") and (isinstance(X, da.Array) or hasattr(X, "columns")):
        parts = partitions_of(X, y, None, False, reading).parts
    else:
        parts = like_the_model(model, X, reading)
    counts = compute(*(delayed(right_and_all)(light, part) for part in parts))
    right, rows = np.sum(counts, axis=0).tolist()
    if not rows:
        raise ValueError("There are no rows to score.")
    return float(right / rows)


def answering(model: Perceptron) -> Perceptron:
    """The model without what only training needs."""
    light = copy.copy(model)
    light._answer()
    light._solutions = [solution for solution in model._solutions if isinstance(solution, Vote)]
    return light


def like_the_model(model: Perceptron, X: Any, reading: dict[str, Any]) -> list[Any]:
    """The rows of files as delayed shards, their features made as the model's were."""
    recipe = model._features.get("recipe")
    if recipe is not None:
        reading = {"features": recipe, **reading}
    return [delayed(load_files)(stream) for stream in files_of(X, reading).parts]


def labels_for(block: Any, model: Perceptron) -> Array:
    """The predicted labels of a block or a shard."""
    X = shard_matrix(block, model.n_features_in_) if isinstance(block, Shard) else block
    return model.predict(X) if X.shape[0] else model.classes_[:0]


def shard_matrix(shard: Shard, width: int) -> Any:
    """The rows of a shard with the columns that a model knows."""
    count = len(shard.labels)
    if shard.rows.indices is None:
        return matrix_of(shard.rows, count, shard.width)
    return matrix_of(shard.rows, count, max(shard.width, width))[:, :width]


def labels_of_frame(frame: Any, model: Perceptron) -> Any:
    """The predicted labels of a part of a data frame, with its index."""
    import pandas

    return pandas.Series(labels_for(frame, model), frame.index)


def right_and_all(model: Perceptron, shard: Shard) -> tuple[int, int]:
    """How many rows of a shard come out right, of how many."""
    predicted = labels_for(shard, model)
    return int(np.count_nonzero(predicted == shard.labels)), len(shard.labels)


# Proving


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    client: Client | None = None,
    **reading: Any,
) -> Separable | Inseparable | Undecided:
    """Decide whether a hyperplane separates two classes on a cluster, with an exact proof.

    A few rows are judged here, as ``rosenblatt.separability`` judges all. Rows that clash among
    themselves settle it. Else the hyperplane found is checked exactly on every partition, and the
    rows on its wrong side join the few; so only hard rows travel.

    Parameters
    ----------
    X, y, client, **reading
        As for ``fit``.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.

    Returns
    -------
    Separable, Inseparable or Undecided
        As ``rosenblatt.separability``; rows are numbered through all partitions.
    """
    cluster = Cluster(client or current_client(), 30.0)
    reading = {"dtype": np.float64, **reading} if not hasattr(X, "dask") else reading
    shards = partitions_of(X, y, None, True, reading).loaded(cluster)
    found, shards = surveyed(cluster, shards)
    classes = all_classes(found, None)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, and this is about two; give y == label for one of them."
        )
    width = max(one.width for one in found)
    firsts = np.cumsum([0, *(one.rows for one in found)])
    few = Few(width, {}, {})
    ask = partial(cluster.submit, "judge", judge)
    verdict: Any = None
    while True:
        tasks = [ask(part, verdict, classes, width) for part in shards]
        judged = cluster.again_when_lost(partial(cluster.results, tasks))
        if isinstance(verdict, Separable) and all(one.clean for one in judged):
            return replace(verdict, margin=min(one.margin for one in judged))
        if not few.grow(judged, firsts):
            return Undecided(-np.inf, np.inf)
        verdict = few.verdict(fit_intercept)
        if isinstance(verdict, Inseparable):
            support = tuple(list(few.rows)[number] for number in verdict.support)
            return replace(verdict, support=support)
        if isinstance(verdict, Undecided):
            return verdict


class Judged(NamedTuple):
    """Whether all rows of a partition are strictly right, their margin, and the hardest rows."""

    clean: bool
    margin: float
    numbers: Array
    X: Any
    signs: Array


def judge(shard: Shard, verdict: Separable | None, classes: Array, width: int) -> Judged:
    """Check a hyperplane exactly; without one, take some rows of each class."""
    X = shard_matrix(shard, width).astype(np.float64)
    signs = np.where(shard.labels == classes[1], 1.0, -1.0)
    if verdict is None:
        halves = [np.flatnonzero(signs == sign)[: HARD_ROWS // 2] for sign in (-1, 1)]
        hard, clean, margin = np.concatenate(halves), False, -np.inf
    else:
        w, b = np.array(verdict.weights, np.float64), float(verdict.bias)
        margins = signs * (X @ w + b)
        hard = np.argsort(margins, kind="stable")[:HARD_ROWS]
        clean = verdict.verify(X, signs)
        length = np.linalg.norm(w)
        margin = float(margins[hard[0]] / length) if length else np.inf
    return Judged(clean, margin, hard, X[hard], signs[hard])


class Few(NamedTuple):
    """The rows that travelled, by their number among all."""

    width: int
    rows: dict[int, Any]
    signs: dict[int, float]

    def grow(self, judged: list[Judged], firsts: Array) -> bool:
        """Take the hard rows of partitions that are not clean; say whether any is new."""
        before = len(self.rows)
        for first, one in zip(firsts, judged, strict=False):
            if not one.clean:
                for place, number in enumerate((first + one.numbers).tolist()):
                    self.rows.setdefault(number, one.X[[place]])
                    self.signs.setdefault(number, float(one.signs[place]))
        return len(self.rows) > before

    def verdict(self, fit_intercept: bool) -> Any:
        """What the rows so far prove."""
        signs = np.array(list(self.signs.values()))
        rows = list(self.rows.values())
        some_sparse = any(sparse.issparse(row) for row in rows)
        X = (
            sparse.vstack(list(map(sparse.csr_array, rows)), "csr")
            if some_sparse
            else np.vstack(rows)
        )
        return decided(X, signs, fit_intercept=fit_intercept)


# From the shell


def connected(address: str) -> Client:
    """A client for ``local:N``, an address such as ``tcp://…``, or a scheduler's file.

    Parameters
    ----------
    address : str
        ``local:4`` starts four workers here; they end with the client.
    """
    kind, _, count = address.partition(":")
    if kind == "local":
        if not (count or "1").isdigit() or count == "0":
            raise ValueError(f"--cluster {address} is not local:N with a number of workers.")
        cores = int(count) if count else os.cpu_count()
        with config.set({"distributed.nanny.pre-spawn-environ": {}}):  # see docs/scale.md
            return Client(
                n_workers=cores, threads_per_worker=1, dashboard_address=":0", set_as_default=False
            )
    try:  # as the default, a client that finds no scheduler would stay behind
        if os.path.exists(address):
            return Client(scheduler_file=address, set_as_default=False)
        return Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"--cluster {address} is no local:N, scheduler's address or file: {error}."
        ) from None


def train(
    data: str,
    reading: dict[str, Any],
    lesson: FileLesson,
    address: str,
    report: Callable[[Round], None] | None,
    checkpoint: Path | None,
    resume: bool,
) -> Model:
    """What ``files.train`` does, on a cluster.

    Parameters
    ----------
    data, reading
        The files, and the options of ``read``.
    lesson
        How to learn.
    address
        As for ``connected``.
    report, checkpoint, resume
        As for ``fit``.
    """
    for option, wanted in {"--window": lesson.window, "--holdout": lesson.holdout}.items():
        if wanted:
            raise ValueError(f"{option} does not go with --cluster; leave one out.")
    estimator = Perceptron(
        solution=lesson.solution,
        order=lesson.order or ("each" if lesson.epochs > 1 else "fixed"),
        margin=lesson.margin,
        max_iter=lesson.epochs,
        early_stopping=lesson.early_stopping,
        class_weight="balanced" if lesson.balanced else None,
        random_state=lesson.seed,
        verbose=int(report is None),
    )
    check_supported(estimator, "mixing", "uniform")  # before a cluster is started
    with connected(address) as client:
        wishes = {"client": client, "checkpoint": checkpoint, "resume": resume, "report": report}
        fit(estimator, data, classes=lesson.classes, **wishes, **reading)
    facts = {
        "stop_reason": estimator.stop_reason_,
        "rows": sum(estimator.mixing_.rows),
        "intercept_step": estimator._intercept_step,
        "plain": False,
    }
    parts = estimator.classes_, estimator._solutions, estimator._features, facts
    return Model(estimator.get_params(), *parts, estimator.history_)

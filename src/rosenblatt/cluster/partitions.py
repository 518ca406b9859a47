"""Partitions of arrays, data frames or files as batches of rows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import delayed
from scipy.sparse import csr_matrix
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from ..data.labels import make_labels, tidy
from ..data.rows import read_only, view_rows
from ..data.weights import row_weights
from ..kernels.algebra import Rows
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import CodedError, ParameterError
from ..reading.batches import Batch, get_labels, join_batches
from ..reading.reader import Reader, read
from ..reading.sources import Source
from ..training.training import Part


class LoadedPartition(NamedTuple):
    """Rows in the memory of a worker, with a learner without weights."""

    learner: LinearLearner
    given: TrainingRows

    def parts(self) -> Iterator[Part]:
        """All rows as one part of a run."""
        yield self.learner.part(self.given._replace(rows=view_read_only(self.given.rows)))


class Loaded(NamedTuple):
    """The rows of a partition, sentences and codes of notices about them, and the broken rows."""

    batch: Batch
    notices: tuple[tuple[str, str], ...] = ()
    bad: int = 0


def load_file(path: str, reading: dict[str, Any]) -> Loaded:
    """All rows of a file as one partition; ``reading`` are options of ``read``."""
    reader = read(path, **reading)
    nothing = view_rows(csr_matrix((0, 0), dtype=np.float32))
    whole = join_batches(list(reader) or [Batch(nothing, np.zeros(0), None, 0, 0, 0)])
    labels = tidy(get_labels(whole))
    return Loaded(whole._replace(labels=labels), tuple(list_notices(reader)), reader.bad)


def view_read_only(rows: Rows) -> Rows:
    """Rows as kernels want them, which is not how they arrive from another worker."""
    indices = None if rows.indices is None else read_only(rows.indices)
    return Rows(read_only(rows.values), indices, read_only(rows.starts))


class Partitions(NamedTuple):
    """Rows on a cluster, delayed; how they become features; and a reader of the first file."""

    parts: list[Any]
    features: dict[str, Any]
    reader: Reader | None = None


def make_partitions(X: Any, y: Any, weights: Any, reading: dict[str, Any]) -> Partitions:
    """The partitions of a Dask collection or of files."""
    if not is_collection(X):
        if y is not None or weights is not None:
            raise ParameterError(
                "Files have labels and weights in them; leave y and sample_weight out.",
                code="labels-of-files",
            )
        return partition_files(X, reading)
    if reading:
        raise TypeError(f"{sorted(reading)} are options for files, but X is a dask collection.")
    features = {}
    if hasattr(X, "columns"):
        if isinstance(y, str):
            X, y = X.drop(columns=y), X[y]
        if all(isinstance(name, str) for name in X.columns):
            features["names"] = list(X.columns)
    if y is None:
        raise ParameterError(
            "y is missing: pass the labels, or the name of a data frame's column.", code="no-labels"
        )
    blocks = list_blocks(X)
    labels = cut_like(y, X, len(blocks), "y")
    scales = [None] * len(blocks)
    if weights is not None:
        scales = cut_like(weights, X, len(blocks), "sample_weight")
    rows, load = enumerate(zip(blocks, labels, scales, strict=True)), delayed(make_batch)
    return Partitions([load(*block, number) for number, block in rows], features)


def is_collection(X: Any) -> bool:
    """Whether X is a dask array or data frame, not files."""
    return hasattr(X, "dask")


def list_blocks(X: Any) -> list[Any]:
    """The blocks of rows of a collection, as delayed values."""
    if isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def cut_like(y: Any, X: Any, count: int, name: str) -> list[Any]:
    """The blocks of y, cut as X is."""
    if not hasattr(y, "dask"):
        y = da.from_array(np.asarray(y))
    if isinstance(X, da.Array) and isinstance(y, da.Array):
        known = not np.isnan([*X.chunks[0], *y.chunks[0]]).any()
        if known and len(y) != len(X):
            raise ParameterError(
                f"X has {len(X)} rows and {name} {len(y)}; each row needs one.", code="other-length"
            )
        if known:
            y = y.rechunk((X.chunks[0], *y.chunks[1:]))
    blocks = list_blocks(y)
    if len(blocks) != count:
        raise ParameterError(
            f"X has {count} partitions and {name} {len(blocks)}; cut both at the same rows.",
            code="other-partitions",
        )
    return blocks


def partition_files(X: Any, reading: dict[str, Any]) -> Partitions:
    """A partition per file; all are read as the first one is."""
    given = [X] if isinstance(X, str | os.PathLike) else list(X)
    paths = [str(file) for path in given for file in Source(path).files]
    if not paths:
        raise ParameterError("There are no files to learn from.", code="no-files")
    reader = read(paths[0], **reading)
    if reader.multilabel:
        raise ParameterError(
            "A cluster trains on rows with one label each, but these may have several; train on "
            "one machine.",
            code="cluster-label-sets",
        )
    kept, recipe = ("skip_bad", "dtype", "batch_bytes", "threads"), reader.features()
    alike = {"features": recipe, "label": recipe["label"], "format": reader.format, "threads": 1}
    alike |= {name: reading[name] for name in kept if name in reading}
    parts = [delayed(load_file, pure=False)(path, alike) for path in paths]
    return Partitions(parts, {"recipe": recipe, "format": reader.format, "largest": []}, reader)


def list_notices(reader: Reader) -> list[tuple[str, str]]:
    """The sentences and codes of a reader's notices."""
    return [(notice.sentence, notice.code) for notice in reader.notices]


def make_batch(X: Any, y: Any, weights: Any, number: int) -> Loaded:
    """The rows of a block of a collection."""
    with name_partition(number):
        options: Any = {"ensure_all_finite": False, "ensure_min_samples": 0, "order": "C"}
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], **options)
        y = column_or_1d(make_labels(y))
        check_consistent_length(X, y)
        return Loaded(Batch(view_rows(X), y, row_weights(y, weights, None), X.shape[1], 0, 0))


@contextmanager
def name_partition(number: int) -> Iterator[None]:
    """Put the number of the partition before the message of an error."""
    try:
        yield
    except CodedError as error:
        raise error.reword(f"Partition {number}: {error}") from None
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from None

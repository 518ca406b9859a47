"""Predicting: labels where the rows are, and how many of them are right."""

import copy
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import delayed

from ..data.rows import Array
from ..estimators.perceptron import Perceptron
from ..reading.batches import Batch
from ..training.solutions import Last
from .partitions import (
    FilePartition,
    is_collection,
    make_partitions,
    partition_files,
    seen_read_only,
)


def predict(model: Perceptron, X: Any, **reading: Any) -> Any:
    """The label of each row of a dask collection or of files, when it is computed.

    Parameters
    ----------
    model : Perceptron
        Fitted, here or elsewhere.
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
        The rows.
    **reading
        Of files: the options of ``read``, such as ``label`` and ``text``; features are made as the
        model's were.

    Returns
    -------
    dask array, or dask series for a data frame
        Nothing is computed yet.

    See Also
    --------
    score : How many come out right.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0], [-1.0]], [1, 0])
    >>> predict(model, da.from_array(np.array([[3.0], [-3.0], [1.0]]), chunks=(2, 1))).compute()
    array([1, 0, 1])
    """
    light, dtype = delayed(without_training(model), pure=True), model.classes_.dtype
    if hasattr(X, "columns"):
        return X.map_partitions(labels_of_frame, light, meta=(None, dtype))
    if isinstance(X, da.Array):
        rows, empty = X.rechunk({1: -1}), np.empty(0, dtype)
        return rows.map_blocks(labels_of_block, light, drop_axis=1, dtype=dtype, meta=empty)
    labels = (
        da.from_delayed(delayed(labels_of_batch)(batch, light), (np.nan,), dtype)
        for batch in delay_batches(model, X, reading)
    )
    return da.concatenate(list(labels))


def score(model: Perceptron, X: Any, y: Any = None, **reading: Any) -> float:
    """The share of rows of a dask collection or of files that come out right.

    Parameters
    ----------
    model : Perceptron
        Fitted, here or elsewhere.
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
        The rows.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    **reading
        Of files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    predict : The labels themselves.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0], [-1.0]], [1, 0])
    >>> X, y = np.array([[3.0], [-3.0], [1.0]]), np.array([1, 0, 0])
    >>> round(score(model, da.from_array(X, chunks=(2, 1)), da.from_array(y, chunks=2)), 3)
    0.667
    """
    light = delayed(without_training(model), pure=True)
    if is_collection(X):
        batches = make_partitions(X, y, None, False, reading).parts
    else:
        batches = delay_batches(model, X, reading)
    counts = compute(*(delayed(right_and_all)(batch, light) for batch in batches))
    right, n_rows = np.sum(counts, axis=0).tolist()
    if not n_rows:
        raise ValueError("There are no rows to score.")
    return float(right / n_rows)


def without_training(model: Perceptron) -> Perceptron:
    """The model without what only training needs."""
    light, learner = copy.copy(model), model._learner
    if learner.multilabel:
        raise ValueError(
            "A cluster predicts one label of each row, and this model any number; use its own "
            "predict on each part."
        )
    if not learner.votes:
        pairs = [state.coefficients() for state in learner.states]
        states = [Last(weights, bias, rule=learner.rule) for weights, bias in pairs]
        light._learner = replace(learner, states=states)
    return light


def delay_batches(model: Perceptron, X: Any, reading: dict[str, Any]) -> list[Any]:
    """The rows of files as delayed batches, their features made as the model's were."""
    recipe = model._learner.features.get("recipe")
    if recipe is not None:
        reading = {"features": recipe, **reading}
    return [delayed(FilePartition.load)(part) for part in partition_files(X, reading).parts]


def labels_of_block(block: Any, model: Perceptron) -> Array:
    """The predicted labels of a block of an array."""
    return model.predict(block) if block.shape[0] else model.classes_[:0]


def labels_of_frame(frame: Any, model: Perceptron) -> Any:
    """The predicted labels of a part of a data frame, with its index."""
    import pandas

    return pandas.Series(labels_of_block(frame, model), frame.index)


def labels_of_batch(batch: Batch, model: Perceptron) -> Array:
    """The predicted labels of a batch; columns that the model has not met are passed over."""
    scores = model._learner.scores(seen_read_only(batch.rows), batch.width)
    return np.asarray(model.classes_[model._learner.choose(scores)])


def right_and_all(batch: Batch, model: Perceptron) -> tuple[int, int]:
    """How many rows of a batch come out right, of how many."""
    right = labels_of_batch(batch, model) == batch.labels
    return int(np.count_nonzero(right)), len(right)

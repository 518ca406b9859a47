"""Prediction on a cluster: labels where the rows are, and their accuracy."""

from typing import Any

import dask.array as da
import numpy as np
from dask.base import compute
from dask.delayed import delayed

from ..data.rows import Array
from ..data.targets import NumberScore, Score
from ..estimators.base import get_learner, to_predictor
from ..estimators.linear_base import LinearEstimator
from ..estimators.perceptron import Perceptron  # noqa: F401 - for the examples
from ..parameters import ParameterError
from .partitions import Loaded, is_collection, make_partitions, partition_files, view_read_only


def predict(model: LinearEstimator, X: Any, **reading: Any) -> Any:
    """Predict the label or number of each row of a dask collection or of files, lazily.

    Parameters
    ----------
    model : Perceptron or one of the family, or a regressor
        Fitted, on a cluster or elsewhere.
    X : dask array, dask data frame, path, pattern, folder or list of these
        The rows.
    **reading
        For files: the options of ``read``, such as ``label`` and ``text``; features are made as in
        training.

    Returns
    -------
    dask array, or dask series for a data frame
        Nothing is computed yet.

    See Also
    --------
    score : Their accuracy.

    Examples
    --------
    >>> model = Perceptron(order="fixed").fit([[2.0], [-1.0]], [1, 0])
    >>> predict(model, da.from_array(np.array([[3.0], [-3.0], [1.0]]), chunks=(2, 1))).compute()
    array([1, 0, 1])
    """
    light, dtype = delay_predictor(model), get_learner(model).classes.dtype
    if hasattr(X, "columns"):
        return X.map_partitions(predict_frame, light, meta=(None, dtype))
    if isinstance(X, da.Array):
        rows, empty = X.rechunk({1: -1}), np.empty(0, dtype)
        return rows.map_blocks(predict_block, light, drop_axis=1, dtype=dtype, meta=empty)
    labels = (
        da.from_delayed(delayed(predict_batch)(batch, light), (np.nan,), dtype)
        for batch in delay_batches(model, X, reading)
    )
    return da.concatenate(list(labels))


def score(model: LinearEstimator, X: Any, y: Any = None, **reading: Any) -> float:
    """Return the accuracy of a model on a dask collection or on files; R² of numbers.

    Parameters
    ----------
    model : Perceptron or one of the family, or a regressor
        Fitted, on a cluster or elsewhere.
    X : dask array, dask data frame, path, pattern, folder or list of these
        The rows.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    **reading
        For files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    float
        The accuracy, from 0 to 1; or R², at most 1.

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
    light = delay_predictor(model)
    if is_collection(X):
        batches = make_partitions(X, y, None, reading).parts
    else:
        batches = delay_batches(model, X, reading)
    found = compute(*(delayed(score_batch)(batch, light) for batch in batches))
    if not any(one.rows for one in found):
        raise ParameterError("There are no rows to score.", code="no-rows")
    if isinstance(found[0], NumberScore):
        return NumberScore.pool(found).figures()["r2"]
    whole = Score.sum(found)
    return (whole.rows - whole.errors) / whole.rows


def delay_predictor(model: LinearEstimator) -> Any:
    """A model without what only training needs, to send to the workers."""
    if get_learner(model).multilabel:
        raise ParameterError(
            "A cluster predicts one label of each row, and this model any number; use the "
            "model's own predict on each part.",
            code="cluster-label-sets",
        )
    return delayed(to_predictor(model), pure=True)


def delay_batches(model: LinearEstimator, X: Any, reading: dict[str, Any]) -> list[Any]:
    """The rows of files as delayed batches, with the features of the model."""
    recipe = get_learner(model).features.get("recipe")
    if recipe is not None:
        reading = {"features": recipe, **reading}
    return partition_files(X, reading).parts


def predict_block(block: Any, model: Any) -> Array:
    """The predicted labels of a block of an array."""
    return np.asarray(model.predict(block) if block.shape[0] else get_learner(model).classes[:0])


def predict_frame(frame: Any, model: LinearEstimator) -> Any:
    """The predicted labels of a part of a data frame, with its index."""
    import pandas

    return pandas.Series(predict_block(frame, model), frame.index)


def choose(loaded: Loaded, learner: Any) -> Array:
    """What a learner predicts of a partition; columns that it does not know are ignored."""
    rows = view_read_only(loaded.batch.rows)
    return np.asarray(learner.choose(learner.scores(rows, loaded.batch.width)))


def predict_batch(loaded: Loaded, model: LinearEstimator) -> Array:
    """The predicted labels of a partition."""
    learner = get_learner(model)
    chosen = choose(loaded, learner)
    return learner.classes[chosen] if len(learner.classes) else chosen


def score_batch(loaded: Loaded, model: LinearEstimator) -> Any:
    """Count the errors of a partition; a label that is not a class counts as one."""
    learner, labels = get_learner(model), loaded.batch.labels
    score = learner.target.new_score()
    codes = learner.target.encode(labels, held=np.ones(len(labels), bool))
    score.compare(choose(loaded, learner), codes)
    return score

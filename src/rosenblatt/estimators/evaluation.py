"""Evaluate models in Python as the shell does, compare them, and rank their columns."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline as ScikitPipeline
from sklearn.utils.validation import check_consistent_length

from ..data.labels import LabelSets, as_words, make_labels
from ..data.results import Result
from ..data.rows import view_rows
from ..jobs.compare import Comparison, compare as compare_learners
from ..jobs.data import open_like
from ..jobs.evaluate import evaluate as evaluate_learner
from ..jobs.folds import CrossValidation, cross_validate as cross_validate_file
from ..jobs.importances import Importance, measure_deviations, rank_columns
from ..learners.kinds import make_learner
from ..parameters import InputError
from ..reading.batches import Batch
from ..reading.reader import read
from ..reading.tables import to_table
from ..slices import find_by_estimator
from ..storage.file import load_model
from ..storage.model import Model
from .base import get_learner
from .features import Features
from .pipeline import make_job


def evaluate(
    model: Any,
    data: Any,
    y: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    positive_class: Any = None,
    coverage: float | None = None,
) -> Result:
    """Compare the predictions of a model with the labels of a file or a table.

    Parameters
    ----------
    model : Pipeline, classifier or path
        A fitted model of this package, or its file.
    data : path, data frame, Arrow table, list of dicts or array
        The rows. Files are read in batches, so that they may be larger than memory.
    y : array-like of shape (n_samples,), default=None
        The labels; None if the data have the column of labels that ``train`` was given.
    threshold : float, default=None
        Predict the positive one of two classes above this probability, or above this score if the
        model gives no probabilities.
    positive_class : label, default=None
        The one of two classes that the threshold, average precision, ``thresholds`` and curves are
        about; None for the second one, ``classes_[1]``, as in scikit-learn.
    coverage : float, default=None
        Also measure prediction sets or intervals of this coverage, as the figures "coverage", and
        "mean_set_size" or "mean_width". Needs ``calibrate="conformal"``.

    Returns
    -------
    Evaluation
        With the figures "error", "log_loss", "brier_score", "roc_auc", "average_precision",
        "balanced_accuracy" and "matthews_correlation" as items, ``confusion``, ``worst`` and the
        methods ``by_class``, ``thresholds``, ``calibration_curve`` and ``as_dict``. Areas and
        losses of more than 16 million scores are those of every second, fourth … row. For label
        sets, numbers and sentences, the figures of these. Every result has ``headline()``,
        ``figures()``, ``tables()`` and ``as_dict()``.

    See Also
    --------
    compare : Compares two models.
    cross_validate : Evaluates a training on rows that it did not see.

    Examples
    --------
    >>> from rosenblatt import train
    >>> rows = [{"height": h, "kind": "tall" if h > 5 else "short"} for h in range(10)]
    >>> found = evaluate(train(rows, label="kind"), rows)
    >>> found["error"], found["roc_auc"]
    (0.0, 1.0)
    """
    learner, rows = open_for(model, data, y)
    found = evaluate_learner(
        learner, rows, threshold=threshold, coverage=coverage, positive_class=positive_class
    )
    warn_of_gaps(rows)
    return found


def warn_of_gaps(rows: Any) -> None:
    """Warn of rows without a label, which are left out."""
    for notice in getattr(rows, "notices", []):
        if notice.code == "label-missing":
            warnings.warn(str(notice), stacklevel=3)


def compare(first: Any, second: Any, data: Any, y: ArrayLike | None = None) -> Comparison:
    """Test which of two models is better on the same rows, and whether that could be chance.

    Parameters
    ----------
    first, second : Pipeline, classifier or path
        Fitted models of this package, or their files.
    data : path, data frame, Arrow table, list of dicts or array
        The rows.
    y : array-like of shape (n_samples,), default=None
        The labels; None if the data have the column of labels that ``train`` was given.

    Returns
    -------
    Comparison
        With ``difference`` of the errors (95 % interval, and the p-value of an exact McNemar test,
        of numbers that of a paired t-test), ``results`` of both models, ``verdict()`` and
        ``as_dict()``.

    See Also
    --------
    evaluate : Evaluates one model.

    Examples
    --------
    >>> from rosenblatt import train
    >>> rows = [{"a": k, "b": k % 3, "kind": "tall" if k > 25 else "short"} for k in range(50)]
    >>> good, bad = (train(rows, label="kind", ignore=name) for name in "ba")
    >>> compare(good, bad, rows).verdict()
    'The first model is better, and that is hardly chance (p < 0.0001, exact McNemar test).'
    """
    pairs = [open_for(model, data, y) for model in (first, second)]
    learners, files = zip(*pairs, strict=True)
    found = compare_learners((learners[0], learners[1]), (files[0], files[1]))
    warn_of_gaps(files[0])
    return found


def cross_validate(data: Any, *, folds: int = 5, **options: Any) -> CrossValidation:
    """Evaluate a training on each fold of a file or a table by a model of the other folds.

    Scales, frequencies, probabilities and tuned settings come from the other folds. Files may be
    larger than memory. Folds have equal sizes; they are not stratified.

    Parameters
    ----------
    data : path, data frame, Arrow table, list of dicts or array
        The rows with their labels in a column.
    folds : int, default=5
        The number of folds, 2 or more.
    **options
        Options of ``train``: of reading and of training.

    Returns
    -------
    CrossValidation
        With ``score`` (rows and errors over all folds), ``figures()`` (mean, deviation, least and
        largest value of each figure) and ``folds``, an ``Evaluation`` for each.

    See Also
    --------
    evaluate : Evaluates a model on other rows.
    train : Trains a model on all rows.

    Examples
    --------
    >>> rows = [{"height": h, "kind": "tall" if h > 50 else "short"} for h in range(100)]
    >>> found = cross_validate(rows, label="kind", folds=4)
    >>> len(found.folds), found.score.rows
    (4, 100)
    """
    data, reading, job = make_job(data, options)
    return cross_validate_file(data, reading, job, folds, frozenset(reading))


def importances(model: Any, data: Any = None, *, top: int | None = None) -> list[Importance]:
    """Rank the columns of a linear model by weight × standard deviation of the column.

    Parameters
    ----------
    model : Pipeline, classifier or path
        A fitted linear model of this package, or its file.
    data : path, data frame, Arrow table, list of dicts or array, default=None
        Rows to measure the deviations on; None takes those that ``train`` measured on the first
        training rows.
    top : int, default=None
        The largest number of columns to return; None returns all with a weight other than 0.

    Returns
    -------
    list of Importance
        The most important column first, with ``column``, ``name``, ``weights``, ``deviation`` and
        ``importance``. Deviations that are not known are None; such columns come last.

    See Also
    --------
    rosenblatt.plots.ImportanceDisplay : Draws the result.

    Examples
    --------
    >>> from rosenblatt import train
    >>> rows = [{"height": h, "day": h % 2, "kind": h > 5} for h in range(12)]
    >>> [one.name for one in importances(train(rows, label="kind"))]
    ['height', 'day']
    """
    learner, saved, features = find_parts(model)
    if learner.kind != "linear":
        raise ValueError(f"Expected a linear model, got a {saved.estimator}.")
    coef, _ = learner.coefficients()
    deviations = None
    if data is not None:
        rows = data if features is None else features.transform(data)
        deviations = measure_deviations([make_batch(learner, rows, None).rows], coef.shape[1])
    return rank_columns(saved, coef, deviations, top)


def find_parts(model: Any) -> tuple[Any, Model, Any]:
    """Return the learner of a model, the model itself, and its features if it has any."""
    if isinstance(model, str | os.PathLike):
        saved = load_model(model)
        learner, known = make_learner(saved, model), "recipe" in saved.features
        return (
            learner,
            saved,
            Features.from_recipe(saved.features, learner.width) if known else None,
        )
    if isinstance(model, ScikitPipeline):
        features, classifier = (step for _, step in model.steps)
        kept = getattr(model, "file_facts_", {}).get("features", {})
        about = kept or features.to_recipe()
        saved = classifier.to_model()._replace(features={**about, "recipe": features.recipe_})
        return get_learner(classifier), saved, features
    return get_learner(model), model.to_model(), None


def open_for(model: Any, data: Any, y: ArrayLike | None) -> tuple[Any, Any]:
    """Return the learner of a model, and the data as it reads them."""
    learner, saved, features = find_parts(model)
    own = find_by_estimator(saved.estimator)
    if own is not None and own.file_class:
        return learner, open_like(saved, data, labels=True)
    if y is not None:
        rows = data if features is None else features.transform(data)
        return learner, [make_batch(learner, rows, y)]
    if features is None:
        raise InputError("The model was not trained from a table; pass y.", code="no-labels")
    table = to_table(data)
    return learner, read(data if table is None else table, features=saved.features["recipe"])


def make_batch(learner: Any, X: Any, y: ArrayLike | None) -> Batch:
    """Return rows of a matrix and their labels, if there are some, as one batch."""
    X = X if hasattr(X, "indptr") else np.ascontiguousarray(X)
    if not hasattr(X, "indptr") and X.dtype.kind != "f":
        X = X.astype(np.float64)
    labels: Any = None if y is None else make_labels(y)
    check_consistent_length(X, labels)
    if labels is not None and learner.multilabel and labels.ndim == 2:
        names, flags = as_words(learner.classes, learner.classes), labels.astype(bool)
        values = np.tile(names, len(flags))[flags.ravel()]
        labels = LabelSets(values, np.append(0, np.cumsum(flags.sum(axis=1))))
    return Batch(view_rows(X), labels, None, X.shape[1], 0, X.shape[0])

"""Train on a file or a table as the shell does; save and load models."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Set
from dataclasses import fields, replace
from difflib import get_close_matches
from os import PathLike
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline as ScikitPipeline
from sklearn.utils.validation import check_is_fitted

import rosenblatt

from ..data.labels import LabelSets, make_labels
from ..data.targets import make_target
from ..jobs.choose import choose_and_train
from ..jobs.data import open_file
from ..jobs.files import train as train_model
from ..jobs.job import FileJob
from ..parameters import RULE_TABLE, ParameterError
from ..reading.batches import known_labels
from ..reading.reader import read, read_whole
from ..reading.tables import to_table
from ..slices import find_by_format
from ..storage.file import load_model, save_model
from ..storage.model import Model, restore
from ..training.plan import Request
from ..training.report import Listener
from .features import NAMES, Features
from .registration import REGISTERED

FOR_FILES = {one.name for one in fields(Request)} - {"parameters"}
FOR_READING = set(inspect.signature(read).parameters) - {"path", "features", "names"}


class TrainedModel(Protocol):
    """What ``train`` and ``load`` return; its further attributes depend on what it predicts."""

    def predict(self, X: Any) -> Any:
        """Predict labels, numbers or tags."""

    def score(self, X: Any, y: Any) -> float:
        """Score the predictions by the labels."""

    def __getattr__(self, name: str) -> Any:
        """Return another attribute, such as ``predict_proba``."""


class Pipeline(ScikitPipeline):  # type: ignore[misc]
    """A scikit-learn pipeline of ``Features`` and a classifier that can continue to learn.

    ``train`` and ``load`` return it. All other methods are those of scikit-learn's ``Pipeline``.

    Parameters
    ----------
    steps : list of (str, estimator)
        The names and estimators: ``Features``, then a classifier with ``partial_fit``.
    transform_input : list of str or None, default=None
        As in scikit-learn.
    memory : str, joblib.Memory or None, default=None
        As in scikit-learn.
    verbose : bool, default=False
        As in scikit-learn.

    See Also
    --------
    train : Trains a pipeline on a file or a table.
    load : Loads a pipeline from a file.

    Examples
    --------
    >>> model = train([{"size": 1, "kind": "a"}, {"size": 3, "kind": "b"}], label="kind")
    >>> model.partial_fit([{"size": 9, "kind": "b"}]).predict([{"size": 4}]).tolist()
    ['b']
    """

    @property
    def predict_proba(self) -> Any:
        """The probabilities of the classes, where the classifier learns them."""
        self.steps[-1][1].predict_proba  # noqa: B018, its error says how to learn them
        return super().predict_proba

    def partial_fit(self, X: Any, y: Any = None, classes: ArrayLike | None = None) -> Self:
        """Learn from a batch of a table once, in the order of its rows.

        The first call fits ``Features`` to the batch; later calls leave the features unchanged.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The rows.
        y : array-like of shape (n_samples,), default=None
            The labels of the rows; None if X has the column of labels that ``train`` was given.
        classes : array-like of shape (n_classes,), default=None
            The labels to come, as for ``partial_fit`` of the classifier.

        Returns
        -------
        self
            The fitted pipeline.
        """
        features, classifier = (step for _, step in self.steps)
        if not hasattr(features, "recipe_"):
            features.fit(X)
        if y is None:
            table = to_table(X)
            X = X if table is None else table
            batch = read_whole(read(X, features=features.recipe_))
            if batch.labels is None:
                raise ValueError("X has no column of labels that train was given; pass y.")
            y = known_labels(batch)
            if isinstance(y, LabelSets):
                y = make_target(classifier.classes_, True).encode(y)
        named = {} if classes is None else {"classes": classes}  # a regressor has none
        classifier.partial_fit(features.transform(X), y, **named)
        return self

    def predict_set(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict sets of classes, as ``predict_set`` of the classifier does.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The rows.
        coverage : float, default=0.9
            The least share of rows whose class is to be in its set.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            Whether each class is in the set, in the order of ``classes_``.
        """
        return self[-1].predict_set(self[:-1].transform(X), coverage)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict intervals of numbers, as ``predict_interval`` of the regressor does.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The rows.
        coverage : float, default=0.9
            The least share of rows whose number is to be in its interval.

        Returns
        -------
        low : ndarray of shape (n_samples,)
            The lower ends of the intervals.
        high : ndarray of shape (n_samples,)
            The upper ends.
        """
        return self[-1].predict_interval(self[:-1].transform(X), coverage)


def train(
    data: Any, y: ArrayLike | None = None, *, listener: Listener | None = None, **options: Any
) -> TrainedModel:
    """Train a model on a file or a table, with the defaults of ``rosenblatt train``.

    Parameters
    ----------
    data : path, data frame, Arrow table, list of dicts or array
        The rows with their labels in a column, or a file of sentences with tags. Objects with an
        Arrow stream (DuckDB, polars) are accepted, too.
    y : array-like, default=None
        The label of each row, if ``data`` is rows in memory without them.
    listener : Listener, default=None
        Receives the events of training; None shows notices about the data as warnings.
    **options
        Options of reading, as for ``read``: ``label`` (default: detected), ``text``, ``category``,
        ``ignore``, ``format`` and others.

        Options of training: ``rule`` (default "pa" for tables, "arow" for text and for one pass)
        and the parameters of its estimator. Some have other defaults here: ``solution="average"``
        ("last" by default for text and one pass), ``max_iter=10`` (by default 5 for text),
        ``random_state=0``.

        Options for files: ``classes`` (all labels), ``ordinal`` (all labels in their order, the
        lowest first, to learn ranks), ``window`` (shuffle a stream within N rows,
        default 0), ``holdout`` (share of rows to test on, default 0).

        ``tune``: unless a rule is stated, a few readings of the columns are compared by
        cross-validation on a sample of the rows, and the simplest within one standard error of the
        best is taken. True compares many, with rules and parameters; False none.
        ``file_facts_["facts"]["tuning"]`` has the results. With ``max_iter=1``, True makes one pass
        and chooses for the prediction of each next row; ``file_facts_["facts"]["stream"]`` has the
        error, the settings and the drift alarms.

        ``progress_every`` (default 0) reports the error of predictions made before each row is
        learnt to the listener after every N rows.

    Returns
    -------
    Pipeline or estimator
        A fitted pipeline of ``Features`` and a classifier, whose methods take tables, dicts and
        paths; for a file of sentences, the estimator of these. For label sets ``predict`` gives an
        indicator with a column for each of ``classes_``.

    See Also
    --------
    Features : The first step of the pipeline.
    save : Saves the model to a file.
    rosenblatt.cluster.fit : Trains on a cluster.

    Examples
    --------
    >>> rows = [{"height": h, "kind": "tall" if h > 5 else "short"} for h in range(10)]
    >>> train(rows, label="kind").predict([{"height": 9}, {"height": 2}]).tolist()
    ['tall', 'short']
    >>> train(rows, label="kind", max_iter=3).named_steps["classifier"].max_iter
    3
    """
    if isinstance(data, str | PathLike):
        found = find_by_format(str(data), options.get("format"))
        if found is not None:
            return train_on_examples(str(data), listener, options)
    if y is not None:
        data, options["label"] = add_labels(data, y, options.get("label")), "y"
    data, reading, job = make_job(data, options)
    notes = NoteCollector()
    reader = read(data, **reading, names=NAMES)
    once = {} if reader.rereadable else {"max_iter": 1}
    stated = {**once, **job.request.parameters}
    job = replace(job, request=replace(job.request, parameters=stated), reporter=listener or notes)

    model = choose_and_train(reader, job, frozenset(reading))
    notes.warn(3)
    return to_pipeline(model, str(reader.source.name))


def add_labels(data: Any, y: ArrayLike, label: Any) -> Any:
    """Return rows in memory as a table with their labels in a last column, y."""
    table, labels = to_table(data), make_labels(y)
    if table is None or "y" in table.column_names or label is not None:
        raise ValueError("Give y for a table without a column y, or name a column with label.")
    if labels.ndim != 1:
        raise ValueError(f"y has the shape {labels.shape}; each row needs one label.")
    if len(labels) != len(table):
        raise ValueError(f"X has {len(table)} rows and y {len(labels)} labels; each row needs one.")
    return table.append_column("y", [labels])


def make_job(data: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any], FileJob]:
    """Divide the options of ``train``: return the data, the options of reading, and the training.

    Data that can be read only once, such as an Arrow stream, become a table.
    """
    table = to_table(data)
    reading = {name: options.pop(name) for name in FOR_READING & options.keys()}
    of_files = {name: options.pop(name) for name in FOR_FILES & options.keys()}
    if of_files.get("rule") is not None:
        RULE_TABLE[of_files["rule"]]  # which brings parameters if it is of another package
    known = {name for entry in RULE_TABLE.values() for name in entry.parameters}
    refuse_unknown_options(options, known | FOR_READING | FOR_FILES)
    for name in ("classes", "ordinal"):
        if of_files.get(name) is not None:
            of_files[name] = list_labels(name, of_files[name])
            reading.setdefault("numbers", False)
    request = Request(parameters=options, **of_files)
    return data if table is None else table, reading, FileJob(request)


def list_labels(option: str, labels: Any) -> tuple[Any, ...]:
    """Return the labels that an option names as plain values."""
    unordered = option == "ordinal" and isinstance(labels, Set)
    if isinstance(labels, str) or not isinstance(labels, Iterable) or unordered:
        raise ParameterError(
            f"{option} must be a list of labels; got {labels!r}.", code="out-of-range"
        )
    return tuple(one.item() if isinstance(one, np.generic) else one for one in labels)


def refuse_unknown_options(options: Iterable[str], known: set[str]) -> None:
    """Raise TypeError for an option that ``train`` does not have, and name the closest one.

    >>> refuse_unknown_options(["max_itre"], {"max_iter"})
    Traceback (most recent call last):
    TypeError: train() got an unexpected keyword argument 'max_itre'; use max_iter
    """
    for name in sorted(set(options) - known):
        meant = get_close_matches(name, sorted(known), 1)
        hint = f"; use {meant[0]}" if meant else ""
        raise TypeError(f"train() got an unexpected keyword argument {name!r}{hint}")


def train_on_examples(
    path: str, listener: Listener | None, options: dict[str, Any]
) -> TrainedModel:
    """Train a model on a file of a slice."""
    reading = {name: options.pop(name) for name in ("format", "label", "encoding") & options.keys()}
    file: Any = open_file(path, **reading)
    refuse_unknown_options(options, {"format", "label", "encoding", *file.parameters})
    notes = NoteCollector()
    model = train_model(file, FileJob(Request(parameters=options), listener or notes))
    notes.warn(4)
    return make_estimator(model, path)


class NoteCollector(Listener):
    """Collects notes during training, to show them as warnings afterwards."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        """Collect a note; the guess of a label is no reason for a warning."""
        if getattr(sentence, "code", "") != "label-guessed":
            self.notes.append(sentence)

    def warn(self, stacklevel: int) -> None:
        """Show the notes as warnings."""
        for sentence in self.notes:
            warnings.warn(sentence, stacklevel=stacklevel)


def make_estimator(model: Model, name: Any) -> TrainedModel:
    """Make the fitted estimator of a model; an error calls the model ``name``."""
    kind = REGISTERED.get(model.estimator) or getattr(rosenblatt, model.estimator)  # loaded now
    made: TrainedModel = restore(kind.from_model, model, name)
    return made


def to_pipeline(model: Model, name: str) -> Pipeline:
    """Make the fitted pipeline of a model with features; ``name`` is its file in an error."""
    classifier = make_estimator(model, name)
    features = Features.from_recipe(model.features, classifier.n_features_in_)
    pipeline = Pipeline([("features", features), ("classifier", classifier)])
    pipeline.file_facts_ = {"features": model.features, "facts": model.facts}
    return pipeline


def save(model: Any, path: str | PathLike[str], size: int | str | None = None) -> None:
    """Save a classifier, or a pipeline of ``Features`` and a classifier, to a file.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier of this package, alone or after ``Features``.
    path : str or path-like
        The file to write, usually with the suffix ``.safetensors``. It is replaced only when the
        new one is complete.
    size : int, str or None, default=None
        The largest size of the file, such as "2MB", of a linear classifier. The file then holds
        the largest weights, in 8 bits, as a ``Perceptron``.

    See Also
    --------
    load : Loads the model.

    Examples
    --------
    >>> import tempfile
    >>> model = train([{"size": 1, "kind": "a"}, {"size": 3, "kind": "b"}], label="kind")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.safetensors")
    ...     load(f"{folder}/model.safetensors").predict([{"size": 4}]).tolist()
    ['b']
    """
    if not isinstance(model, ScikitPipeline):
        model.save(path) if size is None else model.save(path, size)
        return
    check_is_fitted(model)
    steps = [step for _, step in model.steps]
    if len(steps) != 2 or not isinstance(steps[0], Features) or not hasattr(steps[1], "to_model"):
        raise ValueError(
            "A model file holds a classifier of rosenblatt, alone or after Features; this pipeline "
            f"consists of {', '.join(type(step).__name__ for step in steps)}. Features() in place "
            "of other transformers encodes and scales columns; joblib.dump keeps any pipeline."
        )
    features, classifier = steps
    kept = getattr(model, "file_facts_", {"features": {}, "facts": {}})
    own = features.to_recipe()
    about = {"format": "arrow", "largest": own["largest"], **kept["features"]}
    saved = classifier.to_model()
    facts = {**kept["facts"], **saved.facts}
    saved = saved._replace(features=about | {"recipe": own["recipe"]}, facts=facts)
    save_model(path, saved, size)


def load(path: str | PathLike[str]) -> TrainedModel:
    """Load a model from a file; it predicts and continues to learn as before.

    Parameters
    ----------
    path : str or path-like
        A file from ``save``, from the method ``save`` of an estimator, or from the shell.

    Returns
    -------
    classifier or Pipeline
        A pipeline of ``Features`` and a classifier if the file has a recipe of features, otherwise
        the classifier.

    See Also
    --------
    save : Saves a model.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import KernelPerceptron
    >>> model = KernelPerceptron().fit([[2.0], [-1.0]], [1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     load(f"{folder}/model.safetensors").predict([[3.0]]).tolist()
    [1]
    """
    model = load_model(path)
    if isinstance(model.features.get("recipe"), dict):
        return to_pipeline(model, str(path))
    return make_estimator(model, path)

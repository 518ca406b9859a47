"""In Python what the shell does: train on a file or a table, save and load, as a Pipeline."""

import inspect
import warnings
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import rosenblatt

from ..jobs.data import SentenceFile
from ..jobs.files import train as train_model
from ..jobs.job import FileJob
from ..jobs.tuning import tune
from ..learners import load_model
from ..parameters import RULE_TABLE, SEQUENCE, SHELL_NAMES
from ..reading.reader import read
from ..storage.file import save_model
from ..storage.model import Model
from ..storage.registry import restore
from ..training.plan import Request
from ..training.report import Listener
from .features import NAMES, Features

if TYPE_CHECKING:
    from .sequence import SequencePerceptron

OF_FILES = {one.name for one in fields(Request)} - {"parameters"}
READING = set(inspect.signature(read).parameters) - {"path", "features", "names"}


def train(data: Any, *, listener: Listener | None = None, **options: Any) -> Any:
    """Train on a file or a table as ``rosenblatt train`` does, with its defaults.

    Parameters
    ----------
    data : path, data frame, Arrow table or list of dicts
        The rows, with their labels in a column; or a file of tagged sentences, by its name or
        ``format`` ("conllu", "conll", "tagged").
    listener : progress.Listener, default=None
        Hears how it goes; ``progress.Printed()`` prints it. Without one, notes on what was read
        otherwise than one might think are warnings.
    **options
        Those of ``read`` (``label``, ``labels_separator``, ``text``, ``category`` …); ``rule``
        ("pa", "arow" …) and the parameters of its estimator, without it those of ``Perceptron``
        (averaged, ten epochs unless given, texts with a margin; one pass is AROW's, whose last
        weights are taken); and ``classes``, ``window``, ``holdout`` and ``cache`` of training from
        files. ``tune=True`` tries what was not stated on rows held out, and takes the best;
        ``file_facts_["facts"]["tuning"]`` tells.

    Returns
    -------
    Pipeline
        Fitted ``Features`` and a classifier: ``predict``, ``decision_function`` and ``score`` take
        data frames, dicts and paths. Where rows have any number of labels, ``predict`` gives an
        indicator with a column for each of ``classes_``. Of sentences, a ``SequencePerceptron``,
        whose parameters are then the options besides ``label`` and ``format``.

    See Also
    --------
    Features : The first step of the pipeline.
    save : Keeps it as a file.
    rosenblatt.cluster.fit : Learns on a cluster.

    Examples
    --------
    >>> rows = [{"height": h, "kind": "tall" if h > 5 else "short"} for h in range(10)]
    >>> train(rows, label="kind").predict([{"height": 9}, {"height": 2}]).tolist()
    ['tall', 'short']
    """
    if isinstance(data, str | PathLike):
        tagger = tagger_from(str(data), listener, **options)
        if tagger is not None:
            return tagger
    reading = {name: options.pop(name) for name in READING & options.keys()}
    of_files = {name: options.pop(name) for name in OF_FILES & options.keys()}
    known = {name for entry in RULE_TABLE.values() for name in entry.parameters}
    refuse_unknown_options(options, known | READING | OF_FILES)
    if of_files.get("classes") is not None:
        of_files["classes"] = tuple(of_files["classes"])
    reader = read(data, **reading, names=NAMES)
    once = {} if reader.rereadable else {"max_iter": 1}
    noted = Noted()
    job = FileJob(Request(parameters=once | options, **of_files), listener or noted)
    if job.request.tune:
        again = partial(read, data, names=NAMES)
        stated = frozenset(reading)
        reader, job = tune(reader, lambda **others: again(**reading | others), job, stated)
    model = train_model(reader, job)
    for sentence in noted.notes:
        warnings.warn(sentence, stacklevel=2)
    return to_pipeline(model, str(reader.source.name))


def refuse_unknown_options(options: Iterable[str], known: set[str]) -> None:
    """Raise TypeError for an option that ``train`` does not have, and name the one to use.

    >>> refuse_unknown_options(["epochs"], {"max_iter"})
    Traceback (most recent call last):
    TypeError: train() got an unexpected keyword argument 'epochs'; use max_iter
    """
    for name in sorted(set(options) - known):
        in_python = [each for each in known if SHELL_NAMES.get(each) == name]
        meant = ["fit_intercept=False"] if name == "no_bias" else in_python
        meant = meant or get_close_matches(name, sorted(known), 1)
        hint = f"; use {meant[0]}" if meant else ""
        raise TypeError(f"train() got an unexpected keyword argument {name!r}{hint}")


def tagger_from(
    path: str, listener: Listener | None, **options: Any
) -> "SequencePerceptron | None":
    """A tagger trained on a file of sentences, with the shell's seed; None for other files."""
    from ..learners.sequence.file_formats import detect_format

    kind = detect_format(path, options.pop("format", None))
    if kind is None:
        return None
    refuse_unknown_options(options, {"label", "encoding", *SEQUENCE})
    file = SentenceFile(path, kind, options.pop("label", None), options.pop("encoding", None))
    noted = Noted()
    model = train_model(file, FileJob(Request(parameters=options), listener or noted))
    tagger: SequencePerceptron = make_estimator(model, path)
    for sentence in noted.notes:
        warnings.warn(sentence, stacklevel=3)
    return tagger


class Noted(Listener):
    """Keeps notes until there is somebody to warn."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        """Keep a sentence."""
        self.notes.append(sentence)


def make_estimator(model: Model, name: Any) -> Any:
    """Make the fitted estimator of a model; an error calls the model ``name``."""
    kind = getattr(rosenblatt, model.estimator)  # loaded when it is needed
    return restore(kind._restored, model, name)


def to_pipeline(model: Model, name: str) -> Pipeline:
    """A model with features as a fitted pipeline; ``name`` is what an error calls it."""
    classifier = make_estimator(model, name)
    features = Features._restored(model.features, classifier.n_features_in_)
    pipeline = Pipeline([("features", features), ("classifier", classifier)])
    pipeline.file_facts_ = {"features": model.features, "facts": model.facts}
    return pipeline


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a classifier, or a pipeline of ``Features`` and one, to a file that ``load`` reads.

    Parameters
    ----------
    model : Perceptron, KernelPerceptron or Pipeline
        Fitted.
    path : str or path-like
        Where to; by custom it ends in ``.safetensors``.

    See Also
    --------
    load : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> model = train([{"size": 1, "kind": "a"}, {"size": 3, "kind": "b"}], label="kind")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.safetensors")
    ...     load(f"{folder}/model.safetensors").predict([{"size": 4}]).tolist()
    ['b']
    """
    if not isinstance(model, Pipeline):
        model.save(path)
        return
    check_is_fitted(model)
    steps = [step for _, step in model.steps]
    if len(steps) != 2 or not isinstance(steps[0], Features) or not hasattr(steps[1], "_model"):
        raise ValueError(
            "A model file holds a classifier of rosenblatt, alone or after Features; this pipeline "
            f"is of {', '.join(type(step).__name__ for step in steps)}."
        )
    features, classifier = steps
    kept = getattr(model, "file_facts_", {"features": {}, "facts": {}})
    about = {"format": "arrow", **kept["features"], "recipe": features.recipe_}
    about.setdefault("largest", sorted(features._names.items())[:1000])
    saved = classifier._model()
    facts = {**kept["facts"], **saved.facts}
    save_model(path, saved._replace(features=about, facts=facts))


def load(path: str | PathLike[str]) -> Any:
    """Read a saved model, which predicts and learns on as if it had never left.

    Parameters
    ----------
    path : str or path-like
        A file that ``save``, ``Perceptron.save``, ``KernelPerceptron.save`` or the shell wrote.

    Returns
    -------
    Perceptron, KernelPerceptron or Pipeline
        A ``Pipeline`` of ``Features`` and a classifier where the file says how features are made.

    See Also
    --------
    save : Writes it.

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

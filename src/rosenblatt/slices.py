"""The table of slices: parts of the package without which everything else works.

A slice is one folder with all of one subject. No other module imports it; what the rest needs of
it is found here by name and imported when it is used. A slice that is not there, because its
folder was deleted, adds nothing.

A place is a module, or "module:name" for something in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

PACKED = ("gz", "bz2", "xz", "zst", "lz4")


@dataclass(frozen=True)
class Slice:
    """What a slice adds.

    Attributes
    ----------
    names : dict of str to str
        The module of each public name, or of several with blanks between them.
    commands : dict of str to (str, str)
        The module and the help of each command of the shell.
    learners : dict of str to str
        The place of the learner of a model file, by the name of its estimator.
    examples : str
        What its files hold, where that is not rows.
    formats : dict of str to tuple of str
        The endings of the names of its files, by format.
    file_class : str
        The place of the class of its files, a ``jobs.data.ExampleFile``.
    shell : str
        The module with the ``SETTINGS`` that ``train`` takes, their ``PARSERS``, and what commands
        print about its models and do with them (``jobs.data.ExampleFile`` names the functions).
    """

    names: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    learners: Mapping[str, str] = field(default_factory=dict)
    examples: str = ""
    formats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_class: str = ""
    shell: str = ""


SLICES = {  # by the name of the folder or module
    "sequence": Slice(
        {"SequencePerceptron": "sequence.estimator"},
        learners={"SequencePerceptron": "sequence.learner:SequenceLearner"},
        examples="sentences",
        formats={
            "conllu": ("conllu",),
            "conll": ("conll", "iob", "iob2", "bio"),
            "tagged": ("tagged",),
            "text": (),
        },
        file_class="sequence.jobs:SentenceFile",
        shell="sequence.shell",
    ),
    "dual": Slice(
        {"KernelPerceptron": "dual.estimator"},
        learners={"KernelPerceptron": "dual.learner:DualLearner"},
    ),
    "network": Slice(
        {"PerceptronNetwork": "network.estimator"},
        learners={"PerceptronNetwork": "network.learner:NetworkLearner"},
    ),
    "theory": Slice(
        {
            "MistakeBounds Report mistake_bounds report": "theory.bounds",
            "Inseparable Separable Undecided load_certificate save_certificate": (
                "theory.certificates"
            ),
            "FormRun FormUpdate train_form": "theory.forms",
            "Losses MaxMargin losses margin margins max_margin normalize_weights": "theory.margins",
            "radius": "theory.problem",
            "separability": "theory.separability",
        },
        {
            "prove": (
                "shell.prove",
                "Prove that a plane separates two classes, or that no plane does.",
            )
        },
    ),
    "export": Slice(
        commands={
            "export": ("shell.export", "Export a model of numbers and categories as an ONNX file.")
        },
    ),
    "plots": Slice(
        commands={"plot": ("shell.plot", "Draw a model, its data, or the course of training.")},
    ),
    "lab": Slice(
        commands={
            "lab": (
                "shell.lab",
                "Open the lab in the browser: place points and watch every update.",
            )
        },
    ),
    "service": Slice(
        commands={
            "serve": ("shell.serve", "Answer predictions over HTTP, and learn from examples."),
            "replay": ("shell.serve", "Rebuild a model of a service from its log of examples."),
        },
    ),
    "cluster": Slice(),
}


@cache
def is_there(name: str) -> bool:
    """Whether a module of the package can be imported."""
    try:
        return find_spec(f"{__package__}.{name}") is not None
    except ImportError:
        return False


def list_slices() -> Iterator[Slice]:
    """The slices that are there."""
    return (one for name, one in SLICES.items() if is_there(name))


def load(place: str) -> Any:
    """Import a module of the package, or take something from it."""
    module, _, name = place.partition(":")
    found = import_module(f"{__package__}.{module}")
    return getattr(found, name) if name else found


def list_names() -> dict[str, str]:
    """The public names of all slices, with their modules."""
    pairs = [pair for one in list_slices() for pair in one.names.items()]
    return {name: module for names, module in pairs for name in names.split()}


def list_commands() -> dict[str, tuple[str, str]]:
    """The commands of all slices, with their modules and their help."""
    return {name: one.commands[name] for one in list_slices() for name in one.commands}


def find_by_estimator(estimator: str) -> Slice | None:
    """The slice that a model belongs to; None for linear models."""
    return next((one for one in list_slices() if estimator in one.learners), None)


def load_learner(estimator: str) -> Any:
    """Import the class of the learner of an estimator."""
    found = find_by_estimator(estimator)
    if found is None:
        raise ValueError(f"it is a {estimator[:40]}, which is not known here")
    return load(found.learners[estimator])


def find_by_format(path: str, stated: str | None) -> tuple[Slice, str] | None:
    """The slice that reads a file, with its format: the stated one, or by the file's name.

    None for a file of rows.
    """
    ending = find_ending(path)
    for one in list_slices():
        for name, endings in one.formats.items():
            if name == stated or (stated is None and ending in endings):
                return one, name
    return None


def find_ending(name: str) -> str:
    """Return the ending of a name in lower case, without those of compression.

    >>> find_ending("data/A.CSV.gz")
    'csv'
    """
    endings = [ending[1:].lower() for ending in PurePath(name).suffixes]
    return next((ending for ending in reversed(endings) if ending not in PACKED), "")

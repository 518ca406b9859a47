"""Open files as data: to learn from, or as the training file of a model was."""

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from ..data.results import Result
from ..parameters import InputError, Parameter, ParameterError
from ..reading.formats import format_from_name
from ..reading.reader import Reader, read
from ..slices import PACKED, Slice, find_by_estimator, find_by_format, load
from ..storage.model import Model

if TYPE_CHECKING:
    from .job import FileJob

USUAL = {name: one.default for name, one in inspect.signature(read).parameters.items()}


@dataclass(frozen=True)
class ExampleFile(ABC):
    """A file whose examples are not rows: the slice that reads it does all with it.

    The slice's module ``shell`` has ``OPTIONS`` of ``train``, by the names of parameters, and the
    functions ``summarize_data(model)``, which is a line about a training, ``list_facts(model)``,
    the same as JSON values, and ``inspect(model, learner, options)``.

    Attributes
    ----------
    path
        The file; "-" is standard input.
    format
        One of the formats of the slice; by default that of its name, or of the training file of a
        model.
    label
        The column of the labels, by name or number from 0.
    encoding
        The encoding of the file to learn from, unless it is UTF-8.
    """

    examples: ClassVar[str]
    """What the file holds, as an error says it."""
    counted: ClassVar[str]
    """What a model predicts, one by one."""
    parameters: ClassVar[Mapping[str, Parameter]]
    """The parameters of training."""
    path: str
    format: str | None = None
    label: str | None = None
    encoding: str | None = None

    @property
    def size(self) -> int | None:
        """The number of bytes to read, if it is known."""
        plain = os.path.isfile(self.path) and not self.path.lower().endswith(PACKED)
        return os.path.getsize(self.path) if plain else None

    def refuse(self, **options: Any) -> None:
        """Refuse options that only rows have, unless they are None."""
        for name, value in options.items():
            if value is not None and value is not False:
                raise ParameterError(
                    f"{name} is not for files of {self.examples}; leave it out.", code="rows-only"
                )

    @abstractmethod
    def train(self, job: "FileJob") -> Model:
        """Train a model on the file."""

    @abstractmethod
    def evaluate(
        self,
        learner: Any,
        tell: Callable[[int], None] | None = None,
        keep: Callable[[Any, Any], None] | None = None,
    ) -> Result:
        """Compare predictions with the labels of the file; return a ``Result``.

        ``tell`` receives the bytes read so far, ``keep`` the labels and errors, part by part.
        """

    @abstractmethod
    def predict(self, learner: Any, tell: Callable[[int], None] | None = None) -> Iterator[bytes]:
        """Yield the file with the predicted labels, part by part."""


def open_file(data: Any, **options: Any) -> Reader | ExampleFile:
    """Open data to learn from: a file of a slice by its name or format, else rows (``read``).

    A file of a slice takes the options ``format``, ``label`` and ``encoding``.
    """
    found = None
    if isinstance(data, str | PathLike):
        found = find_by_format(str(data), options.get("format"))
    if found is None:
        return read(data, **options)
    known = {name: options.get(name) for name in ("label", "encoding")}
    return open_examples(found[0], data, options, format=found[1], **known)


def open_like(model: Model, data: Any, labels: bool, **options: Any) -> Reader | ExampleFile:
    """Open a file or a table as the training file of a model was.

    ``labels`` says whether it must have some. Options are those of ``read`` that may differ:
    ``format``, ``header`` and ``threads``.
    """
    found = find_by_estimator(model.estimator)
    if found is not None and found.file_class:
        return open_examples(found, data, options, format=options.get("format"))
    recipe = model.features.get("recipe")
    if recipe is None:
        raise InputError(
            f"A {model.estimator} that was not trained from a file does not say how rows are read; "
            "use rosenblatt.load in Python.",
            code="not-from-a-file",
        )
    if model.features.get("format") == "fasttext" and options.get("format") is None:
        plain = isinstance(data, str | PathLike) and format_from_name(str(data)) is None
        options["format"] = "fasttext" if plain else None  # lines without labels tell nothing
    return read(
        data,
        **(match_labels(recipe) if labels else {"features": recipe, "label": False}),
        **options,
    )


def match_labels(recipe: dict[str, Any]) -> dict[str, Any]:
    """The options of ``read`` for rows with labels like those of a recipe: a table must have it."""
    table = recipe["rows"] == "table" and recipe["label"] is not None
    return {"features": recipe, **({"label": recipe["label"]} if table else {})}


def open_examples(
    found: Slice, data: Any, options: dict[str, Any], **known: str | None
) -> ExampleFile:
    """Open a file of a slice; refuse other data, and options that only rows have."""
    if not isinstance(data, str | PathLike):
        raise InputError(
            f"The model reads {found.examples}, but the data are a table; name a file of "
            f"{found.examples}.",
            code="not-rows",
        )
    opened: ExampleFile = load(found.file_class)(str(data), **known)
    others = options.keys() - {"names", "format", "label", "encoding"}
    opened.refuse(**{name: options[name] for name in others if options[name] != USUAL.get(name)})
    return opened

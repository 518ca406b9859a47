"""Open files as data: to learn from, or as the training file of a model was."""

import inspect
import os
from os import PathLike
from typing import Any, NamedTuple

from ..learners.kinds import learner_class
from ..learners.sequence.file_formats import COMPRESSED, detect_format
from ..parameters import InputError, ParameterError
from ..reading.reader import Reader, read
from ..storage.model import Model

USUAL = {name: one.default for name, one in inspect.signature(read).parameters.items()}


class SentenceFile(NamedTuple):
    """A file of sentences, to learn from or to tag.

    Attributes
    ----------
    path
        The file; "-" is standard input.
    format
        "conllu", "conll", "tagged" or "text"; by default that of its name, or of a tagger's own
        training file.
    label
        The column of the tags to learn: a name of CoNLL-U's, or a number from 0.
    encoding
        The encoding of the file to learn from, unless it is UTF-8.
    """

    path: str
    format: str | None = None
    label: str | None = None
    encoding: str | None = None

    @property
    def size(self) -> int | None:
        """The number of bytes to read, if it is known."""
        plain = os.path.isfile(self.path) and not self.path.lower().endswith(COMPRESSED)
        return os.path.getsize(self.path) if plain else None


def open_file(data: Any, **options: Any) -> Reader | SentenceFile:
    """Open data to learn from: a file of sentences by its name or format, else rows (``read``).

    A file of sentences takes the options ``format``, ``label`` and ``encoding``.
    """
    kind = None
    if isinstance(data, str | PathLike):
        kind = detect_format(str(data), options.get("format"))
    if kind is None:
        return read(data, **options)
    refuse_options_of_rows(options)
    known = {name: options.get(name) for name in SentenceFile._fields[2:]}
    return SentenceFile(str(data), kind, **known)


def open_like(model: Model, data: Any, labels: bool, **options: Any) -> Reader | SentenceFile:
    """Open a file or a table as the training file of a model was.

    ``labels`` says whether it must have some. Options are those of ``read`` that may differ:
    ``format``, ``header`` and ``threads``.
    """
    if learner_class(model.estimator).reads == "sentences":
        refuse_options_of_rows(options)
        if not isinstance(data, str):
            raise InputError(
                "The model tags sentences, and a built-in set is a table; name a file of "
                "sentences.",
                code="sentences",
            )
        return SentenceFile(data, options.get("format"))
    recipe = model.features.get("recipe")
    if recipe is None:
        raise InputError(
            f"A {model.estimator} that was not trained from a file does not say how rows are read; "
            "use rosenblatt.load in Python.",
            code="not-from-a-file",
        )
    return read(
        data,
        **(match_labels(recipe) if labels else {"features": recipe, "label": False}),
        **options,
    )


def match_labels(recipe: dict[str, Any]) -> dict[str, Any]:
    """The options of ``read`` for rows with labels like those of a recipe: a table must have it."""
    table = recipe["rows"] == "table" and recipe["label"] is not None
    return {"features": recipe, **({"label": recipe["label"]} if table else {})}


def refuse_options_of_rows(options: dict[str, Any]) -> None:
    """Refuse options of reading that a file of sentences does not have."""
    known = {"names", *SentenceFile._fields}
    for name, value in options.items():
        if name not in known and value != USUAL.get(name):
            raise ParameterError(
                f"{{{name}?}} is not for files of sentences; leave it out.", code="sentences-option"
            )

"""From a file of tagged sentences to a tagger, and from a tagger to tags in a file."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..parameters import ParameterError
from ..training.history import Epoch
from .classifier import SequencePerceptron, templates_for
from .endings import format_of
from .evaluation import SequenceEvaluation, evaluate_tags
from .formats import Layout, TaggedFile, filled, layout_of, read_tagged


def columns_named(layout: Layout) -> tuple[str, ...]:
    """What the columns of a file are called."""
    further = [f"column{number}" for number in range(2, len(layout.fields))]
    return ("word", "pos", *further)[: len(layout.fields)]


def train_tagger(
    path: str,
    kind: str,
    label: str | None = None,
    listener: Callable[[Epoch], None] | None = None,
    **parameters: Any,
) -> tuple[SequencePerceptron, int, int]:
    """A tagger trained on a file, and how many sentences and tokens that has.

    Parameters
    ----------
    path, kind
        The file and its format: "conllu", "conll" or "tagged".
    label
        The column of the tags: a name of CoNLL-U's, or a number from 0.
    listener
        Told of each epoch.
    **parameters
        Those of ``SequencePerceptron``.
    """
    layout = layout_of(path, kind, label)
    tagger = SequencePerceptron(**parameters)
    tagger._check_parameters()
    columns = columns_named(layout)
    templates = templates_for(tagger.features, columns)
    file = read_tagged(path, layout, columns, with_tags=True)
    assert file.tags is not None
    starts = np.unique(file.sentences.starts)  # empty lines are no sentences
    tagger._after_epoch = listener
    tagger._fit(file.sentences._replace(starts=starts), file.tags, columns, templates)
    tagger._layout, tagger._after_epoch = layout, None
    return tagger, len(starts) - 1, file.sentences.n_tokens


def file_for(
    tagger: SequencePerceptron, path: str, kind: str | None, with_tags: bool
) -> TaggedFile:
    """A file to tag: as the tagger's own was, or plain text."""
    layout = tagger._layout or Layout("text", (0,), 1)
    found = format_of(path, kind)
    if kind is not None and found is None:
        raise ParameterError(
            f"{{format?}} {kind} holds no sentences; a tagger reads conllu, conll, tagged and text."
        )
    if found is None:
        found = "text" if path == "-" or path.lower().endswith(".txt") else layout.format
        if path.lower().endswith(".txt") and layout.format == "conll":
            found = "conll"
    if found != layout.format:
        fields, label = {"conllu": ((1,), 3), "conll": ((0,), 1)}.get(found, ((0,), 1))
        layout = Layout(found, fields, label)
    return read_tagged(path, layout, tagger.columns_, with_tags)


def tags_of(tagger: SequencePerceptron, file: TaggedFile) -> list[str]:
    """The tags of all tokens of a file."""
    names = [str(name) for name in tagger.classes_.tolist()]
    return [names[code] for code in tagger._codes(file.sentences).tolist()]


def tag_file(tagger: SequencePerceptron, path: str, kind: str | None = None) -> bytes:
    """A file with the tags filled in."""
    file = file_for(tagger, path, kind, with_tags=False)
    return filled(file, tags_of(tagger, file))


def evaluate_file(
    tagger: SequencePerceptron, path: str, kind: str | None = None
) -> SequenceEvaluation:
    """How well a tagger does on a file with tags."""
    file = file_for(tagger, path, kind, with_tags=True)
    assert file.tags is not None
    word = file.sentences.columns[tagger.columns_[0]]
    known = tagger._lexicon.knows(word)
    return evaluate_tags(tags_of(tagger, file), file.tags.texts(), file.sentences.starts, known)

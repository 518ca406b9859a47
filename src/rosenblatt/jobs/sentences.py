"""From a file of tagged sentences to a tagger, and from a tagger to tags in a file."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from ..data.rows import Array
from ..disk import plain_errors
from ..estimators.sequence import SequencePerceptron, templates_for
from ..learners.sequence.file_formats import format_of
from ..learners.sequence.formats import (
    Layout,
    Piece,
    TaggedFile,
    filled,
    layout_of,
    read_pieces,
    read_tagged,
)
from ..learners.sequence.learning import Tagged
from ..parameters import ParameterError
from ..reading.sources import Source
from ..training.history import Epoch
from .evaluate_tags import SequenceEvaluation, evaluate_tags

IN_MEMORY = 1 << 28  # bytes of a file whose sentences are kept for further epochs
PIECE = 1 << 25  # bytes of others that are read at once
TO_TAG = 1 << 22  # bytes that are tagged at once


def columns_named(layout: Layout) -> tuple[str, ...]:
    """What the columns of a file are called."""
    further = [f"column{number}" for number in range(2, len(layout.fields))]
    return ("word", "pos", *further)[: len(layout.fields)]


def train_tagger(
    path: str,
    kind: str,
    label: str | None = None,
    listener: Callable[[Epoch], None] | None = None,
    encoding: str | None = None,
    **parameters: Any,
) -> tuple[SequencePerceptron, int, int]:
    """A tagger trained on a file, and how many sentences and tokens that has.

    A file of more than IN_MEMORY bytes is read in pieces, anew in each epoch; what can be read only
    once is then kept on disk for as long.

    Parameters
    ----------
    path, kind
        The file and its format: "conllu", "conll" or "tagged".
    label
        The column of the tags: a name of CoNLL-U's, or a number from 0.
    listener
        Told of each epoch.
    encoding
        Of the file, if it is not UTF-8.
    **parameters
        Those of ``SequencePerceptron``.
    """
    tagger, source = SequencePerceptron(**parameters), Source(path, encoding)
    tagger._check_parameters()
    pieces = read_pieces(source, kind, IN_MEMORY)
    begun, fits = pieces_in_memory(pieces, source.name)
    layout = layout_of(begun[0], kind, label)._replace(encoding=encoding)
    columns = columns_named(layout)
    templates = templates_for(tagger.features, columns)
    tagger._after_epoch = listener

    def tagged(piece: Piece) -> Tagged:
        file = read_tagged(piece, layout, columns, with_tags=True)
        starts = np.unique(file.sentences.starts)  # empty lines are no sentences
        return file.sentences._replace(starts=starts), file.tags

    if fits:
        for piece in begun if len(begun) > 1 else []:
            tagged(piece)  # for an error to name its file
        sentences, tags = tagged(together(begun))
        tagger._fit(sentences, tags, columns, templates)
        size = len(sentences.starts) - 1, sentences.n_tokens
    else:
        tagger._check_parameters("pieces")
        logging.getLogger("rosenblatt").warning(
            "%s has over %d MB, so it is read in pieces, anew in each epoch.",
            source.name,
            IN_MEMORY >> 20,
        )
        with rereadable(source, chain(begun, pieces)) as again:
            begun.clear()
            size = tagger._fit_stream(
                lambda: map(tagged, read_pieces(again, kind, PIECE)), columns, templates
            )
    tagger._layout, tagger._after_epoch = layout, None
    return tagger, *size


def pieces_in_memory(pieces: Iterator[Piece], name: str) -> tuple[list[Piece], bool]:
    """The first pieces of a file, and whether they are all and few enough to be kept."""
    begun, size = [], 0
    for piece in pieces:
        begun.append(piece)
        size += len(piece.data)
        if size > IN_MEMORY:
            return begun, False
    if not size:
        raise ValueError(f"{name} is empty.")
    return begun, next(pieces, None) is None


def together(pieces: list[Piece]) -> Piece:
    """Several files as one, with an empty line between."""
    if len(pieces) == 1:
        return pieces[0]
    return Piece(pieces[-1].name, b"\n\n".join(piece.data for piece in pieces), 0)


@contextmanager
def rereadable(source: Source, pieces: Iterable[Piece]) -> Iterator[Source]:
    """A source that can be read again: itself, or its pieces in a file that is gone afterwards."""
    if source.rereadable:
        yield source
        return
    with NamedTemporaryFile(prefix="rosenblatt-") as file:
        with plain_errors(file.name, "write"):
            for piece in pieces:
                file.write(piece.data)
            file.flush()
        kept = Source(file.name)
        kept.name = source.name
        yield kept


def layout_for(tagger: SequencePerceptron, path: str, kind: str | None) -> Layout:
    """How a file to tag is laid out: as the tagger's own was, or as plain text."""
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
    return layout


def pieces_for(
    tagger: SequencePerceptron, path: str, kind: str | None, with_tags: bool
) -> Iterator[TaggedFile]:
    """A file to tag, piece by piece."""
    layout, tokens = layout_for(tagger, path, kind), 0
    source = Source(path, layout.encoding)
    for piece in read_pieces(source, layout.format, TO_TAG):
        file = read_tagged(piece, layout, tagger.columns_, with_tags)
        tokens += file.sentences.n_tokens
        yield file
    if not tokens:
        raise ValueError(f"{source.name} has no tokens.")


def tags_of(tagger: SequencePerceptron, file: TaggedFile) -> list[str]:
    """The tags of all tokens of a file."""
    names = [str(name) for name in tagger.classes_.tolist()]
    return [names[code] for code in tagger._codes(file.sentences).tolist()]


def tagged_pieces(
    tagger: SequencePerceptron, path: str, kind: str | None = None
) -> Iterator[bytes]:
    """A file with the tags filled in, piece by piece."""
    for file in pieces_for(tagger, path, kind, with_tags=False):
        names = [str(name) for name in tagger.classes_.tolist()]
        yield filled(file, names, tagger._codes(file.sentences).astype(np.int64))


def evaluate_file(
    tagger: SequencePerceptron, path: str, kind: str | None = None
) -> SequenceEvaluation:
    """How well a tagger does on a file with tags."""
    found, wanted = list[str](), list[str]()
    starts, known = [np.zeros(1, np.int64)], list[Array]()
    for file in pieces_for(tagger, path, kind, with_tags=True):
        assert file.tags is not None
        starts.append(file.sentences.starts[1:] + len(found))
        found += tags_of(tagger, file)
        wanted += file.tags.texts()
        known.append(tagger._lexicon.knows(file.sentences.columns[tagger.columns_[0]]))
    return evaluate_tags(found, wanted, np.concatenate(starts), np.concatenate(known))

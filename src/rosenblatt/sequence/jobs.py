"""Files of sentences: train a tagger on one, evaluate it, and fill in the tags of a file."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.rows import Array
from ..jobs.data import ExampleFile
from ..jobs.job import FileJob
from ..parameters import ParameterError
from ..reading.formats import format_from_name
from ..reading.sources import Source
from ..slices import find_by_format
from ..storage.model import Model
from ..training.fit import fit, make_model
from ..training.plan import as_json
from .evaluation import TagEvaluation, evaluate_tags
from .formats import (
    Layout,
    Piece,
    TaggedFile,
    fill_tags,
    find_layout,
    read_pieces,
    read_tagged,
    refuse,
)
from .learner import SequenceLearner
from .parameters import PARAMETERS
from .schemes import Tagged
from .sentences import name_columns
from .training import SentenceSource, make_sequence_plan

MOST_BYTES = 1 << 31  # of files to learn from
TO_TAG = 1 << 22  # bytes that are tagged at once


class SentenceFile(ExampleFile):
    """A file of sentences, to learn from or to tag.

    The format is "conllu", "conll", "tagged" or "text", the label the column of the tags: a name of
    CoNLL-U's, or a number from 0.
    """

    examples = "sentences"
    counted = "token"
    parameters = PARAMETERS

    def train(self, job: FileJob) -> Model:
        """Train a tagger on the file."""
        if job.begun is not None or job.checkpointer is not None:
            raise ParameterError(
                "A tagger learns in one go; leave checkpoint and resume out.", code="rows-only"
            )
        kind = find_format(self)
        initial = None if job.initial is None else SequenceLearner.from_model(job.initial)
        plan = make_sequence_plan(job.request, initial.parameters if initial else None)
        opened = Source(self.path, self.encoding)
        pieces = read_all(read_pieces(opened, kind, MOST_BYTES), opened.name)
        layout = find_layout(pieces[0], kind, self.label)._replace(encoding=self.encoding)
        columns = name_columns(len(layout.fields))
        sentences, tags = read_parts(pieces, layout, columns)
        source: Any = SentenceSource(sentences, tags, columns, as_json(layout), opened.origin)
        if initial is not None and initial.columns != columns:
            raise ParameterError(
                f"The tokens of the initial model have the columns {', '.join(initial.columns)}, "
                f"and those of the file {', '.join(columns)}; choose another label.",
                code="initial-columns",
            )
        learner = source.begin({name: plan.parameters[name] for name in PARAMETERS}, initial)
        run = fit(plan, source, learner, job.reporter)
        model: Model = make_model(plan, source, learner, run, **job.facts)
        return model

    def evaluate(
        self,
        learner: SequenceLearner,
        tell: Callable[[int], None] | None = None,
        keep: Callable[[Array, Array], None] | None = None,
    ) -> TagEvaluation:
        """Compare the tags that a tagger predicts with those of the file."""
        found, wanted, names = list[str](), list[str](), learner.classes.astype(str).tolist()
        starts, known = [np.zeros(1, np.int64)], list[Array]()
        for read in read_to_tag(learner, self, with_tags=True, tell=tell):
            assert read.tags is not None
            starts.append(read.sentences.starts[1:] + len(found))
            tags = read.tags.texts()
            found += [names[code] for code in learner.predict(read.sentences).tolist()]
            wanted += tags
            known.append(learner.lexicon.knows(read.sentences.columns[learner.columns[0]]))
            if keep is not None:
                words = np.array(tags, object)
                keep(words, np.array(found[-len(tags) :], object) != words)
        return evaluate_tags(found, wanted, np.concatenate(starts), np.concatenate(known))

    def predict(
        self, learner: SequenceLearner, tell: Callable[[int], None] | None = None
    ) -> Iterator[bytes]:
        """Yield the file with the predicted tags filled in, part by part."""
        names = learner.classes.astype(str).tolist()
        for read in read_to_tag(learner, self, with_tags=False, tell=tell):
            yield fill_tags(read, names, learner.predict(read.sentences).astype(np.int64))


def read_all(pieces: Iterator[Piece], name: str) -> list[Piece]:
    """Return all pieces; refuse an empty file, and one that is too large to learn at once."""
    found, size = list[Piece](), 0
    for piece in pieces:
        found.append(piece)
        size += len(piece.data)
        if size > MOST_BYTES:
            what = f"has over {MOST_BYTES >> 20:,} MB of sentences, too many to keep in memory"
            advice = "learn it in parts, with partial_fit in Python."
            raise refuse(name, f"{what}; {advice}", "too-large")
    if not size:
        raise refuse(name, "is empty.", "empty-file")
    return found


def read_parts(pieces: list[Piece], layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """Read the sentences of files with their tags, as if they were one; errors name the file."""
    if len(pieces) > 1:
        for piece in pieces:
            read_tagged(piece, layout, columns, with_tags=True)
        pieces = [Piece(pieces[-1].name, b"\n\n".join(piece.data for piece in pieces), 0)]
    file = read_tagged(pieces[0], layout, columns, with_tags=True)
    starts = np.unique(file.sentences.starts)  # without empty lines
    return file.sentences._replace(starts=starts), file.tags


# Tagging


def find_format(file: SentenceFile) -> str:
    """Return the format of a file of sentences, the stated one or by its name; "" if neither."""
    found = find_by_format(file.path, file.format)
    return found[1] if found is not None and found[0].examples == file.examples else ""


def choose_layout(learner: SequenceLearner, file: SentenceFile) -> Layout:
    """Choose how a file to tag is laid out: as the tagger's own was, or as plain text."""
    layout, name = learner.layout or Layout("text", (0,), 1), file.path.lower()
    found = find_format(file)
    if file.format is not None and not found:
        raise ParameterError(
            f"format {file.format} has no sentences; a tagger reads conllu, conll, tagged and "
            "text.",
            code="format-of-sentences",
        )
    if not found:
        rows = format_from_name(file.path)
        if rows is not None:
            raise ParameterError(
                f"{file.path} has rows by its name ({rows}), and a tagger reads sentences; if it "
                "has some, state its format: conllu, conll, tagged or text.",
                code="format-of-sentences",
            )
        text = name == "-" or (name.endswith(".txt") and layout.format != "conll")
        found = "text" if text else layout.format
    if found == layout.format:
        return layout
    fields, label = {"conllu": ((1,), 3)}.get(found, ((0,), 1))
    return Layout(found, fields, label)


def read_to_tag(
    learner: SequenceLearner,
    file: SentenceFile,
    with_tags: bool,
    tell: Callable[[int], None] | None = None,
) -> Iterator[TaggedFile]:
    """Read a file to tag, piece by piece; ``tell`` receives the bytes read so far."""
    layout, tokens, done = choose_layout(learner, file), 0, 0
    source = Source(file.path, layout.encoding)
    for piece in read_pieces(source, layout.format, TO_TAG):
        read = read_tagged(piece, layout, learner.columns, with_tags)
        tokens += read.sentences.n_tokens
        done += len(piece.data)
        if tell is not None:
            tell(done)
        yield read
    if not tokens:
        raise refuse(source.name, "has no tokens.", "no-tokens")

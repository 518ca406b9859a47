"""Train a tagger on a file of tagged sentences, and fill in the tags of a file."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

import numpy as np

from ..disk import TemporaryFile
from ..learners.base import check_use
from ..learners.sequence.file_formats import detect_format
from ..learners.sequence.formats import (
    Layout,
    Piece,
    TaggedFile,
    fill_tags,
    find_layout,
    read_pieces,
    read_tagged,
)
from ..learners.sequence.learner import SequenceLearner
from ..learners.sequence.tagset import Tagged
from ..learners.sequence.training import SentenceSource, SequencePlan, make_sequence_plan
from ..parameters import InputError, ParameterError
from ..reading.formats import format_from_name
from ..reading.sources import Source
from ..storage.model import Model
from ..training.fit import fit, make_model
from ..training.plan import as_json
from ..training.report import Note
from .data import SentenceFile
from .job import FileJob

IN_MEMORY = 1 << 28  # bytes of a file whose sentences are kept for further epochs
PIECE = 1 << 25  # bytes of larger files that are read at once
TO_TAG = 1 << 22  # bytes that are tagged at once


def name_columns(layout: Layout) -> tuple[str, ...]:
    """Return the names of the columns of a file."""
    further = [f"column{number}" for number in range(2, len(layout.fields))]
    return ("word", "pos", *further)[: len(layout.fields)]


def train_on_sentences(file: SentenceFile, job: FileJob) -> Model:
    """Train a tagger on a file.

    A file of more than IN_MEMORY bytes is read in pieces, again in each epoch; if it can be read
    only once, a copy of it is kept on disk until then.
    """
    kind = detect_format(file.path, file.format) or ""
    before = None if job.initial is None else job.initial.parameters
    seed = None if job.begun is None else job.begun.parameters["random_state"]
    plan = make_sequence_plan(job.request, before, seed)
    opened = Source(file.path, file.encoding)
    pieces = read_pieces(opened, kind, IN_MEMORY)
    first, fits = read_first_pieces(pieces, opened.name)
    layout = find_layout(first[0], kind, file.label)._replace(encoding=file.encoding)
    source = SentenceSource(tuple, name_columns(layout), plan.split, fits, as_json(layout))
    source.origin = opened.origin
    complete = find_complete(job, plan, source, opened.name)
    if complete is not None:
        return complete
    if fits:
        whole = read_parts(first, layout, source.columns)
        source.read = lambda: [whole]
        return learn(source, plan, job)
    plan.check("pieces")
    size = IN_MEMORY >> 20
    sentence = f"{opened.name} has over {size} MB, so it is read in pieces, again in each epoch."
    job.reporter.note(Note(sentence, "stream"))
    with make_rereadable(opened, chain(first, pieces)) as again:
        first.clear()
        source.read = lambda: (
            read_part(piece, layout, source.columns) for piece in read_pieces(again, kind, PIECE)
        )
        return learn(source, plan, job)


def read_first_pieces(pieces: Iterator[Piece], name: str) -> tuple[list[Piece], bool]:
    """Return the first pieces of a file, and whether they are all of it and fit in memory."""
    first, size = list[Piece](), 0
    for piece in pieces:
        first.append(piece)
        size += len(piece.data)
        if size > IN_MEMORY:
            return first, False
    if not size:
        raise InputError(f"{name} is empty.", code="empty-file", file=name)
    return first, True


def find_complete(
    job: FileJob, plan: SequencePlan, source: SentenceSource, name: str
) -> Model | None:
    """Return the model to resume if its run is complete; refuse another run."""
    complete = job.find_complete(plan, source.origin, name)
    if job.begun is not None and job.begun.features.get("layout") != source.layout:
        raise ParameterError(
            "The run began with another {label?} or {format?}; resume it with the same.",
            code="resume-changed",
        )
    return complete


def read_part(piece: Piece, layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """Read the sentences of a piece with their tags."""
    file = read_tagged(piece, layout, columns, with_tags=True)
    starts = np.unique(file.sentences.starts)  # without empty lines
    return file.sentences._replace(starts=starts), file.tags


def read_parts(pieces: list[Piece], layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """Read the sentences of several files as if they were one; errors name the file."""
    if len(pieces) == 1:
        return read_part(pieces[0], layout, columns)
    for piece in pieces:
        read_part(piece, layout, columns)
    data = b"\n\n".join(piece.data for piece in pieces)
    return read_part(Piece(pieces[-1].name, data, 0), layout, columns)


@contextmanager
def make_rereadable(source: Source, pieces: Iterable[Piece]) -> Iterator[Source]:
    """A source that can be read again: itself, or its pieces in a temporary file."""
    if source.rereadable:
        yield source
        return
    file = TemporaryFile(piece.data for piece in pieces)
    kept = Source(file.name)
    kept.name = source.name
    try:
        yield kept
    finally:
        file.delete()


def learn(source: SentenceSource, plan: SequencePlan, job: FileJob) -> Model:
    """Run a plan over sentences to its end, and return the model."""
    resume = None
    if job.begun is not None:
        learner, left = SequenceLearner.from_model(job.begun), job.begun.checkpoint
        check_use(learner, "resume")
        resume = left and left.with_best(learner.unpack_state)
        source.sentences, source.tokens = (job.begun.facts[k] for k in ("sentences", "tokens"))
    elif job.initial is not None:
        initial = SequenceLearner.from_model(job.initial)
        refuse_other_columns(initial, source.columns)
        learner = source.begin(plan.parameters, initial)
    else:
        learner = source.begin(plan.parameters)
    run = fit(plan, source, learner, job.reporter, resume=resume, checkpointer=job.checkpointer)
    model: Model = make_model(plan, source, learner, run, **job.facts)
    return model


def refuse_other_columns(initial: SequenceLearner, columns: tuple[str, ...]) -> None:
    """Refuse to start from a tagger whose tokens have other columns."""
    if initial.columns != columns:
        raise ParameterError(
            f"The tokens of the initial model have the columns {', '.join(initial.columns)}, and "
            f"those of the file {', '.join(columns)}; choose another {{label?}}.",
            code="initial-columns",
        )


# Tagging


def choose_layout(learner: SequenceLearner, file: SentenceFile) -> Layout:
    """Choose how a file to tag is laid out: as the tagger's own was, or as plain text."""
    layout, name = learner.layout or Layout("text", (0,), 1), file.path.lower()
    found = detect_format(file.path, file.format)
    if file.format is not None and found is None:
        raise ParameterError(
            f"{{format?}} {file.format} has no sentences; a tagger reads conllu, conll, tagged and "
            "text.",
            code="format-of-sentences",
        )
    if found is None:
        refuse_rows(file.path)
        text = name == "-" or (name.endswith(".txt") and layout.format != "conll")
        found = "text" if text else layout.format
    if found == layout.format:
        return layout
    fields, label = {"conllu": ((1,), 3)}.get(found, ((0,), 1))
    return Layout(found, fields, label)


def refuse_rows(path: str) -> None:
    """Refuse to read a file as sentences whose name says that it has rows."""
    rows = format_from_name(path)
    if rows is not None:
        raise ParameterError(
            f"{path} has rows by its name ({rows}), and a tagger reads sentences; if it has some, "
            "state its {format?}: conllu, conll, tagged or text.",
            code="format-of-sentences",
        )


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
        raise InputError(f"{source.name} has no tokens.", code="no-tokens", file=source.name)


def fill_in_tags(
    learner: SequenceLearner, file: SentenceFile, tell: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """Yield a file with the predicted tags filled in, piece by piece."""
    names = [str(name) for name in learner.classes.tolist()]
    for read in read_to_tag(learner, file, with_tags=False, tell=tell):
        yield fill_tags(read, names, learner.predict(read.sentences).astype(np.int64))

"""From a file of tagged sentences to a tagger, and from a tagger to tags in a file."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..disk import plain_errors
from ..learners.sequence.file_formats import detect_format
from ..learners.sequence.formats import (
    Layout,
    Piece,
    TaggedFile,
    filled,
    find_layout,
    read_pieces,
    read_tagged,
)
from ..learners.sequence.learner import SequenceLearner
from ..learners.sequence.tagset import Tagged
from ..learners.sequence.templates import resolve_templates
from ..learners.sequence.training import Fit, SentenceData, resume, start
from ..parameters import SEQUENCE, ParameterError, check_parameters, defaults
from ..reading.sources import Source
from ..storage.model import Model
from ..training.history import Epoch
from ..training.plan import as_json
from ..training.report import Listener, Note
from .evaluate_tags import SequenceEvaluation, evaluate_tags
from .files import Checkpointer

IN_MEMORY = 1 << 28  # bytes of a file whose sentences are kept for further epochs
PIECE = 1 << 25  # bytes of others that are read at once
TO_TAG = 1 << 22  # bytes that are tagged at once


class SentenceFile(NamedTuple):
    """A file of tagged sentences to learn from.

    Attributes
    ----------
    path, format
        The file and its format: "conllu", "conll" or "tagged".
    label
        The column of the tags: a name of CoNLL-U's, or a number from 0.
    encoding
        Of the file, if it is not UTF-8.
    """

    path: str
    format: str
    label: str | None = None
    encoding: str | None = None


@dataclass
class SentenceTraining:
    """One training of a tagger from a file.

    Attributes
    ----------
    parameters
        Those of ``SequencePerceptron`` that were stated; a seed is a number.
    listener
        Receives the events.
    keeper
        Writes checkpoints.
    begun
        The unfinished model of this training, to continue.
    initial
        A model to begin with instead of zero weights, with its tags and features.
    """

    parameters: dict[str, Any] = field(default_factory=dict)
    listener: Listener = field(default_factory=Listener)
    keeper: Checkpointer | None = None
    begun: Model | None = None
    initial: Model | None = None

    def resolve(self) -> dict[str, Any]:
        """All parameters: as stated, else as of the initial model, else by default.

        Where a seed is stated to be None, one is drawn, unless the run has one.
        """
        before = {} if self.initial is None else self.initial.parameters
        given = defaults(SEQUENCE) | before | {"random_state": 0} | self.parameters
        if given["random_state"] is None:
            drawn = int(np.random.SeedSequence().generate_state(1)[0])
            given["random_state"] = self.begun.parameters["random_state"] if self.begun else drawn
        return given


class TrainedTagger(NamedTuple):
    """A tagger, what happened in its epochs, and what its model file tells besides."""

    learner: SequenceLearner
    history: list[Epoch]
    facts: dict[str, Any]

    def to_model(self) -> Model:
        """The model to save."""
        return self.learner.to_model(self.facts, self.history)


def columns_named(layout: Layout) -> tuple[str, ...]:
    """What the columns of a file are called."""
    further = [f"column{number}" for number in range(2, len(layout.fields))]
    return ("word", "pos", *further)[: len(layout.fields)]


def train_tagger(file: SentenceFile, training: SentenceTraining) -> TrainedTagger:
    """Train a tagger on a file.

    A file of more than IN_MEMORY bytes is read in pieces, again in each epoch; what can be read
    only once is then kept on disk for as long.
    """
    parameters, source = training.resolve(), Source(file.path, file.encoding)
    check_parameters(parameters, SEQUENCE)
    pieces = read_pieces(source, file.format, IN_MEMORY)
    begun, fits = pieces_in_memory(pieces, source.name)
    layout = find_layout(begun[0], file.format, file.label)._replace(encoding=file.encoding)
    columns = columns_named(layout)
    as_tagged = partial(tagged, layout=layout, columns=columns)
    data = SentenceData(tuple, columns, resolve_templates(parameters["features"], columns), fits)
    facts = {"training": as_json(parameters), "layout": as_json(layout), "origin": source.origin}
    if training.begun is not None:
        check_begun(training.begun, facts, source.name)
        if training.begun.checkpoint is None:
            training.listener.note(Note("The run is complete.", "complete"))
            before = SequenceLearner.from_model(training.begun)
            return TrainedTagger(before, list(training.begun.history), training.begun.facts)
    if fits:
        for piece in begun if len(begun) > 1 else []:
            as_tagged(piece)  # for an error to name its file
        whole = as_tagged(together(begun))
        data.parts = lambda: [whole]
        return run_to_the_end(data, parameters, training, facts)
    check_parameters(parameters, SEQUENCE, "pieces")
    size = IN_MEMORY >> 20
    sentence = f"{source.name} has over {size} MB, so it is read in pieces, again in each epoch."
    training.listener.note(Note(sentence, "stream"))
    with rereadable(source, chain(begun, pieces)) as again:
        begun.clear()
        data.parts = lambda: map(as_tagged, read_pieces(again, file.format, PIECE))
        return run_to_the_end(data, parameters, training, facts)


def tagged(piece: Piece, layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """The sentences of a piece with their tags."""
    file = read_tagged(piece, layout, columns, with_tags=True)
    starts = np.unique(file.sentences.starts)  # empty lines are no sentences
    return file.sentences._replace(starts=starts), file.tags


def run_to_the_end(
    data: SentenceData,
    parameters: dict[str, Any],
    training: SentenceTraining,
    facts: dict[str, Any],
) -> TrainedTagger:
    """Go through all epochs, and write checkpoints meanwhile."""
    fit = fit_for(data, parameters, training)
    run, learner, keeper = fit.run, fit.learner, training.keeper
    learner.features["layout"] = facts.pop("layout")
    facts |= {"sentences": fit.sentences, "tokens": fit.tokens}

    def offer() -> None:
        if keeper is not None and not run.stop_reason:
            keeper.offer(lambda: learner.to_model(facts, run.epochs, run.checkpoint()))

    def after_epoch(epoch: Epoch) -> None:
        training.listener.epoch(epoch)
        offer()

    run.after_epoch = after_epoch
    run.after_part = None if data.in_memory else lambda _: offer()
    run.train()
    fit.close()
    facts["stop_reason"] = run.stop_reason
    return TrainedTagger(learner, run.epochs, facts)


def fit_for(data: SentenceData, parameters: dict[str, Any], training: SentenceTraining) -> Fit:
    """The training of a new learner, of the initial one, or of one that was left."""
    seed = int(parameters["random_state"])
    if training.begun is not None:
        return resume(training.begun, data, seed)
    if training.initial is None:
        return start(parameters, data, seed)
    initial = SequenceLearner.from_model(training.initial)
    if initial.columns != data.columns:
        raise ValueError(
            f"The tokens of the initial model have {', '.join(initial.columns)}, and those of the "
            f"file {', '.join(data.columns)}; choose the column of the tags so that they are alike."
        )
    return start(parameters, data, seed, initial)


def check_begun(begun: Model, facts: Mapping[str, Any], name: str) -> None:
    """Refuse to continue with other settings or another file."""
    before = begun.facts
    if not isinstance(before.get("training"), dict):
        raise ValueError("The model does not say how it was trained; it cannot be resumed.")
    for parameter, value in facts["training"].items():
        if before["training"].get(parameter) != value:
            raise ParameterError(
                f"The run began with {{{parameter}?}} = {before['training'].get(parameter)}, not "
                f"{value}; resume it with the same options.",
                code="resume-changed",
            )
    if begun.features.get("layout") != facts["layout"]:
        raise ParameterError(
            "The run began with another {label?} or format; resume it with those.",
            code="resume-changed",
        )
    if before.get("origin") != facts["origin"] or facts["origin"] is None:
        raise ValueError(f"{name} has changed since the run began; begin a new run.")


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


def choose_layout(learner: SequenceLearner, path: str, kind: str | None) -> Layout:
    """How a file to tag is laid out: as the tagger's own was, or as plain text."""
    layout = learner.layout or Layout("text", (0,), 1)
    found = detect_format(path, kind)
    if kind is not None and found is None:
        raise ParameterError(
            f"{{format?}} {kind} holds no sentences; a tagger reads conllu, conll, tagged and "
            "text.",
            code="format-of-sentences",
        )
    if found is None:
        found = "text" if path == "-" or path.lower().endswith(".txt") else layout.format
        if path.lower().endswith(".txt") and layout.format == "conll":
            found = "conll"
    if found != layout.format:
        fields, label = {"conllu": ((1,), 3), "conll": ((0,), 1)}.get(found, ((0,), 1))
        layout = Layout(found, fields, label)
    return layout


def read_to_tag(
    learner: SequenceLearner, path: str, kind: str | None, with_tags: bool
) -> Iterator[TaggedFile]:
    """Read a file to tag, piece by piece."""
    layout, tokens = choose_layout(learner, path, kind), 0
    source = Source(path, layout.encoding)
    for piece in read_pieces(source, layout.format, TO_TAG):
        file = read_tagged(piece, layout, learner.columns, with_tags)
        tokens += file.sentences.n_tokens
        yield file
    if not tokens:
        raise ValueError(f"{source.name} has no tokens.")


def tag_file(learner: SequenceLearner, path: str, kind: str | None = None) -> Iterator[bytes]:
    """Yield a file with the tags filled in, piece by piece."""
    names = [str(name) for name in learner.classes.tolist()]
    for file in read_to_tag(learner, path, kind, with_tags=False):
        yield filled(file, names, learner.predict(file.sentences).astype(np.int64))


def evaluate_file(
    learner: SequenceLearner, path: str, kind: str | None = None
) -> SequenceEvaluation:
    """Compare the tags that a tagger predicts with those of a file."""
    found, wanted = list[str](), list[str]()
    starts, known = [np.zeros(1, np.int64)], list[Array]()
    names = [str(name) for name in learner.classes.tolist()]
    for file in read_to_tag(learner, path, kind, with_tags=True):
        assert file.tags is not None
        starts.append(file.sentences.starts[1:] + len(found))
        found += [names[code] for code in learner.predict(file.sentences).tolist()]
        wanted += file.tags.texts()
        known.append(learner.lexicon.knows(file.sentences.columns[learner.columns[0]]))
    return evaluate_tags(found, wanted, np.concatenate(starts), np.concatenate(known))

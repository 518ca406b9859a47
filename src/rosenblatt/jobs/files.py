"""From a file to a model, and from a model to predictions: in memory or as a stream."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, UnknownLabelError
from ..data.rows import Array, n_rows, overflow, refuse_lost
from ..data.splits import Split
from ..learners.linear import LinearLearner, usual_bias_step
from ..parameters import FILES, RULE_TABLE, Parameter, ParameterError, check_parameters, with_margin
from ..reading.batches import Batch, windows
from ..reading.notices import left_out
from ..reading.reader import Peeked, Reader, WholeFile, read_again_if_need_be, read_whole
from ..reading.vocabulary import named
from ..storage.file import save_model
from ..storage.model import Model
from ..training.history import Epoch
from ..training.report import Listener, Note, Tally, Windows
from ..training.rules import RULES, rule_for
from ..training.run import Run
from ..training.tasks import Part, PredictedTask
from .cache import origin_of, read_cached
from .calibrate import calibrate_in_memory
from .coder import Coder, coder_for
from .evaluate import Score
from .stream_rule import follow

IN_MEMORY = 2**30  # bytes of a file that is parsed once and kept for further epochs
MOST_IN_MEMORY = 2**31  # bytes of rows; a small file may become many
HELD_OUT = 0.1  # of the rows, when early stopping does not say how many


class FileOptions(NamedTuple):
    """How to learn from a file, besides the parameters of the estimator.

    Attributes
    ----------
    classes
        All labels, where the first rows may not have them all.
    window
        Shuffle a stream within this many rows.
    holdout
        The share of rows not to learn from, on which the model is tested.
    cache
        Keep the parsed rows beside the file, or use those that an earlier run kept.
    progress_every
        Predict each row of the first pass before it is learnt from, and let the error be heard
        after every so many; 0 to leave it.
    """

    classes: tuple[Any, ...] | None = None
    window: int = 0
    holdout: float = 0.0
    cache: bool = False
    progress_every: int = 0


@dataclass
class Keeper:
    """Writes the model of an unfinished run every so many seconds."""

    path: str | PathLike[str]
    seconds: float
    saved: float = field(default_factory=time.perf_counter)

    def offer(self, unfinished: Callable[[], Model]) -> None:
        """Write the model so far, if the last time is long enough ago."""
        if time.perf_counter() - self.saved >= self.seconds:
            save_model(self.path, unfinished())
            self.saved = time.perf_counter()


@dataclass
class FileTraining:
    """One training from a file: how, who hears of it, and where it is kept meanwhile.

    Attributes
    ----------
    parameters
        Of the estimator, from ``parameters_for_files``.
    options
        How to read and test.
    listener
        Hears how it goes.
    keeper
        Writes checkpoints.
    begun
        The unfinished model of such a run, to go on from.
    initial
        A model to start from instead of zero, with its classes, features and solution.
    rule
        What a row does to the weights, by name.
    open
        Whether nobody named that rule, so that another may predict a stream.
    facts
        What the model is to remember besides.
    """

    parameters: dict[str, Any]
    options: FileOptions = field(default_factory=FileOptions)
    listener: Listener = field(default_factory=Listener)
    keeper: Keeper | None = None
    begun: Model | None = None
    initial: Model | None = None
    rule: str = "perceptron"
    open: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    step: float = field(default=1.0, init=False)  # of the bias

    @property
    def estimator(self) -> str:
        """The name of what the model becomes in Python."""
        return RULE_TABLE[self.rule].estimator

    @property
    def table(self) -> Mapping[str, Parameter]:
        """What each parameter may be."""
        return RULE_TABLE[self.rule].parameters

    def settle_in_memory(self) -> None:
        """Leave no question open about rows that are at hand."""
        self.parameters = with_margin(self.parameters)
        self.parameters["order"] = self.parameters["order"] or "each"
        self.check()

    def settle_margin(self, reader: Reader) -> None:
        """Leave no question open about the margin; one that texts want needs to know all labels."""
        recipe, before, given = reader.parser.recipe, self.initial, self.parameters
        if before is not None and given.get("margin", 0.0) is None:
            going_on = {name: before.parameters.get(name) for name in ("margin", "class_weight")}
            stated = {name: value for name, value in given.items() if value is not None}
            self.parameters = given | going_on | stated
        one_of_all = self.options.classes is None and recipe.labels_separator is None
        texts = len(recipe.text) if one_of_all and reader.rereadable else 0
        self.parameters = with_margin(self.parameters, texts)

    def settle_bias(self, reader: Reader | None) -> None:
        """Leave no question open about the step of the bias, before rows are read."""
        stated = self.parameters["intercept_step"]
        if stated is not None:
            self.step = float(stated)
        elif reader is not None and self.parameters["fit_intercept"]:
            self.step = usual_bias_step(reader.mean_square())

    def settle_holdout(self, streams: bool = False) -> None:
        """Hold rows out where something needs them, by default a tenth.

        Calibration needs them in a stream; in memory, it is cross-fitted on all rows.
        """
        needs = self.parameters["early_stopping"] or (streams and self.parameters["calibrate"])
        if needs and not self.options.holdout:
            self.options = self.options._replace(holdout=HELD_OUT)

    @property
    def split(self) -> Split:
        """The rows that are held out."""
        return Split(self.options.holdout, self.parameters["random_state"])

    def check(self, *where: str) -> None:
        """Refuse what is out of range or does not go together."""
        self.settle_holdout(streams="stream" in where)
        values = self.parameters | self.options._asdict()
        check_parameters(values, {**self.table, **FILES}, *where)

    def settle(self, reader: Reader) -> bool:
        """Leave no question open about a file; whether to learn from a stream."""
        self.settle_margin(reader)
        self.settle_holdout()
        reader.hold_out(self.split)
        given, options = self.parameters, self.options
        fits = reader.size is not None and reader.size <= IN_MEMORY
        several = given["max_iter"] > 1
        if options.progress_every:
            streams, order = not options.cache, given["order"] or "fixed"
            if self.keeper is not None or self.begun is not None:
                why = "{progress_every?} tells of a pass as a whole; leave {checkpoint?} out."
                raise ParameterError(why, code="progress-checkpoint")
        elif options.window:
            streams, order = not options.cache, given["order"] or "each"
        else:
            plain = given["order"] in (None, "fixed") and given["solution"] in ("last", "average")
            once = not several and plain and not reader.measured_in_passing
            streams = not options.cache and not (fits and not once)
            order = given["order"] or ("each" if fits and several else "fixed")
        self.parameters = given | {"order": order}
        self.check(*(["stream"] if streams else ["cache"] if options.cache else []))
        reader.hold_out(self.split)
        if streams and not reader.rereadable:
            self.refuse_second_pass(reader.source.name)
        if self.begun is not None:
            self.check_begun(reader)
        return streams

    def settle_as_stream(self, asked: str | None) -> bool:
        """Learn from a stream after all what does not fit in memory, if that was left open."""
        self.parameters = self.parameters | {"order": asked or "fixed"}
        self.check("stream")
        limit = f"{MOST_IN_MEMORY >> 30} GB"
        sentence = f"The rows take over {limit} of memory, so they are learnt as a stream."
        self.listener.note(Note(sentence, "stream"))
        return True

    def refuse_second_pass(self, name: str) -> None:
        """Refuse what would have to read again what can be read only once."""
        again = {
            "max_iter": self.parameters["max_iter"] > 1,
            "holdout": self.options.holdout > 0,
            "class_weight": self.parameters["class_weight"] == "balanced",
        }
        for parameter, wanted in again.items():
            if wanted:
                why = f"{name} can be read only once, and {{{parameter}?}} needs to read it again"
                raise ParameterError(f"{why}; write it to a file first.", code="read-once")

    def check_begun(self, reader: Reader) -> None:
        """Refuse to go on with other settings or another file."""
        assert self.begun is not None
        before, now = self.begun.facts.get("training"), self.identity()
        if not isinstance(before, dict) or before.keys() != now.keys():
            raise ValueError("The model does not say how it was trained; it cannot be resumed.")
        for name, value in now.items():
            if before[name] != value:
                raise ParameterError(
                    f"The run began with {{{name}?}} = {before[name]}, not {value}; resume it with "
                    "the same options.",
                    code="resume-changed",
                )
        left = self.begun.checkpoint
        if left is not None and len(left.problems) != len(self.begun.states):
            raise ValueError(
                "The run was begun by version 0.2, which did not save the epochs of each label; "
                "begin it anew."
            )
        recipe = self.begun.features.get("recipe")
        if not isinstance(recipe, dict) or not reader.resumes(recipe):
            raise ValueError("The run began with other features; resume it with the same options.")
        size = reader.options.batch_bytes
        if self.begun.facts.get("batch_bytes", size) != size:
            raise ValueError("The run began with another batch_bytes; resume it with the same.")
        if self.begun.facts.get("origin") not in (None, origin_of(reader)):
            raise ValueError(
                f"{reader.source.name} has changed since the run began; begin it anew."
            )

    def identity(self) -> dict[str, Any]:
        """What a run must share with one that it goes on from."""
        identity: dict[str, Any] = as_json(
            {"rule": self.rule} | self.parameters | self.options._replace(cache=False)._asdict()
        )
        return identity


def train(reader: Reader, training: FileTraining) -> Model:
    """Learn from a file: in memory when it fits and that is of use, else as a stream.

    Parameters
    ----------
    reader
        Of the file.
    training
        How to learn.
    """
    asked = training.parameters

    def learn() -> Model:
        training.parameters = asked
        return train_once(reader, training)

    return read_again_if_need_be(reader, learn)


def train_once(reader: Reader, training: FileTraining) -> Model:
    """Learn from a file that is what its first rows look like."""
    asked, streams = training.parameters["order"], training.settle(reader)
    listener, begun = training.listener, training.begun
    if begun is not None and begun.checkpoint is None:
        listener.note(Note("The run is complete.", "complete"))
        return begun
    listener.begin(reader.size, training.parameters["max_iter"])
    if not streams:
        try:
            read = read_cached if training.options.cache else read_whole
            whole = read(reader, told(listener, keeps=not training.options.cache))
        except OutgrownError:
            streams = training.settle_as_stream(asked)
    if streams:
        reader.settle(told(listener))
        model = train_as_stream(reader, training)
        notices, bad = reader.notices, reader.bad
    else:
        model = train_in_memory(whole, training, reader)
        notices, bad = whole.notices, whole.bad
    for notice in notices:
        listener.note(Note(notice, notice.kind.value))
    if bad:
        listener.note(Note(left_out(bad), "skipped-rows"))
    return model


class OutgrownError(Exception):
    """The rows of a file take more memory than they should."""


def as_json(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def coder_of(batches: Iterable[Batch], training: FileTraining) -> Coder:
    """What labels mean, from those of batches: of all there are if classes are to be balanced."""
    before, options = training.begun or training.initial, training.options
    classes = None if before is None else before.classes
    return coder_for(batches, training.parameters, options.classes, options.holdout, classes)


def train_in_memory(
    whole: WholeFile, training: FileTraining, reader: Reader | None = None
) -> Model:
    """Go through rows at hand in any order; without a reader they are of no file."""
    begun, batch = training.begun, whole.batch
    if begun is not None and begun.checkpoint is not None and begun.checkpoint.parts:
        why = "The run began as a stream; resume it without {cache?}."
        raise ParameterError(why, code="resume-cache")
    training.settle_bias(reader)
    coder = coder_of([batch], training)
    rows = coder.rows(batch, 0)
    refuse_no_rows(len(rows.everything))
    learner = learner_of(coder, batch, training)
    part = learner.part(rows)
    run = run_of(learner, lambda: [part], training)
    if training.options.holdout and training.parameters["early_stopping"]:
        run.validate = partial(coder.accuracies, learner, [batch])
    flags = [len(problem.mistaken) for problem in run.problems if len(problem.mistaken)]
    if flags and min(flags) <= int(rows.everything.max()):
        raise ValueError("The model to resume was trained on fewer rows; begin anew.")
    position = Position(len(coder.classes), file_rows=n_rows(batch.rows))
    position.count(rows.codes)
    keep = Kept(training, coder, learner, run, reader, lambda: whole.names, position)

    def after_epoch(epoch: Epoch) -> None:
        training.listener.epoch(epoch)
        keep.checkpoint()

    run.after_epoch = after_epoch
    learner.states = run.train().outcomes
    if training.parameters["calibrate"] and not coder.split:
        learner.calibration = calibrate_in_memory(
            batch, rows, partial(learner_of, coder, batch), run_of, replace(training, begun=None)
        )
    return keep.model(keep.tested([batch]))


def train_as_stream(reader: Reader, training: FileTraining) -> Model:
    """Go through a file in its order, as often as there are epochs, in constant memory."""
    training.settle_bias(reader)
    batches = Peeked(reader)
    weighs_all = training.parameters["class_weight"] == "balanced"
    try:
        if training.begun is not None and not weighs_all:
            seed = training.parameters["random_state"]
            coder = Coder(training.begun.classes, None, training.options.holdout, seed)
        else:
            coder = coder_of(reader if weighs_all else [batches.first], training)
        return learn_stream(reader, batches, coder, training)
    except UnknownLabelError as late:
        known = training.options.classes is not None or training.initial is not None
        if known or not reader.rereadable:
            raise
        sentence = f"{late} All labels are looked up first, and the run begins again."
        training.listener.note(Note(sentence, "late-label"))
    training.begun = None
    training.listener.begin(reader.size, training.parameters["max_iter"])
    return learn_stream(reader, Peeked(reader), coder_of(reader, training), training)


def learn_stream(reader: Reader, batches: Peeked, coder: Coder, training: FileTraining) -> Model:
    """The model of a run over batches."""
    if training.open and training.options.progress_every:
        follow(training, partial(learner_of, coder, batches.first), coder.rows(batches.first, 0))
    learner = learner_of(coder, batches.first, training)
    position = Position(len(coder.classes))

    def parts() -> Iterator[Part]:
        position.row, position.of_class = 0, [0] * len(coder.classes)
        told = run.epoch == 1 and training.options.progress_every > 0
        for batch in windows(batches, training.options.window):
            position.bytes_read = batch.bytes_read
            rows = coder.rows(batch, position.row)
            position.count(rows.codes)
            part = learner.part(rows)
            if not told:
                yield part
            else:
                predicted = PredictedTask(learner.task(rows), learner.choose, progress.add)
                yield Part.of(predicted)
                predicted.finish(learner.states[0])
            position.row += n_rows(batch.rows)
        if told:
            progress.close()
        position.file_rows = position.row

    def tell(rows: int, wrong: int) -> None:
        training.listener.window(Tally(rows, position.bytes_read, wrong))

    progress = Windows(training.options.progress_every or 1, tell)

    run = run_of(learner, parts, training)
    if training.parameters["early_stopping"]:
        run.validate = partial(coder.accuracies, learner, batches)
    keep = Kept(training, coder, learner, run, reader, lambda: reader.names, position)

    def after_part(run: Run) -> None:
        count, each = run.count, len(run.active)
        if run.epoch > 1 or not training.options.progress_every:
            done = count.rows // each, position.bytes_read, count.errors, each
            training.listener.batch(Tally(*done))
        keep.checkpoint()

    run.after_part, run.after_epoch = after_part, training.listener.epoch
    learner.states = run.train().outcomes
    refuse_no_rows(learner.states[0].seen)
    return keep.model(keep.tested(batches))


@dataclass
class Position:
    """Where a pass over a file is, and how many rows of each class it met."""

    n_classes: int
    row: int = 0
    bytes_read: int = 0
    file_rows: int = 0

    def __post_init__(self) -> None:
        self.of_class = [0] * self.n_classes

    def count(self, codes: Array) -> None:
        """Count the rows of each class."""
        each = codes[codes >= 0] if codes.ndim == 1 else codes.nonzero()[1]
        more = np.bincount(each, minlength=self.n_classes).tolist()
        self.of_class = [a + b for a, b in zip(self.of_class, more, strict=True)]


def refuse_no_rows(count: int) -> None:
    """Refuse to learn from nothing."""
    if not count:
        raise ValueError("There are no rows to learn from: all have the weight 0 or are held out.")


def learner_of(coder: Coder, first: Batch, training: FileTraining) -> LinearLearner:
    """A model that has seen nothing, or the one to go on with."""
    if training.begun is not None:
        learner = LinearLearner.from_model(training.begun)
    elif training.initial is not None:
        learner = going_on(training.initial, training)
    else:
        learner = new_learner(coder.classes, first, training)
    if len(learner.states) > 1:
        training.check("problems")
    return learner


def new_learner(classes: Array, first: Batch, training: FileTraining) -> LinearLearner:
    """A model that has seen nothing, for rows like those of a batch."""
    shape = first.width, first.rows.values.dtype
    given = training.parameters
    step = training.step if given["fit_intercept"] else 0.0
    rule = rule_for(RULES[training.rule], given, first.width, len(classes))
    multilabel = isinstance(first.labels, LabelSets)
    return LinearLearner.begin(given, classes, shape, step, rule=rule, multilabel=multilabel)


def going_on(initial: Model, training: FileTraining) -> LinearLearner:
    """A model that goes on from another, which stays as it is."""
    learner, parameters = LinearLearner.from_model(initial), training.parameters
    if initial.estimator != training.estimator:
        why = f"The initial model is of {initial.estimator}; go on with its {{rule?}}."
        raise ParameterError(why, code="initial-rule")
    for name in ("solution", "average_decay", "multi_class"):
        before = learner.parameters[name]
        if parameters[name] != before:
            why = f"The initial model was begun with {{{name}?}} {before}; go on with the same."
            raise ParameterError(why, code="initial-changed")
    states = [state.renewed() for state in learner.states]
    return replace(learner, parameters=parameters, states=states, calibration=None)


def run_of(
    learner: LinearLearner, parts: Callable[[], Iterable[Any]], training: FileTraining
) -> Run:
    """The training of a model, ready to start or to go on."""
    given, begun = training.parameters, training.begun
    how = {"order": given["order"], "seed": given["random_state"]}
    run = learner.run(parts, given["max_iter"], **how)
    if begun is not None and begun.checkpoint is not None:
        run.resume(begun.checkpoint)
    return run


def told(listener: Listener, keeps: bool = False) -> Callable[[Batch], None]:
    """Lets somebody hear how far a file is read, and refuses to keep more than memory should."""
    rows = size = 0

    def hear(batch: Batch) -> None:
        nonlocal rows, size
        rows += n_rows(batch.rows)
        arrays = (array for array in (*batch.rows, batch.labels) if array is not None)
        size += sum(array.nbytes for array in arrays)
        if keeps and size > MOST_IN_MEMORY:
            raise OutgrownError
        listener.batch(Tally(rows, batch.bytes_read, None))

    return hear


# Keeping


class Kept(NamedTuple):
    """All that becomes a model file, while it is made."""

    training: FileTraining
    coder: Coder
    learner: LinearLearner
    run: Run
    reader: Reader | None
    names: Callable[[], Mapping[int, str]]
    position: Position

    def checkpoint(self) -> None:
        """Write the model so far, if it is time."""
        if self.training.keeper is not None and not self.run.stop_reason:
            self.training.keeper.offer(self.unfinished)

    def tested(self, batches: Iterable[Batch]) -> Score | None:
        """How the model does on the rows held out, which it may be calibrated on, too."""
        learner, parts = self.learner, (batch.rows for batch in batches)
        refuse_lost(learner.coefficients()[0], learner.mistakes, parts)
        if not self.coder.split:
            return None
        return self.coder.score(learner, batches, self.training.parameters["calibrate"])

    def unfinished(self) -> Model:
        """The model so far, to go on from."""
        self.learner.states = [problem.state for problem in self.run.problems]
        return self.model(None)

    def model(self, tested: Score | None) -> Model:
        """What to keep in a file: the state, how it was trained, and how features are made."""
        run, learner, reader = self.run, self.learner, self.reader
        coef, _ = learner.coefficients()
        if not np.isfinite(coef).all():
            raise overflow(coef.dtype)
        facts: dict[str, Any] = {
            "stop_reason": run.stop_reason or "unfinished",
            "rows": self.position.file_rows or self.run.count.rows,
            "class_rows": self.position.of_class,
            "training": self.training.identity(),
            "plain": False,
            **self.training.facts,
        }
        if tested is not None:
            facts["held_out"] = tested.as_dict()
        if reader is not None:
            facts["origin"] = origin_of(reader) if reader.size is not None else None
            learner.features = {
                "recipe": reader.features(),
                "format": reader.format,
                "largest": named(coef, self.names()),
            }
        checkpoint = None if run.stop_reason else run.checkpoint()
        if checkpoint is not None and reader is not None:
            facts["batch_bytes"] = reader.options.batch_bytes  # its parts are batches
        weights, parameters = self.coder.of_class, self.training.parameters
        if parameters["intercept_step"] is None:
            parameters = parameters | {"intercept_step": self.training.step}
        if weights is not None:
            pairs = zip(self.coder.classes.tolist(), weights.tolist(), strict=True)
            parameters = parameters | {"class_weight": dict(pairs)}
        learner.parameters = parameters
        return learner.to_model(facts, run.epochs, checkpoint)

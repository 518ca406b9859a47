"""Train a model on a file: in memory or as a stream, with checkpoints, and resumed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import isnan
from typing import Any, cast

import numpy as np

from ..data.labels import UnknownLabelError, find_classes
from ..data.rows import Array, largest_size, n_rows, overflow
from ..data.targets import ClassTarget, LabelCounts, NumberTarget, RankTarget
from ..learners.linear import LinearLearner, TrainingRows, cross_calibrate
from ..parameters import InputError, ParameterError
from ..reading.batches import Batch, cut_windows, known_labels
from ..reading.notices import Notice, left_out
from ..reading.reader import OutgrownError, Peeked, Reader, read_whole
from ..reading.vocabulary import named
from ..storage.model import Model
from ..training.calibration import Calibration, find_thresholds
from ..training.fit import fit, make_model
from ..training.plan import DataProfile, Plan, Request
from ..training.predicted import PredictedTask
from ..training.report import Listener, Note, Tally, Windows
from ..training.scoring import explain_undefined
from ..training.training import Part, Training
from .data import ExampleFile
from .evaluate import HeldOut
from .importances import FIRST_ROWS, measure_first_rows
from .job import FileJob, begin_learner, read_once_error

IN_MEMORY = 2**30  # bytes of a file that is parsed once and kept for further epochs
MOSTLY_RIGHT = 0.02  # errors of an epoch; with more, no single column tells classes apart
FEWEST_OF_CLASS = 100  # with few rows, one of many columns may separate a class by chance
NEARLY_ALL = 0.99  # of the rows: a label that says little
FAR_FROM_HALF = 0.2  # a probability at the decision that is worth a note
MOST_IN_MEMORY = 2**31  # bytes of parsed rows, which may be larger than the file


def train(reader: Reader | ExampleFile, job: FileJob | Request) -> Model:
    """Train on a file: rows in memory if they fit and need to be, else as a stream."""
    job = FileJob(job) if isinstance(job, Request) else job
    return reader.train(job) if isinstance(reader, ExampleFile) else train_rows(reader, job)


def look(reader: Reader) -> DataProfile:
    """Return what is known of a file before it is read, as far as a plan depends on it."""
    return DataProfile(
        rereadable=reader.rereadable,
        fits=reader.size is not None and reader.size <= IN_MEMORY,
        texts=len(reader.recipe.text),
        label_sets=reader.multilabel,
        one_pass_statistics=reader.one_pass_statistics,
        numbers=reader.has_numbers,
    )


def train_rows(reader: Reader, job: FileJob) -> Model:
    """Train on a file of rows."""
    found, reporter = look(reader), job.reporter
    plan = job.plan or job.make_plan(found)
    reporter.plan, reporter.target = plan, plan.target
    reporter.metric = plan.parameters.get("metric", "error")
    reader.hold_out(plan.split)
    if plan.stream and not reader.rereadable:
        refuse_second_pass(plan, reader.source.name)
    if job.begun is not None:
        complete = job.is_complete(plan, reader.source.origin, reader.source.name)
        check_begun(job.begun, plan, reader)
        if complete:
            reporter.note(Note("The run is complete.", "complete"))
            return job.begun
    reporter.begin(reader.size, plan.max_iter)
    whole = job.whole
    if not plan.stream and whole is None:
        try:
            whole = read_whole(reader, lambda: watch(reporter), MOST_IN_MEMORY)
        except OutgrownError:
            plan = job.make_plan(replace(found, fits=False))
            limit = f"{MOST_IN_MEMORY >> 30} GB"
            sentence = f"The rows take over {limit} of memory, so they are learnt as a stream."
            reporter.note(Note(sentence, "stream"))
    if whole is None:
        reader.complete_recipe(watch(reporter))
    if plan.unresolved:
        plan = plan.complete(reader.mean_square())
    known = reader.notices if whole is not None else []
    model = learn(FileRows(reader, whole, plan, reporter), job)
    report_notices([one for one in reader.notices if one not in known], plan, reporter)
    if reader.bad:
        reporter.note(Note(left_out(reader.bad), "skipped-rows"))
    return model


def report_notices(notices: Iterable[Notice], plan: Plan, reporter: Listener) -> None:
    """Report what a reader did to a file."""
    for notice in notices:
        if notice.code != "label-values" or plan.target != "ranks":  # which are stated
            reporter.note(Note(notice.sentence, notice.code))


def refuse_second_pass(plan: Plan, name: str) -> None:
    """Refuse options that need a second pass over what can be read only once."""
    again = {
        "max_iter": plan.max_iter > 1,
        "early_stopping": plan.split and plan.parameters["early_stopping"],
        "holdout": bool(plan.split),
        "class_weight": plan.parameters.get("class_weight") == "balanced",
    }
    for parameter, wanted in again.items():
        if wanted:
            raise read_once_error(name, parameter)


def check_begun(begun: Model, plan: Plan, reader: Reader) -> None:
    """Refuse to resume a run that was cut into other parts or had other features."""
    recipe, size = begun.features.get("recipe"), reader.options.batch_bytes
    other = {
        "other features": not isinstance(recipe, dict) or not reader.adopt_features(recipe),
        "another batch_bytes": begun.facts.get("batch_bytes", size) != size,
    }
    for what, changed in other.items():
        if changed:
            raise ParameterError(
                f"The run began with {what}; resume it with the same options.",
                code="resume-changed",
            )


def watch(reporter: Listener) -> Callable[[Batch], None]:
    """Return a callback that reports reading progress."""
    rows = 0

    def add(batch: Batch) -> None:
        nonlocal rows
        rows += n_rows(batch.rows)
        reporter.batch(Tally(rows, batch.bytes_read, None))

    return add


# Learning


def learn(rows: "FileRows", job: FileJob) -> Model:
    """Train on the rows of a file; start again if a stream has an unknown label."""
    try:
        return learn_once(rows, job)
    except UnknownLabelError as late:
        known = rows.plan.request.classes is not None or job.initial is not None
        if known or rows.in_memory or not rows.reader.rereadable:
            raise
        sentence = f"{late} All labels are looked up first, and the run begins again."
        job.reporter.note(Note(sentence, "late-label"))
    job.reporter.begin(rows.reader.size, rows.plan.max_iter)
    again = FileRows(rows.reader, None, rows.plan, job.reporter)
    job = replace(job, begun=None)
    again.target = again.count_labels(rows.reader).target(rows.plan.parameters, None, None)
    return learn_once(again, job)


def learn_once(rows: "FileRows", job: FileJob) -> Model:
    """Run a plan over the rows of a file to its end, and return the tested model."""
    plan = rows.plan
    rows.target = rows.target or rows.find_target(job)
    facts = dict(job.facts)
    learner = begin(plan, rows, job)
    kept = () if job.initial is None else job.initial.facts
    if not plan.parameters["calibrate"] and ("calibration" in kept or "conformal" in kept):
        sentence = (
            "The probabilities or prediction sets of the initial model are dropped, as its weights "
            "change; use calibrate to fit them again."
        )
        job.reporter.note(Note(sentence, "calibration-dropped"))
    report_notices(rows.reader.notices if rows.in_memory else [], plan, job.reporter)
    resume = None if job.begun is None else job.begun.checkpoint
    run = fit(
        plan, rows, learner, job.reporter, facts, resume=resume, checkpointer=job.checkpointer
    )
    return complete(rows, learner, run, job, facts)


def complete(
    rows: "FileRows", learner: LinearLearner, run: Training, job: FileJob, facts: dict[str, Any]
) -> Model:
    """Test and calibrate a trained learner, and return its model."""
    plan = rows.plan
    refuse_no_rows(learner.states[0].seen)
    if not len(learner.states[0].weights):
        raise InputError("No row has a column to learn from.", code="no-columns")
    learner.refuse_lost(one.rows for one in rows.batches)
    if isinstance(rows.target, RankTarget) and "tuning" in facts and rows.in_memory:
        move_thresholds(rows, learner, job)
        facts["thresholds"] = "cross-fitted"
    if plan.split:
        facts["held_out"] = rows.held_out.score(learner).as_dict()
        figure = rows.held_out.figure(learner, plan.parameters.get("metric", "error"))
        facts |= {} if figure is None else {"held_out_figure": figure}
    elif plan.target == "numbers" and rows.in_memory:
        facts["training_score"] = HeldOut(rows.batches, rows.target).score(learner).as_dict()
    if plan.parameters.get("calibrate") and plan.split:
        rows.held_out.calibrate(learner)
    elif plan.parameters.get("calibrate"):
        bias = learner.coefficients()[1] if "thresholds" in facts else None
        learner.calibration = calibrate_in_memory(rows, replace(job, begun=None), bias)
    for note in filter(None, [*describe_decisions(learner, rows), find_giveaway(rows, run)]):
        job.reporter.note(note)
    model: Model = make_model(plan, rows, learner, run, **facts)
    return model


def describe_decisions(learner: LinearLearner, rows: "FileRows") -> Iterator[Note]:
    """Note a label that is nearly constant, and a decision far from a probability of one half."""
    counts, classes = rows.class_rows, learner.classes
    if learner.multilabel or not counts:
        return
    if sum(counts) >= FEWEST_OF_CLASS and max(counts) >= NEARLY_ALL * sum(counts):
        yield Note(
            f"{max(counts):,} of {sum(counts):,} rows have the label "
            f"{classes[counts.index(max(counts))]}, so a small error says little. If it is not "
            "what you want to predict, name another column with label.",
            "label-constant",
        )
    calibration = learner.calibration
    if calibration is not None and len(classes) == 2:
        chance = calibration.at_decision
        if abs(chance - 0.5) > FAR_FROM_HALF:
            yield Note(
                f"{classes[1]} is predicted where its probability is above {chance:.2f}; to "
                "predict the more probable class, use threshold=0.5.",
                "decision-probability",
            )


def find_giveaway(rows: "FileRows", run: Training) -> Note | None:
    """Note a column that alone tells two classes apart, as a copy of the label would."""
    recipe, often = rows.reader.recipe, run.count.errors > MOSTLY_RIGHT * run.count.rows
    if often or not rows.in_memory or recipe.rows != "table" or recipe.text:
        return None
    learnt, X = rows.encode(rows.first, 0), rows.first.X
    some = np.sort(learnt.row_order)[:FIRST_ROWS]
    codes, two = learnt.codes[some], len(rows.class_rows) == 2 and learnt.codes.ndim == 1
    if not two or np.bincount(codes, minlength=2).min() < FEWEST_OF_CLASS:
        return None
    of_class = [some[codes == code] for code in (0, 1)]
    for step in (8, 1):  # a part of the rows rules most columns out
        (low, high), (other_low, other_high) = (find_range(X[each[::step]]) for each in of_class)
        apart = np.flatnonzero((low > other_high) | (high < other_low))
        if not len(apart):
            return None
    name = rows.reader.names.get(int(apart[0]), f"#{apart[0]}")
    advice = "Leave out with ignore what is not known before the label."
    return Note(f"{name} alone tells the classes apart. {advice}", "label-given-away")


def find_range(X: Any) -> list[Array]:
    """Return the smallest and the largest value of each column of an array or a CSR array."""
    ends = X.min(axis=0), X.max(axis=0)
    return [np.ravel(end.toarray() if hasattr(end, "toarray") else end) for end in ends]


def move_thresholds(rows: "FileRows", learner: LinearLearner, job: FileJob) -> None:
    """Move the thresholds between ranks to where cross-fitted probabilities decide best."""
    if len(learner.classes) == 2:
        return
    every, state = rows.encode(rows.first, 0), learner.states[0]
    bias = state.coefficients()[1].astype(np.float64)
    activations = learner.scores(every.rows, every.width)[every.row_order, 1] - bias[0]
    calibration = calibrate_in_memory(rows, replace(job, begun=None))
    state.bias += (find_thresholds(calibration, activations, bias) - bias).astype(state.bias.dtype)


def calibrate_in_memory(rows: "FileRows", job: FileJob, bias: Array | None = None) -> Calibration:
    """Calibrate by cross-fitting: each part of the rows is scored by a model of the others.

    These have the ``bias``, if it is given.
    """
    plan, every = rows.plan, rows.encode(rows.first, 0)
    return cross_calibrate(lambda _: begin(plan, rows, job), every, plan.split.seed, bias)


def begin(plan: Plan, rows: "FileRows", job: FileJob) -> LinearLearner:
    """Return an untrained learner, or the one to resume or to start from."""
    if job.begun is not None:
        learner = LinearLearner.from_model(job.begun)
    elif job.initial is not None:
        learner = start_from(job.initial, plan)
    else:
        shape = rows.first.width, rows.first.rows.values.dtype
        learner = begin_learner(plan, rows.target, shape)
    if isinstance(rows.target, NumberTarget):
        learner.numbers = rows.target
    learner.parameters = {**plan.parameters, **rows.target.as_parameters()}
    learner.conformal = None
    if len(learner.states) > 1:
        plan.check("problems")
    return learner


def start_from(initial: Model, plan: Plan) -> LinearLearner:
    """Return a learner that starts from a model, which is not changed."""
    learner = LinearLearner.from_model(initial)
    if initial.estimator != plan.estimator:
        raise ParameterError(
            f"The initial model is of {initial.estimator}; continue with its rule.",
            code="initial-rule",
        )
    for name in ("solution", "multi_class"):
        before = learner.parameters.get(name)
        if plan.parameters.get(name) != before:
            begun = f"without {name}" if before is False else f"with {name} {before}"
            raise ParameterError(
                f"The initial model was begun {begun}; continue with the same.",
                code="initial-changed",
            )
    states = [state.renew() for state in learner.states]
    return replace(learner, states=states, calibration=None)


def refuse_no_rows(count: int) -> None:
    """Refuse to learn from no rows."""
    if not count:
        raise InputError(
            "There are no rows to learn from: all have the weight 0 or are held out.",
            code="no-rows",
        )


class FileRows:
    """The rows of a file: all in memory as one part, or batch by batch as they are read.

    Attributes
    ----------
    target
        The encoding of labels, once it is known.
    row, bytes_read
        The number of rows and bytes of the pass so far.
    class_rows
        The number of rows of each class in the pass so far.
    """

    def __init__(self, reader: Reader, whole: Batch | None, plan: Plan, reporter: Listener) -> None:
        self.reader, self.plan, self.reporter = reader, plan, reporter
        self.in_memory, self.target = whole is not None, None
        if whole is None:
            peeked = Peeked(reader)
            self.batches, self.first = cast(Iterable[Batch], peeked), peeked.first
        else:
            self.batches, self.first = [whole], whole
        self.file_rows = self.row = self.bytes_read = 0
        self.class_rows: list[int] = []
        self.part: Part | None = None
        self.windows = Windows(
            plan.request.progress_every or 1,
            lambda row, wrong: reporter.window(Tally(row, self.bytes_read, wrong)),
        )
        self.undefined = False  # whether held-out rows do not define the metric

    target: Any

    # Labels

    def find_target(self, job: FileJob) -> ClassTarget | NumberTarget:
        """Find the classes: in all rows if they are to be balanced, else in the first ones.

        For numbers, find the scale in the first rows, unless a model to start from has one.
        """
        if self.plan.target == "numbers":
            if job.before is not None:
                return LinearLearner.from_model(job.before).numbers
            batches = [] if self.in_memory else list(self.reader.first_rows())
            labels = np.concatenate([known_labels(batch) for batch in batches or [self.first]])
            return NumberTarget.measure(labels, ~self.plan.split.held_out(0, len(labels)))
        plan, known = self.plan, None if job.before is None else job.before.classes
        weighs_all = plan.parameters["class_weight"] == "balanced"
        if job.begun is not None and not weighs_all:
            return cast(ClassTarget, LinearLearner.from_model(job.begun).target)
        counted = self.count_labels(self.reader if weighs_all and not self.in_memory else [])
        target = counted.target(plan.parameters, plan.request.classes, known)
        if plan.target == "ranks" and known is None and self.in_memory:
            find_classes(counted.labels)
        return target

    def count_labels(self, batches: Iterable[Batch]) -> LabelCounts:
        """Count the labels of some batches, or of the first one."""
        counts, row = LabelCounts(), 0
        for batch in batches or [self.first]:
            learnt = ~self.plan.split.held_out(row, n_rows(batch.rows))
            counts.add(known_labels(batch, row), learnt)
            row += n_rows(batch.rows)
        return counts

    def encode(self, batch: Batch, first_row: int) -> TrainingRows:
        """Return the rows of a batch with the numbers of their classes."""
        return TrainingRows.encode(batch, self.target, self.plan.split, first_row)

    # The protocol of a source (training/fit.py)

    def parts(self, learner: LinearLearner, run: Training) -> Iterator[Part]:
        """Yield one part in memory; of a stream, one per batch or window."""
        if self.part is not None:
            yield self.part
            return
        progressive = run.epoch == 1 and self.plan.request.progress_every > 0
        for rows in self.encode_blocks(self.plan.request.window, len(learner.classes)):
            if progressive:
                task = PredictedTask(learner.task(rows), learner.row_errors, self.windows.add)
                yield Part.of(task)
                task.finish(learner.states[0])
            else:
                yield self.keep(learner.part(rows), rows, run)
        if progressive:
            self.windows.close()

    def encode_blocks(self, size: int, n_classes: int) -> Iterator[TrainingRows]:
        """Yield all rows, ``size`` at a time or in batches if it is 0, and count them."""
        self.row, counts = 0, np.zeros(n_classes, np.intp)
        for batch in cut_windows(self.batches, size):
            self.bytes_read = batch.bytes_read
            rows = self.encode(batch, self.row)
            if n_classes:
                codes = rows.codes
                each = codes[codes >= 0] if codes.ndim == 1 else codes.nonzero()[1]
                counts += np.bincount(each, minlength=n_classes)
            self.class_rows = counts.tolist()
            yield rows
            self.row += n_rows(batch.rows)
        self.file_rows = self.row

    def keep(self, part: Part, rows: TrainingRows, run: Training) -> Part:
        """Keep a part in memory for the next epoch; refuse to resume a run over fewer rows."""
        if not self.in_memory:
            return part
        refuse_no_rows(len(rows.row_order))
        flags = [len(problem.mistaken) for problem in run.problems if len(problem.mistaken)]
        if flags and min(flags) <= int(rows.row_order.max()):
            raise ParameterError(
                "The model to resume was trained on fewer rows; leave resume out to start a new "
                "run.",
                code="resume-file-changed",
            )
        self.part, self.file_rows = part, len(rows.codes)
        return part

    def report_part(self, run: Training) -> None:
        """Report the mistakes of a pass so far."""
        if run.epoch > 1 or not self.plan.request.progress_every:
            count, each = run.count, len(run.active)
            target = self.target
            wrong = count.loss * target.scale if isinstance(target, NumberTarget) else count.errors
            self.reporter.batch(Tally(count.rows // each, self.bytes_read, wrong, each))

    @property
    def held_out(self) -> HeldOut:
        """The rows that are held out."""
        return HeldOut(self.batches, self.target, self.plan.split)

    def validate(self, learner: LinearLearner, problems: list[int]) -> dict[int, float]:
        """Return the scores of some problems on held-out rows, by their numbers."""
        scores = self.held_out.validate(learner, problems)
        undefined = self.plan.target == "classes" and any(map(isnan, scores.values()))
        if undefined and not self.undefined:
            self.undefined = True
            sentence = (
                f"The held-out rows {explain_undefined(learner.parameters['metric'])}, so it "
                "cannot choose the best epoch; hold out a larger share, or use another metric."
            )
            self.reporter.note(Note(sentence, "metric-one-class"))
        return scores

    def facts(self, learner: LinearLearner, run: Training) -> dict[str, Any]:
        """Return what a model keeps of the rows and the file; the learner gets its features."""
        coef, _ = learner.coefficients()
        if not np.isfinite(largest_size(coef)):
            raise overflow(coef.dtype)
        reader = self.reader
        deviations = measure_first_rows(self.first.rows, coef.shape[1], self.plan.split)
        importances = np.abs(coef).max(axis=0, initial=0.0) * deviations
        largest = named(importances, reader.names)
        learner.features = {
            "recipe": reader.features(),
            "format": reader.format,
            "largest": largest,
            "deviations": [float(f"{deviations[column]:.6g}") for column, _ in largest],
        }
        facts = {
            "rows": self.file_rows or run.count.rows,
            "class_rows": self.class_rows,
            "origin": reader.source.origin,
        }
        if not run.stop_reason:
            facts["batch_bytes"] = reader.options.batch_bytes  # its parts are batches
        return facts

"""Choose everything for the prediction of the next row of a stream, while it is read.

Several candidates learn all rows. The one with the fewest mistakes, or the least absolute errors of
numbers, among the last rows predicts the next ones. How far back these go is found out by a drift
alarm.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import UnknownLabelError
from ..data.rows import Array
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import ONLINE_NUMBER_SETTINGS, ONLINE_SETTINGS, RULE_TABLE, ParameterError
from ..reading.reader import Reader
from ..storage.model import Model
from ..training.drift import DriftWindow
from ..training.plan import Plan, forms_for, make_plan
from ..training.report import Note, Tally
from ..training.rules import RULES
from ..training.training import Training
from .files import FileRows, begin, complete, look, refuse_second_pass, watch
from .job import FileJob

BLOCK = 100  # rows that one setting predicts before the choice is made again
MOST_NOTES = 5  # of drift alarms; further ones are only counted
LISTED = 5  # settings that a model keeps


class Setting(NamedTuple):
    """A rule with its parameters, and the learner that learns all rows by it."""

    chosen: Mapping[str, Any]
    learner: LinearLearner
    run: Training

    def learn(self, given: TrainingRows) -> Array:
        """Learn from rows; return for each whether it was wrong before, or its error."""
        numbers = self.learner.target_kind == "numbers"
        wrong = np.zeros(len(given.codes), float if numbers else bool)
        self.run.problems[0].add(self.learner.learn(given, wrong))
        return wrong[given.row_order]


class StreamTraining:
    """One pass over a stream by several settings.

    Parameters
    ----------
    reader, job
        The reader of the stream, and the training; what its request states is not changed.
    target
        The encoding of labels; None finds them in the first rows.

    Attributes
    ----------
    leader
        The number of the setting that predicts the next rows.
    window
        The last rows, since the error of the predictions changed.
    wrong
        The number of wrong predictions of the leaders, or the sum of their absolute errors, and
        that of each setting.
    labels, repeated
        The code of the last label, and the errors of a prediction that repeats the last one.
    alarms
        The numbers of the rows at which the error had risen.
    """

    def __init__(self, reader: Reader, job: FileJob, target: Any = None) -> None:
        self.reader, self.job, self.target = reader, job, target
        self.leader, self.seen, self.window = 0, 0, DriftWindow()
        self.labels, self.repeated, self.alarms = np.empty(0), 0.0, list[int]()
        reporter = job.reporter
        reporter.target = "numbers" if reader.has_numbers else "classes"
        reporter.begin(reader.size, 1)
        plans = self.list_plans()
        reader.hold_out(plans[0][1].split)
        if not reader.rereadable:
            refuse_second_pass(plans[0][1], reader.source.name)
        reader.complete_recipe(watch(reporter))
        mean_square = reader.mean_square()
        self.rows = FileRows(reader, None, plans[0][1].complete(mean_square), reporter)
        self.rows.target = self.target = self.target or self.rows.find_target(self.job)
        self.settings = list[Setting]()
        for chosen, plan in plans:
            several = plan.parameters.get("multi_class", ""), self.target.label_sets
            if len(RULES[plan.rule].problems(len(self.target.classes), *several)) == 1:
                learner = begin(plan.complete(mean_square), self.rows, FileJob(plan.request))
                run = Training.by(learner.parameters, learner.states, tuple)
                self.settings.append(Setting(chosen, learner, run))
        if not self.settings:
            raise ParameterError(
                "A stream is tuned for one problem, but there is one for each label here; use rule "
                "arow, pa or shifting for rows of one label each.",
                code="stream-problems",
            )
        self.wrong = np.zeros(1 + len(self.settings))
        self.unit = self.target.scale if reader.has_numbers else 1  # of an error

    def list_plans(self) -> list[tuple[Mapping[str, Any], Plan]]:
        """List the settings that go with what was stated, with their plans."""
        plans, refused = list[tuple[Mapping[str, Any], Plan]](), list[ParameterError]()
        request, found = self.job.request, look(self.reader)
        for chosen in list_settings(self.job, self.reader.has_numbers):
            own = {"solution": "last", "max_iter": 1, **chosen, **request.parameters}
            try:
                plan = make_plan(request.with_rule(own.pop("rule"), **own), found)
                plan = replace(plan, stream=True)
                plan.check("stream")
                plans.append((chosen, plan))
            except ParameterError as error:
                refused.append(error)
        if not plans:
            raise refused[0]
        return plans

    def train(self) -> Model:
        """Learn all rows, and return the model that would predict the next one."""
        rows, every = self.rows, self.job.request.progress_every
        for block in rows.encode_blocks(BLOCK, len(self.target.classes)):
            errors = np.array([each.learn(block) for each in self.settings]) * self.unit
            if errors.shape[1]:
                last = self.leader
                self.choose(errors)
                self.repeat(block)
                if every:
                    rows.windows.add(errors[last])
                else:
                    tally = Tally(self.seen, rows.bytes_read, self.wrong[0].item())
                    self.job.reporter.batch(tally)
        if every:
            rows.windows.close()
        best = self.settings[self.leader]
        best.run.end_epoch(best.run.active)
        self.job.reporter.epoch(best.run.epochs[-1])
        facts = {**self.job.facts, "stream": self.as_dict()}
        return complete(rows, best.learner, best.run, self.job, facts)

    def choose(self, errors: Array) -> None:
        """Add up the errors of a block, and choose the setting that predicts the next one."""
        self.seen += errors.shape[1]
        sums = np.append(errors[self.leader].sum(), errors.sum(axis=1))
        self.wrong += sums
        # The alarm needs errors from 0 to 1, so that those of numbers count up to one deviation.
        bounded = np.minimum(errors[self.leader] / self.unit, 1.0).sum()
        rise = self.window.add(errors.shape[1], np.append(bounded, sums[1:]))
        if rise is not None:
            self.alarms.append(self.seen)
            if len(self.alarms) <= MOST_NOTES:
                self.report_drift(*rise)
        self.leader = int(np.argmin(self.window.wrong[1:]))

    def repeat(self, given: TrainingRows) -> None:
        """Add up the errors of a prediction that repeats the label of the row before."""
        labels = np.append(self.labels, given.codes[given.row_order])
        steps, self.labels = np.abs(np.diff(labels)), labels[-1:]
        sums = steps.sum() if self.reader.has_numbers else np.count_nonzero(steps)
        self.repeated += float(sums * self.unit)

    def report_drift(self, before: float, after: float) -> None:
        """Report a rise of the error, or of the mean absolute error of numbers."""
        write = "{:.4g}" if self.reader.has_numbers else "{:.1%}"
        rose = " to ".join(write.format(error * self.unit) for error in (before, after))
        sentence = (
            f"Drift: up to row {self.seen:,} the error rose from {rose}; settings are compared on "
            "the rows since then."
        )
        self.job.reporter.note(Note(sentence, "drift"))

    def as_dict(self) -> dict[str, Any]:
        """Return what was tried and found as JSON values; the setting that was chosen is first."""
        errors = self.wrong / max(self.seen, 1)
        found = [
            {"error": error, **each.chosen}
            for error, each in zip(errors[1:].tolist(), self.settings, strict=True)
        ]
        chosen = found.pop(self.leader)
        others = sorted(found, key=lambda each: float(each["error"]))
        return {
            "tried": len(self.settings),
            "rows": self.seen,
            "error": errors[0].item(),
            "last_label": self.repeated / max(self.seen - 1, 1),
            "alarms": self.alarms,
            "best": [chosen, *others[: LISTED - 1]],
        }


def train_stream(reader: Reader, job: FileJob) -> Model:
    """Train on a stream; each next row is predicted by the setting that is best at that time."""
    request = job.request
    if job.checkpointer is not None or job.before is not None:
        raise ParameterError(
            "A stream that is tuned begins with several settings; leave checkpoint, resume and "
            "initial out.",
            code="stream-resume",
        )
    if request.window or request.parameters.get("early_stopping"):
        raise ParameterError(
            "A stream that is tuned is read once, in its order; leave window and early_stopping "
            "out.",
            code="tune-stream",
        )
    try:
        return StreamTraining(reader, job).train()
    except UnknownLabelError as late:
        if request.classes is not None or not reader.rereadable:
            raise
        sentence = f"{late} All labels are looked up first, and the run begins again."
        job.reporter.note(Note(sentence, "late-label"))
    rows = StreamTraining(reader, job).rows
    target = rows.count_labels(reader).target(rows.plan.parameters, None, None)
    return StreamTraining(reader, job, target).train()


def list_settings(job: FileJob, numbers: bool) -> list[dict[str, Any]]:
    """List rules, for classes or numbers, with values of the parameters that were not stated."""
    stated, rule = job.request.parameters, job.request.rule
    if rule is None:
        usual = ONLINE_NUMBER_SETTINGS if numbers else ONLINE_SETTINGS
        able = [
            {"rule": each, **own}
            for each, own in usual
            if stated.keys() <= RULE_TABLE[each].parameters.keys()
        ] or [{"rule": usual[0][0], **usual[0][1]}]
    else:
        rule = forms_for("numbers").get(rule, rule) if numbers else rule
        grid = RULE_TABLE[rule].grid
        able = [
            {"rule": rule, **dict(zip(grid, each, strict=True))} for each in product(*grid.values())
        ]
    free = ({name: one for name, one in each.items() if name not in stated} for each in able)
    return list({repr(each): each for each in free}.values())

"""Choose everything for the prediction of the next row of a stream, while it is read.

Several candidates learn all rows. The one with the fewest mistakes, or the least absolute errors of
numbers, among the last rows predicts the next ones. How far back these go is found out by a drift
alarm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import UnknownLabelError
from ..data.rows import Array
from ..data.targets import NumberTarget
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
FEW_COLUMNS = 20  # of a table, whose products are tried, too
MOST_NOTES = 5  # of drift alarms; further ones are only counted
LISTED = 5  # settings that a model keeps


class Candidate(NamedTuple):
    """A setting that learns all rows of a source, which others may share."""

    chosen: Mapping[str, Any]
    rows: FileRows
    learner: LinearLearner
    run: Training

    def learn(self, given: TrainingRows) -> Array:
        """Learn from rows; return for each whether it was wrong before, or its absolute error."""
        target = self.rows.target
        numbers = isinstance(target, NumberTarget)
        wrong = np.zeros(len(given.codes), float if numbers else bool)
        self.run.problems[0].add(self.learner.learn(given, wrong))
        return wrong[given.row_order] * (target.scale if numbers else 1)


@dataclass
class StreamTraining:
    """One pass over a stream by several candidates.

    Attributes
    ----------
    job
        The training; what its request states is not changed.
    target
        The encoding of labels; None finds them in the first rows.
    leader
        The number of the candidate that predicts the next rows.
    window
        The last rows, since the error of the predictions changed.
    wrong
        The number of wrong predictions of the leaders, or the sum of their absolute errors, and
        that of each candidate.
    labels, repeated
        The code of the last label, and the errors of a prediction that repeats the last one.
    alarms
        The numbers of the rows at which the error had risen.
    """

    readers: list[Reader]
    job: FileJob
    target: Any = None
    sources: list[FileRows] = field(default_factory=list, init=False)
    candidates: list[Candidate] = field(default_factory=list, init=False)
    leader: int = field(default=0, init=False)
    seen: int = field(default=0, init=False)
    labels: Array = field(default_factory=lambda: np.empty(0), init=False)
    repeated: float = field(default=0.0, init=False)
    window: DriftWindow = field(default_factory=DriftWindow, init=False)
    alarms: list[int] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.job.reporter.target = "numbers" if self.readers[0].has_numbers else "classes"
        self.job.reporter.begin(self.readers[0].size, 1)
        for reader in self.readers:
            reading = {} if reader is self.readers[0] else {"pairs": True}
            self.candidates += self.begin_candidates(reader, reading)
        if not self.candidates:
            raise ParameterError(
                "A stream is tuned for one problem, but there is one for each label here; use rule "
                "arow, pa or shifting for rows of one label each.",
                code="stream-problems",
            )
        self.wrong = np.zeros(1 + len(self.candidates))

    def begin_candidates(self, reader: Reader, reading: Mapping[str, Any]) -> Iterator[Candidate]:
        """Yield an untrained candidate of each setting that goes with what was stated."""
        settings, refused = list_settings(self.job, reader.has_numbers), list[ParameterError]()
        found = look(reader, self.job.request)
        plans = list[tuple[Mapping[str, Any], Plan]]()
        for chosen in settings:
            own = {"solution": "last", "max_iter": 1, **chosen, **self.job.request.parameters}
            try:
                request = self.job.request.with_rule(own.pop("rule"), **own)
                plan = replace(make_plan(request, found), stream=True)
                plan.check("stream")
                plans.append((chosen, plan))
            except ParameterError as error:
                refused.append(error)
        if not plans:
            raise refused[0]
        reader.hold_out(plans[0][1].split)
        if not reader.rereadable:
            refuse_second_pass(plans[0][1], reader.source.name)
        reader.complete_recipe(watch(self.job.reporter))
        mean_square = reader.mean_square()
        rows = FileRows(reader, None, plans[0][1].complete(mean_square), self.job.reporter)
        rows.target = self.target = self.target or rows.find_target(self.job)
        self.sources.append(rows)
        for setting, plan in plans:
            several = plan.parameters.get("multi_class", ""), rows.target.label_sets
            if len(RULES[plan.rule].problems(len(rows.target.classes), *several)) == 1:
                learner = begin(plan.complete(mean_square), rows, FileJob(plan.request))
                run = learner.run(lambda: (), 1, order="fixed", seed=plan.split.seed)
                yield Candidate({**setting, **reading}, rows, learner, run)

    def train(self) -> Model:
        """Learn all rows, and return the model that would predict the next one."""
        main, size = self.sources[0], len(self.target.classes)
        for blocks in zip(*(each.encode_blocks(BLOCK, size) for each in self.sources), strict=True):
            by_source = dict(zip(map(id, self.sources), blocks, strict=True))
            flags = np.array([each.learn(by_source[id(each.rows)]) for each in self.candidates])
            if flags.shape[1]:
                self.choose(flags)
                self.repeat(blocks[0])
                if main.plan.request.progress_every:
                    main.windows.add(flags[self.last])
                else:
                    tally = Tally(self.seen, main.bytes_read, self.wrong[0].item())
                    self.job.reporter.batch(tally)
        if main.plan.request.progress_every:
            main.windows.close()
        best = self.candidates[self.leader]
        best.run.end_epoch(best.run.active)
        self.job.reporter.epoch(best.run.epochs[-1])
        facts = {**self.job.facts, "stream": self.as_dict()}
        return complete(best.rows, best.learner, best.run, self.job, facts)

    def choose(self, flags: Array) -> None:
        """Count the mistakes in a block, and choose the candidate that predicts the next one."""
        self.last, self.seen = self.leader, self.seen + flags.shape[1]
        errors = np.append(flags[self.last].sum(), flags.sum(axis=1))
        self.wrong += errors
        # The alarm needs errors from 0 to 1, so that those of numbers count up to one deviation.
        unit = self.target.scale if isinstance(self.target, NumberTarget) else 1.0
        bounded = np.minimum(flags[self.last] / unit, 1.0).sum()
        rise = self.window.add(flags.shape[1], np.append(bounded, errors[1:]))
        if rise is not None:
            self.alarms.append(self.seen)
            self.report_drift(*rise, unit)
        self.leader = int(np.argmin(self.window.wrong[1:]))

    def repeat(self, given: TrainingRows) -> None:
        """Count the errors of a prediction that repeats the label of the row before."""
        labels = np.append(self.labels, given.codes[given.row_order])
        steps, self.labels = np.abs(np.diff(labels)), labels[-1:]
        target = self.target
        numbers = isinstance(target, NumberTarget)
        self.repeated += float(steps.sum() * target.scale if numbers else np.count_nonzero(steps))

    def report_drift(self, before: float, after: float, unit: float) -> None:
        """Report a rise of the error; after some alarms, report only that there are more."""
        if len(self.alarms) > MOST_NOTES:
            return
        more = " Further alarms are counted only." if len(self.alarms) == MOST_NOTES else ""
        rose = f"the error rose from {before:.1%} to {after:.1%}"
        if isinstance(self.target, NumberTarget):
            errors = f"{before * unit:.4g} to {after * unit:.4g}"
            rose = f"the mean absolute error, of at most {unit:.4g} a row, rose from {errors}"
        sentence = (
            f"Drift: up to row {self.seen:,} {rose}; "
            f"settings are compared on the rows since then.{more}"
        )
        self.job.reporter.note(Note(sentence, "drift"))

    def as_dict(self) -> dict[str, Any]:
        """Return what was tried and found as JSON values; the setting that was chosen is first."""
        errors = self.wrong / max(self.seen, 1)
        found = [
            {"error": error, **each.chosen}
            for error, each in zip(errors[1:].tolist(), self.candidates, strict=True)
        ]
        chosen = found.pop(self.leader)
        others = sorted(found, key=lambda each: float(each["error"]))
        return {
            "tried": len(self.candidates),
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
    if request.window or request.parameters.get("early_stopping") or request.validation is not None:
        raise ParameterError(
            "A stream that is tuned is read once, in its order; leave window, early_stopping and "
            "validation out.",
            code="tune-stream",
        )
    recipe, readers = reader.recipe, [reader]
    plain = recipe.columns is not None and not (recipe.pairs or recipe.text or recipe.cross)
    if plain and reader.rereadable and 1 < len(recipe.columns or ()) <= FEW_COLUMNS:
        readers.append(reader.vary(pairs=True))

    def train_once(target: Any = None) -> Model:
        try:
            return StreamTraining(readers, job, target).train()
        except UnknownLabelError as late:
            if target is not None or request.classes is not None or not reader.rereadable:
                raise
            sentence = f"{late} All labels are looked up first, and the run begins again."
            job.reporter.note(Note(sentence, "late-label"))
        rows = StreamTraining([reader], job).sources[0]
        return train_once(rows.count_labels(reader).target(rows.plan.parameters, None, None))

    return train_once()


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

"""Choose everything for the prediction of the next row of a stream, while it is read.

Several settings learn all rows. The one with the fewest mistakes, or the least absolute errors of
numbers, among the last rows predicts the next ones. How far back these go is found out by a drift
alarm.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from ..data.labels import UnknownLabelError
from ..data.rows import Array
from ..data.targets import ClassTarget, NumberTarget
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import (
    FOR_NUMBERS,
    FOR_TABLES,
    ONLINE_NUMBER_SETTINGS,
    ONLINE_SETTINGS,
    RULE_TABLE,
    ParameterError,
)
from ..reading.reader import Reader
from ..reading.recipe import RestartError
from ..storage.model import Model
from ..training.drift import DriftWindow
from ..training.plan import Found, Plan, Request, make_plan
from ..training.report import Note, Tally
from ..training.rules import RULES
from ..training.run import Run
from .files import FileRows, begin, complete, look, refuse_second_pass, watch
from .job import FileJob

BLOCK = 100  # rows that one setting predicts before the choice is made again
FEW_COLUMNS = 20  # of a table, whose products are tried, too
MOST_NOTES = 5  # of drift alarms; further ones are only counted
LISTED = 5  # settings that a model keeps

Setting = tuple[dict[str, Any], Request]
"""The rule and parameters that were chosen, and the request with them and all that was stated."""


@dataclass
class Candidate:
    """A setting that learns all rows of a source.

    Attributes
    ----------
    plan
        Its training, fully resolved.
    chosen
        The rule, the parameters and the options of reading that were chosen for it.
    rows
        The source, which it shares with others.
    learner, run
        What it has learnt, and the counts.
    wrong
        The number of wrong predictions, or the sum of absolute errors.
    """

    plan: Plan
    chosen: Mapping[str, Any]
    rows: FileRows
    learner: LinearLearner
    run: Run = field(init=False)
    wrong: float = 0.0

    def __post_init__(self) -> None:
        how = {"order": "fixed", "seed": self.plan.split.seed}
        self.run = self.learner.run(lambda: (), 1, **how)

    def learn(self, given: TrainingRows) -> Array:
        """Learn from rows; return for each whether it was wrong before, or its absolute error."""
        target = self.learner.target
        wrong = np.zeros(len(given.codes), float if isinstance(target, NumberTarget) else bool)
        self.run.problems[0].count.add(self.learner.learn(given, wrong))
        errors = wrong[given.row_order]
        if isinstance(target, NumberTarget):
            errors *= target.scale
        self.wrong += float(errors.sum())
        return errors

    def as_dict(self) -> dict[str, Any]:
        """Return the setting and its error on all rows as JSON values."""
        return {"error": self.wrong / max(self.run.problems[0].count.rows, 1), **self.chosen}


def train_online(reader: Reader, job: FileJob) -> Model:
    """Train on a stream; each next row is predicted by the setting that is best at that time.

    Parameters
    ----------
    reader
        The reader of the file.
    job
        The training; what its request states is not changed.
    """
    readers = [reader]
    if tries_pairs(reader):
        readers.append(reader.open_again(pairs=True))
    try:
        return train_with_labels(readers, job)
    except RestartError as late:
        for each in readers:
            each.restart(late)
        return train_with_labels(readers, job)


def tries_pairs(reader: Reader) -> bool:
    """Whether products of columns are tried: of a table with few, which can be read twice."""
    recipe = reader.recipe
    if recipe.columns is None or recipe.pairs or recipe.text or recipe.cross:
        return False
    return reader.rereadable and 1 < len(recipe.columns) <= FEW_COLUMNS


def train_with_labels(readers: list[Reader], job: FileJob) -> Model:
    """Train on a stream; start again if it has a label that the first rows do not have."""
    try:
        return OnlineTraining(readers, job).train()
    except UnknownLabelError as late:
        if job.request.classes is not None or not readers[0].rereadable:
            raise
        sentence = f"{late} All labels are looked up first, and the run begins again."
        job.reporter.note(Note(sentence, "late-label"))
    _, request = list_settings(job.request, readers[0].has_numbers)[0]
    rows = make_rows(readers[0], replace(job, request=request))[0]
    target = rows.count_labels(rows.reader).target(rows.plan.parameters, None, None)
    return OnlineTraining(readers, job, target).train()


def make_rows(reader: Reader, job: FileJob) -> tuple[FileRows, Found, float]:
    """Return the rows of a reader, what is found in them, and their mean squared length."""
    found = look(reader, job.request)
    plan = job.plan(found)
    reader.hold_out(plan.split)
    if not reader.rereadable:
        refuse_second_pass(plan, reader.source.name)
    reader.complete_recipe(watch(job.reporter))
    mean_square = reader.mean_square()
    return FileRows(reader, None, plan.complete(mean_square), job.reporter), found, mean_square


class OnlineTraining:
    """One pass over a stream by several candidates.

    Attributes
    ----------
    candidates
        The settings that learn; the first one predicts the first rows.
    leader
        The number of the candidate that predicts the next rows.
    window
        The last rows, since the error of the predictions changed.
    wrong
        The number of wrong predictions, or the sum of absolute errors.
    alarms
        The numbers of the rows at which the error had risen.
    """

    def __init__(self, readers: list[Reader], job: FileJob, target: Any = None) -> None:
        self.job, self.reporter = job, job.reporter
        self.reporter.target = "numbers" if readers[0].has_numbers else "classes"
        self.reporter.begin(readers[0].size, 1)
        self.sources, self.candidates = list[FileRows](), list[Candidate]()
        settings = list_settings(job.request, readers[0].has_numbers)
        for reader in readers:
            rows, found, size = make_rows(reader, replace(job, request=settings[0][1]))
            target = rows.target = target or rows.find_target(job)
            self.sources.append(rows)
            reading = {} if reader is readers[0] else {"pairs": True}
            self.candidates += make_candidates(rows, found, size, settings, reading)
        self.target: ClassTarget | NumberTarget = target
        self.leader, self.window, self.wrong = 0, DriftWindow(), 0
        self.seen, self.alarms = 0, list[int]()

    def train(self) -> Model:
        """Learn all rows, and return the model that would predict the next one."""
        main, size = self.sources[0], len(self.candidates[0].learner.classes)
        for blocks in zip(*(each.encode_blocks(BLOCK, size) for each in self.sources), strict=True):
            by_source = dict(zip(map(id, self.sources), blocks, strict=True))
            flags = [each.learn(by_source[id(each.rows)]) for each in self.candidates]
            if len(flags[0]):
                self.choose(np.array(flags))
                self.report(main)
        if main.plan.request.progress_every:
            main.windows.close()
        best = self.candidates[self.leader]
        facts = {**self.job.facts, "online": self.as_dict()}
        best.run.end_epoch()
        self.reporter.epoch(best.run.epochs[-1])
        return complete(best.rows, best.learner, best.run, self.job, facts)

    def choose(self, flags: Array) -> None:
        """Count the mistakes in a block, and choose the candidate that predicts the next one."""
        self.last = flags[self.leader]
        self.seen += flags.shape[1]
        self.wrong += self.last.sum().item()
        # The alarm needs errors from 0 to 1, so that those of numbers count up to one deviation.
        bounded = np.minimum(self.last / self.unit, 1.0).sum()
        rise = self.window.add(flags.shape[1], np.append(bounded, flags.sum(axis=1)))
        if rise is not None:
            self.alarms.append(self.seen)
            self.report_drift(*rise)
        self.leader = int(np.argmin(self.window.wrong[1:]))

    @property
    def unit(self) -> float:
        """The deviation of numbers; 1 for classes."""
        return self.target.scale if isinstance(self.target, NumberTarget) else 1.0

    def report(self, main: FileRows) -> None:
        """Report the error of the predictions."""
        if main.plan.request.progress_every:
            main.windows.add(self.last)
        else:
            self.reporter.batch(Tally(self.seen, main.bytes_read, self.wrong))

    def report_drift(self, before: float, after: float) -> None:
        """Report a rise of the error; after some alarms, report only that there are more."""
        number = len(self.alarms)
        if number > MOST_NOTES:
            return
        more = " Further alarms are counted only." if number == MOST_NOTES else ""
        rose = f"the error rose from {before:.1%} to {after:.1%}"
        if isinstance(self.target, NumberTarget):
            errors = f"{before * self.unit:.4g} to {after * self.unit:.4g}"
            rose = f"the mean absolute error, of at most {self.unit:.4g} a row, rose from {errors}"
        sentence = (
            f"Drift: up to row {self.seen:,} {rose}; "
            f"settings are compared on the rows since then.{more}"
        )
        self.reporter.note(Note(sentence, "drift"))

    def as_dict(self) -> dict[str, Any]:
        """Return what was tried and found as JSON values; the setting that was chosen is first."""
        chosen = self.candidates[self.leader]
        others = sorted(
            (each.as_dict() for each in self.candidates if each is not chosen),
            key=lambda each: each["error"],
        )
        return {
            "tried": len(self.candidates),
            "rows": self.seen,
            "error": self.wrong / max(self.seen, 1),
            "alarms": self.alarms,
            "best": [chosen.as_dict(), *others[: LISTED - 1]],
        }


def make_candidates(
    rows: FileRows,
    found: Found,
    mean_square: float,
    settings: list[Setting],
    reading: Mapping[str, Any],
) -> list[Candidate]:
    """Make a candidate of each setting that goes together with what was stated."""
    made, refused = list[Candidate](), list[ParameterError]()
    classes, sets = len(rows.target.classes), rows.target.label_sets
    for chosen, request in settings:
        try:
            plan = make_plan(request, found).complete(mean_square)
        except ParameterError as error:
            refused.append(error)
            continue
        multi_class = plan.parameters.get("multi_class", "")
        if len(RULES[plan.rule].problems(classes, multi_class, sets)) > 1:
            refused.append(refuse_problems(request.rule))
            continue
        learner = begin(plan, rows, FileJob(request))
        made.append(Candidate(plan, {**chosen, **reading}, rows, learner))
    if not made:
        raise refused[0]
    return made


def refuse_problems(rule: str | None) -> ParameterError:
    """Return the error for label sets, and for a rule that learns each of several classes alone."""
    return ParameterError(
        f"online follows one problem, and {rule} has one for each label here; leave it out, "
        "or use rule arow, pa or shifting for rows of one label each.",
        code="online-problems",
    )


def list_settings(request: Request, numbers: bool = False) -> list[Setting]:
    """List rules, for classes or numbers, with values of the parameters that were not stated."""
    stated, stated_rule = request.parameters, request.rule
    if stated_rule is None:
        usual = ONLINE_NUMBER_SETTINGS if numbers else ONLINE_SETTINGS
        able = [
            (rule, own)
            for rule, own in usual
            if stated.keys() <= RULE_TABLE[rule].parameters.keys()
        ] or list(usual[:1])
    else:
        if numbers and stated_rule == FOR_TABLES["rule"]:
            stated_rule = FOR_NUMBERS["rule"]
        grid = RULE_TABLE[stated_rule].grid
        able = [
            (stated_rule, dict(zip(grid, each, strict=True))) for each in product(*grid.values())
        ]
    found = {}
    for rule, own in able:
        own = {name: value for name, value in own.items() if name not in stated}
        whole = {"solution": "last", "max_iter": 1, **own, **stated}
        found[repr((rule, own))] = {"rule": rule, **own}, request.with_rule(rule, **whole)
    return list(found.values())

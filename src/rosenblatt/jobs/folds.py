"""Cross-validation: train on all folds of a file but one, and evaluate on that one, in turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any, NamedTuple

from ..data.labels import UnknownLabelError
from ..data.results import Result, Table, describe, name_figure
from ..data.splits import Fold
from ..data.targets import NumberScore, Score
from ..learners.kinds import make_learner
from ..parameters import ParameterError
from ..reading.reader import Reader, read
from ..storage.model import Model
from ..training.report import Listener
from .choose import choose_and_train
from .evaluate import evaluate
from .job import FileJob, read_once_error


class Spread(NamedTuple):
    """Mean and standard deviation of a figure over the folds, its least and largest value."""

    mean: float
    deviation: float
    least: float
    largest: float


@dataclass(repr=False)
class CrossValidation(Result):
    """The evaluations of all folds.

    Attributes
    ----------
    folds : list of Evaluation
        What ``evaluate`` returned for each fold.
    """

    folds: list[Any] = field(default_factory=list)

    @property
    def score(self) -> Score | NumberScore:
        """The number of rows and of errors over all folds, or the figures of other targets."""
        scores = [one.score for one in self.folds]
        found: Score | NumberScore = type(scores[0]).sum(scores)
        return found

    @property
    def class_rows(self) -> list[int]:  # type: ignore[override]
        """The number of rows of each class over all folds."""
        return [sum(each) for each in zip(*(one.class_rows for one in self.folds), strict=True)]

    def other_figures(self) -> dict[str, float]:
        """Return nothing: a table has the figures."""
        return {}

    def counts(self) -> dict[str, Any]:
        """Return the number of folds, and the score over all of them."""
        return {"folds": len(self.folds), **self.score.as_dict()}

    def headline(self) -> str:
        """Return the score over all folds in words."""
        return (
            f"Cross-validation with {len(self.folds)} folds: {self.score.headline(self.class_rows)}"
        )

    def tables(self) -> list[Table]:
        """Return the spread of the figures over the folds."""
        columns = {"figure": "", **dict.fromkeys(Spread._fields, "g")}
        rows = [(name_figure(name), *one) for name, one in self.figures().items()]
        return [Table("spread", "Spread over the folds", columns, rows)]

    def notes(self) -> list[str]:
        """Return which figures some folds do not define."""
        values = self.list_figures()
        some = [name for name, each in values.items() if None in each and any(each)]
        undefined = ", ".join(map(name_figure, some))
        return [f"Some folds lack a class and do not define: {undefined}."] if undefined else []

    def figures(self) -> dict[str, Spread]:
        """Return the spread of each figure that is defined on every fold."""
        return {
            name: Spread(fmean(values), stdev(values), min(values), max(values))
            for name, values in self.list_figures().items()
            if None not in values
        }

    def list_figures(self) -> dict[str, list[Any]]:
        """Return the figures of each fold, by name."""
        folds = [one.figures() for one in self.folds]
        return {name: [one[name] for one in folds] for name in folds[0]}

    def __repr__(self) -> str:
        return describe(self, self.counts())

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        return {
            **self.counts(),
            "figures": {name: one._asdict() for name, one in self.figures().items()},
            "each": [one.figures() for one in self.folds],
        }


def cross_validate(
    data: Any,
    options: Mapping[str, Any],
    job: FileJob,
    count: int,
    reading: frozenset[str] = frozenset(),
) -> CrossValidation:
    """Evaluate a training on each of several folds by a model of the others.

    A file is read as if it had only the rows of the other folds: scales, frequencies, held-out
    rows, probabilities and tuned settings come from these. Files may be larger than memory.

    Parameters
    ----------
    data, options
        A file or a table of rows, and the options of ``read``.
    job
        The training.
    count
        The number of folds, 2 or more.
    reading
        The options of reading that were stated, which tuning does not change.
    """
    if count < 2:
        raise ParameterError(f"folds={count!r} must be 2 or more.", code="out-of-range")
    for name in ("initial", "begun"):
        if getattr(job, name) is not None:
            raise ParameterError(
                f"folds trains new models on parts of the file; leave {name} out.",
                code="folds-option",
            )
    result, quiet = CrossValidation(), replace(job, reporter=Listener(), checkpointer=None)
    seed = int(job.request.parameters.get("random_state") or 0)
    same = {name: options[name] for name in ("skip_bad", "threads") if name in options}
    for number in range(count):
        fold = Fold(number, count, seed=seed)
        reader = read(data, **options)
        if not reader.rereadable:
            raise read_once_error(reader.source.name, "folds")
        reader.keep_fold(fold)
        model = train_without(fold, reader, quiet, reading)
        held = read(data, features=model.features["recipe"], **same)
        held.keep_fold(fold._replace(held_out=True))
        found = evaluate(make_learner(model, "a fold"), held)
        rows = model.facts["rows"] + found.score.rows
        if count > rows:
            raise ParameterError(
                f"folds={count!r} is more than the {rows:,} rows; every fold needs one.",
                code="out-of-range",
            )
        result.folds.append(found)
        job.reporter.tried(number + 1, count)
    return result


def train_without(fold: Fold, reader: Reader, job: FileJob, reading: frozenset[str]) -> Model:
    """Train on the rows outside of a fold; name the fold if these are of one class."""
    try:
        return choose_and_train(reader, job, reading)
    except UnknownLabelError as error:
        if error.code != "one-class":
            raise
        raise error.reword(
            f"Without the rows of fold {fold.number + 1} of {fold.folds}, all rows have the same "
            "label, and a model needs two; add rows of the other labels, or name all labels with "
            "classes."
        ) from None

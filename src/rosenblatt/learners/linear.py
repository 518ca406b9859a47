"""Linear models without scikit-learn: they learn from batches, all or nothing, and score them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.labels import has_class
from ..data.rows import (
    Array,
    known_columns,
    n_rows,
    overflow,
    read_only,
    refuse_lost,
    refuse_not_finite,
    rows_between,
)
from ..data.splits import Split
from ..data.targets import (
    NumberTarget,
    choose_class,
    compute_r2,
    is_positive,
    make_target,
)
from ..data.weights import compute_steps, rows_that_count
from ..kernels.algebra import Rows, largest_squared_norm
from ..kernels.loop import Examples
from ..parameters import (
    LINEAR,
    RULE_NAMES,
    RULE_TABLE,
    check_signs,
    defaults,
)
from ..reading.batches import Batch, known_labels
from ..storage.model import Model
from ..training.calibration import FOLDS, Calibration, fit_calibration
from ..training.conformal import Conformal
from ..training.linear_state import (
    SOLUTIONS,
    LastWeights,
    find_columns,
    refuse_too_many,
    scores,
    undo_on_error,
)
from ..training.rules import PERCEPTRON, UpdateRule
from ..training.scoring import Held, score_for_stopping
from ..training.training import Epoch, LinearTask, Part, ProblemRun, Training, sum_epochs
from . import add_class
from .base import Learner, Use
from .initial_weights import make_initial_weights
from .one_row import OneRow

MOST_STEPS = 2**24  # bytes: more are made again in each epoch, in a fifth of the time of a pass
NO_SPLIT = Split()


class TrainingRows(NamedTuple):
    """Rows with the numbers of their classes; ``row_order`` numbers those to learn from."""

    rows: Rows
    codes: Array
    weights: Array | None
    width: int
    row_order: Array

    @classmethod
    def of(cls, rows: Rows, codes: Array, weights: Array | None, width: int) -> "TrainingRows":
        """Make an object of rows; those without a weight are not learnt."""
        return cls(rows, codes, weights, width, rows_that_count(codes, weights))

    @classmethod
    def encode(
        cls, batch: Batch, target: Any, split: Split = NO_SPLIT, first_row: int = 0
    ) -> "TrainingRows":
        """Encode the labels of a batch; rows that are held out are not learnt.

        ``first_row`` is the number of the batch's first row in its file.
        """
        held = split.held_out(first_row, n_rows(batch.rows)) if split else None
        codes = target.encode(known_labels(batch, first_row), first_row, held)
        if target.label_sets:
            codes = codes[:, : len(target.classes)]
        weights = target.weigh(codes, batch.weights)
        if held is not None:
            weights = np.where(held, 0.0, 1.0 if weights is None else weights)
        return cls.of(batch.rows, codes, weights, batch.width)

    def squared_radius(self) -> float:
        """Return the largest squared length of a row to learn from."""
        return float(largest_squared_norm(self.rows, self.row_order))


def resolve_step(parameters: Mapping[str, Any], radius: Callable[[], float] | None = None) -> float:
    """Return how far an update of size 1 moves the bias."""
    step = parameters["intercept_step"]
    if step == "radius" and radius is not None:
        step = radius()
    return float(step) if parameters["fit_intercept"] else 0.0


class Coefficients(NamedTuple):
    """Weights and biases to predict with, and the states that they were computed from.

    ``before`` has the weights of each state then, and the number of rows that it had seen.
    """

    states: list[Any]
    before: list[tuple[Array, int]]
    coef: Array
    bias: Array

    def are_current_for(self, states: list[Any]) -> bool:
        """Whether the states have not changed since."""
        pairs = zip(states, self.states, self.before, strict=False)
        return len(states) == len(self.states) and all(
            state is known and state.weights is weights and state.seen == seen
            for state, known, (weights, seen) in pairs
        )


@dataclass
class LinearLearner(Learner):
    """A linear model with one state for each problem.

    Attributes
    ----------
    parameters : dict
        Those of the estimator.
    classes : ndarray
        The labels, sorted.
    states : list of LastWeights
        One for two classes or for all classes at once, else one per class.
    intercept_step : float
        How far an update of size 1 moves the bias.
    features : dict
        How rows are made: names, or the recipe of a file.
    calibration : Calibration or None
        Turns scores into probabilities, if that was asked for.
    conformal : Conformal or None
        Turns scores into prediction sets or intervals, if that was asked for.
    multilabel : bool
        Whether a row may have any number of labels, so that each of them is a problem.
    numbers : NumberTarget
        The scale of labels that are numbers.
    """

    parameters: Mapping[str, Any]
    classes: Array
    states: list[Any]
    intercept_step: float = 1.0
    features: dict[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None
    conformal: Conformal | None = None
    multilabel: bool = False
    numbers: NumberTarget = field(default_factory=NumberTarget)
    kind: ClassVar[str] = "linear"
    kept: Coefficients | None = field(default=None, init=False, repr=False)
    one_row: OneRow | None = field(default=None, init=False, repr=False)

    @classmethod
    def begin(
        cls,
        parameters: Mapping[str, Any],
        classes: Array,
        shape: tuple[int, Any],
        radius: Callable[[], float] | None = None,
        start: tuple[ArrayLike | None, ArrayLike | None] | None = None,
        rule: UpdateRule = PERCEPTRON,
        multilabel: bool = False,
    ) -> "LinearLearner":
        """Make an untrained model, at zero or at given coefficients.

        Parameters
        ----------
        parameters, classes, multilabel
            As the attributes.
        shape
            The number of columns and the type of their numbers.
        radius
            Returns the largest squared length of a row, which the step of the bias may be.
        start
            Coefficients and intercepts to begin with, in the shapes of ``coef_``, ``intercept_``;
            None for zeros.
        rule
            How rows change weights.
        """
        step = resolve_step(parameters, radius)
        refuse_too_many(shape[0], len(classes))
        problems = rule.problems(len(classes), parameters.get("multi_class", ""), multilabel)
        if len(classes) > 2:
            check_signs(parameters, len(classes), problems != [None])
        outputs, biases = rule.shapes(len(classes), problems)
        if start is not None:
            count = outputs[0] if outputs else len(problems)
            given = make_initial_weights(start, count, shape, bool(outputs))
        states = []
        for number in range(len(problems)):
            if start is None:
                pair = np.zeros((shape[0], *outputs), shape[1]), np.zeros(biases, shape[1])
            else:
                pair = given[number]
            states.append(SOLUTIONS[parameters["solution"]](*pair, rule=rule))
        learner = cls(parameters, classes, states, step, multilabel=multilabel)
        learner.problems = problems
        if parameters["calibrate"] == "conformal":
            learner.conformal = Conformal()
        return learner

    @classmethod
    def from_model(cls, model: Model) -> "LinearLearner":
        """Make the learner of a model file; parameters missing there have their defaults."""
        rule = RULE_NAMES.get(model.estimator)
        usual = defaults(LINEAR if rule is None else RULE_TABLE[rule].parameters)
        step = model.facts.get("intercept_step", 1.0)
        learner = cls(usual | model.parameters, model.classes, model.states, step, model.features)
        learner.multilabel = model.is_multilabel
        learner.numbers = NumberTarget(**model.facts.get("numbers", {}))
        if "calibration" in model.facts:
            learner.calibration = Calibration.of(model.facts["calibration"])
        if learner.parameters.get("calibrate") == "conformal":
            kept = model.facts.get("conformal")  # a model that is unfinished has none
            learner.conformal = Conformal() if kept is None else Conformal.of(kept)
        return learner

    @property
    def target(self) -> Any:
        """The encoding of labels."""
        if not len(self.classes):
            return self.numbers
        return make_target(self.classes, self.multilabel, kind=self.rule.labels.target)

    @property
    def target_kind(self) -> Any:
        """What labels are: "classes", "numbers" or "ranks"."""
        return self.rule.target

    @property
    def rule(self) -> UpdateRule:
        """The update rule."""
        rule: UpdateRule = self.states[0].rule
        return rule

    @cached_property
    def problems(self) -> list[int | None]:
        """The class that counts as positive in each problem; None for all labels at once."""
        given = self.parameters.get("multi_class", ""), self.multilabel
        return self.rule.problems(len(self.classes), *given)

    @property
    def ties(self) -> str:
        """What an activation of exactly 0 counts as."""
        return str(self.parameters.get("ties", "mistake"))

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.states[0].weights)

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The number of each label."""
        return dict(zip(self.classes.tolist(), range(len(self.classes)), strict=True))

    @cached_property
    def growing_codes(self) -> add_class.Codes:
        """The number of each label, which a new label hardly changes."""
        return add_class.Codes.of(self.classes.tolist())

    @cached_property
    def row_length(self) -> Array:
        """The length of dense rows, as kernels take it."""
        return read_only(np.array([self.width], np.uint64))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the weights."""
        dtype: np.dtype[Any] = self.states[0].weights.dtype
        return dtype

    def with_parameters(
        self, parameters: Mapping[str, Any], radius: Callable[[], float] | None = None
    ) -> "LinearLearner":
        """Return the model with other parameters, to continue with; ``radius`` as for ``begin``."""
        calibrate, conformal = parameters["calibrate"], None
        if calibrate == "conformal":
            conformal = self.conformal or Conformal()
        return replace(
            self,
            parameters=parameters,
            intercept_step=resolve_step(parameters, radius),
            calibration=self.calibration if calibrate else None,
            conformal=conformal,
        )

    # Learning

    def task(self, given: TrainingRows, problem: int = 0) -> LinearTask:
        """Return the task of one problem: to learn from rows."""
        if given.width > self.width:
            refuse_too_many(given.width, len(self.classes))
        positive, rule = self.problems[problem], self.rule
        eta0, dtype = self.parameters.get("eta0", 1.0), given.rows.values.dtype
        steps = compute_steps(given.codes, positive, eta0, given.weights, dtype)
        labels = None if positive is not None else given.codes.astype(rule.labels.code_type)
        examples = Examples(given.rows, steps, labels)
        settings = rule.kind.of(self.parameters, self.intercept_step)
        outputs = len(self.states[0].bias)
        target = rule.labels.kernel(labels, outputs, dtype, self.parameters)
        demanding = getattr(settings, "demanding", False) or settings.above > 0
        demanding |= getattr(settings, "below", 0.0) < 0
        return LinearTask(examples, given.row_order, settings, given.width, target, demanding)

    def part(self, given: TrainingRows) -> Part:
        """Return rows as a part of a run, from which all problems learn."""
        make: Callable[[int], LinearTask] = partial(self.task, given)
        count = len(self.states)
        size = count * len(given.codes) * given.rows.values.itemsize
        if count == 1 or size <= MOST_STEPS:
            make = cache(make)
        make(0)
        return Part(make, given.row_order)

    def train(self, given: TrainingRows, seed: int, **options: Any) -> None:
        """Train on rows in memory to the end; options are those of ``Training``."""
        parts = (self.part(given),).__iter__
        run = Training.by(self.parameters, self.states, parts, seed=seed, **options)
        self.finish(run.train().states)

    def refuse_lost(self, parts: Iterable[Rows]) -> None:
        """Raise if coefficients are not finite, or if the rows of a training are lost in them."""
        coef, bias = self.coefficients()
        refuse_lost(coef, sum(map(attrgetter("mistakes"), self.states)), parts)
        if not np.isfinite(bias).all():
            raise overflow(coef.dtype)

    def learn(self, given: TrainingRows, wrong: Array | None = None) -> Epoch:
        """Learn from rows once, in their order; after an error nothing has changed.

        ``wrong``, one flag per row, is set where a problem was wrong before it learnt the row; of
        numbers it gets the errors, in the scale of the codes, of rows that caused an update. With
        prediction sets, each row is scored just before it is learnt, so that the sets do not depend
        on how a stream is cut into batches.
        """
        order, found, problems = given.row_order, list[Array](), [ProblemRun() for _ in self.states]
        in_turn = self.conformal is not None and len(order) > 0
        with undo_on_error(self.states, given.rows), np.errstate(over="ignore", invalid="ignore"):
            tasks = [self.task(given, number) for number in range(len(self.states))]
            for state in self.states:
                state.widen(given.width)
            for some in np.split(order, len(order)) if in_turn else [order]:
                if in_turn:
                    found.append(self.score_one(rows_between(given.rows, some[0], some[0] + 1)))
                for state, task, problem in zip(self.states, tasks, problems, strict=True):
                    for learnt in state.sweep(task, some, None):
                        problem.add(learnt)
                        if wrong is not None:
                            task.mark_errors(some, learnt.updates, wrong)
            for state in self.states:
                state.refuse_overflow(given.rows)
        if self.conformal is not None and found:
            scores = self.target.nonconformity(np.concatenate(found), given.codes[order])
            self.conformal.add(scores)
        return sum_epochs([problem.count for problem in problems])

    def learn_one(self, rows: Rows, code: float, weight: float = 1.0) -> None:
        """Learn from one row with the code of its label, faster than from a batch.

        After an error nothing has changed.
        """
        before = None if self.conformal is None else self.score_one(rows)
        self.one_at_a_time().learn(rows, code, weight)
        if self.conformal is not None and before is not None and len(self.classes) != 1:
            self.conformal.add(self.target.nonconformity(before, np.array([code])))

    def score_one(self, rows: Rows) -> Array:
        """Score one row without computing the coefficients of all columns."""
        parts = [state.score(rows) for state in self.states]
        return parts[0] if len(parts) == 1 else np.column_stack(parts)

    def predict_one(self, rows: Rows) -> Any:
        """Return the class number, or the number, that is predicted for one row."""
        one = self.one_at_a_time().problems[0]
        scores: Any = one.score(rows) if one.has_one_score else self.score_one(rows)
        if not math.isfinite(scores if one.has_one_score else scores.max()):
            refuse_not_finite(rows.values[None])
        return int(is_positive(scores, self.ties)) if one.has_one_score else self.choose(scores)[0]

    def one_at_a_time(self) -> OneRow:
        """Return what learns from and scores single rows, made again when states have changed."""
        if self.one_row is None or not self.one_row.is_current(self):
            self.one_row = OneRow(self)
        return self.one_row

    # Predicting

    def coefficients(self, columns: Any = ...) -> tuple[Array, Array]:
        """Return the weights and biases to predict with, one row per class or one for two classes.

        Those of all columns are kept until more rows have been seen.
        """
        kept = self.kept
        if columns is not ... or kept is None or not kept.are_current_for(self.states):
            before, weights, biases = [], [], []
            for state in self.states:
                before.append((state.weights, state.seen))
                coef, bias = state.coefficients(columns)
                weights.append(coef)
                biases.append(bias)
            coef = np.array(weights) if coef.ndim == 1 else coef.T
            kept = Coefficients(list(self.states), before, coef, np.concatenate(biases))
            if columns is ...:
                self.kept = kept
        return kept.coef, kept.bias

    def columns_to_compute(self, indices: Array | None) -> Any:
        """The columns whose coefficients scores need: ``...`` for all, or for those kept.

        ``indices`` are the columns in which rows have values, or None for dense rows.
        """
        kept = self.kept
        is_free = len(self.states) == 1 and self.states[0].has_coefficients
        if is_free or (kept is not None and kept.are_current_for(self.states)):
            return ...
        return find_columns(indices, self.width)

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)} | {
            "kept": None,
            "one_row": None,
        }

    def prepare(self) -> None:
        """Compute the coefficients, before several threads predict."""
        self.coefficients()

    def scores(self, rows: Rows, width: int) -> Array:
        """Score rows: activations, with a column per class if over two.

        Columns that the model has not met are ignored.
        """
        count, problems = n_rows(rows), self.problems
        rows = known_columns(rows, width, self.width)
        columns = self.columns_to_compute(rows.indices)
        coef, bias = self.coefficients(columns)
        if columns is not ...:
            rows = rows._replace(indices=read_only(np.arange(len(columns), dtype=np.uint32)))
        if problems == [1] or not self.rule.labels.per_class:
            return scores(rows, count, coef[0], bias)
        if problems == [None]:
            return scores(rows, count, coef.T, bias)
        pairs = ((coef[k], bias[k : k + 1]) for k in range(len(coef)))
        return np.column_stack([scores(rows, count, *pair) for pair in pairs])

    def choose(self, activations: Array) -> Array:
        """Return the class numbers that scores decide for, or an indicator of label sets."""
        return np.asarray(self.target.decide(activations, self.ties))

    def calibrate(self, scores: Array, codes: Array) -> None:
        """Fit probabilities, sets and intervals to the scores of rows that were not learnt from."""
        if len(self.classes):
            self.calibration = fit_calibration(scores, codes, len(self.classes))
        if self.parameters.get("calibrate") == "conformal":
            self.conformal = Conformal.from_held_out(self.target.nonconformity(scores, codes))

    def row_errors(self, activations: Array, codes: Array) -> Array:
        """Return whether each row is wrong, or the absolute error of its number."""
        return np.asarray(self.target.row_errors(activations, codes, self.ties))

    def right(self, activations: Array, codes: Array) -> Array:
        """Flag the problems, one column each, that the scores of rows decide as their labels do."""
        if codes.ndim == 1 and len(self.states) == 1:
            return np.asarray(self.choose(activations) == codes)[:, None]
        wanted = np.column_stack([has_class(codes, k) for k in range(len(self.states))])
        return np.asarray(is_positive(activations, self.ties) == wanted)

    def validate(self, X: Any, codes: Array, problems: list[int]) -> dict[int, float]:
        """Return the scores of some problems, by their numbers, on the rows of a matrix."""
        found = {}
        for problem in problems:
            weights, bias = self.states[problem].coefficients()
            activations = self.rule.labels.add_bias(X @ weights, bias)
            found[problem] = self.validation_score(problem, activations, codes)
        return found

    def validation_score(self, problem: int, activations: Array, codes: Array) -> float:
        """Return the score of one problem by its activations of held-out rows; more is better.

        That is the accuracy, unless another metric is stated; of numbers the R².
        """
        if not len(self.classes):
            return compute_r2(codes - activations, codes)
        positive = self.problems[problem]
        if positive is not None:
            activations, codes = activations.ravel(), has_class(codes, positive).astype(np.intp)
        decide = self.choose if positive is None else partial(choose_class, ties=self.ties)
        chosen = decide(activations)
        metric = self.parameters.get("metric", "error")
        return score_for_stopping(metric, Held(codes, activations, chosen))

    # As a model, a copy, or refused

    @property
    def estimator(self) -> str:
        """The name of the estimator that a model of this learner becomes."""
        return RULE_TABLE[self.rule.name].estimator

    def own_facts(self) -> dict[str, Any]:
        """Return the bias step, label sets and calibration as facts."""
        facts: dict[str, Any] = {"intercept_step": self.intercept_step}
        if self.multilabel:
            facts["multilabel"] = True
        if not len(self.classes):
            facts["numbers"] = self.numbers.as_dict()
        if self.calibration is not None:
            facts["calibration"] = self.calibration.as_dict()
        if self.conformal is not None:
            facts["conformal"] = self.conformal.as_dict()
        return facts

    def refusal(self, use: Use) -> str:
        """Return why the learner cannot be used so, as a sentence; "" if it can."""
        what = f"predicts {self.target_kind}"
        if use == "stream" and self.parameters["solution"] not in ("last", "average"):
            return (
                f"The solution {self.parameters['solution']} needs all rows in memory; learn from "
                "a stream with the solution last or average."
            )
        if use == "step" and not self.rule.labels.per_class:
            return f"steps follows the updates of a classifier, and this model {what}."
        if use == "add_class" and not self.rule.labels.per_class:
            return f"it {what}, not classes"
        if use == "step" and len(self.states) > 1:
            return 'steps follows one problem; give y == label instead of multi_class="ovr".'
        return add_class.refusal(self) if use == "add_class" else ""

    def predictor(self) -> "LinearLearner":
        """Return a copy that predicts the same and that learning does not change."""
        conformal = None if self.conformal is None else self.conformal.copy()
        pairs = [state.coefficients() for state in self.states]
        rule = PERCEPTRON if self.rule.labels.per_class else self.rule
        states = [LastWeights(w.copy(), b.copy(), rule=rule) for w, b in pairs]
        return replace(self, states=states, conformal=conformal)

    def without_weights(self) -> "LinearLearner":
        """Return an untrained learner with the same settings and no columns."""
        shape, rule = (0, self.dtype), self.rule
        return LinearLearner.begin(
            self.parameters, self.classes, shape, lambda: self.intercept_step, rule=rule
        )

    def with_class(self, label: Any) -> "LinearLearner":
        """Return a learner with one class more, as if it had always known the label."""
        classes, states = add_class.make_states(self, label)
        conformal = self.conformal
        if conformal is not None and len(self.classes) < 3:
            conformal = Conformal()  # scores of two classes have another scale
        wider = replace(self, classes=classes, states=states, conformal=conformal)
        wider.growing_codes = self.growing_codes.insert(label, int(np.searchsorted(classes, label)))
        return wider


def cross_calibrate(
    begin: Callable[[TrainingRows], LinearLearner],
    given: TrainingRows,
    seed: int,
    bias: Array | None = None,
    **options: Any,
) -> Calibration:
    """Calibrate on scores that each fold of some rows gets from a model of the other folds.

    Parameters
    ----------
    begin
        Makes an untrained model for some rows.
    given
        The rows to learn from.
    seed
        Decides the folds and the orders.
    bias
        Biases to give the models in place of their own.
    **options
        Options of ``Training``.
    """
    rows, parts = given.row_order, []
    folds = Split(seed=seed).folds(given.codes, rows, FOLDS)
    for fold in range(FOLDS):
        learnt, held = rows[folds != fold], rows[folds == fold]
        if len(learnt) and len(held):
            part = given._replace(row_order=learnt)
            learner = begin(part)
            learner.train(part, seed, **options)
            if bias is not None:
                state = learner.states[0]
                state.bias += bias - state.coefficients()[1]
            parts.append((learner.scores(given.rows, given.width)[held], given.codes[held]))
    scores, codes = map(np.concatenate, zip(*parts, strict=True))
    return fit_calibration(scores, codes, len(learner.classes))

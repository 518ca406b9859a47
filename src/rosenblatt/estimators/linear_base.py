"""What linear classifiers and regressors share: checks, a training of all problems, weights."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning

from ..data.rows import (
    Array,
    refuse_not_finite,
    to_dense,
    view_rows,
)
from ..data.weights import refuse_one_class, row_weights, rows_that_count
from ..kernels.algebra import Rows
from ..learners.conformal import make_sets
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import LINEAR, RULE_NAMES, RULE_TABLE
from ..training.calibration import RecentScores
from ..training.linear_state import SOLUTIONS
from ..training.rules import PERCEPTRON, RULES
from ..training.training import Epoch, Training
from .base import RowEstimator, make_seed, print_epoch, unchanged_by_errors
from .constructors import estimator
from .one_row import NamedColumns, make_first_row, make_row, refuse_to_grow
from .validation import Validation, check_validation, hold_out

Solution = Literal["last", "average", "pocket"]
Order = Literal["each", "once", "fixed", "batch", "active", "first", "worst"]
Start = tuple[ArrayLike | None, ArrayLike | None]
"""The coefficients and intercepts to begin with; None for zeros."""


FROM_ZERO: Start = (None, None)
Begin = Callable[[TrainingRows], LinearLearner]
"""Makes a learner for some rows."""


class Prepared(NamedTuple):
    """The checked arguments of one call of ``fit``."""

    X: Any
    classes: Array
    rows: TrainingRows
    held_out: Validation | None
    seed: int


@estimator
class LinearEstimator(RowEstimator[LinearLearner]):
    """A linear model; subclasses choose the update rule and add parameters."""

    _parameters = LINEAR
    _learner_class = LinearLearner
    _rule = PERCEPTRON
    _batches = False  # whether partial_fit was called last, so that the parameters are checked
    _plain = False  # whether the convergence theorem applies to the run
    _columns = cast("NamedColumns | None", None)
    _recent = cast("RecentScores | None", None)  # of rows of a stream, for probabilities
    _calibrated_on = cast("RecentScores | None", None)
    _sparse = False  # whether coef_ is a CSR matrix
    _grows = False  # whether learn_one began the model, so that it adds labels and names

    solution: Solution = "last"
    order: Order = "each"
    fit_intercept: bool = True
    intercept_step: float | Literal["radius"] = 1.0
    max_iter: int = 10
    tol: float | None = None
    measure: bool = False
    early_stopping: bool | int = False
    calibrate: bool | Literal["conformal"] = False
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    def __init_subclass__(cls, **options: Any) -> None:
        """Set the parameters and the rule of a class that the table of rules names."""
        super().__init_subclass__(**options)
        rule = RULE_NAMES.get(cls.__name__)
        if rule is not None and "_rule" not in vars(cls):
            cls._parameters, cls._rule = RULE_TABLE[rule].parameters, RULES[rule]

    @property
    def coef_(self) -> Any:
        """The weights: one row per class, one row for two classes, or one number per column."""
        coef = np.ascontiguousarray(self._current().coefficients()[0])
        if self._sparse:
            return csr_matrix(coef)
        return coef if len(self._learner.classes) else coef[0]

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._replace_weights(coef, self.intercept_)

    @property
    def intercept_(self) -> Array:
        """The biases: one per class, or one for two classes or numbers."""
        return np.asarray(self._current().coefficients()[1])

    @intercept_.setter
    def intercept_(self, intercept: ArrayLike) -> None:
        self._replace_weights(self.coef_, intercept)

    def sparsify(self) -> Self:
        """Make ``coef_`` a CSR matrix, until the model learns again; predictions stay the same.

        Returns
        -------
        self
            The estimator.
        """
        self._current()
        self._sparse = True
        return self

    def densify(self) -> Self:
        """Make ``coef_`` an array again.

        Returns
        -------
        self
            The estimator.
        """
        self._current()
        self._sparse = False
        return self

    def _select_columns(self, X: Any) -> tuple[Any, Array, Array]:
        """Return X with the weights and biases to score it: of few columns, if others are zero."""
        learner = self._current()
        columns = learner.columns_to_compute(getattr(X, "indices", None))
        coef, bias = learner.coefficients(columns)
        if columns is not ...:
            numbers, shape = np.arange(len(columns), dtype=np.int32), (X.shape[0], len(columns))
            X = type(X)((X.data, numbers, X.indptr), shape=shape)
        return X, coef, bias

    def _replace_weights(self, coef: Any, intercept: ArrayLike) -> None:
        """Predict with other weights; learning continues from them as a fit from a start does."""
        before, start = self._current(), (np.atleast_2d(to_dense(coef)), intercept)
        self._check_start(start)
        shape, own = (before.width, before.dtype), lambda: before.intercept_step
        begun = LinearLearner.begin(
            self._values(), before.classes, shape, own, start, self._rule, before.multilabel
        )
        fresh = {"states": begun.states, "calibration": None, "conformal": begun.conformal}
        self._learner, self._plain, self._recent = replace(before, **fresh), False, None
        self._sparse = issparse(coef)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, start: Start, validation: tuple[Any, Any]
    ) -> Self:
        """Fit the model, and return it."""
        self._check_parameters()
        continues = self.warm_start and self.__sklearn_is_fitted__()
        from_zero = start[0] is None and start[1] is None
        with unchanged_by_errors(self):
            given = self._prepare(X, y, sample_weight, not continues, validation)
            if continues:
                self._check_continued(given.classes, given.rows.codes.ndim == 2)
            begin: Begin = partial(self._begin, given.classes, start=start)
            if continues and from_zero:
                begin = self._continue
            learner = begin(given.rows)
            training = self._run(learner, given).train()
            epochs, stop_reason = training.epochs, training.stop_reason
            learner.states, learner.calibration = training.states, None
            learner.refuse_lost([given.rows.rows])
            unaided = not continues and sample_weight is None and from_zero
            facts = self._describe_fit(given, unaided)
            if self.calibrate:
                self._calibrate(learner, given, begin)
            self.take_over(learner, epochs, stop_reason, facts)
        if stop_reason == "max_iter" and facts.get("textbook") and self.solution == "last":
            warnings.warn(
                f"{type(self).__name__} still made mistakes in the last of {self.n_iter_} epochs, "
                "and predicts with the weights after the last row. Average the weights "
                '(solution="average"), use early_stopping=True, or raise max_iter; '
                "separability(X, y) decides whether more epochs can help.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _describe_fit(self, given: Prepared, unaided: bool) -> dict[str, Any]:
        """Return facts about a fit; ``unaided``: from zero and without weights of rows."""
        return {}

    def _fit_batch(
        self, X: Any, y: Any, sample_weight: Any, classes: ArrayLike | None = None
    ) -> Self:
        """Learn from a batch of rows once, in their order."""
        first = not self.__sklearn_is_fitted__()
        as_before = self._batches and not self._has_changed()
        if not as_before:
            self._check_parameters("batch")
        with unchanged_by_errors(self):
            X, y = self._check_rows(X, y, first, None if first else self._learner.dtype)
            refuse_not_finite(X)
            known, codes, weights = self._encode_batch(y, sample_weight, classes)
            rows = TrainingRows.of(view_rows(X), codes, weights, X.shape[1])
            multilabel = codes.ndim == 2
            if first:
                self._learner = self._begin(known, rows)
            elif not as_before or self._learner.multilabel != multilabel:
                self._renew_learner(multilabel)
            self._learn_batch(rows)
        return self

    def _encode_batch(
        self, y: Array, sample_weight: Any, classes: ArrayLike | None
    ) -> tuple[Array, Array, Array | None]:
        """Return the classes of a model, the codes of a batch of labels, and weights of rows."""
        known, codes = self._encode(y)
        return known, codes, self._weigh(known, codes, sample_weight)

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """Return the distinct labels, and each row's number among them."""
        raise NotImplementedError

    def _weigh(
        self,
        classes: Array,
        codes: Array,
        sample_weight: ArrayLike | None,
        learnt: Array | None = None,
    ) -> Array | None:
        """Return the weight of each row, or None if all are 1."""
        return row_weights(codes, sample_weight, None)

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        reset: bool,
        validation: tuple[Any, Any] = (None, None),
    ) -> Prepared:
        """Check rows, labels and weights, and hold rows out."""
        X, y = self._check_rows(X, y, reset, None if reset else self._learner.dtype)
        holds_out = self.early_stopping or self.calibrate == "conformal"
        if self.order == "first" or holds_out:
            refuse_not_finite(X)  # these may never look at some rows
        seed, learnt, held = make_seed(self.random_state), None, None
        classes, codes = self._encode(y)
        if validation[0] is not None or validation[1] is not None:
            held = check_validation(self, *validation, classes, X.dtype)
        elif holds_out:
            learnt, held = hold_out(self, X, codes, sample_weight, seed, classes)
        weights = None
        if sample_weight is not None or getattr(self, "class_weight", None) is not None:
            weights = self._weigh(classes, codes, sample_weight, learnt)
        order = rows_that_count(codes, weights)
        if learnt is not None:
            order = np.intersect1d(order, learnt)
        if weights is not None:
            refuse_one_class(codes, order)
        rows = TrainingRows(view_rows(X), codes, weights, X.shape[1], order)
        return Prepared(X, classes, rows, held, seed)

    def _begin(
        self, classes: Array, given: TrainingRows, start: Start = FROM_ZERO
    ) -> LinearLearner:
        """Make an untrained learner for some rows."""
        from_zero = start[0] is None and start[1] is None
        if not from_zero:
            self._check_start(start)
        return LinearLearner.begin(
            self._values(),
            classes,
            (given.width, given.rows.values.dtype),
            given.squared_radius,
            None if from_zero else start,
            self._rule,
            given.codes.ndim == 2,
        )

    def _check_start(self, start: Start) -> None:
        """Raise ValueError if the model cannot start from coefficients."""
        if not self.fit_intercept and start[1] is not None and np.any(np.asarray(start[1])):
            raise ValueError(
                "intercept_init needs fit_intercept=True; for a constant bias also set "
                "intercept_step=0."
            )
        if not self._rule.from_anywhere:
            raise ValueError(
                f"{type(self).__name__} keeps more than its weights, so it starts at zero; leave "
                "out coef_init and intercept_init."
            )

    def _check_continued(self, classes: Array, multilabel: bool) -> None:
        """Raise ValueError if the model cannot continue with these parameters."""
        before = self._learner
        multi_class = self._values().get("multi_class", "")
        same = self._rule.problems(len(classes), multi_class, multilabel) == before.problems
        same &= self._rule is before.rule
        same &= type(before.states[0]) is SOLUTIONS[self.solution]
        if not same:
            raise ValueError(
                "A trained model cannot change its solution or multi_class; set them back, or "
                "train a new model (warm_start=False)."
            )

    def _continue(self, given: TrainingRows) -> LinearLearner:
        """Return a copy of the learner to continue with."""
        states = [state.renew() for state in self._learner.states]
        learner = self._learner.with_parameters(self._values(), given.squared_radius)
        return replace(learner, states=states)

    # Batches and single rows

    def _renew_learner(self, multilabel: bool) -> None:
        """Continue with parameters that have changed since the last batch."""
        self._check_continued(self._learner.classes, multilabel)
        self._learner = self._learner.with_parameters(self._values())

    def _learn_batch(self, rows: TrainingRows) -> None:
        """Learn from rows once; the history has this batch alone."""
        self.history_, self.n_iter_ = [self._learner.learn(rows)], 1
        self.stop_reason_ = "max_iter"  # other batches may still hold mistakes
        self._batches, self._plain, self._sparse = True, False, False

    def _ready_row(self, x: Any, y: Any) -> Rows:
        """Return one row to learn from; begin the learner, or renew it if parameters changed."""
        if not self.__sklearn_is_fitted__():
            self._begin_with_row(x, self._first_classes(y))
        row = make_row(self, x, grows=self._grows)
        if self._has_changed():
            self._check_parameters("batch")
            self._renew_learner(multilabel=False)
        self._plain = self._sparse = False
        return row

    def _begin_with_row(self, x: Any, classes: Array) -> None:
        """Begin a model with a row; ``learn_one`` adds columns, and classes if there are any."""
        self._check_parameters("batch")
        X, names = make_first_row(x)
        rows = TrainingRows.of(view_rows(X), np.zeros(1, np.intp), None, X.shape[1])
        learner = self._begin(classes, rows)
        if len(classes) == 1:
            refuse_to_grow(learner)
        self.take_over(learner, [], "max_iter", {"grows": True})
        self.name_columns()
        if names is not None:
            self.feature_names_in_ = names

    def _first_classes(self, y: Any) -> Array:
        """Return the classes of a model that begins with a row of a label; none here."""
        return np.empty(0)

    def _has_changed(self) -> bool:
        """Whether the parameters differ from those of the learner."""
        return not self.__dict__.items() >= self._learner.parameters.items()

    # Training

    def _run(self, learner: LinearLearner, given: Prepared, **options: Any) -> Training:
        """Prepare the training of all problems."""
        if len(learner.states) > 1:
            options["threads"] = effective_n_jobs(None)
        if given.held_out is not None and self.early_stopping:
            options["validate"] = partial(learner.validate, *given.held_out)
        parts, parameters = (learner.part(given.rows),).__iter__, learner.parameters
        run = Training.by(parameters, learner.states, parts, seed=given.seed, **options)
        if self.verbose:
            measured = len(given.rows.row_order) * self.measure
            metric = parameters.get("metric", "error")
            run.after_epoch = partial(print_epoch, run, measured, metric)
        return run

    def _calibrate(self, learner: LinearLearner, given: Prepared, begin: Begin) -> None:
        """Fit probabilities, sets or intervals to the scores of rows held out."""
        if given.held_out is not None:
            X, codes = given.held_out
            learner.calibrate(learner.scores(view_rows(X), learner.width), codes)

    def _make_sets(self, scores: Array, coverage: float) -> Array:
        """Return prediction sets, or intervals, of rows by their scores."""
        return make_sets(self._learner, coverage)(scores)

    # Model files

    def take_over(
        self,
        learner: LinearLearner,
        epochs: list[Epoch],
        stop_reason: str,
        facts: Mapping[str, Any],
    ) -> None:
        """Become the fitted estimator of a learner.

        :meta private:
        """
        super().take_over(learner, epochs, stop_reason, facts)
        self._batches = self._sparse = False
        self._plain, self._grows = facts.get("plain") is True, facts.get("grows") is True
        kept = facts.get("recent_scores")
        self._recent = RecentScores.of(kept, len(learner.classes)) if kept else None
        self._calibrated_on = self._recent

    def _facts(self) -> dict[str, Any]:
        return super()._facts() | ({"grows": True} if self._grows else {})

"""What all linear classifiers do: learn from X and y, score rows, be saved."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.labels import check_indicator
from ..data.rows import Array, overflow, refuse_lost, refuse_not_finite, view_rows
from ..data.splits import Split
from ..data.weights import refuse_one_class, row_weights, rows_that_count
from ..kernels.algebra import Rows, largest_squared_norm
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import LINEAR, check_ties
from ..storage.model import Model
from ..training.calibration import Calibration, cross_fit, fit_calibration
from ..training.history import Epoch
from ..training.rules import PERCEPTRON, UpdateRule, choose_rule_form
from ..training.run import Run
from ..training.solutions import SOLUTIONS
from .base import OnlineClassifier, canonical, make_seed, when_calibrated
from .constructors import estimator
from .one_row import NamedColumns, add_label, check_label, find_row, refuse_to_grow, row_to_begin


class Prepared(NamedTuple):
    """What one call of fit was given, checked."""

    X: Any
    classes: Array
    rows: TrainingRows
    held_out: Array | None
    seed: int


class FittedLinear(OnlineClassifier):
    """What a linear classifier keeps besides its parameters."""

    _parameters = LINEAR
    _rule: UpdateRule = PERCEPTRON
    _learner: LinearLearner
    _plain: bool
    _batches = False  # whether it learnt from one last, so that its parameters suit them
    _grows = False  # whether learn_one began it, so that it adds labels and names
    _columns: NamedColumns | None = None


@estimator
class LinearClassifier(FittedLinear):
    """A linear classifier; what a row does to the weights is the rule's.

    Its parameters, all by keyword, are described once, in ``Perceptron``.
    """

    solution: str = "last"
    average_decay: float = 0.0
    order: str = "each"
    fit_intercept: bool = True
    intercept_step: float | str = 1.0
    multi_class: str = "argmax"
    max_iter: int = 10
    measure: bool = False
    early_stopping: bool = False
    calibrate: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Mapping[Any, float] | str | None = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Learn from X and y until a pass is clean or ``max_iter`` epochs are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their labels; or, where a row may have any number of labels, 1 for each that it has and
            0 for the others. Each label is then a two-class problem.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the steps, and a row of weight 0 is never seen.
        coef_init, intercept_init : array-like, default=None
            Where to start instead of zero, in the shapes of ``coef_`` and ``intercept_``.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters()
        start = coef_init, intercept_init
        going_on = self.warm_start and self.__sklearn_is_fitted__()
        with self._unchanged_by_errors():
            given = self._prepare(X, y, sample_weight, reset=not going_on)
            if going_on:
                self._check_going_on(given.classes, given.rows.codes.ndim == 2)
            continues = going_on and all(part is None for part in start)
            begin = self._continue if continues else partial(self._begin, start=start)
            learner = begin(given)
            run = self._run(learner, given).train()
            learner.states = run.outcomes
            refuse_lost(learner.coefficients()[0], learner.mistakes, [given.rows.rows])
            learner.calibration = self._calibration(learner, given, begin)
            self._keep(learner, run.epochs, run.stop_reason)
        weighted = (sample_weight, coef_init, intercept_init, self.class_weight)
        plain = not going_on and self._textbook and self._rule is PERCEPTRON
        self._plain = plain and all(value is None for value in (given.held_out, *weighted))
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows, once and in their order.

        However the rows of a pass are cut into batches, the model is the same. After an error it is
        what it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call, unless y has a column for
            each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.

        Returns
        -------
        self
            The fitted classifier.
        """
        first = not self.__sklearn_is_fitted__()
        as_before = self._batches and self._values() == self._learner.parameters
        if not as_before:
            self._check_parameters("batch")
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, y, first, None if first else self._learner.dtype)
            refuse_not_finite(X)
            if y.ndim == 2 and first and classes is None:
                classes = np.arange(y.shape[1])
            known = self._known_classes(classes, first)
            codes = self._number(y, known)
            weights = self._weigh(known, codes, sample_weight)
            rows = TrainingRows.of(view_rows(X), codes, weights, X.shape[1])
            if first:
                learner = self._begin(Prepared(X, known, rows, None, 0), (None, None))
            elif as_before and self._learner.multilabel == (codes.ndim == 2):
                learner = self._learner
            else:
                self._check_going_on(known, codes.ndim == 2)
                learner = replace(self._learner, calibration=None, **self._settings(rows))
            count = learner.learn(rows)
            self._learner, self.classes_ = learner, known
            self.n_mistakes_, self._plain, self._batches = learner.mistakes, False, True
            epoch = Epoch(1, count.rows, count.mistakes, count.errors, count.loss)
            self._set_history([epoch], "max_iter")  # a clean batch proves nothing about the others
        return self

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one row, as ``partial_fit`` does but without what a batch costs.

        A new model begins with its first row. It adds a class for each new label and, where rows
        are dicts, a column for each new name, and is the model that had known them all along.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row. In a dict, a number is the value of the column of its name and a string ``v``
            of the name ``n`` is 1 in the column ``n=v``; columns that it lacks are 0.
        y : object
            Its label: of a model that ``fit`` or ``partial_fit`` began, one that it knows.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> model = Perceptron().learn_one([2.0, 1.0], "a").learn_one([-3.0, 2.0], "b")
        >>> model.predict_one([-2.0, 1.0])
        'b'
        >>> mail = Perceptron().learn_one({"words": 3, "from": "ann"}, "ham")
        >>> mail.learn_one({"words": 9, "link": 1}, "spam").predict_one({"link": 2})
        'spam'
        """
        with self._unchanged_by_errors():
            if not hasattr(self, "_learner"):
                self._begin_with(x, y)
            self._refuse_label_sets("learn_one")
            row = find_row(self, x, grows=self._grows)
            if not isinstance(y, Hashable):
                raise ValueError(f"A label is a number or a text; got {y!r}.")
            code = self._learner.codes.get(y)
            if code is None:
                code = add_label(self, y)
            if self.calibrate or self._values() != self._learner.parameters:
                self._take_over_parameters(row)
            weight = 1.0 if self.class_weight is None else self._weight_of_class(code)
            if weight > 0:
                self._learner.learn_one(row, code, weight)
            self._plain, self.n_mistakes_ = False, self._learner.mistakes
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one row, without what a batch costs.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row; names in a dict that the model has not met are left out.

        Returns
        -------
        object
            One of ``classes_``; None of a model that has not learnt from any row.
        """
        if not hasattr(self, "_learner"):
            return None
        row = find_row(self, x)
        self._refuse_label_sets("predict_one")
        scores = self._learner.score_one(row)
        return self.classes_.item(self._learner.choose(scores)[0])

    def _refuse_label_sets(self, method: str) -> None:
        """Refuse what knows one label per row."""
        if self._learner.multilabel:
            instead = {"learn_one": "partial_fit", "predict_one": "predict"}.get(method, "fit")
            raise ValueError(f"{method} is for rows of one label each; use {instead}.")

    def _take_over_parameters(self, row: Rows) -> None:
        """Go on with parameters that were changed since the last row."""
        self._check_parameters("batch")
        self._check_going_on(self.classes_, self._learner.multilabel)
        rows = TrainingRows.of(row, np.zeros(1, np.intp), None, self._learner.width)
        self._learner = replace(self._learner, calibration=None, **self._settings(rows))

    def _weight_of_class(self, code: int) -> float:
        """What a row of a class weighs when it comes alone."""
        self._check_parameters("batch")
        weights = self._weigh(self.classes_, np.array([code]), None)
        return 1.0 if weights is None else float(weights[0])

    def _begin_with(self, x: Any, y: Any) -> None:
        """Begin a model of one class with a row; ``learn_one`` adds what comes."""
        self._check_parameters("batch")
        classes, (X, names) = np.array([check_label(y)]), row_to_begin(x)
        rows = TrainingRows.of(view_rows(X), np.zeros(1, np.intp), None, X.shape[1])
        learner = self._begin(Prepared(X, classes, rows, None, 0), (None, None))
        refuse_to_grow(learner)
        if names is not None:
            self.feature_names_in_ = names
        self._learner, self.classes_, self.n_features_in_ = learner, classes, X.shape[1]
        self._grows, self._columns = True, None
        self._set_history([], "max_iter")

    def decision_function(self, X: Any) -> Array:
        """Score rows: the signed activation, or with ``solution="vote"`` the share of votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``; where rows may have several labels, it
            means that a row has this one. Scores are not probabilities.
        """
        X = self._rows_to_score(X)
        if self._learner.votes:
            scores = self._learner.shares(X)
        else:
            scores = X @ self.coef_.T + self.intercept_
        return scores.ravel() if self._learner.problems == [1] else scores

    def predict(self, X: Any) -> Array:
        """The label of each row, or 1 for each of the labels that it has and 0 for the others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Of ``classes_``, the one with the highest score; or of each whether a row has it.
        """
        scores = self.decision_function(X)
        chosen = self._learner.choose(scores)
        return chosen.astype(np.intp) if self._learner.multilabel else self.classes_[chosen]

    @property
    def multilabel_(self) -> bool:
        """Whether a row may have any number of labels."""
        check_is_fitted(self)
        return self._learner.multilabel

    @when_calibrated
    def predict_proba(self, X: Any) -> Array:
        """The probability of every class for each row; only with ``calibrate=True``.

        The most probable class is the one that ``predict`` gives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        scores = self.decision_function(X)
        if self._learner.calibration is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted without calibrate=True; fit it again."
            )
        return self._learner.calibration.probabilities(scores, self._learner.choose(scores))

    @property
    def coef_(self) -> Array:
        """The weights, one row per class or one row for two classes."""
        check_is_fitted(self)
        return self._learner.coefficients()[0]

    @property
    def intercept_(self) -> Array:
        """The biases."""
        check_is_fitted(self)
        return self._learner.coefficients()[1]

    def last_weights(self) -> tuple[Array, float, float]:
        """The weights and bias after the last update, and how far a mistake moved the bias.

        For the theory of two classes, which speaks of these whatever ``solution`` predicts with;
        refused when the run did not start at zero or its steps differed.

        Returns
        -------
        weights : ndarray of shape (n_features,)
            The last w.
        bias : float
            The last b.
        intercept_step : float
            What a mistake adds to the bias, without the learning rate and the sign.
        """
        check_is_fitted(self)
        if not self._plain or len(self.classes_) != 2 or self._learner.multilabel:
            raise ValueError(
                "The theory is about fit with two classes, from zero, without margin, weights or "
                "early stopping; fit such a Perceptron."
            )
        (state,) = self._learner.states
        return state.weights, float(state.bias[0]), self._learner.intercept_step

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    @property
    def _textbook(self) -> bool:
        """Whether every update adds the row itself, as the theory of the perceptron has it."""
        return False

    # What comes in

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        """The labels of so many rows as one list, or which row has which if rows have several."""
        shape = labels.shape if hasattr(labels, "shape") else np.asarray(labels).shape
        if len(shape) != 2 or shape[1] < 2:
            return super()._check_labels(labels, n_rows)
        if shape[0] != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {shape[0]}; each row needs its labels.")
        return check_indicator(labels)

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """The distinct labels and each row's number among them, or which of them it has."""
        return super()._encode(y) if y.ndim == 1 else (np.arange(y.shape[1]), y)

    def _number(self, y: Array, classes: Array) -> Array:
        """Each label's number among the classes, or which of them each row has."""
        if y.ndim == 1:
            return super()._number(y, classes)
        if y.shape[1] != len(classes):
            raise ValueError(f"y has {y.shape[1]} columns; there are {len(classes)} labels.")
        return y

    def _prepare(self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool) -> Prepared:
        """Bring rows, labels and weights together."""
        X, y = self._check_rows(X, y, reset, None if reset else self._learner.dtype)
        if y.ndim == 2 and self.calibrate:
            raise ValueError("calibrate=True is for rows of one label each; leave it out.")
        holds_out = self.early_stopping
        if self.order in ("first", "replacement") or holds_out:
            refuse_not_finite(X)  # these may never look at some rows
        if self.intercept_step == "radius":
            X = canonical(X)
        classes, codes = self._encode(y)
        seed, learnt, held = make_seed(self.random_state), None, None
        if holds_out:
            known = rows_that_count(codes, row_weights(codes, sample_weight, None))
            learnt, held = Split(self.validation_fraction, seed).stratified(codes, known)
        weights = self._weigh(classes, codes, sample_weight, learnt)
        rows = TrainingRows.of(view_rows(X), codes, weights, X.shape[1])
        if learnt is not None:
            rows = rows._replace(row_order=np.intersect1d(rows.row_order, learnt))
        if weights is not None:
            refuse_one_class(codes, rows.row_order)
        return Prepared(X, classes, rows, held, seed)

    def _begin(self, given: Prepared, start: tuple[Any, Any]) -> LinearLearner:
        """A model that has seen nothing."""
        if not self.fit_intercept and start[1] is not None and np.any(np.asarray(start[1])):
            raise ValueError(
                "intercept_init needs fit_intercept=True; for a bias that stays as it is, set "
                "intercept_step=0 too."
            )
        shape, settings = (given.X.shape[1], given.X.dtype), self._settings(given.rows)
        rule = self._choose_rule(shape[0], len(given.classes))
        if any(part is not None for part in start) and not rule.from_anywhere:
            raise ValueError(
                f"{type(self).__name__} keeps more than its weights, and starts at zero; leave "
                "coef_init and intercept_init out."
            )
        settings["multilabel"] = given.rows.codes.ndim == 2
        return LinearLearner.begin(
            classes=given.classes, shape=shape, start=start, rule=rule, **settings
        )

    def _choose_rule(self, width: int, n_classes: int) -> UpdateRule:
        """The rule for some data."""
        return choose_rule_form(self._rule, self._values(), width, n_classes)

    def _settings(self, given: TrainingRows) -> dict[str, Any]:
        """The parameters without open questions."""
        step = self.intercept_step
        if step == "radius":
            step = largest_squared_norm(given.rows, given.row_order)
        step = float(step) if self.fit_intercept else 0.0
        return {"parameters": self._values(), "intercept_step": step}

    def _check_going_on(self, classes: Array, multilabel: bool) -> None:
        """Refuse to go on from another kind of model."""
        if multilabel != self._learner.multilabel:
            wanted = "any number of labels" if self._learner.multilabel else "one label"
            raise ValueError(f"The model was begun with rows of {wanted} each; go on with such.")
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()}, and y has "
                f"{classes.tolist()}; set warm_start=False to start anew."
            )
        rule, before = self._choose_rule(self._learner.width, len(classes)), self._learner
        problems = rule.problems(len(classes), self.multi_class, multilabel)
        free = self._values().get("matrix") == "auto" and rule.family == before.rule.family
        same = (free or rule is before.rule) and problems == before.problems
        same &= type(before.states[0]) is SOLUTIONS[self.solution]
        same &= getattr(before.states[0], "decay", 0.0) == self.average_decay
        if not same:
            raise ValueError(
                "A model cannot go on with another solution, average_decay or multi_class than it "
                "was begun with; set them back, or start anew (warm_start=False, or a new model)."
            )
        check_ties(getattr(self, "ties", "mistake"), len(classes), problems != [None])

    # Training

    def _continue(self, given: Prepared) -> LinearLearner:
        """A copy of the model that there is, to go on from."""
        states = [state.renew() for state in self._learner.states]
        return replace(self._learner, states=states, **self._settings(given.rows))

    def _run(
        self, learner: LinearLearner, given: Prepared, updates_at_once: int | None = None
    ) -> Run:
        """The training of all problems, ready to start."""
        part = learner.part(given.rows)
        run = learner.run(
            lambda: [part],
            self.max_iter,
            order=self.order,
            seed=given.seed,
            measure=self.measure,
            updates_at_once=updates_at_once,
            threads=effective_n_jobs(self.n_jobs),
        )
        if self.verbose:
            run.after_epoch = partial(say, run, len(given.rows.row_order) * self.measure)
        if given.held_out is not None and self.early_stopping:
            run.validate = learner.validator(given.rows, given.held_out)
        return run

    def _calibration(
        self, learner: LinearLearner, given: Prepared, begin: Callable[[Prepared], LinearLearner]
    ) -> Calibration | None:
        """What scores say of probabilities: by the rows held out, or by cross-fitting on all."""
        if not self.calibrate:
            return None
        codes, rows = given.rows.codes, given.held_out
        if rows is not None:
            scores = learner.scores(view_rows(given.X[rows]), given.X.shape[1])
            return fit_calibration(scores, codes[rows], len(given.classes))

        def score(learnt: Array, held: Array) -> Array:
            part = given._replace(rows=given.rows._replace(row_order=learnt))
            model = begin(part)
            run = self._run(model, part)
            run.after_epoch = None
            model.states = run.train().outcomes
            return model.scores(view_rows(given.X[held]), given.X.shape[1])

        rows = given.rows.row_order
        return cross_fit(codes, rows, len(given.classes), given.seed, score)

    def _keep(self, learner: LinearLearner, epochs: list[Epoch], stop_reason: str) -> None:
        """Take over what was learnt."""
        self.classes_, self._learner, self._batches = learner.classes, learner, False
        self._grows = False
        if not (np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()):
            raise overflow(self.coef_.dtype)
        self.n_mistakes_ = learner.mistakes
        self._set_history(epochs, stop_reason)

    # In a file

    def _model(self) -> Model:
        self._check_parameters()
        self._learner.features = self._feature_names() or self._learner.features
        self._learner.parameters = self._values()
        if len(self.classes_) < 2 and not self._learner.multilabel:
            raise ValueError(
                f"The model has met only the label {self.classes_.item(0)!r}; save it after the "
                "second one."
            )
        facts = {"stop_reason": self.stop_reason_, "plain": self._plain}
        facts |= {"grows": True} if self._grows else {}
        return self._learner.to_model(facts, self.history_)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored = cls(**model.parameters)
        restored._learner = LinearLearner.from_model(model)
        restored._learner.parameters = restored._values()
        restored._restore(model, restored._learner.width)
        restored._plain = model.facts.get("plain") is True
        restored._grows = model.facts.get("grows") is True
        restored.n_mistakes_ = restored._learner.mistakes
        return restored


def say(run: Run, measured: int, epoch: Epoch) -> None:
    """Print what happened in an epoch; its errors are among the rows measured, or those met."""
    measured *= sum(len(one.history.epochs) == epoch.epoch for one in run.problems)
    share, score = epoch.errors / (measured or epoch.rows), epoch.validation_score
    print(
        f"epoch {epoch.epoch:4d}  {epoch.mistakes:8d} mistakes  {share:7.2%} error",
        "" if score is None else f" {score:7.2%} held-out accuracy",
        flush=True,
    )

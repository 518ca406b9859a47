"""The scikit-learn face of the linear family."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags, check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import storage
from .kernels.algebra import Rows, largest_squared_norm
from .kernels.linear import Examples, Settings
from .rows import check_structure, encode, first_not_finite, rows_of
from .training import (
    ORDERS,
    SOLUTIONS,
    Array,
    Epoch,
    Last,
    NotFiniteError,
    Run,
    Task,
    Vote,
    check_combination,
    chosen,
    merged,
    rule_of,
    steps_of,
)

SIGN_OF_ZERO = {"mistake": 0.0, "positive": 1.0, "negative": -1.0, "correct": 0.0}
CHOICES: dict[str, list[str]] = {
    "solution": list(SOLUTIONS),
    "order": list(ORDERS),
    "ties": list(SIGN_OF_ZERO),
    "multi_class": ["argmax", "ovr"],
}


class Lesson(NamedTuple):
    """What one call of fit or partial_fit was given, checked."""

    X: Any
    rows: Rows
    classes: Array
    codes: Array
    weights: Array | None
    everything: Array
    """The numbers of the rows to learn from."""
    held_out: Array | None
    seed: int


class OnlineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the classifiers share: labels, classes, weights of rows, and no harm from errors."""

    classes_: Array
    class_weight: dict[Any, float] | str | None
    multi_class: str
    ties: str

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Leave the model as it was when something is refused."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_labels(self, labels: Any, rows: int) -> Array:
        """The labels of so many rows as one list, all of them known."""
        if labels is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        if isinstance(labels, np.ndarray) and labels.ndim == 1:
            y = labels
        else:
            y = np.asarray(column_or_1d(labels, warn=True))
        if len(y) != rows:
            raise ValueError(f"X has {rows} rows and y {len(y)} labels; each row needs one.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity; labels must be known.")
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        return y

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """The distinct labels and each row's number among them."""
        classes, codes = encode(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}; rows of at least two are needed."
            )
        return classes, codes

    def _known_classes(self, classes: ArrayLike | None, first: bool) -> Array:
        """The labels that partial_fit was promised."""
        if classes is None:
            if first:
                raise ValueError("The first call of partial_fit needs classes, all labels to come.")
            return self.classes_
        named = np.unique(np.asarray(classes))
        if named.dtype.kind == "f" and not np.isfinite(named).all():
            raise ValueError("classes contains NaN or infinity; labels must be known.")
        if len(named) < 2:
            raise ValueError("classes must name at least two different labels.")
        if not first and not np.array_equal(named, self.classes_):
            raise ValueError(
                f"classes={named.tolist()} differs from the first call's {self.classes_.tolist()}; "
                "labels cannot be added later."
            )
        return named

    def _number(self, y: Array, classes: Array) -> Array:
        """Each label's number among the known ones."""
        codes = np.clip(np.searchsorted(classes, y), 0, len(classes) - 1)
        unknown = np.flatnonzero(classes[codes] != y)
        if len(unknown):
            raise ValueError(
                f"y has the label {y.tolist()[unknown[0]]!r} in row {unknown[0]}, not among the "
                f"classes {classes.tolist()}; name all labels in classes in the first call."
            )
        return codes

    def _row_weights(
        self, classes: Array, codes: Array, sample_weight: ArrayLike | None, whole: bool
    ) -> Array | None:
        """Sample weights times class weights, or None when all are 1."""
        if sample_weight is None and self.class_weight is None:
            return None
        weights = np.ones(len(codes))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
            if weights.ndim == 0:
                weights = np.full(len(codes), float(weights))
            if weights.shape != codes.shape:
                raise ValueError(
                    f"sample_weight has shape {weights.shape}; X has {len(codes)} rows, and each "
                    "needs one weight."
                )
            bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
            if len(bad):
                raise ValueError(
                    f"sample_weight is {weights[bad[0]]} in row {bad[0]}; weights must be finite "
                    "and not negative."
                )
        if whole and not weights.any():
            raise ValueError("All sample weights are zero, so there is no row to learn from.")
        if self.class_weight is not None:
            of_class = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
            if not np.all((of_class >= 0) & (of_class < np.inf)):
                raise ValueError("class_weight must give finite weights that are not negative.")
            weights = weights * of_class[codes]
        return weights

    def _check_ties(self, classes: Array) -> None:
        """Refuse to give a tie between several classes a sign."""
        if self._problems(classes) == [None] and self.ties in ("positive", "negative"):
            raise ValueError(
                f"ties={self.ties!r} has no meaning for {len(classes)} classes at once; "
                'use ties="mistake" or "correct", or multi_class="ovr".'
            )

    def _problems(self, classes: Array) -> list[int | None]:
        """The class that counts as positive in each problem; None for all classes at once."""
        if len(classes) == 2:
            return [1]
        return list(range(len(classes))) if self.multi_class == "ovr" else [None]


class Perceptron(OnlineClassifier):
    """Learn a linear boundary by correcting mistakes, one row at a time.

    Rosenblatt (1958), "The perceptron", Psychological Review 65(6). With the default parameters
    it is the textbook algorithm: start at zero, add y·x when y·(w·x + b) <= 0, stop after a pass
    without a mistake.

    Parameters
    ----------
    solution : {"last", "average", "vote", "pocket"}, default="last"
        Which weights become the model: the last ones; their average over all rows seen; the
        majority vote of all of them (Freund & Schapire 1999); or the best on the training data
        so far, with ratchet (Gallant 1990).
    order : {"each", "once", "fixed", "active", "first", "worst"}, default="each"
        A fresh permutation each epoch; one permutation, kept; as given; all rows, then only those
        that were ever mistaken until they are clean (or twice as many rows have been read), and
        so on; the first mistake from the start, one per epoch; the most wrong row, one per epoch.
    eta0 : float, default=1.0
        The learning rate η. From zero weights and without a margin it only scales the weights.
    margin : float, default=0.0
        Update when y·activation <= margin; with several classes, when the lead is.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and say what is predicted there too.
    fit_intercept : bool, default=True
        Whether to learn a bias, else the boundary goes through the origin.
    intercept_step : float or "radius", default=1.0
        A mistake moves the bias by η·y times this. "radius" is R², the largest squared norm of a
        row; 0 keeps the bias (a fixed threshold) at ``intercept_init``.
    multi_class : {"argmax", "ovr"}, default="argmax"
        With over two classes: all together, adding to the right class and subtracting from the
        best wrong one, or one two-class problem per class.
    max_iter : int, default=100
        The most epochs. With the orders "first" and "worst" an epoch is one update.
    measure : bool, default=False
        Whether to go over the data once more after each epoch, to record both losses of the
        weights as they are and to stop as soon as no row is misclassified.
    early_stopping : bool, default=False
        Whether to hold out rows, stop when their accuracy no longer rises, and go back to the
        best weights.
    validation_fraction : float, default=0.1
        The share of the rows to hold out.
    n_iter_no_change : int, default=5
        How many epochs to wait for a better accuracy.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they scale the steps.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last fit.
    n_jobs : int or None, default=None
        Threads for one-vs-rest. They never change the result.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and the rows held out. The same number gives the same model.
    verbose : int, default=0
        Whether to print a line per epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, the larger is the positive one.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights; with ``solution="vote"`` the last ones, and ``predict`` uses all.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    n_iter_ : int
        Epochs gone through.
    n_mistakes_ : int
        Updates made, over all calls of ``partial_fit`` or warm starts.
    stop_reason_ : {"separated", "max_iter", "no_improvement"}
        Why training ended.
    history_ : list of Epoch
        One record per epoch: rows, mistakes, errors (J₁), loss (J), validation_score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(random_state=0).fit(X, y == 0)
    >>> model.stop_reason_, model.n_mistakes_, model.score(X, y == 0)
    ('separated', 9, 1.0)
    """

    _solutions: list[Last]
    _answered: tuple[Array, Array] | None
    _intercept_step: float
    _plain: bool
    _features: dict[str, Any]

    def __init__(
        self,
        *,
        solution: str = "last",
        order: str = "each",
        eta0: float = 1.0,
        margin: float = 0.0,
        ties: str = "mistake",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "argmax",
        max_iter: int = 100,
        measure: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.solution = solution
        self.order = order
        self.eta0 = eta0
        self.margin = margin
        self.ties = ties
        self.fit_intercept = fit_intercept
        self.intercept_step = intercept_step
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.measure = measure
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the steps, and a row of weight 0 is never seen.
        coef_init, intercept_init : array-like, default=None
            Where to start instead of zero, in the shapes of ``coef_`` and ``intercept_``.
        """
        self._check_parameters()
        going_on = self.warm_start and self.__sklearn_is_fitted__()
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, y, reset=not going_on)
            lesson = self._lesson(X, *self._encode(y), sample_weight)
            if going_on:
                self._check_going_on(lesson)
            if going_on and coef_init is None and intercept_init is None:
                solutions = [solution.renewed() for solution in self._solutions]
            else:
                solutions = self._starting_at(lesson, coef_init, intercept_init)
            self._keep(lesson, self._train(lesson, solutions, self.order, self.max_iter))
            self._answer()
        given = (sample_weight, coef_init, intercept_init, self.class_weight)
        plain = not going_on and self.margin == 0 and not self.early_stopping
        self._plain = plain and all(value is None for value in given)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows, once and in their order.

        However the rows of a pass are cut into batches, the model is the same.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        """
        self._check_parameters()
        self._check_streaming()
        first = not self.__sklearn_is_fitted__()
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, y, reset=first)
            refuse_not_finite(X)
            known = self._known_classes(classes, first)
            codes = self._number(y, known)
            lesson = self._lesson(X, known, codes, sample_weight, whole=False)
            solutions = self._starting_at(lesson, None, None) if first else self._solutions
            self._plain = False
            self._keep(lesson, self._train(lesson, solutions, "fixed", 1))
            self.stop_reason_ = "max_iter"  # a clean batch proves nothing about the others
        return self

    def decision_function(self, X: Any) -> Array:
        """Score rows: the signed activation, or with ``solution="vote"`` the share of votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. Scores are not probabilities.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if hasattr(X, "indptr"):
            check_structure(X)
        voters = [solution for solution in self._solutions if isinstance(solution, Vote)]
        if voters:
            scores = np.hstack([voter.votes(X, SIGN_OF_ZERO[self.ties]) for voter in voters])
        else:
            scores = X @ self.coef_.T + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        """
        scores = self.decision_function(X)
        return self.classes_[chosen(scores, self.ties)]

    @property
    def coef_(self) -> Array:
        """The weights, one row per class or one row for two classes."""
        return self._answer()[0]

    @property
    def intercept_(self) -> Array:
        """The biases."""
        return self._answer()[1]

    def _answer(self) -> tuple[Array, Array]:
        """The weights and biases to predict with, one row per class; made when first asked for."""
        check_is_fitted(self)
        if self._answered is None:
            weights, biases = zip(*(solution.answer() for solution in self._solutions), strict=True)
            one = len(weights) == 1
            coef = np.atleast_2d(weights[0].T) if one else np.vstack(weights)
            if not np.isfinite(coef).all():
                raise overflow(coef.dtype)
            self._answered = coef, np.concatenate(biases)
        return self._answered

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``load`` reads: numbers only, checked, all or nothing.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom it ends in ``.safetensors``.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        features = self._features if names is None else {"names": names.tolist()}
        facts = {
            "stop_reason": self.stop_reason_,
            "intercept_step": self._intercept_step,
            "plain": self._plain,
        }
        state = self.classes_, self._solutions, features, facts, self.history_
        storage.save(path, storage.Model(self.get_params(), *state))

    def last_weights(self) -> tuple[Array, float, float]:
        """The weights and bias after the last update, and how far a mistake moved the bias.

        For the theory of two classes, which speaks of these whatever ``solution`` predicts with;
        refused when the run did not start at zero or its steps differed.
        """
        check_is_fitted(self)
        if not self._plain or len(self.classes_) != 2:
            raise ValueError(
                "The theory is about fit with two classes, from zero, without margin, weights or "
                "early stopping; fit such a Perceptron."
            )
        (solution,) = self._solutions
        return solution.weights, float(solution.bias[0]), self._intercept_step

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_solutions")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # What comes in

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range or do not go together."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                options = ", ".join(map(repr, allowed))
                raise ValueError(f"{name} must be one of {options}; got {getattr(self, name)!r}.")
        for name, ok, wanted in [
            ("eta0", positive_number(self.eta0), "a number above 0"),
            ("margin", positive_number(self.margin) or self.margin == 0, "a number from 0 up"),
            ("max_iter", whole_number(self.max_iter), "a whole number from 1 up"),
            ("n_iter_no_change", whole_number(self.n_iter_no_change), "a whole number from 1 up"),
            (
                "intercept_step",
                self.intercept_step in (0, "radius") or positive_number(self.intercept_step),
                'a number from 0 up or "radius"',
            ),
            (
                "validation_fraction",
                positive_number(self.validation_fraction) and self.validation_fraction < 1,
                "between 0 and 1",
            ),
        ]:
            if not ok:
                raise ValueError(f"{name} must be {wanted}; got {getattr(self, name)!r}.")
        check_combination(self.solution, self.order)

    def _check_streaming(self) -> None:
        """Refuse in partial_fit what needs all the data at once."""
        for unfit, what, instead in [
            (self.solution == "pocket", 'solution="pocket"', 'solution="average"'),
            (
                self.order in ("active", "first", "worst"),
                f"order={self.order!r}",
                'order="fixed" (partial_fit always takes the rows as they come)',
            ),
            (self.intercept_step == "radius", 'intercept_step="radius"', "the number R² itself"),
            (self.class_weight == "balanced", 'class_weight="balanced"', "a dict of weights"),
            (self.early_stopping, "early_stopping=True", "fit"),
        ]:
            if unfit:
                raise ValueError(
                    f"{what} needs all the data, and partial_fit sees only a batch; use {instead}."
                )

    def _check_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """X as a float array or CSR matrix, y as a list of labels.

        Whether X is finite is seen while learning, from the activations: that costs no pass.
        """
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32] if reset else [self._solutions[0].weights.dtype],
            order="C",
            ensure_all_finite=False,
        )
        y = self._check_labels(y, X.shape[0])
        if self.order == "first" or self.early_stopping:
            refuse_not_finite(X)  # these may never look at some rows
        if reset:
            self._features = {}
        return X, y

    def _check_going_on(self, lesson: Lesson) -> None:
        """Refuse a warm start from another kind of model."""
        if not np.array_equal(lesson.classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()}, and y has "
                f"{lesson.classes.tolist()}; set warm_start=False to start anew."
            )
        same_form = len(self._problems(lesson.classes)) == len(self._solutions)
        if not same_form or type(self._solutions[0]) is not SOLUTIONS[self.solution]:
            raise ValueError(
                "warm_start cannot go on with another solution or multi_class than the last fit; "
                "set warm_start=False to start anew."
            )

    def _lesson(
        self,
        X: Any,
        classes: Array,
        codes: Array,
        sample_weight: ArrayLike | None,
        whole: bool = True,
    ) -> Lesson:
        """Bring rows, labels and weights together; ``whole`` unless more batches will follow."""
        if self.intercept_step == "radius" and hasattr(X, "sum_duplicates"):
            check_structure(X)
            X = X.copy() if not X.has_canonical_format else X
            X.sum_duplicates()  # or the norms would be wrong
        weights = self._row_weights(classes, codes, sample_weight, whole)
        everything = np.arange(len(codes), dtype=np.uint32)
        if weights is not None:
            everything = everything[weights > 0]
            if whole and len(np.unique(codes[everything])) < 2:
                raise ValueError("Only one class has rows of a weight above 0; at least two must.")
        held: Array | None = None
        if self.early_stopping and whole:
            everything, held = train_test_split(
                everything,
                test_size=self.validation_fraction,
                stratify=codes[everything],
                random_state=self.random_state,
            )
            everything = np.sort(everything)
        seed = seed_of(self.random_state)
        return Lesson(X, rows_of(X), classes, codes, weights, everything, held, seed)

    def _starting_at(
        self, lesson: Lesson, coef: ArrayLike | None, intercept: ArrayLike | None
    ) -> list[Last]:
        """One solution per problem, at zero or at the given weights."""
        count, width, dtype = len(lesson.classes), lesson.X.shape[1], lesson.X.dtype
        outputs = 1 if count == 2 else count
        W = initial(coef, (outputs, width), dtype, "coef_init")
        b = initial(intercept, (outputs,), dtype, "intercept_init")
        if not self.fit_intercept and b.any():
            raise ValueError(
                "intercept_init needs fit_intercept=True; for a bias that stays as it is, set "
                "intercept_step=0 too."
            )
        new = SOLUTIONS[self.solution]
        if self._problems(lesson.classes) == [None]:
            return [new(np.zeros((width, count), dtype) if coef is None else W.T.copy("C"), b)]
        return [new(W[k].copy(), b[k : k + 1].copy()) for k in range(outputs)]

    # Training

    def _train(self, lesson: Lesson, solutions: list[Last], order: str, epochs: int) -> list[Run]:
        """Train every problem to its end."""
        rule = self._rule(lesson)
        problems = self._problems(lesson.classes)

        def train(number: int) -> Run:
            return self._run(
                lesson, rule, problems[number], solutions[number], order, epochs
            ).train()

        threads = min(effective_n_jobs(self.n_jobs), len(problems))
        with explained(lesson):
            if threads == 1:
                runs = [train(number) for number in range(len(problems))]
            else:
                with ThreadPoolExecutor(threads) as pool:
                    runs = list(pool.map(train, range(len(problems))))
        for run in runs:
            run.solution.close(lesson.X)
        return runs

    def _rule(self, lesson: Lesson) -> Settings:
        """When a row is right: thresholds that include zero or not, as ``ties`` says."""
        self._check_ties(lesson.classes)
        step = self.intercept_step
        if step == "radius":
            step = largest_squared_norm(lesson.rows, lesson.everything)
        return rule_of(self.margin, self.ties, float(step) if self.fit_intercept else 0.0)

    def _run(
        self,
        lesson: Lesson,
        rule: Settings,
        positive: int | None,
        solution: Last,
        order: str,
        epochs: int,
        updates_at_once: int = 1024,
    ) -> Run:
        """The run of one problem, ready to start."""
        run = Run(
            self._task(lesson, rule, positive),
            solution,
            order=order,
            max_iter=epochs,
            seed=lesson.seed,
            measure=self.measure,
            patience=self.n_iter_no_change,
            updates_at_once=updates_at_once,
            report=partial(say, len(lesson.everything) * self.measure) if self.verbose else None,
        )
        if lesson.held_out is not None:
            run.validate = self._validator(lesson, positive)
        return run

    def _task(self, lesson: Lesson, rule: Settings, positive: int | None) -> Task:
        """What one problem has to learn."""
        examples = Examples(lesson.rows, self._steps(lesson, positive), None)
        if positive is None:
            examples = examples._replace(labels=lesson.codes.astype(np.uint32))
        return Task(examples, lesson.everything, rule)

    def _steps(self, lesson: Lesson, positive: int | None) -> Array:
        """How far each row moves the weights, checked for what the dtype can hold."""
        steps = steps_of(lesson.codes, positive, self.eta0, lesson.weights, lesson.X.dtype)
        used = steps[:1] if lesson.weights is None else steps[lesson.everything]
        if not used.all() or not np.isfinite(used).all():
            raise ValueError(
                f"eta0 times a weight is too small or too large for {steps.dtype}; scale the "
                "weights."
            )
        return steps

    def _validator(self, lesson: Lesson, positive: int | None) -> Any:
        """A function that tells the accuracy of a solution on the rows held out."""
        X, codes = lesson.X[lesson.held_out], lesson.codes[lesson.held_out]
        wanted = codes if positive is None else (codes == positive).astype(np.intp)

        def accuracy(solution: Last) -> float:
            solution.close(lesson.X)
            if isinstance(solution, Vote):
                scores = solution.votes(X, SIGN_OF_ZERO[self.ties])
            else:
                weights, bias = solution.answer()
                scores = X @ weights + bias
            scores = scores if positive is None else scores.ravel()
            return float(np.mean(chosen(scores, self.ties) == wanted))

        return accuracy

    def _keep(self, lesson: Lesson, runs: list[Run]) -> None:
        """Take over what the runs found."""
        solutions = [run.solution for run in runs]
        self.classes_ = lesson.classes
        self._solutions = solutions
        self._answered = None
        self._intercept_step = runs[0].task.rule.intercept_step
        self.n_mistakes_ = sum(solution.mistakes for solution in solutions)
        self.history_ = merged([run.history for run in runs])
        self.n_iter_ = len(self.history_)
        reasons = {run.stop_reason for run in runs}
        self.stop_reason_ = next(
            reason for reason in ("max_iter", "no_improvement", "separated") if reason in reasons
        )


@contextmanager
def explained(lesson: Lesson) -> Iterator[None]:
    """Turn an activation that is not finite into a sentence on why."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except NotFiniteError as stop:
        refuse_not_finite(lesson.X[[stop.row]], stop.row)
        raise overflow(lesson.X.dtype) from None


def refuse_not_finite(X: Any, first_row: int = 0) -> None:
    """Raise when X has NaN or infinity, and say where."""
    where = first_not_finite(X)
    if where is not None:
        row, column = where
        what = "NaN" if np.isnan(X[row, column]) else "infinity (inf)"
        raise ValueError(
            f"Input X contains {what} in row {first_row + row}, column {column}; remove or impute "
            "such values first."
        )


def overflow(dtype: Any) -> ValueError:
    """What to say when weights are no longer finite."""
    wider = " or use float64" if dtype == np.float32 else ""
    return ValueError(
        f"The weights grew beyond what {dtype} can hold (infinity); scale X down{wider}."
    )


def seed_of(random_state: Any) -> int:
    """A number that decides the permutations: an int is its own seed."""
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def positive_number(value: Any) -> bool:
    """Whether a parameter is a finite number above 0."""
    return isinstance(value, Real) and value is not True and 0 < float(value) < np.inf


def whole_number(value: Any) -> bool:
    """Whether a parameter is an integer from 1 up."""
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def initial(values: ArrayLike | None, shape: tuple[int, ...], dtype: Any, name: str) -> Array:
    """Weights to start from: zeros, or what the caller gave."""
    if values is None:
        return np.zeros(shape, dtype)
    array = np.array(values, dtype)
    if array.size != np.prod(shape):
        raise ValueError(f"{name} has shape {array.shape}; this data needs {shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return array.reshape(shape)


def say(measured: int, epoch: Epoch) -> None:
    """Print what happened in an epoch; its errors are among the rows measured, or those met."""
    share, score = epoch.errors / (measured or epoch.rows), epoch.validation_score
    print(
        f"epoch {epoch.epoch:4d}  {epoch.mistakes:8d} mistakes  {share:7.2%} error",
        "" if score is None else f" {score:7.2%} held-out accuracy",
        flush=True,
    )


def restored(path: str | os.PathLike[str], saved: storage.Model) -> Perceptron:
    """The Perceptron that a file holds."""
    width, names = saved.solutions[0].weights.shape[0], saved.features.get("names")
    with understood(path):
        model = Perceptron(**saved.parameters)
        model._check_parameters()
        if names is not None:
            model.feature_names_in_ = feature_names(names, width)
    model.classes_, model._solutions, model._answered = saved.classes, saved.solutions, None
    model._features, model.n_features_in_ = saved.features, width
    model._plain = saved.facts.get("plain") is True
    model._intercept_step = saved.facts.get("intercept_step", 1.0)
    model.n_mistakes_ = sum(solution.mistakes for solution in saved.solutions)
    model.history_, model.n_iter_ = list(saved.history), len(saved.history)
    model.stop_reason_ = saved.facts.get("stop_reason", "max_iter")
    return model


@contextmanager
def understood(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn parameters that this release does not know into a sentence on the file."""
    try:
        yield
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"{path} is no Perceptron of this rosenblatt ({reason}); update or train again."
        ) from None


def feature_names(names: Any, width: int) -> Array:
    """The names of so many features, as scikit-learn keeps them."""
    if len(names) != width or not all(isinstance(name, str) for name in names):
        raise ValueError("its features are not as many names as weights")
    return np.array(names, object)


class Step(NamedTuple):
    """One update, as the textbook would write it down.

    Attributes
    ----------
    epoch, position, row : int
        When it happened: the epoch from 1, the place in its order and the row of X, both from 0.
    label, rival : object
        The row's label; with over two classes also the wrong one that was moved away, else None.
    activation : float
        w·x + b before the update; with over two classes, the lead of the right class.
    loss : float
        What this row adds to J: -y·activation, or 0 when it is on the right side.
    weights, bias : ndarray
        Before the update.
    new_weights, new_bias : ndarray
        After the update, in the shapes of ``coef_`` and ``intercept_`` (one row for two classes).
    cosine, new_cosine : float
        Of the angle between x and the (right class's) weights before and after; NaN at zero.
    """

    epoch: int
    position: int
    row: int
    label: Any
    rival: Any
    activation: float
    loss: float
    weights: Array
    bias: Array
    new_weights: Array
    new_bias: Array
    cosine: float
    new_cosine: float


def steps(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    coef_init: ArrayLike | None = None,
    intercept_init: ArrayLike | None = None,
    **parameters: Any,
) -> Iterator[Step]:
    """Train a Perceptron and yield a record of every update, from the same kernels as ``fit``.

    Parameters
    ----------
    X, y, sample_weight, coef_init, intercept_init
        As for ``Perceptron.fit``.
    **parameters
        As for ``Perceptron``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[2.0, 1.0], [-1.0, 1.0]]), [1, -1]
    >>> [step.new_weights.tolist() for step in steps(X, y, order="fixed")]
    [[[2.0, 1.0]], [[3.0, 0.0]]]
    """
    model = Perceptron(**parameters)
    model._check_parameters()
    X, y = model._check_rows(X, y, reset=True)
    lesson = model._lesson(X, *model._encode(y), sample_weight)
    problems = model._problems(lesson.classes)
    if model.early_stopping:
        raise ValueError("steps goes through all rows; early_stopping would hold some out.")
    if len(problems) > 1:
        raise ValueError('steps follows one problem; give y == label instead of multi_class="ovr".')
    (solution,) = model._starting_at(lesson, coef_init, intercept_init)
    rule = model._rule(lesson)
    run = model._run(lesson, rule, problems[0], solution, model.order, model.max_iter, 1)
    before = solution.weights.copy(), solution.bias.copy()
    with explained(lesson):
        for order, _ in run.updates():
            yield step_record(lesson, run, int(order[run.log[0]["position"]]), *before)
            before = solution.weights.copy(), solution.bias.copy()


def step_record(lesson: Lesson, run: Run, row: int, weights: Array, bias: Array) -> Step:
    """Write down the update that a run has just made on a row."""
    position, rival, margin, _ = run.log[0].item()
    code, two = lesson.codes[row], run.task.examples.labels is None
    new_weights, new_bias = run.solution.weights.copy(), run.solution.bias.copy()
    x = lesson.X[[row]]
    x = np.asarray(x.toarray() if hasattr(x, "toarray") else x).ravel()
    of_label = ... if two else (slice(None), code)
    return Step(
        epoch=run.epoch,
        position=position,
        row=row,
        label=lesson.classes[code],
        rival=None if two else lesson.classes[rival],
        activation=-margin if two and code == 0 else margin,
        loss=max(-margin, 0.0),
        weights=np.atleast_2d(weights.T),
        bias=bias,
        new_weights=np.atleast_2d(new_weights.T),
        new_bias=new_bias,
        cosine=cosine(weights[of_label], x),
        new_cosine=cosine(new_weights[of_label], x),
    )


def cosine(w: Array, x: Array) -> float:
    """Of the angle between two vectors; NaN when one is zero."""
    norms = float(np.linalg.norm(w)) * float(np.linalg.norm(x))
    return float(np.clip(w @ x / norms, -1, 1)) if norms else float("nan")

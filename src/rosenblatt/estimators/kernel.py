"""The kernel perceptron as a scikit-learn estimator."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.labels import refuse_one_class, rows_that_count
from ..data.rows import Array, refuse_not_finite
from ..learners.dual.budget import SQUARED, BudgetedTask
from ..learners.dual.device import (
    DeviceScorer,
    DeviceTask,
    checked_there,
    like,
    lives_there,
    on_card,
    on_host,
    rows_there,
)
from ..learners.dual.forms import AllClasses, EachClass
from ..learners.dual.gram import ROWS_AT_ONCE, Gram, gamma_of, parts, scores_overflow
from ..learners.dual.state import DualState
from ..learners.dual.task import DualTask
from ..learners.dual.unbounded import GrowingTask
from ..parameters import KERNEL, SIGN_OF_ZERO, ParameterError, check, check_ties, finite_number
from ..storage.model import Model
from ..training.history import History
from ..training.report import bar_of_epochs
from ..training.rules import PERCEPTRON
from ..training.run import Run
from ..training.solutions import chosen
from .base import OnlineClassifier, canonical, seed_of


class KernelPerceptron(OnlineClassifier):
    """Learn a boundary that is linear in the feature space of a kernel, by correcting mistakes.

    The dual form of Freund & Schapire (1999), an idea of Aizerman, Braverman & Rozonoer (1964). The
    updates are those of the algorithm that takes one row at a time, at the speed of matrix
    products.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"} or callable, default="rbf"
        K(x, x'). A callable takes two blocks of rows and returns the matrix of their values; with
        "precomputed", X is such a matrix, of all rows with the training rows.
    degree : float, default=3
        Of the polynomial (gamma·x·x' + coef0)^degree.
    gamma : float, "scale", "auto" or None, default="scale"
        Of exp(-gamma·‖x - x'‖²), the polynomial and tanh(gamma·x·x' + coef0). "scale" is
        1/(n_features·X.var()), for ``partial_fit`` of the first batch; "auto" and None are
        1/n_features.
    coef0 : float, default=1.0
        Of the polynomial and the sigmoid.
    solution : {"last", "average", "vote"}, default="last"
        Which function predicts: the last one; the average over all rows seen; the majority vote of
        all there were. It may be changed after ``fit``, unless there is a budget.
    normalize : bool, default=False
        Whether the last function, or each one in the average, is divided by its norm.
    order : {"each", "once", "fixed"}, default="each"
        A fresh permutation each epoch; one permutation, kept; as given.
    margin : float, default=0.0
        Update when y·activation <= margin; with several classes, when the lead is.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and say what is predicted there too.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    intercept_step : float or "radius", default=1.0
        A mistake moves the bias by y times this. "radius" is R², the largest K(x, x).
    multi_class : {"ovr", "argmax"}, default="ovr"
        With over two classes: one two-class problem per class, all in one pass over the kernel
        values; or all together, adding to the right class and subtracting from the best wrong one.
    max_iter : int, default=100
        The most epochs.
    budget : int or None, default=None
        The most support rows, B. Memory is then constant, also on endless streams.
    budget_policy : {"projectron", "forgetron", "random", "stop"}, default="projectron"
        What a mistake does when the support is full: its projection onto the support is added; the
        oldest or a random row makes room; nothing more is learnt.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they scale the steps.
    cache_size : float, default=200
        Megabytes for blocks of kernel values. They never change the result.
    device : {"cpu", "cuda"} or None, default=None
        Where to learn and predict; None is where X is. Arrays of CuPy, PyTorch and others that live
        on a GPU are taken as they are. A GPU makes the very same updates (exactly on integers, up
        to the order of sums on other numbers); a budget is kept on the CPU only.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and which rows make room. The same number gives the same model.
    verbose : int, default=0
        Whether to show progress, mistakes and the size of the support.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, the larger is the positive one.
    support_ : ndarray of shape (n_support,)
        The numbers of the rows once mistaken, in the order of their first mistake; counted over all
        calls of ``partial_fit``.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features)
        These rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients: αᵢyᵢ for two classes. With ``solution="vote"`` the last ones.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    gamma_ : float
        The parameter gamma as a number; of a kernel without, "scale" is 1.
    n_mistakes_ : int
        Updates made, over all one-vs-rest problems and calls of ``partial_fit``.
    n_iter_ : int
        Epochs gone through.
    stop_reason_ : {"separated", "max_iter", "budget", "zero_weights"}
        Why training ended; "zero_weights" as in ``Perceptron``.
    history_ : list of Epoch
        One record per epoch: rows, mistakes, errors (J₁), loss (J).

    See Also
    --------
    Perceptron : Without a kernel, for many more rows.
    PerceptronNetwork : The other road past a line.

    References
    ----------
    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3), 277-296.

    Aizerman, Braverman & Rozonoer (1964), "Theoretical foundations of the potential function method
    in pattern recognition learning", Automation and Remote Control 25, 821-837.

    Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", Journal of Machine
    Learning Research 10, 2643-2666: the projectron.

    Dekel, Shalev-Shwartz & Singer (2008), "The forgetron: a kernel-based perceptron on a budget",
    SIAM Journal on Computing 37(5), 1342-1372.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(X, y)
    >>> model.stop_reason_, model.n_mistakes_, model.predict(X).tolist()
    ('separated', 21, [0, 1, 1, 0])
    """

    _parameters = KERNEL
    _state: DualState
    _gram: Gram
    _intercept_step: float
    _together: bool
    _policy: str | None
    """The budget's, as of the first row."""
    _gamma_given: float | str | None
    """The parameter, as of the first row."""

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], ArrayLike] = "rbf",
        *,
        degree: float = 3,
        gamma: float | str | None = "scale",
        coef0: float = 1.0,
        solution: str = "last",
        normalize: bool = False,
        order: str = "each",
        margin: float = 0.0,
        ties: str = "mistake",
        fit_intercept: bool = True,
        intercept_step: float | str = 1.0,
        multi_class: str = "ovr",
        max_iter: int = 100,
        budget: int | None = None,
        budget_policy: str = "projectron",
        class_weight: dict[Any, float] | str | None = None,
        cache_size: float = 200,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.solution = solution
        self.normalize = normalize
        self.order = order
        self.margin = margin
        self.ties = ties
        self.fit_intercept = fit_intercept
        self.intercept_step = intercept_step
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.budget = budget
        self.budget_policy = budget_policy
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X and y until a pass is clean or ``max_iter`` epochs are over.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or with ``kernel="precomputed"`` their Gram matrix.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the steps, and a row of weight 0 is never seen.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters()
        with self._unchanged_by_errors():
            self._train(*self._prepare(X, y, sample_weight), self.order, self.max_iter)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows, once and in their order.

        However the rows of a pass are cut into batches, the model is the same; but the default
        ``gamma="scale"`` is that of the first batch, which should be like those to come. Give a
        number where it must not depend on the cut.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters("batch")
        first = not self.__sklearn_is_fitted__()
        with self._unchanged_by_errors():
            X, y = self._checked(X, y, reset=first)
            known = self._known_classes(classes, first)
            codes = self._number(y, known)
            weights = self._weigh(known, codes, sample_weight)
            if first:
                self._start(X, known, rows_that_count(codes, weights))
            self._check_going_on()
            self._intercept_step = float(self.intercept_step) if self.fit_intercept else 0.0
            self._train(like(self._state.support, X), codes, weights, "fixed", 1)
            self.stop_reason_ = "max_iter"  # a clean batch proves nothing about the others
        return self

    def decision_function(self, X: Any) -> Array:
        """Score rows: the signed activation, or with ``solution="vote"`` the share of votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. Scores are not probabilities.
        """
        if self._is_on_gpu(X):
            return self._finished(self._scores_on_gpu(self._rows_to_score(X)))
        X = self._rows_to_score(X)
        at_once = ROWS_AT_ONCE
        if self.solution == "vote":  # needs a row's kernel values with the whole support
            room = self.cache_size * 2**20 / (24 * max(len(self.support_), 1))
            at_once = min(at_once, max(int(room), 1))
        blocks = [
            self._scores(X[begin : begin + at_once]) for begin in range(0, X.shape[0], at_once)
        ]
        return self._finished(np.concatenate(blocks))

    def _finished(self, scores: Array) -> Array:
        """Scores of all rows, if they are finite; of two classes as one list."""
        finite = np.isfinite(scores).reshape(len(scores), -1).all(axis=1)
        if not finite.all():
            raise scores_overflow(int(np.argmin(finite)))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel values with all training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of ``classes_``, the one with the highest score.
        """
        scores = self.decision_function(X)
        return self.classes_[chosen(scores, self.ties)]

    @property
    def support_(self) -> Array:
        """The numbers of the rows once mistaken."""
        check_is_fitted(self)
        return self._state.numbers

    @property
    def support_vectors_(self) -> Any:
        """The rows once mistaken."""
        check_is_fitted(self)
        return self._state.support

    @property
    def dual_coef_(self) -> Array:
        """The coefficients of the support rows, one line per class or one for two classes."""
        return self._coefficients()[0]

    @property
    def intercept_(self) -> Array:
        """The biases."""
        return self._coefficients()[1]

    @property
    def gamma_(self) -> float:
        """The parameter gamma as a number."""
        check_is_fitted(self)
        return self._gram.gamma

    @property
    def n_mistakes_(self) -> int:
        """Updates made."""
        check_is_fitted(self)
        return self._state.mistakes

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # What comes in

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """X as a float array or CSR matrix that is finite, y as a list of labels."""
        y = on_host(y) if lives_there(y) else y
        if lives_there(X) and self._is_on_gpu(X):
            X = checked_there(X, self, None if reset else self._state.support.dtype)
            y = self._check_labels(y, X.shape[0])
        else:
            X = on_host(X) if lives_there(X) else X
            X, y = self._check_rows(X, y, reset, None if reset else self._state.support.dtype)
            X = canonical(X)
            X = rows_there(X) if self._is_on_gpu(X) else X
        refuse_not_finite(X)
        return X, y

    def _is_on_gpu(self, X: Any) -> bool:
        """Whether to learn from X, or score it, on a GPU."""
        return self.device == "cuda" or (self.device is None and lives_there(X))

    def _rows_to_score(self, X: Any) -> Any:
        if not lives_there(X):
            return super()._rows_to_score(X)
        check_is_fitted(self)
        if not self._is_on_gpu(X):
            return super()._rows_to_score(on_host(X))
        X = checked_there(X, self, self._state.support.dtype)
        refuse_not_finite(X)
        return X

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, Array, Array | None]:
        """Begin a model; X, the number of each row's class and the weights of the rows."""
        X, y = self._checked(X, y, reset=True)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed Gram matrix has as many columns as rows; X has shape {X.shape}."
            )
        classes, codes = self._encode(y)
        weights = self._weigh(classes, codes, sample_weight)
        counting = rows_that_count(codes, weights)
        refuse_one_class(codes, counting)
        self._start(X, classes, counting)
        return X, codes, weights

    def _check_going_on(self) -> None:
        """Refuse to learn on in another form than the model was begun in."""
        state, budget = self._state, self.budget
        size = len(state.numbers)
        squared = size if budget is not None and self.budget_policy in SQUARED else 0
        fitting = self._together == (self._problems(self.classes_) == [None])
        fitting &= len(state.ages) == (0 if budget is None else size) and size <= (budget or size)
        fitting &= state.matrix.shape == (squared, squared)
        fitting &= self._policy == (None if budget is None else self.budget_policy)
        fitting &= (self.kernel, self.degree, self.coef0, self.gamma) == (
            self._gram.kernel,
            self._gram.degree,
            self._gram.coef0,
            self._gamma_given,
        )
        if not fitting:
            raise ValueError(
                "A model cannot go on or be saved with another kernel, degree, gamma, coef0, "
                "multi_class, budget or budget_policy than it was begun with; set them back or use "
                "a new model."
            )

    def _problems(self, classes: Array) -> list[int | None]:
        """The class that counts as positive in each problem; None for all classes at once."""
        return PERCEPTRON.problems(len(classes), self.multi_class)

    # Training

    def _start(self, X: Any, classes: Array, counting: Array) -> None:
        """Begin a model at zero."""
        self.classes_ = classes
        self._together = self._problems(classes) == [None]
        self._policy = None if self.budget is None else self.budget_policy
        check_ties(self.ties, len(classes), not self._together)
        self._gamma_given = self.gamma
        self._gram = Gram(
            self.kernel, self.degree, gamma_of(self.gamma, self.kernel, X), self.coef0
        )
        step = self.intercept_step
        if step == "radius":
            step = max(
                float(self._gram.diagonal(X, counting[begin : begin + ROWS_AT_ONCE]).max())
                for begin in range(0, len(counting), ROWS_AT_ONCE)
            )
        self._intercept_step = float(step) if self.fit_intercept else 0.0
        outputs = 1 if len(classes) == 2 else len(classes)
        first = on_host(X[:0]) if lives_there(X) else X
        self._state = DualState.empty(outputs, self._gram.pick(first, np.zeros(0, np.int64)))

    def _task(self, X: Any, codes: Array, weights: Array | None) -> DualTask:
        """What there is to learn, from the state as it is."""
        form: EachClass | AllClasses
        codes = codes.astype(np.intp)
        if self._together:
            form = AllClasses(codes, weights)
        else:
            form = EachClass(codes, weights, np.array(self._problems(self.classes_)))
        settings = PERCEPTRON.settings(self._values(), self._intercept_step)
        counting = rows_that_count(codes, weights)
        seed, room = seed_of(self.random_state), self.cache_size * 2**20
        given = self._gram, X, counting, form, settings, self._state, seed, room
        there = self._is_on_gpu(X)
        if self.budget is None:
            return (DeviceTask if there else GrowingTask)(*given)
        if there:
            raise ParameterError(
                'A budget is kept on the CPU only; use {device="cpu"} or leave {budget?} out.'
            )
        return BudgetedTask(*given, budget=self.budget, policy_name=self.budget_policy)

    def _run(self, task: DualTask, order: str, max_iter: int) -> Run:
        """The training of a task, ready to start."""
        return Run(lambda: [task], task.state, History(max_iter), order, task.seed)

    def _train(
        self, X: Any, codes: Array, weights: Array | None, order: str, max_iter: int
    ) -> None:
        """Train from the state as it is, and keep what was learnt."""
        card = on_card() if self._is_on_gpu(X) else nullcontext()
        quiet = np.errstate(over="ignore", invalid="ignore")
        with card, quiet, bar_of_epochs(self.verbose) as tell:
            task = self._task(X, codes, weights)
            run = self._run(task, order, max_iter)
            for _, learnt in run.updates():
                if tell is not None:
                    words = f"{task.state.mistakes:,} mistakes, {task.size:,} support rows"
                    tell(run.epoch, learnt.position / max(len(task.everything), 1), words)
            self._take(task, run)
        self._state = replace(self._state, given=self._state.given + X.shape[0])

    def _take(self, task: DualTask, run: Run) -> None:
        """Take over what a run has come to."""
        self._state = task.finish()
        self._set_history(run.history.epochs, run.history.stop_reason)

    # Prediction

    def _coefficients(self) -> tuple[Array, Array]:
        """The coefficients and biases to predict with, one line per output."""
        check_is_fitted(self)
        self._check_parameters()
        if self._policy is not None:  # whatever is set now
            begun = {"budget": 1, "budget_policy": self._policy, "normalize": False}
            check(self._values() | begun, KERNEL)
        if self.normalize:
            self._check_history()
            return self._state.normalised(self.solution == "average", self._together)
        return self._state.coefficients(self.solution == "average")

    def _check_history(self) -> None:
        """Refuse what needs every mistake after a fit that did not keep them."""
        if len(self._state.updates.rows) < self._state.mistakes:
            raise ValueError(
                "Votes and norms need every mistake there was, and this model was fitted with a "
                "budget; fit it with budget=None."
            )

    def _scores(self, rows: Any) -> Array:
        """The score of every output for some rows."""
        state, gram = self._state, self._gram
        slices = parts(len(state.numbers), self.n_features_in_, self.cache_size * 2**20)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.solution == "vote":
                self._check_parameters()
                self._check_history()
                blocks = [gram(state.support[part], rows) for part in slices]
                products = np.concatenate([np.empty((0, rows.shape[0])), *blocks])
                return state.votes(products, self._together, SIGN_OF_ZERO[self.ties])
            coef, bias = self._coefficients()
            scores = np.zeros((len(bias), rows.shape[0]))
            for part in slices:
                scores += coef[:, part] @ gram(state.support[part], rows)
            return np.asarray(scores.T + bias)

    def _scores_on_gpu(self, X: Any) -> Array:
        """The score of every output for all rows."""
        with on_card(), np.errstate(over="ignore", invalid="ignore"):
            scorer = DeviceScorer(self._gram, self._state)
            if self.solution == "vote":
                self._check_parameters()
                self._check_history()
                return scorer.votes(X, self._together, SIGN_OF_ZERO[self.ties])
            return scorer.scores(X, *self._coefficients())

    # In a file

    def _model(self) -> Model:
        self._check_parameters()
        self._check_going_on()
        if callable(self.kernel):
            raise ValueError(
                "A model file holds numbers and no code, so that a kernel function cannot be saved;"
                ' use a kernel by name or "precomputed".'
            )
        facts = {
            "stop_reason": self.stop_reason_,
            "intercept_step": self._intercept_step,
            "gamma": self._gram.gamma,
            "together": self._together,
            "width": self.n_features_in_,
        }
        kept = self._values(), self.classes_, [self._state], self._feature_names()
        return Model(type(self).__name__, *kept, facts, self.history_)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored, facts = cls(**model.parameters), model.facts
        restored._restore(model, facts["width"])
        for name in ("gamma", "intercept_step"):
            if not finite_number(facts.get(name)):
                raise ValueError(f"its {name} is no number")
        kernel = restored.kernel, restored.degree, float(facts["gamma"]), restored.coef0
        restored._gram = Gram(*kernel)
        restored._intercept_step = float(facts["intercept_step"])
        restored._together = facts.get("together") is True
        restored._policy = None if restored.budget is None else restored.budget_policy
        restored._gamma_given = restored.gamma
        (restored._state,) = model.states
        restored._check_going_on()
        if (restored.kernel == "precomputed") != (restored._state.support.ndim == 1):
            raise ValueError("its kernel is not that of its support")
        return restored


def follow(model: KernelPerceptron, X: Any, y: ArrayLike) -> tuple[DualTask, Run]:
    """The run that ``fit`` would make, ready to be gone through epoch by epoch, and its task."""
    model._check_parameters()
    task = model._task(*model._prepare(X, y, None))
    return task, model._run(task, model.order, model.max_iter)

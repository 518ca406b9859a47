"""The kernel perceptron as a scikit-learn estimator."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array, refuse_not_finite
from ..data.weights import refuse_one_class, rows_that_count
from ..learners.dual.device import check_on_gpu, is_on_gpu, like, on_host, rows_to_gpu
from ..learners.dual.learner import DualExamples, DualLearner, runs_on_gpu
from ..parameters import KERNEL
from ..storage.model import Model
from ..training.bars import show_epochs
from .base import OnlineClassifier, canonical, make_seed
from .constructors import estimator, positional


class FittedKernel(OnlineClassifier):
    """What a kernel perceptron keeps besides its parameters."""

    _parameters = KERNEL
    _learner: DualLearner


@estimator
class KernelPerceptron(FittedKernel):
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

    kernel: str | Callable[[Any, Any], ArrayLike] = positional("rbf")
    degree: float = 3
    gamma: float | str | None = "scale"
    coef0: float = 1.0
    solution: str = "last"
    normalize: bool = False
    order: str = "each"
    margin: float = 0.0
    ties: str = "mistake"
    fit_intercept: bool = True
    intercept_step: float | str = 1.0
    multi_class: str = "ovr"
    max_iter: int = 100
    budget: int | None = None
    budget_policy: str = "projectron"
    class_weight: Mapping[Any, float] | str | None = None
    cache_size: float = 200
    device: str | None = None
    random_state: Any = None
    verbose: int = 0

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
            learner, examples = self._prepare(X, y, sample_weight)
            self._train(learner, examples, self.order, self.max_iter)
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
                counting = rows_that_count(codes, weights)
                learner = DualLearner.begin(self._values(), known, X, counting)
            else:
                learner = self._learner.with_parameters(self._values())
            examples = DualExamples(like(learner.state.support, X), codes, weights)
            self._train(learner, examples, "fixed", 1)
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
        return self._current().score_matrix(self._rows_to_score(X))

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
        return np.asarray(self.classes_[self._learner.choose(scores)])

    @property
    def support_(self) -> Array:
        """The numbers of the rows once mistaken."""
        return self._current().state.numbers

    @property
    def support_vectors_(self) -> Any:
        """The rows once mistaken."""
        return self._current().state.support

    @property
    def dual_coef_(self) -> Array:
        """The coefficients of the support rows, one line per class or one for two classes."""
        return self._current().coefficients()[0]

    @property
    def intercept_(self) -> Array:
        """The biases."""
        return self._current().coefficients()[1]

    @property
    def gamma_(self) -> float:
        """The parameter gamma as a number."""
        return self._current().gram.gamma

    @property
    def n_mistakes_(self) -> int:
        """Updates made."""
        return self._current().state.mistakes

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # What comes in

    def _current(self) -> DualLearner:
        """The learner, with the parameters as they are now: some may change after ``fit``."""
        check_is_fitted(self)
        self._learner.parameters = self._values()
        return self._learner

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """X as a float array or CSR matrix that is finite, y as a list of labels."""
        y = on_host(y) if is_on_gpu(y) else y
        dtype, on_gpu = None if reset else self._learner.state.support.dtype, self._is_on_gpu(X)
        if is_on_gpu(X) and on_gpu:
            X = check_on_gpu(X, self, dtype)
            y = self._check_labels(y, X.shape[0])
        else:
            X = on_host(X) if is_on_gpu(X) else X
            X, y = self._check_rows(X, y, reset, dtype)
            X = canonical(X)
            X = rows_to_gpu(X) if on_gpu else X
        refuse_not_finite(X)
        return X, y

    def _is_on_gpu(self, X: Any) -> bool:
        """Whether to learn from X, or score it, on a GPU."""
        return runs_on_gpu(self._values(), X)

    def _rows_to_score(self, X: Any) -> Any:
        if not is_on_gpu(X):
            return super()._rows_to_score(X)
        if not self._is_on_gpu(X):
            return super()._rows_to_score(on_host(X))
        X = check_on_gpu(X, self, self._learner.state.support.dtype)
        refuse_not_finite(X)
        return X

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[DualLearner, DualExamples]:
        """An untrained learner and its examples."""
        X, y = self._checked(X, y, reset=True)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed Gram matrix has as many columns as rows; X has shape {X.shape}."
            )
        classes, codes = self._encode(y)
        weights = self._weigh(classes, codes, sample_weight)
        counting = rows_that_count(codes, weights)
        refuse_one_class(codes, counting)
        learner = DualLearner.begin(self._values(), classes, X, counting)
        return learner, DualExamples(X, codes, weights)

    def _train(self, learner: DualLearner, examples: DualExamples, order: str, epochs: int) -> None:
        """Train, and keep the learner."""
        with show_epochs(self.verbose) as progress:
            seed = make_seed(self.random_state)
            history = learner.fit(examples, order, epochs, seed, progress)
        self._learner, self.classes_ = learner, learner.classes
        self._set_history(history.epochs, history.stop_reason)

    # In a file

    def _model(self) -> Model:
        self._check_parameters()
        learner = replace(self._current(), features=self._feature_names())
        return learner.to_model({"stop_reason": self.stop_reason_}, self.history_)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored = cls(**model.parameters)
        restored._restore(model, model.facts["width"])
        learner = DualLearner.from_model(model._replace(parameters=restored._values()))
        restored._learner = learner
        return restored

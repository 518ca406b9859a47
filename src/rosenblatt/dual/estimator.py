"""The kernel perceptron as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.labels import count_classes
from ..data.rows import Array, refuse_not_finite, to_canonical
from ..data.weights import refuse_one_class, rows_that_count
from ..estimators.base import RowClassifier, make_seed, unchanged_by_errors
from ..estimators.constructors import estimator, positional
from ..training.bars import show_epochs
from .device import check_on_gpu, is_on_gpu, rows_to_gpu, to_host
from .learner import DualLearner, runs_on_gpu
from .parameters import CONFLICTS, PARAMETERS


@estimator
class KernelPerceptron(RowClassifier[DualLearner]):
    """Kernel perceptron: a boundary that is linear in the feature space of a kernel.

    The dual form of Freund & Schapire (1999), an idea of Aizerman, Braverman & Rozonoer (1964). It
    makes the updates of the algorithm that learns row by row, at the speed of matrix products.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "sigmoid", "precomputed"}, default="rbf"
        The kernel K(x, x'). With "precomputed", X is the matrix of kernel values with the training
        rows.
    degree : float, default=3
        Degree > 0 of the polynomial kernel (gamma·x·x' + coef0)^degree.
    gamma : float, "scale", "auto" or None, default="scale"
        Factor of exp(-gamma·‖x - x'‖²), of the polynomial kernel and of tanh(gamma·x·x' + coef0).
        "scale" means 1/(n_features·X.var()), in ``partial_fit`` of the first batch; "auto" and None
        mean 1/n_features.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    solution : {"last", "average", "vote"}, default="last"
        The function to predict with: the last one; the average over all rows; or a majority vote of
        all functions. It may be changed after ``fit``, unless there is a budget.
    order : {"each", "once", "fixed"}, default="each"
        The order of the rows: a new permutation each epoch; one for all epochs; as given.
    margin : float, default=0.0
        Margin ≥ 0. A row causes an update if y·activation <= margin; with several classes, if the
        lead of the right class is at most ``margin``.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    max_iter : int, default=100
        Largest number of epochs.
    budget : int or None, default=None
        Largest number of support rows, which bounds the memory on endless streams: when it is
        reached, a mistake adds the projection of its row onto the span of the support. None means
        no limit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which scale the updates. "balanced" weights classes by their rarity:
        in ``fit`` among all rows, in ``partial_fit`` among the rows so far.
    device : {"cpu", "cuda"} or None, default=None
        Where to learn and predict; None means where X is. Arrays on a GPU (CuPy, PyTorch and
        others) are used without a copy. A GPU makes the same updates: exactly on integers, up to
        the order of sums on other numbers. A budget needs the CPU.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the rows to remove. The same integer gives the same model.
    ties : {"mistake", "positive", "negative", "correct"}, default="mistake"
        What an activation of exactly 0 counts as. "positive" and "negative" need two classes or
        one-vs-rest, and also decide the prediction.
    intercept_step : float or "radius", default=1.0
        A mistake moves the bias by y times this number. "radius" means R², the largest K(x, x).
    multi_class : {"ovr", "argmax"}, default="ovr"
        How to learn over two classes: "ovr" trains one two-class problem per class, all in one pass
        over the kernel values; "argmax" adds a row to the right class and subtracts it from the
        best wrong class.
    verbose : int, default=0
        Whether to show a progress bar with mistakes and support rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. With two classes, the second is the positive one.
    support_ : ndarray of shape (n_support,)
        The numbers of the support rows, in the order of their first mistake, counted over all calls
        of ``partial_fit``.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features)
        The support rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        The coefficients of the support rows: αᵢyᵢ for two classes. With ``solution="vote"`` the
        last ones.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The biases.
    gamma_ : float
        The value of the parameter gamma; 1 for "scale" with a kernel that has none.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class in ``fit``, or in all calls of ``partial_fit``.
    n_mistakes_ : int
        Number of updates, over all one-vs-rest problems and calls of ``partial_fit``.
    n_iter_ : int
        Number of epochs.
    stop_reason_ : {"separated", "max_iter", "zero_weights"}
        Why training ended; "zero_weights" as in ``Perceptron``.
    history_ : list of Epoch
        A record of each epoch: rows, mistakes, errors (J₁), loss (J).

    See Also
    --------
    Perceptron : Without a kernel, for many more rows.
    PerceptronNetwork : Another classifier with curved boundaries.

    References
    ----------
    Freund & Schapire (1999), "Large margin classification using the perceptron algorithm", Machine
    Learning 37(3), 277-296.

    Aizerman, Braverman & Rozonoer (1964), "Theoretical foundations of the potential function method
    in pattern recognition learning", Automation and Remote Control 25, 821-837.

    Orabona, Keshet & Caputo (2009), "Bounded kernel-based online learning", Journal of Machine
    Learning Research 10, 2643-2666: the projectron.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, random_state=0).fit(X, y)
    >>> model.stop_reason_, model.n_mistakes_, model.predict(X).tolist()
    ('separated', 21, [0, 1, 1, 0])
    """

    _parameters = PARAMETERS
    _conflicts = CONFLICTS
    _learner_class = DualLearner

    kernel: str = positional("rbf")
    degree: float = 3
    gamma: float | str | None = "scale"
    coef0: float = 1.0
    solution: str = "last"
    order: str = "each"
    margin: float = 0.0
    ties: str = "mistake"
    fit_intercept: bool = True
    intercept_step: float | str = 1.0
    multi_class: str = "ovr"
    max_iter: int = 100
    budget: int | None = None
    class_weight: Mapping[Any, float] | str | None = None
    device: str | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows and labels, until a pass is without mistakes or for ``max_iter``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or with ``kernel="precomputed"`` their Gram matrix.
        y : array-like of shape (n_samples,)
            The labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the updates. Rows of weight 0 are ignored.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters()
        with unchanged_by_errors(self):
            X, y = self._check_input(X, y, reset=True)
            if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"A precomputed Gram matrix must be square; X has shape {X.shape}."
                )
            classes, codes = self._encode(y)
            weights = self._weigh(classes, codes, sample_weight)
            counting = rows_that_count(codes, weights)
            self.class_count_ = count_classes(codes[counting], len(classes))
            refuse_one_class(codes, counting)
            learner = DualLearner.begin(self._values(), classes, X, counting)
            return self._train(learner, self.order, self.max_iter, X, codes, weights)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows once, in their order.

        The model does not depend on how a stream of rows is cut into batches, with one exception:
        the default ``gamma="scale"`` is computed from the first batch. Pass a number to avoid that.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels of the rows.
        classes : array-like of shape (n_classes,), default=None
            All labels to come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters("batch")
        first = not self.__sklearn_is_fitted__()
        with unchanged_by_errors(self):
            X, y = self._check_input(X, y, reset=first)
            known = self._resolve_classes(classes, first)
            codes = self._number(y, known)
            weights = self._weigh_batch(known, codes, sample_weight)
            if first:
                counting = rows_that_count(codes, weights)
                learner = DualLearner.begin(self._values(), known, X, counting)
            else:
                learner = self._learner.with_parameters(self._values())
            self._train(learner, "fixed", 1, X, codes, weights)
            self.stop_reason_ = "max_iter"  # other batches may still hold mistakes
        return self

    @property
    def support_(self) -> Array:
        """The numbers of the support rows."""
        return np.asarray(self._current().state.numbers)

    @property
    def support_vectors_(self) -> Any:
        """The support rows."""
        return self._current().state.support

    @property
    def dual_coef_(self) -> Array:
        """The coefficients of the support rows: one line per class, or one for two classes."""
        return np.asarray(self._current().coefficients()[0])

    @property
    def intercept_(self) -> Array:
        """The biases."""
        return np.asarray(self._current().coefficients()[1])

    @property
    def gamma_(self) -> float:
        """The parameter gamma as a number."""
        return float(self._current().gram.gamma)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _current(self) -> DualLearner:
        """Return the learner with the present parameters: some may change after ``fit``."""
        check_is_fitted(self)
        self._learner.parameters = self._values()
        return self._learner

    def _check_input(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """Return X as a finite float array or CSR matrix, here or on a GPU, and y as an array."""
        y = to_host(y) if is_on_gpu(y) else y
        dtype = None if reset else self._learner.state.support.dtype
        on_gpu = runs_on_gpu(self._values(), X)
        if is_on_gpu(X) and on_gpu:
            X = check_on_gpu(X, self, dtype)
            y = self._check_labels(y, X.shape[0])
        else:
            X = to_host(X) if is_on_gpu(X) else X
            X, y = self._check_rows(X, y, reset, dtype)
            X = to_canonical(X)
            X = rows_to_gpu(X) if on_gpu else X
        refuse_not_finite(X)
        return X, y

    def _rows_to_score(self, X: Any) -> Any:
        if not is_on_gpu(X):
            return to_canonical(super()._rows_to_score(X))
        if not runs_on_gpu(self._values(), X):
            return to_canonical(super()._rows_to_score(to_host(X)))
        X = check_on_gpu(X, self, self._learner.state.support.dtype)
        refuse_not_finite(X)
        return X

    def _train(self, learner: DualLearner, order: str, max_iter: int, *examples: Any) -> Self:
        """Train a learner and become its estimator."""
        with show_epochs(self.verbose) as progress:
            run = learner.fit(order, max_iter, make_seed(self.random_state), progress, *examples)
        counts = {"class_rows": self.class_count_.tolist()}
        self.take_over(learner, run.epochs, run.stop_reason, counts)
        return self

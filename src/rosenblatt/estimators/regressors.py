"""Linear regressors: models that predict numbers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array
from ..data.targets import NumberTarget
from ..parameters import ANY_NUMBER_RULE, InputError
from .base import unchanged_by_errors, when_conformal
from .constructors import estimator, positional
from .docstrings import described_as
from .linear_base import LinearEstimator
from .one_row import make_row
from .perceptron import Perceptron

SMALL_STEP = 100  # times C, which limits a step: errors below it are no sign of large numbers
HARDLY_LESS = 0.9  # of the error of the median

if TYPE_CHECKING:

    class RegressorMixin:
        """As in scikit-learn."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

else:
    from sklearn.base import RegressorMixin


@estimator
class LinearRegressor(RegressorMixin, LinearEstimator):
    """A linear model of numbers; subclasses choose the update rule.

    Its parameters, all by keyword, are described in ``PassiveAggressiveRegressor``.
    """

    _parameters = ANY_NUMBER_RULE

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows and numbers, until a pass is without updates or for ``max_iter``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The number of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the updates. Rows of weight 0 are ignored.
        coef_init, intercept_init : array-like, default=None
            Initial weights and bias; None starts at zero.
        X_val, y_val : array-like, default=None
            Rows and numbers for early stopping, instead of rows that are held out. In a pipeline,
            ``transform_input=["X_val"]`` transforms them as X.

        Returns
        -------
        self
            The fitted regressor.
        """
        self._fit(X, y, sample_weight, (coef_init, intercept_init), (X_val, y_val))
        self._warn_of_small_steps(y)
        return self

    def _warn_of_small_steps(self, y: ArrayLike) -> None:
        """Warn if steps of at most C were too small for numbers as large as those of y."""
        C = getattr(self, "C", None)
        if C is None or getattr(self, "loss", None) == "hard" or not self.history_:
            return
        last = self.history_[-1]
        error = last.loss / max(last.rows, 1)
        if error < SMALL_STEP * C:
            return
        numbers = np.asarray(y, np.float64)
        usual = float(np.abs(numbers - np.median(numbers)).mean())
        if error >= HARDLY_LESS * usual:
            warnings.warn(
                f"{type(self).__name__} hardly learnt: in the last epoch its mean error was "
                f"{error:.5g}, and that of the median for all rows is {usual:.5g}. C = {C:.3g} "
                "limits each step in the unit of y. Scale y, for instance by scikit-learn's "
                "TransformedTargetRegressor, or use rosenblatt.train, which does.",
                stacklevel=3,
            )

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from a batch of rows once, in their order.

        The model does not depend on how a stream of rows is cut into batches. After an error it is
        unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The number of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.

        Returns
        -------
        self
            The fitted regressor.
        """
        return self._fit_batch(X, y, sample_weight)

    def learn_one(self, x: Any, y: float) -> Self:
        """Learn from one row, as ``partial_fit`` does but without the cost of a batch.

        A new model begins with its first row. For rows that are dicts, it adds a column for each
        new name.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row. In a dict, a number is the value of the column with its name, and a string
            ``v`` with the name ``n`` is 1 in the column ``n=v``. Missing columns are 0.
        y : float
            The number of the row.

        Returns
        -------
        self
            The fitted regressor.

        Examples
        --------
        >>> from rosenblatt import PassiveAggressiveRegressor
        >>> model = PassiveAggressiveRegressor(epsilon=0.0)
        >>> model.learn_one({"rooms": 1}, 2.0).learn_one({"rooms": 3}, 5.0)
        PassiveAggressiveRegressor(epsilon=0.0)
        >>> model.predict_one({"rooms": 3})
        5.0
        """
        code = float(self._check_labels([y], 1)[0])
        with unchanged_by_errors(self):
            row = self._ready_row(x, y)
            self._learner.learn_one(row, code)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the number of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The numbers.
        """
        return np.asarray(self._current().choose(self._score(X)))

    def _score(self, X: Any) -> Array:
        """Score rows, in the scale of the codes."""
        X, coef, bias = self._select_columns(self._rows_to_score(X))
        return np.asarray(X @ coef[0] + bias[0])

    @when_conformal
    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Predict for each row an interval that has its number with a stated probability.

        Only with ``calibrate="conformal"``. The coverage holds on average over rows like those
        that ``fit`` held out. On a stream, ``partial_fit`` and ``learn_one`` adapt the intervals
        to every row before they learn it, so that the share of rows outside follows ``coverage``
        even if the data drift. All intervals of a call have the same width.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            The least share of rows whose number is to be in its interval, above 0 and below 1.

        Returns
        -------
        low : ndarray of shape (n_samples,)
            The lower ends of the intervals; infinite if too few rows were held out.
        high : ndarray of shape (n_samples,)
            The upper ends.

        References
        ----------
        Vovk, Gammerman & Shafer (2005), "Algorithmic learning in a random world", Springer.
        Gibbs & Candès (2021), "Adaptive conformal inference under distribution shift", Advances in
        Neural Information Processing Systems 34.
        """
        low, high = self._make_sets(self._score(X), coverage).T
        return low, high

    def predict_one(self, x: Any) -> float:
        """Predict the number of one row, without the cost of a batch.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row; names in a dict that the model does not know are ignored.

        Returns
        -------
        float
            The number; 0 for a model that has not learnt from any row.
        """
        if not self.__sklearn_is_fitted__():
            return 0.0
        return float(self._learner.predict_one(make_row(self, x)))

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        y = super()._check_labels(labels, n_rows)
        try:
            return y.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"{type(self).__name__} learns numbers, but y has labels of type {y.dtype}; use a "
                "classifier, such as PassiveAggressive.",
                code="labels-not-numbers",
            ) from None

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """Return no classes, and the code of each number."""
        target = self._learner.numbers if self.__sklearn_is_fitted__() else NumberTarget()
        return target.classes, target.encode(y)

    def _number(self, y: Array, classes: Array) -> Array:
        return self._encode(y)[1]


@described_as(Perceptron)
@estimator
class PassiveAggressiveRegressor(LinearRegressor):
    """Passive-aggressive regressor: no update for errors up to ε, else the smallest that suffices.

    The rule of Crammer et al. (2006, section 5). It predicts w·x + b. The weight of a row
    multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness C > 0: the largest step with ``loss="epsilon_insensitive"``; larger means
        larger steps with ``loss="squared_epsilon_insensitive"``.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "hard"}, \
default="epsilon_insensitive"
        PA-I, PA-II, or PA without a limit to the step, for numbers without noise.
    epsilon : float, default=0.1
        Error ε ≥ 0 up to which a row causes no update, in the unit of y.
    solution : {"last", "average"}, default="last"
        The weights to predict with: the last ones, or the average over all rows.
    order : {"each", "once", "fixed"}, default="each"
        The order of the rows. "each": a new permutation each epoch; "once": one permutation for all
        epochs; "fixed": as given.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    intercept_step : float or "radius", default=1.0
        An update moves the bias by its step times this number. "radius" means R², the largest
        squared norm of a row; 0 keeps the bias constant at ``intercept_init``.
    max_iter : int, default=10
        Largest number of epochs.
    measure : bool, default=False
        Whether to evaluate all rows after each epoch, to record the loss of the present weights.
    early_stopping : bool or int, default=False
        Whether to hold out a tenth of the rows, stop when their R² has not improved for this number
        of epochs (True: 5), and use the best weights.
    calibrate : {False, "conformal"}, default=False
        Whether to hold out rows for ``predict_interval``, which needs their errors.
        ``partial_fit`` and ``learn_one`` use the errors of rows before they are learnt.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights.
    intercept_ : ndarray of shape (1,)
        The bias.
    n_mistakes_ : int
        Number of updates, over all calls of ``partial_fit`` or warm starts.
    stop_reason_ : {"within_epsilon", "max_iter", "no_improvement"}
        Why training ended; "within_epsilon" means an epoch without updates.
    history_ : list of Epoch
        A record of each epoch: rows, mistakes (updates), errors (rows with an error above ε), loss
        (the sum of what their errors exceed ε by), validation_score (R² of the rows held out).

    See Also
    --------
    Adaline : Steps in proportion to the error.
    PassiveAggressive : The same rule for classes.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online passive-aggressive algorithms",
    Journal of Machine Learning Research 7, 551-585.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PassiveAggressiveRegressor(solution="average", random_state=0)
    >>> round(model.fit(scale(X), y).score(scale(X), y), 2)
    0.51
    """

    C: float = positional(1.0)
    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1


@described_as(PassiveAggressiveRegressor)
@estimator
class Adaline(LinearRegressor):
    """Adaline: steps in proportion to the error, down the gradient of its square.

    The adaptive linear element of Widrow & Hoff (1960), the sibling of the perceptron: its error is
    measured before the threshold. It predicts w·x + b, and each row adds η(y - w·x - b)x / ‖x‖² to
    w. With ``normalized=False`` it is the rule of 1960, which does not divide by ‖x‖²: with η above
    2 / ‖x‖² its weights grow without end, which is refused. The weight of a row multiplies its
    step.

    Parameters
    ----------
    eta0 : float, default=0.1
        Learning rate η > 0; with ``normalized=True``, below 2.
    normalized : bool, default=True
        Whether to divide each step by the squared length of its row and 1 for the bias (normalized
        LMS).

    Attributes
    ----------
    history_ : list of Epoch
        A record of each epoch: rows, mistakes (updates), errors (rows that are not met exactly),
        loss (the sum of absolute errors), validation_score (R² of the rows held out).

    See Also
    --------
    PassiveAggressiveRegressor : Steps as large as a row needs.
    Perceptron : The sibling, for classes.

    References
    ----------
    Widrow & Hoff (1960), "Adaptive switching circuits", IRE WESCON Convention Record 4, 96-104.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Adaline(solution="average", random_state=0)
    >>> round(model.fit(scale(X), y).score(scale(X), y), 2)
    0.51
    """

    eta0: float = positional(0.1)
    normalized: bool = True

"""Linear models of ranks: labels in a stated order, such as stars, grades and severities."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from ..data.labels import check_classes, number_labels, tidy
from ..data.rows import Array
from ..data.targets import score_ranks
from .constructors import estimator, positional
from .docstrings import described_as
from .linear import BaseLinearClassifier
from .perceptron import Perceptron


@described_as(Perceptron)
@estimator
class PRank(BaseLinearClassifier):
    """Ranks: one weight per column, and thresholds that divide w·x into labels in order.

    The perceptron for ranks of Crammer & Singer (2001). A row moves the weights and all thresholds
    that it is on the wrong side of; the thresholds stay in order. If some weights and thresholds of
    length 1 keep a distance γ from all rows, which are at most R long, the sum of the differences
    between predicted and true ranks is at most (k - 1)(R² + 1)/γ² for k ranks. The weight of a row
    multiplies its step.

    Parameters
    ----------
    margin : float, default=0.0
        Margin ≥ 0. A row moves all thresholds that w·x is not this far on the right side of; 0 is
        the rule of the paper.
    ranks : list, tuple, ndarray or None, default=None
        All labels in their order, the lowest first. None sorts the labels of ``fit``, which suits
        numbers; for words, whose alphabetical order is rarely meant, it warns.
    solution : {"last", "average"}, default="last"
        The weights and thresholds to predict with: the last ones, or the average over all rows,
        which is nearly always better.
    order : {"each", "once", "fixed"}, default="each"
        The order of the rows. "each": a new permutation each epoch; "once": one permutation for all
        epochs; "fixed": as given.
    metric : {"rank-error", "error", "log-loss", "auc", "average-precision", "f1", "balanced"}, \
default="rank-error"
        What early stopping compares: the mean difference of ranks, or a metric of classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in their order, the lowest first.
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (n_classes - 1,)
        The thresholds, negated.
    thresholds_ : ndarray of shape (n_classes - 1,)
        What w·x must reach for each rank but the first.
    n_mistakes_ : int
        Number of updates, over all calls of ``partial_fit`` or warm starts.
    stop_reason_ : {"separated", "max_iter", "no_improvement"}
        Why training ended; "separated" means an epoch without updates.
    history_ : list of Epoch
        A record of each epoch: rows, mistakes (updates), errors (rows of a wrong rank), loss (the
        sum of the differences between predicted and true ranks; with ``measure=True``, of the
        distances from the nearest threshold on whose wrong side rows are), validation_score.

    See Also
    --------
    Perceptron : Classes without an order.
    PassiveAggressiveRegressor : Numbers, where equal steps mean the same.

    References
    ----------
    Crammer & Singer (2001), "Pranking with ranking", Advances in Neural Information Processing
    Systems 14, 641-647.

    Examples
    --------
    >>> X = [[1.0], [2.0], [4.0], [5.0], [7.0], [9.0]]
    >>> y = ["low", "low", "medium", "medium", "high", "high"]
    >>> model = PRank(ranks=["low", "medium", "high"], max_iter=100, random_state=0).fit(X, y)
    >>> model.predict([[0.0], [4.5], [8.0]]).tolist()
    ['low', 'medium', 'high']
    """

    margin: float = positional(0.0)
    ranks: Sequence[Any] | None = None
    metric: str = "rank-error"
    class_weight: Mapping[Any, float] | str | None = None

    @property
    def thresholds_(self) -> Array:
        """What w·x must reach for each rank but the first."""
        return -self.intercept_

    def decision_function(self, X: Any) -> Array:
        """Score each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For each rank, the sum of w·x minus the threshold over all thresholds up to it: the
            largest score is that of the predicted rank. For two ranks, w·x minus the threshold.
        """
        return super().decision_function(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes without an order
        return tags

    def _score(self, X: Any) -> Array:
        X, coef, bias = self._select_columns(X)
        return score_ranks(X @ coef[0], bias)

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        kind: Any = getattr(labels, "dtype", None)  # pandas' ordered categories, polars' Enum
        in_order = getattr(kind, "ordered", type(kind).__name__ == "Enum")
        self._order = list(kind.categories) if in_order else None
        return super()._check_labels(labels, n_rows)

    def _ranks(self) -> Any:
        """Return the ranks of the constructor, else those of the labels, if they are in order."""
        return getattr(self, "_order", None) if self.ranks is None else self.ranks

    def _encode(self, y: Array) -> tuple[Array, Array]:
        if self._ranks() is None:
            classes, codes = super()._encode(y)
            if classes.dtype.kind in "OU":
                order = " < ".join(map(str, classes[:5])) + " < …" * (len(classes) > 5)
                warnings.warn(
                    f"The ranks are words in alphabetical order: {order}. Pass all labels in their "
                    "order as ranks.",
                    stacklevel=5,
                )
            return classes, codes
        classes = check_classes(self._ranks(), option="ranks")
        codes = self._number(y, classes)
        if np.all(codes == codes[0]):
            raise ValueError(
                f"y has only the rank {classes[codes[0]]!s}; rows of at least two are needed."
            )
        return classes, codes

    def _number(self, y: Array, classes: Array) -> Array:
        return number_labels(tidy(y), classes, option="ranks")

    def _resolve_classes(self, classes: ArrayLike | None, first: bool) -> Array:
        """Return the ranks of partial_fit; they stay the same."""
        stated = self.ranks if classes is None else classes
        known = self.ranks if first else self.classes_
        if stated is None:
            if first:
                raise ValueError(
                    "The first call of partial_fit needs all labels in their order: pass classes, "
                    "or ranks to the constructor."
                )
            return self.classes_
        ranks = check_classes(np.asarray(stated), option="ranks")
        if known is not None and not np.array_equal(ranks, known):
            raise ValueError(
                f"The model has the ranks {', '.join(map(str, known))}, which cannot change; train "
                "a new one."
            )
        return ranks

    def _first_classes(self, y: Any) -> Array:
        if self.ranks is None:
            raise ValueError(
                "learn_one needs all labels in their order before the first row: pass ranks to the "
                "constructor."
            )
        return check_classes(self.ranks, option="ranks")

"""Linear rankers: models that order the rows of a group by relevance."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import column_or_1d

from ..data.labels import make_labels
from ..data.ranking import RankingTarget, grade, make_keys, mean, measure_groups, refuse_negative
from ..data.rows import Array
from ..parameters import ANY_RANKING_RULE, InputError, ParameterError
from .constructors import estimator, positional
from .docstrings import described_as
from .linear_base import LinearEstimator
from .regressors import PassiveAggressiveRegressor


@estimator
class LinearRanker(LinearEstimator):
    """A linear model that orders rows within groups; subclasses choose the update rule.

    Its parameters, all by keyword, are described in ``PassiveAggressiveRanker``.
    """

    _parameters = ANY_RANKING_RULE
    fit_intercept, intercept_step, calibrate = False, 0.0, False  # a bias would cancel

    solution: str = "average"
    average_decay: float = 0.0
    order: str = "each"
    max_iter: int = 10
    measure: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        eval_set: tuple[Any, ArrayLike, ArrayLike] | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows with their relevance and groups.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The relevance of each row: a larger number means a higher place in its group. NDCG, in
            ``score`` and early stopping, needs numbers from 0 up.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, such as a query, by number or name. Groups need not be adjacent.
            None means that all rows are one group.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the updates. Rows of weight 0 are ignored.
        coef_init : array-like of shape (n_features,), default=None
            Initial weights; None starts at zero.
        eval_set : tuple (X, y, groups), default=None
            Rows for early stopping, instead of groups that are held out.
        qid : array-like of shape (n_samples,), default=None
            The same as ``groups``, by the name that XGBoost uses.

        Returns
        -------
        self
            The fitted ranker.
        """
        codes, held = self._grade(y, groups, qid), None
        if eval_set is not None:
            if not isinstance(eval_set, tuple | list) or len(eval_set) != 3:
                raise ParameterError(
                    "eval_set must be a tuple (X, y, groups) of rows, their relevance and groups.",
                    code="eval-set-form",
                )
            held = eval_set[0], refuse_negative(self._grade(*eval_set[1:], None))
        elif self.early_stopping:
            refuse_negative(codes)
        return self._fit(X, codes, sample_weight, (coef_init, None), held)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of whole groups once, in the order of the rows.

        The model does not depend on how a stream is cut into batches, if no group is cut: rows are
        compared with rows of the same batch only. After an error it is unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The relevance of each row.
        groups : array-like of shape (n_samples,), default=None
            The group of each row; None means that all rows are one group.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.
        qid : array-like of shape (n_samples,), default=None
            The same as ``groups``.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit_batch(X, self._grade(y, groups, qid), sample_weight)

    def predict(self, X: Any) -> Array:
        """Score each row; a higher score means a higher place among the rows of its group.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores, which compare rows of the same group only.
        """
        return np.asarray(self._rows_to_score(X) @ self.coef_[0])

    def score(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Compute the mean NDCG of the groups, as scikit-learn's ``ndcg_score``.

        Groups whose rows all have the same relevance do not count.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The relevance of each row, from 0 up.
        groups, qid : array-like of shape (n_samples,), default=None
            The group of each row, as for ``fit``.

        Returns
        -------
        float
            The mean; NaN if no group counts.
        """
        codes, scores = refuse_negative(self._grade(y, groups, qid)), self.predict(X)
        if len(scores) != len(codes):
            raise ValueError(f"X has {len(scores)} rows and y {len(codes)} numbers.")
        return mean(measure_groups(scores.astype(np.float64), codes).ndcg)

    def _grade(self, y: Any, groups: Any, qid: Any) -> Array:
        """Return the codes of rows: their relevance and the keys of their groups."""
        if groups is not None and qid is not None:
            raise ValueError("groups and qid are the same; give one of them.")
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        y = super()._check_labels(y, len(column_or_1d(make_labels(y))))
        try:
            relevance = y.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"{type(self).__name__} learns from relevance, a number for each row, and y has "
                f"values of type {y.dtype}.",
                code="labels-not-numbers",
            ) from None
        given = np.zeros(len(y), np.int8) if groups is None and qid is None else groups
        names = make_labels(qid if given is None else given, "groups")
        if names.ndim != 1:
            raise ValueError(f"groups should be a 1d array, got one of shape {names.shape}.")
        if len(names) != len(y):
            raise ValueError(f"y has {len(y)} rows and groups {len(names)}; each row needs one.")
        return grade(relevance, make_keys(names))

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        if len(labels) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {len(labels)}; each row needs one.")
        codes: Array = labels
        return codes

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """Return no classes, and the codes."""
        return RankingTarget.classes, y

    def _number(self, y: Array, classes: Array) -> Array:
        return y

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@described_as(PassiveAggressiveRegressor)
@estimator
class PassiveAggressiveRanker(LinearRanker):
    """Passive-aggressive ranker: the smallest step after which a pair is in order with margin 1.

    In each epoch, every row is compared with one row of another relevance in its group, drawn at
    random. If the score w·x of the more relevant row does not exceed that of the other by 1, the
    rule of Crammer et al. (2006) moves w along the difference of the two rows. The weight of a row
    multiplies C.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness C > 0: the largest step with ``loss="hinge"``; larger means larger steps with
        ``loss="squared_hinge"``.
    loss : {"hinge", "squared_hinge", "hard"}, default="hinge"
        PA-I, PA-II, or PA without a limit to the step, for data without noise.
    solution : {"last", "average"}, default="average"
        The weights to predict with: the last ones, or the average over all rows.
    measure : bool, default=False
        Whether to evaluate all pairs after each epoch, to record the loss of the present weights.
    early_stopping : bool, default=False
        Whether to hold out groups, stop when their NDCG no longer improves, and use the best
        weights.
    validation_fraction : float, default=0.1
        Share of the groups to hold out, in (0, 1).
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the groups held out. The same integer gives the same model.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (1,)
        0: a bias would move all scores of a group alike.
    stop_reason_ : {"ordered", "max_iter", "no_improvement"}
        Why training ended; "ordered" means that all pairs are in order, with the margin.
    history_ : list of Epoch
        A record of each epoch: rows, mistakes (updates), errors (drawn pairs in the wrong order),
        loss (the sum of how far these are from it), validation_score (NDCG of the groups held out).

    See Also
    --------
    PerceptronRanker : Steps of constant size.
    PassiveAggressive : The same rule for classes.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), "Online passive-aggressive algorithms",
    Journal of Machine Learning Research 7, 551-585.

    Sculley (2009), "Large scale learning to rank", NIPS Workshop on Advances in Ranking: pairs
    that are drawn, not enumerated.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 0.0], [1.0, 1.0], [9.0, 1.0], [8.0, 2.0], [7.0, 0.0]]
    >>> relevance, queries = [2, 1, 0, 2, 1, 0], [1, 1, 1, 2, 2, 2]
    >>> model = PassiveAggressiveRanker(random_state=0).fit(X, relevance, queries)
    >>> model.score(X, relevance, queries)
    1.0
    """

    C: float = positional(1.0)
    loss: str = "hinge"


@described_as(PassiveAggressiveRanker)
@estimator
class PerceptronRanker(LinearRanker):
    """Pairwise perceptron: each pair in the wrong order adds the difference of its rows.

    In each epoch, every row is compared with one row of another relevance in its group, drawn at
    random. If the score w·x of the more relevant row does not exceed that of the other by more than
    ``margin``, the difference of the two rows is added to w. If all pairs can be in order by a
    margin γ, there are at most R² / γ² updates without a margin, where R is the largest distance of
    two rows of a group. The weight of a row multiplies its updates.

    Parameters
    ----------
    margin : float, default=0.0
        Margin ≥ 0 that the scores of a pair must differ by, else it causes an update.

    See Also
    --------
    PassiveAggressiveRanker : Steps as large as a pair needs.
    Perceptron : The same for classes.

    References
    ----------
    Shen & Joshi (2005), "Ranking and reranking with perceptron", Machine Learning 60, 73-96.

    Examples
    --------
    >>> X = [[3.0, 1.0], [2.0, 0.0], [1.0, 1.0], [9.0, 1.0], [8.0, 2.0], [7.0, 0.0]]
    >>> relevance, queries = [2, 1, 0, 2, 1, 0], [1, 1, 1, 2, 2, 2]
    >>> model = PerceptronRanker(random_state=0).fit(X, relevance, queries)
    >>> model.score(X, relevance, queries), model.stop_reason_
    (1.0, 'ordered')
    """

    margin: float = positional(0.0)

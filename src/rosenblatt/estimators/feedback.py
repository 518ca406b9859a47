"""Classifiers that learn from feedback on their predictions: right or wrong."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ..data.labels import check_classes, number_labels
from ..data.rows import Array, refuse_not_finite, view_rows
from ..learners.feedback import draw_numbers, explore, learn_judged
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import InputError
from .base import FLOATS, make_seed, refuse_dicts
from .constructors import estimator, positional
from .docstrings import described_as
from .linear import LinearClassifier
from .linear_base import Prepared
from .perceptron import Perceptron


@described_as(Perceptron)
@estimator
class Banditron(LinearClassifier):
    """Banditron: learns several classes from predictions that are judged right or wrong.

    The algorithm of Kakade, Shalev-Shwartz & Tewari (2008). ``act`` predicts the best class with
    the probability 1 - γ + γ/k, and each of the other k - 1 classes with γ/k. ``feedback`` tells
    whether a prediction was right. A right prediction that was drawn with the probability p adds
    x/p to the weights of its class; right or wrong, x is subtracted from those of the best class.
    Over the draws, that is the perceptron's update on average.

    ``fit`` and ``partial_fit`` simulate this on rows with labels: a label is only used to tell
    whether the prediction that is drawn for its row is right, unless ``class_weight``,
    ``calibrate`` or ``early_stopping`` ask for more. With two classes a wrong prediction tells the
    label, so the model is a perceptron and draws nothing. The weight of a row multiplies its
    update.

    On rows of length up to 1, for all weights U with the squared length D/2 and a cumulative hinge
    loss L, it makes on average at most L + γT + 3·max(kD/γ, √(DγT)) + √(kDL/γ) wrong predictions
    in T rows.

    Parameters
    ----------
    exploration : float, default=0.1
        Exploration γ in [0, 1): the share of predictions that are drawn from all classes alike.
    solution : {"last", "average"}, default="last"
        The weights to predict with: the last ones, or the average over all rows, which usually
        makes fewer wrong predictions.
    order : {"each", "once", "fixed", "replacement"}, default="fixed"
        The order of the rows in ``fit``: as given by default.
    multi_class : {"argmax"}, default="argmax"
        All classes are learnt together.
    max_iter : int, default=1
        Largest number of epochs of ``fit``.

    Attributes
    ----------
    n_mistakes_ : int
        Number of updates; with several classes each row makes one.
    history_ : list of Epoch
        Record of each epoch; ``errors`` counts the wrong predictions among those drawn.

    See Also
    --------
    Perceptron : Learns from labels.
    progressive : Measures the error on a stream.

    References
    ----------
    Kakade, Shalev-Shwartz & Tewari (2008), "Efficient bandit algorithms for online multiclass
    prediction", Proceedings of the 25th International Conference on Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.tile(np.eye(3), (40, 1)), np.tile([0, 1, 2], 40)
    >>> model = Banditron(random_state=0)
    >>> for x, label in zip(X, y):
    ...     predicted, probability = model.act([x], classes=[0, 1, 2])
    ...     _ = model.feedback([x], predicted, predicted == label, probability)
    >>> model.predict(np.eye(3)).tolist()
    [0, 1, 2]
    """

    exploration: float = positional(0.1)
    order: str = "fixed"
    max_iter: int = 1

    def act(self, X: Any, classes: ArrayLike | None = None) -> tuple[Array, Array]:
        """Predict the class of each row by chance, to learn from ``feedback`` on it.

        The draws continue a sequence of random numbers that the model keeps, also in its file.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        classes : array-like of shape (n_classes,), default=None
            All labels; a new model needs them, and a fitted one ignores them.

        Returns
        -------
        predicted : ndarray of shape (n_samples,)
            The class that was drawn for each row.
        probability : ndarray of shape (n_samples,)
            The probability with which it was drawn.
        """
        with self._unchanged_by_errors():
            if not self.__sklearn_is_fitted__():
                self._begin_untrained(X, classes)
            rows, learner = view_rows(self._rows_to_score(X)), self._learner
            best = learner.choose(learner.scores(rows, learner.width))
            numbers = draw_numbers(learner, len(best))
            drawn, chances = explore(best, len(self.classes_), self.exploration, numbers)
        return np.asarray(self.classes_[drawn]), chances

    def feedback(self, X: Any, predicted: ArrayLike, right: ArrayLike, probability: Any) -> Self:
        """Learn whether predictions were right; after an error the model is unchanged.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        predicted : array-like of shape (n_samples,)
            The classes that were predicted.
        right : array-like of bool, shape (n_samples,)
            Whether each of them is right.
        probability : array-like of shape (n_samples,) or float
            The probability in (0, 1] with which each was drawn, as ``act`` returned it; 1 for a
            label that is known.

        Returns
        -------
        self
            The classifier.
        """
        self._current()
        with self._unchanged_by_errors():
            X, y = self._check_rows(X, predicted, False, self._learner.dtype)
            refuse_not_finite(X)
            is_right = np.asarray(right)
            if is_right.shape != y.shape or is_right.dtype != bool:
                raise InputError(
                    "Expected True or False in right for each prediction.", code="right-or-wrong"
                )
            chances = np.broadcast_to(np.asarray(probability, np.float64), y.shape)
            if not np.all((chances > 0) & (chances <= 1)):
                raise InputError(
                    "Expected probabilities above 0 and at most 1, as act returns them.",
                    code="draw-probability",
                )
            codes = number_labels(y, self.classes_, where="predicted: ")
            rows = TrainingRows.of(view_rows(X), codes, None, X.shape[1])
            self._renew_if_changed()
            learn_judged(self._learner, rows, is_right, chances)
        return self

    def _begin_untrained(self, X: Any, classes: ArrayLike | None) -> None:
        """Begin a model without rows."""
        self._check_parameters("batch")
        if classes is None:
            raise ValueError("The first call of act needs classes, the labels to come.")
        known = check_classes(np.asarray(classes))
        refuse_dicts(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, order="C")
        rows = TrainingRows.of(view_rows(X), np.zeros(X.shape[0], np.intp), None, X.shape[1])
        learner = self._begin(Prepared(X, known, rows, None, 0), (None, None))
        self.take_over(learner, [], "max_iter", {})

    def _begin(self, given: Prepared, start: tuple[Any, Any]) -> LinearLearner:
        learner = super()._begin(given, start)
        learner.states[0].further["draws"][:] = make_seed(self.random_state)
        return learner

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

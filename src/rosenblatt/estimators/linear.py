"""The base of all linear classifiers: fit, partial_fit, learn_one, scores and probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from ..data.labels import check_indicator, count_classes, make_labels
from ..data.rows import Array
from ..learners.linear import LinearLearner, TrainingRows, cross_calibrate
from ..parameters import check_signs
from ..training.calibration import ENOUGH, RecentScores, fit_calibration
from ..training.rules import PERCEPTRON
from .base import RowClassifier, unchanged_by_errors, when_calibrated, when_conformal
from .constructors import estimator
from .linear_base import Begin, LinearEstimator, Prepared
from .one_row import check_label, make_row, refuse_to_grow


class BaseLinearClassifier(RowClassifier[LinearLearner], LinearEstimator):
    """A linear model of classes; subclasses have the parameters of its constructor."""

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
        """Fit the model to rows and labels, until a pass is without mistakes or for ``max_iter``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The labels of the rows. For label sets, an indicator: 1 for each label of a row and 0
            for the others. Each label is then a two-class problem.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; they scale the updates. Rows of weight 0 are ignored.
        coef_init, intercept_init : array-like, default=None
            Initial weights and biases, in the shapes of ``coef_`` and ``intercept_``; None starts
            at zero.
        X_val, y_val : array-like, default=None
            Rows and labels for early stopping, instead of rows that are held out. In a pipeline,
            ``transform_input=["X_val"]`` transforms them as X.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight, (coef_init, intercept_init), (X_val, y_val))

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows once, in their order.

        The model does not depend on how a stream of rows is cut into batches; rows sorted by class
        are learnt badly, so shuffle them before. After an error the model is unchanged. With
        ``class_weight="balanced"``, rows are weighted by the class counts so far.
        With ``calibrate=True``, probabilities are fitted to the scores that the last rows had
        before they were learnt; these do depend on the batches, and the first batch gives none.
        With ``calibrate="conformal"``, each row also adapts the prediction sets just before it is
        learnt.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            The labels of the rows, or an indicator of label sets.
        classes : array-like of shape (n_classes,), default=None
            The labels to come. Needed in the first call, unless y is an indicator; later calls may
            name further labels, which are added to the model.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, as for ``fit``.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_batch(X, y, sample_weight, classes)

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one row, as ``partial_fit`` does but without the cost of a batch.

        A new model begins with its first row. It adds a class for each new label and, for rows that
        are dicts, a column for each new name.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row. In a dict, a number is the value of the column with its name, and a string
            ``v`` with the name ``n`` is 1 in the column ``n=v``. Missing columns are 0.
        y : object
            The label. A model that ``fit`` or ``partial_fit`` began must know it.

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
        with unchanged_by_errors(self):
            row = self._ready_row(x, y)
            self._refuse_label_sets("learn_one", "partial_fit")
            code = self._find_code(y)
            if self.calibrate and self._learner.states[0].seen:
                self._remember_scores(self._learner.score_one(row), np.array([code]))
            weight = self._weigh_one(code)
            if weight > 0:
                self._learner.learn_one(row, code, weight)
        return self

    def predict_one(self, x: Any) -> Any:
        """Predict the class of one row, without the cost of a batch.

        Parameters
        ----------
        x : array-like of shape (n_features,) or dict
            The row; names in a dict that the model does not know are ignored.

        Returns
        -------
        object
            One of ``classes_``; None for a model that has not learnt from any row.
        """
        if not self.__sklearn_is_fitted__():
            return None
        row = make_row(self, x)
        self._refuse_label_sets("predict_one", "predict")
        return self.classes_.item(self._learner.predict_one(row))

    @when_calibrated
    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of every class or label; only with ``calibrate=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``; of label sets, that of each label.
            Where the decision favours a class, as with ``class_weight="balanced"``, the most
            probable class can be another than the one that ``predict`` gives.
        """
        scores = self.decision_function(X)
        self._calibrate_on_stream()
        if self._learner.calibration is None:
            raise NotFittedError(
                f"This {type(self).__name__} has no probabilities yet: call fit with "
                "calibrate=True, or partial_fit with a further batch."
            )
        return self._learner.calibration.probabilities(scores, self._learner.choose(scores))

    @when_calibrated
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities; only with ``calibrate=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @when_conformal
    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """Predict for each row a set of classes that has the true one with a stated probability.

        Only with ``calibrate="conformal"``. The coverage holds on average over rows like those
        that ``fit`` held out. On a stream, ``partial_fit`` and ``learn_one`` adapt the sets to
        every row before they learn it, so that the share of rows outside follows ``coverage``
        even if the data drift.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            The least share of rows whose class is to be in its set, above 0 and below 1.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            Whether each class is in the set, in the order of ``classes_``. The predicted class
            always is, so that no set is empty.

        References
        ----------
        Vovk, Gammerman & Shafer (2005), "Algorithmic learning in a random world", Springer.
        Gibbs & Candès (2021), "Adaptive conformal inference under distribution shift", Advances in
        Neural Information Processing Systems 34.
        """
        return self._make_sets(self.decision_function(X), coverage)

    @property
    def multilabel_(self) -> bool:
        """Whether a row may have any number of labels."""
        return bool(self._current().multilabel)

    @property
    def coef_variance_(self) -> Array:
        """The variances of the weights, in the shape of ``coef_``, for rules that keep them."""
        return self._variances("S")

    @property
    def intercept_variance_(self) -> Array:
        """The variances of the biases, in the shape of ``intercept_``, for rules that keep them."""
        return self._variances("Sb").ravel()

    def _variances(self, name: str) -> Array:
        """Return variances of the states; raise AttributeError if the rule keeps none."""
        states = self._current().states
        if not self._learner.rule.has_variances:
            raise AttributeError(
                f"{type(self).__name__} keeps no variances; AROW, SCW, NHERD and CW do."
            )
        parts = [getattr(state, name) for state in states]
        return np.atleast_2d(parts[0].T) if len(parts) == 1 else np.vstack(parts)

    def last_weights(self) -> tuple[Array, float, float]:
        """Return the weights and bias after the last update, for the convergence theorem.

        Raises ValueError if the theorem does not apply: it needs two classes, a start at zero, and
        updates of equal size. The result does not depend on ``solution``.

        Returns
        -------
        weights : ndarray of shape (n_features,)
            The last w.
        bias : float
            The last b.
        intercept_step : float
            How far a mistake moves the bias, divided by the learning rate.
        """
        learner = self._current()
        if not self._plain or len(self.classes_) != 2 or learner.multilabel:
            raise ValueError(
                "The convergence theorem needs a Perceptron that fit has trained with two classes, "
                "from zero, without margin, weights or early stopping."
            )
        (state,) = learner.states
        return state.weights, float(state.bias[0]), learner.intercept_step

    def _score(self, X: Any) -> Array:
        X, coef, bias = self._select_columns(X)
        scores = np.asarray(X @ coef.T + bias)
        return scores.ravel() if self._learner.problems == [1] else scores

    # Checks of input

    def _number(self, y: Array, classes: Array) -> Array:
        if y.ndim == 1:
            return super()._number(y, classes)
        if y.shape[1] != len(classes):
            raise ValueError(f"y has {y.shape[1]} columns; there are {len(classes)} labels.")
        if self.calibrate == "conformal":
            raise ValueError('calibrate="conformal" needs rows with one label each; use True.')
        return y

    def _refuse_label_sets(self, method: str, instead: str) -> None:
        """Raise ValueError in a method for rows with one label each."""
        if self._learner.multilabel:
            raise ValueError(f"{method} needs rows with one label each; use {instead}.")

    # Learning

    def _check_continued(self, classes: Array, multilabel: bool) -> None:
        """Raise ValueError if the model cannot continue with these classes and parameters."""
        if multilabel != self._learner.multilabel:
            wanted = "an indicator of label sets" if self._learner.multilabel else "one label a row"
            raise ValueError(f"The model was trained with {wanted}; continue with the same.")
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"The model knows the classes {self.classes_.tolist()}, but y has "
                f"{classes.tolist()}; set warm_start=False to train a new one."
            )
        super()._check_continued(classes, multilabel)
        check_signs(self._values(), len(classes), self._learner.problems != [None])

    def _describe_fit(self, given: Prepared, unaided: bool) -> dict[str, Any]:
        learnt, order = given.rows.codes, given.rows.row_order
        if len(order) < len(learnt):  # some rows are held out or weigh nothing
            learnt = learnt[order]
        plain = unaided and self.class_weight is None and given.held_out is None
        textbook = self._rule is PERCEPTRON and getattr(self, "margin", 1) in (0, (0, 0), [0, 0])
        return {
            "textbook": textbook,  # every update adds the row, as the convergence theorem needs
            "plain": plain and textbook,
            "class_rows": count_classes(learnt, len(given.classes)).tolist(),
        }

    def _encode_batch(
        self, y: Array, sample_weight: Any, classes: ArrayLike | None
    ) -> tuple[Array, Array, Array | None]:
        first = not self.__sklearn_is_fitted__()
        if y.ndim == 2 and first and classes is None:
            classes = np.arange(y.shape[1])
        known = self._resolve_classes(classes, first)
        codes = self._number(y, known)
        weights = self._weigh_batch(known, codes, sample_weight)
        if first:
            self.classes_ = known
        return known, codes, weights

    def _learn_batch(self, rows: TrainingRows) -> None:
        if self.calibrate and self._learner.states[0].seen:
            self._remember_scores(self._learner.scores(rows.rows, rows.width), rows.codes)
        super()._learn_batch(rows)

    def _first_classes(self, y: Any) -> Array:
        return np.array([check_label(y)])

    def _find_code(self, y: Any) -> int:
        """Return the number of a label; a model that ``learn_one`` began adds a new one."""
        try:
            code = self._learner.growing_codes.find(y)
        except TypeError:
            raise ValueError(f"y is {y!r}; expected a label: a number or a text.") from None
        if code is not None:
            return code
        if not self._grows:
            raise ValueError(
                f"The label {y!r} is not among {self.classes_.tolist()}; name it in classes of "
                "partial_fit. Only models that learn_one began add labels as they come."
            )
        self._add_class(y)
        return self._learner.growing_codes.find(y) or 0

    def _weigh_one(self, code: int) -> float:
        """Return the weight of one row, and count its class."""
        if self.class_weight is not None:
            weights: Any = self._weigh_batch(self.classes_, np.array([code]), None)
            return float(weights[0])
        self.class_count_ = self.class_count_.copy()
        self.class_count_[code] += 1
        return 1.0

    def _add_class(self, label: Any) -> None:
        if self._learner.multilabel:
            raise ValueError("A model of label sets cannot add a label; train a new one.")
        refuse_to_grow(self._learner)
        super()._add_class(label)
        self._learner.calibration = self._recent = None

    # Probabilities

    def _calibrate(self, learner: LinearLearner, given: Prepared, begin: Begin) -> None:
        """Fit probabilities to the scores of rows held out, or by cross-fitting on all rows."""
        super()._calibrate(learner, given, begin)
        if given.held_out is None:
            threads = effective_n_jobs(None)
            learner.calibration = cross_calibrate(begin, given.rows, given.seed, threads=threads)

    def _remember_scores(self, scores: Array, codes: Array) -> None:
        """Remember the scores of rows that are about to be learnt, to calibrate on them."""
        self._recent = (self._recent or RecentScores()).add(scores, codes)

    def _calibrate_on_stream(self) -> None:
        """Fit probabilities to the remembered scores, if these have changed."""
        recent = self._recent
        if recent is None or recent is self._calibrated_on:
            return
        if self._learner.calibration is None or len(recent.codes) >= ENOUGH:
            self._learner.calibration = fit_calibration(*recent, len(self.classes_))
        self._calibrated_on = recent

    # Model files

    def _facts(self) -> dict[str, Any]:
        if len(self.classes_) < 2 and not self._learner.multilabel:
            raise ValueError(
                f"The model knows only the label {self.classes_.item(0)!r}; save it after the "
                "second one."
            )
        self._calibrate_on_stream()
        facts = super()._facts() | {"plain": self._plain}
        return facts | ({"recent_scores": self._recent.as_dict()} if self._recent else {})


@estimator
class LinearClassifier(BaseLinearClassifier):
    """A linear classifier; subclasses choose the update rule.

    Its parameters, all by keyword, are described in ``Perceptron``.
    """

    multi_class: Literal["argmax", "ovr"] = "argmax"
    metric: str = "error"
    class_weight: Mapping[Any, float] | str | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _read_columns(self, labels: Any, n_rows: int) -> Array:
        """Return the labels of a column, or the indicator of label sets."""
        shape = labels.shape if hasattr(labels, "shape") else make_labels(labels).shape
        if len(shape) != 2 or shape[1] < 2:
            return super()._read_columns(labels, n_rows)
        if shape[0] != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {shape[0]}; each row needs its labels.")
        return check_indicator(labels)

"""The base of all estimators: checks of rows, labels and parameters, fitted state, model files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import update_wrapper
from numbers import Integral
from os import PathLike
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

import rosenblatt

from ..data.labels import (
    check_classes,
    count_classes,
    encode,
    find_codes,
    make_labels,
    number_labels,
)
from ..data.rows import Array, check_structure, refuse_not_finite
from ..data.weights import balance_running, class_weights, row_weights
from ..parameters import CONFLICTS, Conflict, Parameter, ParameterError, check_parameters
from ..storage.model import Model
from ..training.scoring import format_epoch
from ..training.training import Epoch, Training
from .one_row import check_label

if TYPE_CHECKING:  # scikit-learn has no types: with these, wrong parameters are reported

    class BaseEstimator:
        """As in scikit-learn."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def _get_fitted_attr_html(self, *link: Any) -> Any: ...

    class ClassifierMixin:
        """As in scikit-learn."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin

REFERENCE = "https://rosenblatt-learn.github.io/rosenblatt/reference/generated/rosenblatt."
REFERENCE += "{estimator_name}.html"
FLOATS = [np.dtype(np.float64), np.dtype(np.float32)]
L = TypeVar("L")


class Word(str):
    """A text that scikit-learn's page of an estimator shows whole, not cut to nine characters."""


class OnlineEstimator(BaseEstimator, Generic[L]):
    """The scikit-learn side of a learner of type ``L``, which does the work."""

    history_: list[Epoch]
    n_iter_: int
    stop_reason_: str
    mixing_: Any
    """The rounds of training on a cluster; set only by such training."""
    _learner: L
    _learner_class: Any
    _parameters: Mapping[str, Parameter]
    """The range of each parameter."""
    _conflicts: Sequence[Conflict] = CONFLICTS
    _doc_link_module = "rosenblatt"
    _doc_link_template = REFERENCE

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rosenblatt_version": rosenblatt.__version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        version = state.pop("_rosenblatt_version", "unknown")
        if version != rosenblatt.__version__:
            warnings.warn(
                f"A pickled {type(self).__name__} is of version {version} of rosenblatt, and this "
                f"is {rosenblatt.__version__}; it may predict otherwise. Files of save do not.",
                stacklevel=2,
            )
        self.__dict__.update(state)

    def _get_fitted_attr_html(self, *link: Any) -> Any:
        shown = super()._get_fitted_attr_html(*link)
        for each in shown.values():
            each["value"] = Word(each["value"]) if type(each["value"]) is str else each["value"]
        return shown

    @property
    def n_mistakes_(self) -> int:
        """The number of updates, over all calls of ``partial_fit`` or warm starts."""
        return sum(state.mistakes for state in self._current().states)

    def save(self, path: str | PathLike[str], size: int | str | None = None) -> None:
        """Save the model to a file that ``load`` reads.

        The file holds numbers only, with a checksum; it is replaced only when the new one is
        complete.

        Parameters
        ----------
        path : str or path-like
            The file to write, usually with the suffix ``.safetensors``.
        size : int, str or None, default=None
            The largest size of the file, such as "2MB", of a linear classifier. The file then
            holds the largest weights, in 8 bits, as a ``Perceptron``.
        """
        check_is_fitted(self)
        from ..storage.file import save_model

        save_model(path, self.to_model(), size)

    def to_model(self) -> Model:
        """Return what a model file holds.

        :meta private:
        """
        self._check_parameters()
        learner = self._current()
        learner.features = self._feature_names() or learner.features
        learner.parameters = self._values()
        model: Model = learner.to_model(self._facts(), self.history_)
        return model

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the fitted estimator of a model.

        :meta private:
        """
        made = cls(**model.parameters)
        made._check_parameters()
        learner = cls._learner_class.from_model(model._replace(parameters=made._values()))
        reason = str(model.facts.get("stop_reason", "max_iter"))
        made.take_over(learner, list(model.history), reason, model.facts)
        if hasattr(learner, "width"):
            made.name_columns()
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _current(self) -> Any:
        """Return the learner of a fitted model."""
        check_is_fitted(self)
        return self._learner

    def _facts(self) -> dict[str, Any]:
        """Return what a model file says besides the learner's own facts."""
        return {"stop_reason": self.stop_reason_}

    def take_over(
        self, learner: L, epochs: list[Epoch], stop_reason: str, facts: Mapping[str, Any]
    ) -> None:
        """Become the fitted estimator of a learner, with the facts of its model file.

        :meta private:
        """
        self._learner = learner
        self.history_, self.n_iter_, self.stop_reason_ = epochs, len(epochs), stop_reason

    def name_columns(self) -> None:
        """Take over the columns of the learner, and their names if they have any.

        :meta private:
        """
        learner: Any = self._learner
        self.n_features_in_, names = learner.width, learner.features.get("names")
        if names is not None:
            if len(names) != learner.width or not all(isinstance(name, str) for name in names):
                raise ValueError("its features are not as many names as weights")
            self.feature_names_in_ = np.array(names, object)

    def _feature_names(self) -> dict[str, Any]:
        """Return the names of the columns for a model file, if they have any."""
        names = getattr(self, "feature_names_in_", None)
        return {} if names is None else {"names": names.tolist()}

    def _check_parameters(self, *where: str) -> None:
        """Raise ParameterError for parameters that are out of range or in conflict."""
        try:
            check_parameters(self._values(), self._parameters, *where, conflicts=self._conflicts)
        except ParameterError as error:
            raise error.reword(f"{type(self).__name__}: {error}") from None

    def _values(self) -> dict[str, Any]:
        """Return the parameters by name, faster than ``get_params`` (40 microseconds)."""
        own = self.__dict__
        return dict(zip(self._parameters, map(own.__getitem__, self._parameters), strict=True))


class OnlineClassifier(ClassifierMixin, OnlineEstimator[L]):
    """A classifier of examples of any kind."""

    classes_: Array

    def take_over(
        self, learner: L, epochs: list[Epoch], stop_reason: str, facts: Mapping[str, Any]
    ) -> None:
        """Become the fitted estimator of a learner, with the facts of its model file.

        :meta private:
        """
        any_learner: Any = learner
        self.classes_ = any_learner.classes
        if "class_weight" in self._parameters:
            counts = facts.get("class_rows") or [0] * len(self.classes_)
            self.class_count_ = np.array(counts, np.int64)
        super().take_over(learner, epochs, stop_reason, facts)

    def _facts(self) -> dict[str, Any]:
        counts = getattr(self, "class_count_", None)
        facts = {} if counts is None else {"class_rows": counts.tolist()}
        return facts | super()._facts()

    def _resolve_classes(self, classes: ArrayLike | None, first: bool) -> Array:
        """Return the classes of partial_fit; later calls may add some."""
        if classes is None:
            if first:
                raise ValueError("The first call of partial_fit needs classes, the labels to come.")
            return self.classes_
        given = np.asarray(classes)
        if not first and given.dtype == self.classes_.dtype and is_equal(given, self.classes_):
            return self.classes_
        if first:
            check_classification_targets(given)
            return check_classes(given)
        for label in dict.fromkeys(given.tolist()):
            if label not in self.classes_.tolist():
                self._add_class(label)
        return self.classes_

    def _add_class(self, label: Any) -> None:
        """Add a class to a fitted model, as if it had always been known."""
        label = check_label(label, self.classes_)
        self._learner = grown = self._current().with_class(label)
        self.classes_ = grown.classes
        if hasattr(self, "class_count_"):
            place = int(np.flatnonzero(self.classes_ == label)[0])
            self.class_count_ = np.insert(self.class_count_, place, 0)


class RowEstimator(OnlineEstimator[L]):
    """An estimator that learns from rows of numbers."""

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        """Return the labels of ``n_rows`` rows as an array without missing ones."""
        if labels is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        y = make_labels(labels)
        if y.ndim != 1:
            y = self._read_columns(labels, n_rows)
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {len(y)} labels; each row needs one.")
        return y

    def _read_columns(self, labels: Any, n_rows: int) -> Array:
        """Return labels that are not one list: of one column."""
        return make_labels(column_or_1d(make_labels(labels), warn=True))

    def _check_rows(self, X: Any, y: Any, reset: bool, dtype: Any) -> tuple[Any, Array]:
        """Return X as a float array or CSR matrix, and y as an array of labels.

        Whether X is finite is seen while learning, from the activations, without an extra pass.
        """
        types = FLOATS if reset else [dtype]
        if not self._is_plain_input(X, reset, types):
            refuse_dicts(X)
            checks = {"accept_sparse": "csr", "order": "C", "ensure_all_finite": False}
            try:
                X = validate_data(self, X, reset=reset, dtype=types, **checks)
            except ValueError as error:
                refuse_words(error)
                raise
        return X, self._check_labels(y, X.shape[0])

    def _is_plain_input(self, X: Any, reset: bool, types: list[Any]) -> bool:
        """Whether X needs no check by scikit-learn, which takes 60 microseconds."""
        if type(X) is np.ndarray:
            plain = X.ndim == 2 and X.flags.c_contiguous
        else:
            plain = type(X) in (csr_array, csr_matrix)
        if not plain or X.dtype not in types or 0 in X.shape or hasattr(self, "feature_names_in_"):
            return False
        if reset:
            self.n_features_in_ = X.shape[1]
        return bool(X.shape[1] == self.n_features_in_)

    def _rows_to_score(self, X: Any) -> Any:
        """Return X as a float array or CSR matrix with the columns of the model."""
        check_is_fitted(self)
        if not self._is_plain_input(X, False, FLOATS):
            refuse_dicts(X)
            checks = {"accept_sparse": "csr", "ensure_all_finite": False}
            X = validate_data(self, X, reset=False, dtype=FLOATS, **checks)
        if hasattr(X, "indptr"):
            check_structure(X)
        if not has_finite_sum(X):
            refuse_not_finite(X)
        return X


class RowClassifier(OnlineClassifier[L], RowEstimator[L]):
    """A classifier of rows of numbers."""

    class_count_: Array
    class_weight: Mapping[Any, float] | str | None

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            The class with the highest score. For a model of label sets, 1 for each label of the row
            and 0 for the others.
        """
        scores = self.decision_function(X)
        chosen = self._current().choose(scores)
        return chosen.astype(np.intp) if chosen.ndim == 2 else np.asarray(self.classes_[chosen])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the rows whose class is predicted, or whose whole set of labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their labels; one that the model does not know counts as an error.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weighs all alike.

        Returns
        -------
        float
            From 0 to 1.
        """
        codes, found = np.asarray(y), self.predict(X)
        if found.ndim == 1:
            firsts = (each.ravel()[:1].tolist() for each in (codes, self.classes_))
            kinds = ["words" if isinstance(each[0], str) else "numbers" for each in firsts if each]
            if kinds[0] != kinds[-1]:
                raise ValueError(f"y has {kinds[0]}; the labels of this model are {kinds[1]}.")
            codes, found = (find_codes(labels.ravel(), self.classes_) for labels in (codes, found))
        return float(accuracy_score(codes, found, sample_weight=sample_weight))

    def decision_function(self, X: Any) -> Array:
        """Score each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The activations, or with ``solution="vote"`` the shares of votes. For two classes a
            positive score means ``classes_[1]``. Scores are not probabilities.
        """
        return self._score(self._rows_to_score(X))

    def _score(self, X: Any) -> Array:
        """Score checked rows."""
        return np.asarray(self._current().score_matrix(X))

    # Labels and weights

    def _encode(self, y: Array) -> tuple[Array, Array]:
        """Return the distinct labels, and each row's number among them."""
        if y.ndim == 2:
            classes = np.arange(y.shape[1])
            return classes, self._number(y, classes)
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        classes, codes = encode(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}; rows of at least two are needed."
            )
        return classes, codes

    def _number(self, y: Array, classes: Array) -> Array:
        """Return each label's number among the classes."""
        return number_labels(y, classes)

    def _weigh(
        self,
        classes: Array,
        codes: Array,
        sample_weight: ArrayLike | None,
        learnt: Array | None = None,
    ) -> Array | None:
        """Return the weight of each row, or None if all are 1.

        Balanced weights come from the counts of the classes among the rows ``learnt``.
        """
        if codes.ndim == 2 and self.class_weight is not None:
            raise ValueError(
                "class_weight needs rows with one label each; use sample_weight instead."
            )
        counted = codes if learnt is None else codes[learnt]
        by_class = class_weights(self.class_weight, classes, counted)
        return row_weights(codes, sample_weight, by_class)

    def _weigh_batch(
        self, classes: Array, codes: Array, sample_weight: ArrayLike | None
    ) -> Array | None:
        """Return the weights of the rows of a batch, and count their classes.

        Balanced weights come from the classes of all rows up to each row.
        """
        balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced"
        if balanced and codes.ndim == 1:
            weights = row_weights(codes, sample_weight, None)
        else:
            weights = self._weigh(classes, codes, sample_weight)
        rows = slice(None) if weights is None else weights > 0
        counts = getattr(self, "class_count_", np.zeros(len(classes), np.int64))
        if balanced:
            by_class = np.zeros(len(codes))
            by_class[rows] = balance_running(counts, codes[rows])
            weights = by_class if weights is None else weights * by_class
        self.class_count_ = counts + count_classes(codes[rows], len(classes))
        return weights


class when_calibrated:  # noqa: N801, a decorator
    """Offer a method only to estimators with ``calibrate=True``; others raise AttributeError."""

    needs, value = "probabilities", "True"

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, kind: Any = None) -> Any:
        if model is None:
            return self.method
        if not self.is_offered(model):
            name = type(model).__name__
            raise AttributeError(
                f"{self.method.__name__} needs {self.needs}, which {name} does not learn by "
                f"default: use {name}(calibrate={self.value}) and fit it again."
            )
        return MethodType(self.method, model)

    def is_offered(self, model: Any) -> bool:
        """Whether a model has the method."""
        return bool(model.calibrate)


class when_conformal(when_calibrated):  # noqa: N801, a decorator
    """Offer a method only to estimators with ``calibrate="conformal"``."""

    needs, value = "scores of held-out rows", '"conformal"'

    def is_offered(self, model: Any) -> bool:
        """Whether a model has the method."""
        return bool(model.calibrate == "conformal")


def refuse_dicts(X: Any) -> None:
    """Raise ValueError for rows that are dicts or texts, which need ``Features``."""
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], Mapping | str):
        kind = "strings" if isinstance(X[0], str) else "dicts"
        raise ValueError(
            f"X holds {kind}, but rows are numbers: put Features before the estimator, as in "
            "make_pipeline(Features(), Perceptron())."
        )


def refuse_words(error: ValueError) -> None:
    """Raise ValueError with what to do, if an error says that a table holds words."""
    if "could not convert string to float" in str(error):
        raise ValueError(
            f"X holds words, but rows are numbers ({error}): put Features before the estimator, as "
            "in make_pipeline(Features(), Perceptron())."
        ) from error


def make_seed(random_state: Any) -> int:
    """Return the seed of the random orders; an integer is its own seed."""
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32:
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        wanted = "a whole number from 0 to 2**32 - 1, a RandomState or None"
        raise ValueError(f"random_state must be {wanted}; got {random_state!r}.") from None


def is_equal(one: Array, other: Array) -> bool:
    """Whether two arrays are equal; faster than NumPy's own function for small ones."""
    return one.shape == other.shape and bool((one == other).all())


def has_finite_sum(X: Any) -> bool:
    """Whether the sum of X is finite, which proves that all numbers are."""
    values = X.data if hasattr(X, "indptr") else X
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def print_epoch(run: Training, measured: int, metric: str, epoch: Epoch) -> None:
    """Print an epoch in a line; errors are those of the rows measured, if any, or met.

    ``measured`` is the number of rows of each problem that were measured, 0 if none were.
    """
    measured *= sum(len(one.epochs) == epoch.epoch for one in run.problems)
    rows, target = measured or epoch.rows, run.problems[0].state.rule.target
    print(format_epoch(epoch._replace(rows=rows), target, metric), flush=True)


# For trainings elsewhere, such as on a cluster


def get_learner(estimator: Any) -> Any:
    """The learner of a fitted estimator."""
    check_is_fitted(estimator)
    return estimator._learner


def to_predictor(estimator: Any) -> Any:
    """A copy of a fitted estimator that predicts the same, without what only training needs."""
    light = copy(estimator)
    light._learner = get_learner(estimator).predictor()
    return light


@contextmanager
def unchanged_by_errors(estimator: Any) -> Iterator[None]:
    """Restore all attributes of an estimator after an error."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise

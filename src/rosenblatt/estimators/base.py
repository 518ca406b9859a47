"""What the classifiers share: labels, classes, weights of rows, and no harm from errors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import update_wrapper
from numbers import Integral
from os import PathLike
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, csr_matrix
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..data.labels import check_classes, encode, number_labels, refuse_missing
from ..data.rows import Array, check_structure
from ..data.weights import class_weights, row_weights
from ..parameters import Parameter, check_parameters
from ..storage.file import save_model
from ..storage.model import Model
from ..training.history import Epoch

if TYPE_CHECKING:  # scikit-learn has no types: with these, wrong parameters are reported

    class BaseEstimator:
        """As in scikit-learn."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...

    class ClassifierMixin:
        """As in scikit-learn."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin

FLOATS = [np.dtype(np.float64), np.dtype(np.float32)]


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns row by row."""

    classes_: Array
    history_: list[Epoch]
    n_iter_: int
    stop_reason_: str
    mixing_: Any
    """How the rounds of a cluster went, if it was trained on one."""
    class_weight: Mapping[Any, float] | str | None
    _parameters: Mapping[str, Parameter]
    """What each parameter may be."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that ``load`` reads: numbers only, checked, all or nothing.

        Parameters
        ----------
        path : str or path-like
            Where to; by custom it ends in ``.safetensors``.
        """
        check_is_fitted(self)
        save_model(path, self._model())

    def _model(self) -> Model:
        """All that a model file holds."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Leave the attributes as they were when something is refused."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_parameters(self, *where: str) -> None:
        """Refuse parameters that are out of range or do not go together."""
        check_parameters(self._values(), self._parameters, *where)

    def _values(self) -> dict[str, Any]:
        """The parameters by name, as ``get_params`` gives them, which takes 40 microseconds."""
        return {name: getattr(self, name) for name in self._parameters}

    def _check_rows(self, X: Any, y: Any, reset: bool, dtype: Any) -> tuple[Any, Array]:
        """X as a float array or CSR matrix, y as a list of labels.

        Whether X is finite is seen while learning, from the activations: that costs no pass.
        """
        refuse_dicts(X)
        types = FLOATS if reset else [dtype]
        if not self._is_plain(X, reset, types):
            checks = {"accept_sparse": "csr", "order": "C", "ensure_all_finite": False}
            X = validate_data(self, X, reset=reset, dtype=types, **checks)
        return X, self._check_labels(y, X.shape[0])

    def _is_plain(self, X: Any, reset: bool, types: list[Any]) -> bool:
        """Whether X is taken as it is, so that scikit-learn need not look (60 microseconds)."""
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
        """X as a float array or CSR matrix with the columns that the model knows."""
        check_is_fitted(self)
        refuse_dicts(X)
        if not (self._is_plain(X, False, FLOATS) and surely_finite(X)):
            X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        if hasattr(X, "indptr"):
            check_structure(X)
        return X

    def _check_labels(self, labels: Any, n_rows: int) -> Array:
        """The labels of so many rows as one list, all of them known."""
        if labels is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        if isinstance(labels, np.ndarray) and labels.ndim == 1:
            y = labels
        else:
            if isinstance(labels, list | tuple) or hasattr(labels, "iloc"):
                refuse_missing(labels)
            y = np.asarray(column_or_1d(labels, warn=True))
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y {len(y)} labels; each row needs one.")
        refuse_missing(y)
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
        given = np.asarray(classes)
        if not first and given.dtype == self.classes_.dtype and same(given, self.classes_):
            return self.classes_
        named = check_classes(given)
        if not first and not np.array_equal(named, self.classes_):
            raise ValueError(
                f"classes={named.tolist()} differs from the first call's {self.classes_.tolist()}; "
                "labels cannot be added later."
            )
        return named

    def _weigh(
        self,
        classes: Array,
        codes: Array,
        sample_weight: ArrayLike | None,
        learnt: Array | None = None,
    ) -> Array | None:
        """The weight of each row, or None when all are 1.

        Where classes are balanced, it is by the rows that are learnt from.
        """
        if codes.ndim == 2 and self.class_weight is not None:
            raise ValueError("class_weight is for rows of one label each; give sample_weight.")
        counted = codes if learnt is None else codes[learnt]
        of_class = class_weights(self.class_weight, classes, counted)
        return row_weights(codes, sample_weight, of_class)

    def _number(self, y: Array, classes: Array) -> Array:
        """Each label's number among the classes that partial_fit was promised."""
        return number_labels(y, classes, where="y: ")

    def _set_history(self, epochs: list[Epoch], stop_reason: str) -> None:
        """Keep what happened and why it ended."""
        self.history_, self.n_iter_, self.stop_reason_ = epochs, len(epochs), stop_reason

    def _restore(self, model: Model, width: int) -> None:
        """Take over what a model file says of any classifier."""
        self._check_parameters()
        self.classes_, self.n_features_in_ = model.classes, width
        names = model.features.get("names")
        if names is not None:
            if len(names) != width or not all(isinstance(name, str) for name in names):
                raise ValueError("its features are not as many names as weights")
            self.feature_names_in_ = np.array(names, object)
        self._set_history(list(model.history), model.facts.get("stop_reason", "max_iter"))

    def _feature_names(self) -> dict[str, Any]:
        """The names of the columns, if there are any."""
        names = getattr(self, "feature_names_in_", None)
        return {} if names is None else {"names": names.tolist()}


class when_calibrated:  # noqa: N801, a decorator
    """Make a method available to models with ``calibrate=True``, and tell others how to get it."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, kind: Any = None) -> Any:
        if model is None:
            return self.method
        if not model.calibrate:
            name = type(model).__name__
            raise AttributeError(
                f"{self.method.__name__} needs probabilities, which {name} learns only if asked: "
                f"use {name}(calibrate=True) and fit it again."
            )
        return MethodType(self.method, model)


def refuse_dicts(X: Any) -> None:
    """Refuse rows that are dicts or texts, which ``Features`` makes numbers of."""
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], Mapping | str):
        kind = "strings" if isinstance(X[0], str) else "dicts"
        raise ValueError(
            f"X holds {kind}, and a classifier learns from numbers: put Features before it, as in "
            "make_pipeline(Features(), Perceptron())."
        )


def make_seed(random_state: Any) -> int:
    """A number that decides the permutations: an int is its own seed."""
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def same(one: Array, other: Array) -> bool:
    """Whether two arrays are equal; faster than NumPy's own for small ones."""
    return one.shape == other.shape and bool((one == other).all())


def surely_finite(X: Any) -> bool:
    """Whether the sum of X is finite, and so all of it; the reverse need not hold."""
    values = X.data if hasattr(X, "indptr") else X
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def canonical(X: Any) -> Any:
    """X without duplicate entries, which would make norms wrong."""
    if hasattr(X, "indptr"):
        check_structure(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    return X


# For trainings elsewhere, such as on a cluster


def get_learner(estimator: OnlineClassifier) -> Any:
    """The learner of a fitted estimator."""
    check_is_fitted(estimator)
    return estimator._learner  # type: ignore[attr-defined]


def to_predictor(estimator: Any) -> Any:
    """A copy of a fitted estimator that predicts the same, without what only training needs."""
    light = copy(estimator)
    light._learner = get_learner(estimator).predictor()
    return light


def unchanged_by_errors(estimator: OnlineClassifier) -> Any:
    """A context that leaves the attributes of an estimator as they were after an error."""
    return estimator._unchanged_by_errors()


def take_over(
    estimator: Any, learner: Any, epochs: list[Epoch], stop_reason: str, plain: bool
) -> None:
    """Make an estimator the one that was trained; ``plain`` if the theory applies to it."""
    learner.parameters = estimator.get_params(deep=False)
    estimator._keep(learner, epochs, stop_reason)
    estimator._plain = plain
    estimator.__dict__.pop("feature_names_in_", None)
    if hasattr(learner, "width"):
        estimator.n_features_in_ = learner.width
    if "names" in learner.features:
        estimator.feature_names_in_ = np.array(learner.features["names"], object)

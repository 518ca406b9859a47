"""Rows by which early stopping decides: some that are held out, or ``X_val`` and ``y_val``."""

import warnings
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..data.labels import count_classes
from ..data.rows import Array, refuse_not_finite
from ..data.splits import HELD_OUT, Split
from ..data.weights import row_weights, rows_that_count
from ..parameters import CodedError, ParameterError
from ..training.scoring import RANKING, describe_unranked, explain_undefined, is_defined


class Validation(NamedTuple):
    """Rows to validate with, and the numbers of their classes."""

    X: Any
    codes: Array


def hold_out(
    model: Any, X: Any, codes: Array, sample_weight: ArrayLike | None, seed: int, classes: Array
) -> tuple[Array, Validation]:
    """Return the rows to learn from, and those that the model holds out."""
    known = rows_that_count(codes, row_weights(codes, sample_weight, None))
    learnt, held = Split(HELD_OUT, seed).stratify(codes, known)
    metric = model._values().get("metric", "error")
    if metric in RANKING:
        counts = count_classes(codes[held], len(classes))
        found = describe_unranked(metric, counts, len(held), classes)
        if found is not None:
            warnings.warn(found, stacklevel=6)
    return learnt, Validation(X[held], codes[held])


def check_validation(model: Any, X_val: Any, y_val: Any, classes: Array, dtype: Any) -> Validation:
    """Return the rows to validate with, checked against those to learn from."""
    if not model.early_stopping and model.calibrate != "conformal":
        raise ParameterError(
            "X_val is for early stopping and prediction sets; use early_stopping=True or "
            'calibrate="conformal", or leave it out.',
            code="validation-unused",
        )
    if X_val is None or y_val is None:
        raise ParameterError("X_val and y_val need each other; give both.", code="validation-form")
    try:
        X, y = model._check_rows(X_val, y_val, reset=False, dtype=dtype)
        refuse_not_finite(X)
        codes, metric = model._number(y, classes), model._values().get("metric", "error")
        ranked = metric in RANKING
        if ranked and not is_defined(metric, count_classes(codes, len(classes)), len(codes)):
            raise ParameterError(
                f"the rows {explain_undefined(metric)}; add rows of another class, or use another "
                "metric.",
                code="metric-one-class",
            )
        return Validation(X, codes)
    except CodedError as error:
        raise error.reword(f"X_val, y_val: {error}") from None
    except ValueError as error:
        raise ValueError(f"X_val, y_val: {error}") from None

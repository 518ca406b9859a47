"""Rows by which early stopping decides: some that are held out, or those of ``eval_set``."""

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


def check_eval_set(model: Any, eval_set: Any, classes: Array, dtype: Any) -> Validation:
    """Return the rows of ``eval_set``, checked against those to learn from."""
    if not model.early_stopping and model.calibrate != "conformal":
        raise ParameterError(
            "eval_set is for early stopping and prediction sets; use early_stopping=True or "
            'calibrate="conformal", or leave it out.',
            code="eval-set-unused",
        )
    if not isinstance(eval_set, tuple | list) or len(eval_set) != 2:
        raise ParameterError(
            "eval_set must be a tuple (X, y) of rows and their labels.", code="eval-set-form"
        )
    try:
        X, y = model._check_rows(*eval_set, reset=False, dtype=dtype)
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
        raise error.reword(f"eval_set: {error}") from None
    except ValueError as error:
        raise ValueError(f"eval_set: {error}") from None

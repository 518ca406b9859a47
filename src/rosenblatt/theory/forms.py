"""The algorithms of five teaching documents, each as it is printed, rounded or exact."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, to_dense
from ..kernels.algebra import shuffle
from ..parameters import RULE_TABLE
from ..parameters.conflicts import check_ranges
from ..parameters.tables import choice
from .problem import check_problem, is_mistake

MOST_NUMBERS = 10_000_000  # of rows, which are held as an array


class Form(NamedTuple):
    """An algorithm: what it does, and its parameters for Perceptron.

    All weights start at ``start`` plus normal noise of this size. ``test_bias`` is false for the
    one form whose test leaves the bias out.
    """

    title: str
    parameters: Mapping[str, Any]
    start: float = 0.0
    noise: float = 0.0
    test_bias: bool = True


FORMS = {
    "000": Form(
        "sgn(0) = +1, from weights near zero, rows at random, mistakes counted after each pass",
        {"ties": "positive", "order": "each", "measure": True},
        noise=0.001,
    ),
    "001": Form(
        "+1 if w·x > θ, θ fixed; find a mistake, correct it, repeat",
        {"ties": "negative", "order": "first", "intercept_step": 0.0},
    ),
    "002": Form("the bias moves by ηyR²", {"order": "fixed", "intercept_step": "radius"}),
    "002-listing": Form(
        "the Python listing: from ones, η = 0.1, a mistake if y(w·x + b) < 0",
        {"ties": "correct", "order": "fixed", "eta0": 0.1},
        start=1.0,
    ),
    "003": Form("through the origin", {"order": "fixed", "fit_intercept": False}),
    "003-offset": Form(
        "with offset as printed: the test leaves θ₀ out", {"order": "fixed"}, test_bias=False
    ),
    "004": Form("PerceptronTrain", {"order": "fixed"}),
}
TAKEN = "ties", "order", "eta0", "intercept_step", "fit_intercept", "measure"


TABLE = {**RULE_TABLE["perceptron"].parameters, "order": choice("each", "once", "fixed", "first")}


as_written = np.frompyfunc(lambda value: Fraction(repr(float(value))), 1, 1)
"""Return numbers as the fractions that their shortest decimal notations are."""


class FormUpdate(NamedTuple):
    """One update of ``train_form``.

    Attributes
    ----------
    epoch, row : int
        The pass, from 1, and the number of the row, from 0.
    sign : int
        The row's label as +1 or -1.
    activation : float or Fraction
        What the form compared with 0: w·x + b before the update.
    weights : ndarray of shape (n_features,)
        The weights after the update.
    bias : float or Fraction
        The bias after it.

    See Also
    --------
    train_form : Makes them.

    Examples
    --------
    >>> update = train_form([[2.0], [-1.0]], [1, -1]).updates[0]
    >>> update.row, update.sign, update.weights.tolist(), float(update.bias)
    (0, 1, [2.0], 1.0)
    """

    epoch: int
    row: int
    sign: int
    activation: Any
    weights: Array
    bias: Any


class FormRun(NamedTuple):
    """A training by ``train_form``.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The last weights.
    bias : float or Fraction
        The last bias.
    updates : tuple of FormUpdate
        Every update.
    epochs : int
        The number of passes; with the order "first", of searches for a mistake.
    stop_reason : {"separated", "max_iter"}
        "separated" if the last pass found no mistake.
    errors : int
        The rows that w·x + b puts on the wrong side; ``ties`` decides about 0.

    See Also
    --------
    train_form : Makes it.

    Examples
    --------
    >>> found = train_form([[2.0], [-1.0]], [1, -1])
    >>> len(found.updates), found.epochs, found.stop_reason, found.errors
    (1, 2, 'separated', 0)
    """

    weights: Array
    bias: Any
    updates: tuple[FormUpdate, ...]
    epochs: int
    stop_reason: str
    errors: int


def train_form(
    X: Any,
    y: ArrayLike,
    form: str = "004",
    *,
    exact: bool = False,
    start: ArrayLike | None = None,
    max_iter: int = 1000,
    random_state: int = 0,
    **parameters: Any,
) -> FormRun:
    """Train a perceptron exactly as a teaching document prints it, with a record of each update.

    This is a loop in Python for small data. Perceptron with the same parameters makes the same
    updates faster, except for the form "003-offset", which it does not have.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows. Without any features, the bias alone moves.
    y : array-like of shape (n_samples,)
        Labels of two classes; the larger is +1.
    form : {"000", "001", "002", "002-listing", "003", "003-offset", "004"}, default="004"
        The document, and which of its algorithms.
    exact : bool, default=False
        Whether to compute in fractions instead of floating point. Numbers are taken as they are
        written: 0.1 is one tenth.
    start : array-like of shape (n_features + 1,), default=None
        The first weights, and last the bias; None: as the form says. With the form "001", the last
        number is the fixed -θ.
    max_iter : int, default=1000
        Largest number of passes.
    random_state : int, default=0
        Seed of random orders and of weights near zero.
    **parameters
        Other values of ``ties``, ``order`` ("fixed", "once", "each" or "first"), ``eta0``,
        ``intercept_step``, ``fit_intercept`` or ``measure``, as of Perceptron.

    Returns
    -------
    FormRun
        The weights, every update, and how it ended.

    See Also
    --------
    steps : The updates of a Perceptron, for any data.
    losses : J₁, J and Eₙ of any weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rounded = train_form(X[:99, :2], y[:99], "002-listing")
    >>> exact = train_form(X[:99, :2], y[:99], "002-listing", exact=True)
    >>> rounded.epochs, exact.epochs, [str(w) for w in exact.weights], str(exact.bias)
    (702, 686, ['783/100', '-501/50'], '-61/5')
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}; got {form!r}.")
    usual = {name: TABLE[name].default for name in TAKEN}
    chosen = usual | dict(FORMS[form].parameters) | parameters | {"max_iter": max_iter}
    if unknown := parameters.keys() - set(TAKEN):
        raise ValueError(f"There is no parameter {min(unknown)}; use {', '.join(TAKEN)}.")
    check_ranges(chosen, {name: TABLE[name] for name in chosen})
    problem = check_problem(X, y)
    n, width = problem.X.shape
    if n * width > MOST_NUMBERS:
        raise ValueError(f"A form is for at most {MOST_NUMBERS:,} numbers; use Perceptron.")
    rows, signs, ties = to_dense(problem.X), problem.signs.astype(int).tolist(), chosen["ties"]
    noise = np.random.default_rng(random_state).normal(size=width + 1)
    first = FORMS[form].start + FORMS[form].noise * noise
    if start is not None:
        first = check_start(start, width, bool(chosen["fit_intercept"]))
    number = as_written if exact else float
    if exact:
        rows, first = as_written(rows), as_written(first)
    weights, bias, eta = first[:-1], first[-1], number(chosen["eta0"])
    step = chosen["intercept_step"]
    step = (rows * rows).sum(axis=1).max() if step == "radius" else number(step)
    bias_step = eta * step * bool(chosen["fit_intercept"])

    def count_errors() -> int:
        functional = (rows @ weights + bias) * signs
        return int(np.sum(is_mistake(functional, problem.signs, ties)))

    updates: list[FormUpdate] = []
    epoch, done = 0, False
    while epoch < max_iter and not done:
        epoch += 1
        before = len(updates)
        numbers = np.arange(n, dtype=np.uint32)
        if chosen["order"] in ("once", "each"):
            shuffle(numbers, random_state, epoch if chosen["order"] == "each" else 0)
        for i in numbers.tolist():
            activation = rows[i] @ weights + (bias if FORMS[form].test_bias else 0)
            if is_mistake(activation * signs[i], signs[i], ties):
                weights = weights + eta * signs[i] * rows[i]
                bias = bias + signs[i] * bias_step
                updates.append(FormUpdate(epoch, i, signs[i], activation, weights, bias))
                if chosen["order"] == "first":
                    break
        done = len(updates) == before or (chosen["measure"] and not count_errors())
    reason = "separated" if done else "max_iter"
    return FormRun(weights, bias, tuple(updates), epoch, reason, count_errors())


def check_start(start: ArrayLike, width: int, fit_intercept: bool) -> Array:
    """Return the first weights and the bias; refuse a bias where none is learnt."""
    first: Array = np.asarray(start, np.float64)
    if first.shape != (width + 1,) or not np.isfinite(first).all():
        raise ValueError(f"start must be {width + 1} numbers, the bias last; got {start!r}.")
    if first[-1] and not fit_intercept:
        raise ValueError("The form has no bias, so the last number of start must be 0.")
    return first

"""The algorithms of five teaching documents, each as it is printed, rounded or exact."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, is_sparse
from ..kernels.algebra import shuffle
from ..parameters import RULE_TABLE
from ..parameters.conflicts import check_ranges
from ..parameters.tables import SIGN_OF_ZERO
from .problem import check_problem

ORDERS = ("fixed", "once", "each", "first")
MOST_NUMBERS = 10_000_000  # of rows, which are held as an array


class Form(NamedTuple):
    """An algorithm: what it does, its parameters for Perceptron, and where it starts.

    ``test_bias`` is false for the one form whose test leaves the bias out.
    """

    title: str
    parameters: Mapping[str, Any]
    start: str = "zero"
    test_bias: bool = True


FORMS = {
    "000": Form(
        "sgn(0) = +1, from weights near zero, rows at random, mistakes counted after each pass",
        {"ties": "positive", "order": "each", "measure": True},
        start="near zero",
    ),
    "001": Form(
        "+1 if w·x > θ, θ fixed; find a mistake, correct it, repeat",
        {"ties": "negative", "order": "first", "intercept_step": 0.0},
    ),
    "002": Form("the bias moves by ηyR²", {"order": "fixed", "intercept_step": "radius"}),
    "002-listing": Form(
        "the Python listing: from ones, η = 0.1, a mistake if y(w·x + b) < 0",
        {"ties": "correct", "order": "fixed", "eta0": 0.1},
        start="ones",
    ),
    "003": Form("through the origin", {"order": "fixed", "fit_intercept": False}),
    "003-offset": Form(
        "with offset as printed: the test leaves θ₀ out", {"order": "fixed"}, test_bias=False
    ),
    "004": Form("PerceptronTrain", {"order": "fixed"}),
}
TAKEN = "ties", "order", "eta0", "intercept_step", "fit_intercept", "measure"


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
    table = RULE_TABLE["perceptron"].parameters
    usual = {name: table[name].default for name in TAKEN}
    chosen = usual | dict(FORMS[form].parameters) | parameters
    if unknown := parameters.keys() - set(TAKEN):
        raise ValueError(f"There is no parameter {min(unknown)}; use {', '.join(TAKEN)}.")
    if chosen["order"] not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {chosen['order']!r}.")
    settings = chosen | {"max_iter": max_iter}
    check_ranges(settings, {name: table[name] for name in settings})
    problem = check_problem(X, y)
    rows, signs = problem.X, problem.signs.astype(int).tolist()
    if rows.shape[0] * rows.shape[1] > MOST_NUMBERS:
        raise ValueError(
            f"train_form is for at most {MOST_NUMBERS:,} numbers; use Perceptron with the same "
            "parameters."
        )
    rows = rows.toarray() if is_sparse(rows) else rows
    first = choose_start(FORMS[form].start, rows.shape[1], start, random_state)
    eta = chosen["eta0"]
    if exact:
        rows, first, eta = read_as_written(rows), read_as_written(first), as_written(eta)
    weights, bias = first[:-1], first[-1]
    bias_step = compute_bias_step(rows, chosen, eta)
    is_mistake = make_test(chosen["ties"])

    def count_errors() -> int:
        return sum(map(is_mistake, rows @ weights + bias, signs))

    updates: list[FormUpdate] = []
    stop_reason, epoch = "max_iter", 0
    orders = list_orders(chosen["order"], len(signs), random_state)
    while epoch < max_iter and stop_reason == "max_iter":
        epoch += 1
        before = len(updates)
        for i in next(orders):
            activation = rows[i] @ weights + (bias if FORMS[form].test_bias else 0)
            if is_mistake(activation, signs[i]):
                weights = weights + eta * signs[i] * rows[i]
                bias = bias + signs[i] * bias_step
                updates.append(FormUpdate(epoch, i, signs[i], activation, weights, bias))
                if chosen["order"] == "first":
                    break
        done = len(updates) == before
        if done or (chosen["measure"] and not count_errors()):
            stop_reason = "separated"
    return FormRun(weights, bias, tuple(updates), epoch, stop_reason, count_errors())


def make_test(ties: str) -> Callable[[Any, int], bool]:
    """Return the test of a form: whether an activation is a mistake for a sign."""

    def is_mistake(activation: Any, sign: int) -> bool:
        on_boundary = ties == "mistake" or sign == -SIGN_OF_ZERO[ties]
        return bool(activation * sign < 0 or (activation == 0 and on_boundary))

    return is_mistake


def compute_bias_step(rows: Array, chosen: Mapping[str, Any], eta: Any) -> Any:
    """Compute how far a mistake moves the bias."""
    if not chosen["fit_intercept"]:
        return 0 * eta
    step = chosen["intercept_step"]
    if step == "radius":
        return eta * (rows * rows).sum(axis=1).max()
    return eta * (as_written(step) if isinstance(eta, Fraction) else step)


def choose_start(where: str, width: int, given: ArrayLike | None, seed: int) -> Array:
    """Return the first weights and bias: those given, or as the form says."""
    if given is not None:
        start = np.asarray(given, np.float64)
        if start.shape != (width + 1,) or not np.isfinite(start).all():
            raise ValueError(
                f"start must be {width + 1} numbers: {width} weights and the bias; got {given!r}."
            )
        return start
    if where == "near zero":
        return 0.001 * np.random.default_rng(seed).normal(size=width + 1)
    return np.full(width + 1, float(where == "ones"))


def list_orders(order: str, n: int, seed: int) -> Iterator[list[int]]:
    """Iterate over the order of the rows in each pass."""
    epoch = 0
    while True:
        epoch += order == "each"
        rows = np.arange(n, dtype=np.uint32)
        if order in ("once", "each"):
            shuffle(rows, seed, epoch)
        yield rows.tolist()


def as_written(value: Any) -> Fraction:
    """Return a number as the fraction that its shortest decimal notation is."""
    return Fraction(repr(float(value)))


def read_as_written(values: Array) -> Array:
    """Return an array of fractions."""
    return np.asarray(np.frompyfunc(as_written, 1, 1)(values), object)

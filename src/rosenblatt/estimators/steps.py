"""Train one update at a time, with a record of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, to_dense
from ..training.training import Training
from .linear import LinearClassifier
from .linear_base import FROM_ZERO, Prepared, Start
from .perceptron import Perceptron


class Step(NamedTuple):
    """One update of a Perceptron.

    With ``order="batch"`` the positions, rows, labels, rivals and activations of all rows that made
    it are arrays, the loss is their sum, and the cosines are those between the weights and what was
    added to them.

    Attributes
    ----------
    epoch, position, row : int
        The epoch, from 1; the position in its order and the number of the row, both from 0.
    label, rival : object
        The label of the row; for over two classes also the wrong class that was corrected, else
        None.
    activation : float
        w·x + b before the update; for over two classes, the lead of the right class.
    loss : float
        The row's part of J: -y·activation, or 0 on the right side.
    weights, bias : ndarray
        The weights and biases before the update.
    new_weights, new_bias : ndarray
        The weights and biases after it, in the shapes of ``coef_`` and ``intercept_``.
    cosine, new_cosine : float
        The cosine of the angle between x and the weights of the right class, before and after; NaN
        for zero weights.

    See Also
    --------
    steps : Yields these records.

    Examples
    --------
    >>> step = next(steps([[2.0, 1.0], [-1.0, 1.0]], [1, -1], order="fixed"))
    >>> step.row, int(step.label), step.activation, step.new_bias.tolist()
    (0, 1, 0.0, [1.0])
    """

    epoch: int
    position: Any
    row: Any
    label: Any
    rival: Any
    activation: Any
    loss: float
    weights: Array
    bias: Array
    new_weights: Array
    new_bias: Array
    cosine: float
    new_cosine: float


def steps(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    coef_init: ArrayLike | None = None,
    intercept_init: ArrayLike | None = None,
    **parameters: Any,
) -> Iterator[Step]:
    """Train a Perceptron and yield a record of every update; the weights are those of ``fit``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The labels of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, as for ``Perceptron.fit``.
    coef_init, intercept_init : array-like, default=None
        Initial weights and biases; None starts at zero.
    **parameters
        Parameters of ``Perceptron``.

    Returns
    -------
    iterator of Step
        One record per update; training continues as they are consumed.

    See Also
    --------
    Perceptron : Trains without records.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[2.0, 1.0], [-1.0, 1.0]]), [1, -1]
    >>> [step.new_weights.tolist() for step in steps(X, y, order="fixed")]
    [[[2.0, 1.0]], [[3.0, 0.0]]]
    """
    start = coef_init, intercept_init
    return start_steps(Perceptron(**parameters), X, y, sample_weight, start)


def start_steps(
    model: LinearClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    start: Start = FROM_ZERO,
) -> Iterator[Step]:
    """Prepare the training of ``fit``, to go through it update by update."""
    model._check_parameters("steps")
    given = model._prepare(X, y, sample_weight, reset=True)
    learner = model._begin(given.classes, given.rows, start)
    reason = learner.refusal("step")
    if reason:
        raise ValueError(reason)
    return record_updates(given, model._run(learner, given, updates_at_once=1))


def record_updates(given: Prepared, training: Training) -> Iterator[Step]:
    """Train, and yield the record of each update."""
    (problem,) = training.problems
    before = copy_weights(problem.state)
    with np.errstate(over="ignore", invalid="ignore"):
        for order, learnt in training.updates():
            if learnt.mistakes:
                yield make_step(given, training, order, learnt.updates, *before)
            before = copy_weights(problem.state)


def copy_weights(state: Any) -> tuple[Array, Array]:
    """Return copies of the weights and bias of a state."""
    weights, bias = state.present()
    return weights.copy(), bias.copy()


def make_step(
    given: Prepared, training: Training, order: Array, updates: Array, weights: Array, bias: Array
) -> Step:
    """Make the record of the last update of a training, by one row or by all rows of a batch."""
    made = updates if training.order == "batch" else updates[0]
    row, margin = order[made["position"]], made["margin"]
    state = training.problems[0].state
    code, two = given.rows.codes[row], state.weights.ndim == 1
    new_weights, new_bias = copy_weights(state)
    activation = margin * np.where(code == 0, -1.0, 1.0) if two else margin
    if training.order == "batch":
        old, new, x = weights.ravel(), new_weights.ravel(), (new_weights - weights).ravel()
    else:
        row, margin, activation = int(row), float(margin), float(activation)
        of_label = ... if two else (slice(None), code)
        old, new, x = weights[of_label], new_weights[of_label], to_dense(given.X[[row]]).ravel()
    return Step(
        epoch=training.epoch,
        position=made["position"].copy() if training.order == "batch" else int(made["position"]),
        row=row,
        label=given.classes[code],
        rival=None if two else given.classes[made["rival"]],
        activation=activation,
        loss=float(np.maximum(-margin, 0.0).sum()),
        weights=np.atleast_2d(weights.T),
        bias=bias,
        new_weights=np.atleast_2d(new_weights.T),
        new_bias=new_bias,
        cosine=compute_cosine(old, x),
        new_cosine=compute_cosine(new, x),
    )


def compute_cosine(w: Array, x: Array) -> float:
    """Compute the cosine of the angle between two vectors; NaN if one is zero."""
    norms = float(np.linalg.norm(w)) * float(np.linalg.norm(x))
    return float(np.clip(w @ x / norms, -1, 1)) if norms else float("nan")

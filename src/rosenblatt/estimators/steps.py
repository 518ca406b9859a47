"""Training one update at a time, with a record of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array, to_dense
from ..learners.linear import LinearLearner
from ..training.run import Run
from ..training.tasks import Learnt
from .linear import LinearClassifier, Prepared
from .perceptron import Perceptron


class Step(NamedTuple):
    """One update, as the textbook would write it down.

    With ``order="batch"`` the positions, rows, labels, rivals and activations of all rows that made
    it are arrays, the loss is their sum, and the cosines are those between the weights and what was
    added to them.

    Attributes
    ----------
    epoch, position, row : int
        When it happened: the epoch from 1, the place in its order and the row of X, both from 0.
    label, rival : object
        The row's label; with over two classes also the wrong one that was moved away, else None.
    activation : float
        w·x + b before the update; with over two classes, the lead of the right class.
    loss : float
        What this row adds to J: -y·activation, or 0 when it is on the right side.
    weights, bias : ndarray
        Before the update.
    new_weights, new_bias : ndarray
        After the update, in the shapes of ``coef_`` and ``intercept_`` (one row for two classes).
    cosine, new_cosine : float
        Of the angle between x and the (right class's) weights before and after; NaN at zero.

    See Also
    --------
    steps : Yields these.

    Examples
    --------
    >>> step = next(steps([[2.0, 1.0], [-1.0, 1.0]], [1, -1], order="fixed"))
    >>> step.row, step.label, step.activation, step.new_bias.tolist()
    (0, np.int64(1), 0.0, [1.0])
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
    """Train a Perceptron and yield a record of every update, from the same kernels as ``fit``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, as for ``Perceptron.fit``.
    coef_init, intercept_init : array-like, default=None
        Where to start instead of zero.
    **parameters
        As for ``Perceptron``.

    Returns
    -------
    iterator of Step
        One record for each update; the run goes on as they are taken.

    See Also
    --------
    Perceptron : Learns the same without records.
    rosenblatt.plots.LearningAnimation : Draws every update.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[2.0, 1.0], [-1.0, 1.0]]), [1, -1]
    >>> [step.new_weights.tolist() for step in steps(X, y, order="fixed")]
    [[[2.0, 1.0]], [[3.0, 0.0]]]
    """
    start = coef_init, intercept_init
    return iter(follow(Perceptron(**parameters), X, y, sample_weight, start))


@dataclass
class Followed:
    """A run that stops at every update; going through it trains, and gives a record of each.

    ``pieces`` gives the rows between two updates as well.
    """

    given: Prepared
    learner: LinearLearner
    run: Run

    def __iter__(self) -> Iterator[Step]:
        return (step for _, _, step in self.pieces() if step is not None)

    def pieces(self) -> Iterator[tuple[Array, Learnt, Step | None]]:
        """The order of each sweep, how far it went, and the update that it stopped at, if any."""
        (problem,) = self.run.problems
        state = problem.state
        before = copied(state)
        with np.errstate(over="ignore", invalid="ignore"):
            for order, learnt in self.run.updates():
                step, made = None, learnt.updates
                if len(made):
                    step = step_record(self.given, self.run, order, made, *before)
                yield order, learnt, step
                before = copied(state)


def follow(
    model: LinearClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    start: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> Followed:
    """The run that ``fit`` of a model would make, ready to be gone through update by update."""
    model._check_parameters("steps")
    given = model._prepare(X, y, sample_weight, reset=True)
    learner = model._begin(given, start)
    if len(learner.states) > 1:
        raise ValueError('steps follows one problem; give y == label instead of multi_class="ovr".')
    return Followed(given, learner, model._run(learner, given, updates_at_once=1))


def copied(state: Any) -> tuple[Array, Array]:
    """The weights and bias of a state as they are now."""
    weights, bias = state.present()
    return weights.copy(), bias.copy()


def step_record(
    given: Prepared, run: Run, order: Array, updates: Array, weights: Array, bias: Array
) -> Step:
    """Write down the update that a run has just made, by one row or by all of a batch."""
    made = updates if run.order == "batch" else updates[0]
    row, margin = order[made["position"]], made["margin"]
    state = run.problems[0].state
    code, two = given.rows.codes[row], state.weights.ndim == 1
    new_weights, new_bias = copied(state)
    if run.order == "batch":
        old, new, x = weights.ravel(), new_weights.ravel(), (new_weights - weights).ravel()
    else:
        row, margin = int(row), float(margin)
        of_label = ... if two else (slice(None), code)
        old, new, x = weights[of_label], new_weights[of_label], to_dense(given.X[[row]]).ravel()
    return Step(
        epoch=run.epoch,
        position=made["position"].copy() if run.order == "batch" else int(made["position"]),
        row=row,
        label=given.classes[code],
        rival=None if two else given.classes[made["rival"]],
        activation=margin * np.where(code == 0, -1.0, 1.0)[()] if two else margin,
        loss=float(np.maximum(-margin, 0.0).sum()),
        weights=np.atleast_2d(weights.T),
        bias=bias,
        new_weights=np.atleast_2d(new_weights.T),
        new_bias=new_bias,
        cosine=cosine(old, x),
        new_cosine=cosine(new, x),
    )


def cosine(w: Array, x: Array) -> float:
    """Of the angle between two vectors; NaN when one is zero."""
    norms = float(np.linalg.norm(w)) * float(np.linalg.norm(x))
    return float(np.clip(w @ x / norms, -1, 1)) if norms else float("nan")

"""Epochs, stop rules, and the checkpoints of unfinished runs."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from ..data.rows import Array


class Epoch(NamedTuple):
    """Counts and scores of one epoch; ``history_`` is a list of these.

    Attributes
    ----------
    epoch : int
        Its number, from 1.
    rows : int
        Rows gone through.
    mistakes : int
        Updates made; with ``order="batch"`` the rows that the one update was made by.
    errors : int
        J₁, the misclassified rows (the boundary counts as wrong unless ``ties`` says otherwise).
    loss : float
        J, the sum of -y·activation over the misclassified rows. Both are taken as each row was
        met, or with ``measure=True`` for the weights at the end of the epoch.
    validation_score : float or None
        The accuracy on the rows held out by ``early_stopping``, or the R² of numbers; with several
        problems, the mean over those that learnt in this epoch.

    See Also
    --------
    Perceptron : Its ``history_`` is a list of these.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> Perceptron(order="fixed").fit([[2.0, 1.0], [-1.0, 1.0]], [1, -1]).history_[0]
    Epoch(epoch=1, rows=2, mistakes=2, errors=2, loss=0.0, validation_score=None)
    """

    epoch: int
    rows: int
    mistakes: int
    errors: int
    loss: float
    validation_score: float | None = None


@dataclass(slots=True)
class Count:
    """Counts of an epoch so far."""

    rows: int = 0
    mistakes: int = 0
    errors: int = 0
    loss: float = 0.0

    def tally(self, learnt: Any) -> None:
        """Add what was learned from some rows."""
        self.add(Count(learnt.n_rows, len(learnt.updates), learnt.errors, learnt.loss))

    def add(self, epoch: "Epoch | Count") -> None:
        """Add the counts of another epoch."""
        self.rows += epoch.rows
        self.mistakes += epoch.mistakes
        self.errors += epoch.errors
        self.loss += epoch.loss


class Standing(NamedTuple):
    """The progress of one problem of an unfinished run, besides its state.

    Attributes
    ----------
    epochs : sequence of Epoch
        Those that are complete.
    rows, mistakes, errors, loss
        The ``Count`` of the epoch after them.
    stop_reason : str
        Why the problem rests; empty while it learns.
    best_score, best_epoch, best
        The best state on held-out rows so far, if there are such rows.
    mistaken : ndarray or None
        Which rows were ever mistaken, if that is needed.
    """

    epochs: Sequence[Epoch] = ()
    rows: int = 0
    mistakes: int = 0
    errors: int = 0
    loss: float = 0.0
    stop_reason: str = ""
    best_score: float = 0.0
    best_epoch: int = 0
    best: Any = None
    mistaken: Array | None = None


class Checkpoint(NamedTuple):
    """The progress of an unfinished run, besides its states.

    Attributes
    ----------
    epoch : int
        How many epochs are complete.
    parts : int
        How many parts of the data the epoch after them has gone through.
    problems : list of Standing
        One per problem.
    """

    epoch: int
    parts: int
    problems: list[Standing]


class Best(NamedTuple):
    """The best state on held-out rows so far."""

    score: float
    epoch: int
    state: Any


@dataclass
class History:
    """The epochs of one problem, and its stop rules.

    Attributes
    ----------
    max_iter : int
        The most epochs.
    patience : int
        How many epochs to wait for a better score on held-out rows.
    epochs : list of Epoch
        One record per epoch.
    best : Best or None
        The best state on held-out rows.
    stop_reason : str
        Why training ended; empty while it continues.
    """

    max_iter: int = 1
    patience: int = 5
    epochs: list[Epoch] = field(default_factory=list)
    best: Best | None = None
    stop_reason: str = ""

    def close(self, count: Count, state: Any, separated: bool, score: float | None) -> Epoch:
        """Record an epoch and decide whether to stop."""
        number, best = len(self.epochs) + 1, self.best
        if score is not None:
            better = best is None or score > best.score or (separated and score == best.score)
            if better:
                self.best = Best(score, number, copy.deepcopy(state))
        epoch = Epoch(number, count.rows, count.mistakes, count.errors, count.loss, score)
        self.epochs.append(epoch)
        self.decide(state, separated)
        return epoch

    def decide(self, state: Any, separated: bool) -> None:
        """Decide whether to stop after the last epoch."""
        number, reason = len(self.epochs), state.stop_reason(separated)
        if reason:
            self.stop_reason = reason
        elif self.best is not None and number - self.best.epoch >= self.patience:
            self.stop_reason = "no_improvement"
        elif number >= self.max_iter:
            self.stop_reason = "max_iter"

    def choose_state(self, state: Any) -> Any:
        """The state to keep: the best on held-out rows if there are any, else the last."""
        return state if self.best is None else self.best.state


REASONS = (
    "",
    "max_iter",
    "zero_weights",
    "no_improvement",
    "separated",
    "within_epsilon",
)


def stop_reason(histories: list[History]) -> str:
    """Why training ended, or "": the weakest reason of all problems."""
    reasons = {history.stop_reason for history in histories}
    return next(reason for reason in REASONS if reason in reasons)


def merge_epochs(histories: list[list[Epoch]]) -> list[Epoch]:
    """Sum the epochs of several problems by number; a problem that rests adds nothing."""
    if len(histories) == 1:
        return histories[0]
    together = zip_longest(*histories)
    return [sum_epochs(list(filter(None, epochs))) for epochs in together]


def sum_epochs(epochs: list[Epoch]) -> Epoch:
    """Sum one epoch of several problems: add the counts, average the scores."""
    count = Count()
    for epoch in epochs:
        count.add(epoch)
    scores = [epoch.validation_score for epoch in epochs if epoch.validation_score is not None]
    score = sum(scores) / len(scores) if scores else None
    return Epoch(epochs[0].epoch, count.rows, count.mistakes, count.errors, count.loss, score)

"""Epochs, stop rules, and the checkpoints of unfinished runs."""

import copy
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

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


@dataclass
class Count:
    """Counts of an epoch so far."""

    rows: int = 0
    mistakes: int = 0
    errors: int = 0
    loss: float = 0.0

    def tally(self, learnt: Any) -> None:
        """Add what was learned from some rows."""
        self.rows += learnt.n_rows
        self.mistakes += len(learnt.updates)
        self.errors += learnt.errors
        self.loss += learnt.loss

    def add(self, other: "Epoch | Count") -> None:
        """Add other counts."""
        self.rows += other.rows
        self.mistakes += other.mistakes
        self.errors += other.errors
        self.loss += other.loss

    def as_epoch(self, number: int = 1, score: float | None = None) -> Epoch:
        """The record of a whole epoch."""
        return Epoch(number, self.rows, self.mistakes, self.errors, self.loss, score)


@dataclass
class Progress(Count):
    """One problem of a run: its state, its epochs, and the counts of the epoch in progress.

    A checkpoint keeps all of it.

    Attributes
    ----------
    state
        What is learned: a solution.
    epochs : list of Epoch
        Those that are complete.
    stop_reason : str
        Why the problem rests; empty while it learns.
    best_score, best_epoch, best
        The best state on held-out rows so far, or None.
    mistaken : ndarray
        Which rows were ever mistaken, if the order asks for it; else empty.
    """

    state: Any = None
    epochs: list[Epoch] = field(default_factory=list)
    stop_reason: str = ""
    best_score: float = 0.0
    best_epoch: int = 0
    best: Any = None
    mistaken: Array = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def outcome(self) -> Any:
        """The state to keep: the best on held-out rows if there are any, else the last."""
        return self.state if self.best is None else self.best

    def close(self, separated: bool, score: float | None = None) -> None:
        """Record the epoch, and keep the state if it is the best on held-out rows."""
        epoch = self.as_epoch(len(self.epochs) + 1, score)
        self.epochs.append(epoch)
        self.rows, self.mistakes, self.errors, self.loss = 0, 0, 0, 0.0
        if score is not None:
            even = separated and score == self.best_score
            if self.best is None or score > self.best_score or even:
                self.best_score, self.best_epoch = score, epoch.epoch
                self.best = copy.deepcopy(self.state)

    def decide(self, separated: bool, max_iter: int, patience: int) -> None:
        """Decide whether to stop after the last epoch."""
        number = len(self.epochs)
        self.stop_reason = self.state.stop_reason(separated)
        if self.stop_reason:
            return
        if self.best is not None and number - self.best_epoch >= patience:
            self.stop_reason = "no_improvement"
        elif number >= max_iter:
            self.stop_reason = "max_iter"


class Checkpoint(NamedTuple):
    """The progress of an unfinished run, besides its states.

    Attributes
    ----------
    epoch : int
        How many epochs are complete.
    parts : int
        How many parts of the data the epoch after them has gone through.
    problems : list of Progress
        One per problem.
    """

    epoch: int
    parts: int
    problems: list[Progress]


REASONS = (
    "",
    "max_iter",
    "zero_weights",
    "no_improvement",
    "separated",
    "within_epsilon",
)


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
    return count.as_epoch(epochs[0].epoch, score)

"""Four ways to grow a network, unit by unit; each unit corrects some mistake."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .state import Unit, threshold

Weights = tuple[Array, float]  # and the bias of a unit
ROUND = 1e-9  # squared norms that differ by less are those of a sphere around the origin
TRIED = 64  # mistaken rows that are tried as the one to correct


class SignedRows(NamedTuple):
    """Rows, targets 1 and -1, and weights of rows; equal rows have equal numbers in ``same``."""

    rows: Array
    targets: Array
    weights: Array
    same: Array

    def select(self, chosen: Array) -> "SignedRows":
        """Select rows."""
        return SignedRows(*(each[chosen] for each in self))

    def flag_consistent(self) -> Array:
        """Flag the rows without an equal row of the other target."""
        sums, counts = np.bincount(self.same, self.targets), np.bincount(self.same)
        return np.asarray((np.abs(sums) == counts)[self.same])

    def sum_errors(self, outputs: Array) -> float:
        """Return the total weight of the rows with other outputs than targets."""
        return float(self.weights[outputs != self.targets].sum())

    def choose_better(self, one: Weights, other: Weights | None) -> Weights:
        """Return the unit with fewer errors; of equals, the first."""
        if other is None:
            return one
        errors = [self.sum_errors(apply_unit(each, self.rows)) for each in (one, other)]
        return one if errors[0] <= errors[1] else other


Learn = Callable[[SignedRows], Weights]  # finds the unit of some rows by the perceptron rule


def apply_unit(weights: Weights, rows: Array) -> Array:
    """Return the outputs of a unit."""
    return threshold(rows @ weights[0] + weights[1])


class Extreme(NamedTuple):
    """A direction in which one row is farther than all others: v·x is ``top`` there only."""

    v: Array
    row: int
    top: float
    next: float
    least: float


def find_extreme_row(rows: Array, same: Array, candidates: Array) -> Extreme | None:
    """Find the candidate that is farthest from the middle of all rows in its direction.

    On a sphere or a cube there is always one, which the theorems of these networks need.
    """
    middle = (rows.max(axis=0) + rows.min(axis=0)) / 2
    if np.ptp(np.einsum("ij,ij->i", rows, rows)) < ROUND:
        middle = np.zeros(rows.shape[1])
    best, widest = None, 0.0  # distance from the others, as a share of their spread
    for row in candidates[:TRIED]:
        v = rows[row] - middle
        products = rows @ v
        others = products[same != same[row]]
        if not len(others):
            continue
        top, highest, least = (float(each) for each in (products[row], others.max(), others.min()))
        distance = (top - highest) / max(top - least, np.finfo(float).tiny)
        if distance > widest:
            best, widest = Extreme(v, int(row), top, highest, least), distance
    return best


def detect_row(problem: SignedRows, candidates: Array) -> Weights | None:
    """Return a unit that is on for one of some rows only."""
    found = find_extreme_row(problem.rows, problem.same, candidates)
    return None if found is None else (found.v, -(found.top + found.next) / 2)


def correct_row(
    problem: SignedRows, before: Array, inputs: Array, place: int, learnt: Weights
) -> Weights:
    """Return better weights: those learnt, or of a unit that corrects one row (Gallant 1990).

    That unit repeats input number ``place``, which was the output before, except for the row.
    """
    wrong = np.flatnonzero((before != problem.targets) & problem.flag_consistent())
    found = find_extreme_row(problem.rows, problem.same, wrong)
    if found is None:
        return learnt
    target, weights = problem.targets[found.row], np.zeros(inputs.shape[1])
    centre, spread = (found.next + found.least) / 2, (found.next - found.least) / 2
    weights[: len(found.v)] = target * found.v
    weights[place] += (spread + found.top - centre) / 2  # more than the others have, less than it
    seen = problem._replace(rows=inputs)
    return seen.choose_better(learnt, (weights, -target * centre))


def chain(problem: SignedRows, learn: Learn, pyramid: bool) -> Iterator[Unit]:
    """Each unit sees the row and the unit before, or all of them (Gallant 1990)."""
    rows = problem.rows
    signals, layer = np.empty((len(rows), 0)), 0
    while True:
        inputs = np.column_stack([rows, signals if pyramid else signals[:, -1:]])
        weights = learn(problem._replace(rows=inputs))
        if layer:
            weights = correct_row(problem, signals[:, -1], inputs, -1, weights)
        yield Unit(*weights, layer)
        signals = np.column_stack([signals, apply_unit(weights, inputs)])
        layer += 1


def upstart(problem: SignedRows, learn: Learn) -> Iterator[Unit]:
    """Daughters turn a unit off where it is wrongly on, and on where wrongly off (Frean 1990)."""
    weights = learn(problem)
    yield Unit(*weights, 0)
    waiting, count = deque([(0, 0, problem, weights)]), 1
    while waiting:
        number, depth, own, weights = waiting.popleft()
        on, usable = apply_unit(weights, own.rows), own.flag_consistent()
        for sign in (-1, 1):
            to_mend = (own.targets == sign) & (on == -sign)
            if not (to_mend & usable).any():
                continue
            chosen = to_mend | (own.targets == -sign)
            part = own.select(chosen)._replace(targets=np.where(to_mend[chosen], 1.0, -1.0))
            sure = detect_row(part, np.flatnonzero((to_mend & usable)[chosen]))
            found = part.choose_better(learn(part), sure)
            yield Unit(*found, depth + 1, number, sign)
            waiting.append((count, depth + 1, part, found))
            count += 1


def tiling(problem: SignedRows, learn: Learn) -> Iterator[Unit]:
    """Layers whose outputs tell all rows of two classes apart, each with a master unit.

    Mézard & Nadal (1989). Ancillary units separate rows of two classes with the same outputs.
    """
    layer, before = 0, np.zeros(len(problem.rows))
    while True:
        rows, targets = problem.rows, problem.targets
        weights, usable = learn(problem), problem.flag_consistent()
        if layer:  # the first input is the master of the layer before
            weights = correct_row(problem, before, rows, 0, weights)
        yield Unit(*weights, layer)
        signals = apply_unit(weights, rows)[:, None]
        while True:
            groups = np.unique(signals, axis=0, return_inverse=True)[1].reshape(-1)
            mixed = find_mixed_group(groups, targets, usable)
            if mixed is None:
                break
            part = problem.select(mixed)
            sure = detect_row(part, np.arange(len(mixed)))
            found = choose_dividing(learn(part), sure, part.rows)
            if found is None:
                break
            yield Unit(*found, layer)
            signals = np.column_stack([signals, apply_unit(found, rows)])
        before, layer = signals[:, 0], layer + 1
        problem = problem._replace(rows=signals, same=groups)


def find_mixed_group(groups: Array, targets: Array, usable: Array) -> Array | None:
    """Return the rows of the largest group with the same outputs and two classes."""
    sizes = np.bincount(groups[usable], minlength=groups.max() + 1)
    for group in np.argsort(-sizes, kind="stable"):
        mine = np.flatnonzero((groups == group) & usable)
        if len(np.unique(targets[mine])) == 2:
            return mine
    return None


def choose_dividing(one: Weights, other: Weights | None, rows: Array) -> Weights | None:
    """Return the first weights that are on for some rows and off for others."""
    for weights in (one, other):
        if weights is not None and len(np.unique(apply_unit(weights, rows))) == 2:
            return weights
    return None


def grow_units(name: str, problem: SignedRows, learn: Learn) -> Iterator[Unit]:
    """Yield the units of a network, as long as there are mistakes to correct."""
    if name == "upstart":
        return upstart(problem, learn)
    if name == "tiling":
        return tiling(problem, learn)
    return chain(problem, learn, pyramid=name == "pyramid")

"""Four ways to grow a network, unit by unit; each unit corrects some mistake."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .state import Unit, threshold

Weights = tuple[Array, float]
Learn = Callable[[Array, Array], Weights]
"""The weights and the bias that the perceptron rule finds for rows and targets 1 and -1."""
ROUND = 1e-9  # squared norms that differ by less are those of a sphere around the origin
TRIED = 64  # mistaken rows that are tried as the one to correct


class Problem(NamedTuple):
    """Rows and their targets 1 and -1; equal rows have equal numbers in ``same``."""

    rows: Array
    targets: Array
    same: Array

    def select(self, chosen: Array) -> "Problem":
        """Select rows."""
        return Problem(self.rows[chosen], self.targets[chosen], self.same[chosen])


def count_mistakes(weights: Weights, rows: Array, targets: Array) -> int:
    """Count the rows that weights get wrong."""
    return int(np.count_nonzero(threshold(rows @ weights[0] + weights[1]) != targets))


def choose_better(one: Weights, other: Weights | None, rows: Array, targets: Array) -> Weights:
    """Return the weights with fewer mistakes; of equals, the first."""
    if other is None or count_mistakes(one, rows, targets) <= count_mistakes(other, rows, targets):
        return one
    return other


class Apart(NamedTuple):
    """A direction in which one row is farther than all others: v·x is ``top`` there only."""

    v: Array
    row: int
    top: float
    next: float
    least: float

    @property
    def clearance(self) -> float:
        """The distance of the row from the others, as a share of their spread."""
        return (self.top - self.next) / max(self.top - self.least, np.finfo(float).tiny)


def find_extreme_row(rows: Array, same: Array, candidates: Array) -> Apart | None:
    """Find the candidate that is farthest from the middle of all rows in its direction.

    On a sphere or a cube there is always one, which the theorems of these networks need.
    """
    middle = (rows.max(axis=0) + rows.min(axis=0)) / 2
    if np.ptp(np.einsum("ij,ij->i", rows, rows)) < ROUND:
        middle = np.zeros(rows.shape[1])
    best = None
    for row in candidates[:TRIED]:
        v = rows[row] - middle
        products = rows @ v
        others = products[same != same[row]]
        if not len(others):
            continue
        found = Apart(v, int(row), float(products[row]), float(others.max()), float(others.min()))
        if found.top > found.next and (best is None or found.clearance > best.clearance):
            best = found
    return best


def detect_row(apart: Apart | None) -> Weights | None:
    """Return a unit that is on for one row only."""
    return None if apart is None else (apart.v, -(apart.top + apart.next) / 2)


def correct_row(apart: Apart | None, target: float, known: Array) -> Weights | None:
    """Return a unit that repeats one of its inputs, except for one row (Gallant 1990).

    ``known`` is 1 at the input to be repeated.
    """
    if apart is None:
        return None
    centre, spread = (apart.next + apart.least) / 2, (apart.next - apart.least) / 2
    repeat = (spread + apart.top - centre) / 2  # more than the others have, less than the row
    return target * apart.v + repeat * known, -target * centre


def flag_consistent(problem: Problem) -> Array:
    """Flag the rows without an equal row of the other target."""
    groups = problem.same.max() + 1 if len(problem.same) else 0
    highest, lowest = np.full(groups, -1.0), np.full(groups, 1.0)
    np.maximum.at(highest, problem.same, problem.targets)
    np.minimum.at(lowest, problem.same, problem.targets)
    return np.asarray((highest == lowest)[problem.same])


def chain(problem: Problem, learn: Learn, pyramid: bool) -> Iterator[Unit]:
    """Each unit sees the row and the unit before, or all of them (Gallant 1990)."""
    rows, targets, same = problem
    usable, signals, layer = flag_consistent(problem), np.empty((len(rows), 0)), 0
    while True:
        seen = signals if pyramid else signals[:, -1:]
        inputs = np.column_stack([rows, seen])
        weights = learn(inputs, targets)
        if layer:
            wrong = np.flatnonzero((signals[:, -1] != targets) & usable)
            apart = find_extreme_row(rows, same, wrong)
            known = np.zeros(inputs.shape[1])
            known[-1] = 1.0
            if apart is not None:
                apart = apart._replace(v=np.append(apart.v, np.zeros(seen.shape[1])))
            sure = correct_row(apart, targets[apart.row] if apart else 0.0, known)
            weights = choose_better(weights, sure, inputs, targets)
        yield Unit(*weights, layer)
        signals = np.column_stack([signals, threshold(inputs @ weights[0] + weights[1])])
        layer += 1


def upstart(problem: Problem, learn: Learn) -> Iterator[Unit]:
    """Daughters turn a unit off where it is wrongly on, and on where wrongly off (Frean 1990)."""
    weights = learn(problem.rows, problem.targets)
    yield Unit(*weights, 0)
    waiting, count = deque([(0, 0, problem, weights)]), 1
    while waiting:
        number, depth, own, weights = waiting.popleft()
        on = threshold(own.rows @ weights[0] + weights[1])
        usable = flag_consistent(own)
        for sign in (-1, 1):
            to_mend = (own.targets == sign) & (on == -sign)
            if not (to_mend & usable).any():
                continue
            chosen = to_mend | (own.targets == -sign)
            part = own.select(chosen)._replace(targets=np.where(to_mend[chosen], 1.0, -1.0))
            mistaken = np.flatnonzero((to_mend & usable)[chosen])
            sure = detect_row(find_extreme_row(part.rows, part.same, mistaken))
            found = choose_better(learn(*part[:2]), sure, *part[:2])
            yield Unit(*found, depth + 1, number, sign)
            waiting.append((count, depth + 1, part, found))
            count += 1


def tiling(problem: Problem, learn: Learn) -> Iterator[Unit]:
    """Layers whose outputs tell all rows of two classes apart, each with a master unit.

    Mézard & Nadal (1989). Ancillary units separate rows of two classes with the same outputs.
    """
    layer, before = 0, np.zeros(len(problem.rows))
    while True:
        rows, targets, same = problem
        usable = flag_consistent(problem)
        weights = learn(rows, targets)
        if layer:
            apart = find_extreme_row(rows, same, np.flatnonzero((before != targets) & usable))
            known = np.zeros(rows.shape[1])
            known[0] = 1.0  # the master of the layer before
            sure = correct_row(apart, targets[apart.row] if apart else 0.0, known)
            weights = choose_better(weights, sure, rows, targets)
        yield Unit(*weights, layer)
        signals = threshold(rows @ weights[0] + weights[1])[:, None]
        while True:
            looks = np.unique(signals, axis=0, return_inverse=True)[1].reshape(-1)
            mixed = find_mixed_group(looks, targets, usable)
            if mixed is None:
                break
            part = problem.select(mixed)
            apart = find_extreme_row(part.rows, part.same, np.arange(len(part.same)))
            found = choose_parting(learn(part.rows, part.targets), detect_row(apart), part.rows)
            if found is None:
                break
            yield Unit(*found, layer)
            signals = np.column_stack([signals, threshold(rows @ found[0] + found[1])])
        before, layer = signals[:, 0], layer + 1
        problem = Problem(signals, targets, looks)


def find_mixed_group(looks: Array, targets: Array, usable: Array) -> Array | None:
    """Return the rows of the largest group with the same outputs and two classes."""
    sizes = np.bincount(looks[usable], minlength=looks.max() + 1)
    for group in np.argsort(-sizes, kind="stable"):
        mine = np.flatnonzero((looks == group) & usable)
        if len(np.unique(targets[mine])) == 2:
            return mine
    return None


def choose_parting(one: Weights, other: Weights | None, rows: Array) -> Weights | None:
    """Return the first weights that are on for some rows and off for others."""
    for weights in (one, other):
        if weights is not None and len(np.unique(threshold(rows @ weights[0] + weights[1]))) == 2:
            return weights
    return None


def grow_units(name: str, problem: Problem, learn: Learn) -> Iterator[Unit]:
    """Yield the units of a network, as long as there are mistakes to correct."""
    if name == "upstart":
        return upstart(problem, learn)
    if name == "tiling":
        return tiling(problem, learn)
    return chain(problem, learn, pyramid=name == "pyramid")

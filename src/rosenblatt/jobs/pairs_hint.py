"""A note where products of columns would lower the error on held-out rows much."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.rows import Array, view_rows
from ..data.targets import ClassTarget
from ..learners.linear import TrainingRows
from ..parameters import FOR_TABLES
from ..training.plan import Plan, usual_aggressiveness, usual_bias_step
from ..training.report import Note
from .job import begin_learner

FEW_COLUMNS = 20
LEAST_ROWS, MOST_ROWS = 300, 2_000  # to learn from, and to test with
LEAST_GAIN = 0.02  # of the error, and a quarter of it


def find_hint(plan: Plan, X: Array, codes: Array, target: Any) -> Note | None:
    """Return a note that suggests products, or None where they hardly help.

    Two models of a sample of the rows are compared on a sample of those held out: one of the
    columns, one of columns and products.

    Parameters
    ----------
    plan
        The plan of the training, which holds rows out.
    X, codes
        All rows of a table of numbers, and the numbers of their classes.
    target
        The classes.
    """
    held = plan.split.held_out(0, len(codes))
    learnt, tested = (np.flatnonzero(some & (codes >= 0))[:MOST_ROWS] for some in (~held, held))
    if min(len(learnt), len(tested)) < LEAST_ROWS:
        return None
    before, after = (
        measure_error(plan, rows, codes, (learnt, tested), target) for rows in (X, add_products(X))
    )
    if before - after < max(LEAST_GAIN, before / 4):
        return None
    sentence = (
        f"Products of columns lower the error on held-out rows from {before:.1%} to {after:.1%} "
        f"(learnt from {len(learnt):,} rows): add pairs, or tune."
    )
    return Note(sentence, "pairs")


def may_gain(plan: Plan, rule: str | None, width: int, target: Any) -> bool:
    """Whether a training by default of few columns of numbers holds rows out."""
    usual = rule is None and plan.rule == FOR_TABLES["rule"] and bool(plan.split)
    classes = isinstance(target, ClassTarget) and not target.label_sets
    return usual and classes and 2 <= width <= FEW_COLUMNS


def add_products(X: Array) -> Array:
    """Return columns, and the product of every two different ones.

    >>> add_products(np.array([[2.0, 3.0, 5.0]])).tolist()
    [[2.0, 3.0, 5.0, 6.0, 10.0, 15.0]]
    """
    one, other = np.triu_indices(X.shape[1], 1)
    return np.ascontiguousarray(np.hstack([X, X[:, one] * X[:, other]]))


def measure_error(
    plan: Plan, X: Array, codes: Array, rows: tuple[Array, Array], target: Any
) -> float:
    """Return the error of a model of some rows on others."""
    learnt, tested = rows
    size = float((X[learnt].astype(np.float64) ** 2).sum(axis=1).mean())
    by_size = {"C": usual_aggressiveness(size), "intercept_step": usual_bias_step(size)}
    plan = replace(plan, parameters={**plan.parameters, **by_size})
    learner = begin_learner(plan, target, (X.shape[1], X.dtype))
    given = TrainingRows.of(view_rows(X[learnt]), codes[learnt], None, X.shape[1])
    learner.train(given, plan.max_iter, order=plan.parameters["order"], seed=plan.split.seed)
    chosen = learner.choose(learner.scores(view_rows(X[tested]), X.shape[1]))
    return float(np.mean(chosen != codes[tested]))

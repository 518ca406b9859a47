"""Runs with three classes, update by update: all at once, or one against the rest."""

from typing import Any

import numpy as np

from ..data.rows import Array
from ..estimators.steps import follow
from .choices import Choices
from .data import Points
from .geometry import View
from .trace import Record, Trace, losses, packed, recorded, wrong_of
from .work import Tell


def classes_trace(points: Points, count: int, choices: Choices, view: View, tell: Tell) -> Trace:
    """Every update by the first rows, so many, and the weights of each class."""
    if choices["form"] not in ("bias", "origin") or choices["solution"] not in ("last", "average"):
        raise ValueError(
            "Three classes are shown for lines, with a bias or through the origin, and their last "
            "or average weights; choose these, or points of two classes."
        )
    if choices["start"]:
        raise ValueError("With three classes learning starts at zero; take the line away.")
    together = choices["multi_class"] == "argmax"
    of_problems = all_at_once if together else each_alone
    columns, W, b, ending, visits = of_problems(points.taken(np.arange(count)), choices, tell)
    scores = np.einsum("nd,tcd->tnc", points.X, W) + b[:, None, :]
    margins = leads(scores, points.y - 1)
    wrong = wrong_of(margins, np.zeros(len(points.y)))
    columns |= losses(margins, wrong, count) | {"mistakes": np.arange(len(W))}
    for number in range(3):
        columns[f"w1_{number}"], columns[f"w2_{number}"] = W[:, number].T
        columns[f"b_{number}"] = b[:, number]
    columns["length"] = np.sqrt((W**2).sum(axis=(1, 2)))
    return Trace(columns, visits, packed(wrong), [], [], *ending, None)


def leads(scores: Array, codes: Array) -> Array:
    """By how much each row's class leads the best of the others, at each moment."""
    own = np.take_along_axis(scores, codes[None, :, None], axis=2)
    others = np.where(np.arange(3) == codes[:, None], -np.inf, scores)
    return np.asarray(own[..., 0] - others.max(axis=2))


Found = tuple[dict[str, Array], Array, Array, tuple[int, str], dict[str, Array]]


def all_at_once(points: Points, choices: Choices, tell: Tell) -> Found:
    """A mistake moves the right class towards the row, and the best wrong one away from it."""
    training = follow(choices.estimator(), points.X, points.y)
    record = recorded(training, tell)
    W, b, _ = record.found
    columns = {
        "epoch": np.array([0, *(step.epoch for step in record.steps)]),
        "row": np.array([-1, *(step.row for step in record.steps)]),
        "activation": np.array([np.nan, *(step.activation for step in record.steps)]),
        "towards": np.array([-1, *(step.label - 1 for step in record.steps)]),
        "away": np.array([-1, *(step.rival - 1 for step in record.steps)]),
    }
    ending = record.epochs, training.run.stop_reason
    return columns, W.transpose(0, 2, 1), b, ending, record.visits.columns(record.last.margins)


def each_alone(points: Points, choices: Choices, tell: Tell) -> Found:
    """Three problems, each of one class against the rest, that go through the rows side by side."""
    records, reasons = [], []
    for label in (1, 2, 3):
        training = follow(choices.estimator(), points.X, np.where(points.y == label, 1, -1))
        records.append(recorded(training, tell))
        reasons.append(training.run.stop_reason)
    made = [(s.epoch, s.position, n, s) for n, each in enumerate(records) for s in each.steps]
    made.sort(key=lambda one: one[:3])
    problems = np.array([one[2] for one in made], int)
    done = np.array([np.append(0, np.cumsum(problems == number)) for number in range(3)])
    W, b = (side_by_side(records, done, name) for name in ("W", "b"))
    W[-1], b[-1] = ([getattr(each.found, name)[-1] for each in records] for name in ("W", "b"))
    signs = np.array([points.y[one[3].row] == one[2] + 1 for one in made], bool)
    columns = {
        "epoch": np.array([0, *(one[0] for one in made)]),
        "row": np.array([-1, *(one[3].row for one in made)]),
        "activation": np.array([np.nan, *(one[3].activation for one in made)]),
        "towards": np.append(-1, np.where(signs, problems, -1)),
        "away": np.append(-1, np.where(signs, -1, problems)),
    }
    met = {name: columns[name] for name in ("row", "epoch")}
    met |= {"moment": np.arange(len(made) + 1), "met": columns["activation"]}
    separated = all(reason == "separated" for reason in reasons)
    reason = "separated" if separated else "max_iter" if all(reasons) else ""
    return columns, W, b, (max(each.epochs for each in records), reason), met


def side_by_side(records: list[Record], done: Array, name: str) -> Any:
    """What each problem predicts with, after so many updates of each."""
    each = [getattr(one.found, name)[count] for one, count in zip(records, done, strict=True)]
    return np.stack(each, axis=1)

"""Trainings of every linear rule whose outcome must not change; ``python -m tests.training.golden``
writes ``golden.json`` again.

Only the public interface is used, so that the code behind it can be rebuilt. An outcome holds for
dense and CSR rows in float32 and float64. On whole numbers it includes a hash of the weights; on
other numbers sums of the weights are compared up to rounding, and counts exactly.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

import rosenblatt

PATH = Path(__file__).with_suffix(".json")
LAYOUTS = {"dense": np.array, "csr": csr_array}
N_ROWS = 64  # times 4 epochs, a power of 2: averages of whole numbers are exact


class Training(NamedTuple):
    """An estimator with its parameters, its target and numbers, and how it is trained."""

    estimator: str
    parameters: dict[str, Any]
    target: str
    rows: str = "real"
    way: str = "fit"

    @property
    def name(self) -> str:
        """The name, which says everything."""
        settings = [f"{key}={value}" for key, value in self.parameters.items()]
        return " ".join([self.estimator, self.target, self.rows, self.way, *settings])


# What is trained

WHOLE = "whole", "separable"
TARGETS = "two", "three", "one-vs-rest", "sets"
SOLUTIONS = "last", "average"
WAYS = "weights", "class weights", "balanced", "batches", "early", "warm", "initial", "eval set"
PERCEPTRON: list[dict[str, Any]] = [
    *({"order": order} for order in ("once", "fixed", "active", "batch", "first", "worst")),
    *({"solution": "average", "order": order} for order in ("each", "once", "fixed", "batch")),
    *({"solution": "pocket", "order": order} for order in ("each", "once", "fixed")),
    {"ties": "correct"},
    {"intercept_step": "radius"},
    {"intercept_step": "radius", "solution": "average", "order": "fixed"},
    {"intercept_step": 0},
    {"intercept_step": 4.0, "order": "once"},
    {"fit_intercept": False},
    {"eta0": 0.5, "margin": 2.0},
    {"margin": 3.0, "solution": "average"},
    {"margin": 3.0, "solution": "pocket"},
    {"margin": 1.0, "order": "batch"},
    {"margin": 1.0, "order": "worst"},
    {"measure": True},
]
SIGNED: list[dict[str, Any]] = [  # for two classes at a time
    {"ties": "positive", "order": "fixed"},
    {"ties": "negative", "order": "first"},
    {"margin": (1.0, 4.0)},
]
ROUNDED: list[dict[str, Any]] = [
    {"eta0": 0.3, "margin": 0.7},
    {"solution": "average", "order": "active"},
]
FAMILY: list[tuple[str, dict[str, Any]]] = [
    ("PassiveAggressive", {"loss": "hard"}),
    ("PassiveAggressive", {"C": 0.1}),
    ("PassiveAggressive", {"C": 0.5, "loss": "squared_hinge"}),
    ("ALMA", {}),
    ("ALMA", {"alpha": 0.3, "B": 3.0, "C": 0.7}),
    ("ROMMA", {}),
    ("ROMMA", {"aggressive": False}),
    ("ShiftingPerceptron", {"lam": 3.0}),
    ("SecondOrderPerceptron", {"a": 0.5}),
    ("AROW", {"r": 0.7}),
    ("SCW", {"C": 0.5, "confidence": 0.9}),
    ("SCW", {"C": 0.2, "variant": "II"}),
    ("NHERD", {"C": 0.3}),
    ("CW", {"confidence": 0.7}),
    ("FTRL", {"alpha": 0.5, "l1": 0.3, "l2": 0.1}),
    ("AdaGrad", {"decay": 0.05}),
]
NUMBERS: list[tuple[str, dict[str, Any]]] = [
    ("PassiveAggressiveRegressor", {"loss": "hard", "epsilon": 0.3}),
    ("PassiveAggressiveRegressor", {"C": 0.05}),
    ("PassiveAggressiveRegressor", {"C": 0.2, "loss": "squared_epsilon_insensitive"}),
    ("Adaline", {"eta0": 0.02, "normalized": False}),
    ("Adaline", {"eta0": 0.7}),
]
RANKS: list[dict[str, Any]] = [
    {},
    {"margin": 2.0},
    {"intercept_step": 4.0, "order": "fixed"},
    {"order": "once"},
]
FROM_ZERO = "ALMA", "ROMMA", "ShiftingPerceptron", "FTRL", "PRank"


def trainings() -> Iterator[Training]:
    """All trainings."""
    yield from perceptrons()
    yield from family()
    yield from regressors_and_ranks()


def perceptrons() -> Iterator[Training]:
    """The textbook rule in all its forms, on whole numbers where they stay whole."""
    for target in TARGETS:
        signed = [] if target == "three" else SIGNED
        for given in ({}, *PERCEPTRON, *signed):
            yield Training("Perceptron", given, target, "whole")
        yield Training("Perceptron", {"max_iter": 100}, target, "separable")
        for given in ROUNDED:
            yield Training("Perceptron", given, target)
        for way, solution in product(ways(target), SOLUTIONS):
            yield Training("Perceptron", {"solution": solution}, target, kind(way, solution), way)


def kind(way: str, solution: str) -> str:
    """Whole numbers where weights and averages are exact."""
    exact = solution == "last" or way in ("class weights", "batches")
    return "whole" if exact and way != "balanced" else "real"


def family() -> Iterator[Training]:
    """Every other rule for classes: both solutions for each target, and each way of training."""
    orders = cycle(("each", "fixed", "once", "active", "each"))
    solutions = cycle(("last", "average", "last"))
    for name, own in FAMILY:
        rows = "without zeros" if name == "AdaGrad" else "real"  # zeros of dense rows lower a rate
        for target, solution in product(TARGETS, SOLUTIONS):
            given = {**own, "solution": solution, "order": next(orders)}
            yield Training(name, given, target, rows)
        for target in ("two", "three"):
            yield Training(name, {**own, "solution": "pocket"}, target, rows)
            for way in ways(target, name):
                yield Training(name, {**own, "solution": next(solutions)}, target, rows, way)
        for bias in ({"intercept_step": 9.0}, {"fit_intercept": False}):
            yield Training(name, {**own, **bias}, "three", rows)


def regressors_and_ranks() -> Iterator[Training]:
    """The rules for numbers and for ranks."""
    for name, own in NUMBERS:
        for order, solution in product(("each", "once", "fixed"), SOLUTIONS):
            yield Training(name, {**own, "order": order, "solution": solution}, "numbers")
        for way, solution in product(ways("numbers"), SOLUTIONS):
            yield Training(name, {**own, "solution": solution}, "numbers", way=way)
        for bias in ({"intercept_step": 0.5}, {"fit_intercept": False}):
            yield Training(name, {**own, **bias}, "numbers")
    for own, solution in product(RANKS, SOLUTIONS):
        yield Training("PRank", {**own, "solution": solution}, "ranks", "whole")
    for way, solution in product(ways("ranks", "PRank"), SOLUTIONS):
        yield Training("PRank", {"solution": solution}, "ranks", kind(way, solution), way)


def ways(target: str, name: str = "Perceptron") -> Iterator[str]:
    """The ways of training that an estimator has for a target."""
    unknown = {"initial"} if name in FROM_ZERO else set()
    if target in ("numbers", "sets"):
        unknown |= {"class weights", "balanced"}
    return (way for way in WAYS if way not in unknown)


# How it is trained


def make_rows(training: Training) -> tuple[Any, Any]:
    """The rows of a training and what is to be learnt; a third of their numbers are 0."""
    rng = np.random.default_rng(5)
    shape, outputs = (N_ROWS, 6), {"two": 2, "numbers": 1}.get(training.target, 3)
    whole = training.rows in WHOLE
    X = rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape)
    X[(rng.random(shape) < 0.3) & (training.rows != "without zeros")] = 0
    scores = X[:, :outputs] * 2 - X[:, outputs : 2 * outputs]
    if training.rows != "separable":
        scores += rng.integers(-2, 3, scores.shape)
    if training.target == "numbers":
        return X, scores[:, 0] + 2
    if training.target == "sets":
        return X, (scores > 0).astype(int)
    if training.target == "ranks":
        return X, np.digitize(scores[:, 0], [-3, 0, 3])
    return X, scores.argmax(axis=1)


def train(training: Training, layout: str, dtype: str) -> Any:
    """Train an estimator."""
    given = {"max_iter": 4, "random_state": 7, **training.parameters}
    X, y = make_rows(training)
    rng, way = np.random.default_rng(1), training.way
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], N_ROWS)
    rows = LAYOUTS[layout](X.astype(dtype))
    if training.target == "one-vs-rest":
        given["multi_class"] = "ovr"
    if way == "class weights":
        given["class_weight"] = {0: 2.0, 1: 0.5, 2: 1.0, 3: 1.0}
    if way == "balanced":
        given["class_weight"] = "balanced"
    if way in ("early", "eval set"):
        given.update(max_iter=20, early_stopping=2)
    model = getattr(rosenblatt, training.estimator)(**given)
    if way == "batches":
        weights[weights == 0] = 1.0
        labels = {} if training.target in ("numbers", "sets") else {"classes": np.unique(y)}
        for begin, end in ((0, 1), (1, 20), (20, 32), (32, N_ROWS)):
            weighed = {"sample_weight": weights[begin:end]} if begin else {}
            model.partial_fit(rows[begin:end], y[begin:end], **labels, **weighed)
        return model
    if way == "warm":
        return model.set_params(warm_start=True, max_iter=2).fit(rows, y).fit(rows, y)
    if way == "weights":
        return model.fit(rows, y, sample_weight=weights)
    if way == "eval set":
        return model.fit(rows[:48], y[:48], X_val=rows[48:], y_val=y[48:])
    if way == "initial":
        n_biases = {"two": 1, "numbers": 1}.get(training.target, 3)
        n_weights = 1 if training.target == "ranks" else n_biases
        given = {"coef_init": rng.integers(-2, 3, (n_weights, X.shape[1]))}
        return model.fit(rows, y, **given, intercept_init=np.arange(n_biases)[::-1])
    return model.fit(rows, y)


def outcome(training: Training, layout: str = "dense", dtype: str = "float64") -> dict[str, Any]:
    """What a training has learnt: a hash of the weights if they are exact, else their sums."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = train(training, layout, dtype)
    coef, bias = (np.asarray(each, np.float64) for each in (model.coef_, model.intercept_))
    facts = {
        "mistakes": model.n_mistakes_,
        "epochs": model.n_iter_,
        "stop": getattr(model, "stop_reason_", None),
        "errors": [epoch.errors for epoch in model.history_],
        "loss": shorten(sum(epoch.loss for epoch in model.history_)),
    }
    if training.rows in WHOLE:
        content = np.append(coef, bias) + 0.0  # -0.0 becomes 0.0
        return {**facts, "sums": [], "hash": hashlib.sha256(content.tobytes()).hexdigest()[:12]}
    places = np.sin(np.arange(coef.size)).reshape(coef.shape)
    sums = [np.abs(coef).sum(), (coef * places).sum(), *bias]
    return {**facts, "sums": [shorten(each) for each in sums]}


def shorten(number: float) -> float:
    """Round a number to nine digits."""
    return float(f"{number:.9g}")


def main() -> None:
    """Write what all trainings learn now."""
    learnt = {training.name: outcome(training) for training in trainings()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in learnt.items())
    PATH.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()

"""Trainings of every linear rule whose weights must not change; run this file to write them anew.

golden.json holds a hash of what each training learnt, for processors of one kind: sums in vector
units round otherwise on others, where the norm of the weights and the updates are compared instead.
"""

import hashlib
import json
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from scipy.sparse import csr_array

import rosenblatt

PATH = Path(__file__).with_suffix(".json")
RULES: list[tuple[str, dict[str, Any]]] = [
    ("Perceptron", {}),
    ("Perceptron", {"margin": 1.0, "eta0": 0.3}),
    ("PassiveAggressive", {}),
    ("PassiveAggressive", {"C": 0.5, "loss": "squared_hinge"}),
    ("ALMA", {}),
    ("ROMMA", {}),
    ("ROMMA", {"aggressive": False}),
    ("SecondOrderPerceptron", {"matrix": "diagonal"}),
    ("SecondOrderPerceptron", {"matrix": "full", "a": 0.5}),
    ("AROW", {"r": 0.7}),
    ("SCW", {"confidence": 0.9}),
    ("SCW", {"C": 0.2, "variant": "II"}),
]
SOLUTIONS: list[dict[str, Any]] = [
    {"solution": "last"},
    {"solution": "average"},
    {"solution": "average", "average_decay": 0.01},
    {"solution": "pocket", "order": "each"},
    {"solution": "average", "multi_class": "ovr"},
]
ORDERS = "each", "fixed", "active", "once"


def trainings() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name each training, with its estimator and what to fit it to."""
    solutions, orders, weighted = cycle(SOLUTIONS), cycle(ORDERS), cycle((False, False, True))
    forms = product(("dense", "sparse"), ("float32", "float64"), (2, 3))
    for (kind, dtype, classes), (name, own) in product(forms, RULES):
        given = {"order": next(orders), **next(solutions), "max_iter": 3, "random_state": 7} | own
        settings = " ".join(f"{key}={value}" for key, value in given.items())
        weighs = next(weighted)
        called = (
            f"{name} {kind} {dtype} {classes} classes{' weighted' if weighs else ''} {settings}"
        )
        yield called, getattr(rosenblatt, name)(**given), rows(kind, dtype, classes, weighs)


def rows(kind: str, dtype: str, classes: int, weighted: bool) -> dict[str, Any]:
    """Noisy rows of a kind, with labels and maybe weights."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(120, 21)) * (rng.random((120, 21)) < 0.6)
    scores = X[:, :classes] + 0.5 * rng.normal(size=(120, classes))
    X, y = X.astype(dtype), scores.argmax(axis=1)
    given: dict[str, Any] = {"X": csr_array(X) if kind == "sparse" else X, "y": y}
    return given | ({"sample_weight": rng.choice([0.5, 1.0, 2.0], 120)} if weighted else {})


def outcome(model: Any) -> dict[str, Any]:
    """What a fitted model has learnt, briefly."""
    parts = [model.coef_, model.intercept_]
    for state in model._learner.states:
        named = sorted(state.further.items())
        parts += [array for name, array in named if not name.startswith("missing")]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    norm = float(np.linalg.norm(model.coef_.astype(np.float64)))
    return {"hash": digest.hexdigest()[:16], "updates": model.n_mistakes_, "norm": norm}


def main() -> None:
    """Write what all trainings learn now."""
    learnt = {name: outcome(model.fit(**given)) for name, model, given in trainings()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in learnt.items())
    cpu = json.dumps(binding.get_host_cpu_name())
    PATH.write_text(f'{{"cpu": {cpu}, "trainings": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()

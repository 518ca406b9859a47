"""Trainings from files whose outcome must not change; run ``python -m tests.jobs.golden`` to write
``golden.json`` again.

Sums are compared up to rounding, because processors add up in other orders; counts exactly.
"""

import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rosenblatt

PATH = Path(__file__).with_suffix(".json")
PERCEPTRON = {"rule": "perceptron"}
CASES: dict[str, dict[str, Any]] = {
    "csv": {},
    "csv one pass": {"max_iter": 1},
    "csv one pass unscaled": {"max_iter": 1, "scale": "none"},
    "csv window balanced": {**PERCEPTRON, "window": 40, "class_weight": "balanced"},
    "csv early window": {**PERCEPTRON, "early_stopping": 2, "window": 40},
    "csv calibrate": {**PERCEPTRON, "calibrate": True},
    "csv weights": {**PERCEPTRON, "class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
    "csv step": {**PERCEPTRON, "intercept_step": 0.5},
    "csv no bias": {**PERCEPTRON, "fit_intercept": False},
    "csv classes": {**PERCEPTRON, "classes": (0, 1, 2, 3)},
    "csv pa": {"rule": "pa", "C": 0.1},
    "csv alma": {"rule": "alma"},
    "csv arow": {"rule": "arow", "max_iter": 3},
    "svm": {},
    "svm one pass": {"max_iter": 1},
    "svm holdout scaled": {**PERCEPTRON, "holdout": 0.3, "scale": "maxabs"},
    "vw": {},
    "vw one pass": {"max_iter": 1},
    "text": {**PERCEPTRON, "text": ["words"]},
    "text by default": {"text": ["words"]},
    "text one pass": {"text": ["words"], "max_iter": 1},
    "sets": {},
}
"""By the kind of file and a name: options of ``train``."""


def write_files(folder: Path) -> dict[str, Path]:
    """Write a noisy file of each kind."""
    rng = np.random.default_rng(3)
    labels = rng.choice(3, 240, p=[0.5, 0.3, 0.2])
    labels[:3] = range(3)
    X = rng.integers(-8, 9, (240, 6)) + 5 * np.eye(3, 6, dtype=int)[labels]
    sets = [",".join(str(k) for k in range(3) if row[k] > 3) for row in X]
    pairs = [" ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x > 0) for row in X]
    named = [" ".join(f"f{j}:{x}" for j, x in enumerate(row) if x > 0) for row in X]
    words = np.array(["red", "green", "blue", "dog", "cat", "bird", "in", "on", "at"])
    texts = [" ".join(words[np.unique(row % 9)]) for row in X]
    texts = [f"{words[k]} {text}" for k, text in zip(labels, texts, strict=True)]
    rows = list(zip(X, labels, sets, pairs, named, texts, strict=True))
    lines = {
        "csv": ["a,b,c,d,e,f,y", *(f"{','.join(map(str, x))},{y}" for x, y, *_ in rows)],
        "svm": [f"{y} {text}" for _, y, _, text, *_ in rows],
        "vw": [f"{y + 1} |n {text}" for _, y, _, _, text, _ in rows],
        "text": ["words,size,y", *(f"{text},{x[0]},{y}" for x, y, *_, text in rows)],
        "sets": [f"{some} {text}" for _, _, some, text, *_ in rows],
    }
    endings = {"text": "csv", "sets": "svm"}
    for kind, content in lines.items():
        (folder / f"{kind}.{endings.get(kind, kind)}").write_text("\n".join(content) + "\n")
    return {path.stem: path for path in folder.iterdir()}


def train(files: dict[str, Path], name: str) -> dict[str, Any]:
    """Train a case and return its outcome, briefly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rosenblatt.train(files[name.split()[0]], tune=False, **CASES[name])
    classifier, facts = model[-1], model.file_facts_["facts"]
    coef, bias = classifier.coef_.astype(np.float64), classifier.intercept_.astype(np.float64)
    places = np.sin(np.arange(coef.size)).reshape(coef.shape)
    return {
        "estimator": type(classifier).__name__,
        "updates": classifier.n_mistakes_,
        "epochs": classifier.n_iter_,
        "stop_reason": classifier.stop_reason_,
        "held_out": facts.get("held_out"),
        "sums": [float(np.abs(coef).sum()), float((coef * places).sum()), float(bias @ bias)],
    }


def outcomes() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name each training, with its outcome."""
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        for name in CASES:
            yield name, train(files, name)


if __name__ == "__main__":
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in outcomes())
    PATH.write_text(f"{{\n{lines}\n}}\n")

"""Do prediction sets and intervals have the coverage asked for, and how small are they?

python benchmarks/coverage.py
python benchmarks/coverage.py --quick        # to see that it runs
python benchmarks/coverage.py --sets FILE    # the sets of benchmarks/defaults.py

The first table has sets of classes on held-out rows, for several ways to score a class; the second
intervals of numbers, with one width for all rows and with a width by a second model; the third
streams, row by row, with scores of the first rows only, of the last rows, and adapted.
"""

from functools import partial
from pathlib import Path

import numpy as np
from measure import parser, table
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_friedman1,
)
from sklearn.preprocessing import scale

from rosenblatt import AROW, PassiveAggressive, PassiveAggressiveRegressor, read
from rosenblatt.data.targets import ClassTarget
from rosenblatt.estimators.base import get_learner
from rosenblatt.reading.reader import read_matrix
from rosenblatt.training.calibration import fit_calibration
from rosenblatt.training.conformal import Conformal
from rosenblatt.training.plan import usual_aggressiveness, usual_bias_step

COVERAGES = (0.8, 0.9, 0.95, 0.99)
MOST_ROWS = 6000
SEEDS = 3


def class_sets(given):
    """Yield names, rows and labels: those of a file, or three of scikit-learn."""
    if given.sets is not None:
        import joblib

        for one in joblib.load(given.sets):
            if not one.name.endswith(("%", "rows")) and one.name[-1] not in "234567":
                compact = one.compact()
                yield one.name, compact.X, compact.y
        return
    X, y = load_digits(return_X_y=True)
    yield "digits", X / 16, y
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", scale(X), y
    size = 1000 if given.quick else MOST_ROWS
    settings = {"n_informative": 10, "n_classes": 5, "flip_y": 0.2, "random_state": 0}
    yield "made, 5 classes", *make_classification(size, 20, **settings)


def rank_classes(chances, weight=0.0, free=0):
    """Scores of APS (Romano et al. 2020); with a weight, those of RAPS (Angelopoulos et al. 2021).

    A class scores the sum of all chances down to its own, and the weight for each class after the
    first ``free`` ones.
    """
    order = np.argsort(-chances, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(chances, order, axis=1), axis=1)
    sums += weight * np.maximum(np.arange(1, sums.shape[1] + 1) - free, 0)
    found = np.empty_like(sums)
    np.put_along_axis(found, order, sums, axis=1)
    return found


def score_classes(held, scores, new, codes, n_classes):
    """Yield ways to score classes: names, and the scores of held-out and of new rows."""
    target = ClassTarget(np.arange(n_classes))
    yield "lead", target.class_nonconformity(scores), target.class_nonconformity(new), held
    fitted = fit_calibration(scores, codes[held], n_classes)
    known, wanted = fitted.probabilities(scores), fitted.probabilities(new)
    yield "probability", 1 - known, 1 - wanted, held
    half = len(held) // 2
    fitted = fit_calibration(scores[:half], codes[held[:half]], n_classes)
    parts = fitted.probabilities(scores[half:]), fitted.probabilities(new)
    yield "probability, by halves", 1 - parts[0], 1 - parts[1], held[half:]
    yield "APS", rank_classes(known), rank_classes(wanted), held
    raps = partial(rank_classes, weight=0.01, free=5 if n_classes > 10 else 1)
    yield "RAPS", raps(known), raps(wanted), held


def measure_sets(X, y, seed):
    """Yield coverage asked for, name of the scores, coverage measured, and mean size of sets."""
    classes, codes = np.unique(y, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    learnt, held, new = np.split(order, [int(0.6 * len(order)), int(0.7 * len(order))])
    size = float(X.multiply(X).sum() if hasattr(X, "indptr") else (X**2).sum()) / X.shape[0]
    settings = {
        "loss": "squared_hinge",
        "solution": "average",
        "intercept_step": usual_bias_step(size),
    }
    model = PassiveAggressive(usual_aggressiveness(size), **settings, random_state=seed)
    model.fit(X[learnt], codes[learnt])
    scores, wanted = model.decision_function(X[held]), model.decision_function(X[new])
    chosen = np.searchsorted(model.classes_, model.predict(X[new]))
    for name, known, found, rows in score_classes(held, scores, wanted, codes, len(classes)):
        conformal = Conformal.from_held_out(known[np.arange(len(rows)), codes[rows]])
        for coverage in COVERAGES:
            flags = found <= conformal.threshold(coverage)
            flags[np.arange(len(new)), chosen] = True
            inside = flags[np.arange(len(new)), codes[new]]
            yield coverage, name, inside.mean(), flags.sum(axis=1).mean()


def compare_scores(given):
    """Print coverage and mean size of sets by score, the mean over all data sets."""
    found = {}
    for _, X, y in class_sets(given):
        for seed in range(1 if given.quick else SEEDS):
            for coverage, name, *figures in measure_sets(X, y, seed):
                found.setdefault(name, {}).setdefault(coverage, []).append(figures)
    lines = [("score", *(f"{coverage:g}: size" for coverage in COVERAGES))]
    for name, by_coverage in found.items():
        means = [np.mean(by_coverage[coverage], axis=0) for coverage in COVERAGES]
        lines.append((name, *(f"{inside:.4f}: {size:.3f}" for inside, size in means)))
    table(*lines)


def number_sets(quick):
    """Yield names, rows and numbers; the noise of the last grows with a column."""
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", scale(X), scale(y)
    size, random = (1000 if quick else MOST_ROWS), np.random.default_rng(0)
    X, y = make_friedman1(size, noise=1.0, random_state=0)
    yield "friedman1", scale(X), scale(y)
    X = random.normal(size=(size, 10))
    signal = X @ random.normal(size=10)
    yield "outliers", X, signal + random.standard_t(2, size)
    yield "noise of different sizes", X, signal + np.exp(X[:, 0]) * random.normal(size=size)


def measure_intervals(X, y, seed):
    """Yield names, coverage and mean width of intervals that cover 0.9."""
    order = np.random.default_rng(seed).permutation(len(y))
    learnt, held, new = np.split(order, [int(0.6 * len(order)), int(0.7 * len(order))])
    settings = {"solution": "average", "epsilon": 0.0, "random_state": seed}
    C = 1 / float((X**2).sum() / len(X))
    model = PassiveAggressiveRegressor(C, **settings).fit(X[learnt], y[learnt])
    errors = np.abs(y - model.predict(X))
    floor = np.log(0.1 * errors[learnt].mean())
    sizes = PassiveAggressiveRegressor(C, **settings)
    sizes.fit(X[learnt], np.maximum(np.log(errors[learnt]), floor))
    for name, widths in (
        ("one", np.ones(len(y))),
        ("by a model", np.exp(np.maximum(sizes.predict(X), floor))),
    ):
        limit = Conformal.from_held_out(errors[held] / widths[held]).threshold(0.9)
        inside = errors[new] <= limit * widths[new]
        yield name, inside.mean(), 2 * (limit * widths[new]).mean()


def compare_widths(quick):
    """Print coverage and mean width of intervals for 0.9."""
    lines = [("numbers, 0.9", "width", "coverage", "mean width")]
    for name, X, y in number_sets(quick):
        found = {}
        for seed in range(1 if quick else 5 * SEEDS):
            for kind, *figures in measure_intervals(X, y, seed):
                found.setdefault(kind, []).append(figures)
        for kind, figures in found.items():
            inside, width = np.mean(figures, axis=0)
            lines.append((name, kind, f"{inside:.4f}", f"{width:.3f}"))
    table(*lines)


def streams(given):
    """Yield names, rows and labels in their order: one that is made, one of a file."""
    size, random = (1000 if given.quick else 8000), np.random.default_rng(0)
    X = random.normal(size=(size, 10))
    turns = np.arange(size) >= size // 2
    noise = np.where(turns, 2.0, 0.5) * random.normal(size=size)
    yield "made: rule and noise change", X, np.where(turns, X[:, 1], X[:, 0]) + noise > 0
    path = given.data / "elec2" / "elec.csv"
    if path.exists():
        X, y = read_matrix(read(path, label="target"))
        yield "elec2", X[:size], y[:size]


def follow(X, y, first, coverages=(0.8, 0.9, 0.95)):
    """Yield ways to choose a threshold, and the coverage of each in all rows after the first."""
    model = AROW(calibrate="conformal").partial_fit(X[:first], y[:first], classes=np.unique(y))
    conformal = get_learner(model).conformal
    fixed = conformal.copy()
    inside = {"the first rows": [], "the last rows": [], "adapted": []}
    for row in range(first, len(y)):
        score = ClassTarget(model.classes_).nonconformity(
            model.decision_function(X[row : row + 1]), np.searchsorted(model.classes_, y[[row]])
        )
        recent = Conformal(conformal.recent)
        for name, one in zip(inside, (fixed, recent, conformal), strict=True):
            inside[name].append([score[0] <= one.threshold(coverage) for coverage in coverages])
        model.learn_one(X[row], y[row])
    for name, flags in inside.items():
        whole, windows = np.mean(flags, axis=0), np.array_split(np.array(flags)[:, 1], 8)
        yield name, whole, min(window.mean() for window in windows)


def compare_streams(given):
    """Print the coverage of streams, and the least one of eight parts."""
    lines = [("stream", "scores of", "0.8", "0.9", "0.95", "0.9: worst of 8 parts")]
    for name, X, y in streams(given):
        for kind, whole, worst in follow(X, y, 200):
            lines.append((name, kind, *(f"{one:.4f}" for one in whole), f"{worst:.4f}"))
    table(*lines)


def main():
    options = parser(__doc__)
    options.add_argument("--sets", type=Path, help="a file of prepared sets, by joblib")
    given = options.parse_args()
    compare_scores(given)
    print()
    compare_widths(given.quick)
    print()
    compare_streams(given)


if __name__ == "__main__":
    main()

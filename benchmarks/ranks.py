"""Do ranks pay where labels have an order: PRank beside classes, rounded numbers and bagging?

``python benchmarks/ranks.py`` prints the mean difference of ranks on held-out training rows, three
quarters to learn from, the mean of several divisions; columns have deviation 1. ``--defaults``
compares margins, last and averaged weights, and OAP-BPM (Harrington 2003): twenty models that each
see a random part of the rows, whose weights are averaged.
"""

import time

import numpy as np
from measure import options, table
from scipy.sparse import random as random_sparse
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from rosenblatt import PassiveAggressive, PassiveAggressiveRegressor, Perceptron, PRank

EPOCHS, MODELS = 10, 20


def data_sets(quick):
    """Yield names, rows and ranks: one set of scikit-learn, and three made here."""
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes, 5 ranks", scale(X), cut(y, (0.2, 0.4, 0.6, 0.8))
    size = 1_000 if quick else 4_000
    X, y = make_friedman1(size, n_features=10, noise=1.0, random_state=0)
    yield "friedman1, 5 ranks", scale(X), cut(y, (0.1, 0.25, 0.6, 0.9))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size, 20))
    y = X @ rng.normal(size=20) / 4 + rng.logistic(size=size)
    yield "ordered logit, 4 ranks", X, cut(y, (0.5, 0.8, 0.95))
    X = random_sparse(size, 2_000, 0.01, "csr", random_state=0)
    y = X @ rng.normal(size=2_000) + 0.5 * rng.normal(size=size)
    yield "sparse, 5 ranks", X, cut(y, (0.05, 0.2, 0.45, 0.8))


def cut(numbers, shares):
    """Ranks of numbers, divided at some quantiles."""
    return np.searchsorted(np.quantile(numbers, shares), numbers)


def mean_square(X):
    """The mean squared length of rows."""
    values = X.data if hasattr(X, "indptr") else X
    return float((values**2).sum()) / X.shape[0]


def make_prank(X, margin=0.0, solution="average", **more):
    """PRank as training from a file makes it; the margin is a share of the mean squared length."""
    size = mean_square(X)
    step = 2.0 ** np.round(np.log2(0.1 * size))
    shared = {"intercept_step": step, "max_iter": EPOCHS, "random_state": 0}
    return PRank(margin * size, solution=solution, **shared, **more)


def fit_prank(X, y, **given):
    return make_prank(X, **given).fit(X, y).predict


def fit_classes(model):
    return lambda X, y: model(mean_square(X)).fit(X, y).predict


def fit_rounded(X, y):
    """A regressor of the numbers of ranks, whose predictions are rounded to the nearest rank."""
    size, center = mean_square(X), y.mean()
    model = PassiveAggressiveRegressor(
        1 / size, epsilon=0.0, solution="average", max_iter=EPOCHS, random_state=0
    )
    model.fit(X, y - center)
    return lambda X: np.clip(np.round(model.predict(X) + center), 0, y.max())


def fit_point_machine(X, y, share, margin=0.0):
    """Average the weights of models that see each row of an epoch with a probability."""
    directions, biases = [], []
    for seed in range(MODELS):
        model, rng = make_prank(X, margin, "last"), np.random.default_rng(seed)
        for _ in range(EPOCHS):
            order = rng.permutation(len(y))
            order = order[rng.random(len(y)) < share]
            model.partial_fit(X[order], y[order], classes=np.arange(y.max() + 1))
        length = np.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum())
        directions.append(model.coef_[0] / length)
        biases.append(model.intercept_ / length)
    w, b = np.mean(directions, axis=0), np.mean(biases, axis=0)
    return lambda X: ((X @ w)[:, None] + b >= 0).sum(axis=1)


def fit_median(X, y):
    return lambda X: np.full(X.shape[0], np.median(y))


AVERAGED = {"solution": "average", "max_iter": EPOCHS, "random_state": 0}
METHODS = {
    "PRank, averaged (default)": fit_prank,
    "Perceptron, averaged": fit_classes(lambda size: Perceptron(**AVERAGED)),
    "PA-II, averaged": fit_classes(
        lambda size: PassiveAggressive(0.3 / size, loss="squared_hinge", **AVERAGED)
    ),
    "logistic regression": fit_classes(lambda size: LogisticRegression(max_iter=1_000)),
    "PA regressor, rounded": fit_rounded,
    "the median rank": fit_median,
}
SETTINGS = {
    f"{solution}, margin {margin:g}": lambda X, y, given=(margin, solution): fit_prank(
        X, y, margin=given[0], solution=given[1]
    )
    for solution in ("average", "last")
    for margin in (0.0, 0.1, 0.3, 1.0, 3.0)
} | {
    f"OAP-BPM, τ = {share:g}, margin {margin:g}": lambda X, y, given=(share, margin): (
        fit_point_machine(X, y, *given)
    )
    for share in (0.3, 0.7)
    for margin in (0.0, 0.3)
}


def compare(methods, quick):
    """Print the mean difference of ranks by method and set, and the CPU seconds of all fits."""
    names, columns, seconds = [], [], dict.fromkeys(methods, 0.0)
    for name, X, y in data_sets(quick):
        X, _, y, _ = train_test_split(X, y, test_size=0.25, random_state=99)
        errors = {method: [] for method in methods}
        for seed in range(1 if quick else 5):
            learnt, held, known, wanted = train_test_split(X, y, test_size=0.25, random_state=seed)
            for method, fit in methods.items():
                start = time.process_time()
                predict = fit(learnt, known)
                seconds[method] += time.process_time() - start
                errors[method].append(np.abs(predict(held) - wanted).mean())
        names.append(name)
        columns.append({method: np.mean(found) for method, found in errors.items()})
    table(
        ("method", *names, "CPU s"),
        *(
            (method, *(f"{column[method]:.4f}" for column in columns), f"{seconds[method]:.2f}")
            for method in methods
        ),
    )


if __name__ == "__main__":
    given = options(__doc__, defaults="compare margins, solutions and OAP-BPM")
    compare(SETTINGS if given.defaults else METHODS, given.quick)

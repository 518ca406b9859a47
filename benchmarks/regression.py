"""Are regressors as good as a tuned SGDRegressor with the same loss, and faster?

``python benchmarks/regression.py`` compares errors on test rows and CPU seconds of one fit; columns
and numbers have deviation 1. ``--defaults`` compares settings on held-out training rows instead,
which is how the defaults for files were chosen.
"""

import time
from itertools import product

import numpy as np
from measure import options, ratio, table
from scipy.sparse import random as random_sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import SGDRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from rosenblatt import Adaline, PassiveAggressiveRegressor

EPOCHS, SPLITS = 10, 3
LOSSES = {"epsilon_insensitive": "PA-I", "squared_epsilon_insensitive": "PA-II"}
SHARES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of C for rows of length 1


def data_sets(quick):
    """Yield names, rows and numbers: two sets of scikit-learn, and two made here."""
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", scale(X), scale(y)
    size = 2_000 if quick else 20_000
    X, y = make_friedman1(size, n_features=10, noise=1.0, random_state=0)
    yield f"friedman1, {size:,} rows", scale(X), scale(y)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size, 50))
    y = X @ rng.normal(size=50) + 3 * rng.standard_t(2, size=size)  # outliers
    yield f"outliers, {size:,} rows", scale(X), scale(y)
    X = random_sparse(size, 5_000, 0.01, "csr", random_state=0)
    y = X @ rng.normal(size=5_000) + 0.1 * rng.normal(size=size)
    yield f"sparse, {size:,} rows", X, scale(y)


def mean_square(X):
    """The mean squared length of rows."""
    values = X.data if hasattr(X, "indptr") else X
    return float((values**2).sum()) / X.shape[0]


def our_settings(X):
    """Yield settings by name: rules, losses, shares of C, and epsilons."""
    size = mean_square(X)
    shared = {"solution": "average", "max_iter": EPOCHS, "random_state": 0}
    shared["intercept_step"] = 2.0 ** np.round(np.log2(0.1 * size))
    for loss, share, epsilon in product(LOSSES, SHARES, (0.0, 0.1)):
        name = f"{LOSSES[loss]} {share:g} ε={epsilon:g}"
        yield name, PassiveAggressiveRegressor(share / size, loss=loss, epsilon=epsilon, **shared)
    for eta in (0.01, 0.03, 0.1, 0.3):
        yield f"Adaline {eta:g}", Adaline(eta, **shared)


def their_settings(loss):
    """Yield averaged SGDRegressors of a loss."""
    for alpha, eta0, rate in product((1e-6, 1e-4), (0.001, 0.01, 0.1), ("constant", "invscaling")):
        yield SGDRegressor(
            loss=loss,
            epsilon=0.0,
            alpha=alpha,
            eta0=eta0,
            learning_rate=rate,
            average=True,
            max_iter=EPOCHS,
            tol=None,
            random_state=0,
        )


def error(model, X, y, seed):
    """The mean absolute error on a quarter of the rows, held out."""
    learnt, held, known, wanted = train_test_split(X, y, test_size=0.25, random_state=seed)
    with np.errstate(all="ignore"):
        found = clone(model).fit(learnt, known).predict(held)
    return mean_absolute_error(wanted, found) if np.isfinite(found).all() else np.inf


def choose(models, X, y):
    """The model with the least error on held-out rows."""
    return min(models, key=lambda model: np.mean([error(model, X, y, s) for s in range(SPLITS)]))


def fit_and_time(model, X, y, times=5):
    """A fitted model, and the fewest CPU seconds of a fit."""
    model.fit(X, y)
    seconds = []
    for _ in range(times):
        start = time.process_time()
        model.fit(X, y)
        seconds.append(time.process_time() - start)
    return model, min(seconds)


def compare(quick):
    """Print errors on test rows and CPU seconds, ours by default and tuned, and theirs tuned."""
    rows = [("set", "loss", "MAE default", "MAE tuned", "SGD tuned", "ratio", "CPU", "faster")]
    for name, X, y in data_sets(quick):
        X, T, y, t = train_test_split(X, y, test_size=0.25, random_state=99)
        ours = dict(our_settings(X))
        for loss, start in (
            ("epsilon_insensitive", "PA-I"),
            ("squared_epsilon_insensitive", "PA-II"),
        ):
            own = [one for key, one in ours.items() if key.startswith(f"{start} ")]
            model, seconds = fit_and_time(choose(own, X, y), X, y)
            theirs, their_seconds = fit_and_time(choose(list(their_settings(loss)), X, y), X, y)
            errors = [mean_absolute_error(t, one.predict(T)) for one in (model, theirs)]
            usual = mean_absolute_error(t, ours[DEFAULT].fit(X, y).predict(T))
            figures = (f"{value:.4f}" for value in (usual, *errors))
            times = f"{seconds * 1e3:.1f} ms", ratio(seconds, their_seconds)
            rows.append((name, start, *figures, f"{errors[0] / errors[1]:.3f}", *times))
    table(*rows)


DEFAULT = "PA-I 1 ε=0"


def study(quick):
    """Print the error of every setting on held-out training rows, as a multiple of the best."""
    found = {}
    for _, X, y in data_sets(quick):
        X, _, y, _ = train_test_split(X, y, test_size=0.25, random_state=99)
        errors = {
            name: np.mean([error(model, X, y, seed) for seed in range(SPLITS)])
            for name, model in our_settings(X)
        }
        for name, value in errors.items():
            found.setdefault(name, []).append(value / min(errors.values()))
    ranked = sorted(found.items(), key=lambda pair: np.mean(pair[1]))
    table(
        ("setting", "mean", "worst"),
        *((name, f"{np.mean(each):.4f}", f"{max(each):.4f}") for name, each in ranked),
    )


if __name__ == "__main__":
    given = options(__doc__, defaults="compare settings on held-out training rows")
    (study if given.defaults else compare)(given.quick)

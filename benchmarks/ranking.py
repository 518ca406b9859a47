"""Does ranking within groups pay: the pairwise rules beside pointwise models and a pairwise SVM?

``python benchmarks/ranking.py`` prints the mean NDCG@10 and NDCG of held-out groups (three tenths)
and CPU seconds, on sets that are made here and on real tables whose rows are grouped by a few of
their columns, or by day; columns have deviation 1. ``--defaults`` compares settings on groups that
are held out of the training groups.
"""

import csv
import time

import numpy as np
from measure import options, table
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import PassiveAggressiveRanker, PassiveAggressiveRegressor, PerceptronRanker
from rosenblatt.data.ranking import grade, make_keys, measure_groups

EPOCHS, MOST_PAIRS = 10, 40_000
SHOPPERS = ("Month", "Region", "TrafficType")


def make_set(n_groups, sizes, grades=5, noise=1.0, seed=0):
    """Rows whose relevance depends on 40 columns; ten of these also have a level per group."""
    rng, parts = np.random.default_rng(seed), []
    w = rng.normal(size=40)
    for group in range(n_groups):
        X = rng.normal(size=(rng.integers(*sizes), 40))
        signal = X @ w / 40**0.5 + noise * rng.normal(size=len(X))
        cuts = np.sort(rng.normal(size=grades - 1)) + 0.5 * rng.normal()
        X[:, :10] += 10 * rng.normal(size=10)
        parts.append((X, np.searchsorted(cuts, signal), np.full(len(X), group)))
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def read_shoppers(folder):
    """Visits of a shop, grouped by month, region and kind of traffic; bought or not."""
    rows = [*csv.DictReader((folder / "shoppers" / "train.csv").open())]
    groups = ["/".join(row[name] for name in SHOPPERS) for row in rows]
    names = [name for name in rows[0] if name not in ("Revenue", *SHOPPERS)]
    columns = []
    for name in names:
        cells = [row[name] for row in rows]
        try:
            columns.append(np.array(cells, float))
        except ValueError:
            columns += [np.array(cells) == word for word in sorted({*cells})]
    y = [row["Revenue"].upper() == "TRUE" for row in rows]
    return np.column_stack(columns).astype(float), np.array(y, int), np.array(groups)


def read_electricity(folder):
    """Half hours of the electricity market, grouped by day; whether the price rises."""
    X = np.loadtxt(folder / "elec2" / "elec2_data.dat")
    y = np.loadtxt(folder / "elec2" / "elec2_label.dat").astype(int)
    return X, y, np.arange(len(y)) // 48


def data_sets(folder, quick):
    """Yield names, rows, relevance and groups."""
    size = 100 if quick else 600
    yield "made, 5 grades", *make_set(size, (5, 40))
    yield "made, 2 grades", *make_set(size, (5, 40), grades=2, noise=0.7, seed=1)
    yield "made, long groups", *make_set(size // 10, (100, 500), seed=2)
    for name, read in (("shoppers", read_shoppers), ("electricity", read_electricity)):
        try:
            yield name, *read(folder)
        except OSError:
            print(f"{folder} has no {name}; skipped.")


def divide(X, y, groups, seed=0):
    """Whole groups to learn from and to test with; columns are scaled by the former."""
    names = np.unique(groups)
    chosen = np.random.default_rng(seed).permutation(names)[: 3 * len(names) // 10]
    held = np.isin(groups, chosen)
    X = StandardScaler().fit(X[~held]).transform(X)
    return (X[~held], y[~held], groups[~held]), (X[held], y[held], groups[held])


def mean_square(X):
    """The mean squared length of rows."""
    return float((X**2).sum() / len(X))


def make_differences(X, y, groups):
    """Differences of at most MOST_PAIRS pairs, drawn from all pairs, with the sign of each."""
    rng, ones, others = np.random.default_rng(0), [], []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        i, j = np.nonzero(y[rows][:, None] > y[rows])
        ones.append(rows[i])
        others.append(rows[j])
    i, j = np.concatenate(ones), np.concatenate(others)
    some = rng.permutation(len(i))[:MOST_PAIRS]
    signs = rng.choice([-1, 1], len(some))
    return (X[i[some]] - X[j[some]]) * signs[:, None], signs


def fit_logistic(X, y, groups):
    return LogisticRegression(max_iter=300).fit(X, y > np.median(y) if y.max() > 1 else y)


def fit_numbers(X, y, groups):
    model = PassiveAggressiveRegressor(1 / mean_square(X), epsilon=0.0, solution="average")
    return model.set_params(random_state=0).fit(X, (y - y.mean()) / y.std())


def fit_svm(X, y, groups):
    return LinearSVC(C=0.01, fit_intercept=False).fit(*make_differences(X, y, groups))


def fit_pa(X, y, groups, share=1.0, loss="hinge"):
    model = PassiveAggressiveRanker(share / mean_square(X), loss=loss, max_iter=EPOCHS)
    return model.set_params(random_state=0).fit(X, y, groups)


def fit_perceptron(X, y, groups, share=0.0):
    model = PerceptronRanker(share * mean_square(X), max_iter=EPOCHS, random_state=0)
    return model.fit(X, y, groups)


METHODS = {
    "logistic regression, row by row": fit_logistic,
    "PassiveAggressiveRegressor, row by row": fit_numbers,
    "LinearSVC of 40,000 differences": fit_svm,
    "PerceptronRanker": fit_perceptron,
    "PassiveAggressiveRanker (the default)": fit_pa,
}
SETTINGS = {
    **{f"perceptron, margin {one:g}": (fit_perceptron, {"share": one}) for one in (0.0, 0.25, 1.0)},
    **{
        f"{loss}, C = {one:g} / mean square": (fit_pa, {"share": one, "loss": loss})
        for loss in ("hinge", "squared_hinge")
        for one in (0.03, 0.1, 0.3, 1.0, 3.0)
    },
}


def judge(fit, learnt, tested, **given):
    """Mean NDCG@10 and NDCG of the groups held out, and CPU seconds."""
    begun = time.process_time()
    model = fit(*learnt, **given)
    seconds = time.process_time() - begun
    X, y, groups = tested
    found = measure_groups(X @ model.coef_.ravel(), grade(y, make_keys(groups)))
    return float(found.ndcg_at_10.mean()), float(found.ndcg.mean()), seconds


def main():
    chosen = options(__doc__, defaults="compare settings on groups held out of the training groups")
    heads, lines = ["method"], {name: [name] for name in (SETTINGS if chosen.defaults else METHODS)}
    for name, *rows in data_sets(chosen.data, chosen.quick):
        learnt, tested = divide(*rows)
        heads.append(name)
        if chosen.defaults:
            learnt, tested = divide(*learnt, seed=1)
        for method, line in lines.items():
            fit, given = SETTINGS[method] if chosen.defaults else (METHODS[method], {})
            if not chosen.defaults:
                fit(*(each[:200] for each in learnt), **given)  # compiles
            top, whole, seconds = judge(fit, learnt, tested, **given)
            line.append(f"{top:.4f} {whole:.4f} {seconds:.3f} s")
    table(tuple(heads), *map(tuple, lines.values()))
    print("\nNDCG@10, NDCG and CPU seconds; higher NDCG is better.")


if __name__ == "__main__":
    main()

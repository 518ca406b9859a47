"""Products of features: where do pairs and triples help, and where do they overfit?

python benchmarks/products.py --data FOLDER --figure docs/products.png

Columns have mean 0 and deviation 1; products are those of different columns. Averaged weights after
ten passes; a seed decides the split; figures are means of five. Held out is a quarter of the rows,
2,000 at most.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measure import options, table
from orders import covtype, figure_option, numbers, two
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import PolynomialFeatures, scale

from rosenblatt import Perceptron

ROWS = (25, 50, 100, 200, 500, 1_000, 2_000)
DEGREES = (1, 2, 3)
MOST_COLUMNS, MOST_TESTED, SEEDS = 6_000, 2_000, 5
Rows = tuple[np.ndarray, np.ndarray]


class Result(NamedTuple):
    """Errors on held-out rows in per cent: by degree, one for each number of rows."""

    name: str
    columns: int
    rows: tuple[int, ...]
    errors: dict[int, np.ndarray]


def bundled() -> Iterator[tuple[str, Rows]]:
    """What comes with scikit-learn."""
    yield "iris versicolor/virginica", two(*load_iris(return_X_y=True), 1, 2)
    yield "wine 1/2", two(*load_wine(return_X_y=True), 0, 1)
    yield "wine 2/3", two(*load_wine(return_X_y=True), 1, 2)
    yield "breast cancer", load_breast_cancer(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits odd/even", (X, y % 2)
    yield "digits 3/8", two(X, y, 3, 8)


def synthetic() -> Iterator[tuple[str, Rows]]:
    """Sets whose right degree is known, with columns that say nothing."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3_000, 20))
    weights = random.normal(size=20)
    yield "a plane, 20 columns", (X, X @ weights > 0)
    noisy = X @ weights + 2 * np.linalg.norm(weights) * random.normal(size=len(X)) > 0
    yield "a plane with noise, 20 columns", (X, noisy)
    yield "XOR of 2 of 20 columns", (X, X[:, 0] * X[:, 1] > 0)
    yield "parity of 3 of 20 columns", (X, X[:, 0] * X[:, 1] * X[:, 2] > 0)
    yield "a sphere, 20 columns", (X, (X * X).sum(axis=1) > 20)
    yield "a sum of 10 products", (X, (X[:, :10] * X[:, 10:]).sum(axis=1) > 0)
    yield "coins, 20 columns", (X, random.random(len(X)) < 0.5)


def from_folder(folder: Path, quick: bool) -> Iterator[tuple[str, Rows]]:
    """Tables of numbers from files."""
    for name in ("sonar", "ionosphere", "banknote_authentication", "pima-indians-diabetes"):
        yield name.split("_")[0].split("-")[0], numbers(folder / f"uci/{name}.csv")
    yield "spambase", numbers(folder / "spambase/spambase.data")
    if quick:
        return
    X, y = numbers(folder / "letter/letter-recognition.data", label=0)
    yield "letters A–M/N–Z", (X, y < "N")
    yield "letters O/Q", two(X, y, "O", "Q")
    yield "covtype 2/rest", covtype(folder / "covtype/covtype.csv")
    yield "oil", numbers(folder / "oil/train.csv")


def study(name: str, X: np.ndarray, y: np.ndarray, seeds: int) -> Result:
    """All errors of one set."""
    X, codes = scale(np.asarray(X, float)), (y == np.unique(y)[-1]).astype(int)
    held = min(len(y) // 4, MOST_TESTED)
    rows = tuple(n for n in ROWS if n <= len(y) - held)
    errors: dict[int, list[list[float]]] = {}
    for degree in DEGREES:
        products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
        if products.fit(X[:1]).n_output_features_ > MOST_COLUMNS:
            continue
        for seed in range(seeds):
            places = np.random.default_rng([seed, 31]).permutation(len(y))
            test, train = places[:held], places[held:]
            unseen = products.transform(X[test]), codes[test]
            lesson = products.transform(X[train[: rows[-1]]])
            curve = []
            for n in rows:
                labels = codes[train[:n]]
                model = Perceptron(solution="average", max_iter=10, random_state=seed)
                if len(np.unique(labels)) < 2:
                    curve.append(100 * np.mean(unseen[1] != labels[0]))
                    continue
                curve.append(100 - 100 * model.fit(lesson[:n], labels).score(*unseen))
            errors.setdefault(degree, []).append(curve)
    means = {degree: np.mean(each, axis=0) for degree, each in errors.items()}
    return Result(name, X.shape[1], rows, means)


def print_tables(results: list[Result]) -> None:
    """Errors with few rows and with all of them."""
    names = {1: "columns", 2: "pairs", 3: "triples"}
    lines = [("data", "columns", "rows", *names.values(), "rows", *names.values())]
    for each in results:
        cells: list[str] = []
        for place in (each.rows.index(min(100, each.rows[-1])), -1):
            curves = [each.errors.get(degree) for degree in DEGREES]
            cells += [str(each.rows[place])]
            cells += ["–" if curve is None else f"{curve[place]:.1f}" for curve in curves]
        lines.append((each.name, str(each.columns), *cells))
    table(*lines)
    for words, most in (("with 100 rows", 100), ("with all rows", ROWS[-1])):
        places = [len([n for n in each.rows if n <= most]) - 1 for each in results]
        pairs = zip(places, results, strict=True)
        gains = [each.errors[1][place] - each.errors[2][place] for place, each in pairs]
        better, worse = sum(gain > 0.5 for gain in gains), sum(gain < -0.5 for gain in gains)
        print(f"{words}: pairs are better by over half a point on {better} of {len(gains)} sets, "
              f"worse on {worse}; mean change {-np.mean(gains):+.1f} points")  # fmt: skip


def draw_figure(results: list[Result], path: Path) -> None:
    """A panel for each set: errors over rows."""
    from matplotlib import pyplot

    columns = 6
    lines = -(-len(results) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(12, 1.9 * lines), layout="constrained")
    looks = {1: ("#555555", "columns"), 2: ("#0072b2", "pairs"), 3: ("#d55e00", "triples")}
    for axis, each in zip(axes.flat, results, strict=False):
        for degree, curve in each.errors.items():
            axis.plot(each.rows, curve, ".-", color=looks[degree][0], label=looks[degree][1])
        axis.set_title(f"{each.name} ({each.columns})", fontsize=8)
        axis.set_xscale("log")
        axis.set_xlim(20, 2_500)
        axis.set_xticks([25, 100, 500, 2_000], ["25", "100", "500", "2,000"])
        axis.minorticks_off()
        axis.set_ylim(0, None)
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in list(axes.flat)[len(results) :]:
        axis.axis("off")
    handles, labels = max(
        (axis.get_legend_handles_labels() for axis in axes.flat), key=lambda one: len(one[0])
    )
    figure.legend(handles, labels, loc="outside lower right", ncols=3, frameon=False)
    figure.supxlabel("rows learnt from", fontsize=9)
    figure.supylabel("% of held-out rows wrong", fontsize=9)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Study every set."""
    figure = figure_option()
    chosen = options(__doc__)
    seeds = 2 if chosen.quick else SEEDS
    sets = [*bundled(), *synthetic()]
    if chosen.data.is_dir():
        sets += from_folder(chosen.data, chosen.quick)
    else:
        print(
            f"The folder {chosen.data} is not there (see --data): only sets that need no files.\n"
        )
    results = [study(name, *rows, seeds) for name, rows in sets]
    print_tables(results)
    if figure:
        draw_figure(results, figure)


if __name__ == "__main__":
    main()

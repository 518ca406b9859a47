"""Do published experiments come out the same? One table per paper, ours beside theirs.

python benchmarks/reproduced.py --table NAME --data FOLDER

NAME is sol, libol, pa, thermal or all. A cell is the mean of several shuffles ± half their range,
and the published figure in brackets; ≠ marks a miss: further apart than both spreads and a
rounding. docs/measured.md says which data stand in for which.
"""

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import parser, table
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import KFold

from rosenblatt import (
    ALMA,
    AROW,
    CW,
    ROMMA,
    SCW,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
    SecondOrderPerceptron,
    read,
)
from rosenblatt.network.training import TRAININGS
from rosenblatt.reading.reader import read_matrix

Figures = list[float]


class Published(NamedTuple):
    """A published figure, and its spread if there is one."""

    value: float
    spread: float = 0.0


def cell(ours: Figures, theirs: Published | None = None, digits: int = 1) -> str:
    """Our mean and spread, with the published figure and a mark if both do not agree."""
    mean, spread = float(np.mean(ours)), float(np.ptp(ours)) / 2
    text = f"{mean:.{digits}f} ±{spread:.{digits}f}"
    if theirs is None:
        return text
    apart = abs(mean - theirs.value) > spread + theirs.spread + 0.5 * 10.0**-digits
    return f"{text} [{theirs.value:.{digits}f}]" + (" ≠" if apart else "")


def percent(share: float) -> float:
    """A share of 1 as per cent."""
    return 100 * float(share)


# SOL: one pass, shuffled ten times, parameters chosen by cross-validation on training rows


def make_alma(alpha: float = 0.9, **given: Any) -> ALMA:
    """ALMA with B = 1/α, as SOL and LIBOL have it."""
    return ALMA(alpha, B=1 / alpha, **given)


POWERS = [2.0**k for k in range(-8, 5, 2)]
RULES: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "perceptron": (Perceptron, {}),
    "ROMMA": (lambda **given: ROMMA(aggressive=False, **given), {}),
    "aggressive ROMMA": (ROMMA, {}),
    "ALMA": (make_alma, {"alpha": [0.5, 0.7, 0.9, 1.0]}),
    "PA": (lambda **given: PassiveAggressive(loss="hard", **given), {}),
    "PA-I": (PassiveAggressive, {"C": POWERS}),
    "PA-II": (lambda **given: PassiveAggressive(loss="squared_hinge", **given), {"C": POWERS}),
    "second order": (SecondOrderPerceptron, {"a": [*POWERS, 64.0, 256.0]}),
    "CW": (CW, {"confidence": [0.55, 0.7, 0.8, 0.9, 0.95]}),
    "AROW": (AROW, {"r": [*POWERS, 64.0]}),
    "SCW-I": (SCW, {"C": POWERS, "confidence": [0.6, 0.75, 0.9]}),
    "SCW-II": (
        lambda **given: SCW(variant="II", **given),
        {"C": POWERS, "confidence": [0.6, 0.75, 0.9]},
    ),
}  # fmt: skip
SOL: dict[str, dict[str, tuple[Published, Published]]] = {
    "a1a": {
        "perceptron": (Published(77.13, 0.54), Published(77.93, 1.87)),
        "PA": (Published(77.59, 0.97), Published(77.58, 3.29)),
        "PA-I": (Published(80.11, 0.58), Published(81.93, 1.03)),
        "PA-II": (Published(79.13, 0.62), Published(80.13, 2.00)),
        "ALMA": (Published(80.87, 0.37), Published(82.63, 0.89)),
        "second order": (Published(78.16, 0.73), Published(78.40, 1.89)),
        "CW": (Published(79.13, 0.65), Published(79.07, 1.13)),
        "AROW": (Published(82.11, 0.61), Published(84.02, 0.09)),
    },
    "MNIST": {
        "perceptron": (Published(84.60, 0.08), Published(86.71, 1.64)),
        "PA": (Published(85.53, 0.09), Published(87.53, 1.64)),
        "PA-I": (Published(85.53, 0.09), Published(87.53, 1.64)),
        "PA-II": (Published(85.85, 0.08), Published(88.11, 1.31)),
        "ALMA": (Published(89.72, 0.08), Published(91.88, 0.22)),
        "second order": (Published(85.52, 0.07), Published(88.11, 0.99)),
        "CW": (Published(87.84, 0.08), Published(88.61, 0.34)),
        "AROW": (Published(90.51, 0.04), Published(92.26, 0.14)),
    },
}


def settings(choices: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """All combinations of some choices."""
    found: list[dict[str, Any]] = [{}]
    for name, values in choices.items():
        found = [{**each, name: value} for each in found for value in values]
    return found


def describe(chosen: dict[str, Any]) -> str:
    """Parameters in words; those that are no numbers are left out."""
    return ", ".join(f"{k} = {v:g}" for k, v in chosen.items() if not isinstance(v, str))


def online(rule: str, X: Any, y: np.ndarray, seed: int, **chosen: Any) -> tuple[float, int, Any]:
    """Accuracy of a pass before each row was learnt, its updates, and the model."""
    model = RULES[rule][0](max_iter=1, random_state=seed, **chosen).fit(X, y)
    (epoch,) = model.history_
    return 1 - epoch.errors / epoch.rows, epoch.mistakes, model


def cross_validate(rule: str, X: Any, y: np.ndarray, folds: int = 3) -> dict[str, Any]:
    """The parameters with the best accuracy on held-out rows after one pass over the others."""
    every = settings(RULES[rule][1])
    if len(every) == 1:
        return every[0]
    parts = list(KFold(folds, shuffle=True, random_state=0).split(y))

    def accuracy(chosen: dict[str, Any]) -> float:
        scores = [online(rule, X[a], y[a], 0, **chosen)[2].score(X[b], y[b]) for a, b in parts]
        return float(np.mean(scores))

    return max(every, key=accuracy)


def read_images(folder: Path) -> Iterable[np.ndarray]:
    """The pixels of MNIST from 0 to 1 and its labels: training, then test rows."""
    for name in ("train", "t10k"):
        for kind, skip in (("images-idx3", 16), ("labels-idx1", 8)):
            content = gzip.decompress((folder / f"{name}-{kind}-ubyte.gz").read_bytes())
            values = np.frombuffer(content, np.uint8, offset=skip)
            yield values.astype(int) if skip == 8 else np.float32(values.reshape(-1, 784)) / 255


def sol_data(name: str, folder: Path, seed: int, quick: bool) -> tuple[Any, ...]:
    """Training and test rows: the size of a1a drawn from a9a, or MNIST."""
    if quick:
        X, y = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(y))
        X, y = X[order] / 16, y[order]
        return X[:1200], y[:1200], X[1200:], y[1200:]
    if name == "MNIST":
        return tuple(read_images(folder / "mnist"))
    X, y = read_matrix(read(folder / "a9a/a9a"))
    order = np.random.default_rng([seed, 1605]).permutation(len(y))
    return X[order[:1605]], y[order[:1605]], X[order[1605:]], y[order[1605:]]


def sol(folder: Path, quick: bool) -> None:
    """Accuracy during training and on test rows."""
    for name, published in SOL.items():
        if quick and name != "MNIST":
            continue
        lines = [
            (
                "digits" if quick else name,
                "chosen",
                "accuracy while learning, %",
                "test accuracy, %",
            )
        ]
        X, y = sol_data(name, folder, 0, quick)[:2]
        some = np.random.default_rng(0).permutation(len(y))[:6000]
        for rule, (while_learning, on_test) in published.items():
            chosen = cross_validate(rule, X[some], y[some])
            train, test = [], []
            for seed in range(2 if quick else 10 if name == "a1a" else 3):
                X, y, X_test, y_test = sol_data(name, folder, seed, quick)
                accuracy, _, model = online(rule, X, y, seed, **chosen)
                train.append(percent(accuracy))
                test.append(percent(model.score(X_test, y_test)))
            words = describe(chosen)
            given = (None, None) if quick else (while_learning, on_test)
            lines.append((rule, words, cell(train, given[0]), cell(test, given[1])))
        table(*lines)
        print()


# LIBOL: share of mistakes and updates in one pass, means over permutations

LIBOL: dict[str, dict[str, tuple[float, float]]] = {
    "svmguide3": {
        "perceptron": (0.332, 412.4), "ROMMA": (0.329, 409.3), "aggressive ROMMA": (0.328, 500),
        "ALMA": (0.230, 593), "PA": (0.318, 721), "PA-I": (0.236, 763), "PA-II": (0.253, 1131),
        "CW": (0.299, 705), "AROW": (0.222, 1220),
        "SCW-I": (0.206, 593), "SCW-II": (0.212, 802),
    },
    "ijcnn1": {
        "perceptron": (0.106, 15060), "ROMMA": (0.101, 14284), "ALMA": (0.071, 21474),
        "PA": (0.102, 33848), "PA-I": (0.077, 28376), "PA-II": (0.081, 61094),
        "CW": (0.093, 30648), "AROW": (0.082, 74247),
        "SCW-I": (0.060, 11077), "SCW-II": (0.070, 30834),
    },
}  # fmt: skip


def libol_data(folder: Path, quick: bool) -> Iterable[tuple[str, Any, np.ndarray]]:
    """The sets of LIBOL's table if they are there, and sets that stand in."""
    if quick:
        X, y = load_breast_cancer(return_X_y=True)
        yield "breast cancer", (X - X.mean(0)) / X.std(0), y
        return
    for name in LIBOL:
        if (folder / name / name).exists():
            yield name, *read_matrix(read(folder / name / name))
    yield "a9a", *read_matrix(read(folder / "a9a/a9a"))
    yield "w8a", *read_matrix(read(folder / "w8a/w8a"))
    X, y = read_matrix(read(folder / "covtype/covtype.csv", label=-1))
    some = np.random.default_rng(0).permutation(len(y))[:50_000]
    X, y = np.asarray(X[some], float), np.asarray(y)[some] == np.unique(y)[1]
    yield "covtype", (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), y


def libol(folder: Path, quick: bool) -> None:
    """Mistakes in per cent and updates in per cent of the rows; parameters by the first order."""
    rates: dict[str, dict[str, float]] = {
        name: {rule: rate for rule, (rate, _) in rows.items()} for name, rows in LIBOL.items()
    }
    for name, X, y in libol_data(folder, quick):
        some = np.random.default_rng(1).permutation(len(y))[:5000]
        lines, rates[name] = [(name, "chosen", "mistakes, %", "updates, %")], {}
        for rule in LIBOL["svmguide3"]:
            every = settings(RULES[rule][1])
            chosen = max(every, key=lambda each: online(rule, X[some], y[some], 99, **each)[0])
            runs = [online(rule, X, y, seed, **chosen)[:2] for seed in range(2 if quick else 5)]
            mistakes = [percent(1 - accuracy) for accuracy, _ in runs]
            updates = [percent(made / len(y)) for _, made in runs]
            known = LIBOL.get(name, {}).get(rule)
            theirs = (
                known and Published(percent(known[0])),
                known and Published(100 * known[1] / len(y)),
            )
            words = describe(chosen)
            lines.append(
                (rule, words, cell(mistakes, theirs[0] or None), cell(updates, theirs[1] or None))
            )
            rates[name][rule] = float(np.mean(mistakes))
        table(*lines)
        print()
    names = list(rates)
    lines = [("rank correlation of the rules' mistakes", *names)]
    for one in names:
        row = []
        for other in names:
            shared = [rule for rule in RULES if rule in rates[one] and rule in rates[other]]
            pair = [[rates[each][rule] for rule in shared] for each in (one, other)]
            row.append(f"{spearmanr(*pair).statistic:.2f}")
        lines.append((one, *row))
    table(*lines)


# Crammer et al. (2006): noise in labels and in rows, and what C does about it


def noisy_plane(kind: str, share: float, seed: int, rows: int, d: int = 10) -> tuple[Any, ...]:
    """Rows around a random plane; labels are flipped, or rows moved after they got their labels."""
    rng = np.random.default_rng([seed, 2006])
    plane = rng.normal(size=d)
    X, clean = rng.normal(size=(2 * rows, d)), np.empty(0)
    y = np.sign(X @ plane)
    test = X[rows:], y[rows:]
    clean = y[:rows].copy()
    if kind == "label":
        y[:rows][rng.random(rows) < share] *= -1
    else:
        X = X.copy()
        X[:rows] += share * rng.normal(size=(rows, d))
    return X[:rows], y[:rows], *test, clean


def aggressive(folder: Path, quick: bool) -> None:
    """Error on rows without noise after one pass, by rule, C and noise."""
    rules = {
        "perceptron": {},
        "PA": {},
        **{f"PA-I, C = {C:g}": {"C": C} for C in (1.0, 0.1, 0.01, 0.001)},
    }
    rules |= {f"PA-II, C = {C:g}": {"C": C} for C in (1.0, 0.1, 0.01, 0.001)}
    for kind, shares in (("label", (0.0, 0.1, 0.2, 0.3)), ("instance", (0.25, 0.5, 1.0))):
        lines = [(f"{kind} noise", *(f"{share:g}" for share in shares))]
        for name, chosen in rules.items():
            cells = []
            for share in shares:
                errors = []
                for seed in range(3 if quick else 20):
                    X, y, X_test, y_test, _ = noisy_plane(kind, share, seed, 200 if quick else 4000)
                    given = {**chosen, "fit_intercept": False}
                    model = online(name.partition(",")[0], X, y, seed, **given)[2]
                    errors.append(percent(1 - model.score(X_test, y_test)))
                cells.append(cell(errors))
            lines.append((name, *cells))
        table(*lines)
        print()


# Frean (1990, 1992): the thermal perceptron, and networks that grow


def thermal(folder: Path, quick: bool) -> None:
    """Rows right after training on random labels, and units for parity."""
    n, draws, epochs = 20, 3 if quick else 30, 30 if quick else 200
    lines = [(f"random labels, {n} inputs of ±1", "thermal", "pocket", "last", "thermal ≥ pocket")]
    for rows in (40, 60, 100, 200):
        right: dict[str, Figures] = {"thermal": [], "pocket": [], "last": []}
        for seed in range(draws):
            rng = np.random.default_rng([seed, rows])
            X, y = rng.choice([-1.0, 1.0], (rows, n)), rng.choice([-1.0, 1.0], rows)
            last = Perceptron(max_iter=epochs, random_state=seed).fit(X, y)
            weights = {name: train(X, y, epochs, seed) for name, train in TRAININGS.items()}
            weights["last"] = last.coef_[0], last.intercept_[0]
            for name, (w, b) in weights.items():
                right[name].append(percent(np.mean((X @ w + b > 0) == (y > 0))))
        better = np.mean(np.array(right["thermal"]) >= right["pocket"])
        lines.append(
            (f"{rows} rows, % right", *(cell(each) for each in right.values()), f"{better:.0%}")
        )
    table(*lines)
    print()
    lines = [("N-bit parity", "upstart, units", "tiling, units")]
    for bits in (2, 3, 4) if quick else (2, 3, 4, 5, 6, 7):
        X = 2.0 * ((np.arange(2**bits)[:, None] >> np.arange(bits)) & 1) - 1
        y = np.prod(X, axis=1) > 0
        cells = []
        for growth in ("upstart", "tiling"):
            sizes = []
            for seed in range(2 if quick else 5):
                net = PerceptronNetwork(
                    growth=growth, unit="thermal", lift="none", random_state=seed
                )
                sizes.append(
                    float(net.fit(X, y).n_units_) if net.fit(X, y).score(X, y) == 1 else np.nan
                )
            cells.append(cell(sizes))
        lines.append((str(bits), *cells))
    table(*lines)


TABLES: dict[str, Callable[[Path, bool], None]] = {
    "sol": sol,
    "libol": libol,
    "pa": aggressive,
    "thermal": thermal,
}


def main() -> None:
    """Run the tables that were asked for."""
    options = parser(__doc__)
    options.add_argument("--table", choices=[*TABLES, "all"], default="all")
    chosen = options.parse_args()
    for name in TABLES if chosen.table == "all" else [chosen.table]:
        print(f"\n{name}: {TABLES[name].__doc__}\n")
        if chosen.data.is_dir() or chosen.quick:
            TABLES[name](chosen.data, chosen.quick)
        else:
            print(f"Left out: the folder {chosen.data} is not there (see --data).")


if __name__ == "__main__":
    main()

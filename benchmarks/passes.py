"""How many passes: does one underfit, and do many overfit? Errors on held-out rows, on 28 sets.

python benchmarks/passes.py --data FOLDER --figure docs/passes.png

At most 1,500 rows of each set are learnt from, as they are and with a tenth of their labels
flipped. A seed decides the split, the flipped labels and the permutations; figures are means of
five.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import options, table
from orders import figure_option, made, real

from rosenblatt import Perceptron

PASSES = (1, 2, 3, 5, 10, 20, 50, 100)
SOLUTIONS = ("last", "average")
MOST_ROWS, MOST_TESTED, SEEDS = 1_500, 2_000, 5
FLIPPED = (0.0, 0.1)
Curves = dict[tuple[float, str], np.ndarray]


class Result(NamedTuple):
    """Errors on held-out rows of one set, in per cent, by noise and solution."""

    name: str
    rows: int
    columns: int
    curves: Curves
    stopped: dict[float, tuple[float, float]]
    """By noise: the error with early stopping, last weights, and the epochs that it took."""

    @property
    def is_wide(self) -> bool:
        """Whether there are at least as many columns as rows."""
        return self.columns >= self.rows


def split(X: Any, y: np.ndarray, seed: int, flipped: float) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from, some with another label, and rows held out."""
    random = np.random.default_rng([seed, 30])
    places = random.permutation(len(y))
    held = len(y) // 4
    test, train = places[:held][:MOST_TESTED], places[held:][:MOST_ROWS]
    labels = np.unique(y)
    codes = (y == labels[-1]).astype(int)
    learnt = codes[train] ^ (random.random(len(train)) < flipped)
    return X[train], learnt, X[test], codes[test]


def error(lesson: tuple[Any, Any], unseen: tuple[Any, Any], **parameters: Any) -> tuple[float, int]:
    """The share of held-out rows that are wrong, in per cent, and the passes made."""
    model = Perceptron(**parameters).fit(*lesson)
    return 100 - 100 * model.score(*unseen), model.n_iter_


def study(data: Any, seeds: int) -> Result:
    """All curves of one set."""
    found: dict[tuple[float, str], list[list[float]]] = {}
    stopped: dict[float, list[tuple[float, int]]] = {}
    shape = (0, 0)
    for seed in range(seeds):
        X, y = data.draw(seed)
        for flipped in FLIPPED:
            rows, learnt, test, labels = split(X, y, seed, flipped)
            lesson, unseen, shape = (rows, learnt), (test, labels), rows.shape
            for solution in SOLUTIONS:
                how = {"solution": solution, "random_state": seed}
                curve = [error(lesson, unseen, max_iter=most, **how)[0] for most in PASSES]
                found.setdefault((flipped, solution), []).append(curve)
            early = error(lesson, unseen, early_stopping=True, max_iter=100, random_state=seed)
            stopped.setdefault(flipped, []).append(early)
    curves = {key: np.mean(values, axis=0) for key, values in found.items()}
    means = {flipped: tuple(np.mean(each, axis=0)) for flipped, each in stopped.items()}
    return Result(data.name, *shape, curves, means)


def print_tables(results: list[Result]) -> None:
    """Errors after 1, 10 and 100 passes, and the passes with the least."""
    for flipped in FLIPPED:
        print(f"\n{flipped:.0%} of the labels flipped: errors on held-out rows, in per cent")
        head = "last: 1", "10", "100", "best at", "average: 1", "10", "100", "best at", "early"
        lines = [("data", "rows", "columns", *head)]
        for each in results:
            cells = []
            for solution in SOLUTIONS:
                curve = each.curves[flipped, solution]
                picked = [curve[PASSES.index(most)] for most in (1, 10, 100)]
                cells += [f"{value:.1f}" for value in picked]
                cells.append(str(PASSES[int(curve.argmin())]))
            early, epochs = each.stopped[flipped]
            line = (
                each.name,
                f"{each.rows}",
                f"{each.columns}",
                *cells,
                f"{early:.1f} ({epochs:.0f})",
            )
            lines.append(line)
        table(*lines)


def summarize(results: list[Result]) -> Iterator[str]:
    """What the tables say, in sentences."""
    for flipped in FLIPPED:
        for solution in SOLUTIONS:
            for wide in (False, True):
                part = [each.curves[flipped, solution] for each in results if each.is_wide == wide]
                if not part:
                    continue
                curves = np.array(part)
                under = np.mean(curves[:, 0] > curves[:, 4:].min(axis=1) + 0.5)
                over = np.mean(curves[:, -1] > curves.min(axis=1) + 1.0)
                mean = " ".join(f"{value:.1f}" for value in curves.mean(axis=0))
                kind = "columns ≥ rows" if wide else "columns < rows"
                yield (
                    f"{flipped:.0%} flipped, {solution:7}, {kind}, {len(part):2} sets: mean error "
                    f"{mean}; one pass underfits on {under:.0%}, 100 overfit on {over:.0%}"
                )


def draw_figure(results: list[Result], path: Path) -> None:
    """Errors relative to the least of each set, over passes."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained"
    )
    for row, flipped in enumerate(FLIPPED):
        for column, wide in enumerate((False, True)):
            axis = axes[row, column]
            part = [each for each in results if each.is_wide == wide]
            least = [min(each.curves[flipped, s].min() for s in SOLUTIONS) for each in part]
            for solution, colour in zip(SOLUTIONS, ("#d55e00", "#0072b2"), strict=True):
                curves = np.array([each.curves[flipped, solution] for each in part])
                curves -= np.array(least)[:, None]
                axis.plot(PASSES, curves.T, color=colour, alpha=0.15, linewidth=1)
                mean = curves.mean(axis=0)
                axis.plot(PASSES, mean, "o-", color=colour, label=f"{solution} weights")
            kind = "at least as many columns as rows" if wide else "fewer columns than rows"
            labels = "labels as they are" if not flipped else "a tenth of the labels flipped"
            axis.set_title(f"{kind},\n{labels} ({len(part)} sets)", fontsize="small")
            axis.set_xscale("log")
            axis.set_xticks(PASSES, [str(most) for most in PASSES])
            axis.minorticks_off()
            axis.set_ylim(0, 15)
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False)
    figure.supxlabel("passes")
    figure.supylabel("error on held-out rows above the least of the set, in points")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Study every set."""
    figure = figure_option()
    chosen = options(__doc__)
    seeds = 2 if chosen.quick else SEEDS
    sets = [*real(chosen.data, chosen.quick), *made(chosen.quick)]
    results = []
    for data in sets:
        results.append(study(data, seeds))
        print(f"{data.name} …", flush=True)
    print_tables(results)
    print(f"\n{len(results)} sets, {seeds} seeds; passes {PASSES}")
    for line in summarize(results):
        print(line)
    if figure:
        draw_figure(results, figure)


if __name__ == "__main__":
    main()

"""The pictures of docs/index.md, plots.md and kernels.md: python examples/pictures.py docs."""

import csv
import runpy
import sys
from pathlib import Path

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.datasets import load_breast_cancer, load_iris, make_circles
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, scale

from rosenblatt import Perceptron, plots, steps

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")


def clouds(apart, n=40, seed=3):
    """Two clouds of points, a number of deviations apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1, 1], n // 2)
    return rng.normal(size=(n, 2)) + apart / 2 * y[:, None] * [1, 0.6] + [0.8, 0.6], y


def narrow(n, margin, seed=0):
    """Points in a disc on both sides of a line, none nearer to it than the margin."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(4 * n, 2))
    distance = X @ [0.6, 0.8] + 0.2
    X = X[(np.abs(distance) > margin) & (np.linalg.norm(X, axis=1) < 1)][:n]
    return X, np.sign(X @ [0.6, 0.8] + 0.2).astype(int)


def keep(name, *displays):
    """Draw displays beside each other and write the picture."""
    figure = Figure(figsize=(5.4 * len(displays), 5.2), layout="constrained")
    for ax, display in zip(figure.subplots(1, len(displays)), displays, strict=True):
        display.plot(ax)
    figure.savefig(folder / name, dpi=80, bbox_inches="tight")
    print(name)


separable, overlapping = clouds(5), clouds(2)
last, stopped = Perceptron(random_state=0).fit(*separable), Perceptron(random_state=0, max_iter=3)
keep(
    "plots-boundary.png",
    plots.BoundaryDisplay.from_estimator(last, *separable),
    plots.BoundaryDisplay.from_estimator(stopped.fit(*overlapping), *overlapping),
)

flowers = load_iris()
iris = flowers.data, flowers.target
circles = make_circles(80, noise=0.08, factor=0.45, random_state=0)
curved = make_pipeline(PolynomialFeatures(2), Perceptron(random_state=0, max_iter=1000))
keep(
    "plots-classes.png",
    plots.BoundaryDisplay.from_estimator(
        Perceptron(solution="pocket", random_state=0).fit(*iris),
        *iris,
        class_names=flowers.target_names,
        feature_names=flowers.feature_names,
    ),
    plots.BoundaryDisplay.from_estimator(curved.fit(*circles), *circles),
)

X, y = load_breast_cancer(return_X_y=True)
cancer = scale(X), np.array(["malignant", "benign"])[y]
averaged = Perceptron(solution="average", random_state=0, max_iter=10).fit(*cancer)
keep(
    "plots-projection.png",
    plots.ProjectionDisplay.from_estimator(stopped, *overlapping),
    plots.BoundaryDisplay.from_estimator(averaged, *cancer),
)

keep(
    "plots-certificate.png",
    plots.CertificateDisplay.from_data(*overlapping),
    plots.CertificateDisplay.from_data(*separable),
)

hard, easy = narrow(200, 0.02), narrow(40, 0.1)
for name, display in [
    ("plots-progress.png", plots.ProgressDisplay.from_data(*hard, max_iter=1000)),
    ("plots-orders.png", plots.OrderDisplay.from_data(*hard)),
]:
    display.save(folder / name, dpi=80)
    print(name)

# The moving picture of the home page: the boundary after each update, and the row that caused it
X, y = easy
updates = list(enumerate(steps(X, y, random_state=0), start=1))
figure = Figure(figsize=(6.4, 5.8))
ax = figure.add_axes((0.14, 0.1, 0.84, 0.82))


def draw_update(update):
    """Draw the rows, the boundary after an update, and a ring around the row that caused it."""
    number, step = update
    ax.clear()
    plots.BoundaryDisplay.from_weights(step.new_weights, step.new_bias, X, y).draw(ax)
    ax.plot(*X[step.row], "o", color="black", fillstyle="none", markersize=18, markeredgewidth=2)
    ax.set_title(f"Update {number} of {len(updates)}: row {step.row} was wrong", loc="left")


film = FuncAnimation(figure, draw_update, [*updates, *10 * updates[-1:]])
film.save(folder / "plots-learning.gif", PillowWriter(fps=4), dpi=90)
print("plots-learning.gif")

kernels = runpy.run_path(str(Path(__file__).parent / "gallery" / "plot_10_kernels.py"))
kernels["figure"].savefig(folder / "kernels.png", dpi=90)
print("kernels.png")

# Error against time on the home page, from what benchmarks/text.py and raw.py wrote
NAMES = {  # of a method in the table: its name in the picture, and on which side of the point
    "rosenblatt": ("Rosenblatt", "right"),
    "tf-idf of words and pairs, LinearSVC": ("tf-idf, LinearSVC", "left"),
    "hashed words and pairs, SGDClassifier": ("hashed words, SGD", "right"),
    "default": ("Rosenblatt", "right"),
    "tune": ("Rosenblatt, tuned", "left"),
    "logistic": ("logistic regression", "right"),
    "logistic CV": ("logistic regression, tuned", "below"),
    "splines": ("splines, logistic regression", "below"),
    "LinearSVC": ("LinearSVC", "right"),
    "SGD": ("SGD", "above"),
    "LightGBM": ("LightGBM", "right"),
}
SIDES = {  # of a point: the shift of its name in points, and how the name is aligned
    "right": ((9, 0), "left", "center"),
    "left": ((-9, 0), "right", "center"),
    "above": ((0, 8), "center", "bottom"),
    "below": ((0, -8), "center", "top"),
}
PANELS = [("text", "IMDB", "25,000 film reviews"), ("raw", "mean", "21 raw tables, mean")]


def draw_errors(ax, table, of, title):
    """Error and CPU seconds of the methods on a set, with a name beside each point."""
    path = Path(__file__).parents[1] / "benchmarks" / "results" / f"{table}.csv"
    rows = csv.DictReader(path.read_text("utf-8").partition("\n\n")[0].splitlines())
    found = [row for row in rows if row["set"] == of and row["method"] in NAMES]
    for row in found:
        name, side = NAMES[row["method"]]
        ours = name.startswith("Rosenblatt")
        point = float(row["CPU s"]), float(row.get("test error in %") or row["error in %"])
        ax.plot(*point, "o", color="#0072B2" if ours else "#E69F00", markersize=9)
        style = {"weight": "bold"} if ours else {}
        shift, across, along = SIDES[side]
        at = {"textcoords": "offset points", "ha": across, "va": along}
        ax.annotate(name, point, shift, **at, **style)
    ax.set(xscale="log", xlabel="CPU seconds", ylabel="error in %", title=title)
    ax.margins(0.25, 0.15)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.spines[["top", "right"]].set_visible(False)


errors = Figure(figsize=(10, 4), layout="constrained")
for ax, panel in zip(errors.subplots(1, 2), PANELS, strict=True):
    draw_errors(ax, *panel)
errors.savefig(folder / "errors.png", dpi=90)
print("errors.png")

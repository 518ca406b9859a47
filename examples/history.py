"""The pictures of docs/history.md: python examples/history.py docs."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

from rosenblatt import Perceptron, separability

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.55"
CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def keep(figure, name):
    """Write a picture."""
    figure.savefig(folder / name, dpi=90)
    print(name)


def draw_gate(axis, title, labels):
    """The corners of a square with the line that a perceptron finds, if there is one."""
    axis.scatter(*CORNERS.T, s=160, c=[BLUE if label > 0 else "white" for label in labels],
                 edgecolors=BLUE, linewidths=2, zorder=3)  # fmt: skip
    if type(separability(CORNERS, labels)).__name__ == "Separable":
        model = Perceptron(order="fixed", max_iter=1000).fit(CORNERS, labels)
        (a, b), c = model.coef_[0], model.intercept_[0]
        x = np.array([-0.4, 1.4])
        if b:
            axis.plot(x, -(a * x + c) / b, color=ORANGE, linewidth=2)
        else:
            axis.axvline(-c / a, color=ORANGE, linewidth=2)
        rule = f"{a:+.0f}·x₁ {b:+.0f}·x₂ {c:+.0f} > 0".replace("-", "−")
    else:
        for pair in ([0, 3], [1, 2]):
            axis.plot(*CORNERS[pair].T, color=ORANGE, linewidth=2)
        axis.plot(0.5, 0.5, "*", color=ORANGE, markersize=16)
        rule = "no line: the segments cross"
    axis.set(title=title, xlim=(-0.4, 1.4), ylim=(-0.4, 1.4), aspect="equal")
    axis.set_xticks([0, 1])
    axis.set_yticks([0, 1])
    axis.set_xlabel(rule)
    axis.spines[["top", "right"]].set_visible(False)


figure = Figure(figsize=(8.6, 3), layout="constrained")
gates = {
    "AND": [-1, -1, -1, 1],
    "OR": [-1, 1, 1, 1],
    "x₁ and not x₂": [-1, -1, 1, -1],
    "XOR": [-1, 1, 1, -1],
}
for axis, (title, labels) in zip(figure.subplots(1, 4), gates.items(), strict=True):
    draw_gate(axis, title, labels)
keep(figure, "history-gates.png")


# The Mark I: retina, association units, response units.
random = np.random.default_rng(1958)
figure = Figure(figsize=(10, 3.8), layout="constrained")
axis = figure.subplots()
picture = np.hypot(*(np.mgrid[:20, :20] - 9.5)) < 6
cells = np.where(picture, 0.0, 0.87)
axis.imshow(cells, cmap="gray", vmin=0, vmax=1, extent=(0, 3, 0.1, 3.1), zorder=1)
for line in np.linspace(0, 3, 21):
    axis.plot([line, line], [0.1, 3.1], color="white", linewidth=0.5, zorder=2)
    axis.plot([0, 3], [line + 0.1, line + 0.1], color="white", linewidth=0.5, zorder=2)
units = np.linspace(0, 3.05, 12)
for k, height in enumerate(units):
    for _ in range(5):
        row, column = random.integers(0, 20, 2)
        start, colour = (
            ((column + 0.5) * 0.15, 3.1 - (row + 0.5) * 0.15),
            random.choice([BLUE, ORANGE]),
        )
        axis.plot(
            *zip(start, (5.5, height), strict=True),
            color=colour,
            alpha=0.6,
            linewidth=0.8,
            zorder=3,
        )
    fires = k % 3 != 1
    axis.add_patch(Circle((5.5, height), 0.09, color="black" if fires else "0.8", zorder=3))
    for response in (0.8, 2.2):
        line = FancyArrowPatch(
            (5.6, height),
            (8.3, response),
            arrowstyle="-",
            color=GREY,
            linewidth=float(random.uniform(0.3, 3)),
        )
        axis.add_patch(line)
for response, name in ((2.2, "circle"), (0.8, "square")):
    axis.add_patch(
        Circle((8.3, response), 0.16, color=BLUE if name == "circle" else "0.8", zorder=3)
    )
    axis.text(8.6, response, name, va="center", fontsize=13)
for x, words in (
    (1.5, "retina: 400 photocells"),
    (5.5, "512 association units,\nwired at random, fixed"),
    (8.3, "8 response units:\nthese weights are learnt"),
):
    axis.text(x, -0.35, words, ha="center", va="top", fontsize=12)
axis.set(xlim=(-0.1, 10), ylim=(-1.1, 3.4), aspect="equal")
axis.axis("off")
keep(figure, "history-mark-1.png")


# A time line.
EVENTS = [
    (1943, "McCulloch & Pitts:\nneurons that compute"),
    (1949, "Hebb: synapses\nthat learn"),
    (1957, "Rosenblatt:\nthe perceptron"),
    (1960, "the Mark I;\nWidrow & Hoff: Adaline"),
    (1962, "Novikoff, Block:\nit converges"),
    (1969, "Minsky & Papert:\nwhat it cannot do"),
    (1986, "Rumelhart, Hinton\n& Williams: backprop"),
    (1990, "Gallant: pocket;\nFrean: upstart"),
    (1999, "Freund & Schapire:\nvoted, kernels"),
    (2002, "Collins:\nstructured"),
    (2006, "Crammer et al.:\npassive-aggressive"),
]
figure = Figure(figsize=(11, 5), layout="constrained")
axis = figure.subplots()
axis.plot([1941, 2010], [0, 0], color="black", linewidth=1.5)
axis.axvspan(1970, 1985, ymin=0.44, ymax=0.56, color="0.9")
axis.text(
    1977.5, 0.45, "few linear classifiers", ha="center", va="bottom", fontsize=12, color="0.4"
)
levels = [1.0, -1.0, 2.6, -2.6]
for k, (year, words) in enumerate(EVENTS):
    level = levels[k % 4]
    axis.plot([year, year], [0, level * 0.72], color=GREY, linewidth=0.8)
    axis.plot(year, 0, "o", color=BLUE)
    axis.text(
        year,
        level * 0.76,
        f"{year}\n{words}",
        ha="center",
        va="bottom" if level > 0 else "top",
        fontsize=12,
    )
axis.set(xlim=(1936, 2014), ylim=(-3.4, 3.4))
axis.axis("off")
keep(figure, "history-time.png")

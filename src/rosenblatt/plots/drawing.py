"""Colours, points, arrows, words and legends of all pictures."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..rows import Array

# Okabe & Ito's palette, which the colour-blind can tell apart, with markers for print in grey; the
# first two differ in lightness as well.
COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
INK = "0.15"
FAINT = "0.45"


def draw_points(
    ax: Axes, places: Array, codes: Array, classes: Array, circled: Array, why: str
) -> None:
    """Points with a colour and a marker for each class, and circles around some places."""
    area = float(np.clip(12_000 / max(len(places), 1), 6, 42))
    for code, label in enumerate(classes.tolist()):
        x, y = places[codes == code].T
        if len(x):
            ax.scatter(
                x,
                y,
                s=area,
                color=COLOURS[code % len(COLOURS)],
                marker=MARKERS[code % len(MARKERS)],
                edgecolors=INK,
                linewidths=0.6 if area > 12 else 0.2,
                label=str(label),
                zorder=3,
                rasterized=len(places) > 2_000,
            )
    if len(circled):
        x, y = circled.T
        width = 1.2 if len(circled) <= 100 else 0.5
        look: dict[str, Any] = {"rasterized": len(circled) > 2_000, "label": why, "zorder": 4}
        ring(ax, x, y, s=area * 3 + 20, linewidths=width, **look)


def ring(ax: Axes, x: Array, y: Array, edgecolors: str = "black", **look: Any) -> None:
    """Circles that are not filled."""
    ax.scatter(x, y, facecolors="none", edgecolors=edgecolors, **look)


def arrow(ax: Axes, start: Array, end: Array, **options: Any) -> None:
    """An arrow between two places."""
    look = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0, "linewidth": 2}
    ax.annotate("", tuple(end), tuple(start), arrowprops=look | options, annotation_clip=True)


def note(ax: Axes, text: str, place: Any, **options: Any) -> None:
    """A word in the picture, readable on any ground."""
    ground = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0}
    ax.annotate(text, place, bbox=ground, color=INK, annotation_clip=True, **options)


def tidy(ax: Axes, labels: tuple[str, str]) -> None:
    """Leave out the lines that say nothing, and name the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])


def legend_above(ax: Axes) -> None:
    """A legend that covers nothing, with the points first."""
    named = zip(*ax.get_legend_handles_labels(), strict=True)
    points_first = sorted(named, key=lambda pair: isinstance(pair[0], Line2D))
    handles, labels = zip(*points_first, strict=True)
    columns = {4: 2, 3: 3, 5: 3, 6: 3}.get(len(handles), 5)
    ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize="small",
        frameon=False, borderaxespad=0.2, handletextpad=0.4, columnspacing=1.2,
    )  # fmt: skip

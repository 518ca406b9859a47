"""Colours, points, arrows, text and legends that all plots share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ..data.rows import Array

# Okabe & Ito's palette, which colour-blind readers can distinguish, with markers for print in grey;
# the first two colours differ in lightness as well.
COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
FAINT = "0.5"  # visible on light and on dark backgrounds


def ink() -> Any:
    """Return the colour of text, which is also that of lines."""
    return rcParams["text.color"]


def choose_colour(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def format_number(value: float, size: float = 0.0) -> str:
    """Format a number with three digits; rounding errors relative to ``size`` become 0."""
    return f"{0.0 if abs(value) <= 1e-9 * size else value:.3g}".replace("-", "−")


def draw_points(
    ax: Axes, places: Array, codes: Array, names: Sequence[str], circled: Array, why: str
) -> None:
    """Draw points with a colour and a marker per class, and circles around some places."""
    area = float(np.clip(12_000 / max(len(places), 1), 6, 42))
    look: dict[str, Any] = {"linewidths": 0.6 if area > 12 else 0.2, "edgecolors": ink()}
    for code, label in enumerate(names):
        x, y = places[codes == code].T
        if len(x):
            look |= {"color": choose_colour(code), "marker": MARKERS[code % len(MARKERS)]}
            ax.scatter(x, y, area, **look, label=label, zorder=3, rasterized=len(places) > 2_000)
    if len(circled):
        width = 1.2 if len(circled) <= 100 else 0.5
        look = {"facecolors": "none", "edgecolors": ink(), "linewidths": width, "zorder": 4}
        x, y = circled.T
        ax.scatter(x, y, area * 3 + 20, **look, label=why, rasterized=len(circled) > 2_000)


def draw_arrow(ax: Axes, start: Array, end: Array, size: float) -> None:
    """Draw an arrow between two places, above the points."""
    edge = withStroke(linewidth=5, foreground=ax.get_facecolor())
    look = {"arrowstyle": "-|>", "color": ink(), "shrinkA": 0, "shrinkB": 0, "linewidth": 2}
    look |= {"path_effects": [edge], "mutation_scale": size}
    ax.annotate("", tuple(end), tuple(start), arrowprops=look, annotation_clip=True, zorder=5)


def draw_text(ax: Axes, text: str, place: Any, **options: Any) -> None:
    """Write text in the plot, readable on any background."""
    ground = {"facecolor": ax.get_facecolor(), "alpha": 0.75, "edgecolor": "none", "pad": 1.0}
    ax.annotate(text, place, bbox=ground, color=ink(), annotation_clip=True, zorder=6, **options)


def label_axes(ax: Axes, x: str, y: str = "") -> None:
    """Label the axes and remove the lines at the top and right."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def draw_legend(ax: Axes) -> None:
    """Draw a legend above the axes, points before lines."""
    handles, _ = ax.get_legend_handles_labels()
    handles.sort(key=lambda handle: isinstance(handle, Line2D))
    columns = {4: 2, 3: 3, 5: 3, 6: 3}.get(len(handles), 5)
    if handles:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns,
            fontsize="small", frameon=False, borderaxespad=0.2, handletextpad=0.6,
            columnspacing=1.2,
        )  # fmt: skip

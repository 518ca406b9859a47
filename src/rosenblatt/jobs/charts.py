"""Charts as inline SVG, for pages without scripts, and those of evaluations."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..data.results import clip
from ..data.rows import Array
from .curves import (
    CalibrationCounts,
    Column,
    Curve,
    ThresholdScore,
    precision_recall_curve,
    roc_curve,
)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a8a8a", "#6a3d9a")
"""Okabe & Ito's palette, which colour-blind readers can distinguish."""
MOST_POINTS = 300
MOST_CURVES = 8  # classes in one chart
WIDTH, HEIGHT = 360, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 10, 42


class Series(NamedTuple):
    """A curve with its name; ``dots`` marks its points."""

    name: str
    curve: Curve
    dots: bool = False


class Axis(NamedTuple):
    """An axis: its title, and its range."""

    title: str
    low: float = 0.0
    high: float = 1.0

    def place(self, values: Array, start: float, end: float) -> Array:
        """Return the places of values between two ends of the chart."""
        share = (np.asarray(values, np.float64) - self.low) / ((self.high - self.low) or 1.0)
        return start + np.clip(share, 0.0, 1.0) * (end - start)


class Chart(NamedTuple):
    """Curves with a legend; ``guide`` is a dashed line behind them."""

    title: str
    series: Sequence[Series]
    axes: tuple[Axis, Axis]
    guide: Curve | None = None


DIAGONAL = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


def chart_ranks(names: Sequence[str], columns: Sequence[Column]) -> list[Chart]:
    """Return the ROC and precision-recall curves of the most frequent classes."""
    drawn = [
        (name, column)
        for name, column in zip(names if columns else (), columns, strict=True)
        if column.positive.any() and not column.positive.all()
    ]
    drawn = sorted(drawn, key=lambda one: -one[1].count_rows())[:MOST_CURVES]
    if not drawn:
        return []
    some = f" of the {len(drawn)} most frequent classes" if len(drawn) < len(columns) else ""
    ranks = {name: column.ranks() for name, column in drawn}
    rates = Axis("false positive rate"), Axis("true positive rate")
    roc = [Series(name, roc_curve(each)) for name, each in ranks.items()]
    precision = [Series(name, precision_recall_curve(each)) for name, each in ranks.items()]
    return [
        Chart(f"ROC{some}", roc, rates, DIAGONAL),
        Chart(f"Precision and recall{some}", precision, (Axis("recall"), Axis("precision"))),
    ]


def chart_thresholds(
    name: str,
    column: Column,
    chances: Callable[[Array], Array] | None,
    tabulate: Callable[[Any], list[ThresholdScore]],
) -> Chart:
    """Return precision, recall and F1 over the threshold above which a class is predicted."""
    low, high = 0.01, 0.99
    axis = Axis(f"probability above which {clip(name)} is predicted")
    if chances is None:
        low, high = float(column.scores.min()), float(column.scores.max())
        axis = Axis(f"score above which {clip(name)} is predicted", low, high)
    points = np.linspace(low, high, 99)
    table = np.array(tabulate(points))
    series = []
    for title, field in (("precision", 2), ("recall", 3), ("F1", 5)):
        known = ~np.isnan(table[:, field])
        series.append(Series(title, Curve(points[known], table[known, field])))
    return Chart("Thresholds", series, (axis, Axis("")))


def chart_calibration(name: str, counts: CalibrationCounts) -> list[Chart]:
    """Return observed shares of a class over its predicted probabilities."""
    bins = counts.curve()
    if not bins:
        return []
    x, y = np.array([(one.predicted, one.observed) for one in bins]).T
    axes = Axis(f"probability of {clip(name)}"), Axis("share of rows that are of it")
    title = f"Calibration (error {counts.error:.4f})"
    return [Chart(title, [Series("", Curve(x, y), dots=True)], axes, DIAGONAL)]


def draw_chart(chart: Chart) -> str:
    """Draw a chart as a figure."""
    title, series, axes, guide = chart
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [*draw_axis(axes[0], True), *draw_axis(axes[1], False)]

    def points(curve: Curve) -> list[tuple[float, float]]:
        x, y = axes[0].place(curve.x, LEFT, right), axes[1].place(curve.y, low, TOP)
        return [(round(a, 1), round(b, 1)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]

    if guide is not None:
        parts.append(draw_line(points(guide), "#8a8a8a", "stroke-dasharray='4 4'"))
    for number, one in enumerate(series):
        colour, places = COLOURS[number % len(COLOURS)], points(thin_out(one.curve))
        parts.append(draw_line(places, colour, "stroke-width='2'"))
        if one.dots:
            parts += [f"<circle cx='{x}' cy='{y}' r='3' fill='{colour}'/>" for x, y in places]
    label = escape(title, quote=True)
    drawn = f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{label}'>"
    drawn += "".join(parts) + "</svg>"
    return f"<figure><h3>{escape(title)}</h3>{drawn}{draw_legend(series)}</figure>"


def draw_line(places: Sequence[tuple[float, float]], colour: str, more: str) -> str:
    """Draw a line through places."""
    path = " ".join(f"{x:g},{y:g}" for x, y in places)
    return f"<polyline points='{path}' fill='none' stroke='{colour}' {more}/>"


def draw_axis(axis: Axis, horizontal: bool) -> list[str]:
    """Draw the lines, numbers and title of an axis."""
    right, low, parts = WIDTH - RIGHT, HEIGHT - BOTTOM, []
    for value in np.linspace(axis.low, axis.high, 5).tolist():
        text = f"{value:.3g}"
        if horizontal:
            x = float(axis.place(np.array(value), LEFT, right))
            parts.append(f"<line class='grid' x1='{x:g}' y1='{TOP}' x2='{x:g}' y2='{low}'/>")
            parts.append(f"<text x='{x:g}' y='{low + 16}' text-anchor='middle'>{text}</text>")
        else:
            y = float(axis.place(np.array(value), low, TOP))
            parts.append(f"<line class='grid' x1='{LEFT}' y1='{y:g}' x2='{right}' y2='{y:g}'/>")
            parts.append(f"<text x='{LEFT - 6}' y='{y + 4:g}' text-anchor='end'>{text}</text>")
    middle = (LEFT + right) / 2, (TOP + low) / 2
    place = f"x='{middle[0]:g}' y='{HEIGHT - 6}'"
    if not horizontal:
        place = f"x='12' y='{middle[1]:g}' transform='rotate(-90 12 {middle[1]:g})'"
    return [*parts, f"<text {place} text-anchor='middle'>{escape(axis.title)}</text>"]


def draw_legend(series: Sequence[Series]) -> str:
    """Draw the names of curves with their colours; nothing for a single one without a name."""
    if not any(one.name for one in series):
        return ""
    names = "".join(
        f"<li><span style='background:{COLOURS[k % len(COLOURS)]}'></span>{escape(one.name)}</li>"
        for k, one in enumerate(series)
    )
    return f"<ul class='legend'>{names}</ul>"


def thin_out(curve: Curve, most: int = MOST_POINTS) -> Curve:
    """Return at most some points of a curve, evenly spread along it, with both ends."""
    if len(curve.x) <= most:
        return curve
    steps = np.abs(np.diff(curve.x)) + np.abs(np.diff(curve.y))
    along = np.append(0.0, np.cumsum(steps))
    places = np.unique(np.searchsorted(along, np.linspace(0, along[-1], most)))
    places = np.union1d(places, [0, len(along) - 1])
    return Curve(curve.x[places], curve.y[places])

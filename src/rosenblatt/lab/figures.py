"""The figures: glyphs whose few numbers the browser picks from a trace, moment by moment."""

from typing import Any

import numpy as np

try:
    from bokeh.models import (
        Arrow,
        CDSView,
        ColumnDataSource,
        IndexFilter,
        LinearColorMapper,
        PointDrawTool,
        Range1d,
        Span,
        VeeHead,
        WheelZoomTool,
    )
    from bokeh.plotting import figure
    from bokeh.transform import factor_cmap, factor_mark
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from .geometry import GRID_REACH, View
from .trace import Trace

# Okabe & Ito's palette, as in the plots; the classes differ in marker and lightness as well.
NEGATIVE, POSITIVE, NEGATIVE_SIDE, POSITIVE_SIDE = "#E69F00", "#0072B2", "#fbe6bd", "#cfe3f2"
THIRD = "#009E73"
INK, FAINT, PALE, LINE = "#1d2733", "#5b6775", "#eceff3", "#b7c0ca"
HOT, GREEN = "#a8326f", "#00664b"  # what is in use now, and w
COLOURS = {  # by the system's setting; the script paints with them
    "light": {
        "ink": INK,
        "faint": FAINT,
        "pale": PALE,
        "line": LINE,
        "paper": "#ffffff",
        "hot": HOT,
        "w": GREEN,
        "wrong": "#c2410c",
        "negative": {"line": NEGATIVE, "side": NEGATIVE_SIDE},
        "positive": {"line": POSITIVE, "side": POSITIVE_SIDE},
        "third": {"line": THIRD, "side": "#c9eadf"},
    },
    "dark": {
        "ink": "#f2f5f8",
        "faint": "#aab6c3",
        "pale": "#27303a",
        "line": "#4a5663",
        "paper": "#14191f",
        "hot": "#ff8cc6",
        "w": "#43d6a5",
        "wrong": "#ff9a62",
        "negative": {"line": NEGATIVE, "side": "#3d2f0c"},
        "positive": {"line": "#6cb8e6", "side": "#0d2f47"},
        "third": {"line": THIRD, "side": "#0b3a2d"},
    },
}
SIDES = ("a", "b")
SCRATCH = (
    "shade",
    "edge",
    "last",
    "band",
    "ray",
    "arc",
    "now",
    "wrong",
    "proof",
    "meet",
    "w",
    "angle",
    "units",
    "names",
    "alpha",
    "grip",
    "lit",
    "held",
)
NO_REGIONS: dict[str, Any] = {"image": [], "x": [], "y": [], "size": []}


class Pane:
    """One figure: the points, and everything that is drawn for one run."""

    def __init__(self, side: str, points: ColumnDataSource) -> None:
        self.trace, self.visits = ColumnDataSource(), ColumnDataSource()
        self.wrong = ColumnDataSource({"bits": np.empty(0, np.uint8)})
        self.regions = ColumnDataSource({"image": [], "x": [], "y": [], "size": []})
        self.curves = ColumnDataSource({"xs": [], "ys": []})
        self.scratch = {part: scratch(f"{part}_{side}") for part in SCRATCH}
        self.region = IndexFilter([])
        self.figure = figure(
            name=f"pane_{side}",
            x_range=Range1d(-3, 3, name=f"x_{side}"),
            y_range=Range1d(-3, 3, name=f"y_{side}"),
            sizing_mode="stretch_both",
            tools="",
            toolbar_location=None,
            min_border=6,
            background_fill_color="#ffffff",
            border_fill_color=None,
            outline_line_color=LINE,
        )
        self.figure.grid.grid_line_color = PALE
        self.figure.axis.axis_line_color = self.figure.axis.major_tick_line_color = LINE
        self.figure.axis.minor_tick_line_color = None
        self.figure.axis.major_label_text_color = FAINT
        self.figure.axis.axis_label_text_font_style = "normal"
        self.figure.axis.axis_label_standoff = 2
        self.figure.tags = [self.trace, self.visits, self.wrong, self.curves]  # drawn by no glyph
        self._draw_run()
        self._draw_points(points)

    def _draw_run(self) -> None:
        """Glyphs whose few numbers the browser picks from the trace."""
        plot, at = self.figure, self.scratch
        colours = LinearColorMapper(
            palette=[NEGATIVE_SIDE, "#ffffff", POSITIVE_SIDE], low=-1, high=1
        )
        plot.image(
            image="image",
            x="x",
            y="y",
            dw="size",
            dh="size",
            source=self.regions,
            view=CDSView(filter=self.region),
            color_mapper=colours,
        )
        plot.patches("xs", "ys", fill_color="colour", line_color=None, source=at["shade"])
        plot.line([-1e9, 1e9], [0, 0], line_color="#d5dbe2")
        plot.line([0, 0], [-1e9, 1e9], line_color="#d5dbe2")
        plot.multi_line(
            "xs", "ys", line_color=INK, line_width=1, line_dash="4 4", source=at["band"]
        )
        plot.multi_line(
            "xs", "ys", line_color=FAINT, line_width=1.4, line_dash="8 5", source=at["last"]
        )
        plot.multi_line("xs", "ys", line_color=INK, line_width=2.6, source=at["edge"])
        plot.multi_line(
            "xs", "ys", line_color=HOT, line_width=1.6, line_dash="2 3", source=at["ray"]
        )
        plot.multi_line("xs", "ys", line_color=HOT, line_width=2, source=at["arc"])
        plot.multi_line("xs", "ys", line_color="colour", line_width="size", source=at["units"])
        plot.multi_line("xs", "ys", line_color=HOT, line_width=2.4, source=at["proof"])
        plot.add_layout(
            Arrow(
                x_start="x0",
                y_start="y0",
                x_end="x1",
                y_end="y1",
                source=at["w"],
                line_width=3,
                line_color=GREEN,
                end=VeeHead(size=14, fill_color=GREEN, line_color=GREEN),
            )
        )

    def _draw_points(self, points: ColumnDataSource) -> None:
        """The points, which can be placed, dragged and removed."""
        plot, at = self.figure, self.scratch
        plot.scatter(
            "x", "y", fill_color=None, line_color="#c2410c", line_width=1.6, source=at["wrong"]
        )
        style: dict[str, Any] = {
            "marker": factor_mark("label", ["circle", "square", "triangle"], ["-1", "+1", "3"]),
            "color": factor_cmap("label", [NEGATIVE, POSITIVE, THIRD], ["-1", "+1", "3"]),
            "line_color": INK,
            "line_width": 0.8,
            "selection_line_width": 3.5,
            "selection_line_color": HOT,
        }
        plot.scatter(
            "x",
            "y",
            size="size",
            fill_color=FAINT,
            fill_alpha=0.3,
            line_color=None,
            source=at["alpha"],
        )
        self.points = plot.scatter("x", "y", source=points, **style)
        self.points.nonselection_glyph = self.points.glyph
        plot.scatter("x", "y", size=6, fill_color="#ffffff", line_color=None, source=at["held"])
        plot.scatter(
            "x", "y", size=26, fill_color=None, line_color=HOT, line_width=3, source=at["now"]
        )
        plot.scatter(
            "x", "y", marker="star", size=24, color=HOT, line_color="white", source=at["meet"]
        )
        words = {"text_font_size": "13px", "text_font_style": "bold"}
        plot.text("x1", "y1", text="text", x_offset=8, y_offset=-4, source=at["w"], **words)
        words |= {"text_color": HOT, "text_align": "center", "text_baseline": "middle"}
        plot.text("x", "y", text="text", source=at["angle"], **words)
        plot.text("x", "y", text="text", source=at["names"], **words | {"text_color": "colour"})
        plot.scatter("x", "y", fill_color=None, line_color=HOT, line_width=5, source=at["lit"])
        plot.scatter(
            "x",
            "y",
            size=15,
            fill_color="#ffffff",
            line_color=GREEN,
            line_width=3,
            source=at["grip"],
        )
        words |= {"text_color": INK, "text_align": "left", "text_baseline": "bottom"}
        plot.text("x", "y", text="text", x_offset=6, y_offset=-5, source=at["alpha"], **words)
        tool = PointDrawTool(renderers=[self.points], empty_value="")  # the page labels it
        self.draw = tool
        wheel = WheelZoomTool(zoom_on_axis=False)
        plot.add_tools(tool, wheel)
        plot.toolbar.active_scroll = wheel
        plot.toolbar.active_tap = plot.toolbar.active_drag = tool

    def freeze(self) -> None:
        """Points are no longer placed, dragged and removed."""
        self.figure.tools = [tool for tool in self.figure.tools if tool is not self.draw]

    def show(self, trace: Trace | None, view: View) -> None:
        """Send a run to the browser, or that there is none."""
        self.region.indices = []
        if trace is None:
            self.trace.data, self.visits.data = {"mistakes": np.zeros(0)}, {"row": np.zeros(0)}
            self.wrong.data = {"bits": np.empty(0, np.uint8)}
            self.regions.data, self.curves.data = NO_REGIONS, {"xs": [], "ys": []}
            return
        reach, count = GRID_REACH * view.half, len(trace.regions)
        self.regions.data = {
            "image": trace.regions,
            "x": [view.x - reach] * count,
            "y": [view.y - reach] * count,
            "size": [2 * reach] * count,
        }
        self.curves.data = {
            axis: [[line[:, column].tolist() for line in curve] for curve in trace.curves]
            for column, axis in enumerate(("xs", "ys"))
        }
        self.wrong.data = {"bits": trace.wrong}
        self.visits.data = {
            name: values.astype(np.float64 if name == "met" else np.int32)
            for name, values in trace.visits.items()
        }
        self.trace.data = {
            name: np.asarray(values, np.float64) for name, values in trace.columns.items()
        }


def scratch(name: str) -> ColumnDataSource:
    """A source that only the browser fills; what it holds is not sent back."""
    columns: dict[str, list[Any]] = {
        "x": [], "y": [], "xs": [], "ys": [], "colour": [], "text": [], "size": [],
        "x0": [], "y0": [], "x1": [], "y1": [],
    }  # fmt: skip
    return ColumnDataSource(columns, name=name, syncable=False)


def chart() -> Any:
    """The curves over time, of one run or both, and where both stand."""
    plot = figure(
        name="chart",
        sizing_mode="stretch_both",
        tools="",
        toolbar_location=None,
        min_border=4,
        border_fill_color=None,
        outline_line_color=LINE,
        y_axis_label=None,
    )
    plot.grid.grid_line_color = PALE
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = FAINT
    plot.y_range.start = 0
    for side, dash, colour in zip(SIDES, ("solid", "8 4"), (INK, POSITIVE), strict=True):
        source = ColumnDataSource({"t": [], "v": [], "low": [], "high": []}, name=f"curve_{side}")
        source.syncable = False
        for limit in ("low", "high"):
            plot.line("t", limit, source=source, line_color=HOT, line_dash="2 3")
        plot.step(
            "t", "v", source=source, mode="after", line_width=2, line_color=colour, line_dash=dash
        )
    now = Span(location=0, dimension="height", line_color=HOT, line_width=2, name="cursor")
    now.syncable = False
    plot.add_layout(now)
    return plot

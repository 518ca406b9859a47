"""The page: figures, and the exchange of requests and answers between them and the engine."""

import asyncio
import base64
import json
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

try:
    from bokeh.core.properties import Bool, String
    from bokeh.core.templates import get_env
    from bokeh.document import Document
    from bokeh.events import DocumentReady
    from bokeh.model import DataModel
    from bokeh.models import (
        Arrow,
        CDSView,
        ColumnDataSource,
        CustomJS,
        IndexFilter,
        LinearColorMapper,
        PointDrawTool,
        Range1d,
        Span,
        VeeHead,
    )
    from bokeh.plotting import figure
    from bokeh.transform import factor_cmap, factor_mark
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from ..classifiers import CHOICES
from .data import MOST_BYTES, Points, as_csv, from_text
from .state import DOCUMENTS, FORMS, Settings, State, from_address, python_lines
from .tour import TOUR
from .trace import MOST_UPDATES, Trace, Verdict, View, trace_of, verdict_of, view_of

# Okabe & Ito's palette, as in plots.py; the classes differ in marker and lightness as well.
NEGATIVE, POSITIVE, INK, FAINT = "#E69F00", "#0072B2", "#1d2733", "#5b6775"
SIDES = ("a", "b")
SCRATCH = ("shade", "edge", "last", "band", "ray", "arc", "now", "wrong", "proof", "meet")
CURVES = {
    "errors": "J₁, misclassified points",
    "loss": "J, the loss −Σ y·activation over them",
    "norm": "‖w‖ between γM and R√M",
    "mistakes": "mistakes so far",
}


class Exchange(DataModel):
    """What the browser asks and what it is answered, as JSON."""

    request = String(default="")
    answer = String(default="")
    busy = Bool(default=False)


class Pane:
    """One figure: the points, and everything that is drawn for one run."""

    def __init__(self, side: str, points: ColumnDataSource) -> None:
        self.trace = ColumnDataSource()
        self.wrong = ColumnDataSource({"bits": np.empty(0, np.uint8)})
        self.regions = ColumnDataSource({"image": [], "x": [], "y": [], "size": []})
        self.curves = ColumnDataSource({"xs": [], "ys": []})
        self.scratch = {part: scratch(f"{part}_{side}") for part in (*SCRATCH, "w")}
        self.look = IndexFilter([])
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
            outline_line_color="#b7c0ca",
        )
        self.figure.grid.grid_line_color = "#eceff3"
        self.figure.axis.axis_line_color = self.figure.axis.major_tick_line_color = "#b7c0ca"
        self.figure.axis.minor_tick_line_color = None
        self.figure.axis.major_label_text_color = FAINT
        self.figure.tags = [self.trace, self.wrong, self.curves]  # no glyph draws all of these
        self._draw_run()
        self._draw_points(side, points)

    def _draw_run(self) -> None:
        """Glyphs whose few numbers the browser picks from the trace."""
        plot, at = self.figure, self.scratch
        colours = LinearColorMapper(palette=["#fbe6bd", "#ffffff", "#cfe3f2"], low=-1, high=1)
        plot.image(
            image="image",
            x="x",
            y="y",
            dw="size",
            dh="size",
            source=self.regions,
            view=CDSView(filter=self.look),
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
            "xs", "ys", line_color="#a8326f", line_width=1.6, line_dash="2 3", source=at["ray"]
        )
        plot.multi_line("xs", "ys", line_color="#a8326f", line_width=2, source=at["arc"])
        plot.multi_line("xs", "ys", line_color="#a8326f", line_width=2.4, source=at["proof"])
        plot.add_layout(
            Arrow(
                x_start="x0",
                y_start="y0",
                x_end="x1",
                y_end="y1",
                source=at["w"],
                line_width=3,
                line_color="#00664b",
                end=VeeHead(size=14, fill_color="#00664b", line_color="#00664b"),
            )
        )
        words = {"text_color": INK, "text_font_size": "13px", "text_font_style": "bold"}
        plot.text("x1", "y1", text="text", x_offset=8, y_offset=-4, source=at["w"], **words)

    def _draw_points(self, side: str, points: ColumnDataSource) -> None:
        """The points, which can be placed, dragged and removed."""
        plot, at = self.figure, self.scratch
        plot.scatter(
            "x",
            "y",
            size=17,
            fill_color=None,
            line_color="#c2410c",
            line_width=1.6,
            source=at["wrong"],
        )
        look: dict[str, Any] = {
            "marker": factor_mark("label", ["circle", "square"], ["-1", "+1"]),
            "color": factor_cmap("label", [NEGATIVE, POSITIVE], ["-1", "+1"]),
            "line_color": INK,
            "line_width": 0.8,
            "size": 10,
            "selection_line_width": 3.5,
            "selection_line_color": "#a8326f",
        }
        drawn = plot.scatter("x", "y", source=points, name=f"points_{side}", **look)
        drawn.nonselection_glyph = None
        plot.scatter(
            "x", "y", size=26, fill_color=None, line_color="#a8326f", line_width=3, source=at["now"]
        )
        plot.scatter(
            "x", "y", marker="star", size=24, color="#a8326f", line_color="white", source=at["meet"]
        )
        tool = PointDrawTool(renderers=[drawn], empty_value="+1", name=f"tool_{side}")
        plot.add_tools(tool)
        plot.toolbar.active_tap = plot.toolbar.active_drag = tool

    def show(self, trace: Trace | None, view: View) -> None:
        """Send a run to the browser."""
        if trace is None:
            self.trace.data = {"mistakes": np.zeros(0)}
            self.wrong.data = {"bits": np.empty(0, np.uint8)}
            self.regions.data = {"image": [], "x": [], "y": [], "size": []}
            self.curves.data = {"xs": [], "ys": []}
            return
        reach, count = 1.6 * view.half, len(trace.regions)
        self.look.indices = [0] if count else []
        self.regions.data = {
            "image": [region.astype(np.float32) for region in trace.regions],
            "x": [view.x - reach] * count,
            "y": [view.y - reach] * count,
            "size": [2 * reach] * count,
        }
        self.curves.data = {
            "xs": [[line[:, 0].tolist() for line in curve] for curve in trace.curves],
            "ys": [[line[:, 1].tolist() for line in curve] for curve in trace.curves],
        }
        self.wrong.data = {"bits": trace.wrong}
        self.trace.data = {
            name: np.asarray(values, np.float64) for name, values in trace.columns.items()
        }


def scratch(name: str) -> ColumnDataSource:
    """A source that only the browser fills; what it holds is not sent back."""
    columns: dict[str, list[Any]] = {
        "x": [], "y": [], "xs": [], "ys": [], "colour": [], "text": [],
        "x0": [], "y0": [], "x1": [], "y1": [],
    }  # fmt: skip
    return ColumnDataSource(columns, name=name, syncable=False)


def progress(panes: list[Pane]) -> Any:
    """The curves over time, of one run or both, and where both stand."""
    plot = figure(
        name="progress",
        sizing_mode="stretch_both",
        tools="",
        toolbar_location=None,
        min_border=4,
        border_fill_color=None,
        outline_line_color="#b7c0ca",
        y_axis_label=None,
    )
    plot.grid.grid_line_color = "#eceff3"
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = FAINT
    plot.y_range.start = 0
    for side, dash, colour in zip(SIDES, ("solid", "8 4"), (INK, "#0072B2"), strict=True):
        source = ColumnDataSource({"t": [], "v": [], "low": [], "high": []}, name=f"curve_{side}")
        source.syncable = False
        for limit in ("low", "high"):
            plot.line("t", limit, source=source, line_color="#a8326f", line_dash="2 3")
        plot.step(
            "t", "v", source=source, mode="after", line_width=2, line_color=colour, line_dash=dash
        )
    now = Span(location=0, dimension="height", line_color="#a8326f", line_width=2, name="cursor")
    now.syncable = False
    plot.add_layout(now)
    return plot


class Lab:
    """One visitor's page."""

    def __init__(self, doc: Document, start: State) -> None:
        self.doc, self.state, self.start = doc, start, start
        self.view = View()
        self.exchange = Exchange(name="exchange")
        self.points = ColumnDataSource({"x": [], "y": [], "label": []}, name="points")
        self.panes = [Pane(side, self.points) for side in SIDES]
        self.exchange.on_change("request", self._asked)
        self._lay_out()

    def _lay_out(self) -> None:
        """Put the figures into the page, and its script behind them."""
        folder = files(__package__)
        doc = self.doc
        doc.title = "Rosenblatt lab"
        doc.template = get_env().from_string(folder.joinpath("page.html").read_text("utf-8"))
        doc.template_variables.update(
            style=folder.joinpath("page.css").read_text("utf-8"),
            forms=FORMS,
            choices=CHOICES,
            sides=SIDES,
            curves=CURVES,
            default=vars(Settings()),
            documents=DOCUMENTS,
        )
        chart = progress(self.panes)
        chart.tags = [self.exchange]  # belongs to the page, though no figure draws it
        for root in (*(pane.figure for pane in self.panes), chart):
            doc.add_root(root)
        args: dict[str, Any] = {"exchange": self.exchange, "points": self.points}
        for side, pane in zip(SIDES, self.panes, strict=True):
            args |= {f"trace_{side}": pane.trace, f"wrong_{side}": pane.wrong}
            args |= {f"curves_{side}": pane.curves, f"look_{side}": pane.look}
        args["facts"] = {
            "start": self.start.address(),
            "tour": [stop._asdict() for stop in TOUR],
            "documents": DOCUMENTS,
            "most_bytes": MOST_BYTES,
            "colours": {"negative": "#fbe6bd", "positive": "#cfe3f2"},
        }
        script = folder.joinpath("page.js").read_text("utf-8")
        doc.js_on_event(DocumentReady, CustomJS(args=args, code=script))

    def _asked(self, attr: str, old: str, new: str) -> None:
        """Answer in a thread, so that other visitors are served meanwhile."""

        async def answer() -> None:
            self.exchange.answer = json.dumps(await self._answer(new))

        self.doc.add_next_tick_callback(answer)

    async def _answer(self, text: str) -> dict[str, Any]:
        """What to tell the browser; whatever it sent, a sentence comes back."""
        number = None
        try:
            request = json.loads(text)
            number = request.get("number")
            told = await self._do(request)
        except (ValueError, ImportError, MemoryError, OverflowError) as error:
            told = {"message": str(error) or type(error).__name__, "failed": True}
        except (AttributeError, KeyError, TypeError):
            told = {"message": "This request makes no sense to the lab.", "failed": True}
        return {"number": number, **told}

    async def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        """Open an address, read a file, or make a film."""
        if request["do"] == "film":
            film = await asyncio.to_thread(film_of, self.state, int(request["side"]))
            return {"file": base64.b64encode(film).decode(), "name": "learning.gif"}
        note = ""
        if request["do"] == "file":
            text = base64.b64decode(request["text"])
            points = await asyncio.to_thread(from_text, text, str(request["name"])[:80])
            state, note = self.state.with_points(points), points.note
        else:
            state = from_address(str(request["address"]))
        return await self._show(state, note, bool(request.get("keep_view")))

    async def _show(self, state: State, note: str, keep_view: bool) -> dict[str, Any]:
        """Send points and runs to the browser, and what is to be said about them."""
        points = state.points()
        if not keep_view:
            self.view = view_of(points.X)
        seen = await asyncio.to_thread(runs, state, points, self.view)
        traces, troubles, verdicts = seen
        self.state = state
        data = as_columns(points)
        if not same(self.points.data, data):
            self.points.data = data
        for pane, trace in zip(self.panes, traces, strict=True):
            pane.show(trace, self.view)
        return {
            "address": state.address(),
            "view": asdict(self.view),
            "message": " ".join(filter(None, [note or points.note, *troubles])),
            "csv": as_csv(points),
            "runs": [told(points, *run) for run in zip(settings_of(state), traces, verdicts)],
        }


def settings_of(state: State) -> list[Settings | None]:
    """Of both panes; None for one that is not shown."""
    return [state.first, state.second]


def runs(
    state: State, points: Points, view: View
) -> tuple[list[Trace | None], list[str], list[Verdict | None]]:
    """Both runs, what stood in their way, and the verdicts."""
    traces: list[Trace | None] = []
    troubles: list[str] = []
    verdicts: list[Verdict | None] = []
    for settings in settings_of(state):
        trace = verdict = None
        if settings is not None:
            verdict = verdict_of(points, settings.form != "origin")
            try:
                trace = trace_of(points, settings, view)
            except ValueError as trouble:
                troubles.append(str(trouble))
        traces.append(trace)
        verdicts.append(verdict)
    return traces, list(dict.fromkeys(troubles)), verdicts


def told(
    points: Points, settings: Settings | None, trace: Trace | None, verdict: Verdict | None
) -> dict[str, Any] | None:
    """What the page says about a run."""
    if settings is None or verdict is None:
        return None
    facts: dict[str, Any] = {
        "settings": vars(settings),
        "verdict": [verdict.sentence, verdict.detail, verdict.separable],
        "support": verdict.support,
        "meeting": verdict.meeting,
        "last": 0,
    }
    if trace is None:
        return facts
    theorem = trace.theorem
    bound = None if theorem is None or not np.isfinite(theorem.bound) else int(theorem.bound)
    return facts | {
        "last": trace.last,
        "every": trace.every,
        "ending": ending(trace, verdict),
        "bound": bound,
        "radius": None if theorem is None else theorem.radius,
        "gamma": None if bound is None or theorem is None else theorem.margin,
        "python": python_lines(points, settings, trace.epochs if trace.cut else None),
    }


def ending(trace: Trace, verdict: Verdict) -> str:
    """Why the run ended, in a sentence."""
    count = int(trace.columns["mistakes"][-1])
    done = f"{count:,} mistake{'' if count == 1 else 's'} in {trace.epochs:,} epochs"
    if trace.stop_reason == "separated":
        return f"Separated after {done}."
    if trace.cut:
        return f"Cut after {done}: the lab shows at most {MOST_UPDATES:,} updates."
    if verdict.separable is False and trace.every == "update":
        return f"Stopped after {done}. It would go on for ever: no line separates these points."
    return f"Stopped after {done}, before it had separated the points; allow more epochs."


def as_columns(points: Points) -> dict[str, Any]:
    """The points as the page's source has them."""
    labels = ["+1" if label > 0 else "-1" for label in points.y.tolist()]
    return {"x": points.X[:, 0].tolist(), "y": points.X[:, 1].tolist(), "label": labels}


def same(have: Any, want: dict[str, Any]) -> bool:
    """Whether a source already holds these columns: then a drag is not disturbed."""
    return all(list(have[name]) == values for name, values in want.items())


def film_of(state: State, side: int) -> bytes:
    """The animation of one pane's run, as plots.py makes it."""
    settings = settings_of(state)[side]
    if settings is None or settings.form == "kernel":
        raise ValueError("Only the linear forms are filmed; the kernel's curves can be saved.")
    from ..plots import LearningAnimation

    points = state.points()
    shorter = trace_of(points, settings, view_of(points.X))
    model = replace(settings, max_iter=shorter.epochs).estimator().fit(points.X, points.y)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "learning.gif"
        film = LearningAnimation.from_estimator(model, points.X, points.y, most_frames=60)
        film.save(path)
        return path.read_bytes()

"""The page: figures, and the exchange of requests and answers between them and the engine."""

import asyncio
import base64
import json
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

try:
    from bokeh.core.properties import String
    from bokeh.core.templates import get_env
    from bokeh.document import Document
    from bokeh.events import DocumentReady
    from bokeh.model import DataModel
    from bokeh.models import ColumnDataSource, CustomJS
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from ..theory.bounds import Convergence
from .choices import DEFAULTS, DOCUMENTS, FORMS, TABLE, Choices
from .data import MOST_BYTES, RANGES, SETS, Points, as_csv, from_text
from .figures import NEGATIVE_SIDE, POSITIVE_SIDE, SIDES, Pane, chart
from .geometry import View, view_of
from .proofs import Verdict, verdict_of
from .state import USUAL, State, from_address, python_lines
from .tour import TOUR
from .trace import MOST_UPDATES, Trace, trace_of

WORDS = {  # what the page calls some of the choices; the others go by their names
    "form": FORMS,
    "order": {
        "each": "each: permuted",
        "once": "once: permuted",
        "fixed": "fixed: as given",
        "active": "active: mistaken",
        "first": "first mistake",
        "worst": "worst mistake",
    },
    "solution": {"last": "last weights"},
    "ties": {"mistake": "a mistake", "positive": "+1", "negative": "−1", "correct": "right"},
    "intercept_step": {"1": "y", "radius": "y·R²"},
    "kernel": {"rbf": "Gaussian", "poly": "polynomial"},
}
CURVES = {
    "errors": "J₁, misclassified points",
    "loss": "J, the loss −Σ y·activation over them",
    "length": "‖(w, b)‖ between γM and R√M",
    "mistakes": "mistakes so far",
}


class Exchange(DataModel):  # type: ignore[misc]
    """What the browser asks and what it is answered, as JSON."""

    request = String(default="")
    answer = String(default="")


class Lab:
    """One visitor's page."""

    def __init__(self, doc: Document, start: State) -> None:
        self.doc, self.state, self.start = doc, start, start
        self.view = View()
        self.shown: list[Shown | None] = [None, None]
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
            options={name: options_of(name) for name in WORDS},
            sides=SIDES,
            curves=CURVES,
            default={**DEFAULTS, **USUAL._asdict(), "data": State().data},
            ranges=RANGES,
            sets=SETS,
            documents=DOCUMENTS,
        )
        over_time = chart()
        over_time.tags = [self.exchange]  # belongs to the page, though no figure draws it
        for root in (*(pane.figure for pane in self.panes), over_time):
            doc.add_root(root)
        args: dict[str, Any] = {"exchange": self.exchange, "points": self.points}
        for side, pane in zip(SIDES, self.panes, strict=True):
            args |= {f"trace_{side}": pane.trace, f"wrong_{side}": pane.wrong}
            args |= {f"curves_{side}": pane.curves, f"region_{side}": pane.region}
        args["facts"] = {
            "start": self.start.address(),
            "tour": [stop._asdict() for stop in TOUR],
            "documents": DOCUMENTS,
            "options": {name: each.options for name, each in SETS.items()},
            "most_bytes": MOST_BYTES,
            "colours": {"negative": NEGATIVE_SIDE, "positive": POSITIVE_SIDE},
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
        """Open an address, take over points that were edited, read a file, or animate a run."""
        if request["do"] == "animate":
            points, run = self.state.points(), self.shown[int(request["side"])]
            animation = await asyncio.to_thread(animation_of, points, run)
            return {"file": base64.b64encode(animation).decode(), "name": "learning.gif"}
        note = ""
        if request["do"] == "file":
            text = base64.b64decode(request["text"])
            points = await asyncio.to_thread(from_text, text, str(request["name"])[:80])
            state, note = self.state.with_points(points), points.note
        elif request["do"] in ("open", "edit"):
            state = from_address(str(request["address"]))
        else:
            raise KeyError(request["do"])
        return await self._show(state, note, edited=request["do"] == "edit")

    async def _show(self, state: State, note: str, edited: bool) -> dict[str, Any]:
        """Send points and runs to the browser, and what is to be said about them.

        While points are being edited, the browser has the newest, and its view stays.
        """
        points = state.points()
        if not edited:
            self.view = view_of(points.X)
        shown = await asyncio.to_thread(both_runs, state, points, self.view)
        self.state, self.shown = state, shown
        if not edited:
            self.points.data = as_columns(points)
        for pane, run in zip(self.panes, shown, strict=True):
            pane.size(len(points.y))
            pane.show(run and run.trace, self.view)
        troubles = [run.trouble for run in shown if run]
        notes = dict.fromkeys([note or points.note, *troubles])
        return {
            "edited": edited,
            "address": state.address(),
            "view": asdict(self.view),
            "message": " ".join(filter(None, notes)),
            "csv": as_csv(points),
            "runs": [run and told(points, run) for run in shown],
        }


def options_of(name: str) -> list[tuple[str, str]]:
    """The words that a choice is made from, and what the page calls them."""
    return [(word, WORDS[name].get(word, word)) for word in TABLE[name].words]


class Shown(NamedTuple):
    """A run, or what stood in its way, and the verdict on its points."""

    choices: Choices
    verdict: Verdict
    trace: Trace | None
    trouble: str = ""


def both_runs(state: State, points: Points, view: View) -> list[Shown | None]:
    """The run of each pane; None for one that is not shown."""
    return [
        None if choices is None else shown_run(points, choices, view)
        for choices in (state.first, state.second)
    ]


def shown_run(points: Points, choices: Choices, view: View) -> Shown:
    """Run the engine; what it refuses becomes a sentence on the page."""
    verdict = verdict_of(points, choices["form"] != "origin")
    try:
        return Shown(choices, verdict, trace_of(points, choices, view))
    except ValueError as trouble:
        return Shown(choices, verdict, None, str(trouble))


def told(points: Points, run: Shown) -> dict[str, Any]:
    """What the page says about a run."""
    choices, verdict, trace, trouble = run
    facts: dict[str, Any] = {
        "choices": choices.values,
        "trouble": trouble,
        "verdict": [verdict.sentence, verdict.detail, verdict.separable],
        "support": verdict.support,
        "meeting": verdict.meeting,
        "last": 0,
    }
    if trace is None:
        return facts
    return facts | {
        "last": trace.last,
        "every": trace.every,
        "ending": ending(trace, verdict, choices.straight),
        "theorem": numbers_of(trace.theorem),
        "python": python_lines(points, choices, trace.epochs if trace.cut else None),
    }


def numbers_of(theorem: Convergence | None) -> dict[str, float] | None:
    """What bounds the mistakes, if anything does."""
    if theorem is None or theorem.margin <= 0:
        return None
    bound = int(theorem.bound * (1 + 1e-9))  # rounding aside
    return {"radius": theorem.radius, "margin": theorem.margin, "bound": bound}


def ending(trace: Trace, verdict: Verdict, straight: bool) -> str:
    """Why the run ended, in a sentence; the verdict is about straight boundaries only."""
    count = int(trace.columns["mistakes"][-1])
    done = f"{count:,} mistake{'' if count == 1 else 's'} in {trace.epochs:,} epochs"
    if trace.stop_reason == "separated":
        return f"Separated after {done}."
    if trace.cut:
        return f"Cut after {done}: the lab shows at most {MOST_UPDATES:,} updates."
    if verdict.separable is False and straight:
        never = f"no {verdict.line} separates these points"
        return f"Stopped after {done}. It would go on for ever: {never}."
    return f"Stopped after {done}, before it had separated the points; allow more epochs."


def as_columns(points: Points) -> dict[str, Any]:
    """The points as the page's source has them."""
    labels = ["+1" if label > 0 else "-1" for label in points.y.tolist()]
    return {"x": points.X[:, 0].tolist(), "y": points.X[:, 1].tolist(), "label": labels}


def animation_of(points: Points, run: Shown | None) -> bytes:
    """A run as a GIF, as plots make it."""
    if run is None or run.trace is None or run.choices["form"] == "kernel":
        raise ValueError("Only runs of the linear forms are animated; save the figure instead.")
    from ..plots.animation import LearningAnimation

    model = run.choices.estimator(max_iter=run.trace.epochs).fit(points.X, points.y)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "learning.gif"
        drawn = LearningAnimation.from_estimator(model, points.X, points.y, most_frames=60)
        drawn.save(path)
        return path.read_bytes()

"""The page: figures, and the exchange of requests and answers between them and the engine."""

import base64
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

try:
    from bokeh.document import Document, without_document_lock
    from bokeh.models import ColumnDataSource
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from ..theory.bounds import Convergence
from .choices import Choices
from .data import Chosen, Points, as_csv, from_text
from .figures import SIDES, Pane
from .geometry import View, view_of
from .layout import Exchange, Parts, lay_out
from .proofs import Verdict, verdict_of
from .saving import saved_page
from .state import State, from_address, python_lines
from .trace import MOST_UPDATES, Trace, trace_of
from .work import EndedError, Tell, Work, nobody


class Answer(NamedTuple):
    """What the browser is told, and what is changed on the page before."""

    told: dict[str, Any]
    change: Callable[[], None] | None = None


class Lab:
    """One visitor's page."""

    def __init__(self, doc: Document, start: State) -> None:
        self.doc, self.state, self.start = doc, start, start
        self.shown: list[Shown | None] = [None, None]
        self.view, self.told = View(), dict[str, Any]()
        self.work = Work()
        self.exchange = Exchange(name="exchange")
        self.points = ColumnDataSource({"x": [], "y": [], "label": []}, name="points")
        self.panes = [Pane(side, self.points) for side in SIDES]
        self.exchange.on_change("request", self._asked)
        self.exchange.on_change("ended", lambda attr, old, new: self._end())
        doc.on_session_destroyed(lambda context: self._end())
        lay_out(doc, Parts(self.exchange, self.points, self.panes), {"start": start.address()})

    def _asked(self, attr: str, old: str, new: str) -> None:
        """Work without a lock on the page, so that it hears how far the work is and can end it."""

        async def work() -> None:
            answer = await self._answer(new)
            self.doc.add_next_tick_callback(lambda: self._tell(answer))

        self.doc.add_next_tick_callback(without_document_lock(work))

    def _tell(self, answer: Answer) -> None:
        if answer.change is not None:
            answer.change()
        self.exchange.answer = json.dumps(answer.told)

    def _end(self) -> None:
        self.work.wanted = False

    async def _in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        """What a function gives that takes a while; its last argument is what to tell."""
        work = self.work = Work()

        def progress() -> None:
            self.exchange.progress = json.dumps([work.words, work.share])

        told = partial(self.doc.add_next_tick_callback, progress)
        return await work.done(function, *args, work.tell, told=told)

    async def _answer(self, text: str) -> Answer:
        """What to tell the browser; whatever it sent, a sentence comes back."""
        number = None
        try:
            request = json.loads(text)
            number = request.get("number")
            answer = await self._do(request)
        except EndedError:
            answer = refusal("Ended; all is as it was before.")
        except (ValueError, ImportError, MemoryError, OverflowError) as error:
            answer = refusal(str(error) or type(error).__name__)
        except (AttributeError, KeyError, TypeError):
            answer = refusal("This request makes no sense to the lab.")
        return answer._replace(told={"number": number, **answer.told})

    async def _do(self, request: dict[str, Any]) -> Answer:
        """Open an address, take over points that were edited, read a file, or animate a run."""
        if request["do"] == "animate":
            points = self.state.points()
            return Answer({"files": await self._in_thread(animations_of, points, self.shown)})
        if request["do"] == "page":
            moment = int(request["moment"])
            return Answer({"files": await self._in_thread(self._page, moment)})
        note = ""
        if request["do"] == "file":
            text, name = base64.b64decode(request["text"]), str(request["name"])[:80]
            chosen = Chosen(tuple(request.get("drawn", ())), str(request.get("label", "")))
            points = await self._in_thread(lambda tell: from_text(text, name, chosen))
            state, note = self.state.with_points(points), points.note
        elif request["do"] in ("open", "edit"):
            state = from_address(str(request["address"]))
        else:
            raise KeyError(request["do"])
        look = View(**{name: float(value) for name, value in request.get("view", {}).items()})
        return await self._runs_of(state, note, look if request["do"] == "edit" else None)

    async def _runs_of(self, state: State, note: str, look: View | None) -> Answer:
        """The runs of a state, and what is to be said about them.

        While points are being edited, the browser has the newest, and says where it looks.
        """
        points, edited = state.points(), look is not None
        view = look or view_of(points.X)
        shown = await self._in_thread(both_runs, state, points, view)

        def show() -> None:
            self.state, self.shown, self.view, self.told = state, shown, view, told
            if not edited:
                self.points.data = as_columns(points)
            for pane, run in zip(self.panes, shown, strict=True):
                pane.show(run and run.trace, view)

        notes = dict.fromkeys([note or points.note, *(run.trouble for run in shown if run)])
        told = {
            "edited": edited,
            "address": state.address(),
            "view": asdict(view),
            "message": " ".join(filter(None, notes)),
            "csv": as_csv(points),
            "columns": points.columns,
            "classes": points.classes,
            "held": points.held.tolist(),
            "choice": points.choice and points.choice._asdict(),
            "runs": [run and told_of(points, run) for run in shown],
        }
        return Answer(told, show)

    def _page(self, moment: int, tell: Tell) -> dict[str, str]:
        """What is shown, as a page of its own by its name."""
        if not any(run and run.trace for run in self.shown):
            raise ValueError("There is no run to save yet; place points of both classes.")
        tell("Writing", 0.0)
        state = replace(self.state, moment=moment)
        told = {**self.told, "edited": False, "message": "", "address": state.address()}
        traces = [run and run.trace for run in self.shown]
        html = saved_page(as_columns(self.state.points()), traces, self.view, told)
        return {"perceptron.html": base64.b64encode(html.encode()).decode()}


def refusal(message: str) -> Answer:
    """Why nothing is changed."""
    return Answer({"message": message, "failed": True})


class Shown(NamedTuple):
    """A run, or what stood in its way, and the verdict on its points."""

    choices: Choices
    verdict: Verdict
    trace: Trace | None
    trouble: str = ""


def both_runs(state: State, points: Points, view: View, tell: Tell) -> list[Shown | None]:
    """The run of each pane; None for one that is not shown."""
    return [
        None if choices is None else shown_run(points, choices, view, tell)
        for choices in (state.first, state.second)
    ]


def shown_run(points: Points, choices: Choices, view: View, tell: Tell = nobody) -> Shown:
    """Run the engine; what it refuses becomes a sentence on the page."""
    tell("Deciding", 0.0)
    verdict = verdict_of(points, choices)
    try:
        return Shown(choices, verdict, trace_of(points, choices, view, tell))
    except ValueError as trouble:
        return Shown(choices, verdict, None, str(trouble))


def told_of(points: Points, run: Shown) -> dict[str, Any]:
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
        "ending": ending(trace, verdict, choices.straight),
        "theorem": numbers_of(trace.theorem),
        "units": trace.units,
        "many": points.many,
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
    if trace.units:
        return ending_of_network(trace, count)
    done = f"{count:,} mistake{'' if count == 1 else 's'} in {trace.epochs:,} epochs"
    if trace.stop_reason == "separated":
        return f"Separated after {done}."
    if trace.stop_reason == "zero_weights":
        return "Nothing was learnt: at w = 0 every activation is 0, which counts as right here."
    if trace.cut:
        return f"Cut after {done}: the lab shows at most {MOST_UPDATES:,} updates."
    if verdict.separable is False and straight:
        never = f"no {verdict.line} separates these points"
        return f"Stopped after {done}. It would go on for ever: {never}."
    return f"Stopped after {done}, before it had separated the points; allow more epochs."


def ending_of_network(trace: Trace, count: int) -> str:
    """Why a network grows no more, in a sentence."""
    units, errors = f"{count} unit{'' if count == 1 else 's'}", int(trace.columns["errors"][-1])
    if trace.stop_reason == "separated":
        return f"Separated by {units}."
    if trace.stop_reason == "max_units":
        return f"Stopped at {units}, with {errors:,} points on the wrong side; allow more units."
    return f"Stopped: more than {units} mend nothing; {errors:,} points are on the wrong side."


def as_columns(points: Points) -> dict[str, Any]:
    """The points as the page's source has them."""
    called = {1: "+1", -1: "-1", 2: "-1", 3: "3"}
    labels = [called[label] for label in points.y.tolist()]
    return {"x": points.X[:, 0].tolist(), "y": points.X[:, 1].tolist(), "label": labels}


def animations_of(points: Points, shown: list[Shown | None], tell: Tell) -> dict[str, str]:
    """The runs that can be animated, as GIFs by their names."""
    runs = {
        f"learning-{side}.gif": run
        for side, run in zip(SIDES, shown, strict=True)
        if run is not None
        and run.trace is not None
        and not points.many
        and run.choices["form"] in ("bias", "origin")
    }
    if not runs:
        raise ValueError("Only lines are animated as a GIF; save the run as a page instead.")
    made = {}
    for number, (name, run) in enumerate(runs.items()):
        tell("Animating", number / len(runs))
        made[name] = base64.b64encode(animation_of(points, run)).decode()
    return made


def animation_of(points: Points, run: Shown) -> bytes:
    """A run as a GIF, as plots make it."""
    from ..plots.animation import LearningAnimation

    epochs = {} if run.trace is None else {"max_iter": run.trace.epochs}
    points = points.taken(points.learnt)
    model = run.choices.estimator(**epochs).fit(points.X, points.y)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "learning.gif"
        drawn = LearningAnimation.from_estimator(model, points.X, points.y, most_frames=60)
        drawn.save(path)
        return path.read_bytes()

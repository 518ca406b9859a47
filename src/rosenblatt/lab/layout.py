"""The page as a document: its figures, the template around them, and the script behind them."""

from importlib.resources import files
from typing import Any, NamedTuple

try:
    from bokeh.core.properties import Int, String
    from bokeh.core.templates import get_env
    from bokeh.document import Document
    from bokeh.events import DocumentReady
    from bokeh.model import DataModel
    from bokeh.models import ColumnDataSource, CustomJS
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from .choices import DEFAULTS, DOCUMENT_WORDS, DOCUMENTS, FORMS, HINTS, TABLE
from .data import MOST_BYTES, RANGES, SETS
from .figures import COLOURS, SIDES, Pane, chart
from .state import USUAL, State
from .tour import TOUR

# In the scope of one.
SCRIPTS = (
    "plane.js",
    "points.js",
    "time.js",
    "dual.js",
    "start.js",
    "names.js",
    "classes.js",
    "lift.js",
    "network.js",
    "keep.js",
    "page.js",
)
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
    "multi_class": {"argmax": "all at once", "ovr": "one against the rest"},
    "ties": {"mistake": "a mistake", "positive": "+1", "negative": "−1", "correct": "right"},
    "intercept_step": {"1": "y", "radius": "y·R²"},
    "kernel": {"rbf": "Gaussian", "poly": "polynomial"},
    "third": {"product": "the product x₁·x₂", "square": "the square x₁² + x₂²"},
    "growth": {},
    "unit": {"pocket": "pocket with ratchet"},
    "lift": {"auto": "as needed", "sphere": "to a sphere"},
}
CURVES = {
    "errors": "J₁, misclassified points",
    "loss": "J, the loss −Σ y·activation over them",
    "length": "‖(w, b)‖ between γM and R√M",
    "mistakes": "mistakes so far",
}


class Exchange(DataModel):  # type: ignore[misc]
    """What the browser asks and what it is answered, as JSON, and how far the work on it is."""

    request = String(default="")
    answer = String(default="")
    progress = String(default="")
    ended = Int(default=0)
    """The number of the request whose answer is no longer wanted."""


def options_of(name: str) -> list[tuple[str, str]]:
    """The words that a choice is made from, and what the page calls them."""
    return [(word, WORDS[name].get(word, word)) for word in TABLE[name].choices]


class Parts(NamedTuple):
    """What the script of a page works with."""

    exchange: Exchange
    points: ColumnDataSource
    panes: list[Pane]


def lay_out(doc: Document, parts: Parts, facts: dict[str, Any]) -> None:
    """Put the figures into the page, and its script behind them, with facts that it knows."""
    folder = files(__package__)
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
        documents=DOCUMENT_WORDS,
        hints=HINTS,
    )
    over_time = chart()
    over_time.tags = [parts.exchange]  # belongs to the page, though no figure draws it
    for root in (*(pane.figure for pane in parts.panes), over_time):
        doc.add_root(root)
    args: dict[str, Any] = {"exchange": parts.exchange, "points": parts.points}
    for side, pane in zip(SIDES, parts.panes, strict=True):
        args |= {f"trace_{side}": pane.trace, f"visits_{side}": pane.visits}
        args |= {f"wrong_{side}": pane.wrong}
        args |= {f"curves_{side}": pane.curves, f"region_{side}": pane.region}
    args["facts"] = {
        "tour": [stop._asdict() for stop in TOUR],
        "documents": DOCUMENTS,
        "options": {name: each.options for name, each in SETS.items()},
        "most_bytes": MOST_BYTES,
        "colours": COLOURS,
        **facts,
    }
    script = "".join(folder.joinpath(name).read_text("utf-8") for name in SCRIPTS)
    doc.js_on_event(DocumentReady, CustomJS(args=args, code=script))

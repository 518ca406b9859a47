"""What a page shows: its points and choices, as an address to share and as Python lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np

from .choices import DEFAULTS, Choices
from .data import MOST_POINTS, SETS, Points, SetOptions, checked, from_file, made, plain

USUAL = SetOptions()
SIGNS = {1: "+", -1: "-", 2: "-", 3: "*"}  # of classes, in an address
SWITCHES = ("rows", "dual", "halved")


@dataclass(frozen=True)
class State:
    """All that an address holds: points, one run or two to compare, and the moment shown."""

    data: str = "blobs"
    options: SetOptions = USUAL
    placed: Points | None = field(default=None, compare=False)
    first: Choices = field(default_factory=Choices)
    second: Choices | None = None
    moment: int = 0
    rows: bool = False
    """Whether time goes on by every row that is met, and not by updates."""
    dual: bool = False
    """Whether α is shown at the points of a line."""
    halved: bool = False
    """Whether half of each class is held out."""

    def points(self) -> Points:
        """What both runs learn from."""
        points = made(self.data, self.options) if self.data != "points" else self.placed
        return checked(points or made("empty", USUAL))._replace(halved=self.halved)

    def with_points(self, points: Points) -> "State":
        """The same choices for other points."""
        return replace(self, data="points", placed=checked(points), moment=0)

    def address(self) -> str:
        """What follows the # of the page's address; only what differs from the defaults."""
        items: dict[str, Any] = {"data": self.data}
        if self.data == "points":
            points = self.points()
            items["points"] = written(points)
            names = {"columns": points.columns, "classes": points.classes}
            items |= {name: ";".join(called) for name, called in names.items() if called}
        else:
            items |= differing(self.options._asdict(), USUAL._asdict())
        items |= differing(self.first.values, DEFAULTS)
        if self.second is not None:
            items["compare"] = "on"
            others = differing(self.second.values, DEFAULTS)
            items |= {f"b.{name}": value for name, value in others.items()}
        items |= {name: "on" for name in SWITCHES if getattr(self, name)}
        if self.moment:
            items["t"] = self.moment
        return urlencode(items, safe=",;+", quote_via=quote)


def differing(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from others of the same names."""
    return {name: value for name, value in values.items() if value != others[name]}


def from_address(address: str) -> State:
    """The state that an address holds; everything it does not mention is as usual."""
    items = dict(parse_qsl(address.replace("+", "%2B")))
    data = items.get("data", "blobs")
    second = None
    if items.get("compare") == "on":
        others = {key[2:]: items[key] for key in items if key.startswith("b.")}
        second = Choices(values_in(others, DEFAULTS))
    options = SetOptions(**values_in(items, USUAL._asdict()))
    placed = None
    if data == "points":
        placed = read_points(items.get("points", ""))
        placed = placed._replace(
            columns=names_in(items, "columns"), classes=names_in(items, "classes")
        )
    moment = max(values_in(items, {"t": 0})["t"], 0)
    switches = {name: items.get(name) == "on" for name in SWITCHES}
    first = Choices(values_in(items, DEFAULTS))
    return State(data, options, placed, first, second, moment, **switches)


def names_in(items: Mapping[str, str], what: str) -> tuple[str, ...]:
    """Two names, or none."""
    names = tuple(plain(name) for name in items.get(what, "").split(";"))
    return names if len(names) in (2, 3) and all(names) else ()


def values_in(items: Mapping[str, str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The items of some names, each of its default's type, or the default where there is none."""
    return {
        name: read_value(name, items[name], type(default)) if items.get(name) else default
        for name, default in defaults.items()
    }


def read_value(name: str, text: str, kind: type) -> Any:
    """A word or a number of an address."""
    if kind is str:
        return text
    try:
        value = kind(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(float(value)):
        wanted = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name} must be {wanted}; got {text[:40]!r}.")
    return value


def written(points: Points) -> str:
    """Points as x,y,sign joined by semicolons, to the last bit."""
    rows = zip(points.X.tolist(), points.y.tolist(), strict=True)
    return ";".join(f"{x[0]!r},{x[1]!r},{SIGNS[label]}" for x, label in rows)


def read_points(text: str) -> Points:
    """The points of an address."""
    rows = [row.split(",") for row in text.split(";") if row]
    if len(rows) > MOST_POINTS:
        raise ValueError(f"The address has {len(rows):,} points; the lab shows {MOST_POINTS:,}.")
    try:
        X = np.array([[float(x), float(y)] for x, y, _ in rows]).reshape(-1, 2)
        three = any(sign == "*" for _, _, sign in rows)
        codes = {"+": 1, "-": 2 if three else -1, "*": 3}
        y = np.array([codes[sign] for _, _, sign in rows], int)
    except (ValueError, KeyError):
        raise ValueError("The address has points that are not x,y,+ or x,y,-.") from None
    return checked(Points(X, y), "The address")


def of_data(name: str) -> State:
    """Where a page starts for a set or a file that was named on the command line."""
    return State(data=name) if name in SETS else State().with_points(from_file(name))


def python_lines(points: Points, choices: Choices, max_iter: int | None = None) -> str:
    """Lines that make exactly this run; ``max_iter`` where the lab had to cut it."""
    shorter = {} if max_iter is None else {"max_iter": max_iter}
    parameters = {**choices.parameters(), **shorter}
    name = choices.estimator_class().__name__
    call = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    learnt, held = points.taken(points.learnt), points.taken(points.held)
    started = zip(("coef_init", "intercept_init"), choices.start, strict=True)
    fit = "".join(f", {key}={value!r}" for key, value in started if value is not None)
    kernel = "print(model.dual_coef_, model.intercept_)\n"
    shown = {"kernel": kernel, "network": "print(model.n_units_, model.units_)\n"}
    told = shown.get(choices["form"], "print(model.coef_, model.intercept_)\n")
    counts = "" if choices["form"] == "network" else ", model.n_iter_, model.n_mistakes_"
    third = {"product": "X[:, 0] * X[:, 1]", "square": "X[:, 0] ** 2 + X[:, 1] ** 2"}
    lift = f"X = np.column_stack([X, {third[choices['third']]}])\n"
    lift = lift if choices["form"] == "lifted" else ""
    more = f"\n{data_lines(held)}{lift}print(model.score(X, y))  # held out\n"
    return (
        f"import numpy as np\nfrom rosenblatt import {name}\n\n{data_lines(learnt)}{lift}\n"
        f"model = {name}({call}).fit(X, y{fit})\n"
        f"print(model.stop_reason_{counts})\n{told}{more if len(held.y) else ''}"
    )


def data_lines(points: Points) -> str:
    """Points as Python lines."""
    rows = ",\n    ".join(map(repr, points.X.tolist()))
    return f"X = np.array([\n    {rows},\n])\ny = np.array({points.y.tolist()})\n"

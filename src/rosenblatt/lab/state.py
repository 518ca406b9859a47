"""What a page shows: its points and settings, as an address to share and as Python lines."""

from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np

from ..classifiers import Perceptron
from ..dual import KernelPerceptron
from .data import MOST_POINTS, SETS, Points, Recipe, checked, from_file, made

MOST_EPOCHS = 1_000
FORMS = {"bias": "with a bias", "origin": "through the origin", "kernel": "dual, with a kernel"}
DOCUMENTS: dict[str, dict[str, str]] = {  # docs/textbook.md has the whole table
    "000": {"form": "bias", "order": "each", "ties": "positive", "intercept_step": "1"},
    "001": {"form": "origin", "order": "first", "ties": "negative"},
    "002": {"form": "bias", "order": "fixed", "ties": "mistake", "intercept_step": "radius"},
    "003": {"form": "origin", "order": "fixed", "ties": "mistake"},
    "004": {"form": "bias", "order": "each", "ties": "mistake", "intercept_step": "1"},
}


@dataclass(frozen=True)
class Settings:
    """One run's choices, under the names of the estimators' parameters."""

    form: str = "bias"
    order: str = "each"
    solution: str = "last"
    eta0: float = 1.0
    margin: float = 0.0
    ties: str = "mistake"
    intercept_step: str = "1"
    kernel: str = "rbf"
    degree: int = 2
    gamma: float = 1.0
    max_iter: int = 100
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}; got {self.form!r}.")
        if not 1 <= self.max_iter <= MOST_EPOCHS:
            raise ValueError(f"The lab runs 1 to {MOST_EPOCHS:,} epochs; got {self.max_iter:,}.")
        if self.intercept_step not in ("1", "radius"):
            raise ValueError(f"The bias moves by 1 or radius; got {self.intercept_step!r}.")
        if not 0 <= self.random_state < 2**32:
            raise ValueError(f"A seed is from 0 to 2³² − 1; got {self.random_state}.")

    def parameters(self) -> dict[str, Any]:
        """Of the estimator, those that differ from its defaults."""
        chosen: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("order", "solution", "margin", "ties", "max_iter")
        }
        if self.form == "origin":
            chosen["fit_intercept"] = False
        elif self.intercept_step == "radius":
            chosen["intercept_step"] = "radius"
        if self.form == "kernel":
            chosen |= {"kernel": self.kernel, "gamma": self.gamma}
            if self.kernel == "poly":
                chosen["degree"] = self.degree
        else:
            chosen["eta0"] = self.eta0
        defaults = self.estimator_class()().get_params()
        differing = {name: value for name, value in chosen.items() if value != defaults[name]}
        return differing | {"random_state": self.random_state}

    def estimator_class(self) -> Any:
        """Perceptron, or its dual form."""
        return KernelPerceptron if self.form == "kernel" else Perceptron

    def estimator(self, **changed: Any) -> Any:
        """What makes this run when it is fitted."""
        return self.estimator_class()(**{**self.parameters(), **changed})


USUAL = Recipe()
TYPES = {field.name: type(field.default) for field in fields(Settings)}


@dataclass(frozen=True)
class State:
    """All that an address holds: points, one run or two to compare, and the moment shown."""

    data: str = "blobs"
    recipe: Recipe = USUAL
    placed: Points | None = field(default=None, compare=False)
    first: Settings = Settings()
    second: Settings | None = None
    moment: int = 0

    def points(self) -> Points:
        """What both runs learn from."""
        if self.data == "points":
            return checked(self.placed or made("empty", Recipe()))
        return made(self.data, self.recipe)

    def with_points(self, points: Points) -> "State":
        """The same settings for other points."""
        return replace(self, data="points", placed=checked(points), moment=0)

    def address(self) -> str:
        """What follows the # of the page's address; only what differs from the defaults."""
        items: dict[str, Any] = {"data": self.data}
        if self.data == "points":
            items["points"] = written(self.points())
        else:
            items |= differing(self.recipe._asdict(), USUAL._asdict())
        items |= differing(vars(self.first), vars(Settings()))
        if self.second is not None:
            items["compare"] = "on"
            others = differing(vars(self.second), vars(Settings()))
            items |= {f"b.{name}": value for name, value in others.items()}
        if self.moment:
            items["t"] = self.moment
        return urlencode(items, safe=",;+")


def differing(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """The values that differ from others of the same names."""
    return {name: value for name, value in values.items() if value != others[name]}


def from_address(address: str) -> State:
    """The state that an address holds; everything it does not mention is as usual."""
    items = dict(parse_qsl(address.replace("+", "%2B")))
    data = items.get("data", "blobs")
    second = None
    if items.get("compare") == "on":
        second = settings_of({key[2:]: items[key] for key in items if key.startswith("b.")})
    recipe = Recipe(
        number(items, "size", int, USUAL.size),
        number(items, "gap", float, USUAL.gap),
        number(items, "seed", int, USUAL.seed),
    )
    placed = read_points(items.get("points", "")) if data == "points" else None
    moment = max(number(items, "t", int, 0), 0)
    return State(data, recipe, placed, settings_of(items), second, moment)


def settings_of(items: dict[str, str]) -> Settings:
    """The settings among the items of an address."""
    default = vars(Settings())
    chosen: dict[str, Any] = {
        name: items.get(name, default[name])
        if kind is str
        else number(items, name, kind, default[name])
        for name, kind in TYPES.items()
    }
    return Settings(**chosen)


def number(items: dict[str, str], name: str, kind: type, default: Any) -> Any:
    """A number of an address, or its default where there is none."""
    text = items.get(name, "")
    if not text:
        return default
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
    return ";".join(f"{x[0]!r},{x[1]!r},{'+' if label > 0 else '-'}" for x, label in rows)


def read_points(text: str) -> Points:
    """The points of an address."""
    rows = [row.split(",") for row in text.split(";") if row]
    if len(rows) > MOST_POINTS:
        raise ValueError(f"The address has {len(rows):,} points; the lab shows {MOST_POINTS:,}.")
    try:
        X = np.array([[float(x), float(y)] for x, y, _ in rows]).reshape(-1, 2)
        y = np.array([{"+": 1, "-": -1}[sign] for _, _, sign in rows], int)
    except (ValueError, KeyError):
        raise ValueError("The address has points that are not x,y,+ or x,y,-.") from None
    return checked(Points(X, y), "The address")


def of_data(name: str) -> State:
    """Where a page starts for a set or a file that was named on the command line."""
    return State(data=name) if name in SETS else State().with_points(from_file(name))


def python_lines(points: Points, settings: Settings, max_iter: int | None = None) -> str:
    """Lines that make exactly this run; ``max_iter`` where the lab had to cut it."""
    shorter = {} if max_iter is None else {"max_iter": max_iter}
    parameters = {**settings.parameters(), **shorter}
    name = settings.estimator_class().__name__
    call = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    rows = ",\n    ".join(map(repr, points.X.tolist()))
    weights = "model.dual_coef_" if settings.form == "kernel" else "model.coef_"
    return (
        "import numpy as np\n"
        f"from rosenblatt import {name}\n\n"
        f"X = np.array([\n    {rows},\n])\n"
        f"y = np.array({points.y.tolist()})\n\n"
        f"model = {name}({call}).fit(X, y)\n"
        "print(model.stop_reason_, model.n_iter_, model.n_mistakes_)\n"
        f"print({weights}, model.intercept_)\n"
    )

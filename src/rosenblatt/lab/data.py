"""What the lab learns from: built-in sets, generators, and files of two columns and a label."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, to_dense
from ..reading.notices import NoticeKind
from ..reading.reader import Reader, read, read_matrix

MOST_POINTS = 1_000  # so that any epoch of any order fits into a trace
MOST_BYTES = 2_000_000
MOST_COLUMNS = 10_000  # of which two are drawn
LARGEST = 1e6  # a page draws no larger numbers well
DIGITS = 3  # of generated points: short enough to read, and to share in an address


class Chosen(NamedTuple):
    """Which columns of a file are drawn and which is the label, and what else could be."""

    drawn: tuple[str, ...] = ()
    label: str = ""
    numbers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


OF_ITSELF = Chosen()
OWN_COLUMNS = ("x1", "x2")  # of files that the page saves, which are as they should be
AS_CSV: dict[str, Any] = {"format": "csv", "dtype": np.float64, "scale": "none"}


class Points(NamedTuple):
    """Rows of two columns, their labels -1 and +1, or 1, 2 and 3, and what is to be said of them.

    ``columns`` and ``classes`` (of +1 first) are what they are called, if anything.
    """

    X: Array
    y: Array
    note: str = ""
    columns: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    choice: Chosen | None = None
    """Of a file."""
    halved: bool = False
    """Whether half of each class is held out."""

    @property
    def learnt(self) -> Array:
        """The numbers of the rows that are learnt from."""
        place = np.zeros(len(self.y), int)
        for label in set(self.y.tolist()):
            place[self.y == label] = np.arange(np.sum(self.y == label))
        return np.flatnonzero((place % 2 == 0) | (not self.halved))

    @property
    def many(self) -> bool:
        """Whether there are three classes."""
        return bool(self.y.max(initial=0) > 1)

    @property
    def held(self) -> Array:
        """The numbers of the others."""
        return np.setdiff1d(np.arange(len(self.y)), self.learnt)

    def taken(self, rows: Array) -> "Points":
        """Some of the rows, all to learn from."""
        return self._replace(X=self.X[rows], y=self.y[rows], halved=False)


class SetOptions(NamedTuple):
    """How a generator makes points."""

    size: int = 40
    gap: float = 0.2
    seed: int = 0
    noise: float = 0.0
    """The share of labels that are flipped."""


def blobs(options: SetOptions) -> Points:
    """Two clouds whose largest margin is exactly the gap; below 0 they overlap so far."""
    rng = np.random.default_rng(options.seed)
    y = np.where(np.arange(options.size) % 2, 1, -1)
    along, across = np.array([0.8, 0.6]), np.array([-0.6, 0.8])
    beyond, aside = np.abs(rng.normal(0, 0.9, options.size)), rng.normal(0, 1.1, options.size)
    beyond[:2] = aside[:2] = 0  # the two nearest face each other
    X = (y * (options.gap + beyond))[:, None] * along + aside[:, None] * across
    return Points(X + np.array([0.6, 0.4]), y)


def circles(options: SetOptions) -> Points:
    """A disc inside a ring: no line separates them, a circle does."""
    rng = np.random.default_rng(options.seed)
    y = np.where(np.arange(options.size) % 2, 1, -1)
    turn = rng.uniform(0, 2 * np.pi, options.size)
    distance = np.where(y > 0, rng.uniform(0, 1, options.size), rng.uniform(1.6, 2.2, options.size))
    return Points(distance[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), y)


def moons(options: SetOptions) -> Points:
    """Two crescents that reach into each other."""
    rng = np.random.default_rng(options.seed)
    y = np.where(np.arange(options.size) % 2, 1, -1)
    turn = rng.uniform(0, np.pi, options.size)
    X = np.column_stack([np.cos(turn) - 0.5, np.sin(turn) - 0.25]) * y[:, None]
    return Points(X + rng.normal(0, 0.08, X.shape), y)


def xor(options: SetOptions) -> Points:
    """The four corners of a square, labelled by the sign of their product."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    return Points(X, np.array([-1, 1, 1, -1]))


def three(options: SetOptions) -> Points:
    """Three clouds around a middle, each of which a line parts from the others."""
    rng = np.random.default_rng(options.seed)
    y = np.arange(options.size) % 3 + 1
    turn = 2 * np.pi * y / 3 + 0.5
    middle = (1.2 + options.gap) * np.column_stack([np.cos(turn), np.sin(turn)])
    return Points(middle + 0.45 * rng.normal(size=(options.size, 2)).clip(-1.6, 1.6), y)


def one_then_other(options: SetOptions) -> Points:
    """500 positive rows, then 500 negative ones (document 004): a bad order to learn in."""
    made = blobs(options._replace(size=1000))
    order = np.argsort(-made.y, kind="stable")
    return Points(made.X[order], made.y[order])


def nothing(options: SetOptions) -> Points:
    """No points, to place some."""
    return Points(np.empty((0, 2)), np.empty(0, int))


PETALS = "petal length, cm", "petal width, cm"


def iris(options: SetOptions) -> Points:
    """Petals of setosa (+1) and of the other two kinds of iris."""
    X, y = scikit_learn_set("iris")
    return Points(X[:, 2:], np.where(y == 0, 1, -1), "", PETALS, ("setosa", "others"))


def irises(options: SetOptions) -> Points:
    """Petals of the three kinds of iris."""
    X, y = scikit_learn_set("iris")
    return Points(X[:, 2:], y + 1, "", PETALS, ("setosa", "versicolor", "virginica"))


def virginica(options: SetOptions) -> Points:
    """Petals of virginica (+1) and versicolor, which overlap."""
    X, y = scikit_learn_set("iris")
    kinds = "virginica", "versicolor"
    return Points(X[50:, 2:], np.where(y[50:] == 2, 1, -1), "", PETALS, kinds)


def breast_cancer(options: SetOptions) -> Points:
    """Two measures of 569 tumours; benign is +1."""
    X, y = scikit_learn_set("breast_cancer")
    columns = "mean radius", "mean texture"
    return Points(X[:, :2], np.where(y == 1, 1, -1), "", columns, ("benign", "malignant"))


def wine(options: SetOptions) -> Points:
    """Alcohol and flavanoids of the first kind of wine (+1) and the other two."""
    X, y = scikit_learn_set("wine")
    columns = "alcohol", "flavanoids"
    return Points(X[:, [0, 6]], np.where(y == 0, 1, -1), "", columns, ("first kind", "others"))


def scikit_learn_set(name: str) -> tuple[Array, Array]:
    """A data set that scikit-learn brings along."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


class Set(NamedTuple):
    """Points to choose: what the page calls them and where, how they are made, by which options."""

    words: str
    group: str
    make: Callable[[SetOptions], Points]
    options: tuple[str, ...] = ()


SETS: dict[str, Set] = {
    "blobs": Set("blobs", "Generators", blobs, ("size", "gap", "seed", "noise")),
    "circles": Set("circles", "Generators", circles, ("size", "seed", "noise")),
    "moons": Set("moons", "Generators", moons, ("size", "seed", "noise")),
    "three": Set("three blobs", "Generators", three, ("size", "gap", "seed", "noise")),
    "xor": Set("XOR", "Generators", xor),
    "500-then-500": Set("500, then 500", "Generators", one_then_other, ("gap", "seed", "noise")),
    "iris": Set("iris: setosa", "Built-in", iris),
    "irises": Set("iris: three kinds", "Built-in", irises),
    "virginica": Set("iris: virginica", "Built-in", virginica),
    "breast-cancer": Set("breast cancer", "Built-in", breast_cancer),
    "wine": Set("wine", "Built-in", wine),
    "empty": Set("no points", "", nothing),
}
RANGES = {
    "size": ("The number of points", 2, MOST_POINTS),
    "gap": ("The margin between blobs", -2, 5),
    "seed": ("A seed", 0, 2**32 - 1),
    "noise": ("The share of flipped labels", 0, 0.5),
}


def made(name: str, options: SetOptions) -> Points:
    """The points of a set or generator."""
    if name not in SETS:
        raise ValueError(f"There is no set {name!r}; there are {', '.join(SETS)}.")
    for value, (what, low, high) in zip(options, RANGES.values(), strict=True):
        if not low <= value <= high:
            raise ValueError(f"{what} must be from {low:,} to {high:,}; got {value:,}.")
    points = SETS[name].make(options)
    if not SETS[name].options:
        return points
    order = np.random.default_rng([options.seed, 1]).permutation(len(points.y))
    y, flipped = points.y.copy(), order[: round(options.noise * len(order))]
    y[flipped] = y[flipped] % 3 + 1 if points.many else -y[flipped]
    return points._replace(X=points.X.round(DIGITS), y=y)


def from_text(text: bytes, name: str, chosen: Chosen = OF_ITSELF) -> Points:
    """The points of a CSV file that was dropped on the page."""
    refuse_large(len(text), name)
    if not text.strip():
        raise ValueError(f"{name} is empty; a CSV file with two columns and a label is needed.")
    try:
        label = chosen.label or label_column(text, name)
        return of_table(
            lambda **options: read(io.BytesIO(text), **AS_CSV, **options), label, chosen
        )
    except ValueError as error:
        raise ValueError(str(error).replace("the stream", name)) from None


def refuse_large(size: int, name: str) -> None:
    """Raise when a file is larger than any that the page could show."""
    if size > MOST_BYTES:
        raise ValueError(
            f"{name} has {size / 1e6:.1f} MB; the lab takes files up to {MOST_BYTES / 1e6:.0f} MB. "
            "Take some of the rows, or use rosenblatt train for all of them."
        )


def label_column(text: bytes, name: str) -> str | int:
    """The column of labels: by its name, else the last one. In a plane, y is a coordinate."""
    header = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    names = [part.strip().strip('"') for part in header.split(",")]
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {len(names):,} columns; the lab takes up to {MOST_COLUMNS:,} and draws "
            "two. Take those and the label."
        )
    return next((name for name in names if name.lower() in ("label", "class", "target")), -1)


def from_file(path: str) -> Points:
    """The points of a file that was named on the command line."""
    file = Path(path)
    if file.is_file():
        refuse_large(file.stat().st_size, path)
        if file.suffix.lower() == ".csv":
            return from_text(file.read_bytes(), path)
    return of_two_columns(read(path, dtype=np.float64, scale="none"), path, Chosen())


def of_table(opened: Callable[..., Reader], label: str | int, chosen: Chosen) -> Points:
    """Two columns of numbers of a table and its labels; those chosen, or the first two."""
    reader = opened(label=label)
    name, columns = "the stream", [each for each, _ in reader.columns or ()]
    numbers = [each for each, kind in reader.columns or () if kind == "number"]
    if len(numbers) < 2:
        have = f"only one column of numbers, {numbers[0]!r}" if numbers else "no column of numbers"
        raise ValueError(f"{name} has {have}, beside the label; the lab draws two and a label.")
    drawn = list(dict.fromkeys([*(each for each in chosen.drawn if each in numbers), *numbers]))[:2]
    label = str(reader.features()["label"])
    choice = Chosen(tuple(drawn), label, tuple(numbers), (*columns, label))
    if len(columns) > 2:
        reader = opened(label=label, ignore=[each for each in columns if each not in drawn])
    backwards = columns.index(drawn[0]) > columns.index(drawn[1])
    return of_two_columns(reader, name, choice, backwards)


def of_two_columns(reader: Reader, name: str, choice: Chosen, backwards: bool = False) -> Points:
    """The first two columns of a file and its labels, as the page can draw them."""
    if reader.hashed:
        raise ValueError(f"{name} has columns of words; the lab draws two columns of numbers.")
    X, labels = read_matrix(reader)
    X = to_dense(X).astype(np.float64)
    if any(notice.kind is NoticeKind.MISSING for notice in reader.notices):
        raise ValueError(f"{name} has missing numbers; fill them or leave these rows out.")
    if X.shape[1] < 2:
        raise ValueError(f"{name} has one column of numbers; the lab draws two and a label.")
    X = X[:, 1::-1] if backwards else X[:, :2]
    y, classes, said = coded(labels, name)
    points = checked(Points(X, y, classes=classes, choice=choice), name)
    if choice.drawn == OWN_COLUMNS:  # saved by the page
        return points._replace(note=said)
    called = (f"column {int(one) + 1}" if one.isdigit() else one for one in choice.drawn)
    names = tuple(map(plain, called)) or ("column 1", "column 2")
    of_more = f" (of {len(choice.numbers)} columns of numbers)" if len(choice.numbers) > 2 else ""
    note = f"{names[0]} and {names[1]}{of_more} are standardised: mean 0, standard deviation 1."
    return points._replace(X=standardised(X), columns=names, note=f"{note} {said}".strip())


def standardised(X: Array) -> Array:
    """Columns less their means, by their standard deviations, in few digits."""
    spread = X.std(axis=0)
    return np.asarray(((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).round(DIGITS))


def coded(labels: Array, name: str) -> tuple[Array, tuple[str, ...], str]:
    """Labels as -1 and +1, or of three 1 to 3, their names, and what should be said about them."""
    classes = sorted(set(labels.tolist()))
    if len(classes) < 2:
        raise ValueError(f"{name} has only one class, {classes[0]!r}; two are needed.")
    if len(classes) == 3:
        codes = np.array([classes.index(label) + 1 for label in labels.tolist()])
        return codes, tuple(plain(str(each)) for each in classes), ""
    others = f"{classes[0]} is −1." if len(classes) == 2 else "all others are −1."
    called = plain(str(classes[-1])), plain(str(classes[0])) if len(classes) == 2 else "others"
    return np.where(labels == classes[-1], 1, -1), called, f"{classes[-1]} is +1, {others}"


def plain(name: str) -> str:
    """A name that an axis, a legend and an address can hold."""
    for mark, instead in ((";", ","), ("<", "‹"), (">", "›"), ("&", "＆"), ('"', "”")):
        name = name.replace(mark, instead)  # the page writes names into its sentences
    return " ".join(name.split())[:40]


def checked(points: Points, name: str = "This set") -> Points:
    """The points, unless they are too many or no numbers that can be drawn."""
    if len(points.y) > MOST_POINTS:
        raise ValueError(
            f"{name} has {len(points.y):,} points; the lab shows up to {MOST_POINTS:,}. Take some "
            "of the rows, or use rosenblatt train for all of them."
        )
    if not np.isfinite(points.X).all():
        row = int(np.argmin(np.isfinite(points.X).all(axis=1)))
        raise ValueError(f"{name} has NaN or infinity in row {row + 1}; points are numbers.")
    if np.abs(points.X).max(initial=0.0) > LARGEST:
        raise ValueError(f"{name} has numbers above {LARGEST:g}; scale them down to draw them.")
    return points


def as_csv(points: Points) -> str:
    """The points as a CSV file, to the last bit."""
    rows = zip(points.X.tolist(), points.y.tolist(), strict=True)
    return "x1,x2,label\n" + "".join(f"{x[0]!r},{x[1]!r},{label}\n" for x, label in rows)

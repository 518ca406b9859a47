"""What the lab learns from: built-in sets, generators, and files of two columns and a label."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files import matrix_and_labels
from ..reading.notices import NoticeKind
from ..reading.reader import Reader, read
from ..rows import Array, to_dense

MOST_POINTS = 1_000  # so that any epoch of any order fits into a trace
MOST_BYTES = 2_000_000
MOST_COLUMNS = 10_000  # of which two are drawn
LARGEST = 1e6  # a page draws no larger numbers well
DIGITS = 3  # of generated points: short enough to read, and to share in an address


class Points(NamedTuple):
    """Rows of two columns, their labels -1 and +1, and what should be said about them."""

    X: Array
    y: Array
    note: str = ""


class SetOptions(NamedTuple):
    """How a generator makes points."""

    size: int = 40
    gap: float = 0.2
    seed: int = 0


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


def one_then_other(options: SetOptions) -> Points:
    """500 positive rows, then 500 negative ones (document 004): a bad order to learn in."""
    made = blobs(options._replace(size=1000))
    order = np.argsort(-made.y, kind="stable")
    return Points(made.X[order], made.y[order])


def nothing(options: SetOptions) -> Points:
    """No points, to place some."""
    return Points(np.empty((0, 2)), np.empty(0, int))


def iris(options: SetOptions) -> Points:
    """Petals of setosa (+1) and of the other two kinds of iris."""
    X, y = scikit_learn_set("iris")
    return Points(X[:, 2:], np.where(y == 0, 1, -1), "Petal length and width; setosa is +1.")


def virginica(options: SetOptions) -> Points:
    """Petals of virginica (+1) and versicolor, which overlap."""
    X, y = scikit_learn_set("iris")
    note = "Petal length and width; virginica is +1, versicolor −1."
    return Points(X[50:, 2:], np.where(y[50:] == 2, 1, -1), note)


def breast_cancer(options: SetOptions) -> Points:
    """Two measures of 569 tumours; benign is +1."""
    X, y = scikit_learn_set("breast_cancer")
    note = "Mean radius and mean texture; benign is +1, malignant −1."
    return Points(X[:, :2], np.where(y == 1, 1, -1), note)


def wine(options: SetOptions) -> Points:
    """Alcohol and flavanoids of the first kind of wine (+1) and the other two."""
    X, y = scikit_learn_set("wine")
    note = "Alcohol and flavanoids; the first kind is +1."
    return Points(X[:, [0, 6]], np.where(y == 0, 1, -1), note)


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
    "blobs": Set("blobs", "Generators", blobs, ("size", "gap", "seed")),
    "circles": Set("circles", "Generators", circles, ("size", "seed")),
    "moons": Set("moons", "Generators", moons, ("size", "seed")),
    "xor": Set("XOR", "Generators", xor),
    "500-then-500": Set("500, then 500", "Generators", one_then_other, ("gap", "seed")),
    "iris": Set("iris: setosa", "Built-in", iris),
    "virginica": Set("iris: virginica", "Built-in", virginica),
    "breast-cancer": Set("breast cancer", "Built-in", breast_cancer),
    "wine": Set("wine", "Built-in", wine),
    "empty": Set("no points", "", nothing),
}
RANGES = {
    "size": ("The number of points", 2, MOST_POINTS),
    "gap": ("The margin between blobs", -2, 5),
    "seed": ("A seed", 0, 2**32 - 1),
}


def made(name: str, options: SetOptions) -> Points:
    """The points of a set or generator."""
    if name not in SETS:
        raise ValueError(f"There is no set {name!r}; there are {', '.join(SETS)}.")
    for value, (what, low, high) in zip(options, RANGES.values(), strict=True):
        if not low <= value <= high:
            raise ValueError(f"{what} must be from {low:,} to {high:,}; got {value:,}.")
    points = SETS[name].make(options)
    if SETS[name].options:
        return points._replace(X=points.X.round(DIGITS))
    return points


def from_text(text: bytes, name: str) -> Points:
    """The points of a CSV file that was dropped on the page."""
    refuse_large(len(text), name)
    if not text.strip():
        raise ValueError(f"{name} is empty; a CSV file with two columns and a label is needed.")
    try:
        label = label_column(text, name)
        reader = read(io.BytesIO(text), format="csv", label=label, dtype=np.float64, scale="none")
        return of_two_columns(reader, name)
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
    return of_two_columns(read(path, dtype=np.float64, scale="none"), path)


def of_two_columns(reader: Reader, name: str) -> Points:
    """The first two columns of a file and its labels, as the page can draw them."""
    if reader.hashed:
        raise ValueError(f"{name} has columns of words; the lab draws two columns of numbers.")
    X, labels = matrix_and_labels(reader)
    X = to_dense(X).astype(np.float64)
    if any(notice.kind is NoticeKind.MISSING for notice in reader.notices):
        raise ValueError(f"{name} has missing numbers; fill them or leave these rows out.")
    if X.shape[1] < 2:
        raise ValueError(f"{name} has one column of numbers; the lab draws two and a label.")
    notes = []
    if X.shape[1] > 2:
        notes.append(f"The first two of {X.shape[1]} columns are drawn and learnt from.")
    classes = sorted(set(labels.tolist()))
    if len(classes) < 2:
        raise ValueError(f"{name} has only one class, {classes[0]!r}; two are needed.")
    others = f"{classes[0]} is −1." if len(classes) == 2 else "all others are −1."
    notes.append(f"{classes[-1]} is +1, {others}")
    points = Points(X[:, :2], np.where(labels == classes[-1], 1, -1), " ".join(notes))
    return checked(points, name)


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

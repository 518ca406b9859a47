"""What commands learn from: built-in sets, files, and two classes of either."""

import os
import sys
from dataclasses import dataclass, fields
from functools import partial
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..disk import refuse_all_but_files
from ..slices import find_by_format, list_slices
from .commands import CommandError, DescribedArgument, option

if TYPE_CHECKING:
    from ..reading.reader import Reader

FORMATS = ["svmlight", "vw", "fasttext", "csv", "tsv", "jsonl", "parquet", "arrow"]
FORMATS += [name for one in list_slices() for name, endings in one.formats.items() if endings]
FORMAT_HELP = f"{', '.join(FORMATS)}."
DATA = DescribedArgument(
    "data",
    "A file, a folder or a quoted pattern (svmlight, VW, fastText, CSV, TSV, JSON lines, Parquet, "
    "Arrow …; also .gz, .zst), - for standard input, or built-in: iris, xor, digits, "
    "breast-cancer, wine.",
)
input_option = partial(option, group="Input")


@dataclass
class SetOptions:
    """How rows are read that are not learnt by a model."""

    label: str | None = input_option(
        "Label; name or number from 0.", "COLUMN", shown="by name, or last"
    )
    positive_class: str | None = input_option(
        "Label of the positive class against all others; needed for three or more.", "LABEL"
    )
    format: str | None = input_option(FORMAT_HELP, shown="by the name of the file")
    no_header: bool = input_option("Row 1 has no names.", default=False, shown="detected")

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of ``read``."""
        header = False if self.no_header else None
        return {"label": self.label, "format": self.format, "header": header}

    def words(self) -> list[str]:
        """The same options in the shell."""
        words = []
        for each in fields(SetOptions):
            value = getattr(self, each.name)
            words += [f"--{each.name.replace('_', '-')}"] * bool(value)
            words += [str(value)] * (value not in (None, True, False))
        return words


BUILT_IN = ("iris", "xor", "digits", "breast-cancer", "wine")
"""Data sets that come with the package."""


def load_builtin(name: str) -> "Drawable":
    """A built-in data set."""
    import numpy as np

    if name == "xor":
        X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
        return Drawable(X, y, {})
    if name == "iris":  # to import scikit-learn takes longer than all the rest
        folder = (find_spec("sklearn").submodule_search_locations or [""])[0]  # type: ignore[union-attr]
        table = np.loadtxt(Path(folder, "datasets/data/iris.csv"), delimiter=",", skiprows=1)
        sizes = [
            f"{part} {size} (cm)" for part in ("sepal", "petal") for size in ("length", "width")
        ]
        classes = np.array(["setosa", "versicolor", "virginica"])
        names = {"class_names": classes, "feature_names": sizes}
        return Drawable(table[:, :-1], table[:, -1].astype(np.int64), names)
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name.replace('-', '_')}")()
    names = {"class_names": loaded.target_names, "feature_names": loaded.feature_names}
    return Drawable(loaded.data, loaded.target, names)


class Drawable(NamedTuple):
    """Rows and labels, and the names of classes and columns where they are known."""

    X: Any
    y: Any
    names: dict[str, Any]

    def against_others(self, positive: str | None, data: str) -> "Drawable":
        """One label set against all others, if one is named."""
        if positive is None:
            return self
        chosen = self.is_label(positive, data)
        names = self.names | {"class_names": ("others", self.name_labels()[self.y[chosen][0]])}
        return Drawable(self.X, chosen.astype(int), names)

    def class_of_each(self) -> Any:
        """The class of each row, by its name where it has one."""
        import numpy as np

        return np.asarray(self.names.get("class_names", np.unique(self.y)))[self.y]

    def name_labels(self) -> dict[Any, str]:
        """The labels, and what they are called."""
        labels = sorted(set(self.y.tolist()))
        return dict(zip(labels, map(str, self.names.get("class_names", labels)), strict=True))

    def is_label(self, positive: str, data: str) -> Any:
        """Which rows have the label, or are of the class, that was named."""
        named = self.name_labels()
        known = {name: label for label, name in named.items()}
        known |= {str(label): label for label in named}
        if positive not in known:
            there = ", ".join(named.values())
            raise CommandError(f"{data} has no label {positive}; it has {there}.")
        return self.y == known[positive]


def open_source(data: str) -> Any:
    """What is read: a built-in set as the table that it might be, else the file itself."""
    if data not in BUILT_IN:
        return data
    import pyarrow

    rows = load_builtin(data)
    columns = rows.names.get("feature_names", [f"x{j + 1}" for j in range(rows.X.shape[1])])
    table: dict[str, Any] = dict(zip(map(str, columns), map(to_arrow, rows.X.T), strict=True))
    return pyarrow.table(table | {"class": to_arrow(rows.class_of_each())})


def to_arrow(column: Any) -> Any:
    """Make a column of Arrow from its bytes; ``pyarrow.array`` would import pandas if it can."""
    import numpy as np
    import pyarrow

    if column.dtype.kind == "U":
        words = [word.encode() for word in column.tolist()]
        ends = np.cumsum([0, *map(len, words)], dtype=np.int32)
        buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(words))]
        return pyarrow.Array.from_buffers(pyarrow.string(), len(words), buffers)
    kind, values = pyarrow.from_numpy_dtype(column.dtype), np.ascontiguousarray(column)
    return pyarrow.Array.from_buffers(kind, len(values), [None, pyarrow.py_buffer(values)])


def column_names(reader: "Reader", width: int) -> dict[str, Any]:
    """The names of a table's columns, where each of them is a feature."""
    names = [name for name, kind in reader.columns or () if kind == "number"]
    return {"feature_names": names} if len(names) == width else {}


def read_rows(data: str, given: SetOptions | None = None, exact: bool = False) -> Drawable:
    """All rows of a set or a file and their labels; for a proof, numbers only and as they are."""
    if data in BUILT_IN:
        return load_builtin(data)
    import numpy as np

    from ..reading.reader import read, read_matrix
    from ..training.linear_state import refuse_too_many

    given = given or SetOptions()
    found = find_by_format(data, given.format)
    if found is not None:
        raise CommandError(
            f"{data} holds {found[0].examples}, but this command needs a table or an svmlight "
            "file; name another file, or state its format with --format."
        )
    dtype = np.float64 if exact else np.float32
    reader = read(data, **given.options(), dtype=dtype, scale="none")
    if exact and reader.hashed:
        raise CommandError(
            f"{data} has words as features. They are hashed, so two can share a column, and a "
            "proof needs columns of numbers; write a column of 0 and 1 for each word, as CSV or "
            "svmlight."
        )
    X, y = read_matrix(reader)
    refuse_too_many(X.shape[1], 2)
    for notice in reader.notices:
        if exact and notice.kind == "missing":
            raise CommandError(
                f"{data} has missing numbers, but a proof needs all of them; fill them in."
            )
        print_note(notice)
    return Drawable(X, y, column_names(reader, X.shape[1]))


def print_note(note: object) -> None:
    """Print a note on standard error, as wide as the terminal."""
    from .format import fold, name_options

    print(fold(name_options(f"Note: {note}"), sys.stderr), file=sys.stderr, flush=True)


def read_two_classes(data: str, given: SetOptions) -> tuple[Any, Any]:
    """The rows of a data set, and labels of two classes."""
    rows = read_rows(data, given, exact=True)
    X, y, _ = rows
    if given.positive_class is not None:
        return X, rows.is_label(given.positive_class, data)
    refuse_many_classes(rows, data)
    if len(set(y.tolist())) == 1:
        print_note(f"All rows of {data} have the label {y[0]}, so there is nothing to separate.")
    return X, y


def refuse_many_classes(rows: Drawable, data: str) -> None:
    """Say how two classes are made of many."""
    labels = list(rows.name_labels().values())
    if len(labels) > 2:
        first = ", ".join(labels[:10])
        raise CommandError(
            f"{data} has {len(labels)} classes ({first}); choose one with --positive-class to "
            "separate it from the others."
        )


def check_output(output: Path | None, *inputs: Any) -> None:
    """Refuse before the work a file that could not be written after it, or is an input."""
    if output is None:
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise CommandError(f"There is no folder {output.parent} to write to.")
    if str(output) == "-":
        raise CommandError("- is not a file; give the name of a file.")
    refuse_all_but_files(output)
    if not os.access(folder, os.W_OK):
        raise CommandError(f"The folder {output.parent} is not writable.")
    for given in filter(None, inputs):
        if output.exists() and os.path.exists(given) and output.samefile(given):
            raise CommandError(f"{output} is also an input; write to another file.")


def check_input(path: str | None) -> None:
    """Refuse before the work a file that will be read after it and is not there."""
    if path is not None and path != "-" and not (Path(path).exists() or glob(path)):
        raise FileNotFoundError(f"There is no file {path}.")

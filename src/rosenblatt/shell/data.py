"""What commands learn from: built-in sets, files, and two classes of either."""

import io
import os
from dataclasses import dataclass
from functools import partial
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..disk import refuse_all_but_files
from ..parameters import suggest_name
from ..slices import find_by_format, list_slices
from .commands import CommandError, DescribedArgument, option
from .output import print_note

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


BUILT_IN = ("iris", "xor", "digits", "breast-cancer", "wine")
"""Data sets that come with the package."""


class Drawable(NamedTuple):
    """Rows with their labels, and the names of the columns where they are known."""

    X: Any
    y: Any
    names: dict[str, Any]

    def list_labels(self) -> list[Any]:
        """The labels that occur, in order."""
        return sorted(set(self.y.tolist()))

    def is_label(self, positive: str, data: str) -> Any:
        """Which rows have the label that was named."""
        known = {str(label): label for label in self.list_labels()}
        if positive not in known:
            raise CommandError(f"{data} has no label {positive}; it has {', '.join(known)}.")
        return self.y == known[positive]

    def refuse_many_classes(self, data: str) -> None:
        """Say how two classes are made of many."""
        labels = list(map(str, self.list_labels()))
        if len(labels) > 2:
            raise CommandError(
                f"{data} has {len(labels)} classes ({', '.join(labels[:10])}); choose one with "
                "--positive-class to separate it from the others."
            )


def load_builtin(name: str) -> Drawable:
    """A built-in data set."""
    import numpy as np

    if name == "xor":
        X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
        return Drawable(X, y, {"feature_names": ["x1", "x2"]})
    if name == "iris":  # to import scikit-learn takes longer than all the rest
        folder = (find_spec("sklearn").submodule_search_locations or [""])[0]  # type: ignore[union-attr]
        table = np.loadtxt(Path(folder, "datasets/data/iris.csv"), delimiter=",", skiprows=1)
        y = np.array(["setosa", "versicolor", "virginica"])[table[:, -1].astype(int)]
        names = "sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"
        return Drawable(table[:, :-1], y, {"feature_names": [*names]})
    from sklearn import datasets

    loaded = getattr(datasets, f"load_{name.replace('-', '_')}")()
    y = loaded.target_names[loaded.target]
    return Drawable(loaded.data, y, {"feature_names": list(loaded.feature_names)})


def open_source(data: str) -> Any:
    """Return a built-in set as the table of a CSV file, else the name of the file, if it exists."""
    if data not in BUILT_IN:
        check_input(data)
        return data
    from pyarrow import csv  # to make a table of arrays would import pandas

    rows = load_builtin(data)
    head = ",".join([*rows.names["feature_names"], "class\n"])
    pairs = zip(rows.X.tolist(), rows.y.tolist(), strict=True)
    body = "".join(f"{','.join(map(repr, row))},{label}\n" for row, label in pairs)
    return csv.read_csv(io.BytesIO((head + body).encode()))


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
        raise CommandError(f"{data} holds {found[0].examples}; name a file of rows, or a --format.")
    dtype = np.float64 if exact else np.float32
    reader = read(data, **given.options(), dtype=dtype, scale="none")
    if exact and reader.hashed:
        raise CommandError(
            f"{data} has words as features. They are hashed, so two can share a column; write a "
            "column of 0 and 1 for each word."
        )
    X, y = read_matrix(reader)
    refuse_too_many(X.shape[1], 2)
    for notice in reader.notices:
        if exact and notice.kind == "missing":
            raise CommandError(f"{data} has missing numbers; a proof needs all, so fill them in.")
        print_note(notice)
    return Drawable(X, y, column_names(reader, X.shape[1]))


def read_two_classes(data: str, given: SetOptions) -> tuple[Any, Any]:
    """The rows of a data set, and labels of two classes."""
    rows = read_rows(data, given, exact=True)
    if given.positive_class is not None:
        return rows.X, rows.is_label(given.positive_class, data)
    rows.refuse_many_classes(data)
    if len(rows.list_labels()) == 1:
        print_note(
            f"All rows of {data} have the label {rows.y[0]}, so there is nothing to separate."
        )
    return rows.X, rows.y


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
    """Refuse before the work a file that is not there; name the built-in sets if it could be one.

    >>> check_input("irs")
    Traceback (most recent call last):
    FileNotFoundError: There is no file irs. Did you mean iris? The built-in sets are iris, xor, ...
    """
    if path in (None, "-", *BUILT_IN) or Path(str(path)).exists() or glob(str(path)):
        return
    sets = f"{suggest_name(str(path), BUILT_IN)} The built-in sets are {', '.join(BUILT_IN)}."
    could_be_one = str(path).replace("-", "").isalpha()
    raise FileNotFoundError(f"There is no file {path}.{sets if could_be_one else ''}")

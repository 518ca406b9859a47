"""Convert data frames, lists of dicts or strings, and arrays to Arrow tables."""

import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..disk import explain_errors
from ..parameters import InputError
from .recipe import ColumnNames
from .sources import Source, file_error

ARRAYS = (".npy", ".npz")
TEXT = "text"
"""The name of the one column of a list of strings."""


class TableSource(Source):
    """A table in memory as a source."""

    def __init__(self, table: Any) -> None:
        self.table, self.files = table, []
        self.name, self.size = "the table", table.nbytes


def open_source(data: Any, encoding: str | None = None) -> Source:
    """Make the source of a path, an open file or a table; one that is open already is kept."""
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike) and os.fsdecode(data).lower().endswith(ARRAYS):
        return TableSource(load_arrays(os.fsdecode(data)))
    table = to_table(data)
    return Source(data, encoding) if table is None else TableSource(table)


def load_arrays(path: str) -> Any:
    """Load the arrays of a NumPy file as the columns of a table; a matrix is a column of lists.

    The array of a .npy file is called x, and those of a .npz file have names.
    """
    import pyarrow

    def convert(array: np.ndarray) -> Any:
        if array.ndim == 1:
            return pyarrow.array(array)
        return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(array.ravel()), array.shape[1])

    try:
        with explain_errors(path, "read"), open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            arrays = {"x": found} if isinstance(found, np.ndarray) else dict(found)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise file_error("damaged", path, "is damaged, or holds Python objects") from error
    sizes = {array.shape[0] if array.ndim in (1, 2) else -1 for array in arrays.values()}
    if len(sizes) != 1 or -1 in sizes:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        what = f"holds arrays that are not columns of one table: {shapes or 'none'}"
        raise file_error("array-dimensions", path, what)
    return make_table(arrays, convert)


def to_table(data: Any) -> Any:
    """Convert a data frame, dicts, strings or an array to an Arrow table; None for a path."""
    paths = isinstance(data, Sequence) and all(isinstance(one, os.PathLike) for one in data)
    if isinstance(data, str | os.PathLike) or hasattr(data, "read") or (paths and len(data)):
        return None
    import pyarrow

    try:
        table = convert_rows(data)
    except UnicodeError:
        raise InputError(
            "The table has a string with half a character (a lone surrogate), which is not "
            "Unicode; replace it.",
            code="surrogate",
        ) from None
    except (pyarrow.ArrowException, OverflowError) as error:
        raise column_error(error) from None
    if table is None:
        raise InputError(
            "Expected a path, a data frame, an Arrow table, an array, a list of dicts or a list of "
            f"strings, got {type(data).__name__}.",
            code="not-rows",
        )
    return table


def convert_rows(data: Any) -> Any:
    """Convert rows to a table; None if they are not rows."""
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data
    if hasattr(data, "iloc"):  # pandas, whose index is no column
        frame, found = data if hasattr(data, "columns") else data.to_frame(TEXT), dict[str, Any]()
        for place, name in enumerate(ColumnNames(list(map(str, frame.columns)), "The table").names):
            column = frame.iloc[:, place]
            is_sparse = hasattr(column.dtype, "fill_value")
            found[name] = column.sparse.to_dense() if is_sparse else column
        return make_table(found, pyarrow.Array.from_pandas)
    if hasattr(data, "to_arrow"):  # polars: strings of a kind that older Arrows know, too
        return data.to_arrow()
    if hasattr(data, "to_arrow_table"):  # DuckDB, whose stream can be read once only before 1.3
        return data.to_arrow_table()
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.table(data)
    if isinstance(data, np.ndarray):
        return array_to_table(data)
    values = data.values() if isinstance(data, Mapping) else ()
    if values and all(isinstance(each, list | tuple | np.ndarray) for each in values):
        raise InputError(
            "A dict is one row, but this one has lists only; if these are columns, make a data "
            "frame or an Arrow table of them.",
            code="dict-of-lists",
        )
    rows = [data] if isinstance(data, Mapping) else data
    if not isinstance(rows, Sequence) or not rows:
        return None
    if all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        return make_table(columns, pyarrow.array)
    if all(isinstance(row, str) for row in rows):
        return pyarrow.table({TEXT: list(rows)})
    if all(isinstance(row, list | tuple) for row in rows):
        return array_to_table(np.asarray(rows))
    return None


def make_table(columns: Mapping[str, Any], convert: Callable[[Any], Any]) -> Any:
    """Make an Arrow table of columns, each converted; name a column that cannot be."""
    import pyarrow

    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = convert(values)
        except (pyarrow.ArrowException, OverflowError) as error:
            raise column_error(error, name) from None
    return pyarrow.table(arrays)


def column_error(error: BaseException, name: str | None = None) -> InputError:
    """Return the error of a column that Arrow refuses."""
    which = "a column" if name is None else f"the column {name!r}"
    said = str(error.args[0] if error.args else error).splitlines()[0].rstrip(".")
    return InputError(
        f"Expected numbers or strings throughout {which}, got both or others ({said}); convert it "
        "or leave it out.",
        code="column-type",
        column=name,
    )


def array_to_table(array: np.ndarray) -> Any:
    """Convert an array of numbers or strings to a table; columns are named by number."""
    import pyarrow

    if array.ndim == 1 and array.dtype.kind in "UO":
        return pyarrow.table({TEXT: array.astype(str)})
    if array.ndim != 2:
        raise InputError(
            f"Expected an array of two dimensions, got {array.ndim}.", code="array-dimensions"
        )
    columns = array.T
    return pyarrow.table({str(j): np.ascontiguousarray(columns[j]) for j in range(len(columns))})

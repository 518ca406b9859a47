"""Tables that are at hand: data frames, Arrow tables, lists of dicts, of strings, and arrays."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..parameters import InputError
from .recipe import ColumnNames
from .sources import Source

TEXT = "text"
"""The name of the one column of a list of strings."""


class TableSource(Source):
    """A table in memory as something that can be read again and again."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.name, self.size = "the table", table.nbytes
        self.files, self.is_folder, self.encoding, self.blanks = [], False, None, False
        self.file = self.start = self.stream = None


def open_source(data: Any, encoding: str | None = None) -> Source:
    """What to read: a path, an open file, or a table."""
    table = to_table(data)
    return Source(data, encoding) if table is None else TableSource(table)


def to_table(data: Any) -> Any:
    """An Arrow table of a data frame, of dicts, of strings or of an array; None of a path."""
    if isinstance(data, str | os.PathLike) or hasattr(data, "read") or is_paths(data):
        return None
    import pyarrow

    try:
        table = converted(data)
    except UnicodeError:
        raise InputError(
            "The table has a string with half a character (a lone surrogate), which is not "
            "Unicode; replace it.",
            code="surrogate",
        ) from None
    except (pyarrow.ArrowException, OverflowError) as error:
        raise mixed_column(error) from None
    if table is None:
        raise InputError(
            "Expected a path, a data frame, an Arrow table, an array, a list of dicts or a list of "
            f"strings, got {type(data).__name__}.",
            code="not-rows",
        )
    return table


def converted(data: Any) -> Any:
    """The table, or None if there is no way to one."""
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data
    if hasattr(data, "iloc"):  # pandas, whose index is no column
        return table_of_frame(data if hasattr(data, "columns") else data.to_frame(TEXT))
    if hasattr(data, "to_arrow"):  # polars: strings of a kind that older Arrows know, too
        return data.to_arrow()
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.table(data)
    if isinstance(data, np.ndarray):
        return table_of_array(data)
    if isinstance(data, Mapping) and data and all(map(is_list, data.values())):
        raise InputError(
            "A dict is one row, and this one has lists only; if these are columns, make a data "
            "frame or an Arrow table of them.",
            code="dict-of-lists",
        )
    rows = [data] if isinstance(data, Mapping) else data
    if not isinstance(rows, Sequence) or not rows:
        return None
    if all(isinstance(row, Mapping) for row in rows):
        return table_of_dicts(rows)
    if all(isinstance(row, str) for row in rows):
        return pyarrow.table({TEXT: list(rows)})
    if all(isinstance(row, list | tuple) for row in rows):
        return table_of_array(np.asarray(rows))
    return None


def is_paths(data: Any) -> bool:
    """Whether something is several paths; strings are texts."""
    several = isinstance(data, Sequence) and len(data) > 0
    return several and all(isinstance(each, os.PathLike) for each in data)


def is_list(value: Any) -> bool:
    """Whether something is several values."""
    return isinstance(value, list | tuple | np.ndarray)


def table_of_frame(frame: Any) -> Any:
    """A table of a pandas data frame, whose sparse columns Arrow does not know."""
    import pyarrow

    names = ColumnNames([str(name) for name in frame.columns], "The table").names
    columns = (frame.iloc[:, j] for j in range(len(names)))
    dense = [one.sparse.to_dense() if hasattr(one.dtype, "fill_value") else one for one in columns]
    arrays = {}
    for name, one in zip(names, dense, strict=True):
        try:
            arrays[name] = pyarrow.Array.from_pandas(one)
        except (pyarrow.ArrowException, OverflowError) as error:
            raise mixed_column(error, name) from None
    return pyarrow.table(arrays)


def mixed_column(error: BaseException, name: str | None = None) -> InputError:
    """Return the error of a column that Arrow refuses."""
    which = "a column that" if name is None else f"the column {name!r}, which"
    said = str(error.args[0] if error.args else error).splitlines()[0]
    return InputError(
        f"The table has {which} is neither numbers nor strings throughout: {said}; convert or drop "
        "it.",
        code="column-type",
        column=name,
    )


def table_of_dicts(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A table with a column for every key; what a row lacks is missing."""
    import pyarrow

    names = dict.fromkeys(str(name) for row in rows for name in row)
    return pyarrow.table({name: [row.get(name) for row in rows] for name in names})


def table_of_array(array: np.ndarray) -> Any:
    """A table of an array of numbers, or of one of strings; columns are called by number."""
    import pyarrow

    if array.ndim == 1 and array.dtype.kind in "UO":
        return pyarrow.table({TEXT: array.astype(str)})
    if array.ndim != 2:
        raise InputError(
            f"Expected an array of two dimensions, got {array.ndim}.", code="array-dimensions"
        )
    columns = array.T
    return pyarrow.table({str(j): np.ascontiguousarray(columns[j]) for j in range(len(columns))})

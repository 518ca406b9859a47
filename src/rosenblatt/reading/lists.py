"""Columns of lists of numbers, such as embeddings: each place becomes a column of numbers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..parameters import InputError
from .values import to_numbers

PLACE = re.compile(r"(.+)\[\d+\]", re.DOTALL)


def find_list(name: str) -> str:
    """Return the name of the column that holds a place of lists, or the name itself.

    >>> find_list("x[12]"), find_list("size")
    ('x', 'size')
    """
    return PLACE.sub(r"\1", name)


def count_places(names: Iterable[str]) -> Mapping[str, int]:
    """Return the lengths of the lists whose places are columns.

    >>> count_places(["size", "x[0]", "x[1]"])
    Counter({'x': 2})
    """
    return Counter(find_list(name) for name in names if PLACE.fullmatch(name))


def find_lengths(table: Any, stated: Iterable[Any]) -> Mapping[str, int]:
    """Return the lengths of lists of numbers by the first rows, except in stated columns.

    Integers in lists of any length are no numbers, but names of things.
    """
    from pyarrow import compute, types

    lengths = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        numbers = lists and (
            types.is_floating(kind.value_type)
            or (types.is_fixed_size_list(kind) and types.is_integer(kind.value_type))
        )
        if numbers and name not in {"", *stated}:
            lengths[name] = compute.max(compute.list_value_length(column)).as_py() or 0
    return lengths


def expand_lists(table: Any, lengths: Mapping[str, int]) -> Any:
    """Return a table with a column for each place of lists; a missing list is missing numbers."""
    import pyarrow
    from pyarrow import compute

    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name not in lengths:
            columns[name] = column
            continue
        counts = to_numbers(compute.list_value_length(column).combine_chunks())
        known, length = ~np.isnan(counts), lengths[name]
        for count in counts[known & (counts != length)][:1].tolist():
            raise length_error(name, int(count), length)
        flat = to_numbers(compute.list_flatten(column).combine_chunks())
        matrix = np.full((length, len(column)), np.nan, np.result_type(flat, np.float32))
        matrix[:, known] = flat.reshape(np.count_nonzero(known), length).T
        columns |= {f"{name}[{j}]": pyarrow.array(numbers) for j, numbers in enumerate(matrix)}
    return pyarrow.table(columns)


def length_error(name: str, count: int, length: int, row: int | None = None) -> InputError:
    """Return the error of a list of another length than the others."""
    what = f"the list has {count} numbers instead of {length}"
    return InputError(what, code="list-length", line=row, column=name)


def expand_object(one: dict[str, Any], lengths: Mapping[str, int], row: int) -> dict[str, Any]:
    """Return a dict with a value for each place of its lists."""
    for name, length in lengths.items():
        if isinstance(value := one.get(name), list):
            if len(value) != length:
                raise length_error(name, len(value), length, row)
            one = one | {f"{name}[{j}]": number for j, number in enumerate(value)}
    return one

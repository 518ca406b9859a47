"""JSON lines: one object per line, whose keys are the columns of a table."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..parameters import InputError
from .arrow import DecodedColumns
from .columnar import TypedParser, TypedProfile, profile_typed
from .lists import find_list
from .parser import BOM, SAMPLE
from .recipe import FeatureRecipe, ReaderOptions
from .sources import LONGEST_ROW, Source
from .values import NOT_UTF8, clean

LONG = 19  # digits: an integer may be too large for Arrow
MOST_BRACKETS = 500  # of a line that Arrow reads
NO_OBJECT = re.compile(rb"\n[ \t\r]*[^{ \t\r\n]")
TWO_VALUES = re.compile(rb'\}[ \t\r]*(?:\{[ \t\r]*["}]|null)')  # Arrow makes two rows of them


class JsonLinesParser(TypedParser):
    """Rows of a file of JSON lines; a key that a line lacks is a missing value."""

    def decode(self, data: Any) -> DecodedColumns:
        """Decode the columns of whole lines, through Python where Arrow finds mixed types."""
        import pyarrow

        names = self.list_columns(self.wanted)
        schema = pyarrow.schema([self.profile.file.field(name) for name in names])
        text = bytes(data)
        if not text.strip():
            return super().decode(schema.empty_table())
        try:
            return super().decode(read_table(text, schema).select(names))
        except pyarrow.ArrowInvalid:
            rows = [parse_line(line) for line in text.split(b"\n") if line.strip()]
        columns = {name: self.column([row.get(name) for row in rows], name) for name in names}
        return super().decode(pyarrow.table(columns))

    def column(self, values: list[Any], name: str) -> Any:
        """Convert values to an Arrow array of the type of their column, or of strings."""
        import pyarrow
        from pyarrow import types

        kind = self.profile.file.field(name).type
        with suppress(pyarrow.ArrowException, OverflowError):
            return pyarrow.array(values, kind)
        odd = types.is_nested(kind) or (types.is_boolean(kind) and name == self.recipe.label)
        if odd or any(isinstance(value, dict | list) for value in values):
            what = f"expected {kind}, got {str(values[0])[:40]}"
            raise InputError(what, code="json", column=name)
        return pyarrow.array([None if value is None else str(value) for value in values])


def profile_json(source: Source, recipe: FeatureRecipe, options: ReaderOptions) -> TypedProfile:
    """Look at the first JSON lines."""
    import pyarrow

    first = infer_table(first_lines(source), source.name)
    known = dict(recipe.columns or ())
    for name in known:
        if name not in first.column_names and find_list(name) not in first.column_names:
            first = first.append_column(name, pyarrow.nulls(len(first)))
    words = {*options.category, *(name for name in known if known[name] != "number")}
    is_whole, is_null = pyarrow.types.is_integer, pyarrow.types.is_null
    types = {
        field.name: pyarrow.string()
        if field.name in words
        else pyarrow.float64()
        if is_whole(field.type) or is_null(field.type)
        else field.type
        for field in first.schema
    }
    schema = pyarrow.schema(types)
    parts: Any = {"parser": JsonLinesParser, "file": schema}
    return profile_typed(source, recipe, options, schema, lambda: first, **parts)


def first_lines(source: Source) -> bytes:
    """Return the first whole lines of a source: one at least."""
    size = SAMPLE
    while b"\n" not in (head := source.head(size)) and len(head) == size <= LONGEST_ROW:
        size *= 2
    return (head[: head.rfind(b"\n") + 1] or head).removeprefix(BOM)


def read_table(text: bytes, schema: Any) -> Any:
    """Read JSON lines as an Arrow table of the columns of a schema.

    What Arrow would crash on, or take though it is not UTF-8, raises ``ArrowInvalid``.
    """
    import pyarrow
    from pyarrow import json as arrow

    if not is_safe(text):
        raise pyarrow.ArrowInvalid
    return arrow.read_json(
        pyarrow.BufferReader(text),
        arrow.ReadOptions(use_threads=False, block_size=len(text) + 1),
        arrow.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def is_safe(text: bytes) -> bool:
    """Whether lines are UTF-8, each is one object, and none is nested deeply."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    if not text.lstrip().startswith(b"{") or NO_OBJECT.search(text) or TWO_VALUES.search(text):
        return False
    if count_brackets(text) - text.count(b"\n") <= MOST_BRACKETS:
        return True
    return max(map(count_brackets, text.split(b"\n"))) <= MOST_BRACKETS


def count_brackets(text: bytes) -> int:
    """Count the brackets that open."""
    return text.count(b"[") + text.count(b"{")


def infer_table(text: bytes, name: str) -> Any:
    """Read the first lines as a table; columns of mixed types, and times, are strings."""
    import pyarrow

    rows = []
    for line in filter(bytes.strip, text.split(b"\n")):
        with suppress(InputError):
            rows.append(parse_line(line, lambda n: int(n) if len(n) < LONG else float(n)))
    if not rows:
        what = 'the first lines are not JSON objects, such as {"age": 39}'
        try:
            text.decode()
        except UnicodeDecodeError:
            what = f"in the first lines, {NOT_UTF8}"
        raise InputError(f"{name}: {what}.", code="json", file=name, line=1)
    columns = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        given = [row.get(key) for row in rows]
        known = [None if clean(value) is None else value for value in given]
        words = [None if value is None else str(value) for value in given]
        for values in given, known, words:  # blanks among strings tell how they are taken
            with suppress(pyarrow.ArrowException, OverflowError):
                columns[key] = pyarrow.array(values)
                break
    return pyarrow.table(columns)


def parse_line(line: bytes, parse_int: Callable[[str], float] = int) -> dict[str, Any]:
    """Parse one line as a JSON object."""
    try:
        found = json.loads(line.decode(), parse_int=parse_int)
        if b"\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InputError(NOT_UTF8, code="encoding", column=error.start + 1) from None
    except UnicodeEncodeError:
        what = "there is half a character (a lone surrogate)"
        raise InputError(what, code="surrogate", column=1) from None
    except RecursionError:
        raise InputError("the line is nested too deeply", code="json", column=1) from None
    except ValueError as error:
        place = getattr(error, "colno", 1)
        raise InputError("the line is not valid JSON", code="json", column=place) from None
    if not isinstance(found, dict):
        raise InputError("the line is not a JSON object", code="json", column=1)
    return found

"""JSON lines: one object per line, whose keys are the columns of a table."""

import json
from typing import Any

from ..parameters import InputError
from .arrow import DecodedColumns, to_arrow_type
from .columnar import TypedParser
from .parser import SAMPLE
from .recipe import FeatureRecipe, ReaderOptions
from .sources import LONGEST_ROW, Source


class JsonLinesParser(TypedParser):
    """Rows of a file of JSON lines; a key that a line lacks is a missing value."""

    unit = "line"

    def __init__(self, source: Source, recipe: FeatureRecipe, options: ReaderOptions) -> None:
        import pyarrow

        first = infer_table(first_lines(source), source.name)
        known = dict(recipe.columns or ())
        for name in known:
            if name not in first.column_names:
                first = first.append_column(name, pyarrow.nulls(len(first)))
        words = {*options.category, *(name for name in known if known[name] != "number")}
        types = {
            field.name: to_arrow_type(None) if field.name in words else wide_type(field.type)
            for field in first.schema
        }
        self.types: dict[str, Any] = types
        super().__init__(
            source, recipe, options, pyarrow.schema(types), lambda names: first.select(list(names))
        )

    def decode(self, data: Any) -> DecodedColumns:
        """Decode the columns of whole lines, through Python where Arrow finds mixed types."""
        import pyarrow

        names = [self.names.names[number] for number in self.wanted]
        schema = pyarrow.schema([(name, self.types[name]) for name in names])
        text = bytes(data)
        if not text.strip():
            return self.decode_table(schema.empty_table())
        try:
            return self.decode_table(read_table(text, schema, "ignore").select(names))
        except pyarrow.ArrowInvalid:
            rows = [parse_line(line) for line in text.splitlines() if line.strip()]
        columns = [[self.convert(row.get(name), name) for row in rows] for name in names]
        return self.decode_table(pyarrow.table(dict(zip(names, columns, strict=True)), schema))

    def convert(self, value: Any, name: str) -> Any:
        """Convert a value to the type of its column."""
        from pyarrow import types

        kind = self.types[name]
        if value is None or types.is_nested(kind):
            return value
        if types.is_string(kind) and not isinstance(value, dict | list):
            return str(value)
        try:
            return bool(value) if types.is_boolean(kind) else float(value)
        except (TypeError, ValueError):
            raise self.word_error("number", name, str(value)) from None


def first_lines(source: Source) -> bytes:
    """Return the first whole lines of a source: one at least."""
    size = SAMPLE
    while b"\n" not in (head := source.head(size)) and len(head) == size <= LONGEST_ROW:
        size *= 2
    return head[: head.rfind(b"\n") + 1] or head


def wide_type(kind: Any) -> Any:
    """Return the type to read a column as, by that of its first values."""
    import pyarrow

    numbers = pyarrow.types.is_integer(kind) or pyarrow.types.is_null(kind)
    return pyarrow.float64() if numbers else kind


def read_table(text: bytes, schema: Any = None, others: str = "infer") -> Any:
    """Read JSON lines as an Arrow table; columns outside of a schema are inferred or ignored."""
    import pyarrow
    from pyarrow import json as arrow

    return arrow.read_json(
        pyarrow.BufferReader(text),
        arrow.ReadOptions(use_threads=False, block_size=len(text) + 1),
        arrow.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
    )


def infer_table(text: bytes, name: str) -> Any:
    """Read the first lines as a table; columns of mixed types, and times, are strings."""
    import pyarrow
    from pyarrow import types

    try:
        table = read_table(text)
        times = [field.name for field in table.schema if types.is_temporal(field.type)]
        if not times:
            return table
        words = pyarrow.schema([(each, to_arrow_type(None)) for each in times])
        return read_table(text, words).select(table.column_names)
    except pyarrow.ArrowInvalid:
        rows = [row for line in text.splitlines() if (row := parse_if_possible(line)) is not None]
    if not rows:
        raise InputError(
            f'{name}: the first lines are not JSON objects, such as {{"age": 39}}.',
            code="json",
            file=name,
            line=1,
        )
    columns = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key) for row in rows]
        try:
            columns[key] = pyarrow.array(values)
        except pyarrow.ArrowException:
            words = [None if value is None else str(value) for value in values]
            columns[key] = pyarrow.array(words)
    return pyarrow.table(columns)


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse one line as a JSON object."""
    try:
        found = json.loads(line)
    except ValueError as error:
        place = getattr(error, "colno", 1)
        raise InputError("the line is not valid JSON", code="json", column=place) from None
    if not isinstance(found, dict):
        raise InputError("the line is not a JSON object", code="json", column=1)
    return found


def parse_if_possible(line: bytes) -> dict[str, Any] | None:
    """Parse one line as a JSON object; return None if it is not one."""
    try:
        return parse_line(line)
    except InputError:
        return None

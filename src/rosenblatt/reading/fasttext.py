"""fastText's files: the labels of a line are its words that begin with ``__label__``."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..parameters import InputError
from .arrow import DecodedColumns, TableParser, TableProfile
from .jsonlines import first_lines
from .notices import make_notice
from .recipe import ColumnKind, ColumnNames, FeatureRecipe, ReaderOptions, Resolved
from .sources import Source
from .values import NOT_UTF8, to_scalar

PREFIX = "__label__"
COLUMNS = ("label", "text")


def divide_lines(data: np.ndarray) -> tuple[Any, Any]:
    r"""Divide whole lines into the lists of their labels and their texts; blank ones are left out.

    >>> labels, texts = divide_lines(np.frombuffer(b"__label__a __label__b one two\n", np.uint8))
    >>> labels.to_pylist(), texts.to_pylist()
    ([['a', 'b']], ['one two'])
    """
    import pyarrow
    from pyarrow import compute

    edges = np.append(0, np.flatnonzero(data == ord("\n")) + 1).astype(np.int32)
    buffers = pyarrow.py_buffer(edges), pyarrow.py_buffer(data)
    lines = pyarrow.StringArray.from_buffers(len(edges) - 1, *buffers)
    try:
        lines.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise InputError(NOT_UTF8, code="encoding", column=1) from None
    lines = compute.utf8_trim_whitespace(lines)
    lines = lines.filter(compute.not_equal(lines, to_scalar("")))
    lines = compute.binary_join_element_wise(to_scalar(""), lines, to_scalar(" "))
    parts = compute.split_pattern_regex(lines, rf"\s{PREFIX}")
    flat, offsets = parts.flatten(), np.asarray(parts.offsets)
    is_label = np.ones(len(flat), bool)
    is_label[offsets[:-1]] = False
    found = compute.extract_regex(flat, r"^(?P<label>\S*)(?P<rest>(?s:.*))$")
    label, rest = (compute.struct_field(found, [place]) for place in (0, 1))
    is_label = pyarrow.array(is_label)
    texts = pyarrow.ListArray.from_arrays(parts.offsets, compute.if_else(is_label, rest, flat))
    starts = pyarrow.array(offsets - np.arange(len(offsets), dtype=np.int32))
    return (
        pyarrow.ListArray.from_arrays(starts, label.filter(is_label)),
        compute.utf8_trim_whitespace(compute.binary_join(texts, " ")),
    )


class FastTextParser(TableParser):
    """Rows of fastText's files: a table of labels and texts."""

    def decode(self, data: np.ndarray) -> DecodedColumns:
        """Decode whole lines."""
        from pyarrow import compute

        labels, texts = divide_lines(data)
        if self.recipe.labels_separator is None:
            most = compute.max(compute.list_value_length(labels)).as_py() or 0
            if most > 1 and self.label is not None:
                what = (
                    f"the line has {most} labels; use labels_separator=' ' if rows may have several"
                )
                raise InputError(what, code="several-labels", column=1)
            labels = compute.binary_join(labels, " ")
        both = labels, texts
        return self.decode_columns([both[place] for place in self.wanted], len(texts))


@dataclass(frozen=True)
class FastTextProfile(TableProfile):
    """What the first lines of a fastText file show; ``several``: some have several labels."""

    parser = FastTextParser
    several: bool

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return the recipe for what was requested, and what to note about it."""
        if not options.new:
            return super().resolve(requested, options)
        label = COLUMNS[0] if requested.label is None else requested.label
        numbers, separator = bool(requested.numbers), requested.labels_separator
        divided = separator or (" " if self.several and not numbers else None)
        asked = replace(requested, label=label, numbers=numbers, labels_separator=divided)
        recipe, notices = super().resolve(asked, options)
        return recipe, notices | ({make_notice("labels"): None} if divided != separator else {})


def profile_fasttext(source: Source) -> FastTextProfile:
    """Look at the first lines of a fastText file."""
    from pyarrow import compute

    head = first_lines(source).decode(errors="replace").removesuffix("\n").encode() + b"\n"
    labels, texts = divide_lines(np.frombuffer(head, np.uint8))
    several = (compute.max(compute.list_value_length(labels)).as_py() or 0) > 1
    words = labels if several else compute.binary_join(labels, " ")
    kinds = [ColumnKind("category"), ColumnKind("text")]
    names = ColumnNames(COLUMNS, source.name)
    return FastTextProfile(names, kinds, [words, texts].__getitem__, several)

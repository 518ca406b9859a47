"""Strings as bytes one after the other, the distinct ones numbered."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...data.rows import Array
from ...kernels import tokens as kernel
from ...kernels.tokens import HashTable


class Strings(NamedTuple):
    """Strings in UTF-8: number i lies in ``data`` from ``begins[i]`` to ``ends[i]``."""

    data: Array
    begins: Array
    ends: Array

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Strings":
        """Strings of Python's; a ValueError or TypeError if some are none."""
        try:
            array = pa.array(texts, pa.large_string())
        except UnicodeEncodeError as error:
            raise ValueError(f"{error.object!r:.60} is no text that UTF-8 can hold.") from None
        if array.null_count:
            raise TypeError("None is no string")
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, np.int64)[: len(array) + 1]
        letters = np.frombuffer(data or b"\0", np.uint8)
        return cls(letters, ends[:-1], ends[1:])

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.begins)

    def take(self, which: Array) -> "Strings":
        """Some of them; their bytes stay where they are."""
        return self._replace(begins=self.begins[which], ends=self.ends[which])

    def texts(self) -> list[str]:
        """Strings of Python's."""
        data = self.data.tobytes()
        spans = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [data[begin:end].decode("utf-8", "replace") for begin, end in spans]

    def compact(self) -> "Strings":
        """The same with no other bytes around them."""
        sizes = self.ends - self.begins
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(self.begins - (ends - sizes), sizes)
        return Strings(self.data[places], ends - sizes, ends)

    @classmethod
    def together(cls, parts: Sequence["Strings"]) -> "Strings":
        """The strings of several, one after the other."""
        shifts = np.cumsum([0, *(len(part.data) for part in parts)]).tolist()
        pairs = list(zip(parts, shifts, strict=False))
        return cls(
            np.concatenate([np.zeros(0, np.uint8), *(part.data for part in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(part.begins + at for part, at in pairs)]),
            np.concatenate([np.zeros(0, np.int64), *(part.ends + at for part, at in pairs)]),
        )


class Typed(NamedTuple):
    """Strings by number: ``types`` numbers the distinct ``strings``."""

    types: Array
    strings: Strings

    @classmethod
    def of(cls, strings: Strings) -> "Typed":
        """Number the distinct ones of some strings, in the order in which they come."""
        hashes = np.empty(strings.size, np.uint64)
        kernel.hash_each_string(*strings, hashes)
        types, firsts = distinct(hashes)
        return cls(types, strings.take(firsts))


def distinct(keys: Array) -> tuple[Array, Array]:
    """The number of each key among the distinct ones, and where each of these comes first."""
    table, numbers = empty_table(len(keys)), np.empty(len(keys), np.uint32)
    firsts = np.empty(len(keys), np.int64)
    count = kernel.number_keys(table, keys, 0, numbers, firsts)
    return numbers, firsts[:count]


def empty_table(count: int) -> HashTable:
    """A table with room for so many keys."""
    places = 1 << max(4, int(2 * count - 1).bit_length() if count else 0)
    return HashTable(np.zeros(places, np.uint64), np.zeros(places, np.uint32))


def to_table(keys: Array, numbers: Array, room: int = 0) -> HashTable:
    """A table of some keys, with room for more."""
    table = empty_table(len(keys) + room)
    kernel.fill(table, keys, numbers)
    return table


def grown(table: HashTable, count: int, more: int) -> HashTable:
    """A table with room for so many more keys than there are."""
    if 2 * (count + more) <= len(table.keys):
        return table
    known = table.keys != 0
    return to_table(table.keys[known], table.numbers[known], more)


def shrunk(table: HashTable, count: int) -> HashTable:
    """A table with the keys of the numbers below a count only."""
    known = (table.keys != 0) & (table.numbers < count)
    return to_table(table.keys[known], table.numbers[known])


def joined(texts: Sequence[str]) -> dict[str, Any]:
    """Strings as arrays that a model file can hold."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {"texts": np.frombuffer(b"".join(encoded) or b"\0", np.uint8), "text_ends": ends}

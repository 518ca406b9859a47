"""Strings as bytes in one array, and the distinct ones of them numbered."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..data.rows import Array
from .kernels import tokens as kernel
from .kernels.tokens import HashTable


class Strings(NamedTuple):
    """Strings in UTF-8: number i lies in ``data`` from ``begins[i]`` to ``ends[i]``."""

    data: Array
    begins: Array
    ends: Array

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Strings":
        """Encode strings of Python; raise ValueError or TypeError for other objects."""
        try:
            array = pa.array(texts, pa.large_string())
        except UnicodeEncodeError as error:
            raise ValueError(f"{error.object!r:.60} cannot be encoded as UTF-8.") from None
        if array.null_count:
            raise TypeError("None is not a string")
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, np.int64)[: len(array) + 1]
        letters = np.frombuffer(data or b"\0", np.uint8)
        return cls(letters, ends[:-1], ends[1:])

    @property
    def size(self) -> int:
        """The number of strings."""
        return len(self.begins)

    @property
    def longest(self) -> int:
        """The number of bytes of the longest string."""
        return int((self.ends - self.begins).max(initial=0))

    def hashes(self, salts: Array) -> Array:
        """Return the hash of each string, which depends on its salt."""
        found = np.empty(self.size, np.uint64)
        kernel.hash_strings(*self, salts, np.empty(self.longest, np.uint32), found)
        return found

    def take(self, which: Array) -> "Strings":
        """Select strings; their bytes are not copied."""
        return self._replace(begins=self.begins[which], ends=self.ends[which])

    def texts(self) -> list[str]:
        """Decode to strings of Python."""
        data = self.data.tobytes()
        spans = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [data[begin:end].decode("utf-8", "replace") for begin, end in spans]

    def text(self, number: int) -> str:
        """Decode one string."""
        return self.take(np.array([number])).compact().texts()[0]

    def compact(self) -> "Strings":
        """Return a copy without other bytes."""
        sizes = self.ends - self.begins
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(self.begins - (ends - sizes), sizes)
        return Strings(self.data[places], ends - sizes, ends)

    @classmethod
    def concatenate(cls, parts: Sequence["Strings"]) -> "Strings":
        """Concatenate several arrays of strings."""
        shifts = np.cumsum([0, *(len(part.data) for part in parts)]).tolist()
        pairs = list(zip(parts, shifts, strict=False))
        return cls(
            np.concatenate([np.zeros(0, np.uint8), *(part.data for part in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(part.begins + at for part, at in pairs)]),
            np.concatenate([np.zeros(0, np.int64), *(part.ends + at for part, at in pairs)]),
        )


class Categorical(NamedTuple):
    """Strings by number: ``types`` has the number of each among the distinct ``strings``."""

    types: Array
    strings: Strings

    @classmethod
    def of(cls, strings: Strings) -> "Categorical":
        """Number the distinct strings, in the order in which they first occur."""
        types, firsts = number_distinct(strings.hashes(np.zeros(strings.size, np.uint64)))
        return cls(types, strings.take(firsts))


def number_distinct(keys: Array) -> tuple[Array, Array]:
    """Return the number of each key among the distinct ones, and where these occur first."""
    table, numbers = make_table(len(keys)), np.empty(len(keys), np.uint32)
    firsts = np.empty(len(keys), np.int64)
    count = kernel.number_keys(table, keys, 0, numbers, firsts)
    return numbers, firsts[:count]


def make_table(count: int) -> HashTable:
    """Make an empty table with room for a number of keys."""
    places = 1 << max(4, int(2 * count - 1).bit_length() if count else 0)
    return HashTable(np.zeros(places, np.uint64), np.zeros(places, np.uint32))


def fill_table(keys: Array, numbers: Array, room: int = 0) -> HashTable:
    """Make a table of keys, with room for more."""
    table = make_table(len(keys) + room)
    kernel.fill(table, keys, numbers.astype(np.uint32))
    return table


def enlarge_table(table: HashTable, count: int, more: int) -> HashTable:
    """Return a table with room for ``more`` keys besides its ``count``."""
    if 2 * (count + more) <= len(table.keys):
        return table
    known = table.keys != 0
    return fill_table(table.keys[known], table.numbers[known], more)

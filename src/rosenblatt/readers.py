"""Files and streams become an iterator of batches of rows, in constant memory.

A source gives bytes, a form of rows turns them into batches, and a reader goes through both, one or
two batches ahead of whoever learns from them. Only tables that hold words need pyarrow, and only
they import it.
"""

import csv
import glob
import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .disk import plain_errors
from .kernels import lines, words
from .kernels.addresses import MARKS, NEWLINE, line_end
from .kernels.algebra import Rows
from .kernels.lines import FULL, REASONS, Cursor
from .kernels.words import CSRBuffer, Grams, Names
from .rows import read_only, rows_of

PIECE = 4 << 20  # bytes that become one batch: they and their rows stay near the processor
SAMPLE = 1 << 20  # bytes from which columns and first indices are found out
LONGEST_ROW = 64 << 20
LARGEST_LABEL = 2**53  # from here on floats skip integers
MOST_PRODUCTS = 1 << 22  # of one batch; a row on its own may have 16 times as many
AHEAD = 2  # batches
CACHE = ".rosenblatt-cache"  # the ending of what arrays.py keeps beside a file

FORMATS = {
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "svm": "svmlight",
    "vw": "vw",
    "csv": "csv",
    "tsv": "tsv",
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
}
BOM = b"\xef\xbb\xbf"  # that some programs put before UTF-8
DELIMITERS = {"csv": ",", "tsv": "\t"}
LONG_LABEL = "the label is too large a number to tell from the next; name classes by words"
LABELS = ("label", "class", "target", "y")  # names that a label goes by


class Batch(NamedTuple):
    """Some rows, and how far the reader got with them.

    ``labels`` are numbers or strings, or None if there are none; Vowpal Wabbit's rows without a
    label have NaN. ``width`` is the number of columns known so far, ``bytes_read`` counts what was
    taken from the source, before decompression, and ``lines`` what was read of it.
    """

    rows: Rows
    labels: np.ndarray | None
    weights: np.ndarray | None
    width: int
    bytes_read: int
    lines: int


@dataclass(frozen=True)
class Recipe:
    """How features are made of what a file holds: a model keeps it, to read other files alike."""

    rows: str = ""
    label: str | int | bool | None = None
    label_kind: str | None = None
    columns: Sequence[Sequence[str]] | None = None
    text: Sequence[str] = ()
    ngrams: Sequence[int] = (1, 1)
    characters: bool = False
    bits: int | None = None
    cross: Sequence[str] = ()
    pairs: bool = False
    first: int | None = None


def read(
    path: Any,
    *,
    format: str | None = None,  # noqa: A002
    label: str | int | bool | None = None,
    category: Sequence[str] = (),
    text: Sequence[str] = (),
    ngrams: tuple[int, int] = (1, 1),
    characters: bool = False,
    bits: int | None = None,
    cross: Sequence[str] = (),
    pairs: bool = False,
    header: bool | None = None,
    first: int | None = None,
    features: dict[str, Any] | None = None,
    skip_bad: int = 0,
    batch_bytes: int = PIECE,
    dtype: Any = np.float32,
    names: int = 0,
) -> "Reader":
    """Read a file, a folder, a pattern, ``"-"`` (standard input) or an open binary file in batches.

    Parameters
    ----------
    path
        svmlight, Vowpal Wabbit, CSV, TSV, Parquet or Arrow, also compressed with gzip or zstd.
        Folders and patterns are for Parquet and Arrow.
    format
        Its format, where the name does not tell.
    label
        The label's column, by name or number (from 0; -1 is the last), or False for none. Without
        it: the one called label, class, target or y, else the last.
    category
        Columns of words, the label's too, where the first rows look like numbers.
    text
        Columns that become hashed n-grams of words, each row's of length 1.
    ngrams
        The least and the most words (or characters) in an n-gram.
    characters
        Take n-grams of characters.
    bits
        Hashed features get 2^bits columns: 18 unless stated, or 20 with text.
    cross
        ``"A,B"`` adds the products of the features of two columns, or namespaces by first letter.
    pairs
        Add the products of every two features of a row.
    header
        Whether the first row of a CSV or TSV file holds names; found out unless stated.
    first
        The first index of svmlight, 0 or 1; found out unless stated.
    features
        What ``features()`` of another reader gave, to make features in the same way.
    skip_bad
        How many broken rows to leave out before one is an error.
    batch_bytes
        How many bytes become one batch, about.
    dtype
        The type of the values, float32 or float64.
    names
        How many names of hashed features to keep.
    """
    text, category, cross = several(text), several(category), several(cross)
    ngrams = (int(ngrams[0]), int(ngrams[1]))
    asked = Recipe("", label, None, None, text, ngrams, characters, bits, cross, pairs, first)
    recipe = asked if features is None else recipe_of(features, asked)
    check(recipe, batch_bytes, dtype)
    source = Source(path)
    kind = format_of(source, format)
    refuse_options_of_others(kind, recipe, header, category)
    new = features is None
    needed = new or label is not None
    options = Options(batch_bytes, np.dtype(dtype), names, needed, new, category)
    if kind in ("parquet", "arrow"):
        form: Form = DatasetTable(source, kind, recipe, options)
    elif source.is_folder or len(source.files) > 1:
        raise ValueError(f"{source.name} is several files; only Parquet and Arrow can be several.")
    elif kind == "svmlight":
        form = Svmlight(source, recipe, options)
    elif kind == "vw":
        form = VowpalWabbit(source, recipe, options)
    else:
        form = delimited(source, DELIMITERS[kind], header, recipe, options)
    if bits is not None and not form.hashed:
        form.notices["The columns are numbers and not hashed: bits is not used."] = None
    return Reader(source, kind, form, skip_bad)


def several(names: Sequence[str]) -> tuple[str, ...]:
    """Some names; a string is one of them."""
    return (names,) if isinstance(names, str) else tuple(names)


def recipe_of(features: dict[str, Any], asked: Recipe) -> Recipe:
    """The recipe that features() wrote, with the label that is asked for."""
    if replace(asked, label=None) != Recipe():
        raise ValueError(
            "features says how features are made; leave out text, ngrams, characters, bits, cross, "
            "pairs and first."
        )
    try:
        recipe = Recipe(**features)
    except TypeError as error:
        raise ValueError("features is not what features() of a reader gives.") from error
    return recipe if asked.label is None else replace(recipe, label=asked.label)


def check(recipe: Recipe, batch_bytes: int, dtype: Any) -> None:
    """Refuse what cannot be asked for."""
    if recipe.label is True:
        raise ValueError("label=True is no column; give its name or number, or False for none.")
    shortest, longest = recipe.ngrams
    if not 1 <= shortest <= longest:
        raise ValueError(f"ngrams=({shortest}, {longest}) must be 1 or more, the least first.")
    if not recipe.text and (recipe.characters or longest > 1):
        raise ValueError("ngrams and characters are of text; name its column with text.")
    if recipe.bits is not None and not 1 <= recipe.bits <= 31:
        raise ValueError(f"bits={recipe.bits} must be 1 to 31.")
    if recipe.first not in (None, 0, 1):
        raise ValueError(f"first={recipe.first} must be 0 or 1.")
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={dtype} must be float32 or float64.")
    if batch_bytes < 1:
        raise ValueError(f"batch_bytes={batch_bytes} must be 1 or more.")


def refuse_options_of_others(
    kind: str, recipe: Recipe, header: bool | None, category: Sequence[str]
) -> None:
    """Refuse what has no meaning for a format, which would do nothing in silence."""
    if recipe.rows not in ("", kind):
        return  # another sentence is due
    named = category or not (recipe.label is None or recipe.label is False)
    if kind in ("svmlight", "vw") and named:
        raise ValueError(f"A line of {kind} begins with its label: it has no columns to name.")
    if header is not None and kind not in DELIMITERS:
        raise ValueError("header is about CSV and TSV; other formats have no line of names.")
    if recipe.first is not None and kind != "svmlight":
        raise ValueError("first is about svmlight; other formats do not number their columns.")


def format_of(source: "Source", stated: str | None) -> str:
    """The format that is stated, or that the name of the source tells."""
    known = ", ".join(dict.fromkeys(FORMATS.values()))
    if stated is not None:
        if stated not in FORMATS:
            raise ValueError(f"The format {stated!r} is unknown; there are: {known}.")
        return FORMATS[stated]
    for path in source.files or [source.name]:
        suffixes = [s[1:].lower() for s in Path(path).suffixes if s not in (".gz", ".zst")]
        if suffixes and suffixes[-1] in FORMATS:
            return FORMATS[suffixes[-1]]
    if source.is_folder:
        raise ValueError(f"{source.name} is a folder without Parquet or Arrow files.")
    raise ValueError(f"The name of {source.name} does not tell its format; state one of: {known}.")


class Reader:
    """Goes through a source as often as asked, in batches.

    ``format``; ``size`` in bytes where known; ``hashed`` and ``bits`` say how features got their
    columns; ``columns`` are the names and kinds of a table's features. While and after a pass:
    ``bad`` counts the rows left out, ``notices`` are sentences about what was read otherwise than
    one might think, ``names`` gives the names of features by column.
    """

    def __init__(self, source: "Source", format: str, form: "Form", skip_bad: int) -> None:  # noqa: A002
        self.format, self.size, self.hashed = format, source.size, form.hashed
        self.source, self.form, self.skip_bad = source, form, skip_bad
        self.bits, self.columns = form.recipe.bits, form.recipe.columns
        self.place = Place(source.name, skip_bad, form.unit)

    def __iter__(self) -> Iterator[Batch]:
        self.place = Place(self.source.name, self.skip_bad, self.form.unit)
        return ahead(self.form.batches(self.place))

    @property
    def rereadable(self) -> bool:
        """Whether there can be another pass."""
        return self.source.file is None or self.source.start is not None

    @property
    def bad(self) -> int:
        """How many broken rows were left out in the last pass."""
        return self.place.bad

    @property
    def notices(self) -> list[str]:
        """What was read otherwise than one might think."""
        return list(self.form.notices)

    @property
    def names(self) -> Mapping[int, str]:
        """The names of the features that are known, by column."""
        return Spelt(dict(self.form.vocabulary.known))

    def features(self) -> dict[str, Any]:
        """How the features were made, for ``read(path, features=…)``; it can be written as JSON."""
        return asdict(self.form.recipe)


def ahead(batches: Generator[Batch]) -> Iterator[Batch]:
    """The same batches, made in a second thread while those before are used."""
    with ThreadPoolExecutor(1, "rosenblatt-reader") as second:
        try:
            coming: deque[Future[Batch | None]] = deque()
            batch: Batch | None = None
            while True:
                while len(coming) < AHEAD:
                    coming.append(second.submit(next, batches, None))
                batch = coming.popleft().result()
                if batch is None:
                    return
                yield batch
        finally:
            second.shutdown(cancel_futures=True)
            batches.close()


class Place:
    """Where a pass is: the lines before the bytes at hand, and how many broken rows it met."""

    def __init__(self, name: str, tolerated: int, unit: str) -> None:
        self.name, self.tolerated, self.unit = name, tolerated, unit
        self.lines = self.bad = 0

    def error(self, line: int, column: Any, sentence: str) -> ValueError:
        """What to raise for something broken."""
        return ValueError(f"{self.name}, {self.unit} {line}, column {column}: {sentence}.")

    def skip(self, line: int, column: Any, sentence: str) -> None:
        """Count a broken row, or raise if there are too many."""
        if self.bad == self.tolerated:
            more = f"; {self.bad} rows before it were broken too" if self.bad else ""
            raise self.error(line, column, sentence + more)
        self.bad += 1


# Bytes.


class Source:
    """Something that can be opened: a file, several of them, standard input or an open file."""

    def __init__(self, path: Any) -> None:
        self.files: list[str] = []
        self.size: int | None = None
        self.is_folder = False
        self.stream: Stream | None = None  # of what cannot be opened again
        self.spent = False
        if isinstance(path, io.TextIOBase):
            raise ValueError("The file must be opened in binary mode.")
        self.file = sys.stdin.buffer if path == "-" else path if hasattr(path, "read") else None
        if self.file is not None:
            named = "standard input" if path == "-" else getattr(path, "name", "the stream")
            self.name = str(named)
        else:
            self.name = os.fspath(path)
            with plain_errors(self.name, "read"):
                self.find_files()
                if self.is_pipe():
                    self.file = open(self.name, "rb", buffering=0)  # noqa: SIM115
                    weakref.finalize(self, self.file.close)  # it may never be read to its end
                else:
                    self.size = sum(os.path.getsize(file) for file in self.files)
        if self.file is not None:
            self.start = self.file.tell() if self.file.seekable() else None

    def is_pipe(self) -> bool:
        """Whether the name is of a pipe or a device, which may be opened once only."""
        return os.path.exists(self.name) and not (self.is_folder or os.path.isfile(self.name))

    def find_files(self) -> None:
        """The files that the name stands for, in order."""
        self.is_folder = os.path.isdir(self.name)
        if self.is_folder:
            found = sorted(glob.glob(os.path.join(glob.escape(self.name), "**"), recursive=True))
            left = re.compile(rf"[/\\]_[^/\\]*$|{CACHE}[/\\]")  # by other programs, and by us
            self.files = [file for file in found if os.path.isfile(file) and not left.search(file)]
        elif os.path.exists(self.name):
            self.files = [self.name]
        else:
            self.files = sorted(glob.glob(self.name))
        if not self.files:
            what = "There is no file in" if self.is_folder else "There is no file"
            raise FileNotFoundError(f"{what} {self.name}.")

    @contextmanager
    def open(self) -> Iterator["Stream"]:
        """The bytes from the beginning; what is opened here is closed afterwards."""
        if self.file is None:
            with plain_errors(self.name, "read"), open(self.files[0], "rb", buffering=0) as file:
                yield decompressed(self.name, file)
        elif self.start is not None:
            self.file.seek(self.start)
            yield decompressed(self.name, self.file)
        elif self.spent:
            raise ValueError(f"{self.name} can be read only once; write it to a file first.")
        else:
            self.spent = True
            yield self.stream or decompressed(self.name, self.file)

    def head(self, size: int) -> bytes:
        """The first bytes, which will still be there to read."""
        with self.open() as stream:
            head = stream.head(size)
            if self.spent:
                self.stream, self.spent = stream, False
        if not head:
            raise ValueError(f"{self.name} is empty.")
        return head


class Stream(io.RawIOBase):
    """Bytes that can be looked at before they are taken; ``taken`` counts those of the source."""

    def __init__(self, name: str, file: Any, source: "Stream | None" = None) -> None:
        self.name, self.file, self.source = name, file, source
        self.kept, self.count = b"", 0

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def head(self, size: int) -> bytes:
        """The next bytes, without taking them."""
        with self.decompression():
            while len(self.kept) < size and (more := self.file.read(size - len(self.kept))):
                self.kept += more
        return self.kept[:size]

    def skip(self, size: int) -> None:
        """Take some bytes without using them."""
        self.count += len(self.head(size))
        self.kept = self.kept[size:]

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end."""
        if self.kept:
            count = min(len(self.kept), len(view))
            view[:count], self.kept = self.kept[:count], self.kept[count:]
        else:
            with self.decompression():
                count = self.file.readinto(view) or 0
        self.count += count
        return count

    @contextmanager
    def decompression(self) -> Iterator[None]:
        """Say in a sentence what cannot be decompressed."""
        try:
            yield
        except (EOFError, OSError, zlib.error) as error:
            if self.source is None:
                raise
            short = isinstance(error, EOFError) or "runcated" in str(error)
            what = "end too early: the file is cut short" if short else "are damaged"
            raise ValueError(f"{self.name}: the compressed data {what}.") from error

    @property
    def taken(self) -> int:
        """How many bytes were taken of the source."""
        return self.source.count if self.source else self.count


def decompressed(name: str, file: Any) -> Stream:
    """The bytes of a file, decompressed if its first ones say so."""
    raw = Stream(name, file)
    if raw.head(2) == b"\x1f\x8b":
        return Stream(name, gzip.GzipFile(fileobj=raw), raw)
    if raw.head(4) == b"\x28\xb5\x2f\xfd":
        import pyarrow

        return Stream(name, pyarrow.CompressedInputStream(pyarrow.PythonFile(raw), "zstd"), raw)
    return raw


def pieces(
    stream: Stream, size: int, end_of_rows: Callable[[bytearray, int], int], place: Place
) -> Iterator[np.ndarray]:
    """Whole rows, about so many bytes at a time; each piece is overwritten by the next one."""
    buffer, filled, more = bytearray(size + 1), 0, True
    while more:
        room = memoryview(buffer)[filled:-1]  # a byte is left for a last newline
        while len(room) and more:
            count = stream.readinto(room)
            room, filled, more = room[count:], filled + count, count > 0
        if not more and filled and buffer[filled - 1] != NEWLINE:
            buffer[filled] = NEWLINE
            filled += 1
        end = end_of_rows(buffer, filled) if more else filled
        if end > 0:
            yield np.frombuffer(buffer, np.uint8, end)
        elif more and len(buffer) > LONGEST_ROW:
            raise place.error(place.lines + 1, 1, f"the row is longer than {LONGEST_ROW >> 20} MB")
        rest = buffer[end:filled]
        if more and end == 0:
            buffer = bytearray(2 * len(buffer))
        filled = len(rest)
        buffer[:filled] = rest


def last_newline(buffer: bytearray, filled: int) -> int:
    """Where the last whole line ends."""
    return buffer.rfind(b"\n", 0, filled) + 1


# Forms of rows.


class Options(NamedTuple):
    """What does not change how features are made."""

    batch_bytes: int
    dtype: np.dtype
    names: int
    label_needed: bool
    new: bool  # or features are made as before
    category: tuple[str, ...]

    def kinds(self, names: list[str], kinds: list[str], source: Source) -> list[str]:
        """The kinds of columns, with those that were stated."""
        words = {position(name, names, source) for name in self.category}
        return ["category" if j in words else kind for j, kind in enumerate(kinds)]

    def remedy(self, column: str) -> str:
        """What to do about a word in a column of numbers."""
        if not self.new:
            return ", which the model wants"
        return f"; if the column holds words, state category=[{column!r}]"


class Form:
    """What all forms of rows have in common: each makes batches of a source."""

    unit = "line"
    hashed = False
    skip = 0  # bytes before the first row

    def __init__(self, source: Source, recipe: Recipe, options: Options) -> None:
        self.source, self.recipe, self.options = source, recipe, options
        self.notices: dict[str, None] = {}  # each once, in order
        self.labelled = recipe.label is not False
        size = 1 << (recipe.bits or 0)
        self.mask = np.uint64(size - 1)
        self.vocabulary = Vocabulary(options.names if self.hashed else 0, size)

    def batches(self, place: Place) -> Generator[Batch]:
        """All rows from the beginning."""
        raise NotImplementedError

    @contextmanager
    def opened(self, place: Place) -> Iterator[Stream]:
        """The bytes from the first row on."""
        with self.source.open() as stream:
            head = stream.head(self.skip)
            place.lines = head.count(b"\n")
            stream.skip(self.skip)
            yield stream

    def crossed(
        self, block: CSRBuffer, groups: np.ndarray, pairs: np.ndarray
    ) -> Iterator[tuple[slice, CSRBuffer]]:
        """The rows with the products of pairs of groups, as many at a time as memory allows."""
        starts = np.zeros(len(block.starts), np.uint64)
        words.count_crosses(block.starts, groups, pairs, starts)
        row, last = 0, len(starts) - 1
        if last and np.diff(starts).max() > 16 * MOST_PRODUCTS:
            raise ValueError(
                f"A row has over {16 * MOST_PRODUCTS:,} products; cross fewer columns."
            )
        while row < last:
            most = starts[row] + np.uint64(MOST_PRODUCTS)
            stop = max(row + 1, int(np.searchsorted(starts, most, "right")) - 1)
            out = room(stop - row, int(starts[stop] - starts[row]), self.options.dtype)
            np.subtract(starts[row : stop + 1], starts[row], out=out.starts)
            part, span = some_rows(block, row, stop)
            words.cross(part, groups[span], pairs, self.mask, out, self.vocabulary.room)
            self.vocabulary.learn(lambda one, other: (self.vocabulary.product, one, other))
            yield slice(row, stop), out
            row = stop


def room(rows: int, values: int, dtype: np.dtype) -> CSRBuffer:
    """Room for so many rows and values; what stays untouched takes no memory."""
    starts = np.empty(rows + 1, np.uint64)
    starts[0] = 0
    return CSRBuffer(np.empty(values, dtype), np.empty(values, np.uint32), starts)


def some_rows(block: CSRBuffer, first: int, stop: int) -> tuple[CSRBuffer, slice]:
    """The rows first to stop of a block, and where their values are."""
    span = slice(int(block.starts[first]), int(block.starts[stop]))
    starts = block.starts[first : stop + 1] - block.starts[first]
    return CSRBuffer(block.values[span], block.indices[span], starts), span


def rows_of_block(block: CSRBuffer, rows: int) -> Rows:
    """The first rows of a block, for a kernel."""
    values = int(block.starts[rows])
    return Rows(
        read_only(block.values[:values]),
        read_only(block.indices[:values]),
        read_only(block.starts[: rows + 1]),
    )


def numbers_in(column: Any) -> np.ndarray:
    """An Arrow array of numbers, where missing ones are NaN; ``to_numpy`` would import pandas."""
    if column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.from_dlpack(column)


class Vocabulary:
    """The names of the features met first, up to some number: what a hash cannot tell."""

    def __init__(self, most: int, size: int) -> None:
        self.known: dict[int, tuple[Any, ...]] = {}
        self.room: Names | None = None
        if most > 0:
            places = np.empty((2, most), np.int64)
            seen, indices = np.zeros(size, np.uint8), np.empty(most, np.uint32)
            self.room = Names(seen, indices, places[0], places[1], np.zeros(1, np.int64))

    def learn(self, note: Callable[[int, int], tuple[Any, ...]]) -> None:
        """Keep what a kernel noted, as a function of where it begins and ends.

        Only a few names will ever be asked for, so each is a function and its arguments till then.
        """
        if self.room is not None:
            seen, indices, begins, ends, count = self.room
            n = int(count[0])
            if n:
                places = zip(begins[:n].tolist(), ends[:n].tolist(), strict=True)
                notes = [note(begin, end) for begin, end in places]
                self.known.update(zip(indices[:n].tolist(), notes, strict=True))
            self.room = Names(seen, indices[n:], begins[n:], ends[n:], count)
            count[0] = 0

    def keep(self, index: int, name: str) -> None:
        """Keep a name that no kernel meets."""
        if self.room is not None and len(self.room.indices):
            self.room.seen[index] = self.room.count[0] = 1
            self.room.indices[0] = index
            self.learn(lambda begin, end: (str, name))

    def product(self, one: int, other: int) -> str:
        """The name of a product of two features."""
        factors = (spelt(self.known.get(factor, (str, factor))) for factor in (one, other))
        return " × ".join(factors)


def spelt(note: tuple[Any, ...]) -> str:
    """A name of which the function and the arguments were noted."""
    spell, *arguments = note
    return str(spell(*arguments))


class Spelt(Mapping[int, str]):
    """Names of features by column, spelt when they are asked for."""

    def __init__(self, known: dict[int, tuple[Any, ...]]) -> None:
        self.known = known

    def __getitem__(self, column: int) -> str:
        return spelt(self.known[column])

    def __iter__(self) -> Iterator[int]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


# Forms that a kernel reads line by line.


class Room(NamedTuple):
    """What a kernel fills."""

    labels: np.ndarray
    weights: np.ndarray | None
    block: CSRBuffer
    groups: np.ndarray | None


class Lines(Form):
    """Rows of one line each."""

    ignored = ""  # what is said of fields that were read and have no use
    width = 0

    def batches(self, place: Place) -> Generator[Batch]:
        """All rows from the beginning."""
        with self.opened(place) as stream:
            for data in pieces(stream, self.options.batch_bytes, last_newline, place):
                progress = Cursor(lines=place.lines)
                while progress.at < len(data):
                    out = self.room(len(data) - progress.at)
                    before = progress
                    progress = self.parse_good(data, progress, out, place)
                    self.refuse_long_labels(data, before, progress.rows, out, place)
                    if progress.ignored:
                        self.notices[self.ignored] = None
                    labels, weights = out.labels if self.labelled else None, out.weights
                    for some, rows in self.finished(data, progress, out):
                        yield Batch(
                            rows,
                            None if labels is None else labels[some],
                            None if weights is None else weights[some],
                            self.width,
                            stream.taken,
                            progress.lines,
                        )
                place.lines = progress.lines

    def parse_good(self, data: np.ndarray, progress: Cursor, out: Room, place: Place) -> Cursor:
        """Parse from where progress is until there is no room, leaving broken lines out."""
        progress = self.parse(data, progress._replace(rows=0, values=0), out)
        while progress.error > FULL:
            column, sentence = self.complaint(data, progress)
            place.skip(progress.lines + 1, column, sentence)
            begin = data.ctypes.data
            after = line_end(begin + progress.at) - begin + 1
            progress = progress._replace(at=after, lines=progress.lines + 1)
            progress = self.parse(data, progress, out)
        return progress

    def refuse_long_labels(
        self, data: np.ndarray, before: Cursor, rows: int, out: Room, place: Place
    ) -> None:
        """Refuse numbers so large that two labels could become one."""
        long = np.abs(out.labels[:rows]) >= LARGEST_LABEL
        if self.labelled and long.any():
            until = out._replace(labels=out.labels[: long.argmax()])
            line = self.parse_good(data, before, until, Place("", place.tolerated, "")).lines + 1
            raise place.error(line, self.label_column(), LONG_LABEL)

    def label_column(self) -> Any:
        """Where the label is."""
        return 1

    def complaint(self, data: np.ndarray, progress: Cursor) -> tuple[Any, str]:
        """The column where a line is broken, and why."""
        return progress.where - progress.at + 1, REASONS[progress.error]

    def room(self, size: int) -> Room:
        """Room for the rows of so many bytes, or for the first of them."""
        raise NotImplementedError

    def parse(self, data: np.ndarray, progress: Cursor, out: Room) -> Cursor:
        """Call the kernel."""
        raise NotImplementedError

    def finished(
        self, data: np.ndarray, progress: Cursor, out: Room
    ) -> Iterator[tuple[slice, Rows]]:
        """What the kernel has filled, as rows."""
        if progress.rows:
            yield slice(progress.rows), rows_of_block(out.block, progress.rows)


class Svmlight(Lines):
    """``label index:value …``, where absent values are 0."""

    ignored = "The query numbers (qid) are not used."

    def __init__(self, source: Source, recipe: Recipe, options: Options) -> None:
        if recipe.text or recipe.cross or recipe.pairs:
            raise ValueError("svmlight has numbered columns only: no text, cross or pairs.")
        first, head = recipe.first, source.head(SAMPLE)
        if first is None:
            first = 0 if has_index_0(head) else 1
        self.skip = len(BOM) * head.startswith(BOM)
        super().__init__(
            source, form_of(recipe, "svmlight", source, first=first, bits=None), options
        )

    def room(self, size: int) -> Room:
        """A value takes 4 bytes or more; there may be more rows than these."""
        rows = size // 8 + 1
        return Room(np.empty(rows), None, room(rows, size // 4 + 1, self.options.dtype), None)

    def parse(self, data: np.ndarray, progress: Cursor, out: Room) -> Cursor:
        """Call the kernel."""
        limit, increasing = 1 << 32, True
        rules = self.recipe.first, limit, increasing, self.labelled
        progress = lines.svmlight(data, len(data), progress, out.labels, out.block, *rules)
        if progress.values:
            self.width = max(self.width, int(out.block.indices[: progress.values].max()) + 1)
        return progress

    def complaint(self, data: np.ndarray, progress: Cursor) -> tuple[Any, str]:
        """The column where a line is broken, and why."""
        column, sentence = super().complaint(data, progress)
        if progress.error == lines.INDEX_TOO_SMALL and self.recipe.first == 1:
            sentence += " (1; state first=0 if it is 0)"
        return column, sentence


def has_index_0(head: bytes) -> bool:
    """Whether an index of svmlight is 0, comments aside."""
    places = re.finditer(rb"\s0:", head)
    return any(b"#" not in head[head.rfind(b"\n", 0, m.end()) + 1 : m.end()] for m in places)


class VowpalWabbit(Lines):
    """``label importance 'tag |namespace name:value …``, hashed."""

    ignored = "The base predictions after the importance are not used."
    hashed = True

    def __init__(self, source: Source, recipe: Recipe, options: Options) -> None:
        if recipe.text:
            raise ValueError("Vowpal Wabbit's text has no columns: put words into a namespace.")
        self.skip = len(BOM) * (source.head(len(BOM)) == BOM)
        bits = recipe.bits or 18
        super().__init__(source, form_of(recipe, "vw", source, bits=bits), options)
        self.width = 1 << bits
        self.pairs = cross_pairs(recipe, lambda name: ord((name or " ")[0]))

    def room(self, size: int) -> Room:
        """A value takes 2 bytes or more; there may be more rows than these."""
        rows, values = size // 8 + 1, size // 2 + 1
        block = room(rows, values, self.options.dtype)
        return Room(np.empty(rows), np.empty(rows), block, np.empty(values, np.uint8))

    def parse(self, data: np.ndarray, progress: Cursor, out: Room) -> Cursor:
        """Call the kernel."""
        names = self.vocabulary.room
        progress = lines.vowpal_wabbit(data, len(data), progress, *out, self.mask, names)
        text = data.tobytes() if names is not None and names.count[0] else b""
        self.vocabulary.learn(lambda begin, end: (vw_name, space_of(text, begin), text[begin:end]))
        return progress

    def finished(
        self, data: np.ndarray, progress: Cursor, out: Room
    ) -> Iterator[tuple[slice, Rows]]:
        """What the kernel has filled, with products."""
        if self.pairs is None or not progress.rows:
            yield from super().finished(data, progress, out)
            return
        block, span = some_rows(out.block, 0, progress.rows)
        assert out.groups is not None
        groups = out.groups[span].astype(np.uint16) * np.uint16(not self.recipe.pairs)
        for some, part in self.crossed(block, groups, self.pairs):
            yield some, rows_of_block(part, len(part.starts) - 1)


SPACE_ENDS = re.compile(rb"[\s:]")


def space_of(text: bytes, begin: int) -> bytes:
    """The namespace of the feature at some place."""
    bar = text.rfind(b"|", 0, begin) + 1
    end = SPACE_ENDS.search(text, bar, begin)
    return text[bar : end.start() if end else begin]


def vw_name(space: bytes, name: bytes) -> str:
    """The name of a feature with its namespace."""
    return (space + b"^" + name if space else name).decode(errors="replace")


def form_of(recipe: Recipe, rows: str, source: Source, **settled: Any) -> Recipe:
    """The recipe for a form of rows, unless it was made for another."""
    if recipe.rows not in ("", rows):
        raise ValueError(f"{source.name} holds {rows} rows, not {recipe.rows} rows as before.")
    return replace(recipe, rows=rows, **settled)


def cross_pairs(recipe: Recipe, group: Callable[[str], int]) -> np.ndarray | None:
    """The pairs of groups to multiply: all features are one group if every pair is wanted."""
    if recipe.pairs:
        return np.zeros((1, 2), np.uint16)
    if not recipe.cross:
        return None
    names = [cross.split(",") for cross in recipe.cross]
    for cross, pair in zip(recipe.cross, names, strict=True):
        if len(pair) != 2:
            raise ValueError(f"cross={cross!r} must be two names with a comma between them.")
    return np.array([[group(name) for name in pair] for pair in names], np.uint16)


# Tables.


def settle(recipe: Recipe, names: list[str], kinds: list[str], source: Source) -> Recipe:
    """Decide which column is the label and what becomes of the others."""
    known = dict(zip(names, kinds, strict=True))
    if len(known) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{source.name} has two columns that are called {twice!r}.")
    if recipe.columns is None:
        label = None if recipe.label is False else label_of(recipe.label, names, source)
        text = [names[position(name, names, source)] for name in recipe.text]
        columns = [
            (name, "text" if name in text else "number" if kind == "boolean" else kind)
            for name, kind in known.items()
            if name != label and kind
        ]
        label_kind = None if label is None else known[label].replace("boolean", "category")
        recipe = replace(recipe, label=label, label_kind=label_kind, columns=columns)
    if not recipe.columns:
        raise ValueError(f"{source.name} has no columns to learn from.")
    for name in (name for name, _ in recipe.columns or ()):
        position(name, names, source)
    dense = not (recipe.cross or recipe.pairs)
    if dense and all(kind == "number" for _, kind in recipe.columns):
        return replace(recipe, bits=None)
    return replace(recipe, bits=recipe.bits or (20 if recipe.text else 18))


def label_of(wanted: str | int | None, names: list[str], source: Source) -> str:
    """The name of the label's column."""
    if wanted is not None:
        return names[position(wanted, names, source)]
    usual = [name for name in names if name.lower() in LABELS]
    return usual[0] if usual else names[-1]


def position(column: str | int, names: list[str], source: Source) -> int:
    """Where a column is, which may be called by its name or number."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    there = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{source.name} has no column {column!r}; there are: {there}.")


class Sheet(NamedTuple):
    """What the beginning of a CSV or TSV file tells: rows begin after ``skip`` bytes."""

    delimiter: str
    names: list[str]
    kinds: list[str]
    skip: int


def delimited(
    source: Source, delimiter: str, header: bool | None, recipe: Recipe, options: Options
) -> Form:
    """The form of a CSV or TSV file: a kernel reads it if it is all numbers."""
    sheet, rows = look(source, delimiter, header, recipe, options)
    if len(sheet.names) == 1 and recipe.label is not False and options.new:
        raise ValueError(
            f"{source.name} has only one column, {sheet.names[0][:40]!r}, and no label beside it; "
            f"its cells are to be divided by {delimiter!r}."
        )
    recipe = settle(form_of(recipe, "table", source), sheet.names, sheet.kinds, source)
    if options.new and recipe.label_kind == "number" and has_long_labels(rows, sheet, recipe):
        recipe = replace(recipe, label_kind="category")
    all_numbers = {*sheet.kinds, recipe.label_kind} <= {"number", None}
    form = NumberTable if all_numbers and recipe.bits is None else CellTable
    return form(source, recipe, options, sheet)


def look(
    source: Source, delimiter: str, header: bool | None, recipe: Recipe, options: Options
) -> tuple[Sheet, bytes]:
    """Find out the names and kinds of columns; the first rows, which tell them."""
    begin, head, ends = sample(source, delimiter)
    top, below = head[begin : ends[0]], head[ends[0] : ends[-1]]
    refuse_odd_beginning(source.name, top, head[begin:], head[ends[-1] :], ends[0] - begin)
    cells = cells_of(top.decode(errors="replace"), delimiter)
    if header is None:
        header = is_header(cells, top, below, delimiter, recipe)
    rows = below if header else top + below
    if not rows.strip():
        hint = " below its header (state header=False if that line is a row)" if header else ""
        raise ValueError(f"{source.name} has no rows{hint}.")
    names = cells if header else [str(number) for number in range(len(cells))]
    kinds = ["number"] * len(names)
    if not is_numeric(rows, delimiter, len(names)):
        columns = inferred_cells(rows, delimiter, len(names)).columns
        kinds = [kind_of(column.type) or "category" for column in columns]
    kinds = options.kinds(names, kinds, source)
    return Sheet(delimiter, names, kinds, ends[0] if header else begin), rows


def refuse_odd_beginning(name: str, top: bytes, head: bytes, rest: bytes, length: int) -> None:
    """Refuse a file whose first row is no row, and say why."""
    if length > LONGEST_ROW:
        longest = LONGEST_ROW >> 20
        raise ValueError(f"{name}, line 1, column 1: the row is longer than {longest} MB.")
    if b"\0" in top:
        where = top.index(b"\0") + 1
        raise ValueError(
            f"{name}, line 1, column {where}: there is a NUL byte (a table is to be UTF-8)."
        )
    if b"\r" in head and b"\n" not in head.rstrip(b"\n"):
        raise ValueError(f"{name}: lines end in carriage returns only; write newlines instead.")
    if not top.strip():
        raise ValueError(f"{name} has no rows.")
    if len(top) + len(rest) == len(head) and b'"' in rest:
        raise ValueError(f"{name}: a quotation mark below the first row is never closed.")


def cells_of(row: str, delimiter: str) -> list[str]:
    """The cells of one row."""
    usual = csv.field_size_limit(2**31 - 1)
    try:
        return next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error as error:
        raise ValueError(f"A row cannot be divided into cells: {error}.") from error
    finally:
        csv.field_size_limit(usual)


def sample(source: Source, delimiter: str) -> tuple[int, bytes, list[int]]:
    """Where rows begin, the first bytes, and where the rows in them end: two if there are two."""
    size = SAMPLE
    while True:
        head = source.head(size)
        over = len(head) < size or size > LONGEST_ROW
        begin = len(head) - len(head.removeprefix(BOM).lstrip(b"\r\n"))
        if over and not head.endswith(b"\n"):
            head += b"\n"
        ends = row_ends(head[begin:] or b"\n", delimiter) + begin
        if over or len(ends) > 1:
            return begin, head, ends.tolist() or [len(head)]
        size *= 2


def row_ends(data: Any, delimiter: str) -> np.ndarray:
    """Where each whole row ends."""
    ends = np.empty(len(data), np.int64)
    n = lines.row_ends(read_only(np.frombuffer(data, np.uint8)), ord(delimiter), ends)
    return ends[:n]


def is_header(cells: list[str], top: bytes, below: bytes, delimiter: str, recipe: Recipe) -> bool:
    """Whether the first row holds names.

    It does if it has a name that was stated, or stands over numbers and is not of numbers, or if
    no cell of it is a number or comes again in its column. Words alone are names, too.
    """
    stated = {recipe.label, *recipe.text, *(name for name, _ in recipe.columns or ())}
    if stated & set(cells):
        return True
    if not below:
        return recipe.columns is None and not any(is_number(cell) for cell in cells)
    if is_numeric(top, delimiter, len(cells)):
        return False
    if is_numeric(below, delimiter, len(cells)):
        return True
    columns = inferred_cells(below, delimiter, len(cells)).columns
    return not any(
        cell and (is_number(cell) or cell in column.to_pylist())
        for cell, column in zip(cells, columns, strict=True)
    )


def is_numeric(rows: bytes, delimiter: str, width: int) -> bool:
    """Whether all cells are numbers or missing."""
    data = np.frombuffer(bytearray(rows.rstrip(b"\n") + b"\n"), np.uint8)
    count = int(np.count_nonzero(data == NEWLINE))
    labels, values = np.empty(count), np.empty(count * width)
    places = np.arange(width)
    progress = lines.table(data, len(data), Cursor(), ord(delimiter), places, labels, values, width)
    return bool(progress.error == 0)


def is_number(cell: str) -> bool:
    """Whether a cell is a number or missing."""
    return is_numeric(cell.encode(), "\n", 1)


def has_long_labels(rows: bytes, sheet: Sheet, recipe: Recipe) -> bool:
    """Whether a label is an integer that a float cannot tell from its neighbours."""
    if not re.search(rb"\d{16}", rows):
        return False
    column = str(sheet.names.index(str(recipe.label)))
    table = inferred_cells(
        rows,
        sheet.delimiter,
        len(sheet.names),
        include_columns=[column],
        column_types={column: arrow_type(None)},
    )
    whole = re.compile(r" *[+-]?\d+ *")
    labels = (cell for cell in table[0].unique().to_pylist() if cell and whole.fullmatch(cell))
    return any(abs(int(label)) >= LARGEST_LABEL for label in labels)


class NumberTable(Lines):
    """A table of numbers only, dense."""

    ignored = "Missing numbers count as 0."

    def __init__(self, source: Source, recipe: Recipe, options: Options, sheet: Sheet) -> None:
        super().__init__(source, recipe, options)
        self.sheet, self.skip = sheet, sheet.skip
        features = [name for name, _ in recipe.columns or ()]
        self.width = len(features)
        self.vocabulary.known.update((k, (str, name)) for k, name in enumerate(features))
        self.places = np.full(len(sheet.names), self.width)
        self.places[[position(name, sheet.names, source) for name in features]] = range(self.width)
        label = label_position(recipe, sheet.names, source, options)
        self.labelled = label is not None
        if label is not None:
            self.places[label] = -1

    def room(self, size: int) -> Room:
        """There may be more rows than these, if cells are short or missing."""
        rows = size // (2 * len(self.places)) + 1
        values = np.empty(rows * self.width, self.options.dtype)
        return Room(np.empty(rows), None, CSRBuffer(values, values[:0], values[:0]), None)

    def parse(self, data: np.ndarray, progress: Cursor, out: Room) -> Cursor:
        """Call the kernel."""
        delimiter, values = ord(self.sheet.delimiter), out.block.values
        return Cursor(
            *lines.table(
                data, len(data), progress, delimiter, self.places, out.labels, values, self.width
            )
        )

    def finished(
        self, data: np.ndarray, progress: Cursor, out: Room
    ) -> Iterator[tuple[slice, Rows]]:
        """What the kernel has filled, as rows."""
        if progress.rows:
            values = out.block.values[: progress.values]
            yield slice(progress.rows), rows_of(values.reshape(progress.rows, self.width))

    def complaint(self, data: np.ndarray, progress: Cursor) -> tuple[Any, str]:
        """The name of the column where a row is broken, and why."""
        delimiter = self.sheet.delimiter.encode()
        before = bytes(data[progress.at : progress.where])
        name, sentence = self.sheet.names[before.count(delimiter)], REASONS[progress.error]
        if progress.error == lines.VALUE:
            begin = progress.at + before.rfind(delimiter) + 1
            cell = re.split(rb"[\n%b]" % delimiter, bytes(data[begin : begin + 99]))[0]
            shown = cell.decode(errors="replace").strip()[:40]
            sentence = f"{shown!r} is not a number" + self.options.remedy(name)
        return repr(name), sentence

    def label_column(self) -> Any:
        """Where the label is."""
        return repr(self.recipe.label)


def label_position(
    recipe: Recipe, names: list[str], source: Source, options: Options
) -> int | None:
    """Where the label is, if there is one."""
    label = recipe.label
    if label is None or label is False or (label not in names and not options.label_needed):
        return None
    return position(label, names, source)


# Tables that hold words, through Arrow.


class BrokenCellError(ValueError):
    """A cell that cannot be used: its column, and why."""


class Decoded(NamedTuple):
    """Columns as a kernel takes them: numbers, or the bytes of strings and where each begins."""

    labels: np.ndarray | None
    columns: list[Any]
    rows: int


class ArrowTable(Form):
    """Columns of numbers, categories and text; dense if they are all numbers, else hashed."""

    def __init__(self, source: Source, recipe: Recipe, options: Options, names: list[str]) -> None:
        self.hashed = recipe.bits is not None
        super().__init__(source, recipe, options)
        self.columns = [(name, kind) for name, kind in recipe.columns or ()]
        features = [name for name, _ in self.columns]
        self.width = 1 << recipe.bits if recipe.bits else len(features)
        self.pairs = cross_pairs(recipe, lambda name: position(name, features, source))
        self.salts = [np.uint64(salt(name)) for name in features]
        self.wanted = [position(name, names, source) for name in features]
        self.label = label_position(recipe, names, source, options)
        for number, (name, kind) in enumerate(self.columns):
            if not self.hashed:
                self.vocabulary.known[number] = (str, name)
            elif kind == "number":
                self.vocabulary.keep(int(self.salts[number] & self.mask), name)

    def decoded(self, table: Any) -> Decoded:
        """The columns of an Arrow table: those wanted, and then the label."""
        columns = [column.combine_chunks() for column in table.columns]
        decoded = [
            self.numbers(column, name) if kind == "number" else strings(column)
            for column, (name, kind) in zip(columns, self.columns, strict=False)
        ]
        labels = None if self.label is None else self.labels(columns[-1])
        return Decoded(labels, decoded, len(table))

    def numbers(self, column: Any, name: str) -> np.ndarray:
        """A column of numbers; a missing one is NaN."""
        try:
            numbers = numbers_in(column.cast(arrow_type(self.options.dtype), safe=False))
        except ValueError:
            word = str(column[0])[:40]  # of one row, once the broken one is found
            remedy = self.options.remedy(name)
            raise BrokenCellError(name, f"{word!r} is not a number{remedy}") from None
        if np.isinf(numbers).any():
            raise BrokenCellError(name, REASONS[lines.VALUE_TOO_LARGE])
        return read_only(numbers)

    def labels(self, column: Any) -> np.ndarray:
        """The labels, as numbers or strings."""
        labels: np.ndarray
        if self.recipe.label_kind == "number":
            labels = exact_numbers(column)
            good = np.isfinite(labels).all()
            if good and labels.dtype.kind == "f" and np.any(np.abs(labels) >= LARGEST_LABEL):
                raise BrokenCellError(self.recipe.label, LONG_LABEL)
        else:
            coded = as_words(column).dictionary_encode()
            classes = coded.dictionary.to_pylist()
            good = not coded.null_count and "" not in classes
            labels = np.array(classes, object)[numbers_in(coded.indices)] if good else np.empty(0)
        if not good:
            raise BrokenCellError(self.recipe.label, "the label is missing or not finite")
        return labels

    def batches_of(self, decoded: Decoded, taken: int, lines: int) -> Iterator[Batch]:
        """The rows of decoded columns."""
        if not decoded.rows:
            return
        labels = decoded.labels
        rows = self.hashed_rows(decoded) if self.hashed else self.dense_rows(decoded)
        for some, part in rows:
            some_labels = None if labels is None else labels[some]
            yield Batch(part, some_labels, None, self.width, taken, lines)

    def dense_rows(self, decoded: Decoded) -> Iterator[tuple[slice, Rows]]:
        """Numbers side by side."""
        matrix = np.empty((decoded.rows, self.width), self.options.dtype)
        for j, column in enumerate(decoded.columns):
            matrix[:, j] = column
        missing = np.isnan(matrix)
        if missing.any():
            matrix[missing] = 0
            self.notices[NumberTable.ignored] = None
        yield slice(decoded.rows), rows_of(matrix)

    def hashed_rows(self, decoded: Decoded) -> Iterator[tuple[slice, Rows]]:
        """The features of all columns one after the other, and their products."""
        blocks = [self.block(*column) for column in enumerate(decoded.columns)]
        if self.pairs is None and len(blocks) == 1:
            yield slice(decoded.rows), rows_of_block(blocks[0], decoded.rows)
            return
        block, groups = joined(blocks, self.options.dtype)
        if self.pairs is None:
            yield slice(decoded.rows), rows_of_block(block, decoded.rows)
            return
        groups *= np.uint16(not self.recipe.pairs)
        for some, part in self.crossed(block, groups, self.pairs):
            yield some, rows_of_block(part, len(part.starts) - 1)

    def block(self, number: int, column: Any) -> CSRBuffer:
        """The features of one column."""
        (name, kind), seed, dtype = self.columns[number], self.salts[number], self.options.dtype
        names = self.vocabulary.room
        if kind == "number":
            out = room(len(column), len(column), dtype)
            words.numbers(column, 0, 0, np.uint32(seed & self.mask), out)
            return out
        data, offsets = column
        rows = len(offsets) - 1
        if kind == "category":
            out = room(rows, rows, dtype)
            words.categories(data, offsets, 0, 0, seed, self.mask, out, names)
        else:
            shortest, longest = self.recipe.ngrams
            grams = Grams(shortest, longest, self.recipe.characters, False, True, seed, self.mask)
            size = int(offsets[-1] - offsets[0])
            most = size if grams.characters else (size + rows) // 3  # words of two letters
            out = room(rows, most * (longest - shortest + 1), dtype)
            words.text(data, offsets, 0, 0, grams, out, names)
        spell = as_words_alone if kind == "text" and not self.recipe.characters else as_it_is
        view = memoryview(data)
        self.vocabulary.learn(lambda begin, end: (cell_name, name, spell, bytes(view[begin:end])))
        return out


def salt(name: str) -> int:
    """Where the hashes of a column begin."""
    return int(words.salt(np.array([*name.encode()], np.uint8)))


def arrow_type(dtype: np.dtype | None) -> Any:
    """Arrow's type for numbers, or for strings."""
    import pyarrow

    return pyarrow.string() if dtype is None else pyarrow.from_numpy_dtype(dtype)


def exact_numbers(column: Any) -> np.ndarray:
    """A column of numbers: integers as they are, others and missing ones as floats."""
    from pyarrow import types

    whole = types.is_integer(column.type) and not column.null_count
    return numbers_in(
        column if whole else column.cast(arrow_type(np.dtype(np.float64)), safe=False)
    )


def as_words(column: Any) -> Any:
    """A column as strings; truth values are spelt as Python does, and as pandas writes CSV."""
    from pyarrow import compute, types

    if types.is_boolean(column.type):
        return compute.if_else(column, "True", "False")
    return column.cast(arrow_type(None))


def kind_of(kind: Any) -> str:
    """What a column of some Arrow type becomes, or nothing."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    number = types.is_integer, types.is_floating, types.is_decimal, types.is_null
    string = types.is_string, types.is_large_string, types.is_string_view
    if types.is_boolean(kind):
        return "boolean"
    if any(is_kind(kind) for is_kind in number):
        return "number"
    return "category" if any(is_kind(kind) for is_kind in string) else ""


def strings(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of strings, and where each begins; a missing one is empty."""
    column = as_words(column)
    if column.null_count:
        column = column.fill_null("")
    _, offsets, data = column.buffers()
    data = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    offsets = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return read_only(data), read_only(offsets)


def as_it_is(name: bytes) -> str:
    """How a category or some characters are spelt."""
    return name.decode(errors="replace")


def cell_name(column: str, spell: Callable[[bytes], str], cell: bytes) -> str:
    """The name of what stands in a cell."""
    return f"{column}={spell(cell)}"


def as_words_alone(name: bytes) -> str:
    """How words are spelt: without what is between them."""
    return " ".join(re.findall(r"\w+", name.decode(errors="replace").lower()))


def joined(blocks: list[CSRBuffer], dtype: np.dtype) -> tuple[CSRBuffer, np.ndarray]:
    """The rows of several blocks side by side, and of which block each value is."""
    starts = np.add.reduce([block.starts for block in blocks])
    values = int(starts[-1])
    out = CSRBuffer(np.empty(values, dtype), np.empty(values, np.uint32), starts)
    groups, ends = np.empty(values, np.uint16), starts[:-1].copy()
    for group, block in enumerate(blocks):
        words.append(block, group, ends, out, groups)
    return out, groups


def without_broken(
    rows: int, decode: Callable[[int, int], Decoded], skip: Callable[[int], None]
) -> Iterator[Decoded]:
    """The rows 0 to rows decoded, in as few parts as the broken ones that are skipped allow."""
    first = 0
    while first < rows:
        try:
            yield decode(first, rows)
            return
        except ValueError:
            bad, beyond = first, rows
            while beyond - bad > 1:  # the first broken row is from bad on and before beyond
                middle = (bad + beyond) // 2
                try:
                    decode(bad, middle)
                    bad = middle
                except ValueError:
                    beyond = middle
        if bad > first:
            yield decode(first, bad)
        skip(bad)
        first = bad + 1


class CellTable(ArrowTable):
    """A CSV or TSV file with words in it."""

    def __init__(self, source: Source, recipe: Recipe, options: Options, sheet: Sheet) -> None:
        super().__init__(source, recipe, options, sheet.names)
        self.sheet, self.skip = sheet, sheet.skip
        kinds = [kind for _, kind in self.columns]
        self.include = self.wanted
        if self.label is not None:
            kinds, self.include = [*kinds, "label"], [*self.wanted, self.label]
        number = arrow_type(options.dtype)
        label = arrow_type(np.dtype(np.float64) if recipe.label_kind == "number" else None)
        types = {"number": number, "label": label}
        self.types = [types.get(kind, arrow_type(None)) for kind in kinds]

    def batches(self, place: Place) -> Generator[Batch]:
        """All rows from the beginning."""
        lengths = self.recipe.ngrams[1] - self.recipe.ngrams[0] + 1
        size = self.options.batch_bytes // (lengths if self.recipe.characters else 1) + 1
        with self.opened(place) as stream:
            for data in pieces(stream, size, self.end_of_rows, place):
                lines = place.lines + int(np.count_nonzero(data == NEWLINE))
                for decoded in self.decoded_cells(data, place):
                    yield from self.batches_of(decoded, stream.taken, lines)
                place.lines = lines

    def end_of_rows(self, buffer: bytearray, filled: int) -> int:
        """Where the last whole row ends."""
        if buffer.find(b'"', 0, filled) < 0:
            return last_newline(buffer, filled)
        ends = row_ends(memoryview(buffer)[:filled], self.sheet.delimiter)
        return int(ends[-1]) if len(ends) else 0

    def decoded_cells(self, data: np.ndarray, place: Place) -> Iterator[Decoded]:
        """The cells of whole rows, without those that are broken."""
        try:
            yield self.decode(data)
            return
        except ValueError:
            ends = row_ends(data, self.sheet.delimiter)
        edges = np.unique([0, *ends, len(data)])  # a mark that is never closed hides the last end

        def decode(first: int, stop: int) -> Decoded:
            return self.decode(data[edges[first] : edges[stop]])

        def skip(row: int) -> None:
            before = int(np.count_nonzero(data[: edges[row]] == NEWLINE))
            column, sentence = self.complaint(data[edges[row] : edges[row + 1]])
            place.skip(place.lines + before + 1, column, sentence)

        yield from without_broken(len(edges) - 1, decode, skip)

    def decode(self, data: np.ndarray) -> Decoded:
        """The columns of some rows."""
        if not data.all():
            raise ValueError(REASONS[lines.NUL])
        include = [str(number) for number in self.include]
        types = dict(zip(include, self.types, strict=True))
        table = parsed_cells(
            data,
            self.sheet.delimiter,
            len(self.sheet.names),
            include_columns=include,
            column_types=types,
        )
        return self.decoded(table)

    def complaint(self, row: np.ndarray) -> tuple[str, str]:
        """The column where a row is broken, and why."""
        try:
            self.decode(row)
        except BrokenCellError as broken:
            column, sentence = broken.args
            return repr(column), sentence
        except ValueError as error:
            problem = str(error)
        if not row.all():
            return str(row.argmin() + 1), REASONS[lines.NUL]
        try:
            text = bytes(row).decode()
        except UnicodeDecodeError as error:
            return str(error.start + 1), "the bytes are not UTF-8"
        cells = cells_of(text, self.sheet.delimiter)
        names = self.sheet.names
        if len(cells) != len(names):
            return str(len(row)), f"the row has {len(cells)} cells instead of {len(names)}"
        for number, kind in zip(self.include, self.types, strict=True):
            cell = cells[number]
            if kind != arrow_type(None) and not is_number(cell):
                remedy = self.options.remedy(names[number])
                return repr(names[number]), f"{cell[:40]!r} is not a number{remedy}"
        return "1", problem


def parsed_cells(
    data: Any, delimiter: str, width: int, lenient: bool = False, **conversion: Any
) -> Any:
    """The cells of whole rows as an Arrow table whose columns are called by number."""
    import pyarrow
    from pyarrow import csv as arrow

    if bytes(data[: len(BOM)]) == BOM:
        data = b"\n" + bytes(data)  # the file's own was passed over; Arrow would drop this one

    def parse(**block: int) -> Any:
        return arrow.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(data)),
            arrow.ReadOptions(column_names=[str(j) for j in range(width)], **block),
            arrow.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=bool(np.any(np.frombuffer(data, np.uint8) == MARKS)),
                invalid_row_handler=(lambda row: "skip") if lenient else None,
            ),
            arrow.ConvertOptions(null_values=lines.MISSING, **conversion),
        )

    try:
        return parse()
    except pyarrow.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
        return parse(block_size=len(data) + 1)  # a row is longer than Arrow's usual block


def inferred_cells(data: bytes, delimiter: str, width: int, **conversion: Any) -> Any:
    """The cells of whole rows, of the types that suit them; rows of another width are left out."""
    data = data.decode(errors="replace").encode()  # rows that are left out must be UTF-8 too
    words: dict[str, Any] = {"true_values": [], "false_values": []}
    return parsed_cells(data, delimiter, width, lenient=True, **words, **conversion)


class DatasetTable(ArrowTable):
    """Parquet or Arrow files."""

    unit = "row"
    batch_rows = 1 << 14

    def __init__(self, source: Source, format: str, recipe: Recipe, options: Options) -> None:  # noqa: A002
        from pyarrow import dataset

        self.copy: Any = None  # a file that Arrow can read, of one that it cannot
        files = source.files if is_plain(source) else [self.copied(source)]
        arrow_format = {"arrow": "ipc"}.get(format, format)
        try:
            self.dataset = dataset.dataset(files, format=arrow_format)
            self.count = self.dataset.count_rows()
        except (ValueError, OSError) as error:
            raise unreadable(source, files, arrow_format) from error
        schema = self.dataset.schema
        kinds = options.kinds(schema.names, [kind_of(kind) for kind in schema.types], source)
        recipe = settle(form_of(recipe, "table", source), schema.names, kinds, source)
        super().__init__(source, recipe, options, schema.names)
        for number in [*self.wanted, *([] if self.label is None else [self.label])]:
            if not kinds[number]:
                raise ValueError(
                    f"{source.name}: the column {schema.names[number]!r} is neither numbers nor "
                    f"strings, but {schema.types[number]}; cast it to one of them."
                )
        for name, kind in zip(schema.names, kinds, strict=True):
            if not kind:
                self.notices[f"The column {name!r} is neither numbers nor strings: not used."] = (
                    None
                )

    def copied(self, source: Source) -> str:
        """A decompressed copy that lives as long as this does."""
        if not source.head(6).startswith((b"PAR1", b"ARROW1", b"FEA1")):  # it may be endless
            raise ValueError(f"{source.name} is neither Parquet nor Arrow.")
        self.copy = tempfile.NamedTemporaryFile()  # noqa: SIM115
        with source.open() as stream:
            shutil.copyfileobj(stream, self.copy, PIECE)
        self.copy.flush()
        return str(self.copy.name)

    def batches(self, place: Place) -> Generator[Batch]:
        """All rows from the beginning."""
        import pyarrow

        names = self.dataset.schema.names
        include = self.wanted if self.label is None else [*self.wanted, self.label]
        scanned = self.dataset.to_batches(
            columns=[names[number] for number in include],
            batch_size=self.batch_rows,
            batch_readahead=2,
            fragment_readahead=1,
        )
        for batch in self.intact(scanned, place):
            table = pyarrow.Table.from_batches([batch])
            step = max(1, len(table) * self.options.batch_bytes // max(1, table.nbytes))
            for first in range(0, len(table), step):
                part = table.slice(first, step)
                for decoded in self.good(part, place):
                    place_after = place.lines + len(part)
                    taken = (self.source.size or 0) * place_after // max(1, self.count)
                    yield from self.batches_of(decoded, taken, place_after)
                place.lines += len(part)

    def intact(self, scanned: Iterator[Any], place: Place) -> Iterator[Any]:
        """What Arrow reads, or a sentence where it cannot go on."""
        while True:
            try:
                batch = next(scanned, None)
            except (ValueError, OSError) as error:
                raise ValueError(
                    f"{place.name}, after row {place.lines}: the file is damaged, or its columns "
                    "are of other types than those of the first file."
                ) from error
            if batch is None:
                return
            yield batch

    def good(self, table: Any, place: Place) -> Iterator[Decoded]:
        """The rows that are not broken."""

        def decode(first: int, stop: int) -> Decoded:
            return self.decoded(table.slice(first, stop - first))

        def skip(row: int) -> None:
            try:
                decode(row, row + 1)
            except BrokenCellError as broken:
                place.skip(place.lines + row + 1, repr(broken.args[0]), broken.args[1])

        yield from without_broken(len(table), decode, skip)


def unreadable(source: Source, files: list[str], arrow_format: str) -> ValueError:
    """What to say of files that Arrow cannot read: which, and why as far as one can tell."""
    from pyarrow import dataset

    for file in files:
        name = file if len(files) > 1 else source.name
        if not os.path.getsize(file):
            return ValueError(f"{name} is empty.")
        try:
            dataset.dataset([file], format=arrow_format).count_rows()
        except (ValueError, OSError):
            kind = {"ipc": "arrow"}.get(arrow_format, arrow_format)
            return ValueError(f"{name} cannot be read as {kind}: it is damaged or something else.")
    return ValueError(f"The columns of the files of {source.name} do not go together.")


def is_plain(source: Source) -> bool:
    """Whether files can be read where they are: not a stream, and not compressed as a whole."""
    if source.file is not None:
        return False
    with source.open() as stream:
        return len(source.files) > 1 or stream.source is None

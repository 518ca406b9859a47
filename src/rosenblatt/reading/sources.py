"""Sources of bytes: files, folders, pipes and streams, decompressed and cut at whole rows."""

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import re
import select
import sys
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..disk import explain_errors
from ..parameters import InputError, ParameterError

LONGEST_ROW = 64 << 20
WAIT = 0.1  # seconds, after which a pipe may be left
NEWLINE = ord("\n")
RECODED = 1 << 20  # bytes at once
TAIL = 1 << 16  # bytes in which most last lines begin, and that are looked at together


def file_error(code: str, name: str, what: str, **where: Any) -> InputError:
    """Return the error of a file: its name, and what is wrong with it."""
    return InputError(f"{name} {what}.", code=code, file=name, **where)


class Source:
    """A file, several files, standard input or an open file."""

    files: list[str]
    encoding: str | None = None
    size: int | None = None
    is_folder = False
    file: Any = None  # one that is open already
    start: int | None = None  # where it stood, if it can go back there
    stream: "ByteStream | None" = None  # of what cannot be opened again
    spent = False
    known_head: tuple[int, bytes] = 0, b""  # how much was asked for, and what came

    def __init__(self, path: Any, encoding: str | None = None) -> None:
        several = isinstance(path, Sequence) and not isinstance(path, str)
        if isinstance(path, io.TextIOBase):
            raise InputError("The file must be opened in binary mode.", code="text-mode")
        self.files, self.encoding = [], find_encoding(encoding)
        if path == "-":
            self.name, self.file = "standard input", sys.stdin.buffer
        elif hasattr(path, "read"):
            self.name, self.file = str(getattr(path, "name", "the stream")), path
        else:
            names = [os.fsdecode(each) for each in path] if several else [os.fsdecode(path)]
            self.name = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
            for name in names:
                with explain_errors(name, "read"):
                    self.find_files(name)
        if self.file is not None and self.file.seekable():
            self.start = self.file.tell()
        elif os.name == "posix" and isinstance(getattr(self.file, "raw", self.file), io.FileIO):
            self.file = Pipe(self.file)

    def find_files(self, name: str) -> None:
        """Add the files that a name stands for, in order; a pipe or device is opened."""
        folder = os.path.isdir(name)
        if folder:
            found = sorted(glob.glob(os.path.join(glob.escape(name), "**"), recursive=True))
            left = re.compile(r"[/\\]_[^/\\]*$")  # by other programs
            found = [file for file in found if os.path.isfile(file) and not left.search(file)]
        else:
            found = [name] if os.path.exists(name) else sorted(glob.glob(name))
        if not found:
            raise FileNotFoundError(f"There is no file{' in' if folder else ''} {name}.")
        self.is_folder |= folder
        self.files += found
        if os.path.exists(name) and not (folder or os.path.isfile(name)):
            self.file = open(name, "rb", buffering=0)  # noqa: SIM115
            weakref.finalize(self, self.file.close)  # it may never be read to its end
        else:
            self.size = (self.size or 0) + sum(map(os.path.getsize, found))

    def select(self, is_wanted: Callable[[str], bool]) -> None:
        """Read only some of the files of a folder, if there are any of them."""
        if self.is_folder:
            self.files = list(filter(is_wanted, self.files)) or self.files
            self.size = sum(map(os.path.getsize, self.files))

    @property
    def rereadable(self) -> bool:
        """Whether the source can be read another time."""
        return self.file is None or self.start is not None

    @property
    def origin(self) -> list[list[Any]] | None:
        """The name, size and time of each file; None for streams and pipes."""
        if self.size is None:
            return None
        found = [(file, os.stat(file)) for file in self.files]
        return [[os.path.basename(file), stat.st_size, stat.st_mtime_ns] for file, stat in found]

    def leave(self) -> None:
        """End reads of a pipe that wait for bytes."""
        if isinstance(self.file, Pipe):
            self.file.left = True

    @property
    def names(self) -> list[str]:
        """The names of the files, or of what takes their place."""
        return self.files or [self.name]

    @contextmanager
    def open(self, place: int = 0) -> Iterator["ByteStream"]:
        """Open the bytes of a file from its beginning; what is opened here is closed afterwards."""
        if self.file is None:
            name = self.names[place]
            with explain_errors(name, "read"), open(self.files[place], "rb", buffering=0) as file:
                yield self.recode(decompress(name, file))
        elif self.start is not None:
            self.file.seek(self.start)
            yield self.recode(decompress(self.name, self.file))
        elif self.spent:
            what = "can be read only once; write it to a file first"
            raise file_error("read-once", self.name, what)
        else:
            self.spent = True
            yield self.stream or self.recode(decompress(self.name, self.file))

    def recode(self, stream: "ByteStream") -> "ByteStream":
        """Return a stream as UTF-8."""
        if self.encoding is None:
            return stream
        return ByteStream(stream.name, Recoded(stream, self.encoding), stream)

    def head(self, size: int) -> bytes:
        """Return the first bytes, which stay to be read; the source is opened for them once."""
        known, head = self.known_head
        if size > known:
            with self.open() as stream:
                head = stream.head(size)
                if self.spent:
                    self.stream, self.spent = stream, False
            self.known_head = size, head
        if not head:
            raise file_error("empty", self.name, "is empty")
        return head[:size]


class Stream(io.RawIOBase):
    """A stream whose next bytes may be known: ``kept``."""

    kept = b""

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def give(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes that are known; return how many."""
        count = min(len(self.kept), len(view))
        view[:count], self.kept = self.kept[:count], self.kept[count:]
        return count


class Pipe(Stream):
    """A pipe whose reads can be ended while they wait for bytes."""

    def __init__(self, file: Any) -> None:
        self.file = getattr(file, "raw", file)
        self.kept = b"" if file is self.file else file.read1()  # what was buffered
        self.left = False

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end or if left."""
        if self.kept:
            return self.give(view)
        while not self.left and not select.select([self.file], [], [], WAIT)[0]:
            pass
        return 0 if self.left else self.file.readinto(view) or 0


class ByteStream(Stream):
    """A stream with lookahead; ``taken`` counts the bytes consumed from the source."""

    def __init__(self, name: str, file: Any, source: "ByteStream | None" = None) -> None:
        self.name, self.file, self.source = name, file, source
        self.count, self.over = 0, False

    def head(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        with self.decompression():
            while len(self.kept) < size and (more := self.file.read(size - len(self.kept))):
                self.kept += more
        return self.kept[:size]

    def skip(self, size: int) -> None:
        """Skip some bytes."""
        self.count += len(self.head(size))
        self.kept = self.kept[size:]

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end."""
        if self.kept:
            count = self.give(view)
        else:
            with self.decompression():
                count = self.file.readinto(view) or 0
        self.count += count
        self.over = count == 0 < len(view)
        return count

    @contextmanager
    def decompression(self) -> Iterator[None]:
        """Turn errors of decompression into errors of the file."""
        try:
            yield
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if self.source is None:
                raise
            short = self.source.over  # more was asked for, and there was no more
            if short:
                what = "ends too early: its compressed data are cut short"
                raise file_error("cut-short", self.name, what) from error
            raise file_error("damaged", self.name, "has damaged compressed data") from error

    @property
    def taken(self) -> int:
        """The number of bytes consumed from the source."""
        return self.source.taken if self.source else self.count


def decompress(name: str, file: Any) -> ByteStream:
    """Open the bytes of a file, decompressed if it is compressed."""
    raw = ByteStream(name, file)
    if raw.head(4) in (b"PK\x03\x04", b"PK\x05\x06"):  # with files, and without
        raise file_error("zip", name, "is a zip archive; unpack it first")
    opened = next((open_ for mark, open_ in PACKINGS.items() if raw.head(6).startswith(mark)), None)
    return raw if opened is None else ByteStream(name, opened(raw), raw)


def decompress_with_arrow(raw: ByteStream, packing: str) -> Any:
    """Decompress a stream with Arrow."""
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(raw), packing)


PACKINGS: dict[bytes, Any] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda raw: decompress_with_arrow(raw, "zstd"),
    b"\x04\x22\x4d\x18": lambda raw: decompress_with_arrow(raw, "lz4"),
}
"""How to open compressed bytes, by what they begin with."""


class Recoded(Stream):
    """A stream of another encoding, block by block as UTF-8."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self.stream, self.encoding, self.over = stream, encoding, False
        self.decoder = codecs.getincrementaldecoder(encoding)()

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end."""
        while not self.kept and not self.over:
            more = self.stream.read(RECODED) or b""
            self.over = not more
            try:
                self.kept = self.decoder.decode(more, self.over).encode()
            except UnicodeDecodeError as error:
                what = f"has bytes that are not {self.encoding}"
                raise file_error("encoding", self.stream.name, what) from error
        return self.give(view)


def find_encoding(name: str | None) -> str | None:
    """Return the name of an encoding, or None if it is UTF-8."""
    try:
        found = codecs.lookup(name or "utf-8").name
        " ".encode(found)  # there are codecs that are none of text, such as hex
    except LookupError:
        raise ParameterError(
            f"encoding={name!r} is unknown; try latin-1.", code="encoding"
        ) from None
    return None if found == "utf-8" else found


class Location:
    """Where a pass is: the file, the lines before the current piece, and the rows left out."""

    def __init__(self, name: str, tolerated: int, unit: str) -> None:
        self.name, self.tolerated, self.unit = name, tolerated, unit
        self.lines = self.bad = self.unlabelled = 0
        self.rows = 0  # delivered or left out by a fold
        self.before = 0  # lines of the files before this one

    def enter(self, name: str, lines: int) -> None:
        """Go to the next file, and past the lines before its first row."""
        self.name, self.before = name, self.lines
        self.lines += lines

    def locate(self, line: int, error: InputError, more: str = "") -> InputError:
        """Return the error of a row with the place of the row in its message."""
        line += self.lines - self.before
        where = f"{self.name}, {self.unit} {line}, column {error.column!r}"
        return error.reword(f"{where}: {error}{more}.", file=self.name, line=line)

    def skip(self, line: int, error: InputError) -> None:
        """Leave a broken row out, or raise its error if there are too many."""
        if self.bad == self.tolerated:
            more = f"; {self.bad} rows before it were broken too" if self.bad else ""
            raise self.locate(line, error, more)
        self.bad += 1


def count_byte(data: np.ndarray, byte: int) -> int:
    """Count the places where a byte stands, in parts that stay in the processor's cache."""
    parts = (data[start : start + TAIL] for start in range(0, len(data), TAIL))
    return sum(int(np.count_nonzero(part == byte)) for part in parts)


def last_newline(data: np.ndarray) -> int:
    """Return where the last whole line ends."""
    for stop in range(len(data), 0, -TAIL):
        start = max(stop - TAIL, 0)
        at = data[start:stop].tobytes().rfind(b"\n")
        if at >= 0:
            return start + at + 1
    return 0


def pieces(
    stream: ByteStream, size: int, end_of_rows: Callable[[np.ndarray], int], slots: int
) -> Iterator[np.ndarray | InputError]:
    """Yield whole rows, about ``size`` bytes at a time, or the error of a row that is too long.

    A piece is overwritten after as many pieces as there are slots.
    """
    buffers: dict[int, np.ndarray] = {}
    room, number, rest, more = size + 1, 0, np.empty(0, np.uint8), True
    while more:
        buffer, filled = buffers.get(number % slots, rest), len(rest)
        if len(buffer) != room:
            buffer = buffers[number % slots] = np.empty(room, np.uint8)
        buffer[:filled] = rest
        free = buffer.data[filled:-1]  # a byte is left for a last newline
        while len(free) and more:
            count = stream.readinto(free)
            free, filled, more = free[count:], filled + count, count > 0
        if not more and filled and buffer[filled - 1] != NEWLINE:
            buffer[filled] = NEWLINE
            filled += 1
        end = end_of_rows(buffer[:filled]) if more else filled
        if end > 0:
            yield buffer[:end]
            number += 1
        elif more and room > LONGEST_ROW:
            sentence = f"the row is longer than {LONGEST_ROW >> 20} MB"
            yield InputError(sentence, code="row-too-long", column=1)
            return
        elif more:
            room *= 2
        rest = buffer[end:filled].copy()

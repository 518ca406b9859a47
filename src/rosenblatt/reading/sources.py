"""Where bytes come from: files, folders, pipes and streams, decompressed and in whole rows."""

import glob
import gzip
import io
import os
import re
import select
import sys
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..disk import plain_errors

LONGEST_ROW = 64 << 20
WAIT = 0.1  # seconds, after which a pipe may be left
CACHE_ENDING = ".rosenblatt-cache"  # of the folders with parsed rows beside a file
NEWLINE = ord("\n")


class Source:
    """Something that can be opened: a file, several of them, standard input or an open file."""

    def __init__(self, path: Any) -> None:
        if isinstance(path, io.TextIOBase):
            raise ValueError("The file must be opened in binary mode.")
        self.files: list[str] = []
        self.size: int | None = None
        self.is_folder = False
        self.file: Any = None  # one that is open already
        self.start: int | None = None  # where it stood, if it can go back there
        self.stream: ByteStream | None = None  # of what cannot be opened again
        self.spent = False
        if path == "-":
            self.name, self.file = "standard input", sys.stdin.buffer
        elif hasattr(path, "read"):
            self.name, self.file = str(getattr(path, "name", "the stream")), path
        else:
            self.name = os.fsdecode(path)
            with plain_errors(self.name, "read"):
                self.find_files()
        if self.file is not None and self.file.seekable():
            self.start = self.file.tell()
        elif os.name == "posix" and isinstance(getattr(self.file, "raw", self.file), io.FileIO):
            self.file = Pipe(self.file)

    def find_files(self) -> None:
        """The files that the name stands for, in order, or a pipe or device, which is opened."""
        self.is_folder = os.path.isdir(self.name)
        if self.is_folder:
            found = sorted(glob.glob(os.path.join(glob.escape(self.name), "**"), recursive=True))
            left = re.compile(rf"[/\\]_[^/\\]*$|{CACHE_ENDING}[/\\]")  # by other programs, by us
            self.files = [file for file in found if os.path.isfile(file) and not left.search(file)]
        elif os.path.exists(self.name):
            self.files = [self.name]
        else:
            self.files = sorted(glob.glob(self.name))
        if not self.files:
            what = "There is no file in" if self.is_folder else "There is no file"
            raise FileNotFoundError(f"{what} {self.name}.")
        if os.path.exists(self.name) and not (self.is_folder or os.path.isfile(self.name)):
            self.file = open(self.name, "rb", buffering=0)  # noqa: SIM115
            weakref.finalize(self, self.file.close)  # it may never be read to its end
        else:
            self.size = sum(os.path.getsize(file) for file in self.files)

    @property
    def rereadable(self) -> bool:
        """Whether there can be another pass."""
        return self.file is None or self.start is not None

    def leave(self) -> None:
        """Wait for no more bytes of what can be read only once."""
        if isinstance(self.file, Pipe):
            self.file.left = True

    @contextmanager
    def open(self) -> Iterator["ByteStream"]:
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


class Pipe(io.RawIOBase):
    """A pipe that can be left while nobody writes to it."""

    def __init__(self, file: Any) -> None:
        self.file = getattr(file, "raw", file)
        self.first = b"" if file is self.file else file.read1()  # what was buffered
        self.left = False

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end or if left."""
        if self.first:
            count = min(len(self.first), len(view))
            view[:count], self.first = self.first[:count], self.first[count:]
            return count
        while not self.left and not select.select([self.file], [], [], WAIT)[0]:
            pass
        return 0 if self.left else self.file.readinto(view) or 0


class ByteStream(io.RawIOBase):
    """Bytes that can be looked at before they are taken; ``taken`` counts those of the source."""

    def __init__(self, name: str, file: Any, source: "ByteStream | None" = None) -> None:
        self.name, self.file, self.source = name, file, source
        self.kept, self.count, self.over = b"", 0, False

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
        self.over = count == 0 < len(view)
        return count

    @contextmanager
    def decompression(self) -> Iterator[None]:
        """Say in a sentence what cannot be decompressed."""
        try:
            yield
        except (EOFError, OSError, zlib.error) as error:
            if self.source is None:
                raise
            short = self.source.over  # more was asked for, and there was no more
            what = "end too early: the file is cut short" if short else "are damaged"
            raise ValueError(f"{self.name}: the compressed data {what}.") from error

    @property
    def taken(self) -> int:
        """How many bytes were taken of the source."""
        return self.source.count if self.source else self.count


def decompressed(name: str, file: Any) -> ByteStream:
    """The bytes of a file, decompressed if its first ones say so."""
    raw = ByteStream(name, file)
    if raw.head(2) == b"\x1f\x8b":
        return ByteStream(name, gzip.GzipFile(fileobj=raw), raw)
    if raw.head(4) == b"\x28\xb5\x2f\xfd":
        import pyarrow

        return ByteStream(name, pyarrow.CompressedInputStream(pyarrow.PythonFile(raw), "zstd"), raw)
    return raw


class Location:
    """Where a pass is: the lines before the bytes at hand, and how many broken rows it left out."""

    def __init__(self, name: str, tolerated: int, unit: str) -> None:
        self.name, self.tolerated, self.unit = name, tolerated, unit
        self.lines = self.bad = 0

    def error(self, line: int, column: Any, sentence: str) -> ValueError:
        """What to raise for something broken."""
        return ValueError(f"{self.name}, {self.unit} {line}, column {column}: {sentence}.")

    def skip(self, line: int, column: Any, sentence: str) -> None:
        """Leave a broken row out, or raise if there are too many."""
        if self.bad == self.tolerated:
            more = f"; {self.bad} rows before it were broken too" if self.bad else ""
            raise self.error(line, column, sentence + more)
        self.bad += 1


def last_newline(buffer: bytearray, filled: int) -> int:
    """Where the last whole line ends."""
    return buffer.rfind(b"\n", 0, filled) + 1


def pieces(
    stream: ByteStream, size: int, end_of_rows: Callable[[bytearray, int], int], location: Location
) -> Iterator[np.ndarray]:
    """Whole rows, about so many bytes at a time; each piece is overwritten by the next one."""
    buffer, filled, more = bytearray(size + 1), 0, True
    while more:
        free = memoryview(buffer)[filled:-1]  # a byte is left for a last newline
        while len(free) and more:
            count = stream.readinto(free)
            free, filled, more = free[count:], filled + count, count > 0
        if not more and filled and buffer[filled - 1] != NEWLINE:
            buffer[filled] = NEWLINE
            filled += 1
        end = end_of_rows(buffer, filled) if more else filled
        if end > 0:
            yield np.frombuffer(buffer, np.uint8, end)
        elif more and len(buffer) > LONGEST_ROW:
            longest = LONGEST_ROW >> 20
            raise location.error(location.lines + 1, 1, f"the row is longer than {longest} MB")
        rest = buffer[end:filled]
        if more and end == 0:
            buffer = bytearray(2 * len(buffer))
        filled = len(rest)
        buffer[:filled] = rest

"""Where bytes come from: files, folders, pipes and streams, decompressed and in whole rows."""

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
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..disk import explain_errors
from ..parameters import InputError, ParameterError

LONGEST_ROW = 64 << 20
WAIT = 0.1  # seconds, after which a pipe may be left
CACHE_ENDING = ".rosenblatt-cache"  # of the folders with parsed rows beside a file
NEWLINE = ord("\n")
BLANKS = " "  # stands for any run of blanks between cells
TRANSLATED = 1 << 20  # bytes at once


class Source:
    """Something that can be opened: a file, several of them, standard input or an open file."""

    def __init__(self, path: Any, encoding: str | None = None) -> None:
        several = isinstance(path, Sequence) and not isinstance(path, str)
        if isinstance(path, io.TextIOBase):
            raise InputError("The file must be opened in binary mode.", code="text-mode")
        self.encoding = other_encoding(encoding)
        self.blanks = False  # whether runs of blanks are to become tabs
        self.files: list[str] = []
        self.size: int | None = None
        self.is_folder = False
        self.file: Any = None  # one that is open already
        self.start: int | None = None  # where it stood, if it can go back there
        self.stream: ByteStream | None = None  # of what cannot be opened again
        self.spent = False
        self.misread: str | None = None  # an encoding that was stated for what looks like UTF-8
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
            left = re.compile(rf"[/\\]_[^/\\]*$|{CACHE_ENDING}[/\\]")  # by other programs, by us
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

    def select(self, files: list[str]) -> None:
        """Read only some of the files, if there are any of them."""
        self.files = files or self.files
        self.size = sum(map(os.path.getsize, self.files))

    @property
    def rereadable(self) -> bool:
        """Whether there can be another pass."""
        return self.file is None or self.start is not None

    @property
    def origin(self) -> list[list[Any]] | None:
        """The name, size and time of each file; None for what is no file."""
        if self.size is None:
            return None
        found = [(file, os.stat(file)) for file in self.files]
        return [[os.path.basename(file), stat.st_size, stat.st_mtime_ns] for file, stat in found]

    def leave(self) -> None:
        """Wait for no more bytes of what can be read only once."""
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
                yield self.translated(decompressed(name, file, 0))
        elif self.start is not None:
            self.file.seek(self.start)
            yield self.translated(decompressed(self.name, self.file, self.start))
        elif self.spent:
            raise InputError(
                f"{self.name} can be read only once; write it to a file first.",
                code="read-once",
                file=self.name,
            )
        else:
            self.spent = True
            yield self.stream or self.translated(decompressed(self.name, self.file, None))

    def translated(self, stream: "ByteStream") -> "ByteStream":
        """The bytes in UTF-8, with single tabs where there are runs of blanks between cells."""
        if self.encoding is not None:
            recoding = Recoding(stream.name, self.encoding)
            if looks_like_utf8(stream.head(TRANSLATED), self.encoding):
                self.misread = self.encoding
            stream = ByteStream(stream.name, Translated(stream, recoding), stream)
        return with_tabs(stream) if self.blanks else stream

    def divide_at_blanks(self) -> None:
        """Have runs of blanks between cells become tabs."""
        self.blanks = True
        if self.stream is not None:  # what cannot be opened again, and was looked at
            self.stream = with_tabs(self.stream)

    def head(self, size: int) -> bytes:
        """The first bytes, which will still be there to read."""
        with self.open() as stream:
            head = stream.head(size)
            if self.spent:
                self.stream, self.spent = stream, False
        if not head:
            raise InputError(f"{self.name} is empty.", code="empty", file=self.name)
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
        except (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            if self.source is None:
                raise
            short = self.source.over  # more was asked for, and there was no more
            what = "end too early: the file is cut short" if short else "are damaged"
            raise InputError(
                f"{self.name}: the compressed data {what}.",
                code="cut-short" if short else "damaged",
                file=self.name,
            ) from error

    @property
    def taken(self) -> int:
        """How many bytes were taken of the source."""
        return self.source.taken if self.source else self.count


def decompressed(name: str, file: Any, start: int | None) -> ByteStream:
    """The bytes of a file, decompressed if its first ones say so; start is where it can go back."""
    raw = ByteStream(name, file)
    if raw.head(4) in (b"PK\x03\x04", b"PK\x05\x06"):  # with files, and without
        if start is None:
            raise InputError(
                f"{name} is a zip archive, which cannot be read from a pipe; unpack it first.",
                code="zip-in-pipe",
                file=name,
            )
        file.seek(start)
        counted = ZippedBytes(name, file)
        return ByteStream(name, only_member(name, file), counted)
    opened = next((open_ for mark, open_ in PACKINGS.items() if raw.head(6).startswith(mark)), None)
    return raw if opened is None else ByteStream(name, opened(raw), raw)


def through_arrow(raw: ByteStream, packing: str) -> Any:
    """What Arrow decompresses."""
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(raw), packing)


PACKINGS: dict[bytes, Any] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": lambda raw: through_arrow(raw, "zstd"),
    b"\x04\x22\x4d\x18": lambda raw: through_arrow(raw, "lz4"),
}
"""How to open compressed bytes, by what they begin with."""


class ZippedBytes(ByteStream):
    """How far the members of an archive were read."""

    @property
    def taken(self) -> int:
        """How many bytes were taken of the archive."""
        return int(self.file.tell())


def only_member(name: str, file: Any) -> Any:
    """The one file of a zip archive, opened."""
    try:
        archive = zipfile.ZipFile(file)
        members = [
            member.filename
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith("__MACOSX/")
        ]
        if len(members) == 1:
            return archive.open(members[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"{name}: the zip archive is damaged or locked.", code="damaged", file=name
        ) from error
    what = f"holds {len(members)} files" if members else "is a zip archive without a file"
    raise InputError(
        f"{name} {what}; expected one file. Unpack it first.", code="zip-members", file=name
    )


class Translated(io.RawIOBase):
    """The bytes of a stream after a translation of some at a time, which is told of the end."""

    def __init__(self, stream: ByteStream, translate: Callable[[bytes, bool], bytes]) -> None:
        self.stream, self.translate, self.rest, self.over = stream, translate, b"", False

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, view: Any) -> int:
        """Fill the beginning of a view with the next bytes; how many, 0 at the end."""
        while not self.rest and not self.over:
            more = self.stream.read(TRANSLATED) or b""
            self.over = not more
            self.rest = self.translate(more, self.over)
        count = min(len(self.rest), len(view))
        view[:count], self.rest = self.rest[:count], self.rest[count:]
        return count


class Recoding:
    """Bytes of some encoding become UTF-8."""

    def __init__(self, name: str, encoding: str) -> None:
        self.name, self.encoding = name, encoding
        self.decoder = codecs.getincrementaldecoder(encoding)()

    def __call__(self, data: bytes, last: bool) -> bytes:
        """The next bytes in UTF-8."""
        try:
            return self.decoder.decode(data, last).encode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name}: the bytes are not {self.encoding}.", code="encoding", file=self.name
            ) from error


def other_encoding(name: str | None) -> str | None:
    """An encoding that is not UTF-8, if one is named."""
    try:
        found = codecs.lookup(name or "utf-8").name
        " ".encode(found)  # there are codecs that are none of text, such as hex
    except LookupError:
        raise ParameterError(
            "{encoding} is unknown; try latin-1.", code="encoding", encoding=name
        ) from None
    return None if found == "utf-8" else found


def looks_like_utf8(head: bytes, encoding: str) -> bool:
    """Whether bytes that are said to be of another encoding are UTF-8 and more than ASCII.

    By chance they hardly are: in Latin-1, é would have to follow Ã, and nothing else stand alone.
    """
    if head.isascii() or encoding.startswith(("utf", "ascii")):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


class Tabs:
    """Runs of blanks within whole lines become single tabs."""

    def __init__(self) -> None:
        self.begun = b""

    def __call__(self, data: bytes, last: bool) -> bytes:
        """The lines that are whole by now, translated."""
        data = self.begun + data
        end = len(data) if last else data.rfind(b"\n") + 1
        self.begun = data[end:]
        trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data[:end])
        return re.sub(rb"[ \t]+", b"\t", trimmed)


def with_tabs(stream: ByteStream) -> ByteStream:
    """A stream whose cells are divided by blanks, divided by tabs."""
    return ByteStream(stream.name, Translated(stream, Tabs()), stream)


class Location:
    """Where a pass is: the file, the lines before the current piece, and the rows left out."""

    def __init__(self, name: str, tolerated: int, unit: str) -> None:
        self.name, self.tolerated, self.unit = name, tolerated, unit
        self.lines = self.bad = self.unlabelled = 0
        self.before = 0  # lines of the files before this one

    def enter(self, name: str, lines: int) -> None:
        """Go to the next file, and past the lines before its first row."""
        self.name, self.before = name, self.lines
        self.lines += lines

    def locate(self, line: int, error: InputError, more: str = "") -> InputError:
        """Return the error of a row with the place of the row in its message."""
        line += self.lines - self.before
        where = f"{self.name}, {self.unit} {line}, column {error.column!r}"
        return error.reword(f"{where}: {error.template}{more}.", file=self.name, line=line)

    def skip(self, line: int, error: InputError) -> None:
        """Leave a broken row out, or raise its error if there are too many."""
        if self.bad == self.tolerated:
            more = f"; {self.bad} rows before it were broken too" if self.bad else ""
            raise self.locate(line, error, more)
        self.bad += 1


def last_newline(buffer: bytearray, filled: int) -> int:
    """Where the last whole line ends."""
    return buffer.rfind(b"\n", 0, filled) + 1


def pieces(
    stream: ByteStream, size: int, end_of_rows: Callable[[bytearray, int], int], slots: int
) -> Iterator[np.ndarray | InputError]:
    """Yield whole rows, about ``size`` bytes at a time, or the error of a row that is too long.

    A piece is overwritten after as many pieces as there are slots.
    """
    buffers: dict[int, bytearray] = {}
    room, number, rest, more = size + 1, 0, bytearray(), True
    while more:
        buffer, filled = buffers.get(number % slots, rest), len(rest)
        if len(buffer) != room:
            buffer = buffers[number % slots] = bytearray(room)
        buffer[:filled] = rest
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
            number += 1
        elif more and room > LONGEST_ROW:
            sentence = f"the row is longer than {LONGEST_ROW >> 20} MB"
            yield InputError(sentence, code="row-too-long", column=1)
            return
        elif more:
            room *= 2
        rest = buffer[end:filled]

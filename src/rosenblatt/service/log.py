"""The log: every example in order, on disk before it is acknowledged.

One SQLite database with one table. Row n is the n-th example; a row may hold a model file, too: the
model after it. Row 0 is the model that the log began with, so that the log is complete by itself.
Each row has a checksum, and a small file beside the database has the number of the last example
that was acknowledged: if the database loses rows, that is noticed.
"""

import os
import secrets
import sqlite3
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

FORMAT = 0x526F7331  # "Ros1", as SQLite's application_id
LARGEST_MODEL = 900 << 20  # bytes; SQLite holds up to a billion in a row
TABLE = """
CREATE TABLE examples (
    sequence INTEGER PRIMARY KEY,
    received REAL NOT NULL,
    example TEXT,
    model BLOB,
    checksum INTEGER
)"""
INDEX = "CREATE INDEX models ON examples (sequence) WHERE model IS NOT NULL"
INSERT = (
    "INSERT INTO examples (sequence, received, example, model, checksum) VALUES (?, ?, ?, ?, ?)"
)
ACKNOWLEDGED = struct.Struct("<QI")  # a sequence number and its checksum
PRIVATE = 0o600  # examples may be anything that people send


class LogError(OSError):
    """The log cannot be read or written at the moment; nothing was acknowledged."""


class Entry(NamedTuple):
    """An example of the log."""

    sequence: int
    text: str
    is_intact: bool = True


class Log:
    """The log of one model; one process writes it, any number may read.

    Attributes
    ----------
    path : Path
        The database.
    identity : int
        A number that the models of this log name, too.
    last : int
        The sequence number of the last example.
    lost : int
        How many acknowledged examples the database no longer has, as it was opened.
    """

    def __init__(self, path: Path, writes: bool) -> None:
        if not path.exists():
            raise FileNotFoundError(f"There is no log {path}.")
        self.path, self.writes = path, writes
        self.lock = locked(path) if writes else None
        self.connection: sqlite3.Connection | None = None
        self.beside: int | None = None
        try:
            with self.plainly("read"):
                self.open()
                self.check()
            self.lost = max(self.acknowledged() - self.last, 0)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: Path, model: bytes, sequence: int = 0) -> "Log":
        """A new log that begins with a model; it appears complete or not at all."""
        if len(model) > LARGEST_MODEL:
            raise ValueError(
                f"The model takes {len(model) >> 20:,} MB, and a log begins with one of at most "
                f"{LARGEST_MODEL >> 20:,} MB; use fewer bits."
            )
        for ending in ("-wal", "-shm"):
            rest = path.with_name(path.name + ending)
            if rest.exists():
                raise ValueError(
                    f"{rest} is left of an older log and would be mixed into a new one; move it "
                    "away, too."
                )
        temporary = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            if not path.parent.is_dir():
                raise LogError(f"{path} cannot be written (there is no folder {path.parent}).")
            with plainly(path, "written"):
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
                made = sqlite3.connect(temporary, isolation_level=None)
                made.execute("PRAGMA auto_vacuum=INCREMENTAL")
                made.execute("PRAGMA synchronous=FULL")
                made.execute("PRAGMA journal_mode=WAL")
                made.execute(f"PRAGMA application_id={FORMAT}")
                made.execute(f"PRAGMA user_version={secrets.randbits(31) or 1}")
                made.execute(TABLE)
                made.execute(INDEX)  # a log may have gigabytes, and a start is to be quick
                made.execute(INSERT, (sequence, time.time(), None, model, None))
                made.close()
                os.replace(temporary, path)
                acknowledged_path(path).unlink(missing_ok=True)
                sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
        return cls(path, writes=True)

    def open(self) -> None:
        """Connect to the database."""
        mode = "rw" if self.writes else "ro"
        address = f"file:{quote(str(self.path.resolve()))}?mode={mode}"
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False, timeout=5
        )
        self.connection = connection
        if self.writes:
            connection.execute("PRAGMA synchronous=FULL")
            with suppress(sqlite3.DatabaseError):  # it may be readable only, for now
                connection.execute("PRAGMA journal_mode=WAL")
                columns = [row[1] for row in connection.execute("PRAGMA table_info(examples)")]
                if columns and "checksum" not in columns:  # of version 0.2
                    connection.execute("ALTER TABLE examples ADD COLUMN checksum INTEGER")

    def check(self) -> None:
        """Refuse what is no log, and find its end."""
        try:
            (found,), (self.identity,) = (
                self.one(f"PRAGMA {name}") for name in ("application_id", "user_version")
            )
            if found != FORMAT:
                raise ValueError(f"{self.path} is not a log of rosenblatt.")
            end = self.one("SELECT sequence FROM examples ORDER BY sequence DESC LIMIT 1")
            columns = self.all("PRAGMA table_info(examples)")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise ValueError(f"{self.path} is not an intact log of rosenblatt ({error}).") from None
        if end is None:
            raise ValueError(f"{self.path} is not an intact log of rosenblatt (it is empty).")
        (self.last,) = end
        self.has_checksums = "checksum" in [row[1] for row in columns]

    def all(self, statement: str, *values: Any) -> list[Any]:
        """All rows of an answer."""
        assert self.connection is not None
        return self.connection.execute(statement, values).fetchall()

    def one(self, statement: str, *values: Any) -> Any:
        """The first row of an answer."""
        assert self.connection is not None
        return self.connection.execute(statement, values).fetchone()

    @contextmanager
    def plainly(self, action: str) -> Iterator[None]:
        """Say in a sentence what SQLite says in its own words."""
        with plainly(self.path, action):
            yield

    # Writing

    def append(self, texts: Sequence[str]) -> int:
        """Put examples on disk with one sync; the sequence number of the last of them.

        After an error none of them is in the log.
        """
        first, now = int(self.last) + 1, time.time()
        rows = [
            (number, now, text, None, crc32(text.encode()))
            for number, text in enumerate(texts, first)
        ]
        self.write(INSERT, rows)
        self.last = first + len(rows) - 1
        self.acknowledge(self.last)
        return int(self.last)

    def acknowledge(self, sequence: int) -> None:
        """Remember beside the database that it has all examples up to a number.

        The file is not synced: it may be behind after a loss of power, but never ahead.
        """
        number = sequence.to_bytes(8, "little")
        with plainly(self.path, "written"):
            if self.beside is None:
                flags = os.O_RDWR | os.O_CREAT
                self.beside = os.open(acknowledged_path(self.path), flags, PRIVATE)
            os.lseek(self.beside, 0, os.SEEK_SET)
            os.write(self.beside, ACKNOWLEDGED.pack(sequence, crc32(number)))

    def acknowledged(self) -> int:
        """The last example that is known to have been acknowledged, or 0."""
        try:
            data = acknowledged_path(self.path).read_bytes()
            sequence, check = ACKNOWLEDGED.unpack(data)
        except (OSError, struct.error):
            return 0
        return int(sequence) if crc32(int(sequence).to_bytes(8, "little")) == check else 0

    def reopen(self) -> None:
        """Connect again after an error, and look at what the database really has."""
        self.disconnect()
        with self.plainly("read"):
            self.open()
            self.check()

    def keep_model(self, sequence: int, model: bytes) -> None:
        """Keep the model after some example, from which the log can be replayed, too."""
        if len(model) > LARGEST_MODEL:
            return
        if self.one("SELECT 1 FROM examples WHERE sequence = ?", sequence):
            self.write("UPDATE examples SET model = ? WHERE sequence = ?", [(model, sequence)])
        else:  # what came before was lost, and the model is what remains of it
            self.write(INSERT, [(sequence, time.time(), None, model, None)])
            self.last = max(self.last, sequence)

    def last_kept(self) -> float:
        """When the example came after which the last model is kept."""
        with self.plainly("read"):
            (when,) = self.one(
                "SELECT received FROM examples WHERE model IS NOT NULL "
                "ORDER BY sequence DESC LIMIT 1"
            )
        return float(when)

    def trim(self, before: float) -> int:
        """Forget examples that came before some time and behind a kept model; how many."""
        (kept,) = self.one(
            "SELECT max(sequence) FROM examples WHERE model IS NOT NULL AND received < ?", before
        )
        if kept is None:
            return 0
        (count,) = self.one("SELECT count(*) FROM examples WHERE sequence < ?", kept)
        if count:
            self.write("DELETE FROM examples WHERE sequence < ?", [(kept,)])
            self.shrink()
        return int(count)

    def shrink(self) -> None:
        """Return the space of deleted examples to the file system."""
        with self.plainly("written"):
            if self.one("PRAGMA auto_vacuum")[0] != 2:  # a log of version 0.2
                self.all("PRAGMA auto_vacuum=INCREMENTAL")
                self.all("VACUUM")
            assert self.connection is not None
            self.connection.executescript("PRAGMA incremental_vacuum")  # execute stops at a page
            self.all("PRAGMA wal_checkpoint(TRUNCATE)")

    def write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """One transaction: all on disk, or nothing."""
        with self.plainly("written"):
            connection = self.connection
            if connection is None:
                raise LogError(f"{self.path} is to be read again after an error.")
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(statement, rows)
                connection.execute("COMMIT")
            except BaseException:
                self.disconnect()  # a new connection looks at what is really there
                raise

    # Reading

    def entries(self, after: int, until: int | None = None, size: int = 1000) -> Iterator[Any]:
        """The examples after a sequence number, in lists of so many; none may be missing."""
        assert self.connection is not None
        last = self.last if until is None else until
        while after < last:
            with self.plainly("read"):
                found = self.all(
                    f"SELECT sequence, example, {'checksum' if self.has_checksums else 'NULL'} "
                    "FROM examples WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?",
                    after,
                    last,
                    size,
                )
            wanted = range(after + 1, after + 1 + len(found))
            if not found or [row[0] for row in found] != list(wanted) or None in found[0][:2]:
                raise ValueError(f"{self.path} lacks the examples after number {after}.")
            yield [
                Entry(number, text, check is None or crc32(text.encode()) == check)
                for number, text, check in found
            ]
            after = found[-1][0]

    def models(self) -> list[int]:
        """After which examples there is a model."""
        assert self.connection is not None
        with self.plainly("read"):
            found = self.connection.execute(
                "SELECT sequence FROM examples WHERE model IS NOT NULL ORDER BY sequence"
            )
            return [int(number) for (number,) in found]

    def model(self, sequence: int) -> bytes:
        """The model file that is kept with an example."""
        with self.plainly("read"):
            return bytes(self.one("SELECT model FROM examples WHERE sequence = ?", sequence)[0])

    @property
    def size(self) -> int:
        """How many bytes it takes on disk."""
        beside = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())

    def disconnect(self) -> None:
        """Leave the database."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def close(self) -> None:
        """Leave the database and let others write."""
        self.disconnect()
        for descriptor in (self.lock, self.beside):
            if descriptor is not None:
                os.close(descriptor)
        self.lock = self.beside = None


@contextmanager
def plainly(path: Path, action: str) -> Iterator[None]:
    """Say in a sentence what SQLite says in its own words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, LogError | FileNotFoundError):
            raise
        raise LogError(f"{path} cannot be {action} ({error}).") from error


def acknowledged_path(path: Path) -> Path:
    """The file with the last acknowledged number of a log."""
    return path.with_name(path.name + "-last")


def locked(path: Path) -> int | None:
    """Be the only one who writes a log, as long as the descriptor is open."""
    try:
        import fcntl
    except ImportError:  # not on this system: two services for one log are not noticed
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise ValueError(f"Another service writes {path}; end it first.") from None
    return descriptor


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    from ..disk import sync

    with suppress(PermissionError):  # some systems do not open folders
        sync(path)

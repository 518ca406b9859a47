"""The log: every example in order, on disk before it is acknowledged.

One SQLite database with one table. Row n is the n-th example; a row may hold a model file, too: the
model after it. Row 0 is the model that the log began with, so that the log is complete by itself.
"""

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

FORMAT = 0x526F7331  # "Ros1", as SQLite's application_id
LARGEST_MODEL = 900 << 20  # bytes; SQLite holds up to a billion in a row
TABLE = """
CREATE TABLE examples (
    sequence INTEGER PRIMARY KEY,
    received REAL NOT NULL,
    example TEXT,
    model BLOB
)"""
INDEX = "CREATE INDEX models ON examples (sequence) WHERE model IS NOT NULL"
INSERT = "INSERT INTO examples (sequence, received, example, model) VALUES (?, ?, ?, ?)"


class LogError(OSError):
    """The log cannot be read or written at the moment; nothing was acknowledged."""


class Entry(NamedTuple):
    """An example of the log."""

    sequence: int
    text: str


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
    """

    def __init__(self, path: Path, writes: bool) -> None:
        if not path.exists():
            raise FileNotFoundError(f"There is no log {path}.")
        self.path, self.writes = path, writes
        self.lock = locked(path) if writes else None
        self.connection: sqlite3.Connection | None = None
        try:
            with self.plainly("read"):
                self.open()
                self.check()
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
        temporary = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with plainly(path, "written"):
                made = sqlite3.connect(temporary, isolation_level=None)
                made.execute("PRAGMA synchronous=FULL")
                made.execute("PRAGMA journal_mode=WAL")
                made.execute(f"PRAGMA application_id={FORMAT}")
                made.execute(f"PRAGMA user_version={secrets.randbits(31) or 1}")
                made.execute(TABLE)
                made.execute(INDEX)  # a log may have gigabytes, and a start is to be quick
                made.execute(INSERT, (sequence, time.time(), None, model))
                made.close()
                os.replace(temporary, path)
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

    def check(self) -> None:
        """Refuse what is no log, and find its end."""
        try:
            (found,), (self.identity,) = (
                self.one(f"PRAGMA {name}") for name in ("application_id", "user_version")
            )
            if found != FORMAT:
                raise ValueError(f"{self.path} is not a log of rosenblatt.")
            end = self.one("SELECT sequence, received FROM examples ORDER BY sequence DESC LIMIT 1")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise ValueError(f"{self.path} is not an intact log of rosenblatt ({error}).") from None
        if end is None:
            raise ValueError(f"{self.path} is not an intact log of rosenblatt (it is empty).")
        self.last, self.received = end

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
        first = int(self.last) + 1
        now = max(time.time(), self.received)  # clocks may be set back, and the log goes on
        rows = [(number, now, text, None) for number, text in enumerate(texts, first)]
        self.write(INSERT, rows)
        self.last, self.received = first + len(rows) - 1, now
        return first + len(rows) - 1

    def keep_model(self, sequence: int, model: bytes) -> None:
        """Keep the model after some example, from which the log can be replayed, too."""
        if len(model) > LARGEST_MODEL:
            return
        if self.one("SELECT 1 FROM examples WHERE sequence = ?", sequence):
            self.write("UPDATE examples SET model = ? WHERE sequence = ?", [(model, sequence)])
        else:  # what came before was lost, and the model is what remains of it
            self.write(INSERT, [(sequence, max(time.time(), self.received), None, model)])
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
        return int(count)

    def write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """One transaction: all on disk, or nothing."""
        with self.plainly("written"):
            if self.connection is None:
                self.open()
                self.check()
            connection = self.connection
            assert connection is not None
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
                found = self.connection.execute(
                    "SELECT sequence, example FROM examples WHERE sequence > ? AND sequence <= ? "
                    "ORDER BY sequence LIMIT ?",
                    (after, last, size),
                ).fetchall()
            wanted = range(after + 1, after + 1 + len(found))
            if not found or [number for number, _ in found] != list(wanted) or None in found[0]:
                raise ValueError(f"{self.path} lacks the examples after number {after}.")
            yield [Entry(*row) for row in found]
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
        lock, self.lock = self.lock, None
        if lock is not None:
            os.close(lock)


@contextmanager
def plainly(path: Path, action: str) -> Iterator[None]:
    """Say in a sentence what SQLite says in its own words."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, LogError | FileNotFoundError):
            raise
        raise LogError(f"{path} cannot be {action} ({error}).") from error


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

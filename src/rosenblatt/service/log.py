"""The log: every example in order, on disk before it is acknowledged.

It is an SQLite database. Row n of ``examples`` is the n-th example; a row may also hold a snapshot,
the model file after that example. Row 0 is the model that the log began with, so that the log needs
no other file. A forgotten example is an empty text. A text that begins with @ is a change of the
model: ``@rollback N`` returns to the model after row N, and ``@model N`` takes the model file of
its row, as of row N, and has it learn the rows since.

Each row has a checksum, and the file of the lock has the number of the last acknowledged example: a
damaged row and lost rows are noticed.
"""

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

import msgspec

from ..disk import move_over, sync, temporary_beside

FORMAT = 0x526F7331  # "Ros1", as SQLite's application_id
LARGEST_MODEL = 900 << 20  # bytes; SQLite holds up to a billion in a row
IS_CHANGE = "example >= '@' AND example < 'A'"
SCHEMA = f"""
PRAGMA auto_vacuum=INCREMENTAL;
PRAGMA synchronous=FULL;
PRAGMA application_id={FORMAT};
CREATE TABLE examples (
    sequence INTEGER PRIMARY KEY, received REAL NOT NULL, example TEXT, model BLOB, checksum INTEGER
);
CREATE INDEX models ON examples (sequence) WHERE model IS NOT NULL;
CREATE INDEX changes ON examples (sequence) WHERE {IS_CHANGE};
CREATE TABLE requests (
    key BLOB PRIMARY KEY, digest BLOB, first INTEGER NOT NULL, last INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE former (identity INTEGER PRIMARY KEY, erased INTEGER NOT NULL);
"""  # indices, because a log may have gigabytes, and a start is to be quick
SELECT = "SELECT sequence, example, checksum FROM examples WHERE sequence"
INSERT = "INSERT INTO examples VALUES (?, ?, ?, ?, ?)"
APPEND = "INSERT INTO examples (sequence, received, example, checksum) VALUES "
AT_ONCE = 8_000  # rows of a statement: between two, the thread would have to wait for others
VACUUMED, ERASED = 1, 2  # steps of removing forgotten examples
PRIVATE = 0o600  # examples may be anything that people send


class LogError(OSError):
    """The log cannot be read or written at the moment; no example was acknowledged."""


class Entry(NamedTuple):
    """A row of the log: an example, a forgotten one, or a change of the model."""

    sequence: int
    text: str
    is_intact: bool = True

    @property
    def kind(self) -> str:
        """One of "example", "forgotten" and "change"."""
        if not self.is_intact:
            return "example"
        return {"@": "change", "": "forgotten"}.get(self.text[:1], "example")

    def read(self) -> Any:
        """The example as it was sent, the text of a change, or None."""
        if self.kind == "example":
            return msgspec.json.decode(self.text) if self.is_intact else None
        return self.text or None


class Change(NamedTuple):
    """A row that replaces the model: its number, "rollback" or "model", and the row it names."""

    sequence: int
    action: str
    source: int


class KeyedRequest(NamedTuple):
    """A request that is not to be learnt twice: hashes of its key and of its examples.

    ``digest`` is None after one of its examples was forgotten.
    """

    key: bytes
    digest: bytes | None
    first: int
    last: int


class Log:
    """The log of one model; one process writes it, any number may read.

    Attributes
    ----------
    path : Path
        The database.
    identity : int
        A number that model files name as the log they have learnt from. Forgetting changes it, so
        that models which have seen a forgotten example no longer belong to the log.
    last : int
        The sequence number of the last example.
    lost : int
        How many acknowledged examples the database no longer has, as it was opened to write.
    """

    def __init__(self, path: Path, writes: bool, lock: IO[bytes] | None = None) -> None:
        if not path.exists():
            raise FileNotFoundError(f"There is no log {path}.")
        self.path, self.writes = path, writes
        self.lock: Any = lock_log(path) if writes and lock is None else lock
        self.connection: sqlite3.Connection | None = None
        try:
            self.open()
            noted = self.lock.read() if self.lock is not None else b""
            self.lost = max(int(noted) - self.last, 0) if noted.isdigit() else 0
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(
        cls, path: Path, model: bytes, sequence: int = 0, lock: IO[bytes] | None = None
    ) -> "Log":
        """Create a log that begins with a model; the file appears complete or not at all.

        It is written without a write-ahead log, which closing might fail to move into it unnoticed.
        """
        if len(model) > LARGEST_MODEL:
            sizes = f"{len(model) >> 20:,} MB, and a log takes at most {LARGEST_MODEL >> 20:,} MB"
            raise ValueError(f"The model takes {sizes}; use fewer bits.")
        lock = lock_log(path) if lock is None else lock
        for ending in ("-wal", "-shm"):
            rest = path.with_name(path.name + ending)
            if rest.exists():
                raise ValueError(f"{rest} is left of an older log; move it away, too.")
        temporary = temporary_beside(path)
        try:
            with explain_errors(path, "written"):
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
                with closing(sqlite3.connect(temporary, isolation_level=None)) as made:
                    made.executescript(SCHEMA)
                    made.execute(f"PRAGMA user_version={new_identity()}")
                    made.execute(INSERT, (sequence, time.time(), None, model, None))
                lock.truncate(0)  # of a log that is gone
                place_file(temporary, path)
                with suppress(PermissionError):  # some systems do not open folders
                    sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
        return cls(path, True, lock)

    def open(self) -> None:
        """Connect to the database and check it."""
        address = f"file:{quote(str(self.path.resolve()))}?mode={'rw' if self.writes else 'ro'}"
        options: Any = {"uri": True, "isolation_level": None, "check_same_thread": False}
        with explain_errors(self.path, "read"):
            self.connection = sqlite3.connect(address, timeout=5, **options)
        if self.writes:
            self.all("PRAGMA synchronous=FULL")
            self.all("PRAGMA secure_delete=ON")
            with suppress(LogError):  # it may be readable only, for now
                self.all("PRAGMA journal_mode=WAL")
        self.check()

    def check(self) -> None:
        """Refuse other files, and read the identity and the last number."""
        try:
            (found,), (self.identity,) = (
                self.one(f"PRAGMA {name}") for name in ("application_id", "user_version")
            )
            if found != FORMAT:
                raise ValueError(f"{self.path} is not a log of rosenblatt.")
            end = self.one("SELECT sequence FROM examples ORDER BY sequence DESC LIMIT 1")
        except LogError as error:
            if isinstance(error.__cause__, sqlite3.OperationalError):
                raise
            why = error.__cause__ or error
            raise ValueError(f"{self.path} is not an intact log of rosenblatt ({why}).") from None
        if end is None:
            raise ValueError(f"{self.path} is not an intact log of rosenblatt (it is empty).")
        (self.last,) = end

    def connect(self) -> sqlite3.Connection:
        """The connection; after an error there is none until the log is opened again."""
        if self.connection is None:
            raise LogError(f"{self.path} is to be read again after an error.")
        return self.connection

    def all(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement and return all rows; errors are raised as LogError."""
        with explain_errors(self.path, "read"):
            return self.connect().execute(statement, values).fetchall()

    def one(self, statement: str, *values: Any) -> Any:
        """Execute a statement and return the first row, or None."""
        return next(iter(self.all(statement, *values)), None)

    # Writing

    def append(self, texts: Sequence[str], requests: Sequence[KeyedRequest] = ()) -> int:
        """Put examples on disk with one sync; return the number of the last of them.

        ``requests`` are the keys of some of them, with numbers that count from the first text.
        After an error neither examples nor keys are in the log.
        """
        first = int(self.last) + 1
        now, statements = time.time(), []
        for begin in range(0, len(texts), AT_ONCE):
            rows = enumerate(texts[begin : begin + AT_ONCE], first + begin)
            values = [(number, now, text, crc32(text.encode())) for number, text in rows]
            statement = APPEND + ", ".join(["(?, ?, ?, ?)"] * len(values))
            statements.append((statement, [tuple(chain.from_iterable(values))]))
        keys = [(key, digest, first + a, first + b) for key, digest, a, b in requests]
        self.write(*statements, ("INSERT INTO requests VALUES (?, ?, ?, ?)", keys))
        return self.acknowledge(first + len(texts) - 1)

    def append_change(self, action: str, source: int, model: bytes | None = None) -> int:
        """Put a change of the model on disk; return its number."""
        number, text = int(self.last) + 1, f"@{action} {source}"
        self.write((INSERT, [(number, time.time(), text, model, crc32(text.encode()))]))
        return self.acknowledge(number)

    def acknowledge(self, last: int) -> int:
        """Make a number the last one; the file of the lock has it, should the database lose rows.

        That file is not synced: it may be behind after a loss of power, but never ahead.
        """
        with explain_errors(self.path, "written"):
            self.lock.seek(0)
            self.lock.write(b"%020d" % last)
        self.last = last
        return last

    def reopen(self) -> None:
        """Connect again after an error, and delete the rows that were refused.

        A failed sync does not say whether they are on disk, and their clients were told to send
        them again.
        """
        self.disconnect()
        known = self.last
        self.open()
        if self.last > known:
            self.last = known
            self.write(
                ("DELETE FROM examples WHERE sequence > ?", [(known,)]),
                ("DELETE FROM requests WHERE last > ?", [(known,)]),
            )

    def continue_after(self, sequence: int, model: bytes) -> None:
        """Go on after a model that has learnt more than is left here."""
        self.write((INSERT, [(sequence, time.time(), None, model, None)]))
        self.last = sequence

    def forget(self, numbers: Iterable[int], snapshots: Iterable[int]) -> None:
        """Empty examples and drop the snapshots that have seen them, in one transaction.

        The log gets a new identity. ``erase`` has to follow.
        """
        found, identity = [(number,) for number in numbers], new_identity()
        self.write(
            ("UPDATE examples SET example = '', checksum = 0 WHERE sequence = ?", found),
            ("UPDATE examples SET model = NULL WHERE sequence = ?", [(one,) for one in snapshots]),
            ("UPDATE requests SET digest = NULL WHERE ? BETWEEN first AND last", found),
            ("INSERT INTO former VALUES (?, 0)", [(self.identity,)]),
            (f"PRAGMA user_version={identity}", None),
        )
        self.identity = identity

    @property
    def is_erasing(self) -> bool:
        """Whether examples were forgotten whose bytes may still be in a file."""
        return bool(self.all("SELECT 1 FROM former WHERE erased < ?", ERASED))

    def erase(self) -> None:
        """Write the database again without the bytes of forgotten examples, and empty its WAL."""
        if self.all("SELECT 1 FROM former WHERE erased < ?", VACUUMED):
            self.all("VACUUM")
            self.mark_erased(VACUUMED)
        busy, *_ = self.one("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise LogError(f"{self.path} has old bytes that another process is reading.")

    def mark_erased(self, step: int = ERASED) -> None:
        """Note how far the bytes of forgotten examples are removed."""
        self.write(("UPDATE former SET erased = ?", [(step,)]))

    def write(self, *statements: tuple[str, Sequence[tuple[Any, ...]] | None]) -> None:
        """Execute each statement for its rows, all in one transaction: all are on disk, or none."""
        with explain_errors(self.path, "written"):
            connection = self.connect()
            try:
                connection.execute("BEGIN IMMEDIATE")
                for statement, rows in statements:
                    if rows is None:
                        connection.execute(statement)
                    else:
                        connection.executemany(statement, rows)
                connection.execute("COMMIT")
            except BaseException:
                self.disconnect()  # a new connection looks at what is really there
                raise

    # Reading

    def entries(self, after: int, until: int | None = None, size: int = 1000) -> Iterator[Any]:
        """Yield the rows after a number in lists of at most ``size``."""
        last = self.last if until is None else until
        for first in range(after + 1, last + 1, size):
            yield self.read_entries(first, min(first + size - 1, last))

    def read_entries(self, first: int, last: int) -> list[Entry]:
        """The rows from one number to another; one that is missing or damaged is not intact."""
        wanted = range(first, last + 1)
        try:
            found = self.all(f"{SELECT} BETWEEN ? AND ? ORDER BY sequence", first, last)
        except LogError as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.OperationalError) and "decode" not in str(cause):
                raise
            found = []
        if [row[0] for row in found] == list(wanted):
            return [Entry(number, *check_text(text, check)) for number, text, check in found]
        if first == last:
            return [Entry(first, "", False)]
        return [one for number in wanted for one in self.read_entries(number, number)]

    def models(self) -> list[int]:
        """The numbers of the rows with a model: the one that answered after that row."""
        found = self.all("SELECT sequence FROM examples WHERE model IS NOT NULL ORDER BY sequence")
        return [int(number) for (number,) in found]

    def changes(self) -> list[Change]:
        """All changes of the model, in their order."""
        found = self.all(
            f"SELECT sequence, example FROM examples WHERE {IS_CHANGE} ORDER BY sequence"
        )
        parts = ((number, *text[1:].split()) for number, text in found)
        return [Change(number, action, int(source)) for number, action, source in parts]

    def find_request(self, key: bytes) -> KeyedRequest | None:
        """The request that came with a key before, if any."""
        found = self.one("SELECT key, digest, first, last FROM requests WHERE key = ?", key)
        return KeyedRequest(*found) if found else None

    def is_former(self, identity: int) -> bool:
        """Whether the log had an identity before examples were forgotten."""
        return bool(self.all("SELECT 1 FROM former WHERE identity = ?", identity))

    def model(self, sequence: int) -> bytes:
        """The bytes of the model file in a row."""
        return bytes(self.one("SELECT model FROM examples WHERE sequence = ?", sequence)[0])

    @property
    def size(self) -> int:
        """The size of the database and its WAL in bytes."""
        beside = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())

    def disconnect(self) -> None:
        """Close the connection to the database."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def close(self) -> None:
        """Close the database and release its lock."""
        self.disconnect()
        if self.lock is not None:
            self.lock.close()


@contextmanager
def explain_errors(path: Path, action: str) -> Iterator[None]:
    """Raise errors of SQLite as LogError, with the path and what was tried."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, LogError | FileNotFoundError):
            raise
        raise LogError(f"{path} cannot be {action} ({error}).") from error


def check_text(text: Any, check: Any) -> tuple[str, bool]:
    """The text of a row, and whether it is what was written."""
    is_text = isinstance(text, str)
    return (text, check is None or crc32(text.encode()) == check) if is_text else ("", False)


def hash_bytes(data: bytes) -> bytes:
    """A hash of 16 bytes, for keys and examples of requests."""
    return hashlib.blake2b(data, digest_size=16).digest()


def new_identity() -> int:
    """A random number to identify a log."""
    return secrets.randbits(31) or 1


def lock_log(path: Path) -> IO[bytes]:
    """Lock a log, which need not exist yet, to write it; closing the file ends the lock."""
    place = path.with_name(path.name + "-lock")
    with explain_errors(path, "locked"):
        lock = os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b", buffering=0)
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on this system: two services for one log are not noticed
        pass
    except OSError:
        lock.close()
        raise ValueError(f"Another service writes {path}; end it first.") from None
    return lock


def place_file(temporary: Path, path: Path) -> None:
    """Give a file its name unless there is one of that name."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise ValueError(f"Another service has just begun {path}; end it first.") from None
    except OSError:  # the file system has no links; the lock must do
        move_over(temporary, path)

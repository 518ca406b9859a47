"""Parse pieces of a source in several threads, and deliver the results in order.

A piece is cut when its turn comes, parsed by whoever cut it, and delivered when all before it are.
So nothing depends on how many threads there are, or on which is first.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..data.rows import n_rows
from ..data.splits import Fold
from ..parameters import InputError
from .batches import Batch, select_rows
from .sources import Location

if TYPE_CHECKING:
    from .parser import Parser

AHEAD = 2  # pieces that are ready before they are wanted
MUCH = 32 << 20  # bytes of rows that one piece may have become before they are wanted
SMALL = 8  # times so small a source is parsed before threads have started

Result = TypeVar("Result")


class Piece(NamedTuple):
    """Some whole rows of a source.

    ``data`` are bytes or a table, or why there can be none; ``taken`` counts the bytes of the
    source up to its end. ``slot`` is a number that no other piece has until this one is delivered.
    ``start`` is the name of the file that begins with this piece, and the lines before its rows.
    """

    data: Any
    taken: int
    slot: int
    start: tuple[str, int] | None = None


class Broken(NamedTuple):
    """A row that cannot be read: its line within the piece, and why; ``fatal`` ends the pass."""

    line: int
    error: InputError
    fatal: bool = False


Found = Batch | Broken


class Part(NamedTuple):
    """The results of a piece so far, its parser, and an iterator over the rest."""

    found: list[tuple[Found | Exception, Any]]
    worker: "Parser"
    start: tuple[str, int] | None
    rest: Iterator[Found] | None


def cores() -> int:
    """Return the number of available cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_in_order(
    parser: "Parser", location: Location, threads: int, use: Callable[[Batch], Result]
) -> Generator[tuple[Batch, Result]]:
    """Yield all batches of a parser in order, with the result of ``use`` for each."""
    size, window = parser.source.size, threads + AHEAD if threads > 1 else 1
    if size is not None and size * SMALL <= parser.options.batch_bytes:
        threads = window = 1
    turns, met = Turns(parser.pieces(window)), dict[int, Any]()

    def first(number: int) -> Part | None:
        piece = turns.take(number)
        if piece is None:
            return None
        worker = parser.worker(piece.slot, met)
        if isinstance(piece.data, InputError):
            return Part([(Broken(1, piece.data, True), None)], worker, piece.start, None)
        return more(Part([], worker, piece.start, worker.parse_piece(piece)))

    def more(part: Part) -> Part:
        assert part.rest is not None
        found, over = next_part(part.rest, use, location.tolerated)
        return part._replace(found=found, rest=None if over else part.rest)

    with workers(threads, parser.source.leave, turns) as submit:
        coming: deque[Callable[[], Any]] = deque()
        number = 0
        while True:
            while len(coming) < window:
                coming.append(submit(first, number))
                number += 1
            part = coming.popleft()()
            if part is None:
                return
            if part.start is not None:
                location.enter(*part.start)
            while part.rest is not None:
                coming_more = submit(more, part)
                yield from deliver(part.found, parser, location)
                part = coming_more()
            parser.absorb(part.worker)
            yield from deliver(part.found, parser, location)
            location.lines += part.worker.lines
            location.unlabelled += part.worker.unlabelled


def next_part(
    rest: Iterator[Found], use: Callable[[Batch], Any], tolerated: int
) -> tuple[list[tuple[Found | Exception, Any]], bool]:
    """Take the next results of a piece, up to a size, and whether it is finished."""
    found: list[tuple[Found | Exception, Any]] = []
    size = broken = 0
    try:
        for one in rest:
            if isinstance(one, Batch):
                found.append((one, use(one)))
                size += sum(array.nbytes for array in one.rows if array is not None)
            else:
                found.append((one, None))
                broken += 1
                if broken > tolerated or one.fatal:
                    return found, True
            if size > MUCH:
                return found, False
    except Exception as error:
        found.append((error, None))  # raised when what is before it has been delivered
    return found, True


def deliver(
    found: Iterable[tuple[Found | Exception, Any]], parser: "Parser", location: Location
) -> Iterator[tuple[Batch, Any]]:
    """Yield the batches of a part in its turn, and raise or count its errors."""
    for one, made in found:
        if isinstance(one, Exception):
            raise one
        if isinstance(one, Batch):
            parser.width = max(parser.width, one.width)
            whole = one._replace(width=parser.width, lines=location.lines + one.lines)
            if parser.options.fold is None:
                yield whole, made
            else:
                yield from keep_fold(parser.options.fold, location, whole, made)
        elif one.fatal:
            raise location.locate(one.line, one.error)
        else:
            location.skip(one.line, one.error)


def keep_fold(
    fold: Fold, location: Location, batch: Batch, made: Any
) -> Iterator[tuple[Batch, Any]]:
    """Yield the rows of a batch that a fold keeps, and what was made of them, one item per row."""
    count = n_rows(batch.rows)
    keep = fold.keeps(location.rows, count)
    location.rows += count
    if keep.any():
        yield select_rows(batch, keep), None if made is None else made[keep]


class Turns:
    """Hands out the pieces of a source, by number, to threads that may ask for them early."""

    def __init__(self, pieces: Generator[Piece]) -> None:
        self.pieces, self.number, self.stopped = pieces, 0, False
        self.changed = Condition()

    def take(self, number: int) -> Piece | None:
        """Wait for a piece's turn and cut it; None after the last piece and after ``stop``."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or self.number == number)
            if self.stopped:
                return None
            try:
                return next(self.pieces, None)
            finally:
                self.number += 1
                self.changed.notify_all()

    def stop(self) -> None:
        """Cut no more pieces, and release every thread that waits for its turn."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def close(self) -> None:
        """Close the source; no thread may be cutting."""
        self.pieces.close()


Submit = Callable[..., Callable[[], Any]]


@contextmanager
def workers(count: int, leave: Callable[[], None], turns: Turns) -> Iterator[Submit]:
    """Yield a function that submits a task to threads and returns a function to wait for it.

    The threads have ended when the block has, whatever ends it: ``leave`` makes reads that wait for
    bytes return, the turns are stopped, so that tasks which have not begun return at once, and the
    source is closed when no thread works any more. One thread is the caller's.
    """
    if count == 1:
        try:
            yield lambda function, *given: lambda: function(*given)
        finally:
            turns.close()
        return
    threads = Threads(count)
    try:
        threads.start()
        yield threads.submit
    finally:
        if not sys.is_finalizing():  # then daemons stand still, with any lock that they hold
            leave()  # before stop, which waits for the thread that is cutting
            turns.stop()
            threads.join()
            turns.close()


class Threads:
    """A few threads that run tasks in the order in which they are submitted.

    They are daemons, unlike those of ``ThreadPoolExecutor``, for which a program waits when it
    ends: one that leaves a pipe in the middle need not wait for whoever writes to it.
    """

    def __init__(self, count: int) -> None:
        self.tasks: SimpleQueue[tuple[Future[Any], Callable[..., Any], Any] | None] = SimpleQueue()
        name = "rosenblatt-reader"
        self.threads = [Thread(target=self.work, name=name, daemon=True) for _ in range(count)]

    def start(self) -> None:
        """Start all threads."""
        for thread in self.threads:
            thread.start()

    def submit(self, function: Callable[..., Result], *given: Any) -> Callable[[], Result]:
        """Queue a task; what is returned waits for its result."""
        future: Future[Result] = Future()
        self.tasks.put((future, function, given))
        return future.result

    def work(self) -> None:
        """Run tasks until there are no more."""
        while (task := self.tasks.get()) is not None:
            future, function, given = task
            try:
                future.set_result(function(*given))
            except BaseException as error:  # raised where the result is waited for
                future.set_exception(error)
            del task, future, function, given  # large rows are not kept while this waits

    def join(self) -> None:
        """Wait until all tasks are done and the threads have ended."""
        for _ in self.threads:
            self.tasks.put(None)
        for thread in self.threads:
            if thread.ident is not None:  # it could be started
                thread.join()

"""Parse pieces of a source in several threads, and deliver the results in order.

A piece is cut when its turn comes, parsed by whoever cut it, and delivered when all before it are.
So nothing depends on how many threads there are, or on which is first.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..data.rows import n_rows
from ..data.splits import Fold
from ..parameters import InputError
from .batches import Batch, select_rows
from .sources import Location

if TYPE_CHECKING:
    from .parser import Parser

AHEAD = 2  # pieces that are ready before they are wanted
SMALL = 8  # times so small a source is parsed before threads have started

Result = TypeVar("Result")


class Piece(NamedTuple):
    """Some whole rows of a source.

    ``data`` are bytes or a table, or why there can be none; ``taken`` counts the bytes of the
    source up to its end. ``start`` is the name of the file that begins with this piece, and the
    lines before its rows.
    """

    data: Any
    taken: int
    start: tuple[str, int] | None = None


class Broken(NamedTuple):
    """A row that cannot be read: its line within the piece, and why; ``fatal`` ends the pass."""

    line: int
    error: InputError
    fatal: bool = False


Found = Batch | Broken


class Part(NamedTuple):
    """The results of a piece, each with what was made of it, and the parser that has them."""

    found: list[tuple[Found | Exception, Any]]
    worker: "Parser"
    start: tuple[str, int] | None


def cores() -> int:
    """Return the number of available cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parse_in_order(
    parser: "Parser", location: Location, threads: int, use: Callable[[Batch], Result]
) -> Generator[tuple[Batch, Result]]:
    """Yield all batches of a parser in order, with the result of ``use`` for each."""
    size = parser.source.size
    if size is not None and size * SMALL <= parser.options.batch_bytes:
        threads = 1

    def parse(piece: Piece) -> Part:
        worker = parser.worker()
        if isinstance(piece.data, InputError):
            return Part([(Broken(1, piece.data, True), None)], worker, piece.start)
        found = use_each(worker.parse_piece(piece), use, location.tolerated)
        return Part(list(found), worker, piece.start)

    with closing(parse_pieces(parser, parse, threads)) as parts:
        for part in parts:
            if part.start is not None:
                location.enter(*part.start)
            parser.absorb(part.worker)
            yield from deliver(part.found, parser, location)
            location.lines += part.worker.lines
            location.unlabelled += part.worker.unlabelled


def use_each(
    found: Iterator[Found], use: Callable[[Batch], Any], tolerated: int
) -> Iterator[tuple[Found | Exception, Any]]:
    """Yield what is found in a piece with what ``use`` makes of it, up to an error that ends it."""
    broken = 0
    try:
        for one in found:
            yield one, use(one) if isinstance(one, Batch) else None
            if isinstance(one, Broken):
                broken += 1
                if broken > tolerated or one.fatal:
                    return
    except Exception as error:
        yield error, None  # raised when what is before it has been delivered


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


def parse_pieces(parser: "Parser", parse: Callable[[Piece], Part], threads: int) -> Generator[Part]:
    """Yield the results of all pieces in order.

    The threads have ended when the generator has, whatever ends it: ``leave`` makes reads that wait
    for bytes return, no more pieces are cut, and the source is closed when no thread works any
    more. One thread is the caller's.
    """
    if threads == 1:
        with closing(parser.pieces(1)) as pieces:
            yield from map(parse, pieces)
        return
    workers = Workers(parser.pieces(threads + AHEAD), parse, threads)
    coming: deque[Future[Part | None]] = deque()
    try:
        workers.start()
        while True:
            while len(coming) < threads + AHEAD:
                coming.append(workers.parse_next())
            part = coming.popleft().result()
            if part is None:
                return
            yield part
    finally:
        if not sys.is_finalizing():  # then daemons stand still, with any lock that they hold
            parser.source.leave()
            workers.stop()


class Workers:
    """A few threads that parse pieces, which are cut in the order in which they are wanted.

    They are daemons, unlike those of ``ThreadPoolExecutor``, for which a program waits when it
    ends: one that leaves a pipe in the middle need not wait for whoever writes to it.
    """

    def __init__(
        self, pieces: Generator[Piece], parse: Callable[[Piece], Part], count: int
    ) -> None:
        self.pieces, self.parse, self.stopped = pieces, parse, False
        self.wanted: SimpleQueue[Future[Part | None] | None] = SimpleQueue()
        self.cutting = Lock()  # so that the pieces are in the order of the futures
        name = "rosenblatt-reader"
        self.threads = [Thread(target=self.work, name=name, daemon=True) for _ in range(count)]

    def start(self) -> None:
        """Start all threads."""
        for thread in self.threads:
            thread.start()

    def parse_next(self) -> "Future[Part | None]":
        """Ask for the result of the next piece; it is None after the last one."""
        self.wanted.put(future := Future[Part | None]())
        return future

    def work(self) -> None:
        """Parse pieces as long as some are wanted."""
        while True:
            with self.cutting:
                future = self.wanted.get()
                if future is None:
                    return
                try:
                    piece = None if self.stopped else next(self.pieces, None)
                except BaseException as error:  # raised where the result is waited for
                    future.set_exception(error)
                    continue
            try:
                future.set_result(None if piece is None else self.parse(piece))
            except BaseException as error:
                future.set_exception(error)
            del future, piece  # large rows are not kept while this waits

    def stop(self) -> None:
        """Wait until the threads have ended, and close the source."""
        self.stopped = True
        for _ in self.threads:
            self.wanted.put(None)
        for thread in self.threads:
            if thread.ident is not None:  # it could be started
                thread.join()
        self.pieces.close()

"""Reading with several threads ends, whichever thread is ahead of which.

A model of the protocol of ``reading/threads.py`` is explored over all interleavings; then the code
itself is run to many ends of file while threads switch as often as they can.
"""

import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from ..conftest import ROUNDS

QUEUED, TAKEN, WAITING, CUT, RETURNED, CANCELLED = range(6)  # what became of a task
STOP, CANCEL, JOIN, END = "stop", "cancel", "join", "end"  # what the consumer does after reading
ORDERLY = STOP, JOIN
CANCELLING = CANCEL, JOIN  # without releasing threads, as it was once


class State(NamedTuple):
    """All that the protocol depends on."""

    tasks: tuple[int, ...] = ()  # by number
    queue: tuple[int, ...] = ()
    turn: int = 0
    stopped: bool = False
    delivered: int = 0  # tasks whose results the consumer has
    phase: int = -1  # -1 while reading, then an index into the steps of the end

    def with_task(self, number: int, task: int, **changes) -> "State":
        tasks = (*self.tasks[:number], task, *self.tasks[number + 1 :])
        return self._replace(tasks=tasks, **changes)


def moves(state, pieces, threads, window, leaves_after, steps):
    """Every state that one step of one thread leads to."""
    yield from moves_of_threads(state, threads)
    if state.phase == -1:
        if len(state.tasks) < state.delivered + window:
            number = len(state.tasks)
            yield state._replace(tasks=(*state.tasks, QUEUED), queue=(*state.queue, number))
        elif state.tasks[state.delivered] == RETURNED:
            over = state.delivered in (pieces, leaves_after)  # at the end, or the consumer leaves
            more = {"phase": 0} if over else {"delivered": state.delivered + 1}
            yield state._replace(**more)
        return
    step = (*steps, END)[state.phase]
    if step == STOP:
        yield state._replace(stopped=True, phase=state.phase + 1)
    elif step == CANCEL and state.queue:  # one by one: a thread may take a task between two
        number, *rest = state.queue
        yield state.with_task(number, CANCELLED, queue=tuple(rest))
    elif step != END and (step == CANCEL or set(state.tasks) <= {RETURNED, CANCELLED}):
        yield state._replace(phase=state.phase + 1)


def moves_of_threads(state, threads):
    """Every step of the threads that work."""
    working = sum(task in (TAKEN, WAITING, CUT) for task in state.tasks)
    if state.queue and working < threads:
        number, *rest = state.queue
        yield state.with_task(number, TAKEN, queue=tuple(rest))
    for number, task in enumerate(state.tasks):
        if task in (TAKEN, WAITING):
            if state.stopped:
                yield state.with_task(number, RETURNED)
            elif state.turn == number:
                yield state.with_task(number, CUT, turn=number + 1)
            elif task == TAKEN:
                yield state.with_task(number, WAITING)
        elif task == CUT:
            yield state.with_task(number, RETURNED)


def standstills(steps, pieces, threads, window, leaves_after):
    """States that lead nowhere and are not the end, and how many states there are."""
    seen, ahead, stuck = {State()}, [State()], []
    while ahead:
        state = ahead.pop()
        following = list(moves(state, pieces, threads, window, leaves_after, steps))
        if not following and state.phase != len(steps):
            stuck.append(state)
        ahead += [new for new in following if new not in seen]
        seen.update(following)
    return stuck, len(seen)


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_no_interleaving_stands_still(threads):
    explored = 0
    for pieces in range(4):
        for window in range(1, threads + 3):
            for leaves_after in range(-1, pieces):
                stuck, states = standstills(ORDERLY, pieces, threads, window, leaves_after)
                assert not stuck
                explored += states
    assert explored > 1000


def test_the_model_finds_the_standstill_of_cancelling_tasks():
    stuck, _ = standstills(CANCELLING, pieces=1, threads=2, window=4, leaves_after=-1)
    assert any(CANCELLED in state.tasks and WAITING in state.tasks for state in stuck)


@pytest.mark.skipif(os.name != "posix", reason="pipes of Unix")
def test_a_program_that_leaves_a_pipe_ends():
    script = (
        "from rosenblatt import read\n"
        "batches = iter(read('-', format='svmlight', threads=3, batch_bytes=300_000))\n"
        "next(batches)"
    )
    run = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    run.stdin.write(b"1 1:2 2:3\n" * 105_000)  # over 1 MB, which is looked at first
    run.stdin.flush()  # nothing more comes, and the pipe stays open
    assert run.wait(timeout=300) == 0
    run.stdin.close()


ENDS_OF_FILE = """
import sys
from types import SimpleNamespace
from rosenblatt.reading.sources import Location
from rosenblatt.reading.threads import Piece, parse_in_order

class Pieces:
    source = SimpleNamespace(size=None, leave=lambda: None)
    lines = width = unlabelled = 0
    def pieces(self, slots):
        yield from (Piece(None, 0, number % slots) for number in range(2))
    def worker(self, slot, met):
        return self
    def absorb(self, worker):
        pass
    def parse_piece(self, piece):
        return iter(())

sys.setswitchinterval(1e-6)
for end in range(int(sys.argv[1])):
    list(parse_in_order(Pieces(), Location("file", 0, "line"), 2 + end % 3, len))
"""


def test_many_ends_of_file_are_reached():
    subprocess.run([sys.executable, "-c", ENDS_OF_FILE, str(800 * ROUNDS)], check=True, timeout=300)

"""What a training prints, and when."""

import json
import sys

import pytest

from rosenblatt import Epoch
from rosenblatt.shell import progress
from rosenblatt.shell.output import show_reading
from rosenblatt.shell.progress import ProgressPrinter
from rosenblatt.training.report import Listener, Note, Tally


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves by hand."""

    class Clock:
        now = 100.0

    clock = Clock()
    monkeypatch.setattr(progress, "read_clock", lambda: clock.now)
    return clock


def begun(listener, size=None, max_iter=1):
    listener.begin(size, max_iter)
    return listener


def a_long_pass(watch, clock, seconds):
    """A batch a second: every fifth row is wrong, and every tenth in the second half."""
    mistakes = 0
    for second in range(1, seconds + 1):
        clock.now += 1
        mistakes += 20 if second <= seconds / 2 else 10
        watch.batch(Tally(100 * second, 5_000_000 * second, float(mistakes)))  # as of streams
    return mistakes


def test_lines_come_at_growing_distances(clock, capsys):
    watch = begun(ProgressPrinter(), 10**9, 3)
    a_long_pass(watch, clock, 200)
    lines = capsys.readouterr().out.splitlines()
    rows = [int(line.split()[1].replace(",", "")) // 100 for line in lines]
    assert rows == [1, 3, 7, 15, 31, 63, 123, 183]
    assert " ".join(lines[-1].split()) == (
        "92% 18,300 rows 100 rows/s 5 MB/s error 15.46%, since the last line 10.00%"
    )


def test_every_pass_is_timed_anew(clock, capsys):
    watch = begun(ProgressPrinter(), 10**9, 3)
    a_long_pass(watch, clock, 4)
    watch.epoch(Epoch(1, 400, 60, 60, 0.0))
    a_long_pass(watch, clock, 4)
    out = capsys.readouterr().out
    assert "epoch    1          60 mistakes   15.00%\n" in out
    rows = [line.split()[1] for line in out.splitlines() if "epoch" not in line]
    assert rows == ["100", "300", "100", "300"]


def told_of(out):
    return [int(line.split()[1]) for line in out.splitlines() if line.startswith("epoch")]


@pytest.mark.parametrize(
    ("seconds", "every", "told"),
    [
        (0.001, False, [1, 2, 4, 8, 16, 21]),
        (0.001, True, list(range(1, 22))),
        (2.5, False, [1, 2, 4, 8, 12, 16, 20, 21]),  # after ten seconds of silence
    ],
)
def test_epochs_are_told_at_powers_of_two_and_the_last(clock, capsys, seconds, every, told):
    watch = begun(ProgressPrinter("lines", every), 10**9, 30)
    for number in range(1, 22):
        clock.now += seconds
        watch.epoch(Epoch(number, 10, 1, 1, 0.0))
    watch.close()
    assert told_of(capsys.readouterr().out) == told


def test_a_pass_with_lines_of_its_own_has_one_at_its_end(clock, capsys):
    watch = begun(ProgressPrinter(), 10**9, 3)
    for number in (5, 6):
        a_long_pass(watch, clock, 2)
        watch.epoch(Epoch(number, 200, 30, 30, 0.0))
    watch.close()
    assert told_of(capsys.readouterr().out) == [5, 6]


def test_held_out_rows_are_told_with_the_epoch(capsys):
    ProgressPrinter().epoch(Epoch(2, 10, 1, 1, 0.5, 0.75))
    assert capsys.readouterr().out.endswith("10.00%  held-out error 25.00%\n")


def test_an_epoch_without_rows(capsys):
    ProgressPrinter().epoch(Epoch(1, 0, 0, 0, 0.0))
    assert "0.00%" in capsys.readouterr().out


def test_reading_has_no_errors_yet(clock, capsys):
    watch = begun(ProgressPrinter())
    clock.now += 2
    watch.batch(Tally(10, 2_000_000, None))
    assert capsys.readouterr().out.split() == ["10", "rows", "5", "rows/s", "1", "MB/s"]


def test_json_tells_the_same(clock, capsys):
    watch = begun(ProgressPrinter("json"), 10**9, 3)
    watch.note("A sentence.")
    watch.note(Note("A sentence.", "stream"))
    mistakes = a_long_pass(watch, clock, 3)
    watch.epoch(Epoch(1, 300, mistakes, mistakes, 1.5, None))
    note, coded, first, last, epoch = map(json.loads, capsys.readouterr().out.splitlines())
    assert note == {"event": "note", "sentence": "A sentence.", "code": "note"}
    assert coded == note | {"code": "stream"}
    assert (first["event"], first["epoch"], first["rows"]) == ("progress", 1, 100)
    assert first["error"] == 0.2
    assert last["last_error"] == 0.1
    assert epoch["mistakes"] == mistakes


def test_the_quiet_say_nothing_but_notes(clock, capsys):
    for listener, said in ((Listener(), ""), (ProgressPrinter("quiet"), "Note: A sentence.\n")):
        a_long_pass(begun(listener), clock, 10)
        listener.epoch(Epoch(1, 10, 1, 1, 0.0))
        listener.note("A sentence.")
        listener.close()
        assert capsys.readouterr() == ("", said)


def test_a_bar_moves_where_a_terminal_shows_errors(capsys, monkeypatch):
    with show_reading(100) as tell:
        assert tell is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_reading(100) as tell:
        tell(50)
    assert "reading" in capsys.readouterr().err

"""Work in a thread: it tells how far it is, and ends when asked."""

import asyncio
import signal
import subprocess
import sys
import time

import pytest
from bokeh.client import pull_session

from rosenblatt.lab import page, state, trace
from rosenblatt.lab.geometry import view_of
from rosenblatt.lab.work import EndedError, Work


def test_work_gives_what_its_function_gives_and_tells_meanwhile():
    heard = []

    def slow(tell):
        for share in (0.0, 0.5, 3.0):
            tell("Learning", share)
            time.sleep(0.15)
        return "done"

    work = Work()
    told = lambda: heard.append((work.words, work.share))  # noqa: E731
    assert asyncio.run(work.done(slow, work.tell, told=told)) == "done"
    assert heard[0] == ("Learning", 0.0)
    assert heard[-1][1] == 1.0
    assert not Work.under_way


def test_work_that_is_not_wanted_ends_with_its_thread():
    def for_ever(tell):
        while True:
            tell("Learning", 0.5)
            time.sleep(0.01)

    work = Work()

    def told():
        work.wanted = False

    with pytest.raises(EndedError):
        asyncio.run(work.done(for_ever, work.tell, told=told))
    assert not Work.under_way  # the loop of asyncio waits for its threads


@pytest.mark.parametrize("choice", ["", "&solution=vote", "&form=kernel"])
def test_updates_and_pictures_ask_whether_it_is_wanted(choice):
    shown = state.from_address(f"data=virginica&max_iter=4{choice}")
    points, heard = shown.points(), []
    run = page.shown_run(points, shown.first, view_of(points.X), lambda *told: heard.append(told))
    words = [words for words, _ in heard]
    assert words[0] == "Deciding"
    assert words.count("Learning") >= (run.trace.epochs if "kernel" in choice else run.trace.last)
    assert words.count("Drawing") == max(len(run.trace.regions) - 1, 0)
    assert all(0 <= share <= 1 for _, share in heard)

    def refuse(words, share):
        raise EndedError

    with pytest.raises(EndedError):
        trace.trace_of(points, shown.first, view_of(points.X), refuse)


BUSY = """
import sys, time
from rosenblatt.lab import page, server, state
def for_ever(*args):
    print("busy", flush=True)
    time.sleep(60)  # as a compiler would, which asks nobody
page.shown_run = for_ever
server.serve(state.State(), server.free_port(0), browser=False)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_lab_while_it_computes(number):
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        address = process.stdout.readline().split()[4]
        visitor = pull_session(url=address)
        (exchange,) = visitor.document.select({"name": "exchange"})
        exchange.request = '{"do": "open", "number": 1, "address": "data=xor"}'
        visitor.force_roundtrip()
        assert process.stdout.readline() == "busy\n"
        process.send_signal(number)
        began = time.monotonic()
        rest = process.communicate(timeout=30)[0]
        assert time.monotonic() - began < 10  # two seconds where nothing else runs
    finally:
        process.kill()
        process.stdout.close()
    assert process.returncode == 0
    assert "The lab is closed." in rest
    assert "Traceback" not in rest

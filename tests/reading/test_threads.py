"""Any number of threads gives the same rows, names, notices and errors."""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from rosenblatt.jobs.files import train
from rosenblatt.reading import threads as room
from rosenblatt.reading.batches import Batch
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request

from ..conftest import ROUNDS
from .samples import readers_threads

ROWS = 3000


def svmlight(random):
    for row in range(ROWS):
        columns = np.sort(random.choice(200 + row, 8, replace=False)) + 1
        pairs = " ".join(f"{c}:{v:.3f}" for c, v in zip(columns, random.random(8), strict=True))
        yield f"{random.integers(2)} {pairs}"


def vowpal_wabbit(random):
    for row in range(ROWS):
        words = " ".join(
            f"w{n}:{v:.3f}"
            for n, v in zip(random.integers(row + 9, size=8), random.random(8), strict=True)
        )
        yield f"{random.integers(2)} {random.integers(1, 3)} |a {words} |b z{row % 7}"


def table(random):
    return pd.DataFrame(
        {
            "size": np.where(random.random(ROWS) < 0.1, np.nan, random.normal(50, 9, ROWS)),
            "colour": random.choice(["red", "blue", "light green"], ROWS),
            "text": [
                f"word{random.integers(row + 9)} and\n{random.integers(99)}" for row in range(ROWS)
            ],
            "label": random.integers(2, size=ROWS),
        }
    )


def file_of(kind, path, broken=()):
    """A file of some kind, with broken rows at some places, if it can have them."""
    random = np.random.default_rng(0)
    if kind in ("svm", "svm.gz", "vw"):
        lines = list(svmlight(random) if kind[0] == "s" else vowpal_wabbit(random))
        for place in broken:
            lines[place] = "1 |a b:x" if kind == "vw" else "1 3:x"
    elif kind == "parquet":
        frame = table(random)
        frame["label"] = frame["label"].astype(float)
        frame.loc[list(broken), "label"] = np.inf
        frame.to_parquet(path)
        return path
    else:
        frame = table(random)
        if kind == "numbers.csv":
            frame = frame[["size", "label"]].assign(more=random.random(ROWS))
        lines = re.findall(r'(?:"[^"]*"|[^"\n])+', frame.to_csv(index=False))
        for place in broken:
            lines[place + 1] = "7"
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if kind.endswith(".gz") else data)
    return path


KINDS = ["svm", "svm.gz", "vw", "numbers.csv", "words.csv", "parquet"]


def parser_options(kind):
    return {"text": ["text"], "pairs": True} if kind in ("words.csv", "parquet") else {}


def seen(path, threads, **options):
    """All that a pass over a file gives."""
    reader = read(path, threads=threads, batch_bytes=5000, names=700, **options)
    batches = [
        (batch._replace(rows=None, labels=None, weights=None), *map(np.ndarray.tobytes, arrays))
        for batch in reader
        for arrays in [[a for a in (*batch.rows, batch.labels, batch.weights) if a is not None]]
    ]
    return batches, list(reader.names.items()), reader.notices, reader.bad, reader.features()


@pytest.mark.parametrize("kind", KINDS)
def test_batches_names_and_notices_are_the_same(tmp_path, kind):
    path = file_of(kind, tmp_path / f"data.{kind}", broken=(700, 701, 2900))
    options = {"skip_bad": 3, **parser_options(kind)}
    one = seen(path, 1, **options)
    assert len(one[0]) > 4
    assert one[3] == 3
    assert one == seen(path, 2, **options) == seen(path, 5, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_error_names_the_same_row(tmp_path, kind, threads):
    path = file_of(kind, tmp_path / f"data.{kind}", broken=(2800, 2850, 2860, 2870))
    options = {"threads": threads, "batch_bytes": 5000, **parser_options(kind)}
    lines = {"words.csv": 2 * 2850 + 2 - 1, "numbers.csv": 2852}  # texts have two lines
    match = rf" (line|row) {lines.get(kind, 2851)}, .*; 1 rows before"
    with pytest.raises(ValueError, match=match):
        list(read(path, skip_bad=1, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_the_same(tmp_path, kind):
    path = file_of(kind, tmp_path / f"data.{kind}")

    def model(threads):
        reader = read(path, threads=threads, batch_bytes=5000, names=300, **parser_options(kind))
        parameters = {"max_iter": 2, "order": "each"}
        return train(reader, Request("perceptron", parameters, window=500, holdout=0.1))

    one = model(1)
    for other in model(2), model(5):
        assert other.states[0].weights.tobytes() == one.states[0].weights.tobytes()
        for part in "features", "facts", "history":
            assert getattr(other, part) == getattr(one, part)
    assert kind == "svm" or kind == "svm.gz" or one.features["largest"]


def test_a_late_label_begins_the_run_again_with_any_number(tmp_path):
    lines = [f"{row % 2} {row % 9 + 1}:1" for row in range(5000)]
    lines[4000] = "2 3:1"
    path = tmp_path / "data.svm"
    path.write_text("\n".join(lines))
    request, found = Request("perceptron", {"max_iter": 1}, window=100), set()
    for threads in 1, 2, 5:
        model = train(read(path, threads=threads, batch_bytes=3000), request)
        found.add(model.states[0].weights.tobytes())
    assert len(found) == 1


def test_names_are_those_met_first_even_after_a_pass_that_was_left(tmp_path):
    path = file_of("vw", tmp_path / "data.vw")
    reader = read(path, threads=5, batch_bytes=5000, names=300)
    for _ in reader:
        break
    list(reader)
    alone = read(path, threads=1, batch_bytes=5000, names=300)
    list(alone)
    assert list(reader.names.items()) == list(alone.names.items())
    assert len(alone.names) == 300


def test_many_products_are_not_all_made_at_once(tmp_path, monkeypatch):
    path = tmp_path / "data.vw"
    words = [" ".join(f"w{n}" for n in range(row, row + 40)) for row in range(400)]
    path.write_text("".join(f"{row % 2} |a {line}\n" for row, line in enumerate(words)))
    made = []

    def use(batch):
        made.append(len(batch.labels))

    batches = read(path, threads=2, pairs=True, scale="none", batch_bytes=1 << 16).each(use)
    total = 0
    for batch, _ in batches:
        total += len(batch.labels)
        assert sum(made) - total < 60  # rows that are made and wait, of 200 bytes each
    assert total == 400


def test_what_is_made_of_batches_comes_with_them(tmp_path):
    path = file_of("svm", tmp_path / "data.svm")
    main = threading.current_thread()

    def told(batch):
        return batch.labels.sum(), threading.current_thread() is main

    for threads in 1, 3:
        pairs = list(read(path, threads=threads, batch_bytes=5000).each(told))
        assert [batch.labels.sum() for batch, _ in pairs] == [total for _, (total, _) in pairs]
        assert {own for _, (_, own) in pairs} == {threads == 1}


def test_an_error_of_what_is_made_comes_when_it_is_its_turn(tmp_path):
    path = file_of("svm", tmp_path / "data.svm", broken=(2900,))

    def refuse(batch: Batch):
        if batch.width > 2200:
            raise RuntimeError("enough")

    for threads in 1, 3:
        rows = 0
        with pytest.raises(RuntimeError, match="enough"):  # noqa: PT012
            for batch, _ in read(path, threads=threads, batch_bytes=5000).each(refuse):
                rows += len(batch.labels)
        assert 1800 < rows < 2200
        assert not readers_threads()


def test_closing_a_pass_ends_its_threads_though_parts_are_referenced(tmp_path, monkeypatch):
    """Python 3.12.0 to 3.12.3 keep what a closed generator holds until it is deleted."""
    path, held = file_of("svm", tmp_path / "data.svm"), []

    def hold(*given):
        held.append(room.parse_in_order(*given))
        return held[-1]

    monkeypatch.setattr("rosenblatt.reading.parser.parse_in_order", hold)
    batches = iter(read(path, threads=16, batch_bytes=3000))
    next(batches)
    assert len(readers_threads()) == 16
    batches.close()
    assert held
    assert not readers_threads()


def test_a_small_source_starts_no_thread():
    main, found = threading.current_thread(), []
    reader = read(io.BytesIO(b"1 1:1\n0 2:1\n" * 5), format="svmlight", threads=4)
    reader.source.size = 60
    list(reader.each(lambda batch: found.append(threading.current_thread())))
    assert set(found) == {main}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_a_run_that_is_interrupted_ends_at_once(tmp_path):
    path = file_of("svm", tmp_path / "data.svm")
    script = (
        "import sys; from rosenblatt.reading.reader import read\n"
        f"reader = read({str(path)!r}, threads=3, batch_bytes=3000)\n"
        "list(reader); print('ready', flush=True)\n"
        "while True: list(reader)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout.readline() == b"ready\n"
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode in (-signal.SIGINT, 130, 1)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")


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
        yield from [Piece(None, 0)] * 2
    def worker(self):
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

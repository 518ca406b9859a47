"""Odd bodies for every kind of served model: what is acknowledged is what replay learns.

``python -m tests.service.fuzz 10000`` sends 10,000 bodies. For each model it checks that 202 means
in the log, that no answer is 500, and that replay and a restart make the same model to the bit.
"""

import json
import random
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import rosenblatt
from rosenblatt import AROW, Perceptron
from rosenblatt.service.learning import Learning
from rosenblatt.service.replay import log_path, read_log

from .conftest import client_of, examples, replayed, trained

VALUES = [
    None, True, False, 0, -1, 7, 2**53, 2**64, -(2**70), 0.5, -0.0, 5e-324, 1e15, 1e38, 1e300, "",
    " ", "big", "BIG ", "small", "5", " 5 ", "1_000", "1e5", "nan", "NaN", "inf", "٣", "é",
    "\x00", "a\x00b", "\n", "\u2028", "\U0001f600", "x" * 3000, "2024-02-30", [], [1], {}, {"a": 1},
    ["a", "b"], [[1]], "1 1:2", "1 | a b:3", "0,1 1:1", "-1", "1.5 | x", "| y", "# 1 1:1",
]  # fmt: skip
TEXTS = [
    b"", b" ", b"null", b"[]", b"{", b"[{}]", b"NaN", b"[NaN]", b'{"a": Infinity}', b'"\\ud800"',
    b'{"size": 1, "size": 2, "kind": "big"}', b'{"kind": "\\ud800", "size": 1}', b"\xff\xfe",
    b"\xef\xbb\xbf{}", b"[" * 5000, b'{"size": 1' + b"0" * 400 + b', "kind": "big"}', b"a,b\n1\n",
    b'size,kind\n"1,big\n', b"size,size\n1,2\n", b"\n\n\n", b"1 1:1 1:2\n", b"1 2:1 1:1\n",
]  # fmt: skip
KINDS = ["application/json"] * 6 + ["application/x-www-form-urlencoded", "text/html"]


def make_models(folder):
    """Models of all kinds, each with examples that it can learn and whether it may grow."""
    random_rows = np.random.default_rng(0)
    X = random_rows.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    numbers = [{"a": round(a, 3), "b": round(b, 3), "kind": int(a > 0)} for a, b, _ in X]
    dates = [{"when": f"2024-0{1 + k % 9}-11", "c": "xyz"[k % 3], "kind": k % 3} for k in range(40)]
    sets = [{"a": round(a, 3), "kind": "x;y" if a > 0 else "y" if b > 0 else "z"} for a, b, _ in X]
    yield trained(folder / "table"), examples(30), False
    yield trained(folder / "growing", rule="arow"), examples(30), True
    yield trained(folder / "numbers", numbers, text=(), bits=None), numbers, True
    yield trained(folder / "dates", dates, text=()), dates, False
    yield trained(folder / "sets", sets, text=(), labels_separator=";"), sets, False
    yield from (
        (save(folder / f"array{k}", model.fit(X, y)), array_rows(X, y), False)
        for k, model in enumerate((Perceptron(), AROW()))
    )


def save(path, model):
    rosenblatt.save(model, path)
    return path


def array_rows(X, y):
    return [{"x": row, "label": label} for row, label in zip(X.tolist(), y.tolist(), strict=True)]


def odd_row(chance, row):
    """A row of which some is odd."""
    row = dict(row)
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        name = chance.choice([*row, "kind", "more"]) if row else "kind"
        action = chance.randrange(4)
        if action == 0:
            row.pop(name, None)
        elif action == 1 and isinstance(row.get(name), list):
            row[name] = [*row[name][: chance.randrange(4)], chance.choice(VALUES)]
        else:
            row[name] = chance.choice(VALUES)
    return row


def odd_body(chance, rows):
    """Bytes and a content type."""
    if chance.random() < 0.1:
        return chance.choice(TEXTS), chance.choice(KINDS)
    some = [odd_row(chance, chance.choice(rows)) for _ in range(chance.choice([1, 1, 2, 5]))]
    kind = chance.choice(KINDS)
    body = json.dumps(some if len(some) > 1 or chance.random() < 0.3 else some[0]).encode()
    if chance.random() < 0.1:
        place = chance.randrange(len(body) + 1)
        body = (
            body[:place] + bytes([chance.randrange(256)]) * chance.randrange(3) + body[place + 1 :]
        )
    return body, kind


def send_all(path, rows, grow, count, seed):
    """Send bodies to one model; return how many examples were learnt, after all checks."""
    chance, said = random.Random(seed), []
    learning = Learning(path, say=said.append)
    learning.served.most_classes = 40 if grow else None
    learning.start()
    client, learnt = client_of(learning), 0
    for _ in range(count):
        body, kind = odd_body(chance, rows)
        headers = {"content-type": kind}
        answer = client.post("/learn", content=body, headers=headers)
        assert answer.status_code in (202, 400, 413, 415), (body, answer.text)
        if answer.status_code == 202:
            learnt += answer.json()["examples"]
            assert answer.json()["sequence"] == learnt, body
        asked = client.post("/predict", content=body, headers=headers)
        assert asked.status_code in (200, 400, 413, 415), (body, asked.text)
    learning.stop()
    assert learning.failure is None, learning.failure
    with read_log(log_path(path)) as log:
        assert sum(len(entries) for entries in log.entries(0)) == log.last == learnt
    assert learning.served.sequence == learnt
    assert path.read_bytes() == replayed(path), path.name
    again = Learning(path, say=said.append)
    assert again.served.progress.as_json() == learning.served.progress.as_json()
    again.log.close()
    assert said == []
    return learnt


def run(count, seed=0):
    """Send bodies to models of all kinds; return how many examples these learnt."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = list(make_models(Path(folder)))
        each = -(-count // len(models))
        return {
            path.name: send_all(path, rows, grow, each, f"{seed} {path.name}")
            for path, rows, grow in models
        }


if __name__ == "__main__":
    for name, learnt in run(int(sys.argv[1]), *map(int, sys.argv[2:])).items():
        print(f"{name}: {learnt:,} examples learnt, live and by replay alike")

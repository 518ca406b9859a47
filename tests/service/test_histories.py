"""Random histories of a service against a naive twin that remembers all rows of its log."""

import random

import pytest
from hypothesis import given, strategies as st

from rosenblatt.service import changes
from rosenblatt.service.learning import Learning
from rosenblatt.service.log import Change
from rosenblatt.service.model import ServedModel
from rosenblatt.service.replay import has_seen
from rosenblatt.storage.file import load_model

from .conftest import replayed, trained
from .test_changes import same, teach

ROWS = [{"a": k % 7 - 3, "b": k % 5, "kind": "xyz"[k % 3]} for k in range(90)]


def lineage(rows, number):
    """The model file that the model after a row began with, and the examples it has learnt."""
    kind, *details = rows[number]
    if kind == "first":
        return details[0], []
    if kind == "rollback":
        return lineage(rows, details[0])
    if kind == "model":
        return details[0], []
    path, known = lineage(rows, number - 1)
    return path, [*known, number] if kind == "example" else known


class History:
    """A service and its twin."""

    def __init__(self, folder, seed):
        self.chance, self.folder = random.Random(seed), folder
        kinds = {"perceptron": "average", "arow": "average", "pa": "last"}
        plain = {"text": (), "bits": None}
        self.files = [
            trained(folder / rule, ROWS[k : k + 30], rule=rule, solution=solution, **plain)
            for k, (rule, solution) in enumerate(kinds.items())
        ]
        self.path = folder / "m"
        self.path.write_bytes(self.files[0].read_bytes())
        self.rows = [("first", self.files[0])]
        self.start()

    def start(self):
        self.learning = Learning(self.path, say=lambda sentence: None)
        self.learning.start()

    def learn(self):
        some = self.chance.choices(ROWS, k=self.chance.randrange(1, 6))
        teach(self.learning, some)
        self.rows += [("example", row) for row in some]

    def forget(self):
        known = [n for n, (kind, *_) in enumerate(self.rows) if kind in ("example", "forgotten")]
        if not known:
            return
        some = self.chance.sample(known, min(len(known), 2))
        changes.forget(self.learning, some)
        for number in some:
            self.rows[number] = ("forgotten",)

    def roll_back(self):
        number = self.chance.randrange(len(self.rows))
        changes.roll_back(self.learning, number)
        self.rows.append(("rollback", number))

    def load(self):
        path = self.chance.choice(self.files)
        changes.load(self.learning, path.read_bytes())
        self.rows.append(("model", path))

    def restart(self):
        self.learning.stop()
        self.start()

    def run(self, steps):
        actions = [self.learn] * 4 + [self.forget, self.roll_back, self.load, self.restart]
        for _ in range(steps):
            self.chance.choice(actions)()
            self.check()
        self.learning.stop()
        assert self.path.read_bytes() == replayed(self.path)

    def check(self):
        path, known = lineage(self.rows, len(self.rows) - 1)
        twin = ServedModel(load_model(path), str(path))
        for number in known:
            twin.learn(twin.maker.make([self.rows[number][1]], labelled=True))
        assert self.learning.served.sequence == self.learning.log.last == len(self.rows) - 1
        assert same(self.learning.served, twin)


@pytest.mark.parametrize("seed", range(4))
def test_a_history_is_that_of_its_twin(tmp_path, seed):
    History(tmp_path, seed).run(25)


@st.composite
def histories(draw):
    """Rows of a log of examples and changes."""
    rows = [("first", "path")]
    for number in range(1, draw(st.integers(2, 25))):
        kind = draw(st.sampled_from(["example", "example", "example", "rollback", "model"]))
        source = draw(st.integers(0, number - 1))
        rows.append(
            {"example": ("example", {}), "model": ("model", "other")}.get(
                kind, ("rollback", source)
            )
        )
    return rows


@given(histories())
def test_a_model_has_seen_what_is_in_its_lineage(rows):
    sources = {n: row[1] if row[0] == "rollback" else n - 1 for n, row in enumerate(rows)}
    found = [
        Change(n, row[0], sources[n])
        for n, row in enumerate(rows)
        if row[0] in ("rollback", "model")
    ]
    for number in range(len(rows)):
        _, known = lineage(rows, number)
        for example, (kind, *_) in enumerate(rows):
            if kind == "example":
                assert has_seen(found, number, [example]) == (example in known)

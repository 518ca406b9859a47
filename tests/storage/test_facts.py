"""Entries of model files are checked by their declared types before anything uses them."""

import base64
import math
import resource
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import numpy as np
import pytest

import rosenblatt
from rosenblatt import Perceptron, PerceptronNetwork
from rosenblatt.reading.recipe import FeatureRecipe
from rosenblatt.storage.facts import fits
from rosenblatt.storage.file import load_model

from ..conftest import ROUNDS
from . import forgeries
from .forgeries import FINE
from .models import forge, refused, write

EVERY = max(60 // ROUNDS, 1)
"""One of so many forgeries is tried; ``ROUNDS=60`` tries all."""


class Pair(NamedTuple):
    name: str
    size: float = 1.0


class Entry(TypedDict):
    number: int
    note: NotRequired[str | None]


@dataclass
class Options:
    words: list[str]
    bits: int | None = None


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        (int, [0, -1, np.int64(3)], [True, 1.0, "1", None, 2**63, [1]]),
        (float, [0.5, 1, math.inf, np.float32(1)], [True, "1", 10**400, None]),
        (bool, [True, np.bool_(False)], [0, 1, "True"]),
        (str | None, ["", None], [0, ["a"], {}]),
        (list[int], [[], [1, 2], (3,)], [1, "12", [1.0], {"0": 1}, None]),
        (tuple[int, str], [[1, "a"]], [[1], [1, "a", 2], ["a", 1], {}]),
        (tuple[int, ...], [[], [1, 2]], [["a"], 3]),
        (dict[str, float], [{}, {"a": 1}], [{"a": "b"}, [], None]),
        (Annotated[float, math.isfinite], [1.0], [math.nan, math.inf, "a"]),
        (Pair, [["a"], ["a", 2]], [[], ["a", 2, 3], [1], {}, {"name": "a"}]),
        (Entry, [{"number": 1}, {"number": 1, "note": None, "more": []}], [{}, {"number": ""}, []]),
        (Options, [{}, {"words": ["a"]}], [{"more": 1}, {"words": "a"}, {"bits": "1"}, []]),
        (Any, [None, {1}], []),
    ],
    ids=lambda value: str(value) if not isinstance(value, list) else "",
)
def test_values_fit_their_declared_types_or_not(wanted, right, wrong):
    assert [value for value in right if not fits(value, wanted)] == []
    assert [value for value in wrong if fits(value, wanted)] == []


@pytest.mark.filterwarnings("ignore")
def test_forged_files_of_every_kind_are_refused_or_harmless(tmp_path):
    path, tried, wrong = tmp_path / "forged", 0, []
    for number, (name, model, X) in enumerate(forgeries.models()):
        for count, (what, header, tensors) in enumerate(forgeries.forgeries(model, tmp_path)):
            if (count + 7 * number) % EVERY:
                continue
            write(path, header, tensors)
            became, tried = forgeries.outcome(path, X), tried + 1
            if became not in FINE:
                wrong.append(f"{name}: {what}: {became[:200]}")
    assert wrong == []
    assert tried > 500 * ROUNDS


@pytest.fixture
def little_memory():
    """At most a gigabyte more than there is in use."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def forged(path, model, change):
    """Write a changed copy of a model."""
    rosenblatt.save(model, path)
    forge(path, load_model(path), change)
    return path


def test_a_network_of_a_billion_layers_is_refused_before_memory_is_asked_for(
    tmp_path, little_memory
):
    network = PerceptronNetwork("tiling", random_state=0).fit([[0], [1], [2]], [0, 1, 0])

    def add_layers(header, tensors):
        tensors["0.places"] = tensors["0.places"].copy()
        tensors["0.places"][-1, 1] = 10**9

    path = forged(tmp_path / "model", network, add_layers)
    refused(path, "its units are not in order")


def test_a_recipe_that_would_unpack_to_gigabytes_is_refused(tmp_path, little_memory):
    (tmp_path / "rows.svm").write_text("".join(f"{k % 2} 1:{k} 3:{k * 10**6}\n" for k in range(20)))
    model = rosenblatt.train(tmp_path / "rows.svm", scale="maxabs")

    def inflate(header, tensors):
        zipped = zlib.compressobj(9)
        start = zipped.compress(b"") + zipped.flush(zlib.Z_FULL_FLUSH)
        block = zipped.compress(bytes(2**24)) + zipped.flush(zlib.Z_FULL_FLUSH)
        data = start + 128 * block + zipped.flush()
        header["features"]["recipe"]["scales"]["factors"] = base64.b64encode(data).decode()

    path = forged(tmp_path / "model", model, inflate)
    refused(path)


@pytest.mark.parametrize("name", [each.name for each in fields(FeatureRecipe)])
def test_a_recipe_must_be_whole(tmp_path, name):
    (tmp_path / "rows.svm").write_text("1 1:1\n0 2:1\n")
    model = rosenblatt.train(tmp_path / "rows.svm")
    path = forged(
        tmp_path / "model", model, lambda header, _: header["features"]["recipe"].pop(name)
    )
    refused(path, "its recipe does not fit together")


def test_numbers_of_rows_must_be_those_of_the_classes(tmp_path):
    model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    path = forged(tmp_path / "model", model, lambda header, _: header["facts"]["class_rows"].pop())
    refused(path, "its facts do not fit its classes")

"""The naive twins stand on their own, and draw the same numbers as the package."""

import ast
from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st

from rosenblatt import Epoch
from rosenblatt.kernels.algebra import mix, shuffle

from . import reference

WORDS = st.integers(0, 2**64 - 1)


def test_the_twins_import_nothing_of_the_package():
    source = Path(reference.__file__).read_text("utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if "Import" in type(node).__name__]
    assert {ast.unparse(node) for node in imports} == {
        "from statistics import NormalDist",
        "from typing import NamedTuple",
        "import numpy as np",
    }


def test_an_epoch_is_told_in_the_same_words():
    assert reference.Epoch._fields == Epoch._fields
    assert reference.Epoch._field_defaults == Epoch._field_defaults


@given(word=WORDS)
def test_bits_are_scattered_alike(word):
    assert reference.mix_bits(word) == int(mix(np.array([word], np.uint64))[0])


@given(count=st.integers(0, 50), seed=st.integers(0, 2**32 - 1), number=WORDS)
def test_rows_are_shuffled_alike(count, seed, number):
    order = np.arange(count, dtype=np.uint32)
    shuffle(order, np.uint64(seed), np.uint64(number))
    assert reference.shuffled(range(count), seed, number) == order.tolist()

"""Trainings from files come out as they did when ``golden.json`` was written."""

import json

import pytest

from .golden import CASES, PATH, train, write_files

GOLDEN = json.loads(PATH.read_text())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("name", CASES)
def test_the_outcome_is_the_same(files, name):
    wanted, found = dict(GOLDEN[name]), train(files, name)
    assert found.pop("sums") == pytest.approx(wanted.pop("sums"), rel=1e-4)
    assert found == wanted

"""What taggers learn stays what it was when ``golden.json`` was written."""

import json

import pytest

from . import taggers

WANTED = json.loads(taggers.GOLDEN.read_text())


@pytest.mark.parametrize("name", taggers.CASES)
def test_fit_learns_what_it_did(name):
    assert taggers.fingerprint(taggers.fitted(name), name) == WANTED[name]


@pytest.mark.parametrize("key", [key for key in WANTED if key.endswith(" in batches")])
def test_partial_fit_learns_what_it_did(key):
    name = key.removesuffix(" in batches")
    assert taggers.fingerprint(taggers.learnt_in_batches(name), name) == WANTED[key]

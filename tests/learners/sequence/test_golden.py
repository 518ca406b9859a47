"""What taggers learn stays what it was in 0.2.0, and files that 0.2.0 wrote are still read."""

import json

import pytest

import rosenblatt

from . import taggers

WANTED = json.loads(taggers.GOLDEN.read_text())


@pytest.mark.parametrize("name", taggers.CASES)
def test_fit_learns_what_it_did(name):
    assert taggers.fingerprint(taggers.fitted(name), name) == WANTED[name]


@pytest.mark.parametrize("key", [key for key in WANTED if key.endswith(" in batches")])
def test_partial_fit_learns_what_it_did(key):
    name = key.removesuffix(" in batches")
    assert taggers.fingerprint(taggers.learnt_in_batches(name), name) == WANTED[key]


@pytest.mark.parametrize("name", [*taggers.FILES, "batches"])
def test_files_of_0_2_predict_as_they_did(name):
    model = rosenblatt.load(taggers.MODELS / f"0.2.0-3-tagger-{name}.safetensors")
    case, key = ("average", "average in batches") if name == "batches" else (name, name)
    assert taggers.fingerprint(model, case) == WANTED[key]


def test_a_file_of_0_2_keeps_the_layout_of_its_sentences():
    model = rosenblatt.load(taggers.MODELS / "0.2.0-3-tagger-file.safetensors")
    found = model.predict([[("dogs", "S"), ("ran", "N")], [("the", "E")]])
    assert (model.n_mistakes_, found) == (44, [["B", "A"], ["A"]])

"""The model file: what comes back is what was saved, and no file or failure does harm.

``python -c "from tests.test_storage import make; make()"`` writes this release's ``tests/models``.
"""

import copy
import json
import os
import pickle
import resource
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import save_file

import rosenblatt
from rosenblatt import Epoch, KernelPerceptron, Perceptron, __version__, storage
from rosenblatt.kernels.linear import Updates
from rosenblatt.storage import Model, load, save
from rosenblatt.training import SOLUTIONS, Bookmark, joined

from .conftest import FORMS, LAYOUTS, blobs, csr, examples, form_parameters

MODELS = Path(__file__).with_name("models")


def model_of(perceptron):
    facts = {
        "stop_reason": perceptron.stop_reason_,
        "intercept_step": perceptron._intercept_step,
        "plain": perceptron._plain,
    }
    state = perceptron.classes_, perceptron._solutions
    return Model(perceptron.get_params(), *state, {}, facts, perceptron.history_)


def perceptron_of(model):
    perceptron = Perceptron(**model.parameters)
    perceptron.classes_, perceptron._solutions = model.classes, model.solutions
    perceptron.n_features_in_ = model.solutions[0].weights.shape[0]
    perceptron._answered = None
    return perceptron


def trained(solution="last", form="two", layout="dense", dtype=np.float64, labels=None, **chosen):
    rows, y = blobs(12, 3, classes=2 if form == "two" else 3)
    rows = LAYOUTS[layout](np.round(4 * rows).astype(dtype))
    chosen = {"max_iter": 3, "random_state": 0, **form_parameters(form), **chosen}
    y = y if labels is None else np.asarray(labels)[y]
    return Perceptron(solution=solution, **chosen).fit(rows, y)


def learn_on(perceptron, X, y):
    """Go on as the solution can: the pocket needs all rows at once."""
    if perceptron.solution == "pocket":
        return perceptron.set_params(warm_start=True).fit(X, y)
    return perceptron.partial_fit(X, y)


def assert_same_arrays(one, other):
    one, other = (part.toarray() if hasattr(part, "indptr") else part for part in (one, other))
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert one.tobytes() == other.tobytes()


def assert_same_solution(one, other):
    assert type(one) is type(other)
    for field in fields(one):
        here, there = getattr(one, field.name), getattr(other, field.name)
        if field.name == "updates":
            here, there = joined(here), joined(there)
        if isinstance(here, np.ndarray):
            here, there = [here], [there]
        if isinstance(here, list | Updates):
            assert len(here) == len(there)
            for parts in zip(here, there, strict=True):
                assert_same_arrays(*parts)
        else:
            assert (type(here), here) == (type(there), there)


def assert_same(one, other):
    assert one.parameters == other.parameters
    assert one.classes.dtype == other.classes.dtype
    assert one.classes.tolist() == other.classes.tolist()
    assert (one.features, one.facts) == (other.features, other.facts)
    assert list(one.history) == list(other.history)
    for solutions in zip(one.solutions, other.solutions, strict=True):
        assert_same_solution(*solutions)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """One file that many examples overwrite."""
    return tmp_path_factory.mktemp("models") / "model.safetensors"


def files_beside(path):
    return sorted(file.name for file in path.parent.iterdir())


# What comes back


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", SOLUTIONS)
@settings(max_examples=15)
@given(choices=st.data())
def test_a_model_that_was_away_predicts_and_learns_on_bit_for_bit(solution, form, path, choices):
    X, y = choices.draw(examples(form))
    dtype = choices.draw(st.sampled_from([np.float32, np.float64]))
    first, then = (
        LAYOUTS[choices.draw(st.sampled_from(list(LAYOUTS)))](X.astype(dtype)) for _ in range(2)
    )
    chosen = choices.draw(
        st.fixed_dictionaries(
            {
                "eta0": st.sampled_from([1.0, 0.3]),
                "margin": st.sampled_from([0.0, 1.0]),
                "max_iter": st.integers(1, 4),
                "random_state": st.integers(0, 9),
            }
        )
    )
    here = Perceptron(solution=solution, **chosen, **form_parameters(form)).fit(first, y)
    for _ in range(2):
        save(path, model_of(here))
        assert_same(load(path), model_of(here))
        away = perceptron_of(load(path))
        assert_same_arrays(away.decision_function(then), here.decision_function(then))
        assert_same_arrays(away.predict(then), here.predict(then))
        learn_on(here, then, y)
        learn_on(away, then, y)
        for solutions in zip(away._solutions, here._solutions, strict=True):
            assert_same_solution(*solutions)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", ["last", "average", "vote"])
def test_batches_with_a_break_equal_batches_without_on_real_numbers(solution, layout, tmp_path):
    rows, y = blobs(60, 7, classes=3)
    rows = LAYOUTS[layout](rows)
    whole, broken = (Perceptron(solution=solution) for _ in range(2))
    for begin in range(0, 60, 20):
        batch = slice(begin, begin + 20)
        whole.partial_fit(rows[batch], y[batch], classes=range(3))
        broken.partial_fit(rows[batch], y[batch], classes=range(3))
        save(tmp_path / "model", model_of(broken))
        broken = perceptron_of(load(tmp_path / "model"))
    assert_same_arrays(broken.decision_function(rows), whole.decision_function(rows))


@pytest.mark.parametrize(
    "classes",
    [
        np.array([-3, 2], np.int8),
        np.array([0, 2**64 - 1], np.uint64),
        np.array([False, True]),
        np.array([0.1, 0.5], np.float32),
        np.array([0.1, 1e300]),
        np.array(["", 'a "quoted" Ä\N{PILE OF POO}\n'], dtype="<U40"),
        np.array(["ham", "spam"], object),
        np.array([1, 2], ">i4"),
    ],
    ids=lambda classes: classes.dtype.str,
)
def test_labels_keep_their_type(classes, tmp_path):
    model = model_of(trained())._replace(classes=classes)
    save(tmp_path / "model", model)
    assert_same(load(tmp_path / "model"), model)


@pytest.mark.parametrize(
    "weights",
    [None, "balanced", {0: 1.0, 1: 2.5}, {"a": 1, "b": 2}, {np.int64(0): 2.0}, {False: 1, 0.5: 2}],
)
def test_class_weights_keep_their_labels(weights, tmp_path):
    model = model_of(trained())
    model.parameters["class_weight"] = weights
    save(tmp_path / "model", model)
    assert load(tmp_path / "model").parameters == model.parameters


def test_what_is_said_of_features_facts_and_epochs_is_kept(tmp_path):
    model = model_of(trained())._replace(
        features={"columns": ["a", "ü"], "bits": 18},
        facts={"rows": np.int64(7), "loss": np.inf, "share": np.float32(0.5), "none": None},
        history=[Epoch(1, 2**40, 3, 4, np.inf, None), Epoch(2, 2, 3, 4, 0.1, 0.3)],
    )
    save(tmp_path / "model", model)
    back = load(tmp_path / "model")
    assert_same(back, model)
    assert [type(value) for value in back.history[0][:4]] == [int] * 4


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = model_of(trained("vote"))
    for name in "ab":
        save(tmp_path / name, model)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_model_may_have_many_features_and_no_row_seen(tmp_path):
    perceptron = Perceptron(solution="vote").partial_fit(csr([[1.0, 0], [0, 1]]), [0, 1], [0, 1])
    (vote,) = perceptron._solutions
    wide = SOLUTIONS["vote"](np.zeros(2**20, np.float32), vote.bias.astype(np.float32))
    model = model_of(perceptron)._replace(solutions=[wide])
    save(tmp_path / "model", model)
    assert_same(load(tmp_path / "model"), model)


# Models of earlier releases


POINTS = np.array([[a, b, 1 - a] for a in (-2, 0, 2) for b in (-2, 0, 2)], float)
KEPT = {
    "last": {"labels": [-1, 1]},
    "average": {"form": "argmax", "layout": "int32", "labels": ["ham", "spam", "Käse"]},
    "vote": {"form": "ovr", "layout": "int64", "dtype": np.float32},
    "pocket": {"order": "fixed", "labels": [False, True], "class_weight": {False: 1.0, True: 2.0}},
}
PINNED = {  # answers, mistakes after learning on, answers then
    "0.1.0-average": ("211220200", 14, "211220200"),
    "0.1.0-kernel": ("000101102", 31, "000102102"),
    "0.1.0-last": ("100100110", 12, "110100100"),
    "0.1.0-pocket": ("000100110", 28, "000100110"),
    "0.1.0-vote": ("100102122", 31, "100102122"),
}


def make():
    """Write one small model per solution with this release."""
    for solution, chosen in KEPT.items():
        perceptron = trained(solution, **chosen)
        save(MODELS / f"{__version__}-{solution}.safetensors", model_of(perceptron))
    rows, y = blobs(12, 3, classes=3)
    kernel = KernelPerceptron("poly", degree=2, gamma=1, solution="vote", random_state=0)
    kernel.fit(csr(np.round(4 * rows)), y).save(MODELS / f"{__version__}-kernel.safetensors")


def answers(perceptron):
    """The numbers of the classes of some points."""
    codes = np.searchsorted(perceptron.classes_, perceptron.predict(POINTS))
    return "".join(map(str, codes))


def test_this_release_has_its_models():
    assert {f"{__version__}-{name}.safetensors" for name in [*SOLUTIONS, "kernel"]} <= {
        file.name for file in MODELS.iterdir()
    }


@pytest.mark.parametrize("file", sorted(MODELS.iterdir()), ids=lambda file: file.stem)
def test_a_model_of_any_release_answers_and_learns_as_it_did(file):
    perceptron = rosenblatt.load(file)
    labels = perceptron.classes_[np.arange(len(POINTS)) % len(perceptron.classes_)]
    before = answers(perceptron)
    dtype = np.float32 if file.stem.endswith("vote") else np.float64
    learn_on(perceptron, POINTS.astype(dtype), labels)
    assert (before, perceptron.n_mistakes_, answers(perceptron)) == PINNED[file.stem]


# Damaged and hostile files


@pytest.mark.parametrize("score", ["x", {"rows": 3}, {"rows": "a", "errors": None}])
def test_held_out_rows_that_cannot_be_are_not_saved(path, score):
    model = model_of(trained())
    with pytest.raises(ValueError, match="its held-out rows are out of range"):
        save(path, model._replace(facts=model.facts | {"held_out": score}))


def test_a_bookmark_is_at_the_end_of_the_history(path):
    model = model_of(trained())
    place = Bookmark(epoch=len(model.history) + 1)
    with pytest.raises(ValueError, match="its bookmark is not in its history"):
        save(path, model._replace(bookmark=place))


@pytest.fixture(scope="module", params=SOLUTIONS)
def small(request, path):
    """A model, its file's bytes, and a place to write other bytes to."""
    layout = "int32" if request.param == "vote" else "dense"
    model = model_of(trained(request.param, layout=layout))
    save(path, model)
    return model, path.read_bytes(), path.with_name("other")


def refused(path, match="is not an intact model of rosenblatt"):
    with pytest.raises(ValueError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300


def attempt(path):
    """The model, or the sentence with which it is refused."""
    try:
        return load(path)
    except ValueError as error:
        return str(error)


def test_every_changed_byte_is_found_or_changes_nothing(small):
    model, content, other = small
    found = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        other.write_bytes(changed)
        outcome = attempt(other)
        if isinstance(outcome, str):
            assert str(other) in outcome
            found += 1
        else:
            assert_same(outcome, model)
    assert found > 0.98 * len(content)


def test_every_cut_is_found(small):
    _, content, other = small
    for length in range(len(content)):
        other.write_bytes(content[:length])
        refused(other)
    other.write_bytes(content + b"\0")
    refused(other)


HUGE = (2**63).to_bytes(8, "little")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text\n" * 50,
        b"\0" * 64,
        HUGE + b"{}",
        (99_999_999).to_bytes(8, "little") + b"{}",
        pickle.dumps(trained()),
        b"\2\0\0\0\0\0\0\0{}",
        b"\2\0\0\0\0\0\0\0[]",
        b"\4\0\0\0\0\0\0\0" + b"[" * 4,
    ],
)
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "other").write_bytes(content)
    refused(tmp_path / "other")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "[]",
        "{}",
        "{",
        "[" * 100_000,
        '{"format": 1' + "0" * 5000 + "}",
        '{"format": "1"}',
        '{"format": null}',
        '{"format": 1}',
        '{"format": 1, "checksum": 1}',
        '{"format": 1, "checksum": ""}',
    ],
)
def test_other_safetensors_are_refused(text, tmp_path):
    save_file({"0.weights": np.zeros(3)}, tmp_path / "other", {"rosenblatt": text})
    refused(tmp_path / "other")
    save_file({"0.weights": np.zeros(3)}, tmp_path / "other")
    refused(tmp_path / "other")


def forge(path, model, change):
    """Write a changed model with a checksum that is right."""
    tensors, text = storage.packed(model)
    header = json.loads(text)
    change(header, tensors)
    text = json.dumps(header)
    text = text.replace('""', f'"{storage.checksum(text, tensors)}"', 1)
    save_file(tensors, path, {"rosenblatt": text})


def put(place, value):
    """A change of one header entry or tensor, given by its path."""

    def change(header, tensors):
        if isinstance(value, np.ndarray):
            tensors[place] = value
            return
        *outer, last = place
        for name in outer:
            header = header[name]
        header[last] = value

    return change


def test_a_newer_file_says_what_to_do(tmp_path):
    forge(tmp_path / "new", model_of(trained()), put(["format"], storage.FORMAT + 1))
    refused(tmp_path / "new", "was written by a newer rosenblatt; update rosenblatt to load it")


FORGERIES = {
    "labels missing": ("last", put(["classes", "values"], [0])),
    "labels twice": ("last", put(["classes", "values"], [1, 1])),
    "labels too many": ("last", put(["classes", "values"], [0, 1, 2])),
    "labels of another type": ("last", put(["classes", "values"], [0.5, 1])),
    "labels nested": ("last", put(["classes", "values"], [[0], [1]])),
    "labels too large": ("last", put(["classes", "values"], [0, 2**70])),
    "labels out of order": ("last", put(["classes"], {"dtype": "<U1", "values": ["b", "a"]})),
    "labels that are objects": ("last", put(["classes"], {"dtype": "|O", "values": [[1], [1, 2]]})),
    "label type huge": ("last", put(["classes"], {"dtype": "<U500000000", "values": ["a", "b"]})),
    "label type unknown": ("last", put(["classes", "dtype"], "<M8[ns]")),
    "label type compound": ("last", put(["classes", "dtype"], "(9999999,9999999)i8")),
    "solution unknown": ("last", put(["parameters", "solution"], "best")),
    "solution no name": ("last", put(["parameters", "solution"], [])),
    "solution of another kind": ("last", put(["parameters", "solution"], "average")),
    "solution of a lesser kind": ("average", put(["parameters", "solution"], "last")),
    "solutions none": ("last", put(["solutions"], [])),
    "solutions too many": ("last", put(["solutions"], [{"seen": 0, "mistakes": 0}] * 2)),
    "class weights without names": ("last", put(["parameters", "class_weight"], [[[], 1]])),
    "facts no dict": ("last", put(["facts"], [])),
    "features no dict": ("last", put(["features"], "all")),
    "history of another shape": ("last", put("history", np.zeros((2, 5)))),
    "history of no numbers": ("last", put("history", np.full((1, 6), np.nan))),
    "counter missing": ("last", put(["solutions", 0], {"seen": 1})),
    "counter negative": ("last", put(["solutions", 0, "seen"], -1)),
    "counter huge": ("last", put(["solutions", 0, "seen"], 2**63)),
    "counter no integer": ("last", put(["solutions", 0, "mistakes"], 1.0)),
    "counter no number": ("pocket", put(["solutions", 0, "errors"], float("nan"))),
    "counter no truth": ("pocket", put(["solutions", 0, "measured"], 1)),
    "weights of no shape": ("last", put("0.weights", np.array(1.0))),
    "weights of two": ("last", put("0.weights", np.zeros((3, 2)))),
    "weights whole": ("last", put("0.weights", np.zeros(3, np.int64))),
    "weights half": ("last", put("0.weights", np.zeros(3, np.float16))),
    "weights NaN": ("last", put("0.weights", np.array([1, np.nan, 0]))),
    "weights infinite": ("last", put("0.weights", np.array([1, np.inf, 0]))),
    "bias long": ("last", put("0.bias", np.zeros(2))),
    "bias of another type": ("last", put("0.bias", np.zeros(1, np.float32))),
    "missing short": ("average", put("0.missing", np.zeros(2))),
    "missing bias long": ("average", put("0.missing_bias", np.zeros(3))),
    "pocket short": ("pocket", put("0.best_weights", np.zeros(2))),
    "first weights long": ("vote", put("0.first_weights", np.zeros(4))),
    "tensor too many": ("last", put("1.weights", np.zeros(3))),
    "tensor missing": ("last", lambda header, tensors: tensors.pop("0.bias")),
    "supports missing": ("vote", put(["solutions", 0, "supports"], 10**15)),
    "supports forgotten": ("vote", put(["solutions", 0, "supports"], 0)),
    "supports no number": ("vote", put(["solutions", 0, "supports"], "1")),
    "supports NaN": ("vote", put("0.supports.0.data", np.array([np.nan]))),
    "supports outside": ("vote", put("0.supports.0.indices", np.full(1, 3, np.int32))),
    "supports before": ("vote", put("0.supports.0.indices", np.full(1, -1, np.int32))),
    "supports at fractions": ("vote", put("0.supports.0.indices", np.zeros(1))),
    "supports back and forth": ("vote", put("0.supports.0.indptr", np.array([0, 9, 1], np.int32))),
    "supports beyond": ("vote", put("0.supports.0.indptr", np.array([0, 9**9], np.int32))),
    "supports without start": ("vote", put("0.supports.0.indptr", np.empty(0, np.int32))),
    "supports dense, too wide": ("vote", put("0.supports.0", np.zeros((1, 4)))),
    "updates outside": ("vote", put("0.updates.rows", np.array([1]))),
    "updates before": ("vote", put("0.updates.rows", np.array([-1]))),
    "updates too many": ("vote", put("0.updates.rows", np.array([0, 0]))),
    "updates too late": ("vote", put("0.updates.times", np.array([9**9]))),
    "updates of fractions": ("vote", put("0.updates.rows", np.array([0.0]))),
    "updates nested": ("vote", put("0.updates.rows", np.array([[0]]))),
    "updates infinite": ("vote", put("0.updates.steps", np.array([np.inf]))),
}


def voted():
    """A vote with one sparse row and one update."""
    rows = csr(np.array([[0.0, 2.0, 0.0], [0.0, 1.0, 0.0]]))
    return Perceptron(solution="vote").partial_fit(rows, [1, 1], [0, 1])


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_file_with_a_right_checksum_is_refused(what, tmp_path):
    solution, change = FORGERIES[what]
    model = model_of(voted() if solution == "vote" else trained(solution))
    forge(tmp_path / "same", model, lambda header, tensors: None)
    assert_same(load(tmp_path / "same"), model)
    forge(tmp_path / "other", model, change)
    refused(tmp_path / "other")


@pytest.mark.parametrize("field", ["labels", "rivals"])
@pytest.mark.parametrize("number", [-1, 3])
def test_an_update_of_a_class_that_is_not_there_is_refused(field, number, tmp_path):
    model = model_of(trained("vote", "argmax"))
    (updates,) = model.solutions[0].updates
    wrong = np.full(len(updates.rows), number)
    forge(tmp_path / "other", model, put(f"0.updates.{field}", wrong))
    refused(tmp_path / "other")


def test_updates_out_of_order_are_refused(tmp_path):
    model = model_of(trained("vote"))
    (updates,) = model.solutions[0].updates
    forge(tmp_path / "other", model, put("0.updates.times", updates.times[::-1].copy()))
    refused(tmp_path / "other", "out of order")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
TENSORS = st.tuples(
    st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_]),
    st.lists(st.integers(0, 4), max_size=3),
    st.integers(-2, 20),
).map(
    lambda drawn: np.full(drawn[1], abs(drawn[2]) if drawn[0] == np.uint8 else drawn[2], drawn[0])
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", SOLUTIONS)
@settings(max_examples=60)
@given(choices=st.data())
def test_whatever_a_forger_writes_is_refused_or_harmless(solution, form, path, choices):
    model = model_of(trained(solution, form, layout="int32"))

    def change(header, tensors):
        if choices.draw(st.booleans()):
            tensors[choices.draw(st.sampled_from(sorted(tensors)))] = choices.draw(TENSORS)
            return
        place = header
        keys = ["parameters", "classes", "solutions", "features", "facts"]
        key = choices.draw(st.sampled_from(keys))
        while isinstance(place[key], dict | list) and place[key] and choices.draw(st.booleans()):
            place = place[key]
            key = choices.draw(
                st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))
            )
        place[key] = choices.draw(JSON)

    forge(path, copy.deepcopy(model), change)
    outcome = attempt(path)
    if isinstance(outcome, str):
        assert str(path) in outcome
    elif outcome.parameters.get("ties") in ("mistake", "correct"):
        weights = outcome.solutions[0].weights
        perceptron_of(outcome).predict(np.ones((2, weights.shape[0]), weights.dtype))


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for what in ("pipe", ""):
        refused(tmp_path / what, "is a (folder|device or pipe); give the name of a file")
        with pytest.raises(ValueError, match="give the name of a file"):
            save(tmp_path / what, model_of(trained()))
    with pytest.raises(FileNotFoundError, match=r"missing could not be read: no such file .*\.$"):
        load(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match=r"nowhere/model could not be written: no such "):
        save(tmp_path / "nowhere" / "model", model_of(trained()))


LOAD_IN_LITTLE_MEMORY = """
import resource, sys
from rosenblatt.storage import load
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load(sys.argv[1])
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_header_that_would_take_all_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge"
    text = '{"format": 1, "checksum": "", "facts": [' + '{"a":1},' * (storage.HEADER_BYTES // 8)
    save_file({"0.weights": np.zeros(3)}, path, {"rosenblatt": text})
    command = [sys.executable, "-c", LOAD_IN_LITTLE_MEMORY, path]
    refusal, memory = subprocess.check_output(command, text=True).splitlines()
    assert "is not an intact model of rosenblatt (its header is longer than 32 MB)" in refusal
    assert int(memory) < 10_000  # kB


def test_a_large_table_of_names_is_kept_and_a_larger_one_refused(tmp_path, monkeypatch):
    names = [f"feature number {k}" for k in range(10**6)]
    model = model_of(trained())._replace(features={"names": names})
    save(tmp_path / "model", model)
    assert load(tmp_path / "model").features["names"] == names
    monkeypatch.setattr(storage, "HEADER_BYTES", 1000)
    with pytest.raises(ValueError, match="names and facts take over 0 MB; shorten the names"):
        save(tmp_path / "other", model)
    assert files_beside(tmp_path / "model") == ["model"]


# What cannot be saved


def test_a_model_that_would_not_load_is_not_saved(tmp_path):
    changed = trained().set_params(solution="average")
    infinite, text, dates = trained(), trained(), model_of(trained())
    infinite._solutions[0].weights[0] = np.inf
    dates = dates._replace(classes=np.array([1, 2], "M8[D]"))
    half_way = voted()
    half_way._solutions[0].pending.append(half_way._solutions[0].updates[0])
    text.set_params(random_state=np.random.RandomState(0))
    for model, match in [
        (model_of(changed), "solution or multi_class are not those of its weights"),
        (model_of(infinite), "weights does not fit or is not finite"),
        (dates, "no place for labels of type '<M8"),
        (model_of(half_way), "not closed"),
        (model_of(text), "random_state give an int or None"),
    ]:
        with pytest.raises(ValueError, match=match):
            save(tmp_path / "model", model)
    assert files_beside(tmp_path / "model") == []


# Failures while writing


FAILURES = [OSError(28, "No space left on device"), KeyboardInterrupt()]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("old", [True, False])
def test_a_failure_keeps_the_old_file_and_leaves_no_litter(
    step, failure, old, tmp_path, monkeypatch
):
    model, path = model_of(trained()), tmp_path / "model"
    if old:
        save(path, model)

    def fail(*_):
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(failure)):
        save(path, model_of(trained("vote")))
    assert files_beside(path) == ["model"] * old
    if old:
        assert_same(load(path), model)


@pytest.mark.parametrize("failure", [*FAILURES, SafetensorError("I/O error: No space left")])
def test_a_failure_half_way_through_writing_keeps_the_old_file(failure, tmp_path, monkeypatch):
    model, path = model_of(trained()), tmp_path / "model"
    save(path, model)

    def fail(tensors, file, metadata):
        Path(file).write_bytes(b"half")
        raise failure

    monkeypatch.setattr(storage, "save_file", fail)
    with pytest.raises((OSError, KeyboardInterrupt)):
        save(path, model)
    monkeypatch.undo()
    assert files_beside(path) == ["model"]
    assert_same(load(path), model)


def test_a_file_that_may_not_grow_keeps_the_old_one(tmp_path):
    model, path = model_of(trained()), tmp_path / "model"
    save(path, model)
    most, limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit))
    try:
        wide = SOLUTIONS["last"](np.zeros(10**5), np.zeros(1))
        with pytest.raises(OSError, match=r"model could not be written: .*File too large"):
            save(path, model._replace(solutions=[wide]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limit))
    assert files_beside(path) == ["model"]
    assert_same(load(path), model)


SAVE_FOR_EVER = """
import sys
from rosenblatt.storage import load, save
models = [load(path) for path in sys.argv[2:]]
print("ready", flush=True)
while True:
    for model in models:
        save(sys.argv[1], model)
"""


@pytest.mark.parametrize("kill_after", [0.0, 0.003, 0.011, 0.02])
def test_a_killed_process_leaves_a_complete_file(kill_after, tmp_path):
    path = tmp_path / "model"
    models = [model_of(trained()), model_of(trained("vote"))]
    for name, model in zip("ab", models, strict=True):
        save(tmp_path / name, model)
    save(path, models[0])
    command = [sys.executable, "-c", SAVE_FOR_EVER, path, tmp_path / "a", tmp_path / "b"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05 + kill_after)
        process.send_signal(signal.SIGKILL)
    back = load(path)
    assert_same(back, models[back.parameters["solution"] == "vote"])


def test_saving_at_the_same_time_leaves_one_of_the_models(tmp_path):
    path, models = tmp_path / "model", [model_of(trained(solution)) for solution in SOLUTIONS]
    save(path, models[0])
    kinds = list(SOLUTIONS)

    def save_and_load(number):
        save(path, models[number % 4])
        back = load(path)
        assert_same(back, models[kinds.index(back.parameters["solution"])])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save_and_load, range(100)))
    assert files_beside(path) == ["model"]


def test_a_new_file_has_the_usual_permissions_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "usual").touch()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    save(tmp_path / "link", model_of(trained()))
    assert (tmp_path / "link").is_symlink()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "model")}
    assert len(modes) == 1


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("m" * 255)
    save(path, model_of(trained()))
    assert_same(load(path), model_of(trained()))


# Light


def test_storage_imports_neither_scikit_learn_nor_pyarrow_nor_sparse_matrices():
    kept = MODELS / f"{__version__}-average.safetensors"
    script = (
        f"import sys, rosenblatt.storage; rosenblatt.storage.load({str(kept)!r})\n"
        "assert not {'sklearn', 'pyarrow', 'scipy.sparse'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

"""The model file: what comes back is what was saved, and no failure does harm."""

import os
import pickle
import resource
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from rosenblatt import AROW, Epoch
from rosenblatt.storage import file
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.linear_state import SOLUTIONS

from ..conftest import blobs
from .models import assert_same, attempt, files_beside, forge, put, refused, trained

# What comes back


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
    model = trained().to_model()._replace(classes=classes)
    save_model(tmp_path / "model", model)
    assert_same(load_model(tmp_path / "model"), model)


@pytest.mark.parametrize(
    "weights",
    [None, "balanced", {0: 1.0, 1: 2.5}, {"a": 1, "b": 2}, {np.int64(0): 2.0}, {False: 1, 0.5: 2}],
)
def test_class_weights_keep_their_labels(weights, tmp_path):
    model = trained().to_model()
    model.parameters["class_weight"] = weights
    save_model(tmp_path / "model", model)
    assert load_model(tmp_path / "model").parameters == model.parameters


def test_what_is_said_of_features_facts_and_epochs_is_kept(tmp_path):
    model = (
        trained()
        .to_model()
        ._replace(
            features={"columns": ["a", "ü"], "bits": 18},
            facts={"rows": np.int64(7), "loss": np.inf, "share": np.float32(0.5), "none": None},
            history=[Epoch(1, 2**40, 3, 4, np.inf, None), Epoch(2, 2, 3, 4, 0.1, 0.3)],
        )
    )
    save_model(tmp_path / "model", model)
    back = load_model(tmp_path / "model")
    assert_same(back, model)
    assert [type(value) for value in back.history[0][:4]] == [int] * 4


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = trained("average").to_model()
    for name in "ab":
        save_model(tmp_path / name, model)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# Damaged files


@pytest.fixture(scope="module", params=SOLUTIONS)
def small(request, path):
    """A model, its file's bytes, and a place to write other bytes to."""
    model = trained(request.param).to_model()
    save_model(path, model)
    return model, path.read_bytes(), path.with_name("other")


def test_every_changed_byte_is_found_or_changes_nothing(small):
    model, content, other = small
    found = 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        other.write_bytes(changed)
        outcome, in_memory = attempt(other), attempt(other, in_memory_as(changed))
        if isinstance(outcome, str):
            assert str(other) in outcome
            assert isinstance(in_memory, str)
            found += 1
        else:
            assert_same(outcome, model)
            assert_same(in_memory, model)
    assert found > 0.98 * len(content)


def in_memory_as(data):
    """A function that loads some bytes as those of a file."""
    return lambda path: load_model(path, bytes(data))


def test_arrays_read_from_memory_may_be_changed(small):
    _, content, _ = small
    tensors, _ = file.pack_model(load_model("m", content))
    assert all(array.flags.writeable for array in tensors.values())


def test_every_cut_is_found(small):
    _, content, other = small
    for length in range(len(content)):
        other.write_bytes(content[:length])
        refused(other)
        refused(other, load=in_memory_as(content[:length]))
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
        "", "1", "[]", "{}", "{", "[" * 100_000, '{"format": 1' + "0" * 5000 + "}",
        '{"format": "1"}', '{"format": null}', '{"format": 1}', '{"format": 1, "checksum": 1}',
        '{"format": 1, "checksum": ""}',
    ],
)  # fmt: skip
def test_other_safetensors_are_refused(text, tmp_path):
    save_file({"0.weights": np.zeros(3)}, tmp_path / "other", {"rosenblatt": text})
    refused(tmp_path / "other")
    save_file({"0.weights": np.zeros(3)}, tmp_path / "other")
    refused(tmp_path / "other")


def test_a_newer_file_says_what_to_do(tmp_path):
    forge(tmp_path / "new", trained().to_model(), put(["format"], file.FORMAT + 1))
    refused(tmp_path / "new", code="model-newer")


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for what in ("pipe", ""):
        refused(tmp_path / what, "is a (folder|device or pipe)", code="not-a-file")
        with pytest.raises(ValueError, match="give the name of a file"):
            save_model(tmp_path / what, trained().to_model())
    with pytest.raises(FileNotFoundError, match=r"missing could not be read: no such file .*\.$"):
        load_model(tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match=r"nowhere/model could not be written: no such "):
        save_model(tmp_path / "nowhere" / "model", trained().to_model())


LOAD_IN_LITTLE_MEMORY = """
import resource, sys
from rosenblatt.storage.file import load_model
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load_model(sys.argv[1])
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_header_that_would_take_all_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge"
    text = '{"format": 1, "checksum": "", "facts": [' + '{"a":1},' * (file.HEADER_BYTES // 8)
    save_file({"0.weights": np.zeros(3)}, path, {"rosenblatt": text})
    command = [sys.executable, "-c", LOAD_IN_LITTLE_MEMORY, path]
    refusal, memory = subprocess.check_output(command, text=True).splitlines()
    assert "is not an intact model of rosenblatt (its header is longer than 32 MB)" in refusal
    assert int(memory) < 10_000  # kB


def test_a_large_table_of_names_is_kept_and_a_larger_one_refused(tmp_path, monkeypatch):
    names = [f"feature number {k}" for k in range(10**6)]
    model = trained().to_model()._replace(features={"names": names})
    save_model(tmp_path / "model", model)
    assert load_model(tmp_path / "model").features["names"] == names
    monkeypatch.setattr(file, "HEADER_BYTES", 1000)
    with pytest.raises(ValueError, match="names and facts take over 0 MB; shorten the names"):
        save_model(tmp_path / "other", model)
    assert files_beside(tmp_path / "model") == ["model"]


# Failures while writing


FAILURES = [
    OSError(28, "No space left on device"),
    KeyboardInterrupt(),
    SafetensorError("I/O error: No space left"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "rosenblatt.storage.file.save_file"])
@pytest.mark.parametrize("old", [True, False])
def test_a_failure_keeps_the_old_file_and_leaves_no_litter(
    step, failure, old, tmp_path, monkeypatch
):
    model, path = trained().to_model(), tmp_path / "model"
    if old:
        save_model(path, model)

    def fail(*given):
        if step.endswith("save_file"):
            Path(given[1]).write_bytes(b"half")
        raise failure

    monkeypatch.setattr(step, fail)
    with pytest.raises((OSError, KeyboardInterrupt, SafetensorError)):
        save_model(path, trained("average").to_model())
    assert files_beside(path) == ["model"] * old
    if old:
        assert_same(load_model(path), model)


def test_a_file_that_may_not_grow_keeps_the_old_one(tmp_path):
    model, path = trained().to_model(), tmp_path / "model"
    save_model(path, model)
    most, limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit))
    try:
        wide = SOLUTIONS["last"](np.zeros(10**5), np.zeros(1))
        with pytest.raises(OSError, match=r"model could not be written: .*File too large"):
            save_model(path, model._replace(states=[wide]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limit))
    assert files_beside(path) == ["model"]
    assert_same(load_model(path), model)


SAVE_FOR_EVER = """
import sys
from rosenblatt.storage.file import load_model, save_model
models = [load_model(path) for path in sys.argv[2:]]
print("ready", flush=True)
while True:
    for model in models:
        save_model(sys.argv[1], model)
"""


@pytest.mark.parametrize("kill_after", [0.0, 0.003, 0.011, 0.02])
def test_a_killed_process_leaves_a_complete_file(kill_after, tmp_path):
    path = tmp_path / "model"
    models = [trained().to_model(), trained("average").to_model()]
    for name, model in zip("ab", models, strict=True):
        save_model(tmp_path / name, model)
    save_model(path, models[0])
    command = [sys.executable, "-c", SAVE_FOR_EVER, path, tmp_path / "a", tmp_path / "b"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05 + kill_after)
        process.send_signal(signal.SIGKILL)
    back = load_model(path)
    assert_same(back, models[back.parameters["solution"] == "average"])


def test_saving_at_the_same_time_leaves_one_of_the_models(tmp_path):
    path, models = tmp_path / "model", [trained(solution).to_model() for solution in SOLUTIONS]
    save_model(path, models[0])
    kinds = list(SOLUTIONS)

    def save_and_load(number):
        save_model(path, models[number % len(models)])
        back = load_model(path)
        assert_same(back, models[kinds.index(back.parameters["solution"])])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save_and_load, range(100)))
    assert files_beside(path) == ["model"]


def test_a_new_file_has_the_usual_permissions_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "usual").touch()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    save_model(tmp_path / "link", trained().to_model())
    assert (tmp_path / "link").is_symlink()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "model")}
    assert len(modes) == 1


@pytest.mark.parametrize("name", ["m" * 255, "模" * 85])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, name):
    path = tmp_path / name
    save_model(path, trained().to_model())
    assert_same(load_model(path), trained().to_model())


# Light


def test_storage_imports_neither_scikit_learn_nor_pyarrow_nor_sparse_matrices(tmp_path):
    kept = tmp_path / "model"
    save_model(kept, trained("average").to_model())
    script = (
        f"import sys; from rosenblatt.storage.file import load_model; load_model({str(kept)!r})\n"
        "assert not {'sklearn', 'pyarrow', 'scipy.sparse'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "change",
    [
        put("0.kept.S", -np.ones(3)),
        put("0.kept.Sb", -np.ones(1)),
        put(["rule"], None),
        put(["rule"], "romma"),
    ],
)
def test_what_a_rule_keeps_is_checked(tmp_path, change):
    model = AROW(max_iter=3, random_state=0).fit(*blobs(12, 3)).to_model()
    forge(tmp_path / "model", model, change)
    refused(tmp_path / "model")

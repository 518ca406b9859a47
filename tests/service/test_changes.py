"""Forget, roll back and load: exact by replay, whole or not at all, whatever is killed."""

import random
import threading

import pytest

from rosenblatt.service import changes
from rosenblatt.service.changes import parse_numbers
from rosenblatt.service.learning import Keeping, Learning
from rosenblatt.service.log import Log, LogError
from rosenblatt.service.replay import find_difference, read_log
from rosenblatt.service.requests import RequestError

from .conftest import examples, job_of, replayed, sequence_in, trained
from .test_learning import outcome, silent, taught

MARK = "Zyxwvutsrqp"


def marked(row, number=0):
    """A row with words that are found in a file if any of the row is left there."""
    return row | {"note": f"{MARK}{number} " * 3, "mark": f"{MARK}{number}"}


def same(served, other):
    """Whether two models are equal to the last bit, and made the same errors on the way."""
    return (
        find_difference(served.model(), other.model()) is None
        and served.progress.as_json() == other.progress.as_json()
    )


def teach(learning, rows):
    """Teach rows one by one and wait until they are learnt; their numbers."""
    numbers = taught(learning, rows)
    learning.call(lambda: None).result(30)
    return numbers


def begun(path, rows, keeping=None):
    """A learning thread that has learnt rows one by one."""
    learning, _ = silent(path, keeping)
    if rows:
        teach(learning, rows)
    return learning


def files_with(folder, words):
    """The files of a folder that contain some bytes."""
    files = [path for path in folder.iterdir() if path.is_file()]
    return [path.name for path in files if words.encode() in path.read_bytes()]


# Forgetting


def test_the_bytes_of_a_forgotten_example_are_in_no_file(tmp_path):
    path = trained(tmp_path / "m")
    chance, rows = random.Random(3), examples(400)
    odd = [
        marked(row, k) | {"more": "x" * chance.choice([0, 9, 5000])} for k, row in enumerate(rows)
    ]
    learning = begun(path, odd, Keeping(seconds=0))
    forgotten = [5, *range(90, 120), 200, 201, 400]
    changes.forget(learning, forgotten)
    for number in forgotten:
        assert files_with(tmp_path, f"{MARK}{number - 1} ") == []
    assert files_with(tmp_path, f"{MARK}7 ") == ["m.log"]
    learning.stop()
    for number in forgotten:
        assert files_with(tmp_path, f'{MARK}{number - 1}"') == []
    assert path.read_bytes() == replayed(path)
    again, said = silent(path)
    assert said == []
    again.stop()


def test_a_class_that_only_a_forgotten_example_brought_is_gone(tmp_path):
    path, rows = trained(tmp_path / "m", rule="arow"), examples(9)
    learning, _ = silent(path)
    learning.served.most_classes = 40
    teach(learning, [*rows[:3], rows[3] | {"kind": "odd"}, *rows[4:]])
    assert learning.served.learner.classes.tolist() == ["big", "odd", "small"]
    changes.forget(learning, [4])
    assert learning.served.learner.classes.tolist() == ["big", "small"]
    assert learning.served.most_classes == 40
    assert teach(learning, [rows[0] | {"kind": "other"}]) == [10]
    learning.stop()
    assert path.read_bytes() == replayed(path)


def test_examples_may_be_forgotten_twice_but_not_without_being_there(model):
    learning = begun(model, examples(5))
    assert changes.forget(learning, [2, 3]) == (5, 2)
    assert changes.forget(learning, [3, 4]) == (5, 1)
    assert changes.forget(learning, [3]) == (5, 0)
    for number in (0, 6):
        with pytest.raises(RequestError, match=f"no example {number}"):
            changes.forget(learning, [1, number])
    assert learning.served.progress.examples == 2
    learning.stop()


def test_a_forgotten_request_is_not_learnt_again_by_a_retry(model):
    learning = begun(model, examples(2))
    rows = examples(2, seed=5)
    assert learn_with_key(learning, rows, b"k") == 4
    changes.forget(learning, [4])
    assert learn_with_key(learning, rows, b"k") == 4
    assert learning.log.last == 4
    learning.stop()


def test_a_model_that_has_seen_forgotten_examples_is_not_taken(model):
    learning = begun(model, examples(9))
    learning.call(learning.snapshot).result(30)
    before = model.read_bytes()
    changes.forget(learning, [4])
    learning.stop()
    after = model.read_bytes()
    assert before != after
    model.write_bytes(before)  # restored from a backup
    learning, said = silent(model)
    assert "has learnt from forgotten examples" in said[0]
    learning.stop()
    assert model.read_bytes() == after


def test_forgetting_waits_for_the_disk(model, monkeypatch):
    learning = begun(model, [*examples(6), marked(examples(1)[0])])
    with read_log(learning.log.path) as reader:
        reader.all("PRAGMA busy_timeout=0")
        reader.all("BEGIN")
        reader.one("SELECT count(*) FROM examples")
        learning.call(lambda: learning.log.all("PRAGMA busy_timeout=0")).result(30)
        for _ in range(2):  # a second request does not pretend that all is done
            with pytest.raises(LogError, match="another process is reading"):
                changes.forget(learning, [2, 7])
        assert learning.served.progress.examples == 5
        assert teach(learning, examples(1)) == [8]
        assert learning.log.is_erasing
    assert changes.forget(learning, [2]) == (8, 0)
    assert not learning.log.is_erasing
    assert files_with(model.parent, MARK) == []
    learning.stop()
    assert model.read_bytes() == replayed(model)


@pytest.mark.parametrize("is_written", [True, False])
def test_a_write_error_while_forgetting_is_before_or_after(model, monkeypatch, is_written):
    learning, forget = begun(model, [*examples(6), marked(examples(1)[0])]), Log.forget

    def fail(log, *given):
        if is_written:
            forget(log, *given)
        log.disconnect()
        raise LogError("The disk failed.")

    monkeypatch.setattr(Log, "forget", fail)
    with pytest.raises(LogError, match="disk failed"):
        changes.forget(learning, [7])
    assert learning.failure == "The disk failed."
    assert teach(learning, examples(1)) == [8]
    assert learning.failure is None
    assert learning.served.progress.examples == 8 - is_written
    learning.call(lambda: setattr(learning, "erase_at", 0.0 if is_written else None)).result(30)
    learning.call(lambda: None).result(30)
    learning.stop()
    assert files_with(model.parent, MARK) == ([] if is_written else ["model.safetensors.log"])
    assert model.read_bytes() == replayed(model)


@pytest.mark.parametrize("text", ["", "a", "3-", "5-3", "1-1000000", "-3", "1,,2", "9" * 5000])
def test_numbers_of_examples(text):
    found = map(parse_numbers, ("3", "3,7-9", " 2 , 1-2"))
    assert [*found] == [[3], [3, 7, 8, 9], [1, 2]]
    with pytest.raises(ValueError, match="is not a list"):
        parse_numbers(text)


# Loading another model


def test_what_cannot_learn_or_is_damaged_does_not_take_over(model, tmp_path):
    learning = begun(model, examples(20))
    pocket = trained(tmp_path / "pocket", solution="pocket")
    with pytest.raises(ValueError, match="needs all rows"):
        changes.load(learning, pocket.read_bytes())
    with pytest.raises(ValueError, match="not an intact model"):
        changes.load(learning, pocket.read_bytes()[:-1])
    learning.call(learning.snapshot).result(30)
    with pytest.raises(RequestError, match="roll back to example 20"):
        changes.load(learning, model.read_bytes())
    assert learning.log.last == 20
    learning.stop()


# Requests that come twice


def learn_with_key(learning, rows, key):
    """The outcome of a request with a key."""
    job = job_of(rows, key)
    learning.take(job)
    return outcome(job)


def test_a_retry_is_answered_as_before_and_not_learnt(model):
    learning = begun(model, examples(2))
    rows = examples(3, seed=1)
    assert learn_with_key(learning, rows, b"one") == 5
    assert learn_with_key(learning, rows, b"two") == 8
    assert learn_with_key(learning, rows, b"one") == 5
    learning.stop()
    learning, _ = silent(model)
    assert learn_with_key(learning, rows, b"two") == 8
    assert "another body" in str(learn_with_key(learning, rows[:2], b"two"))
    assert (learning.log.last, learning.served.sequence) == (8, 8)
    learning.stop()


def test_two_requests_with_a_key_at_once_are_one(model):
    learning, rows = Learning(model, None, lambda sentence: None), examples(1)
    jobs = [*(job_of(rows, b"key") for _ in range(5)), job_of(rows)]
    for job in jobs:
        learning.take(job)
    learning.start()
    assert sorted(map(outcome, jobs)) == [1, 1, 1, 1, 1, 2]
    learning.stop()
    assert sequence_in(model) == 2


def test_two_changes_at_once_come_one_after_the_other(model):
    learning = begun(model, examples(20))
    threads = [threading.Thread(target=changes.forget, args=(learning, [k])) for k in (3, 9, 14)]
    for thread in threads:
        thread.start()
    assert taught(learning, examples(10, seed=2))[-1] == 30
    for thread in threads:
        thread.join()
    assert learning.served.progress.examples == 27
    learning.stop()
    assert model.read_bytes() == replayed(model)

"""A tagger learns on after it was saved, all or nothing."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.sequence import lexicon, state
from rosenblatt.sequence.encoding import Dictionary
from rosenblatt.sequence.learner import SequenceLearner
from rosenblatt.storage.file import load_model, save_model

from ..storage.models import assert_same
from . import taggers

CASES = ["average", "last", "columns", "features", "chunks"]


def batches(name, sizes=(10, 3, 12)):
    X, y = taggers.data_of(name)
    ends = np.cumsum(sizes).tolist()
    for first, last in zip([0, *ends], ends, strict=False):
        yield X[first:last], y[first:last]


def build_model(estimator):
    return estimator._learner.to_model({})


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_a_loaded_tagger_learns_on_as_if_it_had_never_been_saved(name, begin, tmp_path):
    X, _ = taggers.data_of(name, seed=5)
    never = (taggers.fitted if begin == "fit" else taggers.learnt_in_batches)(name)
    never.save(tmp_path / "model")
    saved = rosenblatt.load(tmp_path / "model")
    for some, tags in batches(name):
        never.partial_fit(some, tags)
        saved.partial_fit(some, tags)
        saved.save(tmp_path / "model")
        saved = rosenblatt.load(tmp_path / "model")
    assert_same(build_model(saved), build_model(never))
    assert saved.predict(X) == never.predict(X)


@pytest.mark.parametrize("name", ["average", "last", "chunks", "features"])
def test_partial_fit_after_fit_is_another_pass_in_order(name):
    """Without a lexicon that grows, fit and one batch are two epochs of fit."""
    X, y = taggers.data_of(name)
    features = None if name == "features" else ["word[0]", "suffix2[0]", "word[-1]|word[1]"]
    solution = taggers.CASES[name].get("solution", "average")
    given = {"order": "fixed", "features": features, "solution": solution}
    once = SequencePerceptron(max_iter=1, **given).fit(X, y).partial_fit(X, y)
    twice = SequencePerceptron(max_iter=2, **given).fit(X, y)
    one, other = (build_model(each)._replace(parameters={}) for each in (once, twice))
    counts = {name: vars(other.states[0])[name] for name in ("word_tags", "word_tag_counts")}
    vars(one.states[0]).update(counts)
    assert_same(one._replace(history=()), other._replace(history=()))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("where", "what"),
    [
        (Dictionary, "compute_attributes"),
        (Dictionary, "encode"),
        (lexicon.Lexicon, "add_words"),
        (lexicon.Lexicon, "look_up_without_own"),
        (state.PathState, "widen"),
        (state.SequenceTask, "learn"),
    ],
)
def test_after_an_error_nothing_has_changed(name, where, what, monkeypatch):
    (X, y), *rest = batches(name)
    model = taggers.untrained(name).partial_fit(X, y, classes=distinct_tags(name))
    twin = taggers.untrained(name).partial_fit(X, y, classes=distinct_tags(name))
    if name == "features" and where is lexicon.Lexicon:
        return  # tokens that come with features have no words
    original, called = getattr(where, what), []

    def fail_before(*_, **__):
        called.append("before")
        raise MemoryError

    def fail_after(*arguments, **named):
        original(*arguments, **named)
        called.append("after")
        raise MemoryError

    for some, tags in rest:
        for fail in (fail_before, fail_after):
            with monkeypatch.context() as patch:
                patch.setattr(where, what, fail)
                with pytest.raises(MemoryError):
                    model.partial_fit(some, tags)
            assert_same(build_model(model), build_model(twin))
            assert model._learner.dictionary.n_features == twin._learner.dictionary.n_features
            assert model._learner.lexicon.n_words == twin._learner.lexicon.n_words
        model.partial_fit(some, tags)
        twin.partial_fit(some, tags)
        assert_same(build_model(model), build_model(twin))
    assert called == ["before", "after"] * len(rest)


def distinct_tags(name):
    _, y = taggers.data_of(name)
    return sorted({tag for tags in y for tag in tags})


def test_weights_are_as_they_were_when_learning_stops_in_the_middle(monkeypatch):
    """An update was made and rows of new features were taken before the error."""
    model, twin = (taggers.learnt_in_batches("average") for _ in range(2))
    X, y = taggers.data_of("average", seed=9)
    X = [[f"new{k}", *x] for k, x in enumerate(X)]
    y = [["A", *tags] for tags in y]
    sweep = state.PathState.sweep

    def one_update(self, task, order, most):
        for learnt in sweep(self, task, order, 1):
            if self.mistakes > twin.n_mistakes_ + 3:
                raise KeyboardInterrupt
            yield learnt

    monkeypatch.setattr(state.PathState, "sweep", one_update)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    monkeypatch.undo()
    assert_same(build_model(model), build_model(twin))
    assert_same(build_model(model.partial_fit(X, y)), build_model(twin.partial_fit(X, y)))


def test_tags_of_chunks_that_come_later_are_learnt(tmp_path):
    """No chunk has one token at first; later some have, and one begins right after another."""
    X = [["in", "New", "York"], ["we", "saw", "New", "Delhi"]]
    y = [["O", "B-X", "I-X"], ["O", "O", "B-X", "I-X"]]
    model = SequencePerceptron(random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    more = [["we", "saw", "Oslo"], ["the", "New", "old", "York"]]
    tags = [["O", "O", "B-X"], ["O", "B-X", "I-X", "I-X"]]
    for loaded in (model, rosenblatt.load(tmp_path / "model")):
        for _ in range(20):
            loaded.partial_fit(more + X, tags + y)
        assert loaded.predict(more + X) == tags + y


FORGED = {
    "half of the sums": ({"transition_sums": None}, "its sums do not fit"),
    "words that there are not": (
        {"word_tags": np.array([10**6]), "word_tag_counts": np.array([1])},
        "its counts",
    ),
    "no order": (
        {"word_tags": np.array([2, 1]), "word_tag_counts": np.array([1, 1])},
        "its counts",
    ),
    "not finite": ({"transition_sums": np.full((4, 3), np.nan)}, "transition_sums does not fit"),
    "too few": ({"emission_sums": np.zeros((1, 3))}, "emission_sums does not fit"),
    "no sums": ({"emission_sums": None, "transition_sums": None}, "not of its solution"),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_files_are_refused(case, tmp_path):
    changes, words = FORGED[case]
    model = build_model(taggers.fitted("average"))
    vars(model.states[0]).update(changes)

    def save_and_load():
        save_model(tmp_path / "model", model)
        SequenceLearner.from_model(load_model(tmp_path / "model"))

    with pytest.raises(ValueError, match=words):
        save_and_load()


@pytest.mark.parametrize("name", ["average", "columns", "features"])
def test_explanations_add_up_to_the_lead_of_a_tag(name):
    model, (X, _) = taggers.fitted(name), taggers.data_of(name, seed=5)
    for sentence in X:
        found = model.explain(sentence, top=1000)
        assert [tag for tag, _, _ in found] == model.predict([sentence])[0]
        assert all(tag != other for tag, other, _ in found)
        shares = list(found[-1][2].values())  # after the last token nothing depends on its tag
        assert sum(shares) > -1e-4
        assert shares == sorted(shares, key=lambda share: -abs(share))
    assert model.explain([]) == []

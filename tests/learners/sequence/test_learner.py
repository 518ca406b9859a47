"""A tagger learns on after it was saved, all or nothing, and one tag more."""

import json
from itertools import pairwise

import numpy as np
import pytest

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.learners.sequence import lexicon, state, task
from rosenblatt.learners.sequence.encoding import Dictionary
from rosenblatt.learners.sequence.learner import SequenceLearner
from rosenblatt.learners.sequence.sentences import read_sentences
from rosenblatt.storage.file import load_model, save_model

from ...storage.models import assert_same
from . import taggers

CASES = ["average", "last", "markov2", "markov0", "greedy", "pa", "columns", "features", "chunks"]


def batches(name, sizes=(10, 3, 12)):
    X, y = taggers.data_of(name)
    ends = np.cumsum(sizes).tolist()
    for first, last in zip([0, *ends], ends, strict=False):
        yield X[first:last], y[first:last]


def examples(learner, X, y):
    return read_sentences(X, learner.columns), [tag for tags in y for tag in tags]


def score_tags(learner, sentences):
    """The score of the best path through each inner tag, a row per token."""
    tokens, weights = learner.tokens(sentences), learner.coefficients()
    return np.vstack(
        [
            task.best_through(tokens, first, last, weights, learner.settings)
            for first, last in pairwise(sentences.starts.tolist())
            if first < last
        ]
    )


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
    given = {
        "order": "fixed",
        "features": features,
        "solution": taggers.CASES[name].get("solution", "average"),
    }
    once = SequencePerceptron(max_iter=1, **given).fit(X, y).partial_fit(X, y)
    twice = SequencePerceptron(max_iter=2, **given).fit(X, y)
    one, other = (
        build_model(once)._replace(parameters={}),
        build_model(twice)._replace(parameters={}),
    )
    counts = {"word_tags": None, "word_tag_counts": None}
    vars(one.states[0]).update(counts)
    vars(other.states[0]).update(counts)
    assert_same(one._replace(history=()), other._replace(history=()))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("where", "what"),
    [
        (Dictionary, "compute_attributes"),
        (Dictionary, "encode"),
        (lexicon.Lexicon, "add_cells"),
        (lexicon.Lexicon, "look_up_without_own"),
        (state.PathState, "widen"),
        (task.SequenceTask, "learn"),
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


@pytest.mark.parametrize("name", CASES)
def test_a_compact_file_predicts_the_same_and_refuses_to_learn(name, tmp_path):
    X, y = taggers.data_of(name, seed=5)
    model = taggers.fitted(name)
    model.save(tmp_path / "full")
    model.save(tmp_path / "compact", compact=True)
    full, compact = (rosenblatt.load(tmp_path / kind) for kind in ("full", "compact"))
    fingerprints = {taggers.fingerprint(one, name, 9) for one in (model, full, compact)}
    assert len(fingerprints) == 1
    assert full.n_features_ == compact.n_features_ == model.n_features_
    assert (tmp_path / "compact").stat().st_size < (tmp_path / "full").stat().st_size
    with pytest.raises(ValueError, match="keeps only the weights that predict, so it cannot learn"):
        compact.partial_fit(X, y)
    assert taggers.fingerprint(compact, name, 9) in fingerprints
    compact.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "compact").read_bytes()


def test_files_of_0_2_refuse_to_learn():
    model = rosenblatt.load(taggers.MODELS / "0.2.0-3-tagger-average.safetensors")
    with pytest.raises(ValueError, match="keeps only the weights that predict, so it cannot learn"):
        model.partial_fit(*taggers.data_of("average"))


def test_only_files_with_sums_or_counts_have_the_new_format(tmp_path):
    def detect_format(compact):
        taggers.fitted("last").save(tmp_path / "model", compact=compact)
        header = (tmp_path / "model").read_bytes()[8:]
        text = json.JSONDecoder().raw_decode(header.decode("latin-1"))[0]
        return json.loads(text["__metadata__"]["rosenblatt"])["format"]

    assert (detect_format(compact=False), detect_format(compact=True)) == (4, 3)


def test_tags_of_chunks_that_come_later_are_learnt(tmp_path):
    """No chunk has one token at first; later some have, and one begins right after another."""
    X, y = (
        [["in", "New", "York"], ["we", "saw", "New", "Delhi"]],
        [["O", "B-X", "I-X"], ["O", "O", "B-X", "I-X"]],
    )
    model = SequencePerceptron(random_state=0).fit(X, y)
    assert model._learner.tags.names == ["B-X", "E-X", "O"]
    model.save(tmp_path / "model")
    more, tags = (
        [["we", "saw", "Oslo"], ["the", "New", "old", "York"]],
        [["O", "O", "B-X"], ["O", "B-X", "I-X", "I-X"]],
    )
    for loaded in (model, rosenblatt.load(tmp_path / "model")):
        for _ in range(20):
            loaded.partial_fit(more + X, tags + y)
        assert loaded._learner.tags.names == ["B-X", "E-X", "I-X", "S-X", "O"]
        assert loaded.predict(more + X) == tags + y


@pytest.mark.parametrize("name", ["average", "last", "markov2", "greedy", "chunks"])
def test_one_tag_more(name):
    model = taggers.fitted(name)
    before, X = model._learner, taggers.data_of(name, seed=4)[0]
    label = "B-Z" if name == "chunks" else "AA"
    after = before.with_class(label)
    assert after.classes.tolist() == sorted([*before.classes.tolist(), label])
    sentences = read_sentences(X, before.columns)
    old = before.classes[before.predict(sentences)]
    learner_scores = score_tags(before, sentences)
    mapped = score_tags(after, sentences)[:, before.tags.to_numbers(after.tags)]
    assert np.array_equal(learner_scores, mapped) or name in ("chunks", "average", "markov2")
    saved = before.to_model({})
    for _ in range(30):
        after.learn(
            examples(after, [["zebra", *x] for x in X], [[label, *tags] for tags in split(old, X)])
        )
    found = after.classes[after.predict(read_sentences([["zebra", "the"]], after.columns))]
    assert found[0] == label
    assert_same(before.to_model({}), saved)


def split(tags, X):
    tags = tags.tolist()
    return [[tags.pop(0) for _ in x] for x in X]


def test_tags_that_cannot_be_added():
    chunks = taggers.fitted("chunks")._learner
    with pytest.raises(ValueError, match="write chunks in IOB2; 'NOUN' does not"):
        chunks.with_class("NOUN")
    greedy = taggers.fitted("chunks-greedy")._learner
    with pytest.raises(ValueError, match="greedy tagger of chunks cannot learn another tag"):
        greedy.with_class("B-Z")
    with pytest.raises(ValueError, match="cannot learn"):
        greedy.predictor().with_class("B-Z")


@pytest.mark.parametrize("name", CASES)
def test_a_predictor_does_not_change_when_the_tagger_learns(name):
    learner = taggers.learnt_in_batches(name)._learner
    X, y = taggers.data_of(name, seed=6, count=40)
    sentences, tags = examples(learner, X, y)
    predictor, before = learner.predictor(), learner.predict(sentences)
    scores = score_tags(predictor, sentences)
    for _ in range(3):
        learner.learn((sentences, tags))
        assert np.array_equal(predictor.predict(sentences), before)
        assert np.array_equal(score_tags(predictor, sentences), scores)
    assert predictor.refusal("learn")
    assert not np.array_equal(learner.predict(sentences), before)


@pytest.mark.parametrize("name", ["average", "last", "markov2", "pa", "columns"])
def test_the_best_scores_are_those_of_the_best_paths(name):
    learner = taggers.fitted(name)._learner
    sentences = read_sentences(taggers.data_of(name, seed=2)[0], learner.columns)
    found = score_tags(learner, sentences).argmax(axis=1)
    assert np.mean(found == learner.predict(sentences)) > 0.98  # ties aside


def test_sentences_that_were_wrong_are_marked():
    learner = taggers.fitted("last")._learner
    X, y = taggers.data_of("last", seed=3)
    sentences, tags = examples(learner, X, y)
    codes = np.searchsorted(learner.classes, tags)
    right = np.add.reduceat(learner.predict(sentences) == codes, sentences.starts[:-1])
    wrong = np.zeros(1, bool)
    learner.learn(examples(learner, X[:1], y[:1]), wrong)
    assert wrong[0] == (right[0] < len(X[0]))


FORGED = {
    "sums without counts": ({"word_tags": None, "word_tag_counts": None}, "sums and no counts"),
    "half of the sums": ({"pair_sums": None}, "its sums do not fit"),
    "one count": ({"word_tag_counts": None}, "its counts do not fit"),
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
    "no sums": (
        {"emission_sums": None, "transition_sums": None, "pair_sums": None},
        "not of its solution",
    ),
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

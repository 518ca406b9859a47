"""SequencePerceptron equals its twin update for update."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.sequence import learner
from rosenblatt.sequence.kernels.paths import IMPOSSIBLE

from .. import reference

TEMPLATES = [
    "bias",
    "lower[0]",
    "suffix2[0]",
    "word[-1]",
    "word[1]|lower[0]",
    "lexicon[0]",
    "lexicon[-1]|lexicon[1]",
]
WORDS = ["the", "The", "dog", "dogs", "runs", "ran", "a", "."]


def made(seed, n_sentences=12, n_tags=3):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, n_sentences)
    X = [[WORDS[k] for k in random.integers(0, len(WORDS), n)] for n in lengths]
    y = [["ABCDEF"[k] for k in random.integers(0, n_tags, n)] for n in lengths]
    return X, y


def get_weights(model, name):
    """The weights of a model, by feature and number of the tag."""
    learner = model._learner
    width, tags, weights = learner.settings.width, len(learner.tags.names), learner.coefficients()
    found = {}
    emissions = weights.emissions.reshape(-1, width)[1:, :tags]
    for feature, own in zip(learner.state.features().tolist(), emissions.tolist(), strict=True):
        found |= {(name(feature), tag): weight for tag, weight in enumerate(own)}
    moves = weights.transitions.reshape(-1, width)[:, :tags]
    for (before, tag), weight in np.ndenumerate(moves):
        found["move", before, tag] = float(weight)
    return {key: weight for key, weight in found.items() if weight}


def twin_of(X, y, margin, orders):
    """What plain Python learns from sentences with TEMPLATES."""
    sets = [reference.lexicon_sets(number, X, y) for number in range(len(X))]
    tokens = [
        [reference.token_features(x, i, TEMPLATES, own) for i in range(len(x))]
        for x, own in zip(X, sets, strict=True)
    ]
    known = sorted({tag for tags in y for tag in tags})
    paths = [[known.index(tag) for tag in tags] for tags in y]
    return reference.structured_perceptron(tokens, paths, len(known), margin, orders)


def named_weights(model):
    """The weights of a model by the names that the twin gives features."""

    dictionary = model._learner.dictionary

    def name(row):
        template = model.templates_[dictionary.features.numbers[row]]
        texts = dictionary.values_known().strings.texts()
        values = [v for v in dictionary.features.values[row].tolist() if v < 2**32 - 1]
        return f"{template}={'|'.join(texts[value] for value in values)}"

    return {key: weight for key, weight in get_weights(model, name).items() if abs(weight) > 1e-6}


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("margin", [0, 1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_fit_equals_the_twin(solution, margin, seed):
    X, y = made(seed)
    model = SequencePerceptron(
        features=TEMPLATES, margin=margin, solution=solution, max_iter=3, random_state=seed
    ).fit(X, y)
    orders = [reference.shuffled(range(len(X)), seed, epoch) for epoch in (1, 2, 3)]
    twin = twin_of(X, y, margin, orders)
    wanted = getattr(twin, solution)
    wanted = {key: weight for key, weight in wanted.items() if abs(weight) > 1e-7}
    found = named_weights(model)
    assert model.n_mistakes_ == len(twin.updates)
    assert found.keys() == wanted.keys()
    assert all(found[key] == pytest.approx(wanted[key], abs=1e-5) for key in wanted)
    if solution == "last":
        assert found == wanted


@pytest.mark.parametrize("settings", [{}, {"solution": "last"}])
def test_a_first_batch_is_learnt_as_one_epoch(settings):
    X, y = made(6, n_sentences=30)
    settings = {"features": TEMPLATES, **settings}
    whole = SequencePerceptron(order="fixed", max_iter=1, **settings).fit(X, y)
    model = SequencePerceptron(**settings).partial_fit(X, y, classes=["A", "B", "C"])
    assert named_weights(model) == named_weights(whole)
    assert model.n_mistakes_ == whole.n_mistakes_


def test_batches_are_one_pass_where_no_lexicon_grows():
    X, y = made(7, n_sentences=40)
    templates = [text for text in TEMPLATES if "lexicon" not in text]
    whole = SequencePerceptron(order="fixed", max_iter=1, features=templates).fit(X, y)
    model = SequencePerceptron(features=templates)
    for first in range(0, 40, 7):
        some = slice(first, first + 7)
        model.partial_fit(X[some], y[some], classes=["A", "B", "C"])
        model.predict(X[:1])  # which may look in between
    assert named_weights(model) == pytest.approx(named_weights(whole), abs=1e-6)
    assert model.predict(X) == whole.predict(X)


def test_partial_fit_goes_on_and_refuses(tmp_path):
    X, y = made(8, n_sentences=20)
    model = SequencePerceptron(random_state=0)
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X, y)
    for _ in range(40):
        model.partial_fit(X, y, classes=["A", "B", "C"])
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="The tag 'Z' is not among those"):
        model.partial_fit([["a"]], [["Z"]])
    with pytest.raises(ValueError, match="A tagger knows its tags from the start"):
        model.partial_fit([["a"]], [["Z"]], classes=["Z"])
    model.save(tmp_path / "model")
    again = rosenblatt.load(tmp_path / "model")
    assert again.predict(X) == model.predict(X)


def test_chunks_are_learnt_in_batches():
    X = [["in", "New", "York", "we"], ["Oslo", "is", "Oslo"], ["New", "Delhi"]]
    y = [["O", "B-X", "I-X", "O"], ["B-X", "O", "B-X"], ["B-X", "I-X"]]
    model = SequencePerceptron()
    for _ in range(10):
        for x, tags in zip(X, y, strict=True):
            model.partial_fit([x], [tags], classes=["B-X", "I-X", "O"])
    assert model.scheme_ == "IOB2"
    assert model.predict(X) == y


def test_tags_that_numpy_would_merge_are_refused():
    with pytest.raises(ValueError, match="NUL"):
        SequencePerceptron().fit([["a", "b"]] * 2, [["X", "X\0"], ["X\0", "X"]])


def test_features_without_weights_are_forgotten_on_the_way(monkeypatch):
    monkeypatch.setattr(learner, "SPARE", 0)
    X, y = made(9, n_sentences=60)
    kept = SequencePerceptron(features=TEMPLATES)
    for x, tags in zip(X, y, strict=True):
        kept.partial_fit([x], [tags], classes=["A", "B", "C"])
    monkeypatch.undo()
    other = SequencePerceptron(features=TEMPLATES)
    for x, tags in zip(X, y, strict=True):
        other.partial_fit([x], [tags], classes=["A", "B", "C"])
    assert named_weights(kept) == named_weights(other)


@given(seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25)
def test_collins_bound_holds(seed):
    """On separable data there are at most R²/δ² updates (Collins 2002, theorem 1)."""
    X, _ = made(seed, n_sentences=15)
    random = np.random.default_rng(seed)
    features = ["word[0]", "word[-1]"]
    tokens = [[reference.token_features(x, i, features, None) for i in range(len(x))] for x in X]
    names = {name for x in tokens for own in x for name in own}
    weights = {(name, tag): random.normal() for name in sorted(names) for tag in range(3)}
    weights |= {("move", p, t): random.normal() for p in range(4) for t in range(3)}
    kept = []
    radius, smallest = 0.0, np.inf
    for x in tokens:
        paths = list(itertools.product(range(3), repeat=len(x)))
        all_counts = [reference.path_features(x, path, 3) for path in paths]
        totals = [sum(weights[k] * n for k, n in counts.items()) for counts in all_counts]
        best = int(np.argmax(totals))
        kept.append(list(paths[best]))
        smallest = min(smallest, totals[best] - sorted(totals)[-2])
        for counts in all_counts:
            keys = counts.keys() | all_counts[best].keys()
            apart = [all_counts[best].get(k, 0) - counts.get(k, 0) for k in keys]
            radius = max(radius, np.sqrt(np.square(apart).sum()))
    length = np.sqrt(np.square(list(weights.values())).sum())
    y = [["ABC"[tag] for tag in path] for path in kept]
    if len({tag for tags in y for tag in tags}) < 3:
        return
    model = SequencePerceptron(
        features=features, margin=0, solution="last", max_iter=100_000, random_state=0
    ).fit(X, y)
    assert model.stop_reason_ == "separated"
    assert model.n_mistakes_ <= (radius / (smallest / length)) ** 2
    assert model.predict(X) == y


def test_columns_dicts_and_tuples_are_the_same():
    X, y = made(1)
    pairs = [[(word, word[-1]) for word in x] for x in X]
    dicts = [[{"word": word, "pos": last} for word, last in x] for x in pairs]
    one, other = SequencePerceptron(random_state=0), SequencePerceptron(random_state=0)
    assert one.fit(pairs, y).predict(pairs) == other.fit(dicts, y).predict(dicts)
    assert one.columns_ == other.columns_ == ("word", "pos")


def test_features_as_sklearn_crfsuite_takes_them():
    X, y = made(2)
    names = [[{"word": w, "upper": w.istitle(), "bias": 1.0} for w in x] for x in X]
    lists = [[[f"word={w}", "bias", *["upper"] * w.istitle()] for w in x] for x in X]
    one = SequencePerceptron(random_state=0).fit(names, y)
    other = SequencePerceptron(random_state=0).fit(lists, y)
    assert one.columns_ == other.columns_ == ("feature",)
    assert one.predict(names) == other.predict(lists)
    zeros = [[{**token, "nothing": 0.0} for token in x] for x in names]
    assert SequencePerceptron(random_state=0).fit(zeros, y).n_features_ == one.n_features_
    nested = SequencePerceptron(random_state=0).fit(
        [[{"at": {"word": w}, "has": [w[0], w[-1]], "size": len(w)} for w in x] for x in X], y
    )
    found = {nested._learner.dictionary.name(row) for row in range(nested.n_features_)}
    assert {"at:word=the", "has:t", "size"} <= found


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2"])
def test_chunks_are_valid_and_written_as_they_were(tmp_path, scheme):
    begin = "B-X" if scheme == "IOB2" else "I-X"
    X = [["in", "New", "York", "we"], ["Oslo", "is", "Oslo"], ["New", "Delhi"]]
    y = [["O", begin, "I-X", "O"], [begin, "O", begin], [begin, "I-X"]]
    model = SequencePerceptron(random_state=0).fit(X, y)
    assert model.scheme_ == scheme
    assert model.predict(X) == y
    model.save(tmp_path / "model")
    assert rosenblatt.load(tmp_path / "model").predict(X) == y
    assert SequencePerceptron(constraints="none").fit(X, y).scheme_ is None


def test_cross_validation_pickles_and_clones():
    X, y = made(9, n_sentences=20)
    model = SequencePerceptron(random_state=0)
    search = GridSearchCV(model, {"margin": [0, 1]}, cv=3).fit(X, y)
    assert search.best_params_["margin"] in (0, 1)
    model.fit(X, y)
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_words_of_any_script(tmp_path):
    words = ["", "İstanbul", "Straße", "東京", "مرحبا", "😀", "a\nb", "ΑΣ", "_B-1", "ﬁn", "\u0301"]
    X, y = [words, words[::-1]], [[str(k) for k in range(11)], [str(10 - k) for k in range(11)]]
    model = SequencePerceptron(random_state=0).fit(X, y)
    assert model.predict(X) == y
    model.save(tmp_path / "model")
    assert rosenblatt.load(tmp_path / "model").predict(X) == y


def test_tags_may_be_numbers_and_sentences_empty():
    X, y = [["a", "b"], [], ["b"]], [[0, 1], [], [1]]
    model = SequencePerceptron(random_state=0).fit(X, y)
    assert model.predict([[], ["a", "b"]]) == [[], [0, 1]]
    assert model.score(X, y) == 1


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([["a"]], [["A", "B"]], r"X\[0\] has 1 tokens and y\[0\] 2 tags"),
        ([["a"]], [], "1 sentences and y has 0"),
        (["a b"], [["A"]], r"X\[0\] is 'a b'"),
        ("a b", [["A"]], "list of sentences"),
        ([["a", 3]], [["A", "B"]], r"X\[0\]\[1\] has 3 as its word"),
        (
            [[("a", "x"), ("b",)]],
            [["A", "B"]],
            r"X\[0\]\[1\] is \('b',\); this model knows the columns word, pos",
        ),
        ([[1, 2]], [["A", "B"]], "X begins with 1"),
        ([["a", "b"]], [["A", "A"]], "only one tag"),
        ([[]], [[]], "no token"),
        ([["a", "b"]], [["A", None]], "strings or whole numbers"),
        ([[{"x": float("nan")}, ["b"]]], [["A", "B"]], r"X\[0\]\[0\] has a feature"),
    ],
)
def test_what_cannot_be_learnt_from_is_named(X, y, words):
    with pytest.raises(ValueError, match=words):
        SequencePerceptron().fit(X, y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"features": []}, "features must be"),
        ({"features": "word[0]"}, "features must be"),
        ({"features": [3]}, "as strings"),
        ({"features": ["lemma[0]"]}, "neither a column"),
        ({"margin": -1}, "margin must be"),
        ({"order": "active"}, "order must be"),
        ({"solution": "vote"}, "solution must be"),
    ],
)
def test_parameters_out_of_range_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        SequencePerceptron(**settings).fit([["a", "b"]], [["A", "B"]])


def test_forbidden_moves_keep_their_weight():
    X, y = [["a", "b", "c"], ["b"]], [["B-X", "I-X", "O"], ["B-X"]]
    model = SequencePerceptron(random_state=0).fit(X, y)
    learner = model._learner
    moves = learner.coefficients().transitions.reshape(-1, 8)[:, : len(learner.tags.names)]
    forbidden, _ = learner.tags.forbidden()
    assert np.array_equal(moves < IMPOSSIBLE / 2, forbidden)


def test_tokens_of_another_width_are_refused():
    words, tags = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2
    pairs = [[(word, "x") for word in sentence] for sentence in words]
    of_words = SequencePerceptron(max_iter=2).fit(words, tags)
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] is \('the', 'x'\); .* must be a string"):
        of_words.predict(pairs)
    of_pairs = SequencePerceptron(max_iter=2).fit(pairs, tags)
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] is 'the'; .* must be 2 strings"):
        of_pairs.predict(words)
    with pytest.raises(ValueError, match=r"X\[1\]\[2\] is \('sleeps',\)"):
        of_pairs.predict([pairs[0], [*pairs[1][:2], ("sleeps",)]])

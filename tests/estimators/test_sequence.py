"""SequencePerceptron equals its twin update for update, and Perceptron where that is the same."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import rosenblatt
from rosenblatt import PassiveAggressive, Perceptron, SequencePerceptron
from rosenblatt.kernels.sequences import IMPOSSIBLE
from rosenblatt.learners.sequence import learner

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
    pairs = weights.pairs.reshape(-1, width)[:, :tags]
    for (both, tag), weight in np.ndenumerate(pairs):
        found["move", *divmod(both, tags + 1), tag] = float(weight)
    return {key: weight for key, weight in found.items() if weight}


def twin_of(X, y, markov, margin, orders, C=None):
    """What plain Python learns from sentences with TEMPLATES."""
    sets = [reference.lexicon_sets(number, X, y) for number in range(len(X))]
    tokens = [
        [reference.token_features(x, i, TEMPLATES, own) for i in range(len(x))]
        for x, own in zip(X, sets, strict=True)
    ]
    known = sorted({tag for tags in y for tag in tags})
    paths = [[known.index(tag) for tag in tags] for tags in y]
    return reference.structured_perceptron(tokens, paths, len(known), markov, margin, orders, C)


def named_weights(model):
    """The weights of a model by the names that the twin gives features."""

    dictionary = model._learner.dictionary

    def name(row):
        template = model.templates_[dictionary.features.numbers[row]]
        names = dictionary.name_values()
        values = [v for v in dictionary.features.values[row].tolist() if v < 2**32 - 1]
        return f"{template}={'|'.join(names[value][1] for value in values)}"

    return {key: weight for key, weight in get_weights(model, name).items() if abs(weight) > 1e-6}


@pytest.mark.parametrize("markov", [1, 2])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("margin", [0, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_fit_equals_the_twin(markov, solution, margin, seed):
    X, y = made(seed)
    model = SequencePerceptron(
        markov, features=TEMPLATES, margin=margin, solution=solution, max_iter=3, random_state=seed
    ).fit(X, y)
    orders = [reference.shuffled(range(len(X)), seed, epoch) for epoch in (1, 2, 3)]
    twin = twin_of(X, y, markov, margin, orders)
    wanted = getattr(twin, solution)
    wanted = {key: weight for key, weight in wanted.items() if abs(weight) > 1e-7}
    found = named_weights(model)
    assert model.n_mistakes_ == len(twin.updates)
    assert found.keys() == wanted.keys()
    assert all(found[key] == pytest.approx(wanted[key], abs=1e-5) for key in wanted)
    if solution == "last":
        assert found == wanted


@pytest.mark.parametrize("markov", [1, 2])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("C", [1 / 64, 1 / 8, 16.0])
@pytest.mark.parametrize("seed", range(2))
def test_passive_aggressive_steps_equal_the_twin(markov, solution, C, seed):
    X, y = made(seed)
    model = SequencePerceptron(
        markov,
        rule="pa",
        C=C,
        features=TEMPLATES,
        solution=solution,
        max_iter=2,
        random_state=seed,
    ).fit(X, y)
    orders = [reference.shuffled(range(len(X)), seed, epoch) for epoch in (1, 2)]
    twin = twin_of(X, y, markov, 1.0, orders, C)
    wanted, found = getattr(twin, solution), named_weights(model)
    assert model.n_mistakes_ == len(twin.updates)
    for key in wanted.keys() | found.keys():
        assert found.get(key, 0) == pytest.approx(wanted.get(key, 0), abs=1e-4)


def test_a_step_makes_the_lead_what_was_demanded():
    X, y = [["a", "b", "a"]], [["A", "B", "B"]]
    settings = {"features": ["word[0]", "word[-1]"], "rule": "pa", "solution": "last"}
    model = SequencePerceptron(C=100, max_iter=1, **settings).fit(X, y)
    assert model.n_mistakes_ == 1
    paths = itertools.product("AB", repeat=3)
    weights = named_weights(model)
    tokens = [reference.token_features(X[0], i, settings["features"], None) for i in range(3)]
    scores = {}
    for path in paths:
        counts = reference.path_features(tokens, ["AB".index(tag) for tag in path], 2, 1)
        scores[path] = sum(weights.get(key, 0) * count for key, count in counts.items())
    leads = {
        path: scores["A", "B", "B"] - score - sum(a != b for a, b in zip(path, "ABB", strict=True))
        for path, score in scores.items()
    }
    assert min(abs(lead) for path, lead in leads.items() if path != ("A", "B", "B")) < 1e-5
    capped = SequencePerceptron(C=0.001, max_iter=1, **settings).fit(X, y)
    assert max(abs(weight) for weight in named_weights(capped).values()) <= 0.003


def test_without_markov_it_is_passive_aggressive_on_tokens():
    X, y = made(5, n_sentences=30)
    features = ["word[0]", "lower[1]", "word[-1]"]
    settings = {"solution": "last", "order": "fixed", "max_iter": 4}
    model = SequencePerceptron(0, rule="pa", C=0.5, features=features, **settings).fit(X, y)
    names, rows = {}, []
    for x in X:
        for i in range(len(x)):
            own = reference.token_features(x, i, features, None)
            rows.append([names.setdefault(name, len(names)) for name in own])
    dense = np.zeros((len(rows), len(names)))
    for row, own in zip(dense, rows, strict=True):
        row[own] = 1
    labels = [tag for tags in y for tag in tags]
    plain = PassiveAggressive(0.5, fit_intercept=False, **settings).fit(dense, labels)
    assert model.n_mistakes_ == plain.n_mistakes_
    emissions = np.abs(model._learner.coefficients().emissions).sum()
    assert emissions == pytest.approx(np.abs(plain.coef_).sum(), rel=1e-4)


@pytest.mark.parametrize("settings", [{}, {"markov": 2}, {"search": "greedy"}, {"markov": 0}])
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
    model.partial_fit([["a"]], [["Z"]], classes=["Z"])
    assert model.classes_.tolist() == ["A", "B", "C", "Z"]
    model.save(tmp_path / "model")
    again = rosenblatt.load(tmp_path / "model")
    assert again.predict(X) == model.predict(X)
    for setting in ({"early_stopping": True}, {"order": "active"}):
        with pytest.raises(ValueError, match="needs all sentences in memory"):
            SequencePerceptron(**setting).partial_fit(X, y, classes=["A", "B", "C"])


def test_chunks_are_learnt_in_batches():
    X = [["in", "New", "York", "we"], ["Oslo", "is", "Oslo"], ["New", "Delhi"]]
    y = [["O", "B-X", "I-X", "O"], ["B-X", "O", "B-X"], ["B-X", "I-X"]]
    model = SequencePerceptron()
    for _ in range(10):
        for x, tags in zip(X, y, strict=True):
            model.partial_fit([x], [tags], classes=["B-X", "I-X", "O"])
    assert model.scheme_ == "IOB2"
    assert model.predict(X) == y


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


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("margin", [0, 7])
def test_without_markov_it_is_a_perceptron_of_tokens(solution, margin):
    X, y = made(5, n_sentences=30)
    features = ["word[0]", "lower[1]", "word[-1]"]
    model = SequencePerceptron(
        0,
        features=features,
        margin=margin / len(features),
        solution=solution,
        order="fixed",
        max_iter=4,
    ).fit(X, y)
    names = {}
    rows = []
    for x in X:
        for i in range(len(x)):
            own = reference.token_features(x, i, features, None)
            rows.append([names.setdefault(name, len(names)) for name in own])
    dense = np.zeros((len(rows), len(names)))
    for row, own in zip(dense, rows, strict=True):
        row[own] = 1
    labels = [tag for tags in y for tag in tags]
    plain = Perceptron(
        solution=solution, order="fixed", max_iter=4, margin=margin, fit_intercept=False
    ).fit(dense, labels)
    assert model.n_mistakes_ == plain.n_mistakes_
    assert [tag for tags in model.predict(X) for tag in tags] == plain.predict(dense).tolist()
    emissions = model._learner.coefficients().emissions
    assert 0 < model.n_features_ <= len(model._learner.state.features())
    assert np.abs(emissions).sum() == pytest.approx(np.abs(plain.coef_).sum(), rel=1e-5)
    assert [epoch.mistakes for epoch in model.history_] == [e.mistakes for e in plain.history_]


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
        all_counts = [reference.path_features(x, path, 3, 1) for path in paths]
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


@pytest.mark.parametrize("settings", [{}, {"markov": 2}, {"search": "greedy"}, {"markov": 0}])
def test_a_saved_model_predicts_the_same(tmp_path, settings):
    X, y = made(3)
    model = SequencePerceptron(random_state=0, **settings).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = rosenblatt.load(tmp_path / "model.safetensors")
    unseen, _ = made(4)
    assert again.predict(unseen) == model.predict(unseen)
    assert again.get_params() == model.get_params()
    assert again.n_mistakes_ == model.n_mistakes_
    assert again.history_ == model.history_
    assert again.templates_ == model.templates_


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


def test_greedy_chunks_begin_with_b():
    random = np.random.default_rng(0)
    X = [[WORDS[k] for k in random.integers(0, 8, 6)] for _ in range(40)]
    y = [["B-X", "I-X", "O", "B-Y", "I-Y", "O"] for _ in X]
    unseen = [[WORDS[k] for k in random.integers(0, 8, 9)] for _ in range(40)]
    model = SequencePerceptron(search="greedy", max_iter=1, random_state=0).fit(X, y)
    for tags in model.predict(unseen):
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert tag[0] != "I" or before[1:] == tag[1:]


def test_early_stopping_keeps_the_best_weights():
    X, y = made(7, n_sentences=60)
    model = SequencePerceptron(early_stopping=True, max_iter=30, random_state=0).fit(X, y)
    assert model.stop_reason_ == "no_improvement"
    scores = [epoch.validation_score for epoch in model.history_]
    assert len(scores) == int(np.argmax(scores)) + 1 + model.n_iter_no_change


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


def test_the_order_active_and_margins_of_sentences():
    X, y = made(8)
    model = SequencePerceptron(order="active", margin=0, max_iter=300, random_state=0).fit(X, y)
    assert model.stop_reason_ == "separated"


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
        ([[("a", "x"), ("b",)]], [["A", "B"]], r"X\[0\]\[1\] is \('b',\), without the column"),
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
        ({"markov": 3}, "markov must be 0, 1 or 2"),
        ({"search": "beam"}, "search must be"),
        ({"features": []}, "features must be"),
        ({"features": "no-such-file"}, "there is no file"),
        ({"features": [3]}, "as strings"),
        ({"features": ["lemma[0]"]}, "neither a column"),
        ({"margin": -1}, "margin must be"),
        ({"rule": "arow"}, "rule must be"),
        ({"rule": "pa", "margin": 0}, 'rule="pa" makes steps'),
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
    forbidden, _ = learner.tags.scheme.forbidden()
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


def test_marks_of_documents_are_left_out_as_in_files():
    words, tags = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2
    plain = SequencePerceptron(max_iter=3, random_state=0).fit(words, tags)
    mark, sign = ["-DOCSTART-"], ["-X-"]
    marked = [mark, words[0], mark, words[1]], [sign, tags[0], sign, tags[1]]
    with pytest.warns(UserWarning, match="2 sentences hold -DOCSTART- alone"):
        model = SequencePerceptron(max_iter=3, random_state=0).fit(*marked)
    assert model.classes_.tolist() == plain.classes_.tolist()
    assert model.n_mistakes_ == plain.n_mistakes_
    assert [len(found) for found in model.predict(marked[0])] == [1, 3, 1, 3]

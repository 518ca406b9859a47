"""The best paths through a sentence are those of all paths, and drawn as they are."""

import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

from rosenblatt import SequencePerceptron
from rosenblatt.plots import LatticeDisplay

from .test_estimator import made

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "bark", "fell"]]
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN", "VERB"]]


def test_the_best_paths_are_the_best_of_all():
    model = SequencePerceptron(max_iter=2, random_state=0).fit(*made(3, 20))
    sentence = ["the", "dog", "ran", "."]
    found = model.best_paths(sentence, top=81)
    assert [tags for tags, _ in model.best_paths(sentence, top=3)] == [p for p, _ in found[:3]]
    assert found[0][0] == model.predict([sentence])[0]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    paths = {tuple(tags) for tags, _ in found}
    assert paths == set(itertools.product("ABC", repeat=4))
    lead = min(one.lead for one in model.explain(sentence))
    assert scores[0] - scores[1] == pytest.approx(lead, abs=1e-3)


def test_forbidden_paths_are_none():
    chunks = [["B-X", "I-X", "O"], ["O", "B-X"]]
    model = SequencePerceptron(random_state=0).fit([["New", "York", "is"], ["in", "Oslo"]], chunks)
    for tags, score in model.best_paths(["in", "York"], top=50):
        assert np.isfinite(score)
        assert "".join(tag[0] for tag in tags) in ("OO", "OS", "SO", "SS", "BE")


def test_an_update_is_drawn_with_what_was_before_it():
    model = SequencePerceptron(solution="last", margin=0)
    model.partial_fit(X[:1], Y[:1], classes=["DET", "NOUN", "VERB"])
    before = model.best_paths(X[2], top=4)
    display = LatticeDisplay.from_update(model, X[2], Y[2])
    assert display.n_axes == len(display.lattices) == 2
    first, second = display.lattices
    assert first.paths == before == model.best_paths(X[2], top=4)  # a copy was changed
    assert second.title == "after the update"
    scores = [{tuple(p): s for p, s in one.paths} for one in (first, second)]
    assert scores[1][tuple(Y[2])] > scores[0].get(tuple(Y[2]), -np.inf)
    axes = display.plot(Figure().subplots(2)).ax_
    assert [label.get_text() for label in axes[0].get_xticklabels()] == X[2]
    drawn = [line.get_label() for line in axes[1].lines]
    assert f"best path: {second.paths[0][1]:.3g}" in drawn


def test_one_lattice_to_a_file(tmp_path):
    model = SequencePerceptron(random_state=0).fit([[(word, "x") for word in x] for x in X], Y)
    display = LatticeDisplay.from_estimator(model, [("the", "x"), ("cat", "x")], ["DET", "NOUN"])
    display.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert display.lattices[0].tokens == ["the", "cat"]

"""Weights travel by the lasting keys of features, and come back as they were."""

import numpy as np
import pytest

from rosenblatt import SequencePerceptron
from rosenblatt.learners.sequence.state import PathState, Shape, refuse_too_many_tags
from rosenblatt.parameters import ParameterError

from . import taggers


def copy_by_keys(state, other):
    """Give a state the numbers of another by the keys of features; return which keys it knew."""
    keys, rows = state.find_keys(np.arange(1, state.used))
    known, places = other.find_rows(keys, add=len(other.keys) == 0)
    for name, layer in state.layers().items():
        other.layers()[name].put(places, layer.take(rows[known]))
    return known


@pytest.mark.parametrize("name", ["average", "last", "markov2", "greedy", "chunks", "features"])
def test_layers_hold_all_weights_and_sums(name):
    learner = taggers.fitted(name)._learner
    (state,) = learner.mixable_states()
    assert list(state.layers()) == ["weights", "sums"][: 1 + state.averaged]
    other = PathState.zeros(state.shape, state.averaged, learner.tags.forbidden)
    assert copy_by_keys(state, other).all()
    other.seen = state.seen
    wanted, found = state.coefficients(), other.coefficients()
    assert np.array_equal(wanted.transitions, found.transitions)
    assert np.array_equal(wanted.pairs, found.pairs)
    width = state.shape.width
    for key, row in zip(*state.find_keys(np.arange(1, state.used)), strict=True):
        _, (same,) = other.find_rows(np.array([key]))
        rows = slice(row * width, row * width + width), slice(same * width, same * width + width)
        assert np.array_equal(wanted.emissions[rows[0]], found.emissions[rows[1]])


def test_features_that_are_not_sent_have_no_weights():
    learner = taggers.fitted("average")._learner
    (state,) = learner.mixable_states()
    other = PathState.zeros(state.shape, True, None)
    other.keys = np.append(state.keys[:5], np.array([1 << 40, 1 << 50], np.uint64))
    assert np.count_nonzero(copy_by_keys(state, other)) == 5
    assert sorted(other.rows.tolist()) == [0, 0, 1, 2, 3, 4, 5]


def test_lasting_keys_do_not_depend_on_what_else_a_dictionary_holds():
    X, y = taggers.data_of("columns")
    one, other = (
        taggers.untrained("columns").fit(X, y),
        taggers.untrained("columns").fit(X[::-1], y[::-1]),
    )
    keys = [model._learner.dictionary.lasting_keys() for model in (one, other)]
    names = [
        {int(key): model._learner.dictionary.name(row) for row, key in enumerate(own)}
        for model, own in zip((one, other), keys, strict=True)
    ]
    common = names[0].keys() & names[1].keys()
    assert len(common) > 100
    assert all(names[0][key] == names[1][key] for key in common)


@pytest.mark.parametrize(
    ("shape", "greedy", "refused"),
    [
        (Shape(5822, 1), False, True),
        (Shape(5822, 1), True, False),
        (Shape(1500, 1), False, False),
        (Shape(1500, 2), False, True),
        (Shape(1500, 2), True, True),
        (Shape(5822, 0), True, False),
    ],
)
def test_tags_beyond_memory_or_time_are_refused_before_training(shape, greedy, refused):
    if not refused:
        refuse_too_many_tags(shape, greedy)
        return
    with pytest.raises(ParameterError, match="MiB for every 1,000 features") as found:
        refuse_too_many_tags(shape, greedy)
    assert found.value.code == "too-many-tags"


def test_a_tagger_of_too_many_tags_is_refused():
    words = [[f"w{i}" for i in range(4200)]]
    with pytest.raises(ParameterError, match="4,200 tags would need"):
        SequencePerceptron().fit(words, words)

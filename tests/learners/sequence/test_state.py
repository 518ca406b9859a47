"""Weights travel by the lasting keys of features, and come back as they were."""

import copy

import numpy as np
import pytest

from rosenblatt import SequencePerceptron
from rosenblatt.learners.sequence.state import PathState, Shape, Table, refuse_too_many_tags
from rosenblatt.parameters import ParameterError

from . import taggers


@pytest.mark.parametrize("name", ["average", "last", "markov2", "greedy", "chunks", "features"])
def test_tables_hold_all_weights_and_sums(name):
    learner = taggers.fitted(name)._learner
    keys, state = learner.dictionary.lasting_keys(), learner.state
    tables = state.tables(keys)
    assert len(tables) == 1 + state.averaged
    order = np.random.default_rng(0).permutation(len(keys))
    other = PathState.zeros(state.shape, state.averaged, learner.tags.forbidden)
    other.take(keys[order], *tables)
    for one, again in zip(tables, other.tables(keys[order]), strict=True):
        assert np.array_equal(one.keys, again.keys)
        assert np.array_equal(one.rows, again.rows)
    other.seen = state.seen
    places = np.argsort(order)
    wanted, found = state.coefficients(), other.coefficients()
    assert np.array_equal(wanted.transitions, found.transitions)
    assert np.array_equal(wanted.pairs, found.pairs)
    rows = found.emissions.reshape(-1, state.shape.width)[1:][places]
    assert np.array_equal(wanted.emissions.reshape(-1, state.shape.width)[1:], rows)


def test_features_that_a_table_lacks_have_no_weights():
    learner = taggers.fitted("average")._learner
    keys, state = learner.dictionary.lasting_keys(), copy.deepcopy(learner.state)
    other = PathState.zeros(state.shape, True, None)
    more = np.append(keys[:5], np.array([1 << 40, 1 << 50], np.uint64))
    other.take(more, *state.tables(keys))
    assert other.rows.tolist() == [1, 2, 3, 4, 5, 0, 0]


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


def test_tables_add_up_by_key():
    one = Table.of(np.array([9, 2], np.uint64), np.array([[1.0, 2.0], [3.0, 4.0]]))
    other = Table(np.array([2, 5], np.uint64), np.array([[0.5, 0.5], [7.0, 8.0]]))
    both = Table.total([one, other.times(2)])
    assert both.keys.tolist() == [2, 5, 9]
    assert both.rows.tolist() == [[4.0, 5.0], [14.0, 16.0], [1.0, 2.0]]
    assert both.find_rows(np.array([5, 6], np.uint64)).tolist() == [[14.0, 16.0], [0.0, 0.0]]


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

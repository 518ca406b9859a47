"""Metrics of groups are those of scikit-learn, ties included; pairs are those of a naive loop."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import ndcg_score, roc_auc_score

from rosenblatt.data.ranking import (
    RankingScore,
    count_pairs,
    find_smallest_margins,
    grade,
    index_pairs,
    make_keys,
    measure_groups,
    refuse_negative,
    rows_with_pairs,
)
from rosenblatt.parameters import InputError

from .. import reference


@st.composite
def graded_rows(draw, grades=4, rows=30):
    """Scores with ties, relevance and groups, which are not adjacent."""
    n = draw(st.integers(2, rows))
    numbers = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    relevance = draw(st.lists(st.integers(0, grades - 1), min_size=n, max_size=n))
    scores, groups = np.array(draw(numbers)) / 2 - 1, np.array(draw(numbers)) % 3
    return scores, np.array(relevance, float), groups


def split_groups(keys, *arrays):
    """The arrays of each group, in the order of the keys."""
    for key in np.unique(keys):
        yield tuple(each[keys == key] for each in arrays)


@settings(max_examples=60)
@given(graded_rows(), st.booleans())
def test_metrics_are_those_of_scikit_learn(rows, binary):
    scores, relevance, groups = rows
    relevance = (relevance > 1).astype(float) if binary else relevance
    codes = grade(relevance, make_keys(groups))
    found = measure_groups(scores, codes)
    counted = [
        each for each in split_groups(codes["group"], scores, relevance) if np.ptp(each[1]) > 0
    ]
    assert len(found.pairs) == len(counted)
    for place, (s, y) in enumerate(counted):
        assert found.ndcg[place] == pytest.approx(ndcg_score([y], [s]))
        assert found.ndcg_at_10[place] == pytest.approx(ndcg_score([y], [s], k=10))
        assert found.random_ndcg[place] == pytest.approx(ndcg_score([y], [np.zeros(len(s))]))
        assert found.auc[place] == pytest.approx(reference.pairs_in_order(s, y))
        if len(np.unique(y)) == 2:
            assert found.auc[place] == pytest.approx(roc_auc_score(y == y.max(), s))


@settings(max_examples=60)
@given(graded_rows())
def test_pairs_and_margins_are_those_of_a_loop(rows):
    scores, relevance, groups = rows
    codes = grade(relevance, make_keys(groups))
    every = np.arange(len(codes), dtype=np.uint32)
    _, pairs = count_pairs(scores, codes)
    assert pairs.tolist() == [
        np.count_nonzero(y[:, None] > y) for (y,) in split_groups(codes["group"], relevance)
    ]
    smallest = reference.smallest_pair_margins(scores, relevance, groups)
    with_pairs = np.flatnonzero(np.isfinite(smallest))
    assert rows_with_pairs(codes, every).tolist() == with_pairs.tolist()
    if len(with_pairs):
        found = find_smallest_margins(scores, index_pairs(codes, every))
        assert found.tolist() == smallest.tolist()


def test_a_group_may_come_in_parts():
    rng = np.random.default_rng(0)
    codes = grade(rng.integers(0, 3, 50), make_keys(rng.integers(0, 4, 50)))
    scores, whole, parts = rng.normal(size=50), RankingScore(), RankingScore()
    whole.compare(scores, codes)
    for some in (slice(0, 7), slice(7, 50)):
        parts.compare(scores[some], codes[some])
    assert parts.as_dict() == whole.as_dict()
    assert RankingScore().figures()["ndcg"] is None


def test_relevance_must_be_a_number_from_0_up():
    with pytest.raises(InputError) as caught:
        refuse_negative(grade([1.0, -1.0], make_keys([1, 1])), first_row=10)
    assert (caught.value.code, caught.value.line) == ("relevance-negative", 12)


def test_keys_do_not_depend_on_the_type_of_names():
    words, numbers, floats = make_keys(["12", "7"]), make_keys([12, 7]), make_keys([12.0, 7.0])
    assert words.tolist() == numbers.tolist() == floats.tolist()

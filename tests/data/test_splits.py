"""Some rows are held out: the same ones however rows are cut, or the same share of each class."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rosenblatt import AROW, Perceptron
from rosenblatt.data.splits import Split, quotas

from ..reading.samples import refused


@given(cuts=st.sets(st.integers(1, 999)), seed=st.integers(0, 2**32 - 1))
def test_however_rows_are_cut_the_same_are_held_out(cuts, seed):
    split = Split(0.3, seed)
    parts = [split.held_out(part[0], len(part)) for part in np.split(range(1000), sorted(cuts))]
    np.testing.assert_array_equal(np.concatenate(parts), split.held_out(0, 1000))


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
def test_about_the_share_is_held_out_and_seeds_differ(share):
    held = [Split(share, seed).held_out(0, 20_000) for seed in range(3)]
    for one in held:
        assert abs(one.mean() - share) < 0.02
    assert (held[0] != held[1]).any()
    assert (held[1] != held[2]).any()


def test_nothing_is_held_out_unless_asked_for():
    assert not Split()
    assert not Split().held_out(0, 1000).any()


def test_a_stratified_split_keeps_the_shares_of_the_classes():
    codes = np.arange(100) % 4
    known = np.flatnonzero(codes < 3).astype(np.uint32)
    learnt, held = Split(0.2, 0).stratify(codes, known)
    assert learnt.dtype == held.dtype == np.uint32
    assert sorted([*learnt, *held]) == known.tolist()
    assert (np.diff(learnt.astype(int)) > 0).all()
    assert np.bincount(codes[held]).tolist() == [5, 5, 5]
    with refused("too-few-rows"):
        Split(0.2, 0).stratify(codes, known[:2])


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=8), share=st.floats(0.01, 0.99))
def test_quotas_add_up_to_the_share_and_leave_a_row_of_each_class(counts, share):
    counts = np.array(counts)
    found = quotas(counts, share)
    assert (found >= 0).all()
    assert (found <= np.maximum(counts - 1, 0)).all()
    assert (np.abs(found - share * counts) < 1 + 1e-9).all()
    if (counts > 2 / (1 - share)).all():
        assert found.sum() == round(share * counts.sum())


def test_rows_of_label_sets_are_held_out_as_one_class():
    sets = np.zeros((40, 3), bool)
    learnt, held = Split(0.25, 1).stratify(sets, np.arange(40))
    assert (len(learnt), len(held)) == (30, 10)


@pytest.mark.parametrize("model", [Perceptron(class_weight="balanced"), AROW()], ids=str)
def test_rows_that_are_held_out_change_no_weight(model):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    y = (X[:, 0] + random.normal(size=200) > 0.8).astype(int)
    parameters = {"early_stopping": True, "max_iter": 1}
    model.set_params(random_state=4, **parameters)
    learnt, held = Split(0.1, 4).stratify(y, np.arange(200))
    changed = X.copy()
    changed[held] *= 1000
    one, other = model.fit(X, y).coef_, model.fit(changed, y).coef_
    np.testing.assert_array_equal(one, other)
    if model.class_weight:
        counts = np.bincount(y[learnt])
        balanced = dict(enumerate(len(learnt) / (2 * counts)))
        model.set_params(class_weight=balanced)
        np.testing.assert_array_equal(model.fit(X, y).coef_, one)


@given(st.integers(2, 8), st.lists(st.integers(0, 3), min_size=1, max_size=200), st.integers(0, 9))
def test_folds_of_blocks_spread_every_class(count, labels, seed):
    codes, rows = np.array(labels), np.arange(len(labels), dtype=np.uint32)
    folds = Split(seed=seed).block_folds(codes, rows, count)
    for label in np.unique(codes):
        counts = np.bincount(folds[codes == label], minlength=count)
        size = np.count_nonzero(codes == label)
        assert np.count_nonzero(counts) == min(count, size)
        assert counts.max() <= 2 * -(-size // count)


def test_folds_of_blocks_keep_neighbours_together():
    codes, rows = np.zeros(1000, int), np.arange(1000)
    folds = Split().block_folds(codes, rows, 5)
    assert np.count_nonzero(np.diff(folds)) == 5 * 4 - 1
    assert np.bincount(folds).tolist() == [200] * 5

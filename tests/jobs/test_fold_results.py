"""Settings are compared by the paired differences of their losses over folds."""

import numpy as np
import pytest

from rosenblatt.jobs.fold_results import Result, exceeds, standard_error

BOTH = np.array([True, True])


def make_result(losses, log_losses=0.0, auc_losses=0.0, predicted=BOTH):
    """A result of five folds; a number stands for the same loss on all."""
    parts = [np.broadcast_to(np.asarray(one, float), 5) for one in (losses, log_losses, auc_losses)]
    return Result(*parts, np.array(predicted))


def test_the_standard_error_is_larger_than_that_of_independent_folds():
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.1])
    plain = values.std(ddof=1) / np.sqrt(5)
    assert standard_error(values) == pytest.approx(plain * np.sqrt(1 + 5 / 4))
    assert standard_error(np.append(values, np.nan)) == standard_error(values)
    assert standard_error(np.array([0.5])) == 0.0


def test_differences_are_paired():
    """Folds that are hard for both settings do not hide that one is always better."""
    hard = np.array([0.1, 0.5, 0.2, 0.4, 0.3])
    assert exceeds(hard + 0.01, hard)
    assert not exceeds(hard, hard + 0.01)
    assert not exceeds(hard[::-1], hard)
    assert not exceeds(np.full(5, np.nan), hard)


def test_a_setting_is_risky_if_something_else_got_worse():
    usual = make_result(0.2, 0.5, 0.1)
    assert not make_result(0.1, 0.5, 0.1).is_risky(usual)
    assert make_result(0.1, 0.6, 0.1).is_risky(usual)
    assert make_result(0.1, 0.5, 0.2).is_risky(usual)
    assert make_result(0.1, 0.5, 0.1, [True, False]).is_risky(usual)


def test_the_log_loss_may_count_too():
    usual, other = make_result(0.2, 0.5), make_result(0.2, 0.4)
    assert usual.is_worse(other, and_log_loss=True)
    assert not usual.is_worse(other, and_log_loss=False)


def test_folds_without_a_value_are_left_out():
    assert make_result([0.1, np.nan, 0.3, 0.1, 0.3]).mean == pytest.approx(0.2)
    assert make_result(np.nan).mean == np.inf

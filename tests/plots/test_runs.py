"""A repeated run is the same run, or refused."""

import pytest

from rosenblatt.plots import (
    LearningAnimation,
    runs,
)
from rosenblatt.plots.runs import spread_over

from .conftest import XOR, apart, fitted


def test_a_run_that_is_too_long_is_not_followed(monkeypatch):
    monkeypatch.setattr(runs, "MOST_UPDATES", 10)
    with pytest.raises(ValueError, match="at most 10 are followed"):
        LearningAnimation.from_data(*XOR)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LearningAnimation.from_data(*XOR, every="year"), "every must be"),
        (
            lambda: LearningAnimation.from_estimator(fitted(), *apart(seed=1)),
            "give the rows that the model was fitted on",
        ),
    ],
)
def test_what_cannot_be_repeated_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_moments_are_spread_from_the_first_to_the_last():
    assert spread_over(100, 3) == {1, 50, 100}
    assert spread_over(2, 9) == {1, 2}
    assert spread_over(0, 9) == set()

"""What the page says is proved."""

import pytest

from rosenblatt.lab import data, proofs
from rosenblatt.lab.choices import Choices

from .conftest import SMALL, run_of

ORIGIN = "&form=origin&data=points&points=1,2,+;2,0.1,+;-1,-1.5,-"


@pytest.mark.parametrize("choice", ["", "&intercept_step=radius", ORIGIN])
def test_the_theorem_holds_at_every_moment(choice):
    _, _, run = run_of(f"{SMALL}&eta0=0.3{choice}")
    assert run.stop_reason == "separated"
    assert run.last <= run.theorem.bound
    assert (run.columns["low"] <= run.columns["length"] + 1e-9).all()
    assert (run.columns["length"] <= run.columns["high"] + 1e-9).all()


def test_the_verdict_on_xor_is_a_certificate():
    points = data.made("xor", data.SetOptions())
    verdict = proofs.verdict_of(points, Choices())
    assert verdict.separable is False
    assert verdict.support == (0, 1, 2, 3)
    assert verdict.meeting == (0.0, 0.0)
    assert "1/4 of row 1" in verdict.detail


def test_the_verdict_on_blobs_is_their_margin():
    verdict = proofs.verdict_of(data.made("blobs", data.SetOptions(gap=0.5)), Choices())
    assert verdict.separable is True
    assert "γ = 0.5 " in verdict.detail

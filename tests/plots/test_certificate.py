"""The drawn proof is the proof."""

import numpy as np
import pytest

from rosenblatt import Inseparable, max_margin, separability
from rosenblatt.plots import CertificateDisplay

from ..conftest import blobs
from .conftest import apart, new_ax, points


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_hulls_meet_in_a_point_that_both_classes_make(d):
    X, y = blobs(300, d)
    display = CertificateDisplay.from_data(X, y)
    proof = separability(X, y)
    assert isinstance(display.verdict, Inseparable)
    assert display.support_rows.tolist() == list(proof.support)
    assert np.allclose(display.nearest[0], display.nearest[1], atol=1e-9)
    for code in (0, 1):
        of_class = display.data.codes[display.support_rows] == code
        assert np.isclose(display.shares[of_class].sum(), 1)
        made = display.shares[of_class] @ X[display.support_rows[of_class]]
        assert np.allclose(display.plane.place(made), display.nearest[code])
    drawn = points(display.plot(new_ax()).ax_)
    circled = drawn[f"the {len(proof.support)} rows that prove it"]
    assert np.array_equal(circled, display.plane.place(X[display.support_rows]))


@pytest.mark.parametrize("d", [2, 5])
def test_hulls_that_do_not_meet_are_twice_the_margin_apart(d):
    X, y = apart(d=d)
    display = CertificateDisplay.from_data(X, y).plot(new_ax())
    distance = np.linalg.norm(np.subtract(*display.nearest))
    assert np.isclose(distance, 2 * max_margin(X, y).upper)


def test_equal_rows_of_two_classes_are_a_certificate():
    display = CertificateDisplay.from_data([[1.0, 2.0], [1.0, 2.0], [0.0, 5.0]], [0, 1, 1])
    assert display.nearest.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    display.plot(new_ax())


def test_the_line_between_separable_classes_follows_the_weights():
    """On breast-cancer the nearest points are closer than rounding: they give no direction."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    display = CertificateDisplay.from_data(X, y).plot()
    assert display.normal[1] == 0  # the first axis is along w
    assert display.normal[0] > 0
    (line,) = [each for each in display.ax_.lines if type(each).__name__ == "AxLine"]
    (x0, _), (x1, _) = line.get_xy1(), line.get_xy2()
    assert x0 == x1
    wrong = (display.plane.place(X)[:, 0] > x0) != (y == 1)
    assert wrong.mean() < 0.01
    assert "separates" in display.figure_.get_suptitle()

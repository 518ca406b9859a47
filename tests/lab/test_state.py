"""Addresses and Python lines."""

import pytest

from rosenblatt import steps
from rosenblatt.lab import state, tour

from .conftest import SMALL, executed, run_of

ADDRESSES = [
    "",
    SMALL,
    "data=xor&form=kernel&kernel=poly&degree=3&t=2",
    "data=iris&solution=average&margin=0.5&eta0=0.25&ties=correct&intercept_step=radius",
    "data=points&points=0.1,0.2,+;1e-05,-2.0,-&compare=on&b.order=worst&b.form=origin",
]


@pytest.mark.parametrize("address", [*ADDRESSES, *(stop.address for stop in tour.TOUR)])
def test_an_address_is_read_as_it_was_written(address):
    shown = state.from_address(address)
    again = state.from_address(shown.address())
    assert again == shown
    assert again.points().X.tolist() == shown.points().X.tolist()
    assert again.points().y.tolist() == shown.points().y.tolist()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("data=nonsense", "There is no set 'nonsense'"),
        ("eta0=fast", "eta0 must be a number"),
        ("eta0=nan", "eta0 must be a number"),
        ("max_iter=1000000000", "1 to 1,000 epochs"),
        ("size=1000000", "number of points must be from 2 to 1,000; got 1,000,000"),
        ("form=cubic", "form must be one of"),
        ("intercept_step=7", "intercept_step must be one of '1', 'radius'; got '7'"),
        ("random_state=-1", "seed"),
        ("seed=-1", "seed"),
        ("gap=1e9", "margin between blobs"),
        ("data=points&points=1,2", r"not x,y,\+ or x,y,-"),
        ("data=points&points=nan,2,-", "NaN"),
        ("data=points&points=" + "1,2,-;" * 2000, "2,000 points"),
        ("order=sideways", "order must be one of"),
        ("margin=-1", "margin must be"),
        ("order=worst&solution=average", "use order="),
    ],
)
def test_a_wrong_address_gets_a_sentence(address, said):
    with pytest.raises(ValueError, match=said):
        run_of(address)


@pytest.mark.parametrize("address", ADDRESSES[1:2] + ADDRESSES[3:])
def test_the_lines_make_the_same_run(address):
    points, choices, run = run_of(address)
    model = executed(state.python_lines(points, choices))
    assert model.n_mistakes_ == run.last
    weights, bias, _ = (model if choices["margin"] == 0 else last(points, choices)).last_weights()
    assert [*weights, bias] == [run.columns[name][-1] for name in ("w1", "w2", "b")]


def last(points, choices):
    """The same run, with the weights that another solution does not tell."""
    taken = list(steps(points.X, points.y, **choices.parameters()))

    class Told:
        @staticmethod
        def last_weights():
            return taken[-1].new_weights[0], taken[-1].new_bias[0], 1.0

    return Told

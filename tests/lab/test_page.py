"""What the page says, without a browser."""

import pytest

from rosenblatt.lab import layout, page, state
from rosenblatt.lab.choices import TABLE
from rosenblatt.lab.geometry import View


def told(address):
    shown = state.from_address(address)
    points = shown.points()
    return page.told_of(points, page.shown_run(points, shown.first, View()))


@pytest.mark.parametrize("name", layout.WORDS)
def test_lists_of_options_are_those_of_the_parameters(name):
    options = layout.options_of(name)
    assert tuple(word for word, _ in options) == TABLE[name].choices
    assert set(layout.WORDS[name]) <= set(TABLE[name].choices)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("data=xor", "no line separates these points"),
        ("data=iris&form=origin&max_iter=10", "no line through the origin separates these points"),
        ("data=xor&form=kernel&kernel=linear&max_iter=5", "no line separates these points"),
        ("data=xor&form=kernel&kernel=sigmoid&max_iter=5", "allow more epochs"),
        ("data=blobs&gap=0.01&max_iter=1", "allow more epochs"),
        ("data=blobs", "Separated after"),
        ("data=xor&ties=correct", "Nothing was learnt"),
        ("data=xor&ties=correct&form=kernel", "Nothing was learnt"),
        ("data=breast-cancer&max_iter=1000", "at most 5,000 updates"),
    ],
)
def test_the_page_says_why_a_run_ended(address, said):
    assert said in told(address)["ending"]


def test_what_an_estimator_refuses_is_told_with_the_run():
    run = told("order=worst&solution=average")
    assert "use order=" in run["trouble"]
    assert run["last"] == 0
    assert "ending" not in run

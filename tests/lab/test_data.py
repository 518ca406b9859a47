"""Points: sets, generators and files."""

import numpy as np
import pytest

from rosenblatt import max_margin
from rosenblatt.lab import data, state

from .conftest import HOSTILE


@pytest.mark.parametrize("name", [name for name in data.SETS if name != "empty"])
def test_every_set_can_be_learnt_from(name):
    X, y = data.made(name, data.SetOptions())[:2]
    assert X.shape == (len(y), 2)
    assert set(y.tolist()) in ({-1, 1}, {1, 2, 3})
    assert len(y) <= data.MOST_POINTS


@pytest.mark.parametrize("gap", [0.05, 0.5, 2.0])
def test_blobs_have_the_margin_that_was_chosen(gap):
    X, y = data.made("blobs", data.SetOptions(gap=gap, seed=4))[:2]
    assert max_margin(X, y).attained == pytest.approx(gap, rel=0.02)  # points have three digits


def test_500_then_500_are_in_that_order():
    assert data.made("500-then-500", data.SetOptions()).y.tolist() == [1] * 500 + [-1] * 500


def test_a_csv_comes_back_to_the_last_bit():
    points = data.Points(np.array([[0.1, 1 / 3], [2e-7, -5.0]]), np.array([1, -1]))
    again = data.from_text(data.as_csv(points).encode(), "points.csv")
    assert again.X.tolist() == points.X.tolist()
    assert again.y.tolist() == points.y.tolist()


MIXED = b"a,b,c,word,kind\n1,20,3,u,x\n2,10,0,v,y\n0,0,0,u,z\n3,-30,1,u,w\n"


def test_a_csv_is_standardised_and_says_so():
    points = data.from_text(MIXED, "mixed.csv")
    np.testing.assert_allclose(points.X.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(points.X.std(axis=0), 1, atol=1e-3)
    assert points.columns == ("a", "b")
    assert points.classes == ("z", "others")
    assert points.y.tolist() == [-1, -1, 1, -1]
    assert points.note == (
        "a and b (of 3 columns of numbers) are standardised: mean 0, standard deviation 1. "
        "z is +1, all others are −1."
    )


def test_columns_and_the_label_of_a_csv_can_be_chosen():
    points = data.from_text(MIXED, "mixed.csv", data.Chosen(("c", "a"), "word"))
    assert points.choice == data.Chosen(
        ("c", "a"), "word", ("a", "b", "c"), ("a", "b", "c", "kind", "word")
    )
    assert points.columns == ("c", "a")
    assert points.classes == ("v", "u")
    assert points.X[:, 1].tolist() == pytest.approx([-0.447, 0.447, -1.342, 1.342])
    assert points.X[:, 0].argmax() == 0
    nameless = data.from_text(
        b"1,2,3,0\n2,1,0,1\n0,5,0,1\n", "numbers.csv", data.Chosen(("2", "1"))
    )
    assert nameless.columns == ("column 3", "column 2")


def test_names_stay_with_points_in_the_address():
    shown = state.State().with_points(data.from_text(MIXED, "mixed.csv"))
    again = state.from_address(shown.address()).points()
    assert (again.columns, again.classes) == (("a", "b"), ("z", "others"))


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_drawn_gets_a_sentence(name):
    text, expected = HOSTILE[name]
    with pytest.raises(ValueError, match=expected):
        data.from_text(text, "file.csv")


def test_a_file_of_very_many_columns_is_refused_at_once():
    text = b",".join(b"%d" % number for number in range(250_000)) + b"\n" + b"1,2,3\n"
    with pytest.raises(ValueError, match=r"wide\.csv has 250,000 columns; the lab takes up to"):
        data.from_text(text, "wide.csv")


@pytest.mark.parametrize("name", [name for name, each in data.SETS.items() if each.options])
def test_a_set_is_made_by_the_options_that_it_names(name):
    usual, others = data.SetOptions(), data.SetOptions(12, 1.0, 5, 0.2)
    for option in data.RANGES:
        changed = usual._replace(**{option: getattr(others, option)})
        made, before = data.made(name, changed), data.made(name, usual)
        same = np.array_equal(made.X, before.X) and np.array_equal(made.y, before.y)
        assert same != (option in data.SETS[name].options)


def test_noise_flips_so_many_labels():
    clean, noisy = (data.made("moons", data.SetOptions(noise=noise)) for noise in (0.0, 0.1))
    assert np.sum(clean.y != noisy.y) == 4
    assert np.array_equal(clean.X, noisy.X)


def test_half_of_each_class_is_held_out():
    points = data.made("iris", data.SetOptions())._replace(halved=True)
    assert len(points.learnt) == len(points.held) == 75
    assert np.sum(points.y[points.held] > 0) == 25
    assert sorted([*points.learnt, *points.held]) == list(range(150))


def test_a_file_that_cannot_be_drawn_is_refused(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("x,y,label\n" + "1,2,1\n3,4,0\n" * 600)
    with pytest.raises(ValueError, match="1,200 points"):
        state.of_data(str(path))
    with pytest.raises((ValueError, OSError), match=r"nowhere\.csv"):
        state.of_data("nowhere.csv")


def test_a_large_file_is_not_read_as_a_whole_before_it_is_refused(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(HOSTILE["large"][0])
    with pytest.raises(ValueError, match=r"10\.5 MB"):
        state.of_data(str(path))

"""Rows to draw, and what was drawn of them."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import AxLine
from sklearn.datasets import load_iris

from rosenblatt import Perceptron

from ..conftest import blobs

mpl.use("Agg")
IRIS = load_iris(return_X_y=True)
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def apart(n=40, d=2, seed=0):
    """Two clouds that a plane separates."""
    X, y = blobs(n, d, seed=seed)
    return X + 8 * y[:, None] - 3, y


def fitted():
    return Perceptron(random_state=0).fit(*apart())


def new_ax():
    return Figure().subplots()


def points(ax):
    """The places of each collection of points, by label."""
    return {
        drawn.get_label(): np.asarray(drawn.get_offsets())
        for drawn in ax.collections
        if isinstance(drawn, PathCollection)
    }


def axlines(ax):
    return [np.array([line.get_xy1(), line.get_xy2()]) for line in ax.lines if type(line) is AxLine]

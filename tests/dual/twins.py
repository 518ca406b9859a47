"""Kernel perceptrons with their naive twins, for the tests of this folder."""

import numpy as np

from rosenblatt import KernelPerceptron

from .. import reference

ORDERS = ["each", "once", "fixed"]


XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def square(A, B):
    """A polynomial kernel whose values on small integers are exact."""
    return (A @ B.T + 1) ** 2


def gaussian(A, B):
    return np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(axis=2))


TWINS = {
    "linear": (lambda A, B: A @ B.T, {"kernel": "linear"}),
    "poly": (square, {"kernel": "poly", "degree": 2, "gamma": 1}),
    "rbf": (gaussian, {"kernel": "rbf", "gamma": 0.5}),
}


def pair(kernel, **parameters):
    """A model and its twin."""
    function, named = TWINS[kernel]
    parameters = {"random_state": 0, "max_iter": 5, **parameters}
    return KernelPerceptron(**named, **parameters), reference.KernelPerceptron(
        function, **parameters
    )


def by_row(model, rows):
    """The coefficients of all rows: zero for those never mistaken."""
    coef = np.zeros((len(model.dual_coef_), rows))
    coef[:, model.support_] = model.dual_coef_
    return coef


def compute_scores(model, X, **parameters):
    scores = model.set_params(**parameters).decision_function(X)
    return np.atleast_2d(scores.T)

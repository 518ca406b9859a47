"""What one perceptron cannot learn, and can once features are combined."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import Perceptron


def combined(degree):
    """A perceptron on all products of up to so many features."""
    products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
    return make_pipeline(products, Perceptron(order="fixed", max_iter=1000))


def parity(dimensions):
    """The corners of the unit cube; an odd number of ones is positive."""
    X = np.array(list(np.ndindex((2,) * dimensions)), float)
    return X, np.where(X.sum(axis=1) % 2 == 1, 1, -1)


def show(title, names, X, y, degree):
    print(title)
    for features in range(1, degree + 1):
        model = combined(features).fit(X, y)
        products, perceptron = model[0], model[-1]
        print(f"  products of up to {features}: {perceptron.stop_reason_} ", end="")
        print(f"after {perceptron.n_iter_} epochs, {model.score(X, y):.0%} right")
    columns = [*products.get_feature_names_out(names), "bias"]
    weights = [*perceptron.coef_[0], *perceptron.intercept_]
    for name, weight in zip(columns, weights, strict=True):
        print(f"    w({name.replace(' ', '-and-')}) = {weight:+.0f}")
    print()


show("XOR, the corners of the unit square", ["x1", "x2"], *parity(2), degree=2)

X = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]]
y = [1, -1, -1, 1]
show("Reviews, turned round by a not", ["excellent", "terrible", "not"], X, y, degree=2)

show("Parity of three, where pairs are not enough", ["x1", "x2", "x3"], *parity(3), degree=3)

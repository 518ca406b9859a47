"""Rows of two classes, and what independent arithmetic says of them."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from rosenblatt import Inseparable, Separable, Undecided, separability

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ODD = np.array([0, 1, 1, 0])
HALF = Fraction(1, 2)


def signs_of(y):
    return np.where(np.asarray(y) == max(y), 1.0, -1.0)


def separated(n=40, d=3, gap=0.1, bias=0.0, seed=0):
    """Rows at least a gap away from a random hyperplane, on its two sides in turn."""
    rng = np.random.default_rng(seed)
    w, signs = rng.normal(size=d), np.where(np.arange(n) % 2, 1.0, -1.0)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X += np.outer(signs * (gap + rng.random(n)) - X @ w - bias, w)
    return X, signs.astype(int)


def exactly(X, signs, w, b):
    """y(w·x + b) of every row in fractions."""
    products = (
        [Fraction(p) * Fraction(q) for p, q in zip(x, w.tolist(), strict=True)] for x in X.tolist()
    )
    return [int(s) * sum(terms, Fraction(b)) for s, terms in zip(signs, products, strict=True)]


def kind(X, y, **parameters):
    """The kind of a verdict, after checking it."""
    verdict = separability(X, y, **parameters)
    assert isinstance(verdict, Undecided) or verdict.verify(X, y)
    return type(verdict)


ROUNDING = 1 + 1e-9

separable_sets = st.builds(
    separated,
    n=st.integers(2, 30),
    d=st.integers(1, 6),
    gap=st.sampled_from([1e-2, 0.1, 1.0]),
    bias=st.sampled_from([0.0, 0.5, -2.0]),
    seed=st.integers(0, 10_000),
)
scales = st.sampled_from([1e-3, 0.1, 1.0, 30.0, 1e4])


def flipped(y):
    """The labels with every fifth one changed, which leaves no hyperplane among many rows."""
    return np.where(np.arange(len(y)) % 5, y, -y)


def line(n, step=0.1, d=2):
    """Points on a line, whose coordinates no float has exactly."""
    return np.outer(step * np.arange(n), np.linspace(1, 3, d)) + 0.7


def half_line(n):
    return np.arange(n) >= n // 2


CASES = {
    "xor": (XOR, ODD, Inseparable),
    "and": (XOR, [0, 0, 0, 1], Separable),
    "one class": (XOR, [1, 1, 1, 1], Separable),
    "one class of zeros": (XOR, [0, 0, 0, 0], Separable),
    "one row": ([[3.0, 4.0]], [1], Separable),
    "two rows": ([[3.0, 4.0], [3.0, 5.0]], [1, 0], Separable),
    "duplicated rows": (np.repeat(XOR, 3, axis=0), np.repeat([0, 0, 0, 1], 3), Separable),
    "duplicated xor": (np.repeat(XOR, 3, axis=0), np.repeat(ODD, 3), Inseparable),
    "twins": ([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], [1, 1, 0], Inseparable),
    "twins, one with a negative zero": ([[0.0, 2.0], [-0.0, 2.0]], [1, 0], Inseparable),
    "line": (np.outer(np.arange(9), [1, 2]), half_line(9), Separable),
    "line, in turn": (np.outer(np.arange(9), [1, 2]), np.arange(9) % 2, Inseparable),
    "line of decimals": (line(30), half_line(30), Separable),
    "line of decimals, one swapped": (
        np.column_stack([0.1 * np.arange(30)] * 2),
        half_line(30) ^ (np.arange(30) == 20),
        Inseparable,
    ),
    "hulls that share a corner": ([[0, 0], [1, 1], [1, 1], [2, 0]], [0, 0, 1, 1], Inseparable),
    "a corner on an edge": ([[0, 0], [2, 0], [1, 0], [1, 5]], [0, 0, 1, 1], Inseparable),
    "edges that overlap": ([[0, 0], [2, 0], [1, 0], [3, 0]], [0, 0, 1, 1], Inseparable),
    "edges that almost touch": (
        [[0, 0], [2, 0], [1, 2.0**-40], [3, 2.0**-40]],
        [0, 0, 1, 1],
        Separable,
    ),
    "a corner on a face": (
        np.vstack([np.eye(3) * 3, np.ones((1, 3)), np.ones((1, 3)) * 2]),
        [0, 0, 0, 1, 1],
        Inseparable,
    ),
    "no features": (np.zeros((2, 0)), [1, 0], Inseparable),
    "no features, one class": (np.zeros((3, 0)), [1, 1, 1], Separable),
    "one feature": ([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], Separable),
    "one feature, in turn": ([[1.0], [2.0], [3.0]], [0, 1, 0], Inseparable),
    "one constant feature": (np.ones((4, 1)), [0, 1, 0, 1], Inseparable),
    "zeros": (np.zeros((4, 3)), [0, 1, 0, 1], Inseparable),
    "neighbouring floats": ([[1.0], [np.nextafter(1, 2)]], [0, 1], Separable),
    "the smallest float": ([[0.0], [5e-324]], [0, 1], Separable),
    "smallest floats around zero": ([[5e-324], [-5e-324], [0.0]], [1, 1, 0], Inseparable),
    "the largest floats": ([[1.7e308, 0], [-1.7e308, 1]], [0, 1], Separable),
    "the largest floats, in turn": ([[1.7e308], [-1.7e308], [0.0]], [0, 0, 1], Inseparable),
    "far apart": ([[1e300, 1.0], [1e-300, 1.0], [0.0, 1.0]], [1, 1, 0], Separable),
    "wide": (np.random.default_rng(0).normal(size=(10, 500)), np.arange(10) % 2, Separable),
    "words": (XOR, ["no", "yes", "yes", "no"], Inseparable),
    "booleans": (XOR > 0, ODD > 0, Inseparable),
}
ORIGIN = {
    "xor": (XOR, ODD, Inseparable),
    "a zero row": ([[1.0, 2.0], [0.0, 0.0]], [1, 1], Inseparable),
    "only a zero row": ([[0.0]], [0], Inseparable),
    "one class": (XOR[1:], [1, 1, 1], Separable),
    "one class of zeros": (XOR[1:], [0, 0, 0], Separable),
    "one class around the origin": (XOR - 0.5, [1, 1, 1, 1], Inseparable),
    "opposite rows": ([[1.0, 2.0], [-1.0, -2.0]], [1, 1], Inseparable),
    "opposite rows, opposite labels": ([[1.0, 2.0], [-1.0, -2.0]], [1, 0], Separable),
    "shifted": ([[1.0], [2.0]], [0, 1], Inseparable),
    "a ray twice": ([[1.0, 2.0], [3.0, 6.0]], [0, 1], Inseparable),
    "a half plane": ([[1, 0], [0, 1], [-5, 1]], [1, 1, 1], Separable),
    "a closed half plane": ([[1, 0], [0, 1], [-1, 0]], [1, 1, 1], Inseparable),
    "no features": (np.zeros((1, 0)), [1], Inseparable),
    "one feature": ([[1.0], [-2.0], [3.0]], [1, 0, 1], Separable),
    "wide": (np.random.default_rng(0).normal(size=(10, 500)), np.arange(10) % 2, Separable),
    "sizes far apart": ([[1e-300, 1e300], [-1e-300, 1e300]], [1, 0], Separable),
}

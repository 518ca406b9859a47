"""Helpers that only compiled code calls, for Python to call."""

from numba import njit

from rosenblatt.kernels import algebra


@njit
def dot(*arguments):
    return algebra.dot(*arguments)


@njit
def add(*arguments):
    algebra.add(*arguments)


@njit
def score(*arguments):
    algebra.score(*arguments)


@njit
def squared_norm(*arguments):
    return algebra.squared_norm(*arguments)


@njit
def best_other(*arguments):
    return algebra.best_other(*arguments)

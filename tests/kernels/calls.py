"""Helpers that only compiled code calls, for Python to call."""

from rosenblatt.kernels import algebra
from rosenblatt.kernels.compiling import compile_here


@compile_here
def dot(*arguments):
    return algebra.dot(*arguments)


@compile_here
def add(*arguments):
    algebra.add(*arguments)


@compile_here
def score(*arguments):
    algebra.score(*arguments)


@compile_here
def squared_norm(*arguments):
    return algebra.squared_norm(*arguments)


@compile_here
def best_other(*arguments):
    return algebra.best_other(*arguments)

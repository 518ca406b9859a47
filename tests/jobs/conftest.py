"""Rows that tests of jobs share."""

import numpy as np
import pytest


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(203, 3))
    kinds = np.where(X @ [1, 2, 0] + random.normal(size=203) > 0, "yes", "no")
    names = random.choice(["red", "green"], 203)
    return [
        {"a": x[0], "b": x[1], "c": x[2], "colour": str(name), "kind": str(kind)}
        for x, name, kind in zip(X.tolist(), names, kinds, strict=True)
    ]

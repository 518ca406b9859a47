"""Data that the test files share."""

import gc
import os
import sys
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy: one of scikit-learn's checks asks

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

settings.register_profile("stable", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("stable"), max_examples=5)
settings.load_profile("stable")

ROUNDS = int(os.environ.get("ROUNDS", "1"))  # times as many drawn cases; 5 every night

collect_ignore = ["fuzz"]  # programs of their own, which need the extra fuzz


SLOW = set((Path(__file__).parent / "slow.txt").read_text("utf-8").split())


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="few examples of generated data")


def pytest_configure(config):
    if config.getoption("--quick"):
        settings.load_profile("quick")


def pytest_collection_finish():
    """Leave modules and tests out of the search for garbage, which they would slow down."""
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Mark the tests of slow.txt, which `make slow` writes."""
    for item in items:
        if item.nodeid.partition("[")[0] in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def own_rules():
    """Forget afterwards the rules that a test registers, and the modules that do so."""
    from rosenblatt import parameters
    from rosenblatt.estimators.registration import REGISTERED
    from rosenblatt.training.rules import RULES

    tables = parameters.RULES_BY_TARGET.values()
    tables = [parameters.RULE_TABLE, parameters.RULE_NAMES, RULES, REGISTERED, *tables]
    known = [dict(table) for table in tables]
    yield
    for module in {kind.__module__ for kind in REGISTERED.values()}:
        sys.modules.pop(module, None)
    for table, before in zip(tables, known, strict=True):
        for name in table.keys() - before.keys():
            del table[name]


FORMS = ["two", "argmax", "ovr"]
ORDERS = ["each", "once", "fixed", "active", "first", "worst"]
VARIANTS = [  # what goes together of solutions and orders
    *(("last", order) for order in ORDERS),
    *(("average", order) for order in ORDERS[:4]),
    *(("pocket", order) for order in ORDERS[:3]),
    ("last", "batch"),
    ("average", "batch"),
]


def csr(X, index_type=np.int32):
    X = csr_array(X)
    X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
    return X


LAYOUTS = {
    "dense": np.array,
    "int32": csr,
    "int64": lambda X: csr(X, np.int64),
}


@st.composite
def examples(draw, form="two"):
    """Rows of small integers, and labels of which each occurs."""
    classes = 2 if form == "two" else 3
    n, d = draw(st.integers(classes, 9)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=st.integers(-3, 3)))
    rest = draw(arrays(int, n - classes, elements=st.integers(0, classes - 1)))
    return X, np.append(range(classes), rest)


def form_parameters(form):
    return {"multi_class": "ovr"} if form == "ovr" else {}


def blobs(n=60, d=5, classes=2, seed=0):
    """Overlapping clouds of real-valued rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[y], y

"""The dual form on a GPU makes the updates of the CPU: simulated here, and on a real one if any."""

import importlib.util
import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt import KernelPerceptron

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
ROWS = 13 if SIMULATED else 40  # a simulation is slow; 13 are not divided evenly among 4 threads


def has_gpu():
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


needs_device = pytest.mark.skipif(
    not (SIMULATED or has_gpu()), reason="needs a GPU, or Numba that simulates one"
)
needs_gpu = pytest.mark.skipif(not has_gpu(), reason="needs a GPU")


def whole_numbers(rows=ROWS, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (rows, 4)).astype(float), rng.integers(0, classes, rows)


def pair(**parameters):
    given = {"gamma": 1, "degree": 2, "max_iter": 3, "random_state": 0} | parameters
    return KernelPerceptron(**given), KernelPerceptron(**given, device="cuda")


def assert_alike(here, there, X):
    for name in ("moves", "steps", "numbers", "coef", "bias", "seen"):
        np.testing.assert_array_equal(
            getattr(here._learner.state, name), getattr(there._learner.state, name)
        )
    assert here.history_ == there.history_
    rounding = 1e-12 if here.solution == "average" else 0  # quotients
    scores = here.decision_function(X), there.decision_function(X)
    np.testing.assert_allclose(*scores, rtol=rounding, atol=rounding)
    np.testing.assert_array_equal(here.predict(X), there.predict(X))


@pytest.mark.slow
@pytest.mark.skipif(SIMULATED, reason="is the simulation")
def test_it_is_exact_where_numba_simulates_a_gpu():
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


@needs_device
@pytest.mark.parametrize(
    ("kernel", "multi_class", "solution", "classes"),
    list(product(["linear", "poly"], ["ovr", "argmax"], ["last", "average", "vote"], [2, 3])),
)
def test_updates_are_those_of_the_cpu(kernel, multi_class, solution, classes):
    X, y = whole_numbers(classes=classes)
    here, there = pair(kernel=kernel, multi_class=multi_class, solution=solution)
    assert_alike(here.fit(X, y), there.fit(X, y), X)


@needs_device
@pytest.mark.parametrize("multi_class", ["ovr", "argmax"])
def test_a_gram_matrix_may_be_given(multi_class):
    X, y = whole_numbers(classes=3)
    values = (X @ X.T + 1) ** 2
    here, there = pair(kernel="precomputed", multi_class=multi_class)
    assert_alike(here.fit(values, y), there.fit(values, y), values)


@needs_device
def test_weights_margins_ties_and_layouts_count_alike():
    X, y = whole_numbers(classes=3, seed=1)
    weights = np.arange(len(y)) % 3.0
    given = {"kernel": "poly", "margin": 2.0, "intercept_step": 2.0, "order": "once"}
    here, there = pair(**given)
    assert_alike(here.fit(X, y, weights), there.fit(X, y, weights), X)
    sparse = csr_array(X)
    assert_alike(here.fit(X, y), there.fit(sparse, y), X)
    assert hasattr(there.support_vectors_, "indptr")
    here, there = pair(kernel="poly", ties="positive", solution="average")
    assert_alike(here.fit(X, y == 1), there.fit(X, y == 1), X)


@needs_device
def test_batches_are_one_pass():
    X, y = whole_numbers(classes=3, seed=2)
    here, there = pair(kernel="poly", order="fixed", max_iter=1, solution="vote")
    here.fit(X, y)
    for begin in range(0, len(y), 5):
        part = slice(begin, begin + 5)
        there.partial_fit(X[part], y[part], classes=range(3))
    np.testing.assert_array_equal(here.dual_coef_, there.dual_coef_)
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


@needs_device
def test_other_kernels_differ_by_rounding_only():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((ROWS, 3)), np.arange(ROWS) % 2
    for kernel in ("rbf", "sigmoid"):
        here, there = pair(kernel=kernel, gamma=0.5)
        here.fit(X, y)
        there.fit(X, y)
        np.testing.assert_array_equal(here.support_, there.support_)
        np.testing.assert_allclose(here.decision_function(X), there.decision_function(X))


@needs_device
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # where it is simulated
def test_scores_beyond_all_numbers_are_refused_and_change_nothing():
    X, y = whole_numbers()
    _, model = pair(kernel="poly", degree=400)
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        model.fit(X * 1e3, y)
    assert not hasattr(model, "classes_")


def test_a_budget_stays_on_the_cpu():
    X, y = whole_numbers()
    _, model = pair(budget=5)
    with pytest.raises((ValueError, RuntimeError), match="CPU"):
        model.fit(X, y)


@pytest.mark.skipif(SIMULATED or has_gpu(), reason="there is a GPU")
def test_without_a_gpu_one_sentence_says_what_is_needed():
    X, y = whole_numbers()
    _, model = pair()
    with pytest.raises(RuntimeError, match="needs an NVIDIA GPU"):
        model.fit(X, y)


@needs_gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_that_live_there_are_taken_as_they_are(dtype):
    import cupy

    X, y = whole_numbers(classes=3)
    X = X.astype(dtype)
    here, _ = pair(kernel="poly", solution="vote")
    there, _ = pair(kernel="poly", solution="vote")
    assert_alike(here.fit(X, y), there.fit(cupy.asarray(X), cupy.asarray(y)), X)
    scores = there.decision_function(cupy.asarray(X))
    np.testing.assert_array_equal(scores, here.decision_function(X))
    with pytest.raises(ValueError, match="expecting 4 features"):
        there.predict(cupy.asarray(X[:, :3]))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 1"):
        there.fit(cupy.asarray(X), y)


@needs_gpu
def test_tensors_of_torch_are_taken_too():
    torch = pytest.importorskip("torch")
    X, y = whole_numbers()
    here, there = KernelPerceptron(gamma=1), KernelPerceptron(gamma=1)
    here.set_params(kernel="poly", random_state=0).fit(X, y)
    there.set_params(kernel="poly", random_state=0).fit(torch.tensor(X, device="cuda"), y)
    np.testing.assert_array_equal(here.dual_coef_, there.dual_coef_)

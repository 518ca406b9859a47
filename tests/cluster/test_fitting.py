"""Training: one partition is one machine, and what cannot be done is refused."""

import subprocess
import sys

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.parameters import ParameterError

from ..conftest import FORMS, blobs, form_parameters
from .conftest import cut, same

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average"])
def test_one_partition_is_local(client, form, solution):
    X, y = blobs(120, 6, 2 if form == "two" else 3)
    settings = {"solution": solution, "max_iter": 6, "random_state": 7, **form_parameters(form)}
    local = Perceptron(**settings).fit(X, y)
    assert same(fit(Perceptron(**settings), *cut(X, y, [len(X)]), client=client), local)


@pytest.mark.parametrize(
    "settings",
    [
        {"order": "once", "margin": 0.5, "eta0": 0.1},
        {"order": "fixed", "intercept_step": "radius"},
        {"measure": True, "ties": "positive"},
        {"class_weight": "balanced"},
        {"class_weight": "balanced", "intercept_step": "radius"},
        {"class_weight": {0: 2.0, 1: 0.5}, "fit_intercept": False},
    ],
    ids=str,
)
def test_one_partition_is_local_with_every_parameter(client, settings):
    X, y = blobs(90, 4)
    y[:20] = 1
    settings = {"max_iter": 5, "random_state": 3, **settings}
    local = Perceptron(**settings).fit(X, y)
    empty = [0, len(X), 0]  # partitions without rows do not count
    assert same(fit(Perceptron(**settings), *cut(X, y, empty), client=client), local)


def test_one_partition_is_local_in_float32_and_csr(client):
    X, y = blobs(80, 5, 3)
    X = csr_matrix(np.where(X > 0, X, 0).astype(np.float32))
    weights = np.linspace(0, 2, 80)
    model = Perceptron(max_iter=4, random_state=0, solution="average")
    local = Perceptron(**model.get_params()).fit(X, y, weights)
    dX, dy = cut(X, y, [80])
    given = da.from_array(weights, chunks=80)
    assert same(fit(model, dX, dy, sample_weight=given, client=client), local)
    assert model.coef_.dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "options", "code"),
    [
        ({"solution": "pocket"}, {}, "cluster-solution"),
        ({"order": "worst"}, {}, "cluster-order"),
        ({"warm_start": True}, {}, "cluster-warm-start"),
        ({"early_stopping": True}, {}, "cluster-early-stopping"),
        ({"margin": -1}, {}, "out-of-range"),
        ({}, {"classes": [0, 5]}, "unknown-label"),
        ({"order": "batch"}, {}, "cluster-order"),
    ],
)
def test_what_cannot_be_mixed_is_refused(client, parameters, options, code):
    X, y = blobs(20, 3)
    with pytest.raises(ParameterError) as refusal:
        fit(Perceptron(**parameters), *cut(X, y, [10, 10]), client=client, **options)
    assert refusal.value.code.endswith(code)


def test_without_dask_there_is_a_sentence():
    script = "import sys; sys.modules['dask'] = None; import rosenblatt.cluster"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ImportError: rosenblatt.cluster needs Dask" in result.stderr
    assert "pip install 'rosenblatt[dask]'" in result.stderr


@pytest.mark.parametrize("lengths", [[6], [3, 3]])
def test_a_row_without_weight_teaches_nothing(client, lengths):
    X, y = np.array([[1.0], [2], [3], [-1], [-2], [-3]]), np.array([1, 1, 1, 0, 0, 0])
    dX, dy = cut(X, y, lengths)

    def weighted(weights, **parameters):
        given = da.from_array(np.array(weights), chunks=(tuple(lengths),))
        return fit(Perceptron(**parameters), dX, dy, sample_weight=given, client=client)

    with pytest.raises(ValueError, match="All sample weights are zero, so there is no row"):
        weighted([0.0] * 6)
    with pytest.raises(ValueError, match="Only one class has rows of a weight above 0"):
        weighted([1.0] * 3 + [0.0] * 3)
    with pytest.raises(ValueError, match="Only one class has rows of a weight above 0"):
        fit(Perceptron(class_weight={0: 0.0, 1: 1.0}), dX, dy, client=client)
    with pytest.raises(ValueError, match=r"sample_weight is -1\.0 in row 1"):
        weighted([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    assert weighted([1.0, 0.0] * 3).mixing_.rounds[0].epoch.rows == 3


def test_files_without_weights_are_refused(client, tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 0 | a\n-1 0 | b\n" * 5)
    with pytest.raises(ValueError, match="All sample weights are zero, so there is no row"):
        fit(Perceptron(order="fixed", max_iter=1), path, client=client)


def test_only_plain_runs_are_for_the_theory(client):
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    weights = da.from_array(np.array([1.0, 2.0]), chunks=2)
    dX, dy = cut(X, y, [2])
    assert fit(Perceptron(), dX, dy, client=client).last_weights()[0].tolist() == [2.0]
    weighted = fit(Perceptron(), dX, dy, sample_weight=weights, client=client)
    with pytest.raises(ValueError, match="without margin, weights"):
        weighted.last_weights()

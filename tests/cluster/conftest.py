"""A cluster, and data cut into partitions."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install 'rosenblatt[dask]'")

import dask.array as da
import pandas
import pyarrow
from dask.delayed import delayed
from distributed import Client, LocalCluster
from pyarrow import parquet

from ..conftest import blobs


@pytest.fixture(scope="session")
def client():
    """Two workers, each a process."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as processes,
        Client(processes) as client,
    ):
        client.run(lambda: __import__("rosenblatt.cluster"))
        yield client


def threads(workers):
    """A cluster within this process, which starts at once."""
    return Client(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0")


def cut(X, y, lengths):
    """X and y as dask arrays with partitions of these lengths."""
    if hasattr(X, "indptr"):
        rows = np.cumsum([0, *lengths])
        blocks = [
            da.from_delayed(delayed(X[i:j]), (j - i, X.shape[1]), X.dtype, meta=X[:0])
            for i, j in pairwise(rows)
        ]
        dX = da.concatenate(blocks)
    else:
        dX = da.from_array(X, chunks=(tuple(lengths), X.shape[1]))
    return dX, da.from_array(y, chunks=(tuple(lengths),))


def same(one, other):
    """Whether two models are the same to the last bit."""
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)
    assert one.stop_reason_ == other.stop_reason_
    assert [epoch[:4] for epoch in one.history_] == [epoch[:4] for epoch in other.history_]
    assert np.allclose([e.loss for e in one.history_], [e.loss for e in other.history_])
    assert one.n_mistakes_ == other.n_mistakes_
    return True


def rows_file(path, X, y):
    """Rows as svmlight, CSV or Parquet, as the name says."""
    if path.suffix == ".svm":
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{value:.4g}" for j, value in enumerate(x) if value > 0)
            for x, label in zip(X, y, strict=True)
        ]
        path.write_text("".join(f"{line}\n" for line in lines))
    else:
        table = pandas.DataFrame(X.round(3), columns=[f"c{j}" for j in range(X.shape[1])])
        table["kind"] = np.where(y, "one", "other")
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            parquet.write_table(pyarrow.Table.from_pandas(table), path)
    return path


@pytest.fixture
def three_files(tmp_path):
    """A pattern of three files, of 40 rows each."""
    X, y = blobs(120, 4)
    for number, part in enumerate(np.split(np.arange(120), 3)):
        rows_file(tmp_path / f"part-{number}.csv", X[part], y[part])
    return f"{tmp_path}/part-*.csv"


@pytest.fixture(params=["svm", "csv", "parquet"])
def folder(request, tmp_path):
    """A folder with three files, of 30, 50 and 40 rows."""
    X, y = blobs(120, 4)
    for number, part in enumerate(np.split(np.arange(120), [30, 80])):
        rows_file(tmp_path / f"part-{number}.{request.param}", X[part], y[part])
    return tmp_path

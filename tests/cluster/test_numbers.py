"""Numbers on a cluster: one partition is one machine, several come near, files are scaled."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import r2_score

import rosenblatt
from rosenblatt import Adaline, PassiveAggressiveRegressor
from rosenblatt.cluster import fit, predict, score
from rosenblatt.shell.app import app

from .conftest import cut, same

pytestmark = pytest.mark.cluster
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(240, 4))
Y = X @ [2.0, -1.0, 0.5, 0.0] + 3 + 0.1 * RANDOM.normal(size=240)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (PassiveAggressiveRegressor, {"solution": "average"}),
        (Adaline, {"measure": True, "order": "fixed"}),
    ],
    ids=str,
)
def test_one_partition_is_local(client, kind, settings):
    settings = {"max_iter": 4, "random_state": 3, **settings}
    local = kind(**settings).fit(X, Y)
    mixed = fit(kind(**settings), *cut(X, Y, [len(X)]), client=client)
    assert same(mixed, local)


def test_several_partitions_come_near(client):
    settings = {"order": "fixed", "max_iter": 3, "solution": "average", "C": 0.1}
    given = cut(X, Y, [100, 0, 140])
    mixed = fit(PassiveAggressiveRegressor(**settings), *given, client=client)
    assert mixed.score(X, Y) > 0.95
    assert np.array_equal(predict(mixed, given[0]).compute(), mixed.predict(X))
    assert score(mixed, *given) == pytest.approx(mixed.score(X, Y))


def test_files_of_numbers_are_scaled_as_on_one_machine(client, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(price=1000 * Y + 50_000)
    frame.to_csv(tmp_path / "all.csv", index=False)
    for number in range(3):
        frame[number::3].to_csv(tmp_path / f"part-{number}.csv", index=False)
    where, common = client.scheduler.address, ["--label", "price", "--epochs", "5"]
    for name, data in {"one": "all.csv", "several": "part-*.csv"}.items():
        words = ["train", str(tmp_path / data), *common, "-o", str(tmp_path / name)]
        result = CliRunner().invoke(app, [*words, "--cluster", where], catch_exceptions=False)
        assert result.exit_code == 0
        assert " loss " in result.output
    words = ["train", str(tmp_path / "all.csv"), *common, "-o", str(tmp_path / "local")]
    CliRunner().invoke(app, words, catch_exceptions=False)
    models = {name: rosenblatt.load(tmp_path / name) for name in ("local", "one", "several")}
    local, one, several = (model.predict(frame[list("abcd")]) for model in models.values())
    assert np.allclose(one, local)
    assert r2_score(frame["price"], several) > 0.95
    files = f"{tmp_path}/part-*.csv"
    assert score(models["several"][-1], files) == pytest.approx(r2_score(frame["price"], several))
    assert len(predict(models["several"][-1], files).compute()) == len(X)

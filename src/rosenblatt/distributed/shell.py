"""Training as the shell asks for it: from files, on a cluster with an address, to a model."""

from collections.abc import Callable
from contextlib import nullcontext
from os import PathLike
from typing import Any

from ..files import FileOptions
from ..parameters import FILES, LINEAR
from ..storage.model import Model
from ..training.rules import PERCEPTRON
from .checkpoint import model_of
from .cluster import Cluster, connected
from .fitting import Kept, Training, check_supported
from .partitions import files_of
from .rounds import Round, printing


def train(
    data: str,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    options: FileOptions,
    address: str,
    report: Callable[[Round], None] | None = None,
    kept: tuple[str | PathLike[str] | None, bool] = (None, False),
) -> Model:
    """What ``files.train`` does, on a cluster.

    Parameters
    ----------
    data, reading
        The files, and the options of ``read``.
    parameters
        Of the estimator, from ``parameters_for_files``.
    options
        The classes; a cluster takes neither windows nor rows to test with.
    address
        As for ``connected``.
    report
        As for ``fit``; without it, lines are printed.
    kept
        Where to write the model after each epoch, and whether to go on from there.
    """
    order = parameters["order"] or ("each" if parameters["max_iter"] > 1 else "fixed")
    parameters, modes = parameters | {"order": order}, {"mode": "mixing", "mix": "uniform"}
    values = parameters | options._asdict() | modes
    check_supported(values, {**LINEAR, **FILES}, PERCEPTRON)  # before a cluster is started
    files, keep = files_of(data, reading), Kept("Perceptron", *kept)
    training = Training(parameters, PERCEPTRON, files, **modes, classes=options.classes, kept=keep)
    told = printing(parameters["max_iter"]) if report is None else nullcontext(report)
    with connected(address) as client, told as tell:
        return model_of(training.run(Cluster(client), tell), "Perceptron")

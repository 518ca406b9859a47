"""Training as the shell asks for it: from files, on a cluster with an address, to a model."""

from collections.abc import Callable
from contextlib import nullcontext
from os import PathLike
from typing import Any

from ..jobs.files import FileTraining
from ..learners.linear import usual_bias_step
from ..parameters import FILES, with_margin
from ..reading.reader import read
from ..storage.model import Model
from ..training.rules import RULES
from .checkpoint import model_of
from .client import Cluster, connected
from .fitting import Kept, Training, check_supported, usual_mix
from .partitions import files_of
from .rounds import Round, printing


def train(
    data: str,
    reading: dict[str, Any],
    asked: FileTraining,
    address: str,
    report: Callable[[Round], None] | None = None,
    kept: tuple[str | PathLike[str] | None, bool] = (None, False),
) -> Model:
    """What ``files.train`` does, on a cluster.

    Parameters
    ----------
    data, reading
        The files, and the options of ``read``.
    asked
        How to learn, and who hears the notes; a cluster takes neither windows nor rows to test
        with.
    address
        As for ``connected``.
    report
        As for ``fit``; without it, lines are printed.
    kept
        Where to write the model after each epoch, and whether to go on from there.
    """
    given, options, rule = asked.parameters, asked.options, RULES[asked.rule]
    order = given["order"] or ("each" if given["max_iter"] > 1 else "fixed")
    given, modes = given | {"order": order}, {"mode": "mixing", "mix": usual_mix(rule)}
    values = with_margin(given) | options._asdict() | modes
    check_supported(values, {**asked.table, **FILES}, rule)  # before a cluster is started
    files, keep = files_of(data, reading), Kept(*kept)
    texts = files.features["recipe"]["text"] if options.classes is None else ()
    parameters = with_margin(given, len(texts))
    if parameters["intercept_step"] is None:
        (first, *_), alike, *_ = files.parts[0]
        parameters["intercept_step"] = usual_bias_step(read(first, **alike).mean_square())
    training = Training(parameters, rule, files, **modes, classes=options.classes, kept=keep)
    told = printing(parameters["max_iter"]) if report is None else nullcontext(report)
    with connected(address) as client, told as tell:
        cluster = Cluster(client)
        job = training.run(cluster, tell)
        for note in files.notes(cluster):
            asked.listener.note(note)
        return model_of(job)

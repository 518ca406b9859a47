"""Training as the shell asks for it: from files, on a cluster with an address, to a model."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from typing import Any

from ..jobs.job import FileJob
from ..parameters import FILES, RULE_TABLE
from ..reading.reader import read
from ..storage.model import Model
from ..training.plan import IN_MEMORY_ROWS, make_plan
from ..training.rules import RULES
from .checkpoint import build_model
from .client import Cluster, connected
from .fitting import Kept, Training, check_supported, usual_mix
from .partitions import partition_files
from .rounds import Round, printing


def train(
    data: str,
    reading: dict[str, Any],
    asked: FileJob,
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
        The request, and what reports the notes; a cluster takes neither windows nor rows to test
        with.
    address
        As for ``connected``.
    report
        As for ``fit``; without it, lines are printed.
    kept
        Where to write the model after each epoch, and whether to go on from there.
    """
    request = asked.request
    alone = replace(request, window=0, holdout=0.0, progress_every=0)
    plan = make_plan(alone, IN_MEMORY_ROWS)
    rule = RULES[plan.rule]
    modes = {"mode": "mixing", "mix": usual_mix(rule)}
    values = {**plan.parameters, **request.options, **modes}
    table = {**RULE_TABLE[plan.rule].parameters, **FILES}
    check_supported(values, table, rule)  # before a cluster is started
    files, keep = partition_files(data, reading), Kept(*kept)
    found = replace(IN_MEMORY_ROWS, texts=len(files.features["recipe"]["text"]))
    if make_plan(alone, found).unresolved:
        (first, *_), alike, *_ = files.parts[0]
        found = replace(found, mean_square=read(first, **alike).mean_square())
    parameters = dict(make_plan(alone, found).parameters)
    training = Training(parameters, rule, files, **modes, classes=request.classes, kept=keep)
    told = printing(parameters["max_iter"]) if report is None else nullcontext(report)
    with connected(address) as client, told as tell:
        cluster = Cluster(client)
        job = training.run(cluster, tell)
        for note in files.notes(cluster):
            asked.reporter.note(note)
        return build_model(job)

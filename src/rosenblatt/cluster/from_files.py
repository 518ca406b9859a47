"""The shell's training on a cluster: from files and an address to a model."""

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
from .checkpoint import ClusterCheckpoint, build_model
from .client import Cluster, connect
from .fitting import Training, check_supported, default_mix
from .partitions import partition_files
from .rounds import Round, print_rounds
from .rows import RowSource


def train(
    data: str,
    reading: dict[str, Any],
    asked: FileJob,
    address: str,
    report: Callable[[Round], None] | None = None,
    kept: tuple[str | PathLike[str] | None, bool] = (None, False),
) -> Model:
    """Train a model from files on a cluster, as ``jobs.files.train`` does on one machine.

    Parameters
    ----------
    data, reading
        The files, and the options of ``read``.
    asked
        The request, and what reports the notes; a cluster takes neither windows nor rows to test
        with.
    address
        As for ``connect``.
    report
        As for ``fit``; without it, lines are printed.
    kept
        The file to write the model to after each epoch, and whether to resume from it.
    """
    request = asked.request
    alone = replace(request, window=0, holdout=0.0, progress_every=0)
    plan = make_plan(alone, IN_MEMORY_ROWS)
    rule = RULES[plan.rule]
    modes = {"mode": "mixing", "mix": default_mix(rule)}
    values = {**plan.parameters, **request.options, **modes}
    table = {**RULE_TABLE[plan.rule].parameters, **FILES}
    check_supported(values, table, rule)  # before a cluster is started
    files = partition_files(data, reading)
    found = replace(IN_MEMORY_ROWS, texts=len(files.features["recipe"]["text"]))
    if make_plan(alone, found).unresolved:
        (first, *_), alike, *_ = files.parts[0]
        found = replace(found, mean_square=read(first, **alike).mean_square())
    parameters = dict(make_plan(alone, found).parameters)
    source = RowSource(files, rule, request.classes)
    training = Training(source, parameters, **modes, checkpoint=ClusterCheckpoint(*kept))
    shown = print_rounds(parameters["max_iter"]) if report is None else nullcontext(report)
    with connect(address) as client, shown as tell:
        cluster = Cluster(client)
        run = training.run(cluster, tell)
        for note in source.list_notes(cluster):
            asked.reporter.note(note)
        return build_model(run, training.finish(run))

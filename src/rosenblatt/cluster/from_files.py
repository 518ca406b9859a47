"""The shell's training on a cluster: from files and an address to a model."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

from ..jobs.job import FileJob
from ..parameters import FILES, NUMBER_RULES, RANK_RULES, RULE_TABLE, ParameterError
from ..reading.reader import read
from ..reading.recipe import FeatureRecipe
from ..slices import find_by_format
from ..storage.model import Model
from ..training.plan import IN_MEMORY_ROWS, Plan, Request, make_plan
from ..training.rules import RULES
from .checkpoint import ClusterCheckpoint, build_model
from .client import Cluster, connect
from .fitting import Training, check_supported, default_mix
from .partitions import partition_files
from .rounds import Round, print_round
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
    found = find_by_format(data, reading.get("format"))
    if found is not None:
        raise ParameterError(
            f"cluster trains models of rows, and {data} holds {found[0].examples}; leave it out.",
            code="cluster-rows",
        )
    source, parameters, mix = plan_rows(data, reading, asked.request)
    training = Training(source, parameters, "mixing", mix, ClusterCheckpoint(*kept))
    with connect(address) as client:
        cluster = Cluster(client)
        run = training.run(cluster, report or partial(print_round, numbers=source.has_numbers))
        for note in source.list_notes(cluster):
            asked.reporter.note(note)
        return build_model(run, training.finish(run))


def plan_rows(
    data: str, reading: dict[str, Any], request: Request
) -> tuple[RowSource, dict[str, Any], str]:
    """The partitions, the parameters and the mixing of a linear model, checked."""
    if request.ordinal is not None or request.rule in RANK_RULES:
        raise ParameterError(
            "cluster trains models of classes and numbers, and the labels are "
            "ranks; leave it out: a single machine learns a file of any size as a stream.",
            code="cluster-ranks",
        )
    alone = replace(request, window=0, holdout=None, progress_every=0, online=False)
    stated = request.rule in NUMBER_RULES or bool(reading.get("numbers"))
    usual = make_plan(alone, replace(IN_MEMORY_ROWS, numbers=stated))
    check_plan(usual.complete(1.0), request)
    files = partition_files(data, reading)
    recipe = FeatureRecipe(**files.features["recipe"])
    found = replace(IN_MEMORY_ROWS, texts=len(recipe.text), numbers=bool(recipe.numbers))
    plan = make_plan(alone, found)
    if plan.unresolved:
        (first, *_), alike, *_ = files.parts[0]
        plan = plan.complete(read(first, **alike).mean_square())
    check_plan(plan, request)
    rule = RULES[plan.rule]
    return RowSource(files, rule, request.classes), dict(plan.parameters), default_mix(rule)


def check_plan(plan: Plan, request: Request) -> None:
    """Refuse what a cluster does not support."""
    rule = RULES[plan.rule]
    values = {**plan.parameters, **request.options, "mode": "mixing", "mix": default_mix(rule)}
    check_supported(values, {**RULE_TABLE[plan.rule].parameters, **FILES}, rule)

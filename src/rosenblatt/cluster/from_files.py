"""The shell's training on a cluster: from files and an address to a model."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

from ..jobs.data import refuse_options_of_rows
from ..jobs.job import FileJob
from ..learners.sequence.file_formats import detect_format
from ..learners.sequence.training import make_sequence_plan
from ..parameters import FILES, NUMBER_RULES, RANK_RULES, RULE_TABLE, SEQUENCE, ParameterError
from ..reading.reader import read
from ..reading.recipe import FeatureRecipe
from ..storage.model import Model
from ..training.plan import IN_MEMORY_ROWS, Plan, Request, make_plan
from ..training.rules import PERCEPTRON, RULES
from .checkpoint import ClusterCheckpoint, build_model
from .client import Cluster, connect
from .fitting import Training, check_supported, default_mix
from .partitions import partition_files
from .rounds import Round, print_round
from .rows import RowSource
from .sentences import SentenceSource


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
    rows = detect_format(data, reading.get("format")) is None
    make = plan_rows if rows else plan_sentences
    source, parameters, mix = make(data, reading, asked.request)
    training = Training(source, parameters, "mixing", mix, ClusterCheckpoint(*kept))
    with connect(address) as client:
        cluster = Cluster(client)
        numbers = isinstance(source, RowSource) and source.has_numbers
        run = training.run(cluster, report or partial(print_round, numbers=numbers))
        for note in source.list_notes(cluster):
            asked.reporter.note(note)
        return build_model(run, training.finish(run))


def plan_rows(
    data: str, reading: dict[str, Any], request: Request
) -> tuple[RowSource, dict[str, Any], str]:
    """The partitions, the parameters and the mixing of a linear model, checked."""
    if request.rule is not None and RULE_TABLE[request.rule].target == "ranking":
        raise groups_error()
    if request.ordinal is not None or request.rule in RANK_RULES:
        raise ParameterError(
            "{cluster?} trains models of classes and numbers, and taggers, and the labels are "
            "ranks; leave it out: a single machine learns a file of any size as a stream.",
            code="cluster-ranks",
        )
    alone = replace(request, window=0, holdout=None, progress_every=0, online=False)
    stated = request.rule in NUMBER_RULES or bool(reading.get("numbers"))
    check_plan(make_plan(alone, replace(IN_MEMORY_ROWS, mean_square=1.0, numbers=stated)), request)
    files = partition_files(data, reading)
    recipe = FeatureRecipe(**files.features["recipe"])
    if recipe.has_groups:
        raise groups_error()
    found = replace(IN_MEMORY_ROWS, texts=len(recipe.text), numbers=bool(recipe.numbers))
    if make_plan(alone, found).unresolved:
        (first, *_), alike, *_ = files.parts[0]
        found = replace(found, mean_square=read(first, **alike).mean_square())
    plan = make_plan(alone, found)
    check_plan(plan, request)
    rule = RULES[plan.rule]
    return RowSource(files, rule, request.classes), dict(plan.parameters), default_mix(rule)


def groups_error() -> ParameterError:
    """Return the error for rows in groups."""
    return ParameterError(
        "{cluster?} does not rank rows within groups; leave it out: a single machine learns a file "
        "of any size as a stream.",
        code="cluster-groups",
    )


def check_plan(plan: Plan, request: Request) -> None:
    """Refuse what a cluster does not support."""
    rule = RULES[plan.rule]
    values = {**plan.parameters, **request.options, "mode": "mixing", "mix": default_mix(rule)}
    check_supported(values, {**RULE_TABLE[plan.rule].parameters, **FILES}, rule)


def plan_sentences(
    data: str, reading: dict[str, Any], request: Request
) -> tuple[SentenceSource, dict[str, Any], str]:
    """The partitions, the parameters and the mixing of a tagger, checked."""
    refuse_options_of_rows(reading)
    parameters = dict(make_sequence_plan(request).parameters)
    modes = {"mode": "mixing", "mix": default_mix(PERCEPTRON)}
    check_supported(parameters | modes, SEQUENCE, PERCEPTRON, "pieces")
    source = SentenceSource(data, label=reading.get("label"), format=reading.get("format"))
    return source, parameters, modes["mix"]

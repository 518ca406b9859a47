"""The model of a job as a file, after each epoch, and a job as such a file left it."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..learners import load_model
from ..parameters import ParameterError
from ..storage.model import Model
from ..training.history import Checkpoint, Epoch, Standing, merge_epochs, stop_reason
from .job import Job
from .rounds import Round

OUTSIDE = ("verbose", "n_jobs")  # parameters that change nothing in the model


def begun_model(path: str | PathLike[str] | None, resume: bool) -> Model | None:
    """The model of an earlier run to go on with, if there is one."""
    if resume and path is None:
        raise ParameterError(
            "{resume} needs {checkpoint?}, the file to go on from.",
            code="resume-without-checkpoint",
            resume=True,
        )
    if not resume or path is None or not Path(path).exists():
        return None
    begun = load_model(path)
    if "cluster" not in begun.facts:
        raise ValueError(f"{path} is no checkpoint of a cluster; begin the run anew.")
    return begun


def build_model(job: Job) -> Model:
    """All that predicting and going on need."""
    histories, learner, checkpoint = job.histories, job.learner, None
    about = identity(job) | {
        "histories": [history.epochs for history in histories],
        "stop_reasons": [history.stop_reason for history in histories],
        "rounds": job.rounds,
        "rows": job.rows,
    }
    facts = {
        "stop_reason": stop_reason(histories) or "unfinished",
        "rows": sum(job.rows),
        "plain": False,
        "cluster": about,
    }
    if job.unfinished():
        standings = [problem.standing() for problem in job.problems]
        checkpoint = Checkpoint(len(job.rounds), 0, standings)
        learner = replace(learner, states=[problem.state for problem in job.problems])
    else:
        learner = replace(learner, states=job.outcomes())
    epochs = merge_epochs([history.epochs for history in histories])
    return learner.to_model(facts, epochs, checkpoint)


def identity(job: Job) -> dict[str, Any]:
    """What a run must share with one that it goes on from, besides the parameters."""
    partitions = [one.n_rows for one in job.found]
    return {"mode": job.mode, "mix": job.mix, "partitions": partitions}


def restore(job: Job, begun: Model, path: Any) -> None:
    """Take a job to where an earlier run stood."""
    about = begun.facts["cluster"]
    refuse_others(path, identity(job), about, "{}")
    refuse_others(path, job.learner.parameters, begun.parameters, "{{{}?}}")
    if not np.array_equal(begun.classes, job.learner.classes):
        raise ValueError(f"The run in {path} began with other labels.")
    job.rounds = [load_round(values) for values in about["rounds"]]
    job.rows, left = tuple(about["rows"]), begun.checkpoint
    for number, (problem, state) in enumerate(zip(job.problems, begun.states, strict=True)):
        epochs = tuple(Epoch(*values) for values in about["histories"][number])
        several = left is not None and len(left.problems) == len(job.problems)
        standing = left.problems[number] if left is not None and several else Standing()
        reason = about["stop_reasons"][number]
        problem.resume(standing._replace(epochs=epochs, stop_reason=reason))
        problem.state = state


def refuse_others(
    path: Any, now: Mapping[str, Any], before: Mapping[str, Any], spelling: str
) -> None:
    """Refuse to go on with other values than a run began with."""
    for name, value in now.items():
        if name not in OUTSIDE and before[name] != value:
            raise ParameterError(
                f"The run in {path} began with {spelling.format(name)} = {before[name]}, not "
                f"{value}; resume it with the same data and parameters.",
                code="resume-changed",
            )


def load_round(values: list[Any]) -> Round:
    """A round as it was before it was written to a file."""
    epoch, mistakes, *rest = values
    return Round(Epoch(*epoch), tuple(mistakes), *rest)

"""The model of a run on a cluster as a file, after each epoch, and a run that resumes from it."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..parameters import ParameterError
from ..storage.file import load_model, save_model
from ..storage.model import Model
from ..training.history import Epoch, Progress
from .rounds import Round
from .run import ClusterRun

OUTSIDE = ("verbose",)  # parameters that change nothing in the model


def build_model(run: ClusterRun, learner: Any) -> Model:
    """The model of a run, finished or not."""
    about = identify(run) | {
        "histories": [problem.epochs for problem in run.problems],
        "stop_reasons": [problem.stop_reason for problem in run.problems],
        "rounds": run.rounds,
        "rows": run.rows,
    }
    facts = {
        "stop_reason": run.stop_reason or "unfinished",
        "rows": sum(run.rows),
        "plain": False,
        "cluster": about,
        **run.prepared.facts,
    }
    model: Model = learner.to_model(
        facts, run.epochs, None if run.stop_reason else run.checkpoint()
    )
    return model


def identify(run: ClusterRun) -> dict[str, Any]:
    """What a run must share with one that it resumes, besides the parameters."""
    return {"mode": run.mode, "mix": run.mix, "partitions": run.prepared.sizes}


class ClusterCheckpoint(NamedTuple):
    """The file that the model is written to after each epoch, and whether to resume from it."""

    path: str | PathLike[str] | None = None
    resume: bool = False

    def load(self) -> Model | None:
        """The model of an earlier run to resume, if there is one."""
        if self.resume and self.path is None:
            raise ParameterError(
                "resume=True needs checkpoint, the file to resume from.",
                code="resume-without-checkpoint",
            )
        if not self.resume or self.path is None or not Path(self.path).exists():
            return None
        begun = load_model(self.path)
        if "cluster" not in begun.facts:
            raise ParameterError(
                f"{self.path} is not the checkpoint of a cluster; leave resume out to start "
                "a new run.",
                code="resume-not-cluster",
            )
        return begun

    def save(self, run: ClusterRun, finish: Any) -> None:
        """Write the model so far, if there is a file for it."""
        if self.path is not None:
            save_model(self.path, build_model(run, finish(run)))

    def describe(self, run: ClusterRun) -> str:
        """What to do when all workers are lost."""
        done = len(run.rounds)
        if self.path is None:
            return "With a checkpoint file a run can resume from its last epoch."
        if done:
            return f"The model after epoch {done} is in {self.path}; resume from there."
        return "No epoch was complete."

    def restore(self, run: ClusterRun, begun: Model) -> None:
        """Set a run to where an earlier one was left."""
        about, learner = begun.facts["cluster"], run.prepared.learner
        self.check_unchanged(identify(run), about)
        self.check_unchanged(learner.parameters, begun.parameters)
        if not np.array_equal(begun.classes, learner.classes):
            raise ParameterError(
                f"The run in {self.path} began with other labels; resume it with the same data.",
                code="resume-changed",
            )
        run.rounds = [load_round(values) for values in about["rounds"]]
        run.rows, run.epoch, left = tuple(about["rows"]), len(run.rounds), begun.checkpoint
        saved = type(learner).from_model(begun).states
        for number, state in enumerate(saved):
            epochs = [Epoch(*values) for values in about["histories"][number]]
            kept = left.problems[number] if left is not None else Progress()
            reason = about["stop_reasons"][number]
            run.problems[number] = replace(kept, state=state, epochs=epochs, stop_reason=reason)

    def check_unchanged(self, now: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Refuse other values than a run began with."""
        for name, value in now.items():
            if name not in OUTSIDE and before[name] != value:
                raise ParameterError(
                    f"The run in {self.path} began with {name} = {before[name]}, not {value}; "
                    " resume it with the same data and parameters.",
                    code="resume-changed",
                )


def load_round(values: list[Any]) -> Round:
    """A round as it was before it was written to a file."""
    epoch, mistakes, *rest = values
    return Round(Epoch(*epoch), tuple(mistakes), *rest)

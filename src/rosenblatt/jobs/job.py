"""One training from a file: what was asked for, and where it resumes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ..disk import remove_temporaries
from ..learners.linear import LinearLearner
from ..parameters import RULE_NAMES, RULE_TABLE, ParameterError
from ..reading.batches import Batch
from ..storage.file import save_model
from ..storage.model import Model
from ..training.plan import DataProfile, Plan, Request, make_plan
from ..training.report import Listener
from ..training.rules import RULES

KEPT = ("class_weight", "solution")  # of a model to start from
ABANDONED = 60.0  # seconds after which no one is writing a model any more


@dataclass
class Checkpointer:
    """Saves the model of an unfinished run every few seconds."""

    path: str | PathLike[str]
    seconds: float
    saved: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        remove_temporaries(Path(self.path), ABANDONED)

    def offer(self, unfinished: Callable[[], Model]) -> None:
        """Save the model so far, if the last time is long enough ago."""
        if time.perf_counter() - self.saved >= self.seconds:
            save_model(self.path, unfinished())
            self.saved = time.perf_counter()


@dataclass(frozen=True)
class FileJob:
    """One training from a file.

    Attributes
    ----------
    request
        What the user stated.
    reporter
        Receives the events of the training.
    checkpointer
        Saves unfinished models.
    begun
        The unfinished model of the same training, to resume.
    initial
        A model to start from instead of zero, with its classes, features and solution.
    facts
        More facts for the model to keep.
    plan, whole
        The plan and all rows of the file, where the chooser has made and read them.
    """

    request: Request = field(default_factory=Request)
    reporter: Listener = field(default_factory=Listener)
    checkpointer: Checkpointer | None = None
    begun: Model | None = None
    initial: Model | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    whole: Batch | None = None

    @property
    def before(self) -> Model | None:
        """The model to resume or to start from."""
        return self.begun or self.initial

    def make_plan(self, found: DataProfile) -> Plan:
        """Make the plan for rows; a model to start from gives its rule and parameters."""
        request, before = self.request, self.initial
        if before is not None and request.rule in (None, RULE_NAMES.get(before.estimator)):
            rule = RULE_NAMES[before.estimator]
            stated = {name: one for name, one in request.parameters.items() if one is not None}
            kept = {
                name: before.parameters[name]
                for name in (*RULE_TABLE[rule].own, *KEPT)
                if name in before.parameters
            }
            request = replace(request, rule=rule, parameters={**kept, **stated})
            if before.target == "ranks":
                request = replace(request, ordinal=self.check_ranks(before))
        plan = make_plan(request, found)
        stops, chooses = plan.parameters["early_stopping"], request.tune is not False
        chooses = chooses and (request.tune is True or self.request.rule is None)
        if "metric" in request.parameters and not (stops or chooses):
            raise ParameterError(
                "metric is what tune and early_stopping choose by; add one of them, or leave it "
                "out.",
                code="metric-unused",
            )
        if stops and plan.max_iter == 1 and found.rereadable:
            raise ParameterError(
                "early_stopping chooses the best of several epochs, but there is only one; leave "
                "it out, or use max_iter.",
                code="validation-unused",
            )
        if request.progress_every and (self.checkpointer is not None or self.begun is not None):
            raise ParameterError(
                "progress_every is about a whole pass; leave checkpoint out.",
                code="progress-checkpoint",
            )
        return plan

    def check_ranks(self, before: Model) -> tuple[Any, ...]:
        """Return the ranks of the model to start from; refuse others that are stated."""
        known, stated = tuple(before.classes.tolist()), self.request.ordinal
        if stated is not None and [*map(str, stated)] != [*map(str, known)]:
            raise ParameterError(
                f"The initial model has the ranks {', '.join(map(str, known))}; leave ordinal out.",
                code="initial-changed",
            )
        return known

    def is_complete(self, plan: Plan, origin: Any, name: str) -> bool:
        """Whether the run to resume is complete; refuse another plan or another file.

        ``origin`` describes the file called ``name``; None if it has no size and time.
        """
        if self.begun is None:
            return False
        before = self.begun.facts
        training = before.get("training")
        plan.refuse_other_plan(training if isinstance(training, dict) else {})
        if before.get("origin") not in (None, origin):
            raise ParameterError(
                f"{name} has changed since the run began; leave resume out to start a new run.",
                code="resume-file-changed",
            )
        return self.begun.checkpoint is None


def begin_learner(plan: Plan, target: Any, shape: tuple[int, Any]) -> LinearLearner:
    """Return an untrained learner for rows of some width and type, by a plan."""
    rule, label_sets = RULES[plan.rule], target.label_sets
    return LinearLearner.begin(
        plan.parameters, target.classes, shape, rule=rule, multilabel=label_sets
    )


def read_once_error(name: str, option: str) -> ParameterError:
    """Return the error of an option that needs a second pass over what can be read only once."""
    return ParameterError(
        f"{name} can be read only once, but {option} needs to read it again; write it to a "
        "file first.",
        code="read-once",
    )

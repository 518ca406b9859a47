"""Run a whole training from its plan, for any learner and any data."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from .plan import Plan
from .report import Listener
from .training import Checkpoint, Part, Training

NO_FACTS: Mapping[str, Any] = {}


class Source(Protocol):
    """Examples to learn from, part by part.

    Attributes
    ----------
    in_memory
        Whether an epoch has one part, which stays the same.
    """

    in_memory: bool

    def parts(self, learner: Any, run: Training) -> Iterator[Part]:
        """Yield the parts of one epoch, in the same order each time."""

    def report_part(self, run: Training) -> None:
        """Report the end of a part of an epoch."""

    def validate(self, learner: Any, problems: list[int]) -> dict[int, float]:
        """The scores of some problems, given by number, on held-out examples; more is better."""

    def facts(self, learner: Any, run: Training) -> dict[str, Any]:
        """Facts about the examples for the model; also set the features of the learner."""


def start(plan: Plan, source: Source, learner: Any, resume: Checkpoint | None = None) -> Training:
    """Make the run of a plan, ready to train or to step through."""
    options = {}
    if plan.parameters["early_stopping"]:
        options["validate"] = partial(source.validate, learner)
    parameters, seed = plan.parameters, plan.split.seed
    run: Training = Training.by(
        parameters, learner.states, lambda: source.parts(learner, run), seed=seed, **options
    )
    if resume is not None:
        run.resume(resume)
    return run


def fit(
    plan: Plan,
    source: Source,
    learner: Any,
    reporter: Listener,
    facts: Mapping[str, Any] = NO_FACTS,
    *,
    resume: Checkpoint | None = None,
    checkpointer: Any = None,
) -> Training:
    """Train to the end, and give the learner the final states.

    Parameters
    ----------
    plan
        The training, fully resolved.
    source
        The examples.
    learner
        The learner, which is changed.
    reporter
        Receives the epochs.
    facts
        Facts for unfinished models, besides those of the source.
    resume
        The checkpoint of an earlier run to continue.
    checkpointer
        Its method ``offer`` saves the model that a function makes, after a part of a stream or
        an epoch in memory, if the last one was saved long enough ago; None saves none.
    """
    run = start(plan, source, learner, resume)

    def unfinished() -> Any:
        learner.states = run.states
        return make_model(plan, source, learner, run, **facts)

    def save() -> None:
        if checkpointer is not None and not run.stop_reason:
            checkpointer.offer(unfinished)

    def after_part(run: Training) -> None:
        source.report_part(run)
        save()

    def after_epoch(epoch: Any) -> None:
        reporter.epoch(epoch)
        if source.in_memory:
            save()

    run.after_epoch = after_epoch
    run.after_part = None if source.in_memory else after_part
    learner.finish(run.train().states)
    return run


def make_model(plan: Plan, source: Source, learner: Any, run: Training, **facts: Any) -> Any:
    """Make the model of a run, finished or not, with its plan."""
    known = {
        "stop_reason": run.stop_reason or "unfinished",
        "training": plan.as_dict(),
        "plain": False,
        **source.facts(learner, run),
    }
    checkpoint = None if run.stop_reason else run.checkpoint()
    return learner.to_model({**known, **facts}, run.epochs, checkpoint)

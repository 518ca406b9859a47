"""One training from its plan to its end: whatever the learner, whatever the data."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

from .history import Checkpoint
from .plan import Plan
from .report import Listener
from .run import Run
from .tasks import Part


class Source(Protocol):
    """Examples to learn from, part by part.

    Attributes
    ----------
    in_memory
        Whether an epoch has one part, which stays the same.
    """

    in_memory: bool

    def parts(self, learner: Any, run: Run) -> Iterator[Part]:
        """What a learner has to learn in one epoch; the same parts in the same order each time."""

    def report_part(self, run: Run) -> None:
        """Report that another part of an epoch is done."""

    def accuracies(self, learner: Any, problems: list[int]) -> dict[int, float]:
        """The share of held-out examples that some problems of a learner get right, by number."""

    def facts(self, learner: Any, run: Run) -> dict[str, Any]:
        """What a model is to remember of the examples; the features of the learner are set."""


class Checkpointer(Protocol):
    """Saves unfinished models."""

    def offer(self, unfinished: Callable[[], Any]) -> None:
        """Save the model so far, if the last time is long enough ago."""


def start(plan: Plan, source: Source, learner: Any, resume: Checkpoint | None = None) -> Run:
    """Make the run of a plan, ready to train or to step through."""
    run: Run = learner.run(
        lambda: source.parts(learner, run),
        plan.max_iter,
        order=plan.parameters["order"],
        seed=plan.split.seed,
    )
    if plan.parameters["early_stopping"]:
        run.validate = partial(source.accuracies, learner)
    if resume is not None:
        run.resume(resume)
    return run


def fit(
    plan: Plan,
    source: Source,
    learner: Any,
    reporter: Listener,
    *,
    resume: Checkpoint | None = None,
    checkpointer: Checkpointer | None = None,
) -> Run:
    """Train to the end; the learner then has the states to keep.

    Parameters
    ----------
    plan
        How to learn.
    source
        The examples.
    learner
        What learns.
    reporter
        Receives the epochs.
    resume
        Where an earlier run was left.
    checkpointer
        Saves the model after a part of a stream, or after an epoch in memory.
    """
    run = start(plan, source, learner, resume)

    def unfinished() -> Any:
        learner.states = [problem.state for problem in run.problems]
        return make_model(plan, source, learner, run)

    def save() -> None:
        if checkpointer is not None and not run.stop_reason:
            checkpointer.offer(unfinished)

    def after_part(run: Run) -> None:
        source.report_part(run)
        save()

    def after_epoch(epoch: Any) -> None:
        reporter.epoch(epoch)
        if source.in_memory:
            save()

    run.after_epoch = after_epoch
    run.after_part = None if source.in_memory else after_part
    learner.finish(run.train().outcomes)
    return run


def make_model(plan: Plan, source: Source, learner: Any, run: Run, **facts: Any) -> Any:
    """The model of a run, finished or not, with its plan."""
    known = {
        "stop_reason": run.stop_reason or "unfinished",
        "training": plan.as_dict(),
        "plain": False,
        **source.facts(learner, run),
    }
    checkpoint = None if run.stop_reason else run.checkpoint()
    return learner.to_model({**known, **facts}, run.epochs, checkpoint)

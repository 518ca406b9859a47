"""What every kind of model can do without scikit-learn: begin, learn, score, be saved and loaded.

Estimators, jobs, the service and the cluster use this protocol only. What a kind cannot do it
refuses in one sentence, which ``refusal`` gives and ``check_use`` raises.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, Self

from ..data.rows import Array
from ..storage.model import Model
from ..training.history import Checkpoint, Count, Epoch
from ..training.state import Layer

Use = Literal["learn", "stream", "resume", "mix", "relay", "serve", "step", "tune", "add_class"]
"""What a learner may be asked for: ``learn`` from a batch; ``stream``, learn from data that are not
kept in memory; ``resume`` an unfinished run; ``mix`` the states of several partitions; ``relay``,
pass the state from partition to partition; ``serve`` predictions; ``step`` from update to update;
``tune`` its parameters; ``add_class``, a label more.
"""


class Learner(Protocol):
    """One kind of model: linear, dual, sequence or network.

    ``learn`` ends in the same ``State.sweep`` as a run over epochs (``training.fit``).

    Attributes
    ----------
    kind
        The name of the kind.
    estimator
        The name of the estimator that a model of this learner becomes.
    parameters
        All parameters of that estimator.
    classes
        The labels, sorted.
    states
        What has been learnt, one state per problem.
    features
        How examples are made from raw data: names, templates, or the recipe of a file.
    """

    kind: ClassVar[str]
    parameters: Mapping[str, Any]
    states: list[Any]
    features: dict[str, Any]

    @property
    def classes(self) -> Array: ...

    @property
    def estimator(self) -> str: ...

    @classmethod
    def begin(cls, plan: Any, found: Any, start: Any = None) -> Self:
        """Make an untrained learner from a plan and a first look at the data.

        The weights are zero, or ``start`` in the shapes of ``coef_`` and ``intercept_``.
        """

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file; it goes on where the model was left."""

    def to_model(
        self,
        facts: Mapping[str, Any],
        history: Sequence[Epoch] = (),
        checkpoint: Checkpoint | None = None,
    ) -> Model:
        """Build the model to save; no other function builds one.

        ``facts`` are added to those that the learner knows itself.
        """

    def refusal(self, use: Use) -> str:
        """Return why the learner cannot be used so, as a sentence; "" if it can."""

    def learn(self, examples: Any, wrong: Array | None = None) -> Count:
        """Learn from examples once, in their order; after an error nothing has changed.

        ``wrong``, one flag per example, is set where the prediction before learning was wrong.
        """

    def scores(self, examples: Any) -> Array:
        """Score examples: a row per example, or per token of sentences."""

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for, or an indicator of label sets."""

    def predictor(self) -> Self:
        """Return a copy that predicts the same and that learning does not change."""

    def mixable_states(self) -> list[Any]:
        """Return the states, with keys that are the same on all partitions of a cluster."""

    def with_class(self, label: Any) -> Self:
        """Return a learner that knows one label more."""


class Task(Protocol):
    """What one problem has to learn from some examples.

    Attributes
    ----------
    everything
        The numbers of the examples that count.
    width
        The number of columns known by now.
    """

    everything: Array
    width: int

    def learn(self, state: Any, order: Array, start: int, most: int | None = None) -> Any:
        """Change a state by the examples of an order from ``start``, for at most ``most`` updates.

        Returns a ``Learnt`` (``training/tasks.py``).
        """

    def margins(self, state: Any) -> Array:
        """Return the margin of every example that counts."""

    def required(self) -> Array:
        """Return what each margin must exceed to be right."""

    def close(self, state: Any) -> None:
        """Write into the state what the task still holds; called before a state is used."""


class State(Protocol):
    """What has been learnt: arrays and counters, declared by fields so that they can be saved."""

    def sweep(self, task: Task, order: Array, most: int | None) -> Any:
        """Learn from the examples in an order and yield what was learnt, piece by piece."""

    def widen(self, width: int) -> None:
        """Make room for more columns, with zero weights."""

    def stop_reason(self, clean: bool) -> str:
        """Return the reason to stop, or "" to continue; ``clean``: the epoch made no mistake."""

    def snapshot(self, examples: Any) -> Callable[[], None]:
        """Return a function that undoes what learning from the examples will change."""

    def layers(self) -> dict[str, Layer]:
        """Return what the partitions of a cluster mix: "weights", "variances", "sums"."""

    def find_keys(self, rows: Array) -> tuple[Array, Array]:
        """Return the keys of some rows of the layers, sorted, and these rows.

        A key means the same on every partition.
        """

    def find_rows(self, keys: Array, size: int, add: bool = True) -> tuple[Any, Array]:
        """Give rows to keys; return which keys have rows, and the rows of these.

        There are ``size`` keys in all, if that is known. Unknown keys get rows if ``add``.
        """


def check_use(learner: Learner, use: Use) -> None:
    """Raise ValueError with the learner's sentence if it cannot be used so."""
    reason = learner.refusal(use)
    if reason:
        raise ValueError(reason)

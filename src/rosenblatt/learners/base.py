"""The interface of all kinds of models, without scikit-learn: learn, score, save and load.

Estimators, jobs, the service and the cluster use these methods only. What a kind cannot do it
refuses in one sentence, which ``refusal`` gives.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

from ..data.rows import Array, known_columns, n_rows, to_matrix
from ..storage.model import Model
from ..training.training import Checkpoint, Epoch

Use = Literal["learn", "stream", "step", "add_class"]
"""What a learner may be asked for: ``learn`` from a batch; ``stream``, learn from data that are not
kept in memory; ``step`` from update to update; ``add_class``, a label more.
"""


class Learner:
    """One kind of model: the linear one, or one of a slice.

    ``begin`` makes an untrained learner from the parameters of its estimator and what was found in
    the data, ``from_model`` that of a model file. ``learn`` ends in the same sweep of the states as
    a run over epochs (``training.fit``).

    Attributes
    ----------
    kind
        The name of the kind.
    state_types
        The class of its states, by the solution.
    refusals
        Why the kind cannot be used in some ways.
    estimator
        The name of the estimator that a model of this learner becomes.
    parameters
        All parameters of that estimator.
    classes
        The labels, sorted.
    multilabel
        Whether an example may have any number of labels.
    target_kind
        What labels are: "classes", "numbers" or "ranks".
    states
        What has been learnt, one state per problem.
    width
        The number of columns of rows.
    features
        How examples are made from raw data: names, templates, or the recipe of a file.
    """

    kind: ClassVar[str]
    state_types: ClassVar[Mapping[str, type]]
    refusals: ClassVar[Mapping[str, str]] = {}
    multilabel = False
    target_kind: Any = "classes"
    estimator: ClassVar[Any]
    parameters: Mapping[str, Any]
    features: dict[str, Any]
    classes: Any
    states: Any
    width: Any

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file; it continues where the model was left."""
        raise NotImplementedError

    def own_facts(self) -> dict[str, Any]:
        """Return the facts that the learner itself adds to its model."""
        return {}

    def to_model(
        self,
        facts: Mapping[str, Any],
        history: Sequence[Epoch] = (),
        checkpoint: Checkpoint | None = None,
    ) -> Model:
        """Build the model to save, with the learner's own facts and others."""
        return Model(
            self.estimator,
            dict(self.parameters),
            self.classes,
            self.states,
            self.features,
            {**self.own_facts(), **facts},
            history,
            checkpoint,
        )

    def refusal(self, use: Use) -> str:
        """Return why the learner does not support a use, as a sentence; "" if it does."""
        return self.refusals.get(use, "")

    def finish(self, states: list[Any]) -> None:
        """Store the states at the end of a run."""
        self.states = states

    def learn(self, examples: Any, wrong: Array | None = None) -> Epoch:
        """Learn from examples once, in their order; after an error nothing has changed.

        ``wrong``, one flag per example, is set where the prediction before learning was wrong.
        """
        raise ValueError(self.refusal("learn"))

    def prepare(self) -> None:
        """Compute what all predictions share, before several threads predict."""

    def score_matrix(self, X: Any) -> Array:
        """Score the rows of a matrix."""
        raise NotImplementedError

    def scores(self, rows: Any, width: int) -> Array:
        """Score the rows of a batch of some width; columns that are not known are ignored."""
        known = known_columns(rows, width, self.width)
        return self.score_matrix(to_matrix(known, n_rows(rows), self.width))

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for, or an indicator of label sets."""
        raise NotImplementedError

    def predictor(self) -> Self:
        """Return a copy that predicts the same and that learning does not change.

        States that learning replaces, and never changes in place, need no copies.
        """
        return copy(self)

    def with_class(self, label: Any) -> Self:
        """Return a copy with one more class."""
        raise ValueError(self.refusal("add_class"))

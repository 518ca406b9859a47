"""The network of perceptrons as a learner: it grows unit by unit instead of sweeping over rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np

from ..data.rows import Array, to_dense
from ..data.splits import HELD_OUT, Split
from ..data.targets import choose_class
from ..kernels.algebra import mix
from ..learners.base import Learner
from ..storage.model import Model
from ..training.state import require
from ..training.training import Epoch, merge_epochs
from .growth import SignedRows, Weights, grow_units
from .state import Lift, NetworkState, Unit, compute_outputs
from .training import TRAININGS

REASONS = ("no_improvement", "max_units", "separated")  # why growth ends, from worst to best


@dataclass
class NetworkLearner(Learner):
    """A network of perceptrons without scikit-learn; one per class if there are over two.

    Attributes
    ----------
    parameters : dict
        Those of the estimator.
    classes : ndarray
        The labels, sorted.
    lift : Lift
        Makes rows that units can separate.
    networks : list of list of Unit
        The units of each network.
    features : dict
        The names of the columns, if they have names.
    """

    kind: ClassVar[str] = "network"
    state_types: ClassVar = {"": NetworkState}
    estimator: ClassVar[str] = "PerceptronNetwork"
    refusals: ClassVar[Mapping[str, str]] = {
        "learn": "A network grows from all rows at once, so it cannot learn from batches; use fit.",
        "stream": "A network grows from all rows at once, so it cannot learn from a stream.",
        "step": "A network grows unit by unit, so it has no single updates to step through.",
        "add_class": "A network knows its classes from the start; grow a new one.",
    }
    parameters: Mapping[str, Any]
    classes: Array
    lift: Lift
    networks: list[list[Unit]] = field(default_factory=list)
    features: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file."""
        lift, growth = Lift(*model.facts["lift"]), model.parameters["growth"]
        width = len(lift.centre)
        fitting = 0 < width == len(lift.scale) == model.facts["width"]
        require(fitting, "its lift does not fit")
        for state in model.states:
            state.check_inputs(growth, width + lift.sphere)
        networks = [state.units() for state in model.states]
        return cls(model.parameters, model.classes, lift, networks, model.features)

    @property
    def states(self) -> list[NetworkState]:
        """The networks as a model file stores them."""
        return [NetworkState.of(units) for units in self.networks]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.lift.centre)

    def own_facts(self) -> dict[str, Any]:
        """Return how rows are lifted."""
        return {"width": self.width, "lift": self.lift}

    def grow(self, X: Array, codes: Array, weights: Array, seed: int) -> tuple[list[Epoch], str]:
        """Add units to each network until it is right, full or no better.

        Returns
        -------
        list of Epoch
            The errors after each unit, summed over the networks.
        str
            Why growth ended; of several networks the worst.
        """
        rows, same = self.lift.rows(X), np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
        learnt, unseen = np.arange(len(codes)), np.arange(0)
        if self.parameters["early_stopping"]:
            learnt, unseen = Split(HELD_OUT, seed).stratify(codes, learnt)
        grown = []
        for number in [1] if len(self.classes) == 2 else range(len(self.classes)):
            problem = SignedRows(rows, np.where(codes == number, 1.0, -1.0), weights, same)
            parts = problem.select(learnt), problem.select(unseen)
            grown.append(grow_network(self.parameters, *parts, seed + 1000 * number))
        networks, epochs, reasons = zip(*grown, strict=True)
        self.networks = list(networks)
        return merge_epochs(list(epochs)), min(reasons, key=REASONS.index)

    def score_matrix(self, X: Array) -> Array:
        """Score rows: the sign is the answer, the size grows with the last activation."""
        rows, scores = self.lift.rows(to_dense(X)), []
        for units in self.networks:
            outputs, activations = compute_outputs(self.parameters["growth"], units, rows)
            size = np.abs(activations)
            scores.append(outputs * (0.5 + 0.5 * size / (1 + size)))
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for."""
        return choose_class(scores, "negative")


def grow_network(
    parameters: Mapping[str, Any], problem: SignedRows, unseen: SignedRows, seed: int
) -> tuple[list[Unit], list[Epoch], str]:
    """Add units until the network is right, full or no better; keep those up to the best.

    Parameters
    ----------
    parameters
        Those of the estimator.
    problem, unseen
        The rows to learn from, and those that decide when to stop, if any.
    seed
        The seed of the permutations.
    """
    growth, most = parameters["growth"], parameters["max_units"]
    train, calls = TRAININGS[parameters["unit"]], count(1)
    units, epochs = list[Unit](), list[Epoch]()
    best, kept, tried = np.inf, 1, 0

    def learn(some: SignedRows) -> Weights:
        """Return the weights and bias of the next unit."""
        if np.all(some.targets == some.targets[0]):
            return np.zeros(some.rows.shape[1]), float(some.targets[0])
        own_seed = int(mix(np.array([seed + next(calls)], np.uint64))[0]) % 2**32
        return train(some.rows, some.targets * some.weights, parameters["max_iter"], own_seed)

    for unit in grow_units(growth, problem, learn):
        units.append(unit)
        outputs, score = compute_outputs(growth, units, problem.rows)[0], None
        errors = int(np.count_nonzero(outputs != problem.targets))
        found = problem.sum_errors(outputs)
        if len(unseen.rows):
            found = unseen.sum_errors(compute_outputs(growth, units, unseen.rows)[0])
            score = 1 - found / float(unseen.weights.sum())
        epochs.append(Epoch(len(units), len(problem.rows), errors, errors, 0.0, score))
        tried += growth != "tiling" or unit.layer > units[-2:][0].layer
        if found < best:
            best, kept, tried = found, len(units), 0
        if errors == 0:
            return units[:kept], epochs, "separated"
        if len(units) >= most:
            return units[:kept], epochs, "max_units"
        if tried >= parameters["patience"]:
            break
    return units[:kept], epochs, "no_improvement"

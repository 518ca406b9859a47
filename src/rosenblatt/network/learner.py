"""The network of perceptrons as a learner: it grows unit by unit instead of sweeping over rows."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
from .state import Lift, NetworkState, Unit, compute_outputs, make_lift
from .training import TRAININGS

REFUSALS = {
    "learn": "A network grows from all rows at once, so it cannot learn from batches; use fit.",
    "stream": "A network grows from all rows at once, so it cannot learn from a stream.",
    "resume": "A network has no unfinished run; continue it with warm_start=True and fit.",
    "step": "A network grows unit by unit, so it has no single updates to step through.",
    "add_class": "A network knows its classes from the start; grow a new one.",
}
REASONS = ("no_improvement", "max_units", "separated")
"""Why growth ends, from worst to best."""
OTHER_ROWS = (
    "The network was grown from other rows or labels, or with other parameters; continue with the "
    "same, or set warm_start=False to grow a new one."
)
Progress = Callable[[int, float, str], None]
"""Receives the number of the problem, the share of units that there are, and a text."""


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
    checksum : int
        Of the rows and labels that it was grown from.
    features : dict
        The names of the columns, if they have names.
    """

    kind: ClassVar[str] = "network"
    state_types: ClassVar = {"": NetworkState}
    estimator: ClassVar[str] = "PerceptronNetwork"
    refusals: ClassVar[Mapping[str, str]] = REFUSALS
    parameters: Mapping[str, Any]
    classes: Array
    lift: Lift
    networks: list[list[Unit]] = field(default_factory=list)
    checksum: int = 0
    features: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(cls, parameters: Mapping[str, Any], classes: Array, X: Array) -> Self:
        """Make a network without units for rows like X."""
        return cls(parameters, classes, make_lift(X, parameters["lift"]))

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file."""
        lift, growth = Lift(*model.facts["lift"]), model.parameters["growth"]
        width = len(lift.centre)
        fitting = 0 < width == len(lift.scale) == model.facts["width"]
        require(fitting, "its lift does not fit")
        fitting = all(state.fits(growth, width + lift.sphere) for state in model.states)
        require(fitting, "its units do not fit together")
        networks, checksum = [state.units() for state in model.states], model.facts["rows_checksum"]
        return cls(model.parameters, model.classes, lift, networks, checksum, model.features)

    @property
    def states(self) -> list[NetworkState]:
        """The networks as a model file stores them."""
        return [NetworkState.of(units) for units in self.networks]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.lift.centre)

    def own_facts(self) -> dict[str, Any]:
        """Return how rows are lifted, and the checksum of those that the network grew from."""
        return {"width": self.width, "lift": self.lift, "rows_checksum": self.checksum}

    def grow(
        self, X: Array, codes: Array, seed: int, progress: Progress | None = None
    ) -> tuple[list[Epoch], str]:
        """Add units to each network until it is right, full or no better.

        Units that there are already are taken over without training; the result is that of a
        network grown in one go. Other rows or labels than those it was grown from are refused.

        Returns
        -------
        list of Epoch
            The errors after each unit, summed over the networks.
        str
            Why growth ended; of several networks the worst.
        """
        checksum = zlib.crc32(X.astype(np.float64).tobytes() + codes.astype(np.int64).tobytes())
        require(not self.networks or self.checksum == checksum, OTHER_ROWS)
        rows, same = self.lift.rows(X), np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
        held_out = np.zeros(len(codes), bool)
        if self.parameters["early_stopping"]:
            split = Split(HELD_OUT, seed)
            held_out[split.stratify(codes, np.arange(len(codes)))[1]] = True
        positive = [1] if len(self.classes) == 2 else range(len(self.classes))
        grown = []
        for number, known in zip(positive, self.networks or [[] for _ in positive], strict=True):
            problem = SignedRows(rows, np.where(codes == number, 1.0, -1.0), same)
            report = None if progress is None else partial(progress, number)
            own_seed = seed + 1000 * number
            grown.append(grow_network(self.parameters, problem, held_out, known, own_seed, report))
        networks, epochs, reasons = zip(*grown, strict=True)
        self.networks, self.checksum = list(networks), checksum
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
    parameters: Mapping[str, Any],
    problem: SignedRows,
    held_out: Array,
    known: Sequence[Unit],
    seed: int,
    report: Callable[[float, str], None] | None,
) -> tuple[list[Unit], list[Epoch], str]:
    """Add units until the network is right, full or no better; keep those up to the best.

    Parameters
    ----------
    parameters
        Those of the estimator.
    problem, held_out
        All rows, and which of them decide when to stop.
    known
        The units of an earlier growth: each is taken over in its turn.
    seed
        The seed of the permutations.
    report
        Receives the share of units that there are, and a text.
    """
    growth, most = parameters["growth"], parameters["max_units"]
    train, calls, places = TRAININGS[parameters["unit"]], count(1), dict(enumerate(known))
    units, epochs, reason = list[Unit](), list[Epoch](), ""
    best, kept, tried = np.inf, 1, 0

    def learn(rows: Array, targets: Array) -> Weights:
        """Return the weights and bias of the next unit, known or trained."""
        if np.all(targets == targets[0]):
            return np.zeros(rows.shape[1]), float(targets[0])
        own_seed = int(mix(np.array([seed + next(calls)], np.uint64))[0]) % 2**32
        unit = places.get(len(units))
        if unit is not None and len(unit.weights) == rows.shape[1]:
            return unit.weights, unit.bias
        return train(rows, targets, parameters["max_iter"], own_seed)

    def count_errors(some: SignedRows) -> int:
        outputs, _ = compute_outputs(growth, units, some.rows)
        return int(np.count_nonzero(outputs != some.targets))

    problem, unseen = problem.select(~held_out), problem.select(held_out)
    for unit in grow_units(growth, problem, learn):
        before = places.get(len(units), unit)
        same = unit[1:] == before[1:] and np.array_equal(unit.weights, before.weights)
        require(same, OTHER_ROWS)
        units.append(unit)
        errors, score = count_errors(problem), None
        found = errors
        if len(unseen.rows):
            found = count_errors(unseen)
            score = 1 - found / len(unseen.rows)
        epochs.append(Epoch(len(units), len(problem.rows), errors, errors, 0.0, score))
        if report is not None:
            report(len(units) / most, f"{len(units)} units, {errors:,} errors")
        tried += growth != "tiling" or unit.layer > units[-2:][0].layer
        if found < best:
            best, kept, tried = found, len(units), 0
        if errors == 0:
            reason = "separated"
        elif len(units) >= most:
            reason = "max_units"
        elif tried >= parameters["patience"]:
            reason = "no_improvement"
        if reason:
            break
    return units[:kept], epochs, reason or "no_improvement"

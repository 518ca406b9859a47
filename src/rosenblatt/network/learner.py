"""The network of perceptrons as a learner: it grows unit by unit instead of sweeping over rows."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..data.rows import Array, to_dense
from ..data.splits import Split
from ..data.targets import choose_class
from ..kernels.algebra import mix
from ..learners.base import Learner
from ..storage.model import Model
from .growth import Problem, Weights, grow_units
from .lifting import Lift, make_lift
from .state import NetworkState, Unit, compute_answers
from .training import TRAININGS

REFUSALS = {
    "learn": "A network grows from all rows at once, so it cannot learn from batches; use fit.",
    "stream": "A network grows from all rows at once, so it cannot learn from a stream.",
    "resume": "A network has no unfinished run; continue it with warm_start=True and fit.",
    "mix": "A network cannot learn on a cluster: units cannot be averaged.",
    "step": "A network grows unit by unit, so it has no single updates to step through.",
    "add_class": "A network knows its classes from the start; grow a new one.",
}
REASONS = ("no_improvement", "max_units", "separated")
"""Why growth ends, from worst to best."""
Progress = Callable[[int, float, str], None]
"""Receives the number of the problem, the share of units that there are, and a text."""


class Growth(NamedTuple):
    """The errors of a network after a new unit.

    Attributes
    ----------
    units : int
        The number of units.
    errors : int
        Training rows that the network gets wrong.
    validation_errors : int or None
        Rows held out that it gets wrong.
    problem : int
        The class that was told from the others, with over two classes.
    """

    units: int
    errors: int
    validation_errors: int | None = None
    problem: int = 0


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
    growth : list of Growth
        The errors after each unit.
    stop_reason : str
        Why growth ended; of several networks the worst.
    checksum : int or None
        Of the rows and labels that it was grown from; None if an older file does not say.
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
    growth: list[Growth] = field(default_factory=list)
    stop_reason: str = ""
    checksum: int | None = None
    features: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(cls, parameters: Mapping[str, Any], classes: Array, X: Array) -> Self:
        """Make a network without units for rows like X."""
        return cls(parameters, classes, make_lift(X, parameters["lift"]))

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Make the learner of a model file."""
        facts, growth = model.facts, model.parameters["growth"]
        lift = Lift.from_dict(facts["lift"], facts["width"])
        for state in model.states:
            if not state.fits(growth, lift.width):
                raise ValueError("its units do not fit together")
        networks = [state.units() for state in model.states]
        history = [Growth(*record) for record in facts["growth"]]
        return cls(
            model.parameters,
            model.classes,
            lift,
            networks,
            history,
            facts.get("stop_reason", "max_units"),
            facts.get("rows_checksum"),
            model.features,
        )

    @property
    def states(self) -> list[NetworkState]:
        """The networks as a model file stores them."""
        return [NetworkState.of(units) for units in self.networks]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.lift.centre)

    def own_facts(self) -> dict[str, Any]:
        """Return how rows are lifted, how the network grew, and why it stopped."""
        return {
            "stop_reason": self.stop_reason,
            "width": self.width,
            "lift": self.lift.as_dict(),
            "growth": [list(record) for record in self.growth],
            "rows_checksum": self.checksum,
        }

    # Learning

    def grow(self, X: Array, codes: Array, seed: int, progress: Progress | None = None) -> None:
        """Add units to each network until it is right, full or no better.

        Units that there are already are taken over without training; the result is that of a
        network grown in one go. Other rows or labels than those it was grown from are refused.
        """
        checksum = compute_checksum(X.astype(np.float64), codes.astype(np.int64))
        if self.networks and self.checksum not in (None, checksum):
            raise other_rows()
        rows, same = self.lift.rows(X), np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
        held_out = self.held_out(codes, seed)
        networks, history, reasons = [], [], []
        positive = [1] if len(self.classes) == 2 else range(len(self.classes))
        known = self.networks or [[] for _ in positive]
        for problem, units in zip(positive, known, strict=True):
            task = Problem(rows, np.where(codes == problem, 1.0, -1.0), same)
            grower = NetworkGrower(self.parameters, task, held_out, problem, seed, units)
            for record in grower.grow():
                history.append(record)
                if progress is not None:
                    text = f"{record.units} units, {record.errors:,} errors"
                    progress(problem, record.units / self.parameters["max_units"], text)
            networks.append(grower.units)
            reasons.append(grower.stop_reason)
        self.networks, self.growth, self.checksum = networks, history, checksum
        self.stop_reason = min(reasons, key=REASONS.index)

    def held_out(self, codes: Array, seed: int) -> Array:
        """Flag the rows that are held out."""
        chosen = np.zeros(len(codes), bool)
        if self.parameters["early_stopping"]:
            split = Split(self.parameters["validation_fraction"], seed)
            chosen[split.stratify(codes, np.arange(len(codes)))[1]] = True
        return chosen

    # Predicting

    def score_matrix(self, X: Array) -> Array:
        """Score rows: the sign is the answer, the size grows with the last activation."""
        rows, scores = self.lift.rows(to_dense(X)), []
        for units in self.networks:
            outputs, activations = compute_answers(self.parameters["growth"], units, rows)
            size = np.abs(activations)
            scores.append(outputs * (0.5 + 0.5 * size / (1 + size)))
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def choose(self, scores: Array) -> Array:
        """Return the class numbers that scores decide for."""
        return choose_class(scores, "negative")

    def predictor(self) -> Self:
        """Return a copy that predicts the same and that growing does not change."""
        return replace(self)


class NetworkGrower:
    """Grows one network, and decides when to stop.

    ``known`` are units of an earlier growth: each is taken over in its turn.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        task: Problem,
        held_out: Array,
        problem: int,
        seed: int,
        known: Sequence[Unit] = (),
    ) -> None:
        self.parameters, self.problem, self.seed, self.known = parameters, problem, seed, known
        self.task, self.unseen = task.select(~held_out), task.select(held_out)
        self.judged = bool(held_out.any())
        self.units: list[Unit] = []
        self.stop_reason, self.learnt = "", 0

    def learn(self, rows: Array, targets: Array) -> Weights:
        """Return the weights and bias of the next unit, known or trained by the perceptron rule."""
        if np.all(targets == targets[0]):
            return np.zeros(rows.shape[1]), float(targets[0])
        self.learnt += 1
        number = len(self.units)
        if number < len(self.known) and len(self.known[number].weights) == rows.shape[1]:
            return self.known[number].weights, self.known[number].bias
        seed = int(mix(np.uint64(self.seed) + np.uint64(1000 * self.problem + self.learnt)))
        train = TRAININGS[self.parameters["unit"]]
        return train(rows, targets, self.parameters["max_iter"], seed % 2**32)

    def errors(self, task: Problem) -> int:
        """Count the rows that the network gets wrong."""
        if not len(task.targets):
            return 0
        outputs = compute_answers(self.parameters["growth"], self.units, task.rows).outputs
        return int(np.count_nonzero(outputs != task.targets))

    def grow(self) -> Iterator[Growth]:
        """Add units until the network is right, full or no better; keep those up to the best."""
        tiling = self.parameters["growth"] == "tiling"
        best, kept, tried = np.inf, 1, 0
        for unit in grow_units(self.parameters["growth"], self.task, self.learn):
            self.check_known(unit)
            self.units.append(unit)
            errors = self.errors(self.task)
            unseen = self.errors(self.unseen) if self.judged else None
            yield Growth(len(self.units), errors, unseen, self.problem)
            found = unseen if unseen is not None else errors
            tried += not tiling or unit.layer > self.units[-2:][0].layer
            if found < best:
                best, kept, tried = found, len(self.units), 0
            if errors == 0:
                self.stop_reason = "separated"
            elif len(self.units) >= self.parameters["max_units"]:
                self.stop_reason = "max_units"
            elif tried >= self.parameters["patience"]:
                self.stop_reason = "no_improvement"
            if self.stop_reason:
                break
        self.stop_reason = self.stop_reason or "no_improvement"
        self.units = self.units[:kept]

    def check_known(self, unit: Unit) -> None:
        """Refuse to continue a network that these rows would not have begun."""
        number = len(self.units)
        if number < len(self.known):
            known = self.known[number]
            place = unit.layer, unit.parent, unit.sign, unit.bias
            before = known.layer, known.parent, known.sign, known.bias
            if place != before or not np.array_equal(unit.weights, known.weights):
                raise other_rows()


def compute_checksum(*arrays: Array) -> int:
    """Return the CRC-32 of some arrays."""
    return zlib.crc32(b"".join(array.tobytes() for array in arrays))


def other_rows() -> ValueError:
    """Return the error for a network that is to continue with other rows."""
    return ValueError(
        "The network was grown from other rows or with other parameters; continue with the same, "
        "or set warm_start=False to grow a new one."
    )

"""Networks of perceptrons as a scikit-learn estimator."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.rows import Array
from ..kernels.algebra import mix
from ..learners.network.growth import Problem, Weights, growth_of
from ..learners.network.lifting import Lift, lift_of
from ..learners.network.state import NetworkState, Unit, answers
from ..learners.network.training import TRAININGS
from ..parameters import NETWORK, check_ranges
from ..storage.model import Model
from ..training.report import bar_of_epochs
from ..training.solutions import chosen
from .base import OnlineClassifier, seed_of


class Growth(NamedTuple):
    """What there was after each new unit.

    Attributes
    ----------
    units : int
        How many units there are.
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


class PerceptronNetwork(OnlineClassifier):
    """Grow a network one perceptron at a time, until it makes no mistake on the training rows.

    Every unit is trained by the perceptron rule alone, and is at least as good as one that is known
    to mend a mistake; so on rows that do not contradict each other the errors fall to zero.

    Parameters
    ----------
    growth : {"upstart", "tiling", "tower", "pyramid"}, default="upstart"
        What a new unit is for: to turn another on or off where that is wrong; to part rows that
        look alike in a layer; to see the row and the unit before; to see the row and all before.
    unit : {"pocket", "thermal"}, default="pocket"
        How a unit is trained: the perceptron rule runs on, and the weights with the fewest
        mistakes are kept; or mistakes count the less the farther they are from the boundary, as a
        temperature falls (Frean (1992), "A 'thermal' perceptron learning rule", Neural Computation
        4(6)).
    lift : {"auto", "sphere", "none"}, default="auto"
        The theorems need rows of which each can be cut off by a plane, as corners of a cube.
        "sphere" makes them so: columns of mean 0 and deviation 1, then projected onto a sphere.
        "auto" does this unless all columns are binary.
    max_units : int, default=100
        The most units of a network; with over two classes there is one network per class.
    patience : int, default=10
        Stop after so many units (in a tiling network: layers) that improve nothing.
    max_iter : int, default=100
        The most epochs to train a unit.
    early_stopping : bool, default=False
        Whether to hold rows out, and to keep the units up to the fewest errors on them.
    validation_fraction : float, default=0.1
        The share of rows held out.
    random_state : int, RandomState instance or None, default=None
        Decides the permutations and the rows held out.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    units_ : list of Unit
        The units, with their weights, biases and places; a list of such lists for over two classes.
    layers_ : list of list of int
        The numbers of the units by layer; a list of such lists for over two classes.
    n_units_ : int
        How many units there are in all.
    history_ : list of Growth
        The errors after each unit.
    stop_reason_ : str
        "separated", "max_units" or "no_improvement"; of several networks the worst.

    See Also
    --------
    KernelPerceptron : The other road past a line.
    Perceptron : A single unit.

    References
    ----------
    Frean (1990), "The upstart algorithm: a method for constructing and training feedforward neural
    networks", Neural Computation 2(2), 198-209.

    Mézard & Nadal (1989), "Learning in feedforward layered networks: the tiling algorithm", Journal
    of Physics A 22(12), 2191-2203.

    Gallant (1990), "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks
    1(2), 179-191: tower and pyramid.

    Examples
    --------
    >>> from rosenblatt import PerceptronNetwork
    >>> network = PerceptronNetwork(random_state=0)
    >>> network.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).n_units_
    2
    """

    _parameters = NETWORK
    units_: list[Any]
    history_: list[Growth]  # type: ignore[assignment]

    def __init__(
        self,
        growth: str = "upstart",
        *,
        unit: str = "pocket",
        lift: str = "auto",
        max_units: int = 100,
        patience: int = 10,
        max_iter: int = 100,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.growth = growth
        self.unit = unit
        self.lift = lift
        self.max_units = max_units
        self.patience = patience
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Grow a network for X and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self
            The fitted network.
        """
        with self._unchanged_by_errors():
            self._grow(*self._begin(X, y))
        return self

    def _begin(self, X: Any, y: ArrayLike) -> tuple[Array, Array, Array]:
        """The rows as units see them, which of them are equal, and the codes of their labels."""
        self._check_parameters()
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        y = self._check_labels(y, X.shape[0])
        self.classes_, codes = self._encode(y)
        self._seed = seed_of(self.random_state)
        self._lift = lift_of(X, self.lift)
        same = np.unique(X, axis=0, return_inverse=True)[1]
        return self._lift.rows(X), same.reshape(-1), codes

    def _check_parameters(self, *where: str) -> None:
        check_ranges(self._values(), NETWORK)

    def _grow(self, rows: Array, same: Array, codes: Array) -> None:
        """One network, or one for each class."""
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        held_out = self._held_out(len(codes))
        networks, history, reasons = [], [], []
        with bar_of_epochs(self.verbose) as tell:
            for problem in positive:
                task = Problem(rows, np.where(codes == problem, 1.0, -1.0), same)
                nursery = Nursery(self, task, held_out, problem)
                for record in nursery.grow():
                    history.append(record)
                    if tell is not None:
                        words = f"{record.units} units, {record.errors:,} errors"
                        tell(problem, record.units / self.max_units, words)
                networks.append(nursery.units)
                reasons.append(nursery.stop_reason)
        self._networks = networks
        self.history_, self.n_iter_ = history, len(history)
        self.stop_reason_ = min(reasons, key=("no_improvement", "max_units", "separated").index)
        self._set_units()

    def _set_units(self) -> None:
        """What a user may look at."""
        layers = [by_layer(units) for units in self._networks]
        two = len(self._networks) == 1
        self.units_ = self._networks[0] if two else self._networks
        self.layers_ = layers[0] if two else layers
        self.n_units_ = sum(map(len, self._networks))

    def _held_out(self, count: int) -> Array:
        """Which rows are held out."""
        chosen = np.zeros(count, bool)
        if self.early_stopping:
            order = np.random.default_rng(self._seed).permutation(count)
            chosen[order[: max(1, round(self.validation_fraction * count))]] = True
        return chosen

    def decision_function(self, X: Any) -> Array:
        """Score rows: the sign is the answer, the size grows with the last activation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. Scores are not probabilities.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rows, scores = self._lift.rows(X), []
        for units in self._networks:
            outputs, activations = answers(self.growth, units, rows)
            size = np.abs(activations)
            scores.append(outputs * (0.5 + 0.5 * size / (1 + size)))
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def predict(self, X: Any) -> Array:
        """The label of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of ``classes_``.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[chosen(scores, "negative")])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_networks")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    # In a file

    def _model(self) -> Model:
        self._check_parameters()
        facts = {
            "stop_reason": self.stop_reason_,
            "width": self.n_features_in_,
            "lift": self._lift.kept(),
            "growth": [list(record) for record in self.history_],
        }
        states = [NetworkState.of(units) for units in self._networks]
        kept = self._values(), self.classes_, states, self._feature_names(), facts
        return Model(type(self).__name__, *kept)

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored, facts = cls(**model.parameters), model.facts
        restored._restore(model, facts["width"])
        restored._lift = Lift.of(facts["lift"], facts["width"])
        for state in model.states:
            if not state.fits(restored.growth, restored._lift.width):
                raise ValueError("its units do not fit together")
        restored._networks = [state.units() for state in model.states]
        restored.history_ = [Growth(*record) for record in facts["growth"]]
        restored._set_units()
        return restored


def by_layer(units: list[Unit]) -> list[list[int]]:
    """The numbers of units by their layer."""
    layers: list[list[int]] = [[] for _ in range(1 + max(unit.layer for unit in units))]
    for number, unit in enumerate(units):
        layers[unit.layer].append(number)
    return layers


class Nursery:
    """Grows one network, and knows when to stop."""

    def __init__(
        self, model: PerceptronNetwork, task: Problem, held_out: Array, problem: int
    ) -> None:
        self.model, self.problem, self.held_out = model, problem, held_out
        self.task, self.unseen = task.some(~held_out), task.some(held_out)
        self.units: list[Unit] = []
        self.stop_reason, self.learnt = "", 0

    def learn(self, rows: Array, targets: Array) -> Weights:
        """What the perceptron rule finds."""
        if np.all(targets == targets[0]):
            return np.zeros(rows.shape[1]), float(targets[0])
        self.learnt += 1
        seed = int(mix(np.uint64(self.model._seed) + np.uint64(1000 * self.problem + self.learnt)))
        train = TRAININGS[self.model.unit]
        return train(rows, targets, self.model.max_iter, seed % 2**32)

    def errors(self, task: Problem) -> int:
        """How many rows the network gets wrong."""
        if not len(task.targets):
            return 0
        outputs = answers(self.model.growth, self.units, task.rows).outputs
        return int(np.count_nonzero(outputs != task.targets))

    def grow(self) -> Iterator[Growth]:
        """Add units until the network is right, full or no better; go back to the best."""
        model, judged = self.model, self.held_out.any()
        best, kept, tried = np.inf, 1, 0
        for unit in growth_of(model.growth, self.task, self.learn):
            self.units.append(unit)
            errors = self.errors(self.task)
            unseen = self.errors(self.unseen) if judged else None
            yield Growth(len(self.units), errors, unseen, self.problem)
            found = unseen if unseen is not None else errors
            tried += model.growth != "tiling" or unit.layer > self.units[-2:][0].layer
            if found < best:
                best, kept, tried = found, len(self.units), 0
            if errors == 0:
                self.stop_reason = "separated"
            elif len(self.units) >= model.max_units:
                self.stop_reason = "max_units"
            elif tried >= model.patience:
                self.stop_reason = "no_improvement"
            if self.stop_reason:
                break
        self.stop_reason = self.stop_reason or "no_improvement"
        self.units = self.units[:kept]


def follow(model: PerceptronNetwork, X: Any, y: ArrayLike) -> tuple[Nursery, Lift]:
    """What grows a network of two classes as ``fit`` does, and what lifts rows for it."""
    rows, same, codes = model._begin(X, y)
    task = Problem(rows, np.where(codes == 1, 1.0, -1.0), same)
    return Nursery(model, task, model._held_out(len(codes)), 1), model._lift

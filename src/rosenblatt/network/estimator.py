"""Growing networks of perceptrons as a scikit-learn estimator."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.rows import Array
from ..estimators.base import FLOATS, RowClassifier, make_seed
from ..estimators.constructors import estimator, positional
from ..parameters.conflicts import check_ranges
from ..training.bars import show_epochs
from .learner import NetworkLearner
from .parameters import PARAMETERS
from .state import Unit


@estimator
class PerceptronNetwork(RowClassifier[NetworkLearner]):
    """Network of perceptrons that grows until it makes no mistake on the training rows.

    Every unit is trained by the perceptron rule, and corrects at least one mistake; so the errors
    fall to zero, unless equal rows have different labels.

    Parameters
    ----------
    growth : {"upstart", "tiling", "tower", "pyramid"}, default="upstart"
        How units are added. "upstart": units that switch another unit on or off where it is wrong;
        "tiling": layers of units that distinguish rows with equal outputs; "tower": each unit sees
        the row and the unit before; "pyramid": the row and all units before.
    unit : {"pocket", "thermal"}, default="pocket"
        How a unit is trained. "pocket": the perceptron rule, keeping the weights with the fewest
        mistakes; "thermal": mistakes far from the boundary count less as a temperature falls
        (Frean (1992), "A 'thermal' perceptron learning rule", Neural Computation 4(6)).
    lift : {"auto", "sphere", "none"}, default="auto"
        The theorems need rows that a plane can separate one by one, such as corners of a cube.
        "sphere" standardizes the columns and projects the rows onto a sphere; "auto" does so unless
        all columns are binary; "none" does nothing.
    max_units : int, default=100
        Largest number of units of a network; for over two classes there is one network per class.
    patience : int, default=10
        Number of units (for "tiling", layers) without fewer errors before growing ends.
    max_iter : int, default=100
        Largest number of epochs of a unit.
    early_stopping : bool, default=False
        Whether to hold rows out, and to keep the units up to the fewest errors on them.
    validation_fraction : float, default=0.1
        Share of the rows to hold out, in (0, 1).
    warm_start : bool, default=False
        Whether ``fit`` continues the network of the last fit, for example with a larger
        ``max_units``. The rows must be the same. The result is that of a single fit, without
        training the known units again.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the rows held out.
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    units_ : list of Unit
        The units with their weights and biases; a list of such lists for over two classes.
    layers_ : list of list of int
        The numbers of the units by layer; a list of such lists for over two classes.
    n_units_ : int
        Number of units of all networks.
    history_ : list of Growth
        A record of the errors after each unit.
    stop_reason_ : str
        Why growing ended: "separated", "max_units" or "no_improvement"; the worst of several
        networks.

    See Also
    --------
    KernelPerceptron : Another classifier with curved boundaries.
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

    _parameters = PARAMETERS
    _learner_class = NetworkLearner

    growth: str = positional("upstart")
    unit: str = "pocket"
    lift: str = "auto"
    max_units: int = 100
    patience: int = 10
    max_iter: int = 100
    early_stopping: bool = False
    validation_fraction: float = 0.1
    warm_start: bool = False
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Grow a network for rows and labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels of the rows.

        Returns
        -------
        self
            The fitted network.
        """
        self._check_parameters()
        with self._unchanged_by_errors():
            learner, X, codes = self._prepare(X, y)
            seed = make_seed(self.random_state)
            with show_epochs(self.verbose) as progress:
                learner.grow(X, codes, seed, progress)
            self.take_over(learner, learner.growth, learner.stop_reason, {})
        return self

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[NetworkLearner, Array, Array]:
        """Return a learner, the checked rows, and the numbers of their classes."""
        continues = self.warm_start and self.__sklearn_is_fitted__()
        X = validate_data(self, X, dtype=FLOATS, reset=not continues)
        y = self._check_labels(y, X.shape[0])
        classes, codes = self._encode(y)
        if not continues:
            return NetworkLearner.begin(self._values(), classes, X), X, codes
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"The network knows the classes {self.classes_.tolist()}, but y has "
                f"{classes.tolist()}; set warm_start=False to grow a new one."
            )
        return replace(self._learner, parameters=self._values()), X, codes

    def take_over(
        self,
        learner: NetworkLearner,
        epochs: list[Any],
        stop_reason: str,
        facts: Mapping[str, Any],
    ) -> None:
        """Become the fitted estimator of a learner.

        :meta private:
        """
        super().take_over(learner, learner.growth, learner.stop_reason, facts)
        self._set_columns(len(learner.lift.centre), learner.features.get("names"))

    @property
    def units_(self) -> list[Any]:
        """The units; a list of lists for over two classes."""
        return self._by_class(self._current().networks)

    @property
    def layers_(self) -> list[Any]:
        """The numbers of the units by layer; a list of such lists for over two classes."""
        return self._by_class([group_by_layer(units) for units in self._current().networks])

    @property
    def n_units_(self) -> int:
        """The number of units of all networks."""
        return sum(map(len, self._current().networks))

    def _by_class(self, parts: list[Any]) -> list[Any]:
        """Return the only part for two classes, all parts for more."""
        return parts[0] if len(parts) == 1 else parts

    def _check_parameters(self, *where: str) -> None:
        check_ranges(self._values(), PARAMETERS)

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, dtype=FLOATS, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def group_by_layer(units: list[Unit]) -> list[list[int]]:
    """Return the numbers of the units of each layer."""
    layers: list[list[int]] = [[] for _ in range(1 + max(unit.layer for unit in units))]
    for number, unit in enumerate(units):
        layers[unit.layer].append(number)
    return layers

"""Networks of perceptrons as a scikit-learn estimator."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.rows import Array
from ..learners.network.learner import Growth, NetworkLearner
from ..learners.network.state import Unit
from ..parameters import NETWORK, check_ranges
from ..storage.model import Model
from ..training.bars import show_epochs
from .base import OnlineClassifier, make_seed
from .constructors import estimator, positional


class FittedNetwork(OnlineClassifier):
    """What a network keeps besides its parameters."""

    _parameters = NETWORK
    _learner: NetworkLearner
    units_: list[Any]
    history_: list[Growth]  # type: ignore[assignment]


@estimator
class PerceptronNetwork(FittedNetwork):
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
    warm_start : bool, default=False
        Whether ``fit`` continues the network that there is, for example with a larger
        ``max_units``; the rows must be those that it was grown from. The result is that of a
        network grown in one go, without training the known units again.
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
        self._check_parameters()
        with self._unchanged_by_errors():
            learner, X, codes = self._prepare(X, y)
            seed = make_seed(self.random_state)
            with show_epochs(self.verbose) as progress:
                learner.grow(X, codes, seed, progress)
            self._keep(learner)
        return self

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[NetworkLearner, Array, Array]:
        """A learner, the rows, and the numbers of their classes."""
        continues = self.warm_start and self.__sklearn_is_fitted__()
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=not continues)
        y = self._check_labels(y, X.shape[0])
        classes, codes = self._encode(y)
        if not continues:
            return NetworkLearner.begin(self._values(), classes, X), X, codes
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"The network was grown for the classes {self.classes_.tolist()}, and y has "
                f"{classes.tolist()}; set warm_start=False to grow a new one."
            )
        return replace(self._learner, parameters=self._values()), X, codes

    def _check_parameters(self, *where: str) -> None:
        check_ranges(self._values(), NETWORK)

    def _keep(self, learner: NetworkLearner) -> None:
        """Set the fitted attributes."""
        self._learner, self.classes_ = learner, learner.classes
        self.history_, self.n_iter_ = learner.growth, len(learner.growth)
        self.stop_reason_ = learner.stop_reason
        layers = [units_by_layer(units) for units in learner.networks]
        two = len(learner.networks) == 1
        self.units_ = learner.networks[0] if two else learner.networks
        self.layers_ = layers[0] if two else layers
        self.n_units_ = sum(map(len, learner.networks))

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
        return self._learner.score_matrix(X)

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
        return np.asarray(self.classes_[self._learner.choose(scores)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    # In a file

    def _model(self) -> Model:
        self._check_parameters()
        return replace(
            self._learner, parameters=self._values(), features=self._feature_names()
        ).to_model({})

    @classmethod
    def _restored(cls, model: Model) -> Self:
        """The estimator that a model file holds."""
        restored = cls(**model.parameters)
        restored._restore(model, model.facts["width"])
        restored._keep(NetworkLearner.from_model(model._replace(parameters=restored._values())))
        return restored


def units_by_layer(units: list[Unit]) -> list[list[int]]:
    """The numbers of the units of each layer."""
    layers: list[list[int]] = [[] for _ in range(1 + max(unit.layer for unit in units))]
    for number, unit in enumerate(units):
        layers[unit.layer].append(number)
    return layers

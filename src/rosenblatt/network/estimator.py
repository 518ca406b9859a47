"""Growing networks of perceptrons as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from ..data.weights import refuse_one_class, row_weights, rows_that_count
from ..estimators.base import FLOATS, RowClassifier, make_seed, unchanged_by_errors
from ..estimators.constructors import estimator, positional
from .learner import NetworkLearner
from .parameters import PARAMETERS
from .state import make_lift


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
        Whether to hold a tenth of the rows out, and to keep the units up to the fewest errors on
        them.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the rows held out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    units_ : list of Unit
        The units with their weights, biases and layers; a list of such lists for over two classes.
    n_units_ : int
        Number of units of all networks.
    history_ : list of Epoch
        A record for each unit: with it, ``errors`` training rows were wrong; those of several
        networks are summed.
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
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow a network for rows and labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. They scale the updates of a unit and decide which of two units
            has fewer errors. Rows of weight 0 are ignored.

        Returns
        -------
        self
            The fitted network.
        """
        self._check_parameters()
        with unchanged_by_errors(self):
            X = validate_data(self, X, dtype=FLOATS)
            classes, codes = self._encode(self._check_labels(y, X.shape[0]))
            weights: Any = row_weights(codes, 1.0 if sample_weight is None else sample_weight, None)
            counting = rows_that_count(codes, weights)
            refuse_one_class(codes, counting)
            rows = X[counting], codes[counting], weights[counting] / weights[counting].mean()
            learner = NetworkLearner(self._values(), classes, make_lift(rows[0], self.lift))
            epochs, reason = learner.grow(*rows, make_seed(self.random_state))
            self.take_over(learner, epochs, reason, {})
        return self

    @property
    def units_(self) -> list[Any]:
        """The units; a list of lists for over two classes."""
        networks: list[Any] = self._current().networks
        return networks[0] if len(networks) == 1 else networks

    @property
    def n_units_(self) -> int:
        """The number of units of all networks."""
        return sum(map(len, self._current().networks))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

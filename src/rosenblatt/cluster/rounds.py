"""Records of the epochs of a cluster, and the lines that are printed about them."""

from typing import NamedTuple

from ..theory.bounds import mistake_bound
from ..training.scoring import format_epoch
from ..training.training import Epoch


class Round(NamedTuple):
    """What happened in one epoch on the cluster.

    Attributes
    ----------
    epoch : Epoch
        The counts of all partitions together.
    mistakes : tuple of int
        Updates made on each partition.
    seconds : float
        Duration of the epoch.

    See Also
    --------
    Mixing : All rounds of a model.

    Examples
    --------
    >>> one = Round(Epoch(1, 100, 7, 7, 3.5), (4, 3), 0.02)
    >>> sum(one.mistakes) == one.epoch.mistakes
    True
    """

    epoch: Epoch
    mistakes: tuple[int, ...]
    seconds: float


class Mixing(NamedTuple):
    """How a model was trained on a cluster: the attribute ``mixing_`` after ``fit``.

    Attributes
    ----------
    rows : tuple of int
        Rows of each partition that has any, in an epoch.
    rounds : tuple of Round
        One per epoch.
    radius, margin : float or None
        R, and the margin that the last weights attain, both with the bias as one more coordinate;
        known when two plain classes were separated.

    See Also
    --------
    fit : Sets the attribute ``mixing_``.

    Examples
    --------
    >>> made = Mixing((50, 50), ())
    >>> sum(made.rows), made.margin
    (100, None)
    """

    rows: tuple[int, ...]
    rounds: tuple[Round, ...]
    radius: float | None = None
    margin: float | None = None

    @property
    def weighted_mistakes(self) -> float:
        """Σ μ k over all epochs, where each of n partitions has the share μ = 1/n.

        If the rows can be separated with margin γ, it is at most R²/γ² (McDonald, Hall & Mann
        2010).
        """
        return sum(sum(one.mistakes) / len(one.mistakes) for one in self.rounds)

    @property
    def bound(self) -> float | None:
        """R²/γ² for the margin attained, which ``weighted_mistakes`` cannot exceed.

        >>> Mixing((4, 4), (), radius=3.0, margin=0.5).bound
        36.0
        """
        if self.radius is None or self.margin is None:
            return None
        return mistake_bound(self.radius, self.margin)


def print_round(target: str, done: Round) -> None:
    """Print what happened in an epoch in one line; ``target`` is what labels are.

    >>> print_round("classes", Round(Epoch(3, 200, 10, 8, 2.5), (4, 6), 0.5))
    epoch    3           8 mistakes    4.00%  10 updates (4-6 per shard)    0.50 s
    """
    each = f"({min(done.mistakes):,d}-{max(done.mistakes):,d} per shard)"
    print(f"{format_epoch(done.epoch, target)} {each}  {done.seconds:6.2f} s", flush=True)

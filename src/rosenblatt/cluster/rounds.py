"""Records of the epochs of a cluster, and the lines that are printed about them."""

from typing import NamedTuple

from ..theory.bounds import mistake_bound
from ..training.training import Epoch


class Round(NamedTuple):
    """What happened in one epoch on the cluster.

    Attributes
    ----------
    epoch : Epoch
        The counts of all partitions together.
    mistakes : tuple of int
        Updates made on each partition.
    weighted_mistakes : float
        Σ μ k: the mistakes as the mixing weighs them.
    bytes_moved : int
        Bytes sent between tasks: weights to the workers, sums up the tree.
    seconds : float
        Duration of the epoch.

    See Also
    --------
    Mixing : All rounds of a model.

    Examples
    --------
    >>> one = Round(Epoch(1, 100, 7, 7, 3.5), (4, 3), 3.5, 1_600, 0.02)
    >>> sum(one.mistakes) == one.epoch.mistakes
    True
    """

    epoch: Epoch
    mistakes: tuple[int, ...]
    weighted_mistakes: float
    bytes_moved: int
    seconds: float


class Mixing(NamedTuple):
    """How a model was trained on a cluster: the attribute ``mixing_`` after ``fit``.

    Attributes
    ----------
    mode, mix : str
        As given to ``fit``.
    rows : tuple of int
        Rows of each partition that has any, in an epoch.
    rounds : tuple of Round
        One per epoch.
    weighted_mistakes : float
        Σ μ k over all epochs. If the rows can be separated with margin γ, it is at most R²/γ²
        (McDonald, Hall & Mann 2010).
    radius, margin : float or None
        R, and the margin that the last weights attain, both with the bias as one more coordinate;
        known when two plain classes were separated.

    See Also
    --------
    fit : Sets the attribute ``mixing_``.

    Examples
    --------
    >>> made = Mixing("mixing", "uniform", (50, 50), (), 0.0)
    >>> sum(made.rows), made.margin
    (100, None)
    """

    mode: str
    mix: str
    rows: tuple[int, ...]
    rounds: tuple[Round, ...]
    weighted_mistakes: float
    radius: float | None = None
    margin: float | None = None

    @property
    def bound(self) -> float | None:
        """R²/γ² for the margin attained, which ``weighted_mistakes`` cannot exceed.

        >>> Mixing("mixing", "uniform", (4, 4), (), 7.5, radius=3.0, margin=0.5).bound
        36.0
        """
        if self.radius is None or self.margin is None:
            return None
        return mistake_bound(self.radius, self.margin)


def weighted_mistakes(mistakes: tuple[int, ...], mix: str) -> float:
    """Σ μ k of one epoch.

    >>> weighted_mistakes((1, 3), "uniform"), weighted_mistakes((1, 3), "mistakes")
    (2.0, 2.5)
    """
    if mix == "uniform":
        return sum(mistakes) / len(mistakes)
    return sum(k * k for k in mistakes) / (sum(mistakes) or 1)


def print_round(done: Round, numbers: bool = False) -> None:
    """Print what happened in an epoch, of classes or of numbers, in one line.

    >>> print_round(Round(Epoch(3, 200, 10, 8, 2.5), (4, 6), 5.0, 2_500_000, 0.5))
    epoch    3          10 mistakes (4-6 per shard)    4.00% error     2.5 MB moved    0.50 s
    """
    epoch, mistakes, rows = done.epoch, done.mistakes, max(done.epoch.rows, 1)
    wrong = f"{epoch.loss / rows:.4g} loss" if numbers else f"{epoch.errors / rows:7.2%} error"
    print(
        f"epoch {epoch.epoch:4d}  {epoch.mistakes:10,d} {'updates' if numbers else 'mistakes'} "
        f"({min(mistakes):,d}-{max(mistakes):,d} per shard)  {wrong}  "
        f"{done.bytes_moved / 1e6:6,.1f} MB moved  {done.seconds:6.2f} s",
        flush=True,
    )

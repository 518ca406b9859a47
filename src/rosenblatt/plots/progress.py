"""How a run went, and the bounds that the convergence theorem sets to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..classifiers.perceptron import Perceptron
from ..rows import Array
from ..theory import largest_margin, radius, square, with_coordinate
from .data import Data, drawable_for
from .display import Display
from .drawing import COLOURS, INK, tidy
from .runs import fitted, repeated
from .scores import Linear, own_leads

MOST_COLUMNS = 2_000  # with which the best separator is sought
TITLES = {
    "mistakes": "mistakes so far, M",
    "errors": "misclassified rows, J₁",
    "loss": "sum of −y·activation over them, J",
    "length": "length of w",
    "angle": "angle to the best separator, in degrees",
}


class Squeeze(NamedTuple):
    """What the convergence theorem says of a run: γM ≤ ‖w‖/η ≤ R√M, so that M ≤ (R/γ)².

    All with the bias as a coordinate of the rows, of the size that makes its steps.
    """

    radius: float
    margin: float
    """Of the best separator that was found."""
    best: Array
    """Its weights, of length one."""
    coordinate: float
    """What the bias is multiplied by in a row; 0 without a bias."""
    eta0: float

    @property
    def bound(self) -> float:
        """The most mistakes that there can be."""
        return square(self.radius, self.margin)

    def __str__(self) -> str:
        return f"{self.bound:,.0f}" if 100 <= self.bound < 1e9 else f"{self.bound:.3g}"

    def lifted(self, weights: Array, bias: Array) -> Array:
        """The weights with the bias as a coordinate, in steps of 1."""
        w = np.ravel(weights)
        with_bias = np.append(w, bias / self.coordinate) if self.coordinate else w
        return np.asarray(with_bias, np.float64) / self.eta0


def squeeze_of(model: Perceptron, data: Data) -> Squeeze | None:
    """The theorem's numbers for a run; None where it does not speak of such a run.

    Nor where the rows are so wide that the best separator is out of reach.
    """
    if data.X.shape[1] > MOST_COLUMNS:
        return None
    try:
        _, _, step = model.last_weights()
    except ValueError:
        return None
    coordinate = float(np.sqrt(step))
    rows = with_coordinate(data.X, coordinate)
    best = largest_margin(rows, data.signs, 1e-3, fit_intercept=False)
    return Squeeze(radius(rows), best.attained, best.weights, coordinate, float(model.eta0))


@dataclass(kw_only=True)
class ProgressDisplay(Display):
    """How a run went: mistakes, both losses, the length of w and its angle to the best separator.

    The convergence theorem (Novikoff 1962) holds the length between γM and R√M after M mistakes;
    where the two meet, at (R/γ)², is the most that there can be. Make one with ``from_estimator``
    or ``from_data``.

    Examples
    --------
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = ProgressDisplay.from_data(X, y, order="fixed")
    >>> display.curves["errors"].tolist(), round(display.squeeze.bound, 6)
    ([1, 0], 3.0)
    """

    over: str  # what time is counted in: "updates" or "epochs"
    time: Array  # when the curves were taken
    # Those of "mistakes" so far (M), "errors" (J₁, the misclassified rows), "loss" (J, the sum of
    # -y·activation over them), "length" (‖w‖/η) and "angle" (in degrees, to the best separator)
    # that the run allows. The last two count the bias as a coordinate of w.
    curves: dict[str, Array]
    # Where the theorem speaks of such a run (two classes, no margin or weights), and the rows are
    # separable and have at most 2,000 columns.
    squeeze: Squeeze | None = None

    def __post_init__(self) -> None:
        self.n_axes = len(self.quantities)

    @classmethod
    def from_data(
        cls, X: Any, y: ArrayLike, *, over: str = "updates", most: int = 1_000, **parameters: Any
    ) -> Self:
        """Train a Perceptron (random_state is 0 unless given) and see how it went."""
        return cls.from_estimator(fitted(X, y, parameters), X, y, over=over, most=most)

    @classmethod
    def from_estimator(
        cls,
        estimator: Perceptron,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        over: str | None = None,
        most: int = 1_000,
    ) -> Self:
        """See how the run of a fitted Perceptron went; with its rows the run is repeated.

        Parameters
        ----------
        estimator : Perceptron
            Fitted, with a number as ``random_state`` if its order is random.
        X, y : array-like, optional
            What it was fitted on. Without them there is what ``history_`` has, over epochs.
        over : {"updates", "epochs"}, optional
            What to count time in; by default updates, or epochs without rows.
        most : int, default=1000
            How many moments to look at, spread evenly; fewer, but at least 20, of many rows.
        """
        over = over or ("epochs" if X is None else "updates")
        if over not in ("updates", "epochs"):
            raise ValueError(f"over must be 'updates' or 'epochs'; got {over!r}.")
        check_is_fitted(estimator)
        if not isinstance(estimator, Perceptron) or not estimator.history_:
            raise ValueError("Progress is that of a fitted Perceptron with epochs in history_.")
        if X is not None and y is not None:
            return cls._measured(estimator, X, y, over, most)
        if over == "updates":
            raise ValueError(
                "Progress over updates needs the rows, X and y; or take over='epochs'."
            )
        history = estimator.history_
        curves = {
            "mistakes": np.cumsum([epoch.mistakes for epoch in history]),
            "errors": np.array([epoch.errors for epoch in history]),
            "loss": np.array([epoch.loss for epoch in history]),
        }
        return cls(over=over, time=np.array([epoch.epoch for epoch in history]), curves=curves)

    @classmethod
    def _measured(cls, model: Perceptron, X: Any, y: ArrayLike, over: str, most: int) -> Self:
        """The run, repeated, with all rows measured after some of its updates."""
        data = drawable_for(model, X, y)
        kept = repeated(model, X, y, over.removesuffix("s"), most)
        squeeze = squeeze_of(model, data)
        table: dict[str, list[float]] = {"errors": [], "loss": [], "length": [], "angle": []}
        for _, step in kept:
            linear = Linear(step.new_weights, step.new_bias)
            margins = own_leads(linear.scores(data.X), data.codes)
            wrong = margins[margins <= 0]
            w = linear.weights.ravel() / model.eta0 if squeeze is None else squeeze.lifted(*linear)
            table["errors"].append(len(wrong))
            table["loss"].append(-float(wrong.sum()) + 0.0)
            table["length"].append(float(np.linalg.norm(w)))
            table["angle"].append(np.nan if squeeze is None else angle(w, squeeze.best))
        if squeeze is None or squeeze.margin <= 0:
            squeeze = None
            del table["angle"]
        curves = {name: np.array(values) for name, values in table.items()}
        time = np.array([number if over == "updates" else step.epoch for number, step in kept])
        if over == "epochs":
            if len(time) and time[-1] < model.n_iter_:  # the last epoch changed nothing
                time = np.append(time, model.n_iter_)
                curves = {name: np.append(curve, curve[-1]) for name, curve in curves.items()}
            mistakes = np.cumsum([epoch.mistakes for epoch in model.history_])
            curves["mistakes"] = mistakes[time.astype(int) - 1]
        return cls(over=over, time=time, curves=curves, squeeze=squeeze)

    @property
    def quantities(self) -> list[str]:
        """The curves that are drawn by default."""
        unless = "length" if self.over == "epochs" and "angle" in self.curves else ""
        return [name for name in TITLES if name in self.curves and name != unless]

    def plot(self, ax: Any = None, *, quantities: Sequence[str] | None = None) -> Self:
        """Draw a curve for each quantity.

        By default of all but one: over updates their number is no news, and over epochs the length
        is left out. ``ax`` takes axes for each.
        """
        shown = self.quantities if quantities is None else list(quantities)
        unknown = [name for name in shown if name not in self.curves]
        if unknown:
            raise ValueError(
                f"There is no curve of {unknown[0]!r} for this run; there is "
                f"{', '.join(self.curves)}."
            )
        axes = self._all_axes(ax, len(shown))
        for axis, name in zip(axes, shown, strict=True):
            axis.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            axis.set_title(TITLES[name], loc="left", fontsize="medium")
            if name == "length" and self.over == "updates" and self.squeeze is not None:
                self._draw_squeeze(axis, self.squeeze)
            else:
                self._draw_curve(axis, name)
            tidy(axis, ("updates M" if self.over == "updates" else "epoch", ""))
        return self

    def _draw_curve(self, ax: Axes, name: str) -> None:
        """A quantity as it went; the mistakes below the most that there can be."""
        curve, marker = self.curves[name], "o" if len(self.time) <= 60 else ""
        ax.plot(self.time, curve, color=COLOURS[1], marker=marker, markersize=4, clip_on=False)
        ax.set_ylim(0, None if np.any(curve) else 1)
        if name == "errors":
            ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        if name == "mistakes" and self.squeeze is not None:
            bound = self.squeeze.bound
            ax.axhline(bound, color=INK, linestyle="--", linewidth=1.2)
            ax.annotate(f"(R/γ)² = {self.squeeze}", (0.98, bound), (0, -4), ha="right", va="top",
                        xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
            if bound > 5 * curve.max(initial=0):
                ax.set_yscale("log")
                ax.set_ylim(max(0.5, curve.min(initial=bound) / 2), 2 * bound)

    def _draw_squeeze(self, ax: Axes, squeeze: Squeeze) -> None:
        """The length of w, between the two curves of the theorem up to where they meet."""
        bound, R, gamma = squeeze.bound, squeeze.radius, squeeze.margin
        M = np.geomspace(1, max(bound, 2), 50)
        ax.fill_between(M, gamma * M, R * np.sqrt(M), color="0.92", zorder=0, linewidth=0)
        ax.plot(M, R * np.sqrt(M), "--", color=INK, linewidth=1.2, label="R√M")
        ax.plot(M, gamma * M, ":", color=INK, linewidth=1.5, label="γM")
        ax.plot(self.time, self.curves["length"], color=COLOURS[1], linewidth=2, label="‖w‖/η")
        ax.plot(bound, R * np.sqrt(bound), "o", color=INK)
        ax.annotate(f"(R/γ)² = {squeeze}", (bound, R * np.sqrt(bound)), (-6, 4), ha="right",
                    textcoords="offset points")  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.legend(frameon=False, loc="lower right")


def angle(v: Array, w: Array) -> float:
    """Between two vectors, in degrees; NaN when one is zero."""
    lengths = float(np.linalg.norm(v)) * float(np.linalg.norm(w))
    return float(np.degrees(np.arccos(np.clip(v @ w / lengths, -1, 1)))) if lengths else np.nan

"""Draw the course of a run and the bounds of the convergence theorem."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array
from ..estimators.perceptron import Perceptron
from ..theory.batch import batch_bounds
from ..theory.bounds import Convergence, compute_convergence
from .data import MOST_COLUMNS, Data, check_fitted_data
from .drawing import COLOURS, ink, label_axes
from .runs import TrainedDisplay, repeat_run
from .scores import Linear, compute_own_leads

TITLES = {
    "mistakes": "mistakes so far, M",
    "errors": "misclassified rows, J₁",
    "loss": "sum of −y·activation over them, J",
    "length": "length of w",
    "angle": "angle to the best separator, in degrees",
}
MOST_MOMENTS = 300  # longer curves are drawn as mean and range
BINS = 100


class BatchPasses(NamedTuple):
    """The mistakes of each update of a batch perceptron, and the number of its rows."""

    mistakes: Array
    n_rows: int

    def limits(self, theorem: Convergence) -> tuple[Array, Array]:
        """The bounds γM and R√(Σ m²) of the length of w after each update."""
        low, _ = theorem.limits(np.cumsum(self.mistakes))
        return np.asarray(low), theorem.radius * np.sqrt(np.cumsum(self.mistakes**2.0))

    def bound(self, theorem: Convergence) -> float:
        """The largest possible number of mistakes."""
        return batch_bounds(theorem.bound, self.n_rows)[0]


@dataclass(kw_only=True)
class ProgressDisplay(TrainedDisplay):
    """The course of a run: mistakes, losses, length of w, and its angle to the best separator.

    The convergence theorem (Novikoff 1962) bounds the length by γM and R√M after M mistakes. The
    bounds meet at M = (R/γ)², the largest possible number of mistakes. Those of a batch perceptron,
    after passes with m mistakes each, are γM and R√(Σ m²), and n(R/γ)² mistakes of n rows. Create a
    display with ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    over : {"updates", "epochs"}
        The unit of time.
    time : ndarray
        The times at which the curves were measured.
    curves : dict of ndarray
        The curves by name: "mistakes" so far (M), "errors" (J₁, the misclassified rows), "loss" (J,
        the sum of -y·activation over them), "length" (‖w‖/η) and "angle" (to the best separator, in
        degrees). Length and angle count the bias as a coordinate of w. A curve is missing where it
        does not apply to the run.
    convergence : Convergence or None
        The numbers of the theorem; None if it does not apply (it needs two classes, no margin or
        weights), if the rows are not separable, or if they have over 2,000 columns.
    batch : BatchPasses or None
        The mistakes of each update with ``order="batch"``, whose bounds differ.

    See Also
    --------
    rosenblatt.report : The theorem in numbers.
    ProgressiveDisplay : The error on rows before they are learnt.

    Examples
    --------
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = ProgressDisplay.from_data(X, y, order="fixed")
    >>> display.curves["errors"].tolist(), round(display.convergence.bound, 6)
    ([1, 0], 3.0)
    """

    over: str
    time: Array
    curves: dict[str, Array]
    convergence: Convergence | None = None
    batch: BatchPasses | None = None

    def __post_init__(self) -> None:
        self.n_axes = len(self.quantities)
        count = f"{int(self.time[-1]):,} {self.over}" if len(self.time) else "no updates"
        self.title = f"The run over {count}"

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
        """Make the display of a fitted Perceptron; with its rows the run is repeated.

        Parameters
        ----------
        estimator : Perceptron
            A fitted model, with an integer as ``random_state`` if its order is random. Without X
            and y any estimator with epochs in ``history_``.
        X, y : array-like, default=None
            The training data; without them the curves are those of ``history_``, over epochs.
        over : {"updates", "epochs"}, default=None
            The unit of time; None means updates, or epochs without X and y.
        most : int, default=1000
            The largest number of points of a curve, evenly spread; for many rows fewer, but at
            least 20.

        Returns
        -------
        ProgressDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        over = over or ("epochs" if X is None else "updates")
        if over not in ("updates", "epochs"):
            raise ValueError(f"over must be 'updates' or 'epochs'; got {over!r}.")
        check_is_fitted(estimator)
        history = getattr(estimator, "history_", None)
        if not history or (X is not None and not isinstance(estimator, Perceptron)):
            raise ValueError("Expected a Perceptron that fit has trained, with epochs in history_.")
        if X is not None and y is not None:
            return cls._measure(estimator, X, y, over, most)
        if over == "updates":
            raise ValueError("Progress over updates needs X and y; pass them, or over='epochs'.")
        curves = {
            "mistakes": np.cumsum([epoch.mistakes for epoch in history]),
            "errors": np.array([epoch.errors for epoch in history]),
            "loss": np.array([epoch.loss for epoch in history]),
        }
        return cls(over=over, time=np.array([epoch.epoch for epoch in history]), curves=curves)

    @classmethod
    def _measure(cls, model: Perceptron, X: Any, y: ArrayLike, over: str, most: int) -> Self:
        """Repeat the run, and measure all rows after some of its updates."""
        data = check_fitted_data(model, X, y)
        kept = repeat_run(model, X, y, over.removesuffix("s"), most)
        moments = [Linear(step.new_weights, step.new_bias) for _, step in kept]
        losses = [compute_losses(linear, data) for linear in moments]
        curves = {
            "errors": np.array([errors for errors, _ in losses]),
            "loss": np.array([loss for _, loss in losses]),
            "length": np.array([linear.length for linear in moments]) / model.eta0,
        }
        theorem = None
        if data.X.shape[1] <= MOST_COLUMNS:
            with suppress(ValueError):  # the theorem does not apply to this run
                theorem = compute_convergence(model, data.X, data.signs)
        if theorem is not None and moments:
            weights = np.vstack([linear.weights for linear in moments])
            bias = np.concatenate([linear.bias for linear in moments])
            curves["length"] = theorem.length(weights, bias)
            curves["angle"] = theorem.angle(weights, bias)
        if theorem is None or theorem.margin <= 0:
            theorem = None
            curves.pop("angle", None)
        time = np.array([number if over == "updates" else step.epoch for number, step in kept])
        if over == "epochs":
            if len(time) and time[-1] < model.n_iter_:  # the last epoch changed nothing
                time = np.append(time, model.n_iter_)
                curves = {name: np.append(curve, curve[-1]) for name, curve in curves.items()}
            mistakes = np.cumsum([epoch.mistakes for epoch in model.history_])
            curves["mistakes"] = mistakes[time.astype(int) - 1]
        made = [epoch.mistakes for epoch in model.history_ if epoch.mistakes]
        batch = BatchPasses(np.array(made), len(data.X)) if model.order == "batch" else None
        return cls(over=over, time=time, curves=curves, convergence=theorem, batch=batch)

    @property
    def quantities(self) -> list[str]:
        """The names of the curves that are drawn by default."""
        unless = "length" if self.over == "epochs" and "angle" in self.curves else ""
        return [name for name in TITLES if name in self.curves and name != unless]

    def plot(self, ax: Any = None, *, quantities: Sequence[str] | None = None) -> Self:
        """Draw a curve for each quantity.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            The axes to draw in, one for each curve; None makes a new figure.
        quantities : sequence of str, default=None
            The names of the curves to draw; None means all but the length over epochs.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        shown = self.quantities if quantities is None else list(quantities)
        unknown = [name for name in shown if name not in self.curves]
        if unknown:
            raise ValueError(
                f"This run has no curve {unknown[0]!r}; it has {', '.join(self.curves)}."
            )
        axes = self._all_axes(ax, len(shown))
        for axis, name in zip(axes, shown, strict=True):
            axis.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            axis.set_title(TITLES[name], loc="left", fontsize="medium")
            if name == "length" and self.over == "updates" and self.convergence is not None:
                self._draw_length(axis, self.convergence)
            else:
                self._draw_curve(axis, name)
            label_axes(axis, ("updates M" if self.over == "updates" else "epoch", ""))
        return self

    def _draw_values(self, ax: Axes, name: str, **look: Any) -> None:
        """Draw a curve: few points as a line with markers, many as their mean and range."""
        time, values = self.time, self.curves[name]
        if len(time) > MOST_MOMENTS and name in ("errors", "loss"):
            pieces = np.array_split(np.arange(len(time)), BINS)
            low, high = (np.array([f(values[i]) for i in pieces]) for f in (np.min, np.max))
            time = np.array([np.mean(time[i]) for i in pieces])
            values = np.array([np.mean(values[i]) for i in pieces])
            ax.fill_between(time, low, high, color=COLOURS[1], alpha=0.25, linewidth=0)
        marker = "o" if len(time) <= 60 else ""
        ax.plot(time, values, COLOURS[1], marker=marker, markersize=4, **look)

    def _draw_curve(self, ax: Axes, name: str) -> None:
        """Draw one quantity; for mistakes also their bound."""
        curve = self.curves[name]
        self._draw_values(ax, name, clip_on=False)
        ax.set_ylim(0, None if np.any(curve) else 1)
        if name == "errors":
            ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        if name == "mistakes" and self.convergence is not None:
            bound, name = self.convergence.bound, "(R/γ)²"
            if self.batch is not None:
                bound, name = self.batch.bound(self.convergence), "n(R/γ)²"
            ax.axhline(bound, color=ink(), linestyle="--", linewidth=1.2)
            where: dict[str, Any] = {
                "xycoords": ("axes fraction", "data"),
                "textcoords": "offset points",
            }
            text = f"{name} = {format_bound(bound)}"
            ax.annotate(text, (0.98, bound), (0, -4), ha="right", va="top", **where)
            if bound > 5 * curve.max(initial=0):
                ax.set_yscale("log")
                ax.set_ylim(max(0.5, curve.min(initial=bound) / 2), 2 * bound)

    def _draw_length(self, ax: Axes, theorem: Convergence) -> None:
        """Draw the length of w between the two bounds of the theorem, up to where they meet."""
        M: Array = np.geomspace(1, max(theorem.bound, 2), 50)
        (low, high), name = theorem.limits(M), "R√M"
        if self.batch is not None:
            M, name = 1.0 + np.arange(len(self.batch.mistakes)), "R√(Σ m²)"
            low, high = self.batch.limits(theorem)
        ax.fill_between(M, low, high, color=ink(), alpha=0.08, zorder=0, linewidth=0)
        ax.plot(M, high, "--", color=ink(), linewidth=1.2, label=name)
        ax.plot(M, low, ":", color=ink(), linewidth=1.5, label="γM")
        self._draw_values(ax, "length", linewidth=2, label="‖w‖/η")
        if self.batch is None:
            end = theorem.bound, theorem.limits(theorem.bound)[1]
            ax.plot(*end, "o", color=ink())
            ax.annotate(f"(R/γ)² = {format_bound(theorem.bound)}", end, (-6, 4), ha="right",
                        textcoords="offset points")  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.legend(frameon=False, loc="lower right")


def compute_losses(linear: Linear, data: Data) -> tuple[int, float]:
    """Compute J₁ and J of weights."""
    margins = compute_own_leads(linear.scores(data.X), data.codes)
    return int(np.sum(margins <= 0)), float(np.maximum(0.0, -margins).sum())


def format_bound(bound: float) -> str:
    """Format a number of mistakes with few digits."""
    return f"{bound:,.0f}" if 100 <= bound < 1e9 else f"{bound:.3g}"

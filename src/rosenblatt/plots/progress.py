"""Draw the course of runs: with the bounds of the theorem, and by order of the rows."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array
from ..estimators.perceptron import Perceptron
from ..estimators.steps import Step, steps
from ..theory.bounds import Convergence, compute_convergence
from .data import MOST_COLUMNS, Linear, check_fitted_data, compute_own_leads
from .display import Display, TrainedDisplay
from .drawing import COLOURS, ink, label_axes

TITLES = {
    "mistakes": "mistakes so far, M",
    "errors": "misclassified rows, J₁",
    "loss": "sum of −y·activation over them, J",
    "length": "length of w",
    "angle": "angle to the best separator, in degrees",
}
MOST = 500  # points of a curve
MOST_UPDATES = 100_000
WORK = 200_000_000  # numbers to read while a run is measured: seconds


@dataclass(kw_only=True)
class ProgressDisplay(TrainedDisplay):
    """The course of a run: mistakes, losses, length of w, and its angle to the best separator.

    The convergence theorem (Novikoff 1962) bounds the length by γM and R√M after M mistakes. The
    bounds meet at M = (R/γ)², the largest possible number of mistakes. Create a display with
    ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    time : ndarray
        The updates after which the curves were measured, or the epochs of ``history_``.
    curves : dict of ndarray
        The curves by name: "mistakes" so far (M), "errors" (J₁, the misclassified rows), "loss" (J,
        the sum of -y·activation over them), "length" (‖w‖/η) and "angle" (to the best separator, in
        degrees). Length and angle count the bias as a coordinate of w. A curve is missing where it
        does not apply to the run.
    convergence : Convergence or None
        The numbers of the theorem; None if it does not apply (it needs two classes, single updates,
        no margin or weights), if the rows are not separable, or if they have over 2,000 columns.

    See Also
    --------
    rosenblatt.report : The theorem in numbers.

    Examples
    --------
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0]], [1, -1]
    >>> display = ProgressDisplay.from_data(X, y, order="fixed")
    >>> display.curves["errors"].tolist(), round(display.convergence.bound, 6)
    ([1, 0], 3.0)
    """

    has_legend = False  # the axis with the bounds has its own
    time: Array
    curves: dict[str, Array]
    convergence: Convergence | None = None

    def __post_init__(self) -> None:
        self.quantities = [name for name in TITLES if name in self.curves]
        self.n_axes = len(self.quantities)
        self.unit = "epoch" if "mistakes" in self.curves else "update"
        count = f"{int(self.time[-1]):,} {self.unit}s" if len(self.time) else "no updates"
        self.title = f"The run over {count}"

    @classmethod
    def from_estimator(
        cls, estimator: Perceptron, X: Any = None, y: ArrayLike | None = None
    ) -> Self:
        """Make the display of a fitted Perceptron; with its rows the run is repeated.

        Parameters
        ----------
        estimator : Perceptron
            A fitted model, with an integer as ``random_state`` if its order is random. Without X
            and y any estimator with epochs in ``history_``.
        X, y : array-like, default=None
            The training data; without them the curves are those of ``history_``, over epochs.

        Returns
        -------
        ProgressDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        check_is_fitted(estimator)
        history = getattr(estimator, "history_", None)
        if not history or (X is not None and not isinstance(estimator, Perceptron)):
            raise ValueError("Expected a Perceptron that fit has trained, with epochs in history_.")
        if X is not None and y is not None:
            return cls._measure(estimator, X, y)
        curves = {
            "mistakes": np.cumsum([epoch.mistakes for epoch in history]),
            "errors": np.array([epoch.errors for epoch in history]),
            "loss": np.array([epoch.loss for epoch in history]),
        }
        return cls(time=np.array([epoch.epoch for epoch in history]), curves=curves)

    @classmethod
    def _measure(cls, model: Perceptron, X: Any, y: ArrayLike) -> Self:
        """Repeat the run, and measure all rows after some of its updates."""
        data = check_fitted_data(model, X, y)
        kept = repeat_run(model, X, y)
        moments = [Linear(step.new_weights, step.new_bias) for _, step in kept]
        leads = [compute_own_leads(linear.scores(data.X), data.codes) for linear in moments]
        curves = {
            "errors": np.array([np.sum(lead <= 0) for lead in leads], int),
            "loss": np.array([-lead[lead < 0].sum() for lead in leads]),
            "length": np.array([linear.length for linear in moments]) / model.eta0,
        }
        theorem = None
        if data.X.shape[1] <= MOST_COLUMNS and model.order != "batch":
            with suppress(ValueError):  # the theorem does not apply to this run
                theorem = compute_convergence(model, data.X, data.signs)
        if theorem is not None and moments:
            weights = np.vstack([linear.weights for linear in moments])
            bias = np.concatenate([linear.bias for linear in moments])
            curves["length"] = theorem.length(weights, bias)
            if theorem.margin > 0:
                curves["angle"] = theorem.angle(weights, bias)
        return cls(
            time=np.array([number for number, _ in kept]),
            curves=curves,
            convergence=theorem if theorem is not None and theorem.margin > 0 else None,
        )

    def draw(self, ax: Any) -> None:
        """Draw a curve for each quantity.

        :meta private:
        """
        for axis, name in zip(ax, self.quantities, strict=True):
            axis.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            axis.set_title(TITLES[name], loc="left", fontsize="medium")
            marker = "o" if len(self.time) <= 60 else ""
            label = "‖w‖/η" if name == "length" else None
            axis.plot(self.time, self.curves[name], COLOURS[1], marker=marker, markersize=4,
                      label=label)  # fmt: skip
            if self.convergence is not None and name == "length":
                self._draw_limits(axis, self.convergence)
            else:
                axis.set_ylim(0, None if np.any(self.curves[name]) else 1)
            if name == "errors":
                axis.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            label_axes(axis, "updates M" if self.unit == "update" else "epoch")

    def _draw_limits(self, ax: Axes, theorem: Convergence) -> None:
        """Draw the two bounds of the theorem on the length of w, up to where they meet."""
        M = np.geomspace(1, max(theorem.bound, 2), 50)
        low, high = theorem.limits(M)
        end = M[-1], high[-1]
        ax.plot(*end, "o", color=ink())
        ax.annotate(f"(R/γ)² = {format_bound(theorem.bound)}", end, (-6, 4), ha="right",
                    textcoords="offset points")  # fmt: skip
        ax.fill_between(M, low, high, color=ink(), alpha=0.08, zorder=0, linewidth=0)
        ax.plot(M, high, "--", color=ink(), linewidth=1.2, label="R√M")
        ax.plot(M, low, ":", color=ink(), linewidth=1.5, label="γM")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.legend(frameon=False, loc="lower right")


def repeat_run(model: Perceptron, X: Any, y: ArrayLike) -> list[tuple[int, Step]]:
    """Repeat a fit and return at most ``MOST`` of its updates with their numbers, evenly spread.

    For many rows it returns fewer of them, so that all rows can be scored after each within
    seconds, but at least 20.
    """
    passes = sum(epoch.mistakes > 0 for epoch in model.history_)
    updates = passes if model.order == "batch" else model.n_mistakes_
    if updates > MOST_UPDATES:
        raise ValueError(
            f"The run made {updates:,} updates; at most {MOST_UPDATES:,} can be repeated one by "
            "one. Lower max_iter or use fewer rows."
        )
    n_rows, columns = X.shape if hasattr(X, "shape") else np.shape(X)
    numbers = (X.nnz if issparse(X) else n_rows * columns) + 100 * columns
    count = min(updates, MOST, max(20, WORK // int(numbers)))
    wanted = set(np.linspace(1, updates, count).round().astype(int).tolist())
    parameters = model.get_params() | {"warm_start": False, "verbose": 0}
    kept: list[tuple[int, Step]] = []
    number, weights = 0, np.zeros_like(model.coef_)
    for number, step in enumerate(steps(X, y, **parameters), start=1):
        weights = step.new_weights
        if number in wanted:
            kept.append((number, step))
    ends_alike = model.solution != "last" or (
        weights.shape == model.coef_.shape and np.allclose(weights, model.coef_)
    )
    if number != updates or not ends_alike:
        raise ValueError(
            "Repeating the fit made other updates: pass the rows that the model was fitted on, and "
            "fit it with an integer as random_state."
        )
    return kept


def format_bound(bound: float) -> str:
    """Format a number of mistakes with few digits."""
    return f"{bound:,.0f}" if 100 <= bound < 1e9 else f"{bound:.3g}"


@dataclass(kw_only=True)
class OrderDisplay(Display):
    """Passes over the rows and mistakes of a Perceptron, for several orders of the rows.

    Create a display with ``from_data``.

    Attributes
    ----------
    models : dict of list of Perceptron
        By order, the model of each seed.

    See Also
    --------
    rosenblatt.Perceptron : The estimator, with the parameter ``order``.

    Examples
    --------
    >>> display = OrderDisplay.from_data([[2.0, 1.0], [-1.0, 1.0]], [1, -1], seeds=range(3))
    >>> [model.n_mistakes_ for model in display.models["fixed"]]
    [2]
    """

    n_axes = 2
    title = "The same rows in different orders"
    models: dict[str, list[Perceptron]]

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        orders: Sequence[str] = ("fixed", "once", "each", "active"),
        seeds: Sequence[int] = range(20),
        **parameters: Any,
    ) -> Self:
        """Train in each order, for random orders once for each seed, and make the display.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        orders : sequence of str, default=("fixed", "once", "each", "active")
            Values of the parameter ``order`` of ``Perceptron``.
        seeds : sequence of int, default=range(20)
            Values of the parameter ``random_state``.
        **parameters
            Other parameters of ``Perceptron``; ``max_iter`` is 1000 by default.

        Returns
        -------
        OrderDisplay
            The display; ``plot`` draws it and ``save`` writes it to a file.
        """
        models = {}
        for order in orders:
            tried = seeds if order in ("each", "once") else [0]
            given = [{"max_iter": 1000, "random_state": seed, **parameters} for seed in tried]
            models[order] = [Perceptron(order=cast(Any, order), **each).fit(X, y) for each in given]
        return cls(models=models)

    def draw(self, ax: Any) -> None:
        """Draw a dot for each run, open if it did not separate the rows, and the means.

        :meta private:
        """
        ends = {model.stop_reason_ for models in self.models.values() for model in models}
        until = " until separated" if ends == {"separated"} else " (open: not separated)"
        for axis, title in zip(ax, ("rows read", "mistakes"), strict=True):
            for place, models in enumerate(self.models.values()):
                rows = [sum(epoch.rows for epoch in model.history_) for model in models]
                made = [model.n_mistakes_ for model in models]
                separated = [model.stop_reason_ == "separated" for model in models]
                draw_runs(axis, place, np.array(made if title == "mistakes" else rows), separated)
            axis.set_yticks(range(len(self.models)), list(self.models))
            axis.set_ylim(len(self.models) - 0.5, -0.5)
            axis.set_xlim(left=0)
            axis.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            axis.set_title(title + until, loc="left", fontsize="medium")
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="x", alpha=0.3)
            axis.set_axisbelow(True)
            label_axes(axis, "")


def draw_runs(ax: Axes, place: int, values: Array, separated: list[bool]) -> None:
    """Draw the runs in one order, and their mean with two standard errors."""
    heights = place + 0.22 * np.sin(2.4 * np.arange(len(values)))  # deterministic jitter
    colours = [to_rgba(COLOURS[1], 0.7 * done) for done in separated]
    ax.scatter(values, heights, s=22, facecolors=colours, edgecolors=COLOURS[1], zorder=2)
    error = 2 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    ax.errorbar(values.mean(), place, xerr=error, fmt="D", color=ink(), capsize=4, markersize=6,
                zorder=3)  # fmt: skip

"""Animate learning, update by update."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from string import Template
from textwrap import fill
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image
from sklearn.utils.validation import check_is_fitted

from ..disk import replace_file
from ..estimators.perceptron import Perceptron
from ..estimators.steps import Step
from .boundary import BoundaryDisplay, draw_level
from .data import Data, Linear, check_fitted_data
from .display import MOVING, TrainedDisplay, get_ending
from .drawing import FAINT, draw_circles, format_number
from .planes import Plane, choose_plane
from .runs import repeat_run

WIDEST = 62, 46  # characters along the axes of a frame
BEFORE, USED = "boundary before", "row of this update"
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Learning</title>\n'


class Frame(NamedTuple):
    """One frame: the weights after an update, and the update; None at the start."""

    number: int
    linear: Linear
    step: Step | None


@dataclass(kw_only=True, repr=False)
class LearningAnimation(TrainedDisplay):
    """An animation of learning: the boundary after each update.

    Jupyter shows it with controls. Create an animation with ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    data : Data
        The rows.
    frames : list of Frame
        The frames, in order.
    model : Perceptron
        The fitted model.
    plane : Plane
        The plane of all frames.

    See Also
    --------
    rosenblatt.steps : The updates as records.
    BoundaryDisplay : One boundary.

    Examples
    --------
    >>> learning = LearningAnimation.from_data([[2.0, 1.0], [-1.0, 1.0]], [1, -1], order="fixed")
    >>> [frame.linear.weights.tolist() for frame in learning.frames]
    [[[0.0, 0.0]], [[2.0, 1.0]], [[3.0, 0.0]]]
    """

    data: Data
    frames: list[Frame]
    model: Perceptron
    plane: Plane

    def __post_init__(self) -> None:
        self.shown = self.frames[-1]
        self.in_legend = *self.data.class_names, BEFORE, USED  # the same in all frames

    @classmethod
    def from_estimator(
        cls,
        estimator: Perceptron,
        X: Any,
        y: ArrayLike,
        *,
        most_frames: int = 150,
        **names: Any,
    ) -> Self:
        """Repeat the run of a fitted Perceptron and make its animation.

        Parameters
        ----------
        estimator : Perceptron
            A fitted model, with an integer as ``random_state`` if its order is random.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        most_frames : int, default=150
            The largest number of frames, evenly spread over the run; for many rows fewer, but at
            least 20.
        **names
            ``class_names`` and ``feature_names``: sequences of str, names of the classes in the
            order of ``classes_``, and of the columns.

        Returns
        -------
        LearningAnimation
            The animation; ``plot`` draws it and ``save`` writes it to a file.
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, Perceptron):
            raise ValueError(f"Expected a fitted Perceptron, got {type(estimator).__name__}.")
        zero = Linear(0.0 * estimator.coef_, 0.0 * estimator.intercept_)
        frames = [Frame(0, zero, None)]
        frames += [
            Frame(number, Linear(step.new_weights, step.new_bias), step)
            for number, step in repeat_run(estimator, X, y, most_frames)
        ]
        data = check_fitted_data(estimator, X, y, **names)
        plane = choose_plane(data, frames[-1].linear)
        if data.X.shape[1] > 2:  # the plane of the last boundary
            pairs = zip(plane.labels, WIDEST, strict=True)
            first, second = (fill(f"{label}, at the end", width) for label, width in pairs)
            plane = replace(plane, labels=(first, second))
        return cls(data=data, frames=frames, model=estimator, plane=plane)

    def plot(self, ax: Axes | None = None, *, frame: int = -1, legend: bool = True) -> Self:
        """Draw one frame: the new boundary, the old one, and the row of the update.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw in; None makes a new figure.
        frame : int, default=-1
            The number of the frame; by default the last one.
        legend : bool, default=True
            Whether to draw a legend above the axes.

        Returns
        -------
        self
            The display, with the attributes ``ax_`` and ``figure_``.
        """
        self.shown = self.frames[frame]
        super().plot(ax, legend=legend)
        pad = 6 + 15 * self._count_legend_rows() * legend
        self.ax_.set_title(self.ax_.get_title("left"), loc="left", fontsize="medium", pad=pad)
        return self

    def draw(self, ax: Axes) -> None:
        """Draw the boundary of a frame, the boundary before it, and the row of the update.

        :meta private:
        """
        linear, step = self.shown.linear, self.shown.step
        display = BoundaryDisplay.from_weights(
            *linear, self.data, ties=self.model.ties, plane=self.plane
        )
        display.draw(ax)
        if step is not None:
            before = self.plane.restrict(Linear(step.weights, step.bias))
            if display.linear is not None and before.length > 0:
                look: dict[str, Any] = {"color": FAINT, "linestyle": (0, (5, 3))}
                draw_level(ax, display.limits, before, 0.0, **look, label=BEFORE)
            places = self.plane.place(self.data.X[np.atleast_1d(step.row)])
            draw_circles(ax, places, 320, linewidths=2.2, zorder=5, label=USED)
            edge = ax.get_facecolor()
            draw_circles(ax, places, 300, edgecolors=edge, linewidths=0.8, zorder=6)
        wrong = f"{display.errors:,} of {len(self.data.codes):,} rows misclassified"
        ax.set_title(f"{self._describe_update()}\n{wrong}", loc="left")

    def _count_legend_rows(self) -> int:
        """Return the number of lines that the legend has in all frames."""
        return max(2, -(-(len(self.data.class_names) + 2) // 5))

    def _describe_update(self) -> str:
        """Describe the update of the frame in a line."""
        number, _, step = self.shown
        if step is None:
            return "Start: w = 0, b = 0"
        when = f"Update {number:,} of {self.frames[-1].number:,}, epoch {step.epoch}"
        if self.model.order == "batch":
            return f"{when}: the sum over {len(step.row):,} row{'s' * (len(step.row) > 1)}"
        names = dict(zip(self.data.classes.tolist(), self.data.class_names, strict=True))
        if step.rival is None:
            sign = "+" if step.label == self.data.classes[-1] else "−"
            rule = f"w ← w {sign} {'' if self.model.eta0 == 1 else 'η'}x"
        else:
            rule = f"from {names[step.rival]} to {names[step.label]}"
        return f"{when}: row {step.row}, activation {format_number(step.activation)}, {rule}"

    def save(self, path: str | os.PathLike[str], *, dpi: int = 90, fps: int = 4) -> None:
        """Write the animation to a file; the suffix chooses the format.

        Parameters
        ----------
        path : str or path-like
            The file to write: ``.gif`` or ``.html``. It is replaced only when the new one is
            complete.
        dpi : int, default=90
            Resolution in dots per inch.
        fps : int, default=4
            Frames per second.
        """
        ending = get_ending(path, MOVING)
        with replace_file(path) as temporary:
            if ending == ".html":
                temporary.write_text(HEAD + self.to_html(dpi=dpi, fps=fps), encoding="utf-8")
                return
            first, *others = (Image.open(each).convert("RGB") for each in self._draw_images(dpi))
            times = [1000 // fps] * len(others) + [2000 + 1000 // fps]  # hold the last frame
            first.save(
                temporary, "GIF", save_all=True, append_images=others, duration=times, loop=0
            )

    def to_html(self, *, dpi: int = 90, fps: int = 4) -> str:
        """Return the animation as HTML with buttons and a slider; it loads no other files.

        Parameters
        ----------
        dpi : int, default=90
            Resolution in dots per inch.
        fps : int, default=4
            Frames per second.

        Returns
        -------
        str
            HTML to embed in a page.
        """
        encoded = (base64.b64encode(each.getvalue()) for each in self._draw_images(dpi))
        images = [f"data:image/png;base64,{each.decode()}" for each in encoded]
        page = Template((files(__package__) / "player.html").read_text("utf-8"))
        return page.substitute(id=f"f{uuid4().hex}", images=json.dumps(images), fps=fps)

    def _draw_images(self, dpi: int) -> Iterator[BytesIO]:
        """Draw the frames as PNG images."""
        for figure in self._draw_frames():
            image = BytesIO()
            figure.savefig(image, format="png", dpi=dpi)
            yield image

    def _draw_frames(self) -> Iterator[Figure]:
        """Draw one frame after the other in one figure."""
        figure = Figure(self._choose_shape()["figsize"])
        height = 0.77 - 0.036 * self._count_legend_rows()
        ax = figure.add_axes((0.15, 0.13, 0.82, height))  # a layout would change between frames
        for frame in range(len(self.frames)):
            ax.clear()
            self.plot(ax, frame=frame)
            yield figure

    def _repr_html_(self) -> str:
        """Return the animation for a notebook."""
        return self.to_html()

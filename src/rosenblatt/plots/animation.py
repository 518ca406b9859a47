"""Animate learning, update by update."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any, NamedTuple, Self, Unpack
from uuid import uuid4

import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..disk import replace_file
from ..estimators.perceptron import Perceptron
from ..estimators.steps import Step
from .boundary import BoundaryDisplay
from .data import Data, Names, check_fitted_data
from .display import MOVING, choose_shape, get_ending
from .drawing import FAINT, draw_circles, draw_legend, format_number
from .planes import Plane, choose_plane
from .runs import TrainedDisplay, count_updates, repeat_run
from .scores import Linear

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
    """An animation of learning: the boundary after each update or each epoch.

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

    @classmethod
    def from_estimator(
        cls,
        estimator: Perceptron,
        X: Any,
        y: ArrayLike,
        *,
        every: str = "update",
        most_frames: int = 150,
        **names: Unpack[Names],
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
        every : {"update", "epoch"}, default="update"
            Whether a frame shows an update or an epoch.
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
        frames = [
            Frame(number, Linear(step.new_weights, step.new_bias), step)
            for number, step in repeat_run(estimator, X, y, every, most_frames)
        ]
        if every == "update" or not frames:
            zero = Linear(0.0 * estimator.coef_, 0.0 * estimator.intercept_)
            frames.insert(0, Frame(0, zero, None))
        data = check_fitted_data(estimator, X, y, **names)
        plane = choose_plane(data, frames[-1].linear)
        if data.X.shape[1] > 2:  # the plane of the last boundary
            first, second = (
                fill(f"{label}, at the end", width)
                for label, width in zip(plane.labels, WIDEST, strict=True)
            )
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
            The animation, with the attributes ``ax_`` and ``figure_``.
        """
        ax = self._one_axes(ax)
        moment = self.frames[frame]
        display = BoundaryDisplay.from_linear(self.data, moment.linear, self.model.ties, self.plane)
        display.plot(ax, legend=False)
        if moment.step is not None:
            self._draw_update(ax, display, moment.step)
        if legend:
            named = *self.data.class_names, BEFORE, USED  # the same entries in all frames
            drawn = ax.get_legend_handles_labels()[0]
            draw_legend(ax, [one for one in drawn if one.get_label() in named], len(named))
        pad = 6 + 15 * self._legend_rows() * legend
        title = self._format_title(moment, display.errors)
        ax.set_title(title, loc="left", fontsize="medium", pad=pad)
        return self

    def _legend_rows(self) -> int:
        """Return the number of lines that the legend has in all frames."""
        return max(2, -(-(len(self.data.class_names) + 2) // 5))

    def _draw_update(self, ax: Axes, display: BoundaryDisplay, step: Step) -> None:
        """Mark the row of an update, and the boundary before it."""
        before = display.plane.restrict(Linear(step.weights, step.bias))
        if display.linear is not None and before.length > 0:
            ends = display.limits.clip_line(before)
            if ends is not None:
                ax.axline(*ends, color=FAINT, linestyle=(0, (5, 3)), linewidth=1.2, zorder=2,
                          label=BEFORE)  # fmt: skip
        x, y = display.plane.place(self.data.X[np.atleast_1d(step.row)]).T
        draw_circles(ax, x, y, s=320, linewidths=2.2, zorder=5, label=USED)
        draw_circles(ax, x, y, edgecolors=ax.get_facecolor(), s=300, linewidths=0.8, zorder=6)

    def _format_title(self, moment: Frame, errors: int) -> str:
        """Describe a frame in two lines."""
        wrong = f"{errors:,} of {len(self.data.codes):,} rows misclassified"
        if moment.step is None:
            return f"Start: w = 0, b = 0\n{wrong}"
        step, eta = moment.step, "" if self.model.eta0 == 1 else "η"
        when = f"Update {moment.number:,} of {count_updates(self.model):,}, epoch {step.epoch}"
        if self.model.order == "batch":
            rows = f"{len(step.row):,} row{'s' if len(step.row) > 1 else ''}"
            return f"{when}: the sum over {rows}\n{wrong}"
        names = dict(zip(self.data.classes.tolist(), self.data.class_names, strict=True))
        if step.rival is None:
            rule = f"w ← w {'+' if step.label == self.data.classes[-1] else '−'} {eta}x"
        else:
            rule = f"from {names[step.rival]} to {names[step.label]}"
        activation = format_number(step.activation)
        return f"{when}: row {step.row}, activation {activation}, {rule}\n{wrong}"

    def save(self, path: str | os.PathLike[str], *, dpi: int = 90, fps: int = 4) -> None:
        """Write the animation to a file; the suffix chooses the format.

        Parameters
        ----------
        path : str or path-like
            The file to write: ``.gif``, ``.mp4`` or ``.html``. It is replaced only when the new one
            is complete.
        dpi : int, default=90
            Resolution in dots per inch.
        fps : int, default=4
            Frames per second.
        """
        ending = get_ending(path, MOVING)
        if ending == ".mp4" and not FFMpegWriter.isAvailable():
            raise ValueError(
                "An .mp4 file needs the program ffmpeg, which was not found; install it, or write "
                ".gif or .html."
            )
        with replace_file(path) as temporary, TemporaryDirectory() as folder:
            if ending == ".html":
                page = self.to_html(dpi=dpi, fps=fps)
                temporary.write_text(HEAD + page, encoding="utf-8")
                return
            writer = (PillowWriter if ending == ".gif" else FFMpegWriter)(fps=fps)
            named = Path(folder) / f"animation{ending}"  # the writers need the suffix
            figure, frames = self._draw_frames()
            with writer.saving(figure, named, dpi):
                for _ in frames:
                    writer.grab_frame()
                for _ in range(2 * fps):  # hold the last frame
                    writer.grab_frame()
            temporary.write_bytes(named.read_bytes())

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
        images = []
        figure, frames = self._draw_frames()
        for _ in frames:
            image = BytesIO()
            figure.savefig(image, format="png", dpi=dpi)
            encoded = base64.b64encode(image.getvalue()).decode()
            images.append(f"data:image/png;base64,{encoded}")
        page = Template((files(__package__) / "player.html").read_text("utf-8"))
        return page.substitute(id=f"f{uuid4().hex}", images=json.dumps(images), fps=fps)

    def _draw_frames(self) -> tuple[Figure, Iterator[int]]:
        """Return a figure, and an iterator that draws the next frame in it."""
        figure = Figure(figsize=choose_shape(1)["figsize"])
        height = 0.77 - 0.036 * self._legend_rows()
        ax = figure.add_axes(
            (0.15, 0.13, 0.82, height)
        )  # an automatic layout would change between frames

        def draw() -> Iterator[int]:
            for number in range(len(self.frames)):
                ax.clear()
                self.plot(ax, frame=number)
                yield number

        return figure, draw()

    def _repr_html_(self) -> str:
        """Return the animation for a notebook."""
        return self.to_html()

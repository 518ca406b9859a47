"""Learning as an animation, update by update."""

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
from .data import Data, Names, check_drawable
from .display import MOVING, get_ending, get_shape
from .drawing import FAINT, legend_above, ring, rounded
from .planes import Plane, choose_plane
from .runs import TrainedDisplay, count_updates, repeated
from .scores import Linear

WIDEST = 62, 46  # letters along the axes of a frame
BEFORE, USED = "boundary before", "row of this update"
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Learning</title>\n'


class Frame(NamedTuple):
    """A moment of learning: the weights, and the update that led to them (None at the start)."""

    number: int
    linear: Linear
    step: Step | None


@dataclass(kw_only=True, repr=False)
class LearningAnimation(TrainedDisplay):
    """Learning, seen: the boundary after each update, or after each epoch.

    In Jupyter it shows itself, with controls. Make one with ``from_estimator`` or ``from_data``.

    Attributes
    ----------
    data : Data
        The rows.
    frames : list of Frame
        What to show, in turn.
    model : Perceptron
        Whose run it is.
    plane : Plane
        What the axes mean, in all frames.

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
        """Repeat the run of a fitted Perceptron and animate it.

        Parameters
        ----------
        estimator : Perceptron
            Fitted, with a number as ``random_state`` if its order is random.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it was fitted on.
        y : array-like of shape (n_samples,)
            Their labels.
        every : {"update", "epoch"}, default="update"
            What a frame shows the end of.
        most_frames : int, default=150
            Of longer runs so many moments are shown, spread evenly; fewer, but at least 20, of
            many rows.
        **names
            ``class_names`` and ``feature_names``, sequences of str: what to call the classes, in
            the order of ``classes_``, and the columns.

        Returns
        -------
        LearningAnimation
            To be drawn or saved.
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, Perceptron):
            raise ValueError("An animation repeats the run of a fitted Perceptron.")
        frames = [
            Frame(number, Linear(step.new_weights, step.new_bias), step)
            for number, step in repeated(estimator, X, y, every, most_frames)
        ]
        if every == "update" or not frames:
            zero = Linear(0.0 * estimator.coef_, 0.0 * estimator.intercept_)
            frames.insert(0, Frame(0, zero, None))
        data = check_drawable(estimator, X, y, **names)
        plane = choose_plane(data, frames[-1].linear)
        if data.X.shape[1] > 2:  # the plane of the last boundary; others are where they cut it
            first, second = plane.labels
            labels = (
                fill(f"{first}, at the end", WIDEST[0]),
                fill(f"{second}, at the end", WIDEST[1]),
            )
            plane = replace(plane, labels=labels)
        return cls(data=data, frames=frames, model=estimator, plane=plane)

    def plot(self, ax: Axes | None = None, *, frame: int = -1, legend: bool = True) -> Self:
        """Draw one frame: the new boundary, the old one, and the row that was used.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; in a new figure unless given.
        frame : int, default=-1
            Which of ``frames``; the last unless given.
        legend : bool, default=True
            Whether a legend stands above.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``, what it was drawn in.
        """
        ax = self._one_axes(ax)
        moment = self.frames[frame]
        display = BoundaryDisplay.from_linear(self.data, moment.linear, self.model.ties, self.plane)
        display.plot(ax, legend=False)
        if moment.step is not None:
            self._draw_update(ax, display, moment.step)
        if legend:
            named = *self.data.class_names, BEFORE, USED  # others would come and go
            drawn = ax.get_legend_handles_labels()[0]
            legend_above(ax, [one for one in drawn if one.get_label() in named], len(named))
        title, pad = self._title(moment, display.errors), 6 + 15 * self._legend_rows() * legend
        ax.set_title(title, loc="left", fontsize="medium", pad=pad)
        return self

    def _legend_rows(self) -> int:
        """How much room the legend is given, in all frames."""
        return max(2, -(-(len(self.data.class_names) + 2) // 5))

    def _draw_update(self, ax: Axes, display: BoundaryDisplay, step: Step) -> None:
        """Mark the row that was used, and the boundary before it was."""
        before = display.plane.seen(Linear(step.weights, step.bias))
        if display.linear is not None and before.length > 0:
            ends = display.limits.chord(before)
            if ends is not None:
                ax.axline(*ends, color=FAINT, linestyle=(0, (5, 3)), linewidth=1.2, zorder=2,
                          label=BEFORE)  # fmt: skip
        x, y = display.plane.place(self.data.X[np.atleast_1d(step.row)]).T
        ring(ax, x, y, s=320, linewidths=2.2, zorder=5, label=USED)
        ring(ax, x, y, edgecolors=ax.get_facecolor(), s=300, linewidths=0.8, zorder=6)

    def _title(self, moment: Frame, errors: int) -> str:
        """What happened, in two lines."""
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
        return f"{when}: row {step.row}, activation {rounded(step.activation)}, {rule}\n{wrong}"

    def save(self, path: str | os.PathLike[str], *, dpi: int = 90, fps: int = 4) -> None:
        """Write it to a file ``.gif``, ``.mp4`` or ``.html``, which appears when it is complete.

        Parameters
        ----------
        path : str or path-like
            Where to; its ending decides the format.
        dpi : int, default=90
            Dots to an inch.
        fps : int, default=4
            Frames a second.
        """
        ending = get_ending(path, MOVING)
        if ending == ".mp4" and not FFMpegWriter.isAvailable():
            raise ValueError(
                "An .mp4 file needs the program ffmpeg, which is not installed; write .gif or "
                ".html, or install ffmpeg."
            )
        with replace_file(path) as temporary, TemporaryDirectory() as folder:
            if ending == ".html":
                page = self.to_html(dpi=dpi, fps=fps)
                temporary.write_text(HEAD + page, encoding="utf-8")
                return
            writer = (PillowWriter if ending == ".gif" else FFMpegWriter)(fps=fps)
            named = Path(folder) / f"animation{ending}"  # the writers look at the ending
            figure, frames = self._drawn()
            with writer.saving(figure, named, dpi):
                for _ in frames:
                    writer.grab_frame()
                for _ in range(2 * fps):  # the last one is held
                    writer.grab_frame()
            temporary.write_bytes(named.read_bytes())

    def to_html(self, *, dpi: int = 90, fps: int = 4) -> str:
        """It with buttons and a slider, complete in itself: nothing is loaded from anywhere.

        Parameters
        ----------
        dpi : int, default=90
            Dots to an inch.
        fps : int, default=4
            Frames a second.

        Returns
        -------
        str
            A part of a page.
        """
        images = []
        figure, frames = self._drawn()
        for _ in frames:
            image = BytesIO()
            figure.savefig(image, format="png", dpi=dpi)
            encoded = base64.b64encode(image.getvalue()).decode()
            images.append(f"data:image/png;base64,{encoded}")
        page = Template((files(__package__) / "player.html").read_text("utf-8"))
        return page.substitute(id=f"f{uuid4().hex}", images=json.dumps(images), fps=fps)

    def _drawn(self) -> tuple[Figure, Iterator[int]]:
        """A figure, and an iterator that draws the next frame in it."""
        figure = Figure(figsize=get_shape(1)["figsize"])
        height = 0.77 - 0.036 * self._legend_rows()
        ax = figure.add_axes((0.15, 0.13, 0.82, height))  # a layout would move from frame to frame

        def draw() -> Iterator[int]:
            for number in range(len(self.frames)):
                ax.clear()
                self.plot(ax, frame=number)
                yield number

        return figure, draw()

    def _repr_html_(self) -> str:
        """Itself, in a notebook."""
        return self.to_html()

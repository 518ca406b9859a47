"""Draw a plot or an animation of learning to a file."""

import os
from collections.abc import Sequence
from typing import Any

from .animation import LearningAnimation
from .boundary import BoundaryDisplay, ProjectionDisplay
from .certificate import CertificateDisplay
from .display import MOVING, STILL, get_ending
from .progress import OrderDisplay, ProgressDisplay

DISPLAYS: dict[str, Any] = {
    "boundary": BoundaryDisplay,
    "projection": ProjectionDisplay,
    "progress": ProgressDisplay,
    "orders": OrderDisplay,
    "certificate": CertificateDisplay,
    "learning": LearningAnimation,
}
IDEAS = tuple(DISPLAYS)[:-1]  # the suffix of the file chooses "learning"


def save_plot(
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    estimator: Any = None,
    what: str | None = None,
    every: str = "update",
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    new: Any = None,
    **parameters: Any,
) -> None:
    """Draw a plot or an animation of learning to a file; the suffix chooses the format.

    Parameters
    ----------
    path : str or path-like
        The file to write: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp`` for a plot, ``.gif``,
        ``.mp4`` or ``.html`` for an animation of learning. It is replaced only when the new one is
        complete.
    X, y : array-like, default=None
        Rows and labels. Without them only the progress of an estimator can be drawn.
    estimator : classifier, default=None
        A fitted classifier; None trains a Perceptron on X and y.
    what : {"boundary", "projection", "progress", "orders", "certificate"}, default=None
        What to draw; None means the boundary, or the progress without X and y.
    every : {"update", "epoch"}, default="update"
        The unit of time of an animation and of the progress.
    class_names, feature_names : sequence of str, default=None
        Names of the classes, in sorted order, and of the columns.
    new : array-like of shape (n_new, n_features), default=None
        Rows without labels, drawn in the plot of the boundary with their predictions.
    **parameters
        Parameters of the Perceptron to train; ``random_state`` is 0 by default.

    See Also
    --------
    BoundaryDisplay : The plot of the boundary.
    LearningAnimation : The animation of learning.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(f"{folder}/line.svg", [[2.0, 1.0], [-1.0, 1.0]], [1, -1])
    ...     os.listdir(folder)
    ['line.svg']
    """
    ending = get_ending(path, (*STILL, *MOVING))
    what = what or ("progress" if X is None else "boundary")
    if what not in IDEAS:
        raise ValueError(f"what must be one of {', '.join(IDEAS)}; got {what!r}.")
    if X is None and (what != "progress" or estimator is None or ending in MOVING):
        raise ValueError(
            "Without rows only the progress of an estimator can be drawn; pass X and y."
        )
    if new is not None and (what != "boundary" or ending in MOVING):
        raise ValueError('new rows are drawn in a plot of the boundary only; use what="boundary".')
    what = "learning" if ending in MOVING else what
    names = {"class_names": class_names, "feature_names": feature_names}
    options: dict[str, Any] = {
        "boundary": {**names, "new": new},
        "progress": {"every": None if X is None else every},
        "orders": {},
        "learning": {**names, "every": every},
    }.get(what, names)
    if estimator is not None and hasattr(DISPLAYS[what], "from_estimator"):
        display = DISPLAYS[what].from_estimator(estimator, X, y, **options)
    else:
        parameters = {} if what == "certificate" else parameters
        display = DISPLAYS[what].from_data(X, y, **options, **parameters)
    display.save(path)

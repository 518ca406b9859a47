"""One idea, or learning itself, drawn to a file."""

import os
from collections.abc import Sequence
from typing import Any

from .animation import LearningAnimation
from .boundary import BoundaryDisplay
from .certificate import CertificateDisplay
from .display import MOVING, STILL, get_ending
from .orders import OrderDisplay
from .progress import ProgressDisplay
from .projection import ProjectionDisplay

DISPLAYS: dict[str, Any] = {
    "boundary": BoundaryDisplay,
    "projection": ProjectionDisplay,
    "progress": ProgressDisplay,
    "orders": OrderDisplay,
    "certificate": CertificateDisplay,
    "learning": LearningAnimation,
}
IDEAS = tuple(DISPLAYS)[:-1]  # learning is chosen by the file's ending


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
    **parameters: Any,
) -> None:
    """Draw one idea, or learning itself, to a file that appears when it is complete.

    Parameters
    ----------
    path : str or path-like
        Its ending decides: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp`` for a picture,
        ``.gif``, ``.mp4`` or ``.html`` for an animation of learning.
    X, y : array-like, optional
        Rows and labels. Without them there is only the progress of an estimator.
    estimator : classifier, optional
        Fitted; by default a Perceptron is trained on X and y.
    what : {"boundary", "projection", "progress", "orders", "certificate"}, optional
        The idea; by default the boundary, or without rows the progress.
    every : {"update", "epoch"}, default="update"
        What the steps of time are, in an animation and in the progress.
    class_names, feature_names : sequence of str, optional
        What to call the classes, in sorted order, and the columns.
    **parameters
        Of the Perceptron, where one is trained; ``random_state`` is 0 unless given.

    See Also
    --------
    BoundaryDisplay : The default idea.
    LearningAnimation : What moves.

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
            "Without rows only the progress of an estimator can be drawn; give X and y."
        )
    options: dict[str, Any] = {"class_names": class_names, "feature_names": feature_names}
    if ending in MOVING:
        what, options = "learning", {"every": every, **options}
    elif what == "progress":
        options = {"over": "epochs" if X is None else f"{every}s"}
    elif what == "orders":
        options = {}
    if estimator is not None and hasattr(DISPLAYS[what], "from_estimator"):
        display = DISPLAYS[what].from_estimator(estimator, X, y, **options)
    else:
        parameters = {} if what == "certificate" else parameters
        display = DISPLAYS[what].from_data(X, y, **options, **parameters)
    display.save(path)

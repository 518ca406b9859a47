"""Draw a plot to a file."""

import os
from typing import Any

from .boundary import BoundaryDisplay, ProjectionDisplay
from .certificate import CertificateDisplay
from .display import get_ending
from .progress import OrderDisplay, ProgressDisplay

DISPLAYS: dict[str, Any] = {
    "boundary": BoundaryDisplay,
    "projection": ProjectionDisplay,
    "progress": ProgressDisplay,
    "orders": OrderDisplay,
    "certificate": CertificateDisplay,
}
NAMES = "class_names", "feature_names"
NOT_TAKEN = {"progress": NAMES, "orders": ("random_state", *NAMES)}
"""Options that a plot of a training has no use for."""


def save_plot(
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    estimator: Any = None,
    what: str | None = None,
    **options: Any,
) -> None:
    """Draw a plot to a file; the suffix chooses the format.

    Parameters
    ----------
    path : str or path-like
        The file to write: ``.png``, ``.svg``, ``.pdf``, ``.jpg`` or ``.webp``. It is replaced only
        when the new one is complete.
    X, y : array-like, default=None
        Rows and labels. Without them only the progress of an estimator can be drawn.
    estimator : classifier, default=None
        A fitted classifier; None trains a Perceptron on X and y.
    what : {"boundary", "projection", "progress", "orders", "certificate"}, default=None
        What to draw; None means the boundary, or the progress without X and y.
    **options
        Options of the display: ``class_names`` and ``feature_names``; ``new`` of the boundary,
        rows without labels that are drawn with their predictions. Without an estimator also
        parameters of the Perceptron to train; ``random_state`` is 0 by default.

    See Also
    --------
    BoundaryDisplay : The plot of the boundary.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(f"{folder}/line.svg", [[2.0, 1.0], [-1.0, 1.0]], [1, -1])
    ...     os.listdir(folder)
    ['line.svg']
    """
    get_ending(path)
    what = what or ("progress" if X is None else "boundary")
    if what not in DISPLAYS:
        raise ValueError(f"what must be one of {', '.join(DISPLAYS)}; got {what!r}.")
    if X is None and (what != "progress" or estimator is None):
        raise ValueError(
            "Without rows only the progress of an estimator can be drawn; pass X and y."
        )
    if "new" in options and what != "boundary":
        raise ValueError('new rows are drawn in a plot of the boundary only; use what="boundary".')
    kept = NAMES if what == "certificate" else options.keys() - set(NOT_TAKEN.get(what, ()))
    options = {name: options[name] for name in kept if name in options}
    if estimator is not None and hasattr(DISPLAYS[what], "from_estimator"):
        display = DISPLAYS[what].from_estimator(estimator, X, y, **options)
    else:
        display = DISPLAYS[what].from_data(X, y, **options)
    display.save(path)

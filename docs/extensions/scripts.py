"""How the scripts of the gallery are run."""

import logging
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning


def strict(conf: Any, script: str, when: str) -> None:
    """Have warnings of a script end the build, as they fail its test; compile in silence."""
    logging.getLogger("rosenblatt").setLevel(logging.ERROR)
    if when == "before":
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)  # some show what does not converge
    else:
        warnings.resetwarnings()

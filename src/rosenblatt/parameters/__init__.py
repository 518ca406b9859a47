"""Parameters: tables of ranges and defaults, update rules, conflicts, and errors.

Standard library only: the shell imports this package to print its help.
"""

from .conflicts import *  # noqa: F403
from .errors import *  # noqa: F403
from .rules import *  # noqa: F403
from .tables import *  # noqa: F403

"""The commands as ``python -m rosenblatt``."""

from .cli import main

main()

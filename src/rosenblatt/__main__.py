"""The commands as ``python -m rosenblatt``."""

from .cli.app import main

main()

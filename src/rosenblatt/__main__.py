"""The commands as ``python -m rosenblatt``."""

from .shell.app import main

if __name__ == "__main__":
    main()

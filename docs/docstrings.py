"""Whether the docstring of every public name says what the reference needs.

The checks are numpydoc's, chosen in pyproject.toml. Methods need no examples and no ``See Also``,
for they stand on the page of their class; the fields of records are ``Attributes``.
"""

import importlib
import inspect
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from numpydoc.validate import ERROR_MSGS, validate

ROOT = Path(__file__).parents[1]
ROOMS = ("rosenblatt", "rosenblatt.plots", "rosenblatt.cluster")
OF_NAMES_ONLY = {"EX01", "SA01"}
NOT_OF_RECORDS = {"PR01"}
PRIVATE = ":meta private:"


def public_names() -> Iterator[tuple[str, set[str]]]:
    """The name of everything with a docstring of its own, and the checks that it is spared."""
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found):
                is_record = is_dataclass(found) or hasattr(found, "_fields")
                yield f"{room}.{name}", NOT_OF_RECORDS if is_record else set()
                yield from ((f"{room}.{name}.{own}", OF_NAMES_ONLY) for own in methods(found))
            elif callable(found):
                yield f"{room}.{name}", set()


def methods(found: type) -> Iterator[str]:
    """The public methods and properties of a class that this package wrote."""
    for name in dir(found):
        member: Any = inspect.getattr_static(found, name)
        for inside in ("fget", "fn", "__func__"):
            member = getattr(member, inside, None) or member
        written_here = str(getattr(member, "__module__", None)).startswith("rosenblatt")
        if written_here and not name.startswith("_") and PRIVATE not in (member.__doc__ or ""):
            yield name


def main() -> None:
    """Print what is missing; fail if anything is."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    unchecked = set(settings["tool"]["numpydoc_validation"]["checks"]) - {"all"}
    wanted = ERROR_MSGS.keys() - unchecked
    missing: dict[tuple[str, str], str] = {}
    for name, spared in public_names():
        told = validate(name)
        place = f"{told['file']}:{told['file_line']}"
        for code, sentence in told["errors"]:
            if code in wanted - spared:
                missing.setdefault((place, f"{code} {sentence}"), name)
    for (place, sentence), name in missing.items():
        print(f"{place}: {name}: {sentence}")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()

"""Print lines, notes, bars and JSON; in the terms of the shell, as wide as the terminal."""

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from .parameters import spell_parameter

VALUE = r"'[^']*'|\"[^\"]*\"|[\w.-]*\w"
ALONE = "label|ignore|ordinal|skip_bad|calibrate|max_iter|class_weight|encoding"
ADVICE = re.compile(
    rf"\b([Uu]se|with|and|or) (?:([a-z_]+)=({VALUE})|({ALONE})(?= to |[.;,]| what)|(text)(?= to ))"
)


def spell_options(sentence: str) -> str:
    """Spell the parameters that a sentence advises to use as options of the shell.

    >>> spell_options("Use label='0' and labels_separator=';' to learn each of its labels.")
    "Use --label '0' and --separator ';' to learn each of its labels."
    >>> spell_options("below the first column (1; use first=0 if it is 0).")
    'below the first column (1; use --set first=0 if it is 0).'
    >>> spell_options('The model gives no sets; train it with calibrate="conformal".')
    'The model gives no sets; train it with --conformal.'
    """

    def spell(found: re.Match[str]) -> str:
        verb, name, value, *alone = found.groups()
        option = spell_parameter(name or alone[0] or alone[1], value)
        return f"{verb} {option}" if option else found[0]

    return ADVICE.sub(spell, sentence)


def fold(line: str, stream: TextIO | None = None) -> str:
    """Break a line between words where a terminal would break it within one.

    ``stream`` is standard output unless another one is given.
    """
    if not (stream or sys.stdout).isatty():
        return line
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def print_lines(lines: list[str]) -> None:
    """Print lines; after the reader of a pipe has left, print nothing, but go on training."""
    try:
        for line in lines:
            print(fold(line), flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - until the end


def print_event(event: str, **facts: Any) -> None:
    """Print an event as a JSON object; fractions are text."""

    def as_json(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    print_lines([json.dumps({"event": event, **facts}, default=as_json)])


def print_note(note: object) -> None:
    """Print a note on standard error."""
    line = fold(spell_options(f"Note: {note}"), sys.stderr)
    print(line, file=sys.stderr, flush=True)


@contextmanager
def show_reading(size: int | None, wanted: bool = True) -> Iterator[Callable[[int], None] | None]:
    """Yield a function of the bytes read that moves a bar; None unless a terminal shows errors."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from ..training.bars import new_bar

    with new_bar(on_stderr=True) as bar:
        line = bar.add_task("reading", total=size, speed="")
        yield lambda bytes_read: bar.update(line, completed=bytes_read)

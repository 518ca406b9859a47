"""Errors with a code, written for Python or for the shell.

A message is a template. ``{order}`` stands for a parameter with its value, ``{order="each"}`` for
the parameter with another value, and ``{order?}`` for its name alone. Python shows
``order="each"``, the shell ``--order each``.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

TOKEN = re.compile(r'\{(\w+)(\?|=(?:"(\w+)"|(\w+)))?\}')
NAME_ONLY = object()
"""In place of a value: render the name of the parameter alone."""
SHELL_NAMES = {
    "max_iter": "epochs",
    "random_state": "seed",
    "n_iter_no_change": "early_stopping",
    "calibrate": "probabilities",
    "intercept_step": "bias_step",
}
"""Parameters that have another name in the shell."""


class CodedError(ValueError):
    """An error with a short code that stays the same when the message changes.

    Parameters
    ----------
    template
        The message, with parameters in braces.
    code
        The short name.
    **values
        Parameters by name; those that the message mentions are kept.

    Attributes
    ----------
    code : str
        The short name.
    values : dict
        The parameters that the message mentions.
    """

    def __init__(self, template: str, /, *, code: str, **values: Any) -> None:
        mentioned = {token[1] for token in TOKEN.finditer(template)}
        self.template, self.code = template, code
        self.values = {name: values[name] for name in values if name in mentioned}
        super().__init__(self.render(in_python))

    def render(self, spell: Callable[[str, Any], str]) -> str:
        """Return the message; ``spell(name, value)`` writes a parameter, or its name alone."""
        return spell_parameters(self.template, spell, self.values)

    def reword(self, template: str, **changes: Any) -> Self:
        """Return the same error with another message, and with other attributes if some change."""
        state = {**vars(self), "template": template, **changes}
        return rebuild_error(type(self), state)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_error, (type(self), vars(self))


class ParameterError(CodedError):
    """A parameter is out of range, or does not go with another one."""


class InputError(CodedError):
    """A file, a table or a stream cannot be used as it is.

    Parameters
    ----------
    template, code, **values
        As for every ``CodedError``.
    file
        The name of the file, or of what takes its place.
    line
        The line of a text file, or the row of a table, from 1 up.
    column
        The name of a column, or the place in a line, from 1 up.

    Attributes
    ----------
    file, line, column
        Where the fault is, as far as is known.
    """

    def __init__(
        self,
        template: str,
        /,
        *,
        code: str,
        file: str | None = None,
        line: int | None = None,
        column: str | int | None = None,
        **values: Any,
    ) -> None:
        super().__init__(template, code=code, **values)
        self.file, self.line, self.column = file, line, column


Coded = TypeVar("Coded", bound=CodedError)


def rebuild_error(kind: type[Coded], state: dict[str, Any]) -> Coded:
    """Make an error from its attributes."""
    error = kind(state["template"], code=state["code"], **state["values"])
    vars(error).update(state)
    return error


def spell_parameters(
    template: str, spell: Callable[[str, Any], str], values: Mapping[str, Any] | None = None
) -> str:
    """Return a template with its parameters spelled for Python or the shell.

    >>> spell_parameters("State {numbers=False} or {label?}.", in_python)
    'State numbers=False or label.'
    """
    known = values or {}

    def replace(token: re.Match[str]) -> str:
        name, kind, word, literal = token.groups()
        if kind is None:
            return spell(name, known[name]) if name in known else token[0]
        return spell(name, NAME_ONLY if kind == "?" else word or literal)

    return TOKEN.sub(replace, template)


def in_python(name: str, value: Any) -> str:
    """Write a parameter as in Python.

    >>> in_python("order", "each"), in_python("early_stopping", True)
    ('order="each"', 'early_stopping=True')
    """
    if value is NAME_ONLY:
        return name
    literal = isinstance(value, str) and value not in ("True", "False", "None")
    return f'{name}="{value}"' if literal else f"{name}={value}"

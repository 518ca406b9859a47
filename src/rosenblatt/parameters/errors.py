"""Errors with a code that stays the same when the message changes."""

from collections.abc import Iterable
from typing import Any, Self, TypeVar


class CodedError(ValueError):
    """An error with a short code that stays the same when the message changes.

    Parameters
    ----------
    message
        The message, in one line; it names parameters as Python does.
    code
        The short name.

    Attributes
    ----------
    code : str
        The short name.
    """

    def __init__(self, message: str, /, *, code: str) -> None:
        self.code = code
        super().__init__(message.replace("\n", "\\n"))  # of a label or a name in the message

    def reword(self, message: str, **changes: Any) -> Self:
        """Return the same error with another message, and with other attributes if some change."""
        return rebuild_error(type(self), message, {**vars(self), **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_error, (type(self), str(self), vars(self))


class ParameterError(CodedError):
    """A parameter is out of range, or does not go with another one."""


class InputError(CodedError):
    """A file, a table or a stream cannot be used as it is.

    Parameters
    ----------
    message, code
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
        message: str,
        /,
        *,
        code: str,
        file: str | None = None,
        line: int | None = None,
        column: str | int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.file, self.line, self.column = file, line, column


Coded = TypeVar("Coded", bound=CodedError)


def rebuild_error(kind: type[Coded], message: str, attributes: dict[str, Any]) -> Coded:
    """Make an error from its message and attributes."""
    error = kind(message, code=attributes["code"])
    vars(error).update(attributes)
    return error


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return a question that names the closest of some names; empty if none is close.

    >>> suggest_name("trian", ["train", "score"]), suggest_name("x", ["train"])
    (' Did you mean train?', '')
    """
    from difflib import get_close_matches

    meant = get_close_matches(name, list(known), 1)
    return f" Did you mean {meant[0]}?" if meant else ""

"""The program: its commands, and errors as one line and exit status 2."""

import shlex
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .. import __version__
from ..parameters import SHELL_NAMES, ParameterError, in_python
from . import draw, predict, prove, serve, train, warm
from .groups import LightCommand, LightGroup

app = typer.Typer(
    cls=LightGroup,
    help="The perceptron, from the textbook page to files larger than memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    train.train,
    predict.predict,
    predict.score,
    predict.inspect,
    prove.prove,
    prove.verify,
    predict.export,
    draw.plot,
    draw.lab,
    serve.serve,
    serve.replay,
    warm.warm_up,
):
    app.command(cls=LightCommand)(command)


def main() -> None:
    """Run a command; turn bad input into one line and exit status 2."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # and tidy up
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            app()
    except OSError as error:
        said = f"{error.strerror}." if error.strerror else error
        stop(f"{error.filename}: {said}" if error.filename else str(said))
    except ParameterError as error:
        stop(error.render(spelling(sys.argv[1:2])))
    except (ValueError, ImportError) as error:
        stop(str(error))
    except KeyboardInterrupt:
        print("rosenblatt: interrupted", file=sys.stderr)
        sys.exit(130)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """Say what a user is warned of as a note, without the line of code that it comes from."""
    if issubclass(category, UserWarning):
        print(f"Note: {message}", file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)


def stop(sentence: str) -> None:
    """Say what is wrong, and end."""
    print(f"rosenblatt: {sentence}", file=sys.stderr)
    sys.exit(2)


def spelling(command: list[str]) -> Callable[[str, Any], str]:
    """How a command spells parameters: as its options, and as Python does those that it lacks."""
    known = getattr(typer.main.get_command(app), "commands", {})
    given = [known[name] for name in command if name in known]
    options = {each for one in given for own in one.params for each in own.opts}

    def spell(name: str, value: Any) -> str:
        if option_of(name) in options or not given:
            return in_shell(name, value)
        return f"{in_python(name, value)} (in Python)"

    return spell


def option_of(name: str) -> str:
    """The option of a parameter."""
    return "--" + SHELL_NAMES.get(name, name).replace("_", "-")


def in_shell(name: str, value: Any) -> str:
    """A parameter as it is written in the shell.

    >>> in_shell("max_iter", 3), in_shell("early_stopping", True), in_shell("order", "each")
    ('--epochs 3', '--early-stopping', '--order each')
    >>> in_shell("tfidf", "True"), in_shell("header", "False"), in_shell("category", ["red wine"])
    ('--tfidf', '--no-header', "--category 'red wine'")
    >>> in_shell("intercept_step", 1.0)
    '--bias-step 1.0'
    """
    option = option_of(name)
    if value is False or value == "False":
        return option.replace("--", "--no-", 1)
    if isinstance(value, list):
        return " ".join(f"{option} {shlex.quote(str(each))}" for each in value)
    plain = isinstance(value, int | float | str) and str(value) != "True"
    return f"{option} {value}" if plain else option


def show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        print(f"rosenblatt {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show version.")
    ] = False,
) -> None:
    """The perceptron, from the textbook page to files larger than memory."""

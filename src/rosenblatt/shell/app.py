"""The program: its commands, and errors as one line and exit status 2."""

import gc
import io
import json
import signal
import sys
import warnings
from typing import Any

import click

from .. import __version__
from ..parameters import suggest_name
from ..slices import list_commands, load

COMMANDS = {
    "train": ("shell.train", "Train a model on a file or a built-in data set."),
    "predict": ("shell.predict", "Write the predicted label of every row of a file."),
    "score": ("shell.score", "Print the error of a model on a file, or which of two is better."),
    "inspect": ("shell.inspect", "Print what a model is, and its most important columns."),
    **list_commands(),
}
"""The module of each command, which is imported when the command is called, and its help."""


class LazyGroup(click.Group):
    """Imports the module of a command when it is called; listing the commands imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, the most used first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = load(f"{COMMANDS[cmd_name][0]}:{cmd_name}")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def print_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print the version, and where compiled code comes from."""
    if wanted:
        print(f"rosenblatt {__version__} ({load('kernels.compiling:ORIGIN')})")
        context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version,
    help="Show the version and exit.",
)  # fmt: skip
def app() -> None:
    """Fast online linear models: train, evaluate, serve and prove."""


def main() -> None:
    """Run a command; turn bad input into one line and exit status 2."""
    gc.set_threshold(50_000)  # what imports and the compiler allocate stays, so seldom look at it
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # and tidy up
    for stream in (sys.stdout, sys.stderr):  # else Windows writes files in a code page
        if sys.platform == "win32" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            sys.exit(app(prog_name="rosenblatt", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        sys.exit(2)
    except click.ClickException as error:
        stop(explain_usage(error), "usage")
    except OSError as error:
        said = f"{error.strerror}." if error.strerror else str(error)
        stop(f"{error.filename}: {said}" if error.filename else said, "file")
    except (ValueError, ImportError) as error:
        stop(str(error), getattr(error, "code", "input"))
    except (click.Abort, KeyboardInterrupt, RuntimeError) as error:
        within_compiler = isinstance(error.__context__, KeyboardInterrupt)
        if isinstance(error, click.Abort | KeyboardInterrupt) or within_compiler:
            print("rosenblatt: interrupted", file=sys.stderr)
            sys.exit(130)
        if not hasattr(error, "code"):  # of lost workers
            raise
        stop(str(error), error.code)


def explain_usage(error: click.ClickException) -> str:
    """Return the sentence of an error of click, and what to do about it."""
    sentence = error.format_message()
    if isinstance(error, click.NoSuchOption):
        from .parameters import spell_parameter

        name = error.option_name.removeprefix("--").replace("-", "_")
        use = spell_parameter(name, "VALUE")
        return f"There is no option {error.option_name}. Use {use}." if use else sentence
    if sentence.startswith("No such command"):
        meant = suggest_name(sentence.split("'")[1], COMMANDS)
        return f"{sentence}{meant} The commands are {', '.join(COMMANDS)}."
    if "unexpected extra argument" in sentence:
        return f"{sentence}. Name several files by a pattern in quotes: 'logs/*.csv'."
    context = getattr(error, "ctx", None)
    return f"{sentence} See {context.command_path} --help." if context else sentence


def show_warning(message: Any, category: Any, *place: Any, **_: Any) -> None:
    """Print a warning to users as a note, without the line of code that it comes from."""
    if issubclass(category, UserWarning):
        from .output import print_note

        print_note(message)
    else:
        print(warnings.formatwarning(message, category, *place[:2]), end="", file=sys.stderr)


def stop(sentence: str, code: str) -> None:
    """Print what is wrong, with --json also as an object with a code, and end."""
    if "--json" in sys.argv:
        print(json.dumps({"event": "error", "code": code, "message": sentence}))
    from .output import fold, spell_options

    print(fold(f"rosenblatt: {spell_options(sentence)}", sys.stderr), file=sys.stderr)
    sys.exit(2)

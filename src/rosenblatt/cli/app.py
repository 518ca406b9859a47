"""The program: its commands, and errors as one line and exit status 2."""

import gc
import io
import json
import shlex
import signal
import sys
import warnings
from collections.abc import Callable
from itertools import chain, pairwise
from typing import Any

import click
from click.shell_completion import get_completion_class

from .. import __version__
from ..parameters import RULE_TABLE, SHELL_NAMES, CodedError, in_python

COMMANDS = {
    "train": ("train", "Train a model on a file or a built-in data set."),
    "predict": ("predict", "Write the predicted label of every row of a file."),
    "score": ("score", "Print the error of a model on a file, with other metrics."),
    "compare": ("score", "Print which of two models is better, and whether that could be chance."),
    "inspect": ("inspect", "Print what a model is, and its most important columns."),
    "prove": ("prove", "Prove that a plane separates two classes, or that no plane does."),
    "verify": ("prove", "Check a certificate against the data, in exact arithmetic."),
    "export": ("predict", "Export a model of numbers and categories as an ONNX file."),
    "plot": ("draw", "Draw a model, its data, or the course of training."),
    "lab": ("draw", "Open the lab in the browser: place points and watch every update."),
    "serve": ("serve", "Answer predictions over HTTP, and learn from examples."),
    "replay": ("serve", "Rebuild a model of a service from its log of examples."),
    "warm-up": ("warm", "Compile what the usual commands need."),
}
"""The module of each command, which is imported when the command is called, and its help."""
FILE_COMMANDS = ["train"], ["predict"], ["score"]
CONFORMAL = "calibrate", "conformal"  # a value that is an option in the shell


class LazyGroup(click.Group):
    """Imports the module of a command when it is called; listing the commands imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, the most used first."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import a command; before it a rule of another package, which adds options to it."""
        if args[0] in ("train", "serve") and not ctx.resilient_parsing:
            for option, value in pairwise(chain.from_iterable(each.split("=", 1) for each in args)):
                if option == "--rule":
                    RULE_TABLE[value]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_commands(COMMANDS[cmd_name][0])
        found: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def import_commands(name: str) -> Any:
    """Import a module of commands."""
    if name == "train":
        from . import train

        return train
    if name == "predict":
        from . import predict

        return predict
    if name == "score":
        from . import score

        return score
    if name == "inspect":
        from . import inspect

        return inspect
    if name == "prove":
        from . import prove

        return prove
    if name == "draw":
        from . import draw

        return draw
    if name == "serve":
        from . import serve

        return serve
    from . import warm

    return warm


def show_completion(context: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Print the script that completes commands in a shell, and stop."""
    if shell is not None:
        kind = get_completion_class(shell)
        assert kind is not None
        print(kind(app, {}, "rosenblatt", "_ROSENBLATT_COMPLETE").source())
        context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rosenblatt", message="%(prog)s %(version)s")
@click.option(
    "--show-completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    metavar="SHELL",
    callback=show_completion,
    expose_value=False,
    is_eager=True,
    help="Print the completion script for bash, zsh or fish and exit.",
)
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
        stop(explain_usage(error.format_message(), sys.argv[1:2]), "usage")
    except OSError as error:
        said = f"{error.strerror}." if error.strerror else error
        stop(f"{error.filename}: {said}" if error.filename else str(said), "file")
    except CodedError as error:
        stop(error.render(make_speller(sys.argv[1:2])), error.code)
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


def explain_usage(sentence: str, command: list[str]) -> str:
    """Add to an error of click's what to do about it.

    >>> explain_usage("No such command 'test'.", ["test"])[:54]
    "No such command 'test'. The commands are train, predic"
    >>> explain_usage("Got unexpected extra argument (b.csv)", ["train"])[-56:]
    "Name several files by a pattern in quotes: 'logs/*.csv'."
    """
    if sentence.startswith("No such command"):
        return f"{sentence} The commands are {', '.join(COMMANDS)}."
    if "unexpected extra argument" in sentence and command in FILE_COMMANDS:
        return f"{sentence}. Name several files by a pattern in quotes: 'logs/*.csv'."
    return sentence


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
        from .data import print_note

        print_note(message)
    else:
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)


def stop(sentence: str, code: str) -> None:
    """Print what is wrong, with --json also as an object with a code, and end."""
    if "--json" in sys.argv:
        print(json.dumps({"event": "error", "code": code, "message": sentence}))
    from .format import fold

    print(fold(f"rosenblatt: {sentence}", sys.stderr), file=sys.stderr)
    sys.exit(2)


def make_speller(command: list[str]) -> Callable[[str, Any], str]:
    """How a command spells parameters: as its options, and as Python does those that it lacks."""
    context = click.Context(app)
    given = [app.get_command(context, name) for name in command if name in COMMANDS]
    options = {each for one in given if one for own in one.params for each in own.opts}

    def spell(name: str, value: Any) -> str:
        if find_option(name, value) in options or not given:
            return in_shell(name, value)
        return f"{in_python(name, value)} (in Python)"

    return spell


def find_option(name: str, value: Any = None) -> str:
    """The option of a parameter."""
    if (name, value) == CONFORMAL:
        return "--conformal"
    others = {"fit_intercept": "no_bias", "ranks": "ordinal"}
    return "--" + (SHELL_NAMES | others).get(name, name).replace("_", "-")


def in_shell(name: str, value: Any) -> str:
    """A parameter as it is written in the shell.

    >>> in_shell("max_iter", 3), in_shell("early_stopping", True), in_shell("order", "each")
    ('--epochs 3', '--early-stopping', '--order each')
    >>> in_shell("tfidf", "True"), in_shell("header", "False"), in_shell("category", ["red wine"])
    ('--tfidf', '--no-header', "--category 'red wine'")
    >>> in_shell("intercept_step", 1.0)
    '--bias-step 1.0'
    """
    option = find_option(name, value)
    if (name, value) == CONFORMAL:
        return option
    if value is False or value == "False":
        return option.replace("--", "--no-", 1)
    if isinstance(value, list):
        return " ".join(f"{option} {shlex.quote(str(each))}" for each in value)
    plain = isinstance(value, int | float | str) and str(value) != "True"
    return f"{option} {value}" if plain else option

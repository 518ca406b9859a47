"""A model that answers over HTTP, and its log."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from .commands import CommandError, DescribedArgument, command, option
from .data import check_output
from .format import count
from .predict import MODEL

service_option = partial(option, group="Service")
access_option = partial(option, group="Access")
storage_option = partial(option, group="Storage")
COUNT = click.IntRange(min=1)
PORT, LOG_FORMATS = click.IntRange(0, 65535), click.Choice(["text", "json"])
SECONDS = click.FloatRange(min=0.0)


@dataclass
class ServeOptions:
    """What a service does, which requests it accepts, and what it stores."""

    learn: bool = service_option("Learn the examples sent to /learn.", default=False)
    grow: int | None = service_option(
        "Add a class for each new label that is sent, up to N.",
        type=click.IntRange(2),
        needs="learn",
    )
    log_format: str = service_option(
        "text, or json with a line for each request.", default="text", type=LOG_FORMATS
    )
    host: str = access_option("Address to listen on.", "HOST", "127.0.0.1")
    port: int = access_option("Port to listen on; 0: any free one.", None, 8080, type=PORT)
    allow_host: tuple[str, ...] = access_option(
        "Name by which clients may call the service; repeatable.",
        default=(),
        shown="addresses and localhost; with tokens: any",
    )
    token_file: Path | None = access_option(
        "File with bearer tokens, one per line; predict TOKEN or learn TOKEN allows only that.",
        excludes="no_token",
    )
    no_token: bool = access_option("Accept requests without a token.", default=False)
    max_bytes: int = access_option("Largest size of a request.", "BYTES", 16 << 20, type=COUNT)
    max_rows: int = access_option("Most rows in a request.", default=10_000, type=COUNT)
    max_connections: int = access_option("Most connections at a time.", default=512, type=COUNT)
    save_seconds: float = storage_option(
        "Save the model after N seconds in which it learnt.", "N", 60.0, type=SECONDS
    )


@command(MODEL)
def serve(model: Path, given: ServeOptions) -> None:
    """Answer predictions over HTTP, and with --learn train on examples that are sent.

    Examples
    --------
    rosenblatt serve model.safetensors
    rosenblatt serve model.safetensors --learn --port 8080
    rosenblatt serve model.safetensors --learn --grow 50
    """
    from ..access import Tokens, is_loopback
    from ..service.app import Limits
    from ..service.learning import Keeping
    from ..service.server import serve as serve_model

    if given.token_file is None and not is_loopback(given.host) and not given.no_token:
        raise CommandError(
            f"Others can reach {given.host}; name a file with tokens (--token-file), or accept "
            "requests without a token (--no-token)."
        )
    hosts = tuple(name.lower() for name in given.allow_host)
    # Tokens protect a service under any name.
    allowed = None if given.token_file is not None and not hosts else hosts
    keeping = Keeping(given.save_seconds, given.grow)
    status = serve_model(
        model,
        host=given.host,
        port=given.port,
        keeping=keeping if given.learn else None,
        limits=Limits(given.max_bytes, given.max_rows, allowed, given.max_connections),
        tokens=Tokens(given.token_file),
        json_logs=given.log_format == "json",
    )
    if status:
        raise click.exceptions.Exit(status)


@dataclass
class ReplayOptions:
    """How far a log is replayed, and where its model is written."""

    output: Path | None = option("Write the model to FILE.", flags=["-o", "--output"])
    to: int | None = option("Number of the last example to learn.", shown="all")
    without: str | None = option(
        "Numbers of examples to leave out, such as 3,7-9.", metavar="NUMBERS", shown="none"
    )
    check: Path | None = option(
        "Compare the model in FILE with the one that the log gives.", excludes="to without output"
    )


@command(
    DescribedArgument("log", "The log of a service, MODEL.log.", type=click.Path(path_type=Path))
)
def replay(log: Path, given: ReplayOptions) -> None:
    """Rebuild a model of a service, as it was after any example, from its log, bit for bit.

    Examples
    --------
    rosenblatt replay model.safetensors.log --to 5000 -o then.safetensors
    rosenblatt replay model.safetensors.log --without 3,7-9 -o without.safetensors
    rosenblatt replay model.safetensors.log --check model.safetensors
    """
    from ..service.changes import check_examples, parse_numbers
    from ..service.replay import Replay, read_log
    from ..storage.file import save_model

    check_output(given.output, log, given.check)
    with read_log(log) as reading:
        if given.check is not None:
            compare(reading, given.check)
            return
        without = [] if given.without is None else parse_numbers(given.without)
        left = check_examples(reading, without)
        served = Replay(reading, without=frozenset(left)).rebuild(given.to)
    if given.output is not None:
        save_model(given.output, served.model())
    progress, error = served.progress, served.progress.error()
    wrong = "" if error is None else f", {error:.2%} of them wrong before they were learnt"
    print(f"{count(progress.examples, 'example')}{wrong}.")
    if given.output is not None:
        print(f"Wrote the model to {given.output}.")


def compare(log: Any, path: Path) -> None:
    """Print whether a model is what its log makes, or where they part; then exit with status 1."""
    from ..service.replay import compare_with_log

    difference, sequence = compare_with_log(log, path)
    if difference is None:
        print(f"{path} is what {log.path} makes of its first {sequence:,} examples, to the bit.")
        return
    print(difference.sentence)
    if not difference.is_rounding:
        raise click.exceptions.Exit(1)
    print(
        "Only the last bits of weights differ, as another version or processor sums in another "
        "order. Nothing is lost or damaged."
    )

"""A model that answers over HTTP, and its log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .data import check_output
from .predict import ModelFile

if TYPE_CHECKING:
    from ..service.model import ServedModel

DOORS: dict[str, Any] = {"rich_help_panel": "Doors"}
KEEPING: dict[str, Any] = {"rich_help_panel": "Keeping"}
LOG_HELP = "The log of a service, MODEL.log."


def serve(
    model: ModelFile,
    learn: Annotated[bool, typer.Option("--learn", help="Learn what /learn is sent.")] = False,
    host: Annotated[
        str, typer.Option(help="Where to listen; others need a token.", **DOORS)
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.", **DOORS)] = 8080,
    token_file: Annotated[
        Path | None, typer.Option(help="What requests must know.", show_default=False, **DOORS)
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let anybody in who reaches the host.", **DOORS)
    ] = False,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of one body.", **DOORS)] = 16 << 20,
    max_rows: Annotated[int, typer.Option(min=1, help="Of one request.", **DOORS)] = 10_000,
    max_open: Annotated[int, typer.Option(min=1, help="Requests at a time.", **DOORS)] = 256,
    save_examples: Annotated[
        int, typer.Option(min=1, help="Write the model after so many.", **KEEPING)
    ] = 50_000,
    save_seconds: Annotated[
        float, typer.Option(min=0.0, help="Or after so long.", **KEEPING)
    ] = 60.0,
    keep_days: Annotated[
        float | None,
        typer.Option(help="Forget older examples (none).", show_default=False, **KEEPING),
    ] = None,
) -> None:
    """Answer /predict over HTTP, and with --learn keep and learn what /learn is sent.

    rosenblatt serve model.safetensors

    rosenblatt serve model.safetensors --learn --port 8080
    """
    from ..service.app import Limits
    from ..service.learning import Keeping
    from ..service.server import ServerOptions
    from ..service.server import serve as serve_model

    options = ServerOptions(
        learn,
        host,
        port,
        token_of(host, token_file, no_token),
        Keeping(save_examples, save_seconds, keep_days),
        Limits(max_bytes, max_rows, max_open),
    )
    serve_model(model, options)


def token_of(host: str, token_file: Path | None, no_token: bool) -> str | None:
    """What requests must know: needed where others than this computer can send some."""
    from ..service.server import is_loopback

    if token_file is not None:
        if no_token:
            raise ValueError("--token-file and --no-token do not go together; leave one out.")
        token = token_file.read_text("utf-8").strip()
        if len(token) < 16 or not token.isascii() or not token.isprintable():
            raise ValueError(f"{token_file} must hold a token of 16 or more ASCII letters.")
        return token
    if not is_loopback(host) and not no_token:
        raise ValueError(
            f"Others can reach {host}; name a file with a token (--token-file), or let everybody "
            "in (--no-token)."
        )
    return None


def replay(
    log: Annotated[Path, typer.Argument(help=LOG_HELP, show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the model here.", show_default=False),
    ] = None,
    to: Annotated[
        int | None, typer.Option(help="The last example to learn (all).", show_default=False)
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Tell whether this model is that of the log.", show_default=False),
    ] = None,
) -> None:
    """Learn the examples of a service's log again: any past model, to the last bit.

    rosenblatt replay model.safetensors.log --to 5000 -o then.safetensors

    rosenblatt replay model.safetensors.log --check model.safetensors
    """
    from ..service.log import Log
    from ..storage.file import save_model

    check_output(output, log, check)
    if check is not None and (to is not None or output is not None):
        raise ValueError("--check goes with neither --to nor -o; leave them out.")
    reading = Log(log, writes=False)
    try:
        if check is not None:
            compare(reading, check)
            return
        served = replayed(reading, to)
    finally:
        reading.close()
    if output is not None:
        save_model(output, served.model())
    told(served)
    if output is not None:
        print(f"The model is in {output}.")


def replayed(log: Any, to: int | None) -> "ServedModel":
    """The model after some example."""
    from ..service.model import rebuilt

    served = rebuilt(log, to)
    for _ in served.replay(log, to):
        pass
    return served


def told(served: "ServedModel") -> None:
    """Say what a replay came to."""
    from .saying import count

    error = served.progress.error()
    wrong = "" if error is None else f", {error:.2%} of them wrong before they were learnt"
    print(f"{count(served.sequence, 'example')}{wrong}.")


def compare(log: Any, path: Path) -> None:
    """Tell whether a model is what its log makes, or where they part; then exit with status 1."""
    from ..service.compare import first_difference

    difference, sequence = first_difference(log, path)
    if difference is None:
        print(f"{path} is what {log.path} makes of its first {sequence:,} examples, to the bit.")
        return
    print(difference)
    raise typer.Exit(1)

"""A model that answers over HTTP, and its log."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .data import check_output
from .groups import grouped
from .options import RuleOptions, Solution
from .predict import ModelFile

if TYPE_CHECKING:
    from ..service.model import ServedModel
    from ..storage.model import Model

DOORS: dict[str, Any] = {"rich_help_panel": "Doors", "show_default": False}
KEEPING: dict[str, Any] = {"rich_help_panel": "Keeping", "show_default": False}
NEW: dict[str, Any] = {"rich_help_panel": "From nothing", "show_default": False}
LOG_HELP = "The log of a service, MODEL.log."


@dataclass
class DoorOptions:
    """Where the service listens, and whom it lets in."""

    host: Annotated[
        str, typer.Option(help="Where to listen (127.0.0.1).", metavar="HOST", **DOORS)
    ] = "127.0.0.1"
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="8080; 0 is any free one.", metavar="N", **DOORS),
    ] = 8080
    token_file: Annotated[
        Path | None, typer.Option(help="What requests must know.", metavar="FILE", **DOORS)
    ] = None
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let everybody in.", metavar=" ", **DOORS)
    ] = False
    max_bytes: Annotated[
        int, typer.Option(min=1, help="Of one request (16 MB).", metavar="N", **DOORS)
    ] = 16 << 20
    max_rows: Annotated[
        int, typer.Option(min=1, help="Of one request (10,000).", metavar="N", **DOORS)
    ] = 10_000
    max_open: Annotated[
        int, typer.Option(min=1, help="Requests at a time (256).", metavar="N", **DOORS)
    ] = 256

    def token(self) -> str | None:
        """What requests must know: needed where others than this computer can send some."""
        from ..access import is_loopback, token_in

        path = self.token_file
        if path is not None:
            if self.no_token:
                raise ValueError("--token-file and --no-token do not go together; leave one out.")
            return token_in(path)
        if not is_loopback(self.host) and not self.no_token:
            raise ValueError(
                f"Others can reach {self.host}; name a file with a token (--token-file), or let "
                "everybody in (--no-token)."
            )
        return None


@dataclass
class KeepingOptions:
    """When the model is written, and how long examples are kept."""

    save_examples: Annotated[
        int,
        typer.Option(min=1, help="Write the model after so many (20,000).", metavar="N", **KEEPING),
    ] = 20_000
    save_seconds: Annotated[
        float, typer.Option(min=0.0, help="Or after so long (60).", metavar="SECONDS", **KEEPING)
    ] = 60.0
    keep_days: Annotated[
        float | None,
        typer.Option(min=0.0, help="Forget examples after so long.", metavar="DAYS", **KEEPING),
    ] = None


@dataclass
class NewOptions(RuleOptions):
    """What a model knows that starts from nothing."""

    new: Annotated[
        str | None,
        typer.Option(help="Begin with these labels, unless MODEL is there.", metavar="A,B", **NEW),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            help="NAME, NAME:number:MEAN:SPREAD, NAME:category, NAME:text:1-2, …",
            metavar="COLUMNS",
            **NEW,
        ),
    ] = None
    label: Annotated[
        str | None, typer.Option(help="The label's column (label).", metavar="NAME", **NEW)
    ] = None
    bits: Annotated[
        int | None,
        typer.Option(help="Hash to 2^bits columns (18; 20 with text).", metavar="N", **NEW),
    ] = None
    solution: Annotated[
        Solution | None, typer.Option(help="average or last (last).", metavar="WHICH", **NEW)
    ] = None
    average_decay: Annotated[
        float | None, typer.Option(help="What the average forgets a row.", metavar="SHARE", **NEW)
    ] = None

    def model(self) -> "Model | None":
        """The model to begin with, if one is described."""
        from ..service.create import new_model

        if self.new is None:
            if self != NewOptions():
                raise ValueError("--features, --rule and what else describes a model need --new.")
            return None
        if not self.features:
            raise ValueError("--new needs the columns of the examples: name them with --features.")
        own = {name: getattr(self, name) for name in ("label", "bits", "average_decay")}
        own["solution"] = self.solution and self.solution.value
        given = {name: value for name, value in own.items() if value is not None}
        labels, features = self.new.split(","), self.features.split(",")
        rule = None if self.rule is None else str(self.rule.value)
        return new_model(labels, features, rule=rule, **given, **self.of_rule())

    def of_rule(self) -> dict[str, Any]:
        """The parameters of the rule that were given."""
        return {name: value for name, value in super().of_rule().items() if name != "rule"}


@grouped
def serve(
    model: ModelFile,
    learn: Annotated[bool, typer.Option("--learn", help="Learn what /learn is sent.")] = False,
    grow: Annotated[bool, typer.Option("--grow", help="Learn new labels, too.")] = False,
    max_classes: Annotated[
        int, typer.Option(min=2, help="--grow: largest number of classes. [default: 1000]")
    ] = 1000,
    max_megabytes: Annotated[
        int, typer.Option(min=1, help="--grow: largest size of the model. [default: 1024]")
    ] = 1024,
    *,
    given: DoorOptions,
    keeping: KeepingOptions,
    begin: NewOptions,
) -> None:
    """Answer /predict over HTTP, and with --learn keep and learn what /learn is sent.

    rosenblatt serve model.safetensors

    rosenblatt serve model.safetensors --learn --port 8080

    rosenblatt serve spam.safetensors --learn --new spam,ham --features subject:text,hour
    """
    new = begin.model()
    if grow and not learn:
        raise ValueError("--grow needs --learn; add it.")
    from ..access import is_loopback
    from ..service.app import Doors
    from ..service.learning import Keeping
    from ..service.model import GrowthLimits
    from ..service.server import ServerOptions, serve as serve_model

    token = given.token()
    doors = Doors(
        given.max_bytes,
        given.max_rows,
        given.max_open,
        token=token,
        any_host=token is not None or not is_loopback(given.host),
    )
    kept = Keeping(keeping.save_examples, keeping.save_seconds, keeping.keep_days)
    limits = GrowthLimits(max_classes, max_megabytes << 20)
    status = serve_model(
        model,
        ServerOptions(learn, given.host, given.port, kept, doors, grow, limits, new),
    )
    if status:
        raise typer.Exit(status)


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
    from .format import count

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

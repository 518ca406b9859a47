"""A model that answers over HTTP, and its log."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..parameters import CLASS_RULES, FEATURES, FOR_ONE_PASS, RULE_TABLE, Parameter
from .commands import CommandError, DescribedArgument, command, option
from .data import check_output
from .parameters import parse_settings, settings_option, table_for_rules
from .predict import MODEL

if TYPE_CHECKING:
    from ..access import Tokens
    from ..service.model import ServedModel
    from ..storage.model import Model

service_option = partial(option, group="Service")
access_option = partial(option, group="Access")
storage_option = partial(option, group="Storage")
new_option = partial(option, group="New model")
COUNT = click.IntRange(min=1)


@dataclass
class ServiceOptions:
    """What the service does."""

    learn: bool = service_option("Learn the examples sent to /learn.", default=False)
    grow: int | None = service_option(
        "Add a class for each new label sent to /learn, up to N classes.",
        type=click.IntRange(min=2),
        metavar="N",
        shown="refuse new labels",
    )
    log_format: str = service_option(
        "Messages as text, or as json with one for each request.",
        type=click.Choice(["text", "json"]),
        default="text",
    )


@dataclass
class AccessOptions:
    """Where the service listens, and which requests it accepts."""

    host: str = access_option("Address to listen on.", metavar="HOST", default="127.0.0.1")
    port: int = access_option(
        "Port to listen on; 0 takes any free one.", type=click.IntRange(0, 65535), default=8080
    )
    allow_host: list[str] | None = access_option(
        "Name by which clients may call the service; may be repeated.",
        shown="addresses and localhost; with tokens: any",
        metavar="NAME",
    )
    token_file: Path | None = access_option(
        "File with bearer tokens, one per line. predict TOKEN or learn TOKEN allows only that."
    )
    no_token: bool = access_option("Accept requests without a token.", default=False)
    max_bytes: int = access_option(
        "Largest size of a request in bytes.", type=COUNT, default=16 << 20, shown="16777216"
    )
    max_rows: int = access_option(
        "Largest number of rows in a request.", type=COUNT, default=10_000
    )
    max_connections: int = access_option(
        "Largest number of connections at a time.", type=COUNT, default=1024
    )

    def tokens(self) -> "Tokens":
        """The tokens of the file: needed if other computers can send requests."""
        from ..access import Tokens, is_loopback

        if self.token_file is not None and self.no_token:
            raise CommandError(
                "--token-file and --no-token exclude each other; leave one out.", "conflict"
            )
        if self.token_file is None and not is_loopback(self.host) and not self.no_token:
            raise CommandError(
                f"Others can reach {self.host}; name a file with tokens (--token-file), or accept "
                "requests without a token (--no-token).",
                "no-token",
            )
        return Tokens(self.token_file)

    def hosts(self) -> tuple[str, ...] | None:
        """The names by which the service may be called; any where tokens protect it."""
        if self.token_file is not None and not self.allow_host:
            return None
        return tuple(name.lower() for name in self.allow_host or ())


@dataclass
class StorageOptions:
    """When the model is saved, and how long examples are stored."""

    save_seconds: float = storage_option(
        "Save the model after N seconds in which it learnt.",
        metavar="N",
        type=click.FloatRange(min=0.0),
        default=60.0,
    )
    keep_days: float | None = storage_option(
        "Delete logged examples after N days.",
        metavar="N",
        type=click.FloatRange(min=0.0),
        shown="never",
    )


def table_for_new() -> dict[str, Parameter]:
    """The parameters of a new model: those of its rule, and the number of hashed columns."""
    return {**table_for_rules(), "bits": FEATURES["bits"]}


@dataclass
class NewModelOptions:
    """The model to start with if there is no model file."""

    new: str | None = new_option(
        "Start a new model with these labels, unless MODEL exists.", metavar="A,B"
    )
    features: str | None = new_option(
        "Columns of the new model: NAME, NAME:number:MEAN:SPREAD, NAME:category or "
        "NAME:text:1-2, separated by commas.",
        metavar="COLUMNS",
    )
    label: str | None = new_option("Name of the label in examples.", shown="label")
    rule: str | None = new_option(
        f"Update rule: {', '.join(CLASS_RULES)}.", shown=FOR_ONE_PASS["rule"]
    )
    set: list[str] | None = settings_option("Set a parameter", "New model", table_for_new)

    def model(self) -> "Model | None":
        """The model to begin with, if one is described."""
        from ..service.create import new_model

        if self.new is None:
            if self != NewModelOptions():
                raise CommandError(
                    "--features, --rule and other options of a new model need --new.", "no-new"
                )
            return None
        if not self.features:
            raise CommandError(
                "--new needs the columns of the examples: name them with --features.", "no-features"
            )
        if self.rule is not None:
            RULE_TABLE[self.rule]  # of another package, perhaps
        given = parse_settings(self.set or (), table_for_new())
        labels, features = self.new.split(","), self.features.split(",")
        return new_model(labels, features, self.label or "label", rule=self.rule, **given)


@command(
    MODEL,
    examples=[
        "rosenblatt serve model.safetensors",
        "rosenblatt serve model.safetensors --learn --port 8080",
        "rosenblatt serve spam.safetensors --learn --new spam,ham \\\n"
        "    --features subject:text,hour --set r=0.5",
    ],
)
def serve(
    model: Path,
    service: ServiceOptions,
    given: AccessOptions,
    keeping: StorageOptions,
    begin: NewModelOptions,
) -> None:
    """Answer predictions over HTTP, and with --learn train on examples that are sent."""
    new = begin.model()
    if service.grow and not service.learn:
        raise CommandError("--grow needs --learn; add it.", "no-learn")
    from ..service.app import Limits
    from ..service.learning import Keeping
    from ..service.server import serve as serve_model

    status = serve_model(
        model,
        learn=service.learn,
        host=given.host,
        port=given.port,
        keeping=Keeping(keeping.save_seconds, keeping.keep_days),
        limits=Limits(given.max_bytes, given.max_rows, given.hosts()),
        connections=given.max_connections,
        tokens=given.tokens(),
        most_classes=service.grow,
        new=new,
        json_logs=service.log_format == "json",
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
    check: Path | None = option("Compare the model in FILE with the one that the log gives.")


@command(
    DescribedArgument("log", "The log of a service, MODEL.log.", type=click.Path(path_type=Path)),
    examples=[
        "rosenblatt replay model.safetensors.log --to 5000 -o then.safetensors",
        "rosenblatt replay model.safetensors.log --without 3,7-9 -o without.safetensors",
        "rosenblatt replay model.safetensors.log --check model.safetensors",
    ],
)
def replay(log: Path, given: ReplayOptions) -> None:
    """Rebuild a model of a service, as it was after any example, from its log, bit for bit."""
    from ..service.changes import check_examples, parse_numbers
    from ..service.replay import Replay, read_log
    from ..storage.file import save_model

    check_output(given.output, log, given.check)
    others = (given.to, given.without, given.output)
    if given.check is not None and any(one is not None for one in others):
        raise CommandError(
            "--check cannot be combined with --to, --without or -o; leave them out.", "conflict"
        )
    with read_log(log) as reading:
        if given.check is not None:
            compare(reading, given.check)
            return
        without = [] if given.without is None else parse_numbers(given.without)
        left = check_examples(reading, without)
        served = Replay(reading, without=frozenset(left)).rebuild(given.to)
    if given.output is not None:
        save_model(given.output, served.model())
    print_result(served)
    if given.output is not None:
        print(f"Wrote the model to {given.output}.")


def print_result(served: "ServedModel") -> None:
    """Print how many examples a replay learnt, and the progressive error."""
    from .format import count

    progress = served.progress
    error = progress.error()
    wrong = "" if error is None else f", {error:.2%} of them wrong before they were learnt"
    print(f"{count(progress.examples, 'example')}{wrong}.")


def compare(log: Any, path: Path) -> None:
    """Print whether a model is what its log makes, or where they part; then exit with status 1."""
    from ..service.replay import find_first_difference

    difference, sequence = find_first_difference(log, path)
    if difference is None:
        print(f"{path} is what {log.path} makes of its first {sequence:,} examples, to the bit.")
        return
    print(difference.sentence)
    if not difference.is_rounding:
        raise click.exceptions.Exit(1)
    print(
        "All counts are equal and weights differ in their last bits only, as sums do that another "
        "version or processor forms in another order. Nothing is lost or damaged."
    )

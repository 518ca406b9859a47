"""The lab in the browser."""

from dataclasses import dataclass
from pathlib import Path

import click

from .commands import DescribedArgument, command, option


@dataclass
class LabOptions:
    """Where to serve or to write the page of the lab."""

    port: int | None = option(
        "Port on this computer.", type=click.IntRange(1, 65535), shown="5006, or a free one"
    )
    no_browser: bool = option("Print the address and open no browser.", default=False)
    save: Path | None = option("Write the page as one HTML file instead of serving it.")


@command(
    DescribedArgument(
        "data",
        "A set of the lab (blobs, circles, moons, three, xor, iris, wine …), or a file of up to 2 "
        "MB. [default: blobs]",
        metavar="[DATA]",
        required=False,
        default="blobs",
    )
)
def lab(data: str, given: LabOptions) -> None:
    """Open the lab in the browser: place points and watch every update. Ctrl-C ends it.

    The page runs in the browser; this command only serves its files, to this computer.

    Examples
    --------
    rosenblatt lab
    rosenblatt lab iris
    rosenblatt lab points.csv --port 8080 --no-browser
    rosenblatt lab xor --save lab.html
    """
    from ..lab.bundle import build_page
    from ..lab.serving import read_state, serve

    if given.save is None:
        serve(data, given.port, not given.no_browser)
    else:
        given.save.write_text(build_page(read_state(data)), encoding="utf-8")
        print(f"Wrote {given.save}; open it in a browser.")

"""Serve the lab to this computer only: the files of the page, and the data of the user."""

import csv
import io
import math
import re
import threading
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from ..kernels.lines import MISSING
from .bundle import WEB

HOST, PORT = "127.0.0.1", 5006
MOST_BYTES = 2_000_000
TYPES = {".js": "text/javascript", ".wasm": "application/wasm"}


def set_names() -> list[str]:
    """Return the names of the built-in sets of the page."""
    source = (WEB / "sets.js").read_text(encoding="utf-8")
    table = source[source.index("export const SETS") : source.index("export const OPTIONS")]
    return re.findall(r'^\s+"?([\w-]+)"?: \{ words', table, re.MULTILINE)


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of the page, and a table under its name; writes no log."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | TYPES

    def __init__(self, *args: Any, table: bytes | None, name: str, **options: Any) -> None:
        self.table, self.name = table, name
        super().__init__(*args, directory=str(WEB), **options)

    def do_GET(self) -> None:
        """Send a file of the page, or the table."""
        if not self.is_own_host():
            self.send_error(403, "This page is for this computer only.")
        elif unquote(self.path) == f"/{self.name}" and self.table is not None:
            self.send_response(200)
            self.send_header("Content-Type", "text/csv; charset=utf-8")
            self.send_header("Content-Length", str(len(self.table)))
            self.end_headers()
            self.wfile.write(self.table)
        else:
            super().do_GET()

    def is_own_host(self) -> bool:
        """Whether the request names this computer, so that no other site can read the table."""
        name = self.headers.get("Host", "").rsplit(":", 1)[0]
        return name in ("127.0.0.1", "localhost")

    def end_headers(self) -> None:
        """Let browsers ask again for files that may have changed."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        """Write nothing."""


def read_state(data: str) -> str:
    """Return the page's state, its address after the #, for a set or a file of points."""
    if data in set_names():
        return f"data={data}"
    from . import MOST_POINTS, Lab, lab  # which stand on this

    X, y = read_points(data)
    if len(y) > MOST_POINTS:
        some = [k * len(y) // MOST_POINTS for k in range(MOST_POINTS)]
        print(f"The lab draws {MOST_POINTS:,} of the {len(y):,} rows of {data}, evenly spread.")
        X, y = [X[k] for k in some], [y[k] for k in some]
    made: Lab = lab(X, y)
    return made.address


def read_points(path: str) -> tuple[list[list[float]], list[str]]:
    """Return the first two columns of numbers of a file, and its labels."""
    text = read_table(path).decode("utf-8-sig")
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    header, *rows = csv.reader(io.StringIO(text), delimiter=separator)
    if separator != ",":
        rows = [[write_point(cell) for cell in row] for row in rows]
    named = [j for j, name in enumerate(header) if name.lower() in ("label", "class", "target")]
    label = named[0] if named else len(header) - 1
    numbers = [
        j
        for j in range(len(header))
        if j != label and all(is_number(row[j]) or row[j] in MISSING for row in rows)
    ]
    if len(numbers) < 2:
        raise ValueError(
            f"{path} has fewer than two columns that the lab can draw: beside the label, plain "
            "numbers in every row (84.41, not $84.41)."
        )
    first, second = numbers[:2]
    rows = [row for row in rows if not {row[first], row[second], row[label]} & set(MISSING)]
    return [[float(row[first]), float(row[second])] for row in rows], [row[label] for row in rows]


def write_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point."""
    found = re.fullmatch(r"([+-]?(?:\d{1,3}(?:[. ]\d{3})+|\d+)),(\d+)", cell.strip())
    return f"{re.sub('[. ]', '', found[1])}.{found[2]}" if found else cell


def is_number(text: str) -> bool:
    """Whether a cell holds a number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def make_server(data: str, port: int | None = None) -> tuple[ThreadingHTTPServer, str]:
    """Return a server of the page, and the page's address with a set or a file."""
    table, name, state = None, "", f"#data={data}"
    if data not in set_names():
        table = read_table(data)
        name = f"{Path(data).stem}.csv"
        state = f"#table={quote(name)}"
    handler = partial(Handler, table=table, name=name)
    try:
        server = ThreadingHTTPServer((HOST, PORT if port is None else port), handler)
    except OSError:
        if port is not None:
            raise ValueError(
                f"Port {port} is taken; choose another, or none for any that is free."
            ) from None
        server = ThreadingHTTPServer((HOST, 0), handler)
    return server, f"http://{HOST}:{server.server_port}/{state}"


def serve(data: str, port: int | None = None, browser: bool = True) -> None:
    """Serve the page until Ctrl-C."""
    server, address = make_server(data, port)
    print(f"The lab is at {address} (Ctrl-C ends it).", flush=True)
    if browser:
        threading.Timer(0.2, webbrowser.open, [address]).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nThe lab is closed.", flush=True)
    finally:
        server.server_close()


def read_table(path: str) -> bytes:
    """Return a file as CSV: as it is, or its columns of numbers and its label."""
    file = Path(path)
    if not file.is_file():
        names = ", ".join(set_names())
        raise ValueError(f"There is no file and no set {path!r}; the sets are {names}.")
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(
            f"{path} has {size / 1e6:.1f} MB; the lab takes files up to {MOST_BYTES / 1e6:.0f} MB. "
            "Take some of the rows, or use rosenblatt train for all of them."
        )
    if file.suffix.lower() in (".csv", ".tsv"):
        return file.read_bytes()
    return convert_table(path)


def convert_table(path: str) -> bytes:
    """Return the numbers and labels of any file that ``rosenblatt train`` reads as CSV."""
    import numpy as np

    from ..data.rows import to_dense
    from ..reading.reader import read, read_matrix

    reader = read(path, dtype=np.float64, scale="none")
    X, labels = read_matrix(reader)
    X = to_dense(X)
    named = [name for name, _ in reader.columns or ()]
    columns = named if len(named) == X.shape[1] else [f"column {j + 1}" for j in range(X.shape[1])]
    header = ",".join([*(quote_cell(name) for name in columns), "label"])
    rows = zip(X.tolist(), labels.tolist(), strict=True)
    lines = (",".join([*map(repr, row), quote_cell(str(label))]) for row, label in rows)
    return "\n".join([header, *lines, ""]).encode()


def quote_cell(text: str) -> str:
    """Quote a cell of a CSV file if it needs quotes."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\n]', text) else text

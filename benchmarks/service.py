"""How much can be asked of a service that learns, and does its memory stay flat?

python benchmarks/service.py                        # some two minutes
python benchmarks/service.py --quick                # to see that it runs
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from measure import parser, table

import rosenblatt

COLUMNS = [f"f{k}" for k in range(75)]
CLIENTS = 8
TICK = 1e6 / os.sysconf("SC_CLK_TCK")  # microseconds
PAGE = os.sysconf("SC_PAGE_SIZE") / 1e6  # megabytes


def made_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of 75 numbers with labels that are mostly learnable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 75)).round(4)
    y = X @ np.random.default_rng(1).standard_normal(75) + rng.standard_normal(count) > 0
    return [
        dict(zip(COLUMNS, row, strict=True)) | {"label": "yes" if one else "no"}
        for row, one in zip(X.tolist(), y.tolist(), strict=True)
    ]


def requests(path: str, rows: list[dict[str, Any]], at_once: int) -> list[bytes]:
    """Requests of a number of rows each, ready to be sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    parts = [rows[begin : begin + at_once] for begin in range(0, len(rows), at_once)]
    bodies = [json.dumps(part[0] if at_once == 1 else part) for part in parts]
    return [f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode() for body in bodies]


class Connection:
    """Sends requests one after the other and reads the answers."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def ask(self, sent: bytes) -> None:
        """Send a request and read its answer."""
        self.socket.sendall(sent)
        status, size = self.answers.readline(), 0
        while (line := self.answers.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                size = int(line[15:])
        body = self.answers.read(size)
        if status[9:12] not in (b"200", b"202"):
            raise RuntimeError((status + body).decode())


class Service:
    """The service as a process."""

    def __init__(self, path: Path, *options: str) -> None:
        command = [sys.executable, "-m", "rosenblatt", "serve", str(path), "--port", "0", *options]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.seconds = time.perf_counter() - self.begun
        self.port = int(line.partition("http://")[2].partition("/")[0].rpartition(":")[2])

    def cpu(self) -> float:
        """The CPU time that it has used, in microseconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def memory(self) -> float:
        """The megabytes that are resident."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        self.process.send_signal(number)
        self.process.communicate(timeout=60)


@contextmanager
def served(path: Path, *options: str) -> Iterator[Service]:
    """A service that ends with the block."""
    service = Service(path, *options)
    try:
        yield service
    finally:
        service.end()


def new_model(path: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    """A model that knows the columns and little else."""
    rows = made_rows(200, seed=5) if rows is None else rows
    rosenblatt.save(rosenblatt.train(rows, label="label", max_iter=1), path)
    return path


def load(port: int, sent: list[bytes], seconds: float) -> list[float]:
    """The times of all answers to eight clients, which are threads."""
    times: list[float] = []

    def run(first: int) -> None:
        connection, until, number = Connection(port), time.perf_counter() + seconds, first
        while (start := time.perf_counter()) < until:
            connection.ask(sent[number % len(sent)])
            times.append(time.perf_counter() - start)
            number += 1

    threads = [threading.Thread(target=run, args=(k,)) for k in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


# The table


def learning(folder: Path, seconds: float) -> Iterator[tuple[str, ...]]:
    """Examples a second, one by one and in batches."""
    with served(new_model(folder / "one"), "--learn") as service:
        for at_once, asked in ((1, 3_000), (1000, 50_000)):
            sent = requests("/learn", made_rows(4000), at_once)
            load(service.port, sent, min(1.0, seconds))  # once, to warm up
            before, times = service.cpu(), load(service.port, sent, seconds)
            rate, used = at_once * len(times) / seconds, (service.cpu() - before) / len(times)
            what = f"/learn, {at_once:,} row{'s'[: at_once > 1]} a request, {CLIENTS} clients"
            note = f"{used:,.0f} µs of CPU a request, p99 {np.quantile(times, 0.99) * 1e3:.1f} ms"
            yield what, f"{rate:,.0f} rows/s", f"≥ {asked:,} rows/s", note


def predicting(folder: Path, batches: int) -> Iterator[tuple[str, ...]]:
    """CPU time of predictions of one row and of 100, of few columns and of many."""
    for at_once, width, asked in ((1, 75, 220), (100, 4, 350), (100, 75, 350)):
        rows = narrowed(made_rows(200 * at_once, seed=2), width)
        with served(new_model(folder / f"two{at_once}.{width}", rows[:200])) as service:
            connection, sent, used = (
                Connection(service.port),
                requests("/predict", rows, at_once),
                [],
            )
            for _ in range(batches):
                before = service.cpu()
                for one in sent:
                    connection.ask(one)
                used.append((service.cpu() - before) / len(sent))
        what = f"/predict, {at_once} row{'s'[: at_once > 1]} of {width} columns, CPU"
        note = f"median of {batches} batches: {np.median(used):.0f} µs"
        yield what, f"{min(used):.0f} µs", f"≤ {asked} µs", note


def narrowed(rows: list[dict[str, Any]], width: int) -> list[dict[str, Any]]:
    """Rows with their first columns and the label."""
    return [{name: row[name] for name in (*COLUMNS[:width], "label")} for row in rows]


def starting(folder: Path) -> Iterator[tuple[str, ...]]:
    """The time from the start of the process until it answers."""
    path, times = new_model(folder / "three"), []
    for _ in range(3):
        with served(path, "--learn") as service:
            Connection(service.port).ask(requests("/predict", made_rows(1), 1)[0])
            times.append(time.perf_counter() - service.begun)
    note = f"slowest of 3: {max(times):.1f} s"
    yield "first answer, kernels compiled before", f"{min(times):.2f} s", "≤ 1.5 s", note


def lasting(folder: Path, examples: int, each: int = 1000) -> Iterator[tuple[str, ...]]:
    """Memory while many short examples are learnt, and the time of a restart."""
    rows = narrowed(made_rows(10 * each, seed=4), 4)
    path = new_model(folder / "four", rows[:200])
    service = Service(path, "--learn")
    sent, connection, points = requests("/learn", rows, each), Connection(service.port), []
    begun = time.perf_counter()
    for number in range(examples // each):
        if number % max(examples // each // 10, 1) == 0:
            points.append(service.memory())
        connection.ask(sent[number % len(sent)])
    rate, last = examples / (time.perf_counter() - begun), service.memory()
    service.end(signal.SIGKILL)
    with served(path, "--learn") as again:
        seconds = again.seconds
    what = f"{examples:,} examples: memory at the start, after a tenth, at the end"
    found = f"{points[0]:.0f}, {points[1]:.0f}, {last:.0f} MB"
    yield what, found, "flat", f"one client, {rate:,.0f} rows/s"
    yield "restart after kill -9", f"{seconds:.1f} s", "under 5 s", ""


def main() -> None:
    made = parser(__doc__ or "")
    made.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    made.add_argument("--examples", type=int, default=1_000_000, help="to learn at length")
    chosen = made.parse_args()
    quick, folder = chosen.quick, Path(tempfile.mkdtemp(dir=os.environ.get("SERVICE_FOLDER")))
    parts: list[Callable[[], Iterator[tuple[str, ...]]]] = [
        lambda: learning(folder, 0.5 if quick else chosen.seconds),
        lambda: predicting(folder, 5 if quick else 50),
        lambda: starting(folder),
        lambda: lasting(folder, 20_000 if quick else chosen.examples),
    ]
    try:
        table(("what", "found", "asked", ""), *(row for part in parts for row in part()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

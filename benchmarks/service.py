"""How much can be asked of a service that learns, and what survives when it is killed?

python benchmarks/service.py                        # some ten minutes
python benchmarks/service.py --memory               # ten million examples, some minutes
python benchmarks/service.py --quick                # to see that it runs
"""

import importlib.util
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from measure import parser, table

import rosenblatt
from rosenblatt.service.log import Log
from rosenblatt.service.model import ServedModel
from rosenblatt.service.replay import Replay, log_path
from rosenblatt.storage.file import save_model

COLUMNS = [f"f{k}" for k in range(75)]
CLIENTS = 8
HALF_OPEN = 1000  # connections that send half a header
GET = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
VW = "import sys, vowpalwabbit; vowpalwabbit.Workspace(arg_list=sys.argv[1:]).run_parser()"


# What is sent


def made_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of 75 numbers with labels that are mostly learnable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 75)).round(4)
    y = X @ np.random.default_rng(1).standard_normal(75) + rng.standard_normal(count) > 0
    return [
        dict(zip(COLUMNS, row, strict=True)) | {"label": "yes" if one else "no"}
        for row, one in zip(X.tolist(), y.tolist(), strict=True)
    ]


def request(path: str, body: bytes, key: str = "") -> bytes:
    """A request, ready to be sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Idempotency-Key: {key}\r\n" if key else ""
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def requests(path: str, rows: list[dict[str, Any]], at_once: int) -> list[bytes]:
    """Requests of so many rows each."""
    parts = [rows[begin : begin + at_once] for begin in range(0, len(rows), at_once)]
    return [request(path, json.dumps(part[0] if at_once == 1 else part).encode()) for part in parts]


# A client over one connection


class Connection:
    """Sends requests one after the other and reads the answers."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def ask(self, sent: bytes) -> tuple[int, bytes]:
        """The status and body of an answer."""
        self.socket.sendall(sent)
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].lower()
        at = head.index(b"content-length:") + 15
        size = int(head[at : (head + b"\r\n").index(b"\r\n", at)])
        while len(data) < end + 4 + size:
            data += self.more()
        self.rest = data[end + 4 + size :]
        return int(head[9:12]), data[end + 4 : end + 4 + size]

    def more(self) -> bytes:
        """What came next."""
        some = self.socket.recv(1 << 16)
        if not some:
            raise ConnectionError("The service closed the connection.")
        return some


def one_client(job: tuple[int, list[bytes], float, float]) -> list[float]:
    """Send requests for so many seconds, at some rate or as fast as answers come; the times."""
    port, sent, seconds, rate = job
    connection, times = Connection(port), []
    begun = time.perf_counter()
    number = 0
    while (now := time.perf_counter()) < begun + seconds:
        if rate and now < begun + number / rate:
            time.sleep(begun + number / rate - now)
        start = time.perf_counter()
        status, body = connection.ask(sent[number % len(sent)])
        times.append(time.perf_counter() - start)
        if status not in (200, 202):
            raise RuntimeError(f"{status} {body.decode()}")
        number += 1
    return times


def load(port: int, jobs: list[tuple[list[bytes], float]], seconds: float) -> list[list[float]]:
    """The times of all answers to clients, in processes of their own (two, threads in each)."""
    given = [(port, sent, seconds, rate) for sent, rate in jobs]
    halves = [given[: len(given) // 2], given[len(given) // 2 :]]
    with multiprocessing.get_context("fork").Pool(len(halves)) as pool:
        found = pool.map(several_clients, halves)
    return [times for half in found for times in half]


def several_clients(jobs: list[tuple[int, list[bytes], float, float]]) -> list[list[float]]:
    """Clients in threads."""
    results: list[list[float]] = [[] for _ in jobs]

    def run(number: int) -> None:
        results[number] = one_client(jobs[number])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# The service


class Service:
    """A service in a process of its own."""

    def __init__(self, path: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "rosenblatt", "serve", str(path), "--port", "0"]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | environment,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.seconds = time.perf_counter() - self.begun
        self.port = int(line.partition("http://127.0.0.1:")[2].partition("/")[0])

    def cpu(self) -> float:
        """Microseconds of CPU that the process has used."""
        return time.clock_gettime(~self.process.pid << 3 | 2) * 1e6  # its clock, as in Linux

    def memory(self) -> float:
        """Resident memory in megabytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def about(self) -> dict[str, Any]:
        """What /model says."""
        found: dict[str, Any] = json.loads(Connection(self.port).ask(GET % b"/model")[1])
        return found

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        self.process.send_signal(number)
        self.process.wait(60)


@contextmanager
def served(path: Path, *options: str) -> Iterator[Service]:
    """A service that ends with the block."""
    service = Service(path, *options)
    try:
        yield service
    finally:
        service.end()


def new_model(path: Path) -> Path:
    """A model that knows the columns and little else."""
    rosenblatt.save(rosenblatt.train(made_rows(200, seed=5), label="label", max_iter=1), path)
    return path


def p99(times: list[list[float]]) -> float:
    """What 99 of 100 answers take at most, in milliseconds."""
    return float(np.quantile(np.concatenate(times), 0.99)) * 1e3


# The table


def learning(folder: Path, seconds: float) -> list[tuple[str, ...]]:
    """Examples a second, one by one and in batches."""
    cells = []
    with served(new_model(folder / "one"), "--learn") as service:
        for at_once, asked in ((1, 3_000), (1000, 50_000)):
            sent = requests("/learn", made_rows(4000), at_once)
            jobs = [(sent[k % len(sent) :] + sent[: k % len(sent)], 0.0) for k in range(CLIENTS)]
            load(service.port, jobs, min(1.0, seconds))  # once, to warm up
            times = load(service.port, jobs, seconds)
            rate = at_once * sum(map(len, times)) / seconds
            what = f"/learn, {at_once:,} row{'s'[: at_once > 1]} a request, {CLIENTS} clients"
            cells.append((what, f"{rate:,.0f} rows/s", f"{asked:,} rows/s", f"{p99(times):.1f} ms"))
    return cells


def predicting(folder: Path, seconds: float) -> list[tuple[str, ...]]:
    """Predictions while it learns: how many, and how long at half of that."""
    with served(new_model(folder / "two"), "--learn") as service:
        rows = made_rows(1000, seed=2)
        sent, taught = requests("/predict", rows, 1), (requests("/learn", rows, 1), 20.0)
        fastest = load(service.port, [*[(sent, 0.0)] * CLIENTS, taught], seconds)[:CLIENTS]
        most = sum(map(len, fastest)) / seconds
        half = [(sent, most / 2 / CLIENTS)] * CLIENTS
        times = load(service.port, [*half, taught], seconds)[:CLIENTS]
        rate = sum(map(len, times)) / seconds
    what = f"/predict, one row, {CLIENTS} clients, while learning"
    return [
        (what, f"{most:,.0f} /s", "", f"{p99(fastest):.1f} ms"),
        ("the same at half of that", f"{rate:,.0f} /s", "p99 under 10 ms", f"{p99(times):.1f} ms"),
    ]


def one_row(folder: Path, batches: int) -> list[tuple[str, ...]]:
    """CPU time of a prediction of one row, and the time of the first answer."""
    path = new_model(folder / "cpu")
    sent = requests("/predict", made_rows(200, seed=2), 1)
    first = []
    for _ in range(3):
        with served(path) as service:
            Connection(service.port).ask(sent[0])
            first.append((time.perf_counter() - service.begun, service.cpu() / 1e6))
    used = []
    with served(path) as service:
        connection = Connection(service.port)
        for _ in range(batches):
            before = service.cpu()
            for one in sent:
                connection.ask(one)
            used.append((service.cpu() - before) / len(sent))
    best, median = min(used), float(np.median(used))
    first_answer = "{:.1f} s, {:.1f} s of CPU".format(*min(first))
    what = "/predict, one row: CPU, best and median of batches"
    return [
        (what, f"{best:.0f} µs, {median:.0f} µs", "200 µs", ""),
        ("first answer, kernels compiled before", first_answer, "2.5 s", ""),
    ]


def slow_clients(folder: Path, seconds: float) -> list[tuple[str, ...]]:
    """Predictions beside connections that send half a header."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    jobs = [(requests("/predict", made_rows(200, seed=2), 1), 50.0)] * 4
    with served(new_model(folder / "slow")) as service:
        load(service.port, jobs, min(1.0, seconds))  # once, to warm up
        alone = p99(load(service.port, jobs, seconds))
        held = []
        for _ in range(HALF_OPEN):
            one = socket.create_connection(("127.0.0.1", service.port), 10)
            one.sendall(b"POST /predict HTTP/1.1\r\nHost: 127")
            held.append(one)
        beside = p99(load(service.port, jobs, min(seconds, 5.0)))
        for one in held:
            one.close()
    what = f"/predict, 200 a second, beside {HALF_OPEN:,} half-open connections"
    return [(what, f"{beside - alone:+.1f} ms", "p99 +20 ms", f"{beside:.1f} ms")]


def against_vw(folder: Path, seconds: float) -> list[tuple[str, ...]]:
    """Vowpal Wabbit's daemon over its own protocol: a line there, a line back."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("Without Vowpal Wabbit: pip install vowpalwabbit to compare with it.")
        return []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--daemon", "--foreground", "--quiet", "--num_children", "1", "--port", str(port)]
    daemon = subprocess.Popen(
        [sys.executable, "-c", VW, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # it has a child, which is to end with it
    )
    try:
        rate = lines_a_second(connected_to(port), seconds)
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait(10)
    return [("vw --daemon, its own protocol, one client", f"{rate:,.0f} /s", "", "")]


def connected_to(port: int) -> socket.socket:
    """A connection to a daemon that is about to start."""
    for _ in range(200):
        with suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        time.sleep(0.1)
    raise RuntimeError("vw --daemon did not start.")


def lines_a_second(connection: socket.socket, seconds: float) -> float:
    """How many rows are predicted a second, one after the other."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    lines = [
        ("| " + " ".join(f"{name}:{row[name]}" for name in COLUMNS) + "\n").encode()
        for row in made_rows(1000, seed=2)
    ]
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        connection.sendall(lines[count % len(lines)])
        answer = b""
        while not answer.endswith(b"\n"):
            some = connection.recv(4096)
            if not some:
                raise ConnectionError("vw --daemon closed the connection.")
            answer += some
        count += 1
    return count / (time.perf_counter() - begun)


class Load:
    """Clients that learn and predict until the service is gone.

    A request that was refused or not answered is sent again with the same key, also to the next
    service.
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows, self.numbers = rows, [0] * CLIENTS
        self.acknowledged: dict[int, str] = {}
        self.refused = 0

    def start(self, port: int) -> None:
        """Send requests to a service."""
        self.port = port
        self.threads = [threading.Thread(target=self.run, args=(k,)) for k in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, client: int) -> None:
        """One client."""
        with suppress(OSError, ValueError):
            connection = Connection(self.port)
            while True:
                number = self.numbers[client]
                mark = f"{client}.{number}"
                body = json.dumps(self.rows[number % len(self.rows)] | {"mark": mark}).encode()
                status, answer = connection.ask(request("/learn", body, mark))
                if status == 202:
                    self.acknowledged[json.loads(answer)["sequence"]] = mark
                    self.numbers[client] += 1
                else:
                    self.refused += 1
                    time.sleep(0.002)
                connection.ask(request("/predict", body))

    def wait(self) -> None:
        """Wait until the service is gone."""
        for thread in self.threads:
            thread.join()


class Audit:
    """Compares what was acknowledged with the log, and the model with a replay of the log."""

    def __init__(self, path: Path) -> None:
        self.path, self.begun = path, path.read_bytes()
        self.load = Load(made_rows(2000, seed=3))
        self.lost = self.twice = self.differing = 0
        self.offline: ServedModel | None = None

    def check(self, service: Service) -> None:
        """Count what is lost, learnt twice, or differs, in a service without requests."""
        log = Log(log_path(self.path), writes=False)
        marks: dict[int, str] = {}
        for entries in log.entries(0):
            marks |= {one.sequence: json.loads(one.text)["mark"] for one in entries}
        self.offline = Replay(log).run(self.offline or Replay(log).rebuild(0))
        log.close()
        known = self.load.acknowledged.items()
        self.lost += sum(marks.get(number) != mark for number, mark in known)
        self.twice += len(marks) - len(set(marks.values()))
        other = self.path.with_name("offline")
        save_model(other, self.offline.model())
        got = Connection(service.port).ask(GET % b"/model.safetensors")[1]
        self.differing += got != other.read_bytes() and got != self.begun

    def report(self, what: str) -> list[tuple[str, ...]]:
        """What was found."""
        count = len(self.load.acknowledged)
        if not count:
            raise RuntimeError("Nothing was acknowledged before the faults.")
        found = f"{count:,} acknowledged, {self.lost} lost, {self.twice} twice"
        return [(what, f"{found}, {self.differing} models differ", "0, 0, 0", "")]


def kill(folder: Path, kills: int) -> list[tuple[str, ...]]:
    """Kill the service at random moments under load."""
    audit, chance = Audit(new_model(folder / "three")), random.Random(0)
    for round_ in range(kills + 1):
        service = Service(audit.path, "--learn", "--save-seconds", "0.2")
        audit.check(service)
        if round_ == kills:
            service.end()
            break
        audit.load.start(service.port)
        time.sleep(chance.uniform(0.05, 1.0))
        service.end(signal.SIGKILL)
        audit.load.wait()
    return audit.report(f"{kills} x kill -9, {CLIENTS} clients learning and predicting")


def fail_syncs(folder: Path, errors: int) -> list[tuple[str, ...]]:
    """Let syncs fail at random moments under load."""
    library, switch = folder / "fail_sync.so", folder / "fail"
    source = Path(__file__).with_name("fail_sync.c")
    if shutil.which("gcc") is None:
        print("Without gcc: no sync can be made to fail.")
        return []
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    audit, chance = Audit(new_model(folder / "five")), random.Random(1)
    environment = {"LD_PRELOAD": str(library), "FAIL_SYNC_IF": str(switch)}
    service = Service(audit.path, "--learn", "--save-seconds", "0.2", **environment)
    audit.load.start(service.port)
    for _ in range(errors):
        time.sleep(chance.uniform(0.2, 0.6))
        before = audit.load.refused
        switch.touch()
        while audit.load.refused == before and service.process.poll() is None:
            time.sleep(0.005)
        switch.unlink()
    time.sleep(0.5)
    service.end(signal.SIGKILL)
    audit.load.wait()
    service = Service(audit.path, "--learn")
    audit.check(service)
    service.end()
    return audit.report(f"{errors} sync errors under load, then kill -9")


def lasting(folder: Path, examples: int, each: int = 1000) -> list[tuple[str, ...]]:
    """Memory while many examples are learnt, and the time of a restart.

    The rows are short, so that the log of ten million takes about a gigabyte.
    """
    path, names = folder / "four", [*COLUMNS[:4], "label"]
    rows = [{name: row[name] for name in names} for row in made_rows(10 * each, seed=4)]
    rosenblatt.save(rosenblatt.train(rows[:200], label="label", max_iter=1), path)
    service = Service(path, "--learn")
    sent, connection = requests("/learn", rows, each), Connection(service.port)
    points, begun = [], time.perf_counter()
    for number in range(examples // each):
        if number % max(examples // each // 10, 1) == 0:
            points.append(service.memory())
            seconds = time.perf_counter() - begun
            print(f"{number * each:12,} examples: {points[-1]:.0f} MB, {seconds:.0f} s", flush=True)
        status, body = connection.ask(sent[number % len(sent)])
        if status != 202:
            raise RuntimeError(f"{status} {body.decode()}")
    points.append(service.memory())
    rate = examples / (time.perf_counter() - begun)
    service.end(signal.SIGKILL)
    again = Service(path, "--learn")
    learnt = again.about()["sequence"]
    again.end()
    size = log_path(path).stat().st_size / 1e9
    what = f"{learnt:,} examples, {each:,} a request: memory at start, after a tenth, at the end"
    found = " MB, ".join(f"{points[k]:.0f}" for k in (0, 1, -1))
    return [
        (what, f"{found} MB", "flat", f"{rate:,.0f} rows/s"),
        (
            f"restart after kill -9 ({size:.2f} GB of log)",
            f"{again.seconds:.1f} s",
            "under 5 s",
            "",
        ),
    ]


def main() -> None:
    made = parser(__doc__ or "")
    made.add_argument("--kills", type=int, default=100, help="how often it is killed")
    made.add_argument("--errors", type=int, default=20, help="how often a sync fails")
    made.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    made.add_argument("--examples", type=int, default=1_000_000, help="to learn at length")
    made.add_argument("--memory", action="store_true", help="only learn ten million examples")
    chosen = made.parse_args()
    quick = chosen.quick
    seconds = 0.5 if quick else chosen.seconds
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("SERVICE_FOLDER")))
    parts: list[Callable[[], list[tuple[str, ...]]]] = [
        lambda: learning(folder, seconds),
        lambda: predicting(folder, seconds),
        lambda: one_row(folder, 5 if quick else 100),
        lambda: slow_clients(folder, seconds),
        lambda: against_vw(folder, seconds),
        lambda: kill(folder, 1 if quick else chosen.kills),
        lambda: fail_syncs(folder, 2 if quick else chosen.errors),
        lambda: lasting(folder, 20_000 if quick else chosen.examples),
    ]
    if chosen.memory:
        parts = [lambda: lasting(folder, 100_000 if quick else 10_000_000, 10_000)]
    cells: list[tuple[str, ...]] = [("what", "found", "asked", "p99")]
    try:
        for part in parts:
            cells += part()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table(*cells)


if __name__ == "__main__":
    main()

"""The process of the service: its socket, threads and signals."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

try:
    from uvloop import new_event_loop
except ImportError:  # Windows
    from asyncio import new_event_loop  # type: ignore[assignment]

from ..access import Tokens
from ..data.results import count
from ..storage.file import load_model
from .app import Limits, Service
from .connection import Server
from .learning import Keeping, Learning
from .model import ServedModel

SWITCH = 0.0005  # seconds; more would let small requests wait for large ones
WATCH = 1.0  # seconds between two checks of the model file
GRACE = 10  # seconds for open requests when the service ends
ENDING = (signal.SIGTERM, signal.SIGINT)
RELOADING = (signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()  # not on Windows


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    keeping: Keeping | None = None,
    limits: Limits | None = None,
    tokens: Tokens | None = None,
    json_logs: bool = False,
) -> int:
    """Serve a model until SIGTERM or Ctrl-C; then learn and write what is left.

    Returns the exit status: 1 if the learning thread ended before.

    Parameters
    ----------
    path
        The model file.
    host, port
        Where; port 0 is any that is free.
    keeping
        How examples are learnt and kept; None to predict only.
    limits, tokens
        The size of requests and the number of connections, and who may send them.
    json_logs
        Whether messages are JSON, with one for each request.
    """
    os.umask(0o077)  # examples and models may be private
    say = say_json if json_logs else say_text
    listening = bind_socket(host, port)
    service = Service(None, None, limits, tokens, say, log_request if json_logs else None)

    def load() -> None:
        learning = None
        if keeping is not None:
            learning = Learning(path, keeping, say)
            if keeping.most_classes is not None:
                learning.served.check_growing()
                learning.served.most_classes = keeping.most_classes
            learning.start()
            service.attach(lambda: learning.predictor, learning)
        else:
            watcher = ModelWatcher(path, say)
            watcher.start()
            service.attach(lambda: watcher.current, None)
        gc.collect()
        gc.freeze()  # what is loaded stays, and need not be searched again for garbage
        print_address(path, listening, service)

    try:
        run(service, listening, load)
    finally:
        listening.close()
        if service.learning is not None:
            service.learning.stop()
    if service.learning is None:
        return 0
    say(f"{path} has learnt {count(service.learning.served.sequence, 'example')}.")
    return int(service.learning.has_died)


class ModelWatcher(threading.Thread):
    """Loads a model again whenever its file has been replaced.

    ``current`` is replaced as a whole, so that a request sees one model.
    """

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        super().__init__(name="rosenblatt-watcher", daemon=True)
        self.path, self.say = path, say
        self.stamp = 0, 0
        self.load()

    def load(self) -> None:
        """Load the model if its file has another inode or time."""
        found = self.path.stat()
        stamp, before = (found.st_ino, found.st_mtime_ns), self.stamp
        if stamp != before:
            self.stamp = stamp  # before the model: one that comes meanwhile is loaded next time
            self.current = ServedModel(load_model(self.path), str(self.path)).make_predictor()
            if any(before):
                self.say(f"{self.path} was replaced; the service uses the new model.")

    def run(self) -> None:
        """Check the file every second."""
        while True:
            time.sleep(WATCH)
            self.check_file()

    def check_file(self) -> None:
        """Load the model again if its file was replaced; keep the old one if that fails."""
        try:
            self.load()
        except (OSError, ValueError) as error:
            self.say(f"{error} The service keeps the model that it has.")


def print_address(path: Path, listening: socket.socket, service: Service) -> None:
    """Print the address of the service."""
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    learns = "predicts only, with the newest model of that name"
    if service.learning is not None:
        learns = f"learns, from example {service.current().served.sequence + 1:,} on"
    print(f"{path} is served at http://{name}:{port}/ and {learns} (Ctrl-C ends it).", flush=True)


# The socket


def bind_socket(host: str, port: int) -> socket.socket:
    """Listen to a port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        sentence = f"{host}:{port} cannot be listened to: {error.strerror}. Choose another port."
        raise ValueError(sentence) from None


# The loop


def run(service: Service, listening: socket.socket, load: Callable[[], None]) -> None:
    """Load the model, and answer requests until a signal; then finish open requests.

    While the model is loaded and the log is replayed, health checks are answered.
    """
    sys.setswitchinterval(SWITCH)
    server = Server(service, service.limits.connections, service.note_refusal)

    async def main() -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()

        def end(number: int) -> None:
            if not service.is_loaded:  # nothing is to be finished, and a log is left as it is
                os._exit(128 + number)
            service.stopping = True
            stopped.set()

        def handle(number: int, frame: Any) -> None:
            with suppress(RuntimeError):  # the loop has ended, and the rest is being learnt
                loop.call_soon_threadsafe(end if number in ENDING else service.reload, number)

        for number in (*ENDING, *RELOADING):
            signal.signal(number, handle)
        answering = asyncio.create_task(server.serve(listening, stopped, GRACE))
        try:
            await asyncio.to_thread(load)
        except BaseException:
            stopped.set()
            await answering
            raise
        await answering

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())


# Messages to the operator


def say_text(sentence: str) -> None:
    """Write a message as text."""
    print(f"rosenblatt: {sentence}", file=sys.stderr, flush=True)


def say_json(sentence: str) -> None:
    """Write a message as an object."""
    write_json({"level": "info", "message": sentence})


def log_request(entry: dict[str, Any]) -> None:
    """Write what is known of an answered request."""
    level = "error" if entry["status"] >= 500 else "info"
    write_json({"level": level, "message": "request"} | entry)


def write_json(entry: dict[str, Any]) -> None:
    """Write an object with its time as one line."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(msgspec.json.encode({"time": now} | entry).decode(), file=sys.stderr, flush=True)

"""The process of the service: its socket, threads and signals."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from ..access import Tokens
from ..learners import load_model
from ..learners.linear import LinearLearner
from ..reading.notices import count_rows
from ..storage.file import save_model
from ..storage.model import Model
from ..training.solutions import Average
from .app import Limits, Service
from .asking import Questions, check_asking
from .learning import Keeping, Learning
from .messages import Messages
from .model import GrowthLimits, Predictor, open_model
from .protocol import LimitedProtocol
from .replay import log_path
from .shadow import Shadow

PATIENCE = 3.0  # seconds that a port may be taken by a service that just ended
SWITCH = 0.0005  # seconds; more would let small requests wait for large ones
WATCH = 1.0  # seconds between two checks of the model file
MANY_ROWS = 100  # of an average; the next ten change it by less than a tenth
GRACE = 10  # seconds for open requests when the service ends


@dataclass(frozen=True)
class ServerOptions:
    """How a model is served.

    Attributes
    ----------
    learn
        Whether examples are learnt.
    host, port
        Where; port 0 is any that is free.
    keeping, limits, tokens
        When the model is written, the size of requests, and who may send them.
    grow, growth
        Whether new labels become classes, and how large the model may grow.
    new
        A model to begin with where there is none yet.
    shadow
        A model file that learns the same examples and does not answer.
    ask
        The share of predictions whose labels are asked for, if any.
    json_logs
        Whether messages are JSON, with one for each request.
    """

    learn: bool = False
    host: str = "127.0.0.1"
    port: int = 8080
    keeping: Keeping = field(default_factory=Keeping)
    limits: Limits = field(default_factory=Limits)
    tokens: Tokens = field(default_factory=Tokens)
    grow: bool = False
    growth: GrowthLimits = field(default_factory=GrowthLimits)
    new: Model | None = None
    shadow: Path | None = None
    ask: float | None = None
    json_logs: bool = False


def serve(path: Path, options: ServerOptions) -> int:
    """Serve a model until SIGTERM or Ctrl-C; then learn and write what is left.

    Returns the exit status: 1 if the learning thread ended before.
    """
    os.umask(0o077)  # examples and models may be private
    say = Messages(options.json_logs)
    listening = bind_socket(options.host, options.port)
    log_request = say.log_request if options.json_logs else None
    service = Service(None, None, options.limits, options.tokens, say, log_request)

    def load() -> None:
        create_model(path, options, say)
        learning = make_learning(path, options, say) if options.learn else None
        current = make_source(path, learning, say)
        if options.ask is not None:
            check_asking(current().served)
            service.questions = Questions(options.ask)
        current().served.warm_up()
        if learning is not None:
            learning.start()
        gc.collect()
        gc.freeze()  # what is loaded stays, and need not be searched again for garbage
        service.attach(current, learning)
        print_address(path, listening, service)

    has_failed = False
    try:
        run(service, listening, load)
    finally:
        listening.close()
        learning = service.learning
        if learning is not None:
            has_failed = not learning.is_alive()
            learning.stop()
    if learning is not None:
        say(f"{path} has learnt {count_rows(learning.served.sequence, 'example')}.")
    return int(has_failed)


def create_model(path: Path, options: ServerOptions, say: Messages) -> None:
    """Write the new model, unless there is a model or a log."""
    if options.new is None or path.exists() or log_path(path).exists():
        return
    save_model(path, options.new)
    recipe = options.new.features["recipe"]
    if recipe["scale"] == "none" and any(kind == "number" for _, kind in recipe["columns"]):
        say("Numbers are used unscaled. NAME:number:MEAN:SPREAD scales a column.")


def make_learning(path: Path, options: ServerOptions, say: Messages) -> Learning:
    """Make the learning thread."""
    learning = Learning(path, options.keeping, say)
    note_slow_average(learning.served.learner, say)
    try:
        if options.grow:
            learning.served.check_growing()
            learning.served.grow, learning.served.limits = True, options.growth
        if options.shadow is not None:
            learning.shadow = Shadow(options.shadow, learning.log.path, say)
    except BaseException:
        learning.log.close()
        raise
    return learning


def note_slow_average(learner: Any, say: Callable[[str], None]) -> None:
    """Say that answers by the average over many rows change slowly."""
    state = learner.states[0] if isinstance(learner, LinearLearner) else None
    if isinstance(state, Average) and not state.decay and state.seen >= MANY_ROWS:
        rule = "the rule arow and " if learner.target_kind == "classes" else ""
        say(
            f"The answers are those of an average over {state.seen:,} rows, which new examples "
            f"change slowly. A model trained with {rule}the solution last changes after a few "
            "examples, one with an average decay of 0.001 after about a thousand."
        )


def make_source(path: Path, learning: Learning | None, say: Messages) -> Callable[[], Predictor]:
    """Make the function that returns the newest model: the one that learns, or the file's."""
    if learning is not None:
        return lambda: learning.predictor
    watcher = ModelWatcher(path, say)
    watcher.start()
    return lambda: watcher.current


class ModelWatcher(threading.Thread):
    """Loads a model again whenever its file has been replaced.

    ``current`` is replaced as a whole, so that a request sees one model.
    """

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        super().__init__(name="rosenblatt-watcher", daemon=True)
        self.path, self.say = path, say
        self.stamp, self.current = self.load()

    def load(self) -> tuple[tuple[int, int], Predictor]:
        """The model, and the inode and time of its file."""
        found = self.path.stat()
        served = open_model(load_model(self.path), str(self.path))
        return (found.st_ino, found.st_mtime_ns), served.make_predictor()

    def run(self) -> None:
        """Check the file every second."""
        while True:
            time.sleep(WATCH)
            self.check_file()

    def check_file(self) -> None:
        """Load the model again if its file was replaced; keep the old one if that fails."""
        try:
            found = self.path.stat()
            stamp = found.st_ino, found.st_mtime_ns
            if stamp == self.stamp:
                return
            self.stamp = stamp
            self.stamp, self.current = self.load()
        except (OSError, ValueError) as error:
            self.say(f"{error} The service keeps the model that it has.")
        else:
            self.say(f"{self.path} was replaced; the service uses the new model.")


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
    """Bind a socket; wait a few seconds for a port that another process is releasing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    until = time.monotonic() + PATIENCE
    while True:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, port))
            made.listen(1024)
            made.set_inheritable(True)
            return made
        except OSError as error:
            made.close()
            if time.monotonic() > until:
                raise ValueError(
                    f"{host}:{port} cannot be listened to: {error.strerror}. Choose another port."
                ) from None
        time.sleep(0.1)


# The loop


class Server(uvicorn.Server):
    """Uvicorn without its own handling of signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no handlers."""
        yield


class LogHandler(logging.Handler):
    """Passes the messages of uvicorn on, so that all have one format."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a message on."""
        self.say(self.format(record))


def raise_file_limit() -> None:
    """Raise the limit of open files, and so of connections, to the system's maximum."""
    try:
        import resource
    except ImportError:  # there is no such limit on Windows
        return
    with contextlib.suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def run(service: Service, listening: socket.socket, load: Callable[[], None]) -> None:
    """Load the model, and answer requests until a signal; then finish open requests.

    While the model is loaded and the log is replayed, health checks are answered.
    """
    raise_file_limit()
    LimitedProtocol.metrics = service.metrics
    LimitedProtocol.body_seconds = service.limits.seconds
    LimitedProtocol.most_connections = 4 * max(service.limits.open, 64)
    config = uvicorn.Config(
        service,
        http=LimitedProtocol,
        ws="none",
        access_log=False,
        log_config=None,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        backlog=1024,
    )
    server = Server(config)
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(LogHandler(service.say))
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    sys.setswitchinterval(SWITCH)

    def stop() -> None:
        service.stopping = True
        server.should_exit = True

    async def main() -> None:
        loop = asyncio.get_running_loop()
        if hasattr(signal, "SIGHUP"):  # not on Windows
            loop.add_signal_handler(signal.SIGHUP, service.reload)
        answering = asyncio.create_task(server.serve(sockets=[listening]))
        loading = asyncio.ensure_future(call_in_thread(load))
        received: list[int] = []

        def end(number: int) -> None:
            received.append(number)
            stop()
            if not service.is_loaded:
                loading.cancel()

        for number in (signal.SIGTERM, signal.SIGINT):
            handle_signal(loop, number, end)
        try:
            await loading
        except BaseException as error:
            stop()
            await answering
            if received and isinstance(error, asyncio.CancelledError):
                raise SystemExit(128 + received[0]) from None
            raise
        await answering

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(main())


def handle_signal(
    loop: asyncio.AbstractEventLoop, number: signal.Signals, end: Callable[[int], None]
) -> None:
    """Call a function in the loop when a signal comes."""
    try:
        loop.add_signal_handler(number, end, number)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda received, _: loop.call_soon_threadsafe(end, received))


async def call_in_thread(function: Callable[[], None]) -> None:
    """Call a function in a thread that does not keep the process alive after an interrupt."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def finish(error: BaseException | None) -> None:
        if not future.done():
            future.set_result(None) if error is None else future.set_exception(error)

    def call() -> None:
        try:
            function()
        except BaseException as error:  # raised where the result is waited for
            loop.call_soon_threadsafe(finish, error)
        else:
            loop.call_soon_threadsafe(finish, None)

    threading.Thread(target=call, name="rosenblatt-loading", daemon=True).start()
    await future

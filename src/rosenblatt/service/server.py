"""The process: a socket, the threads behind it, and an orderly end."""

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .app import Doors, Service

try:
    import uvicorn
except ImportError as missing:
    raise ImportError(
        "The service needs starlette and uvicorn: pip install 'rosenblatt[serve]'."
    ) from missing

from ..storage.file import load_model, save_model
from ..storage.model import Model
from .learning import Keeping, Learning, Published, log_of
from .model import ServedModel
from .workers import others

PATIENCE = 3.0  # seconds that a port may be taken by a service that just ended
SWITCH = 0.0005  # seconds, lest a small request waits ten times as long for a large one
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
    keeping, doors
        When the model is written, and who may ask and how much.
    grow
        Whether new labels become classes.
    workers
        How many processes answer; one of them learns.
    new
        A model to begin with where there is none yet.
    """

    learn: bool = False
    host: str = "127.0.0.1"
    port: int = 8080
    keeping: Keeping = field(default_factory=Keeping)
    doors: Doors = field(default_factory=Doors)
    grow: bool = False
    workers: int = 1
    new: Model | None = None


def serve(path: Path, options: ServerOptions) -> None:
    """Serve a model until SIGTERM or Ctrl-C; then learn and write what is left."""
    listening = bound(options.host, options.port)
    try:
        begin(path, options)
        learning = learning_of(path, options) if options.learn else None
        service = service_of(path, options, learning)
        service.served.warm_up()
        if learning is not None:
            learning.start()
        try:
            with others(path, listening, service, options.workers) as inside:
                tell(path, listening, service)
                run(service, [listening, *inside])
        finally:
            if learning is not None:
                learning.stop()
    finally:
        listening.close()
    if learning is not None:
        say(f"{path} has learnt {learning.served.sequence:,} examples.")


def begin(path: Path, options: ServerOptions) -> None:
    """Write the model to begin with, unless there is one."""
    if options.new is None or path.exists() or log_of(path).exists():
        return
    save_model(path, options.new)
    recipe = options.new.features["recipe"]
    if recipe["scale"] == "none" and any(kind == "number" for _, kind in recipe["columns"]):
        say("Numbers are taken as they are; state what they are about as NAME:number:MEAN:SPREAD.")


def learning_of(path: Path, options: ServerOptions) -> Learning:
    """The thread that learns."""
    learning = Learning(path, options.keeping, say)
    if options.grow:
        reason = learning.served.learner.refusal("add_class")
        if reason:
            learning.log.close()
            raise ValueError(f"{path} cannot learn new labels: {reason}.")
        learning.served.grow = True
    return learning


def service_of(path: Path, options: ServerOptions, learning: Learning | None) -> Service:
    """What answers for a model."""
    if learning is not None:
        return Service(learning.served, lambda: learning.published, learning, options.doors)
    served = ServedModel(load_model(path), str(path))
    published = Published(served.published(), served.sequence)
    return Service(served, lambda: published, None, options.doors)


def say(sentence: str) -> None:
    """Tell the one who started the service."""
    print(f"rosenblatt: {sentence}", file=sys.stderr, flush=True)


def tell(path: Path, listening: socket.socket, service: Service) -> None:
    """Say where the service is and what it does."""
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    learns = "predicts only"
    if service.learning is not None:
        learns = f"learns, from example {service.served.sequence + 1:,} on"
    print(f"{path} is served at http://{name}:{port}/ and {learns} (Ctrl-C ends it).", flush=True)


# The socket


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; one that was just left is waited for."""
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
                    f"{host}:{port} cannot be listened to: {error.strerror}."
                ) from None
        time.sleep(0.1)


# The loop


class Server(uvicorn.Server):
    """Uvicorn without its signals: what they mean is decided here."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def run(service: Service, listening: list[socket.socket]) -> None:
    """Answer requests until a signal; then those that are open."""
    config = uvicorn.Config(
        service.app(),
        access_log=False,
        log_level="warning",
        lifespan="off",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        backlog=1024,
        limit_concurrency=4 * max(service.doors.open, 64),  # connections
    )
    server = Server(config)
    sys.setswitchinterval(SWITCH)

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            service.stopping = True
            server.should_exit = True

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
        await server.serve(sockets=listening)

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(main())

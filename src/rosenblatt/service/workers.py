"""Further processes that predict: they take weights from memory, and pass on what is not theirs."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..storage.file import load_model, save_model
from ..storage.model import Model
from .app import Doors, Service
from .learning import Published
from .model import ServedModel

PAUSE = 0.2  # seconds between two looks
LONGEST_END = 30.0  # seconds after which a process that was asked to end is killed
MEMORY = Path("/dev/shm")  # a disk that is memory, where there is one
MAIN = "main.sock"
WEIGHTS = "published.safetensors"


def as_model(served: ServedModel, published: Published) -> Model:
    """Published weights as a model, for other processes."""
    kept = served.kept
    parameters = {**kept.parameters, "solution": "last", "average_decay": 0.0}
    about = {"log": served.log, "sequence": published.sequence}
    learner = published.learner
    return kept._replace(
        parameters=parameters,
        classes=learner.classes,
        states=learner.states,
        facts={**kept.facts, "service": about},
    )


@contextmanager
def others(
    path: Path, listening: socket.socket, service: Service, count: int
) -> Iterator[list[socket.socket]]:
    """Further processes that listen, too; the sockets by which they pass requests on."""
    if count == 1:
        yield []
        return
    where = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where, prefix="rosenblatt-") as name:
        folder = Path(name)
        inside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        inside.bind(str(folder / MAIN))
        inside.listen(1024)
        keeper = Keeper(folder, listening, service, count - 1)
        keeper.write()
        keeper.start()
        try:
            yield [inside]
        finally:
            keeper.end()
            inside.close()


class Keeper(threading.Thread):
    """Hands new weights to the processes, and starts those again that ended."""

    def __init__(
        self, folder: Path, listening: socket.socket, service: Service, count: int
    ) -> None:
        super().__init__(name="rosenblatt-workers", daemon=True)
        self.folder, self.listening, self.service = folder, listening, service
        self.written: Published | None = None
        self.stopping = threading.Event()
        self.processes = [self.started() for _ in range(count)]

    def started(self) -> "subprocess.Popen[bytes]":
        """A new process."""
        settings = {
            "socket": self.listening.fileno(),
            "folder": str(self.folder),
            "doors": asdict(self.service.doors),
            "learns": self.service.learning is not None,
            "parent": os.getpid(),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            pass_fds=[self.listening.fileno()],
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(settings).encode())  # a token is not for the list of words
        process.stdin.close()
        return process

    def write(self) -> None:
        """Put the newest weights where the processes find them."""
        published = self.service.published()
        if published is not self.written:
            save_model(self.folder / WEIGHTS, as_model(self.service.served, published))
            self.written = published

    def run(self) -> None:
        """Look again and again."""
        while not self.stopping.wait(PAUSE):
            with suppress(OSError):  # tried again after the next pause
                self.write()
                for number, process in enumerate(self.processes):
                    if process.poll() is not None:
                        self.processes[number] = self.started()

    def end(self) -> None:
        """End all processes."""
        self.stopping.set()
        self.join()
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(LONGEST_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


# In the further processes


class Follower(threading.Thread):
    """Takes over new weights whenever there are some; ends with the process that learns."""

    def __init__(self, folder: Path, parent: int) -> None:
        super().__init__(name="rosenblatt-weights", daemon=True)
        self.path, self.parent = folder / WEIGHTS, parent
        self.stamp: tuple[int, int] | None = None
        while not self.path.exists() and os.getppid() == parent:
            time.sleep(0.01)
        self.look()

    def look(self) -> None:
        """Take over new weights, if there are some."""
        found = self.path.stat()
        stamp = found.st_ino, found.st_mtime_ns
        if stamp != self.stamp:
            self.served = ServedModel(load_model(self.path), str(self.path))
            self.published = Published(self.served.published(), self.served.sequence)
            self.stamp = stamp

    def run(self) -> None:
        """Look again and again."""
        while os.getppid() == self.parent:
            with suppress(OSError, ValueError):
                self.look()
            time.sleep(PAUSE)
        os._exit(1)  # who learns is gone, and so is the port


async def passed_on(path: str, head: bytes, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """What the process that learns answers to a request."""
    import asyncio

    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
    try:
        writer.write(head + body)
        await writer.drain()
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        content = await reader.read(-1)
    finally:
        writer.close()
    return int(first.split()[1]), headers, content


class Worker(Service):
    """A service that predicts itself, and passes everything else on to the one that learns."""

    def __init__(self, follower: Follower, doors: Doors, folder: Path, learns: bool) -> None:
        super().__init__(follower.served, lambda: follower.published, None, doors)
        self.inside = str(folder / MAIN)

    async def forward(self, request: Any) -> Any:
        """Pass a request on."""
        async with self.admitted(request) as body:
            return await self.answered_inside(request, body)

    async def answered_inside(self, request: Any, body: bytes) -> Any:
        """What the process that learns answers."""
        from starlette.responses import Response

        from .app import Refusal

        names = "host", "content-type", "authorization", "origin"
        given = {name: request.headers[name] for name in names if name in request.headers}
        given |= {"connection": "close", "content-length": str(len(body))}
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        lines = [f"{request.method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in given.items())]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        try:
            status, headers, content = await passed_on(self.inside, head, body)
        except (OSError, EOFError, ValueError):
            raise Refusal(503, "The process that learns does not answer.") from None
        kept = {name: headers[name] for name in ("content-disposition",) if name in headers}
        return Response(content, status, kept, headers.get("content-type"))

    learn = model = model_file = metrics = openapi = health = forward


def main() -> None:
    """Predict until the process that learns is gone."""
    from .server import run

    settings = json.loads(sys.stdin.buffer.read())
    folder = Path(settings["folder"])
    listening = socket.socket(fileno=settings["socket"])
    follower = Follower(folder, settings["parent"])
    worker = Worker(follower, Doors(**settings["doors"]), folder, settings["learns"])
    worker.served.warm_up()
    follower.start()
    run(worker, [listening])


if __name__ == "__main__":
    main()

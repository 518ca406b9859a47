"""The lab's own web server, on this computer only."""

import os
import signal
import socket
import threading
import webbrowser
from typing import Any

try:
    from bokeh.application import Application
    from bokeh.application.handlers import FunctionHandler
    from bokeh.document import Document
    from bokeh.server.server import Server
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from .page import Lab
from .state import State
from .work import Work

PORT = 5006
HOST = "127.0.0.1"
SOON = 1.5  # seconds that a signal may take


def server_of(start: State, port: int | None = None) -> Any:
    """A server of the page, not yet started; without a port the usual one, or a free one."""

    def page(doc: Document) -> None:
        Lab(doc, start)

    number = port if port is not None else free_port(PORT)
    handler = FunctionHandler(page, trap_exceptions=True)
    return Server(
        {"/": Application(handler)},
        address=HOST,
        port=number,
        allow_websocket_origin=[f"{host}:{number}" for host in (HOST, "localhost")],
    )


def free_port(wanted: int) -> int:
    """The wanted port, or if it is taken any that is free."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise ValueError("There is no free port on this computer.")


def address_of(server: Any) -> str:
    """Where the page is."""
    return f"http://{HOST}:{server.port}/"


def serve(start: State, port: int | None = None, browser: bool = True) -> None:
    """Serve the page until Ctrl-C or SIGTERM."""
    if port is not None and free_port(port) != port:
        raise ValueError(f"Port {port} is taken; name another, or none for any that is free.")
    server = server_of(start, port)
    server.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end(server))
    print(f"The lab is at {address_of(server)} (Ctrl-C ends it).", flush=True)
    if browser:
        server.io_loop.add_callback(webbrowser.open, address_of(server))
    server.io_loop.start()
    server.stop()
    if Work.under_way:  # Python would wait for their threads
        os._exit(0)


def end(server: Any) -> None:
    """Leave the server's loop, and if that takes long the process."""
    print("\nThe lab is closed.", flush=True)
    late = threading.Timer(SOON, os._exit, [0])
    late.daemon = True
    late.start()
    server.io_loop.add_callback(server.io_loop.stop)

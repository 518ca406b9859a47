"""The lab's own web server: for this computer, or with a token for a class."""

import os
import signal
import socket
import threading
import webbrowser
from importlib.resources import files
from string import Template
from typing import Any

try:
    from bokeh.application import Application
    from bokeh.application.handlers import FunctionHandler
    from bokeh.document import Document
    from bokeh.server.auth_provider import AuthProvider
    from bokeh.server.server import Server
    from tornado.web import RequestHandler
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from ..access import admits, is_loopback
from .page import Lab
from .state import State
from .work import Work

PORT = 5006
HOST = "127.0.0.1"
COOKIE = "rosenblatt_lab"
SOON = 1.5  # seconds that a signal may take


def door_of(token: str) -> AuthProvider:
    """Lets in who has the token in a cookie, and asks others for it."""

    class Question(RequestHandler):
        """Asks for the token, and gives a cookie for it."""

        def get(self) -> None:
            self.ask("")

        def ask(self, answer: str) -> None:
            page = Template(files(__package__).joinpath("token.html").read_text("utf-8"))
            self.write(page.substitute(answer=answer))

        def post(self) -> None:
            given = self.get_body_argument("token", "").strip()
            if admits(token, given):
                self.set_cookie(COOKIE, given, httponly=True, samesite="Strict")
                self.redirect("/")
            else:
                self.set_status(401)
                self.ask("That is not the token.")

    class Door(AuthProvider):  # type: ignore[misc]
        """The question, and who need not be asked."""

        login_url, login_handler = "/token", Question

        @property
        def get_user(self) -> Any:
            def user(handler: RequestHandler) -> str | None:
                return "visitor" if admits(token, handler.get_cookie(COOKIE, "")) else None

            return user

    return Door()


def server_of(
    start: State, port: int | None = None, host: str = HOST, token: str | None = None
) -> Any:
    """A server of the page, not yet started; without a port the usual one, or a free one."""

    def page(doc: Document) -> None:
        Lab(doc, start)

    number = port if port is not None else free_port(PORT, host)
    names = (host, HOST, "localhost") if is_loopback(host) else ("*",)
    handler = FunctionHandler(page, trap_exceptions=True)
    return Server(
        {"/": Application(handler)},
        address=host,
        port=number,
        allow_websocket_origin=[f"{name}:{number}" for name in names],
        **({} if token is None else {"auth_provider": door_of(token)}),
    )


def free_port(wanted: int, host: str = HOST) -> int:
    """The wanted port, or if it is taken any that is free."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise ValueError("There is no free port on this computer.")


def address_of(server: Any) -> str:
    """Where the page is."""
    return f"http://{server.address}:{server.port}/"


def serve(
    start: State,
    port: int | None = None,
    browser: bool = True,
    host: str = HOST,
    token: str | None = None,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM, to others than this computer only with a token."""
    if token is None and not is_loopback(host):
        raise ValueError(f"Others can reach {host}; a token is needed.")
    if port is not None and free_port(port, host) != port:
        raise ValueError(f"Port {port} is taken; name another, or none for any that is free.")
    server = server_of(start, port, host, token)
    server.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end(server))
    asked = "" if token is None else "visitors are asked for the token; "
    print(f"The lab is at {address_of(server)} ({asked}Ctrl-C ends it).", flush=True)
    if browser:
        server.io_loop.add_callback(webbrowser.open, address_of(server))
    server.io_loop.start()
    server.stop()
    if Work.under_way:  # Python would wait for their threads
        os._exit(0)


def end(server: Any) -> None:
    """Leave the server's loop, and if that takes long the process, whatever printing does."""
    late = threading.Timer(SOON, os._exit, [0])
    late.daemon = True
    late.start()
    loop = server.io_loop.asyncio_loop
    loop.call_soon_threadsafe(loop.stop)  # else it would sleep on until something happens
    print("\nThe lab is closed.", flush=True)

"""Doors: whom a server lets in."""

import hmac
import ipaddress
from pathlib import Path

LEAST_LETTERS = 16


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(path: Path) -> str:
    """The token that a file holds."""
    token = path.read_text("utf-8").strip()
    if len(token) < LEAST_LETTERS or not token.isascii() or not token.isprintable():
        raise ValueError(f"{path} must hold a token of {LEAST_LETTERS} or more ASCII letters.")
    return token


def admits(token: str | None, given: str) -> bool:
    """Whether one who gives this may come in, told in the same time whatever is given."""
    return token is None or hmac.compare_digest(given.encode(), token.encode())

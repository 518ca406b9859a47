"""Access to a server: loopback addresses and tokens."""

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
    """Read a token from a file."""
    token = path.read_text("utf-8").strip()
    if len(token) < LEAST_LETTERS or not token.isascii() or not token.isprintable():
        raise ValueError(f"{path} must hold a token of {LEAST_LETTERS} or more ASCII letters.")
    return token


def admits(token: str | None, given: str) -> bool:
    """Compare a token with the one that is required, in constant time."""
    return token is None or hmac.compare_digest(given.encode(), token.encode())

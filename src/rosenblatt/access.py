"""Access to a server: loopback addresses, and tokens with roles."""

import hmac
import ipaddress
from pathlib import Path

LEAST_LETTERS = 16
ROLES = ("predict", "learn", "admin")  # each may also do what those before it may


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_tokens(path: Path) -> dict[bytes, str]:
    """Read the tokens of a file, one per line, each with its role.

    A line is a token that allows everything, or a role and its token.
    """
    found = {}
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    for line in filter(None, lines) if any(lines) else [""]:
        first, _, rest = line.partition(" ")
        role, token = (first, rest.strip()) if first in ROLES else (ROLES[-1], line)
        if len(token) < LEAST_LETTERS or not token.isascii() or not token.isprintable():
            raise ValueError(
                f"{path} must hold tokens of {LEAST_LETTERS} or more ASCII letters, one per line, "
                f"each alone or after one of {', '.join(ROLES)}."
            )
        found[token.encode()] = role
    return found


class Tokens:
    """The tokens that requests may send, each with its role.

    Parameters
    ----------
    path
        The file with the tokens; without one, every request is admitted.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.roles = path, {} if path is None else read_tokens(path)

    def reload(self) -> None:
        """Read the file again; if it cannot be read, the old tokens stay."""
        self.roles = {} if self.path is None else read_tokens(self.path)

    def find_role(self, given: str) -> str:
        """The role of a token, or "" if it is unknown; the time does not depend on the token."""
        if not self.roles:
            return ROLES[-1]
        found = ""
        for token, role in self.roles.items():
            if hmac.compare_digest(given.encode(), token):
                found = role
        return found


def includes(role: str, needed: str) -> bool:
    """Whether a role may do what another role may."""
    return ROLES.index(role) >= ROLES.index(needed)

"""Access to a server: loopback addresses, and tokens with roles."""

import hmac
import ipaddress
from collections.abc import Mapping
from pathlib import Path

LEAST_LETTERS = 16
ROLES = ("predict", "learn", "admin")  # each may also do what those before it may


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_tokens(path: Path) -> tuple[str, ...]:
    """Read the tokens of a file, one per line."""
    lines = path.read_text("utf-8").splitlines()
    tokens = tuple(line.strip() for line in lines if line.strip())
    for token in tokens or ("",):
        if len(token) < LEAST_LETTERS or not token.isascii() or not token.isprintable():
            raise ValueError(
                f"{path} must hold tokens of {LEAST_LETTERS} or more ASCII letters, one per line."
            )
    return tokens


class Tokens:
    """The tokens that requests may send, each with its role.

    Parameters
    ----------
    files
        The file with the tokens of each role; without any, every request is admitted.
    """

    def __init__(self, files: Mapping[str, Path] | None = None) -> None:
        self.files = dict(files or {})
        self.roles = self.read()

    def read(self) -> dict[bytes, str]:
        """Read all files: the role of each token."""
        return {
            token.encode(): role
            for role in ROLES
            if role in self.files
            for token in read_tokens(self.files[role])
        }

    def reload(self) -> None:
        """Read all files again; if one cannot be read, the old tokens stay."""
        self.roles = self.read()

    def find_role(self, given: str) -> str:
        """The role of a token, or "" if it is unknown; the time does not depend on the token."""
        if not self.files:
            return ROLES[-1]
        found = ""
        for token, role in self.roles.items():
            if hmac.compare_digest(given.encode(), token):
                found = role
        return found


def includes(role: str, needed: str) -> bool:
    """Whether a role may do what another role may."""
    return ROLES.index(role) >= ROLES.index(needed)

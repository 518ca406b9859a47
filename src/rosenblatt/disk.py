"""Atomic replacement of files, temporary files, and readable errors of the system."""

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from .parameters import InputError

READERS_BLOCK = sys.platform == "win32"  # it refuses to replace a file that someone reads
PATIENCE = 2.0  # seconds


def refuse_all_but_files(path: str | os.PathLike[str]) -> None:
    """Refuse folders, devices and pipes: reading may never end, and replacing does harm."""
    kind = ""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            kind = "folder" if stat.S_ISDIR(mode) else "device or pipe"
    except OSError as error:
        kind = "loop of links" if error.errno == errno.ELOOP else ""
    if kind:
        raise InputError(
            f"{path} is a {kind}; give the name of a file.", code="not-a-file", file=str(path)
        )


@contextmanager
def explain_errors(path: str | os.PathLike[str], action: str) -> Iterator[None]:
    """Turn errors of the operating system into sentences about a file.

    >>> with explain_errors("data.csv", "read"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    PermissionError: data.csv could not be read: permission denied.
    """
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        reason = error.strerror[:1].lower() + error.strerror[1:]
        raise type(error)(f"{path} could not be {action}: {reason}.") from error


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file that replaces another once it is complete and on disk."""
    refuse_all_but_files(path)
    target = Path(path).resolve()  # a link stays a link
    temporary = temporary_beside(target)
    try:
        with explain_errors(path, "written"):
            temporary.touch(exist_ok=False)
            mode = temporary.stat().st_mode  # that of any new file; safetensors may make it private
            yield temporary
            temporary.chmod(mode)
            sync(temporary)
            move_over(temporary, target)
            with suppress(PermissionError):  # some systems do not open folders
                sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def move_over(temporary: Path, target: Path) -> None:
    """Rename a file to a name that another file may have; on Windows, wait for its readers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return os.replace(temporary, target)
        except PermissionError:
            if not READERS_BLOCK or time.monotonic() > end:
                raise
            time.sleep(0.05)


def temporary_beside(path: Path) -> Path:
    """A name that nothing has yet, on the same disk; it begins with the name of the file."""
    return path.with_name(f"{temporary_prefix(path)}{token_hex(8)}.part")


def temporary_prefix(path: Path) -> str:
    """How the names of temporary files begin that are to replace a file."""
    short = path.name.encode()[:200].decode(errors="ignore")  # a name has at most 255 bytes
    return f".{short}."


def remove_temporaries(path: Path, age: float = 0.0) -> None:
    """Remove temporary files that killed processes left, if they are ``age`` seconds old.

    No other process may be writing the file.
    """
    target = path.resolve()
    pattern = re.compile(re.escape(temporary_prefix(target)) + r"[0-9a-f]{16}\.part")
    for one in target.parent.iterdir() if target.parent.is_dir() else ():
        if pattern.fullmatch(one.name) and one.stat().st_mtime <= time.time() - age:
            one.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

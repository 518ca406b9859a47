"""Kernels of other packages: their compiled code stays on disk until these kernels change."""

import hashlib
from pathlib import Path
from typing import Any


def hash_kernels() -> str:
    """Hash all files of kernels."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def stamp_foreign_kernel(kernel: Any) -> None:
    """Make Numba's disk cache of another package's kernel also depend on the text of these kernels.

    It may contain them: otherwise it would still contain old ones after an update of this package.
    These names are private to Numba; where they are missing, or nothing is kept, nothing is done.
    """
    kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp") and not kernel.__module__.startswith(__package__):
        stamp = hash_kernels()
        kept._source_stamp = str(kept._source_stamp).removesuffix(stamp) + stamp

"""What classes inherit from scikit-learn, in a site that does not have scikit-learn's pages."""

import re
from typing import Any

ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")
ROLE = re.compile(r":[\w:]+:`~?([^`<]+?)(?: *<[^`]*>)?`")


def skip_routing(app: Any, what: str, name: str, *_: Any) -> bool | None:
    """Leave out the methods of metadata routing, which would be a third of each page."""
    return True if ROUTING.fullmatch(name) else None


def flatten_roles(
    app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    """Make plain text of scikit-learn's references to its own pages."""
    if (getattr(found, "__module__", None) or "").startswith("sklearn"):
        lines[:] = ROLE.sub(r"``\1``", "\n".join(lines)).split("\n")


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("autodoc-process-docstring", flatten_roles, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

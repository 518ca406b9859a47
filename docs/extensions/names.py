"""Public names in the prose of pages lead to their place in the reference."""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

import rosenblatt

CALL = re.compile(r"(?:rosenblatt\.)?(\w+)(?:\(.*\))?")


def public_name(text: str) -> str:
    """The public name that a piece of code is about, if it is a class, a call or in full.

    A word alone may be a parameter or an option as well: ``margin``, ``train``.
    """
    match = CALL.fullmatch(text)
    name = match[1] if match else ""
    plain = text == name and not name[:1].isupper()
    return "" if plain or name.startswith("_") or name not in rosenblatt.__all__ else name


def link_names(app: Any, doctree: nodes.document) -> None:
    """Link the first mention of each name on a page."""
    met: set[str] = set()
    if app.env.docname.startswith("reference/") or app.env.docname == "changelog":
        return
    for literal in list(doctree.findall(nodes.literal)):
        name = public_name(literal.astext())
        if not name or name in met or not isinstance(literal.parent, nodes.paragraph | nodes.entry):
            continue
        met.add(name)
        target = {"refdomain": "py", "reftype": "obj", "reftarget": f"rosenblatt.{name}"}
        link = addnodes.pending_xref("", refdoc=app.env.docname, refexplicit=True, **target)
        literal.replace_self(link)
        link += literal


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The navigation: a page that lists others is their parent, so that lists are written once.

``index.md`` and the pages of sections are plain lists of links, which read as such on a code host.
Here every list item that begins with a link to a page puts that page into a hidden toctree.
"""

import re
from pathlib import PurePosixPath
from typing import Any

ITEM = re.compile(r"^[-|] *\*{0,2}\[[^\]]+\]\((?P<page>[\w./-]+)\.(?:md|rst)\)", re.MULTILINE)
TOCTREE = "\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def add_toctree(app: Any, docname: str, source: list[str]) -> None:
    """Put the pages that a section lists below it."""
    if docname not in app.config.sections:
        return
    folder = PurePosixPath("/", docname).parent
    listed = dict.fromkeys(item["page"] for item in ITEM.finditer(source[0]))
    pages = "\n".join(str(folder / page) for page in listed)
    source[0] += TOCTREE.format(pages=pages)


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.add_config_value("sections", [], "env")
    app.connect("source-read", add_toctree)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

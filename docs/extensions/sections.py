"""The navigation: the home page lists every page once, under the headings of the navigation.

``index.md`` is a plain list of links, which reads as such on a code host. Here the pages that its
list items begin with become hidden toctrees, one for each heading.
"""

import re
from pathlib import PurePosixPath
from typing import Any

HEADING = re.compile(r"^## +(?P<heading>.+)$", re.MULTILINE)
ITEM = re.compile(r"^- *\[[^\]]+\]\((?P<page>[\w./-]+)\.(?:md|rst)\)", re.MULTILINE)
TOCTREE = "\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```\n"


def add_toctrees(app: Any, docname: str, source: list[str]) -> None:
    """Put the pages that a section of the home page lists into the navigation."""
    if docname != app.config.root_doc:
        return
    folder = PurePosixPath("/", docname).parent
    _, *parts = HEADING.split(source[0])
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        listed = dict.fromkeys(item["page"] for item in ITEM.finditer(text))
        pages = "\n".join(str(folder / page) for page in listed)
        source[0] += TOCTREE.format(heading=heading, pages=pages)


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("source-read", add_toctrees)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

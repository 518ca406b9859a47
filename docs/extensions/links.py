"""Check the built site: no dead links, nothing loaded from other hosts, no bare object reprs."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.errors import ExtensionError

BARE = re.compile(r"<\w[\w.]* object at 0x[0-9a-f]+>")
"""What Python prints for an object without a representation."""
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "video": "src"}
"""What a browser fetches without being asked."""


class Page(HTMLParser):
    """The anchors of a page, its links, what it loads, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.text = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        given = dict(attributes)
        self.places |= {value for name in ("id", "name") if (value := given.get(name))}
        loaded = given.get(LOADED.get(tag, ""))
        if loaded and given.get("rel") != "canonical":
            self.loads.add(loaded)
        if tag == "a" and given.get("href"):
            self.links.add(given["href"] or "")

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.text += data


def problems(site: Path) -> Iterator[str]:
    """What is wrong with a site."""
    pages = {
        path.resolve(): Page(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        yield from (f"{name} shows {bare}" for bare in BARE.findall(page.text))
        for link in sorted(page.loads | page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    yield f"{name} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists():
                yield f"{name} links to {link}, which is not there"
            elif target.parent.name == "lab":
                continue  # behind the # is a state of the lab, which tests/lab opens
            elif place and target in pages and place not in pages[target].places:
                yield f"{name} links to {link}, whose place is not there"


def check(app: Any, failure: Exception | None) -> None:
    """Refuse a site with problems."""
    if failure is None and app.builder.format == "html":
        found = list(problems(Path(app.outdir)))
        if found:
            raise ExtensionError("\n".join(found))


def setup(app: Any) -> dict[str, Any]:
    """Register the check."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

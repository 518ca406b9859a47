"""Pages of source code, and links to a file or to a name in one that are checked by the build.

A page links to ``../src/rosenblatt/data/rows.py`` as on a code host, and with ``#rows_of`` after it
to a definition; that is a place in the page of the file, wherever it stands now. A file or a name
that is gone is a warning, hence an error.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src"
SCHEME = "repository:"
PAGES = {
    "../CHANGELOG.md": "/changelog.md",
    "../CONTRIBUTING.md": "/contributing.md",
    "../README.md": "/index.md",
    "../examples/course": "/course/index.rst",
    "../examples/gallery": "/gallery/index.rst",
}
"""What stands outside of docs/ and is a page of the site."""
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(gallery|course)/(\w+)\.py\)")
FOLDERS, ENDINGS = "src|examples|tests|benchmarks|proofs", "py|v|ml"
LINK = re.compile(rf"\]\((?P<up>(?:\.\./)+)(?P<path>(?:{FOLDERS})/[\w/.-]+\.(?:{ENDINGS}))\b")
LANGUAGES = {".py": "python", ".v": "coq", ".ml": "ocaml"}
COQ_NAME = re.compile(r"^(?:Definition|Fixpoint|Inductive|Record|Lemma|Theorem|Corollary) (\w+)")
MARGIN = re.compile(r'(<a id="L-(\d+)")')

log = logging.getLogger(__name__)


def page_of(path: Path) -> str:
    """The name of the page with a file's code."""
    return "source/" + path.relative_to(ROOT).with_suffix("").as_posix()


@cache
def definitions(path: Path) -> dict[str, int]:
    """The line of every class, function and constant of a file; of Coq, of every definition."""
    lines: dict[str, int] = {}
    if path.suffix != ".py":
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if found := COQ_NAME.match(line):
                lines[found[1]] = number
        return lines

    def look(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = [*node.decorator_list, node][0]
                lines[prefix + node.name] = first.lineno
                look(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if isinstance(target, ast.Name):
                    lines[prefix + target.id] = node.lineno

    look(ast.parse(path.read_text("utf-8")).body, "")
    return lines


def mark_links(app: Any, docname: str, source: list[str]) -> None:
    """Give links into the repository a scheme of their own, which the parser leaves alone."""
    text = EXAMPLE.sub(r"](/\1/\2.rst)", source[0])
    app.env.source_files |= {match["path"] for match in LINK.finditer(text)}
    text = LINK.sub(rf"]({SCHEME}\g<path>", text)
    for outside, page in PAGES.items():
        text = text.replace(f"]({outside})", f"]({page})")
    source[0] = text


def resolve_links(app: Any, doctree: nodes.document, docname: str) -> None:
    """Lead links into the repository to pages of source code."""
    for link in doctree.findall(nodes.reference):
        uri = link.get("refuri", "")
        if uri.startswith(SCHEME):
            file, _, name = uri.removeprefix(SCHEME).partition("#")
            path = ROOT / file
            if not path.exists() or (name and name not in definitions(path)):
                log.warning("there is no %s", uri.removeprefix(SCHEME), location=link)
                continue
            target = app.builder.get_relative_uri(docname, page_of(path))
            link["refuri"] = target + (f"#{name}" if name else "")


def source_of(domain: str, info: dict[str, str]) -> str | None:
    """Where the code of a name in the reference stands, seen from its page."""
    found: Any = sys.modules[info["module"]]
    for part in info["fullname"].split("."):
        found = inspect.getattr_static(found, part, None) or getattr(found, part, None)
    if isinstance(found, classmethod | staticmethod):
        found = found.__func__
    found = inspect.unwrap(getattr(found, "fget", None) or getattr(found, "fn", None) or found)
    module, name = getattr(found, "__module__", None) or "", getattr(found, "__qualname__", "")
    if not module.startswith("rosenblatt"):
        return None
    path = PACKAGE / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return f"../../{page_of(path)}.html#{name}" if name in definitions(path) else None


def source_pages(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The code of the package, and of what was linked besides."""
    linked = {ROOT / name for name in app.env.source_files}
    files = set(PACKAGE.rglob("*.py")) | {path for path in linked if path.exists()}
    for path in sorted(files):
        shown = path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()
        body = f"<h1>{shown}</h1>{marked(app, path)}"
        yield page_of(path), {"title": shown, "body": body}, "source.html"


def marked(app: Any, path: Path) -> str:
    """A file's code in colours, with a place to link to at every line and definition."""
    names: dict[int, list[str]] = {}
    for name, line in definitions(path).items():
        names.setdefault(line, []).append(name)

    def with_names(match: re.Match[str]) -> str:
        here = names.get(int(match[2]), [])
        return "".join(f'<span id="{name}"></span>' for name in here) + match[1]

    language = LANGUAGES[path.suffix]
    code = app.builder.highlighter.highlight_block(
        path.read_text("utf-8"), language, linenos="inline", lineanchors="L", anchorlinenos=True
    )
    return MARGIN.sub(with_names, code)


def remember(app: Any, env: Any, *_: Any) -> None:
    """Have a list of the files that pages link to."""
    if not hasattr(env, "source_files"):
        env.source_files = set()


def merge(app: Any, env: Any, docnames: Any, other: Any) -> None:
    """Take over what another process has read."""
    env.source_files |= other.source_files


def hide_sidebar(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Give code the whole width of its page."""
    if name.startswith("source/"):
        context["sidebars"] = []


def setup(app: Any) -> dict[str, Any]:
    """Register the extension."""
    app.connect("env-before-read-docs", remember)
    app.connect("env-merge-info", merge)
    app.connect("source-read", mark_links)
    app.connect("doctree-resolved", resolve_links)
    app.connect("html-collect-pages", source_pages)
    app.connect("html-page-context", hide_sidebar, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

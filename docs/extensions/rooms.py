"""A picture of the rooms, made from the import contract of pyproject.toml and from the imports.

Each line of boxes is a layer of the contract. A box says, with the first sentence of its module,
what the room is for; the rooms that it imports are found in its code.
"""

import ast
import html
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from rosenblatt.slices import SLICES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rosenblatt"
UNSHOWN = {"__main__"}
LOOP = {"training", "kernels"}  # where the loop over epochs and that over rows are


class Rooms(SphinxDirective):
    """The layers from top to bottom."""

    def run(self) -> list[nodes.Node]:
        """Draw them."""
        self.env.note_dependency(str(ROOT / "pyproject.toml"))
        layers = "".join(layer(rooms, self.env.docname.count("/")) for rooms in contract())
        return [nodes.raw("", f'<div class="rooms">{layers}</div>', format="html")]


def contract() -> list[list[str]]:
    """The rooms of each layer, the highest first."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (layers,) = (
        one["layers"] for one in declared["tool"]["importlinter"]["contracts"] if "layers" in one
    )
    found = [[name.strip() for name in re.split("[|:]", line)] for line in layers]
    return [shown for rooms in found if (shown := [r for r in rooms if r not in UNSHOWN])]


def layer(rooms: list[str], depth: int) -> str:
    """A line of boxes."""
    return f'<div class="layer">{"".join(box(room, depth) for room in rooms)}</div>'


def box(room: str, depth: int) -> str:
    """A room: its name, what it is for, and what it imports."""
    files = files_of(room)
    purpose = (ast.get_docstring(ast.parse(files[0].read_text("utf-8"))) or "").partition("\n")[0]
    below = ", ".join(sorted(imports(files) - {room}))
    kind = "room slice" if room in SLICES else f"room {'loop' if room in LOOP else ''}".strip()
    first = files[0].relative_to(ROOT).with_suffix("").as_posix()
    name = room if len(files) == 1 else f"{room}/"
    return (
        f'<a class="{kind}" href="{"../" * depth}source/{first}.html"><b>{name}</b>'
        f"<span>{html.escape(purpose)}</span>"
        f"<small>{'imports ' + below if below else 'imports no other room'}</small></a>"
    )


def files_of(room: str) -> list[Path]:
    """The files of a room, beginning with the one that says what it is for."""
    folder = PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imports(files: list[Path]) -> set[str]:
    """The rooms that files import, at the top or within functions, but not for types alone."""
    return {
        room
        for path in files
        for node in executed(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
        for room in reached(path, node)
    }


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """A piece of code and all in it, without what is only for type checkers."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield from executed(child)


def reached(path: Path, node: ast.ImportFrom) -> list[str]:
    """The rooms that a relative import leads to."""
    package = [*path.relative_to(PACKAGE).parts[:-1]]
    above = package[: len(package) - node.level + 1] if len(package) >= node.level - 1 else []
    target = [*above, *(node.module or "").split(".")] if node.module else above
    names = [target[0]] if target else [alias.name for alias in node.names]
    return [name for name in names if (PACKAGE / name).is_dir() or is_file(name)]


def is_file(name: str) -> bool:
    """Whether a room is one file."""
    return (PACKAGE / name).with_suffix(".py").exists()


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

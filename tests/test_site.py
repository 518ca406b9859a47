"""What makes the site: links that are checked, the picture of the rooms, names, commands."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytest.importorskip("sphinx", reason="the site is made by Sphinx")


@pytest.fixture
def extension(monkeypatch):
    """Imports one of docs/extensions."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    names = {path.stem for path in ROOT.glob("docs/extensions/*.py")}
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


PAGE = '<a id="top" href="{}"></a><script src="{}"></script>'


@pytest.mark.parametrize(
    ("link", "script", "said"),
    [
        ("b.html#here", "own.js", []),
        ("#top", "own.js", []),
        ("https://elsewhere.org", "own.js", []),
        ("c.html", "own.js", ["a.html links to c.html, which is not there"]),
        ("b.html#x", "own.js", ["a.html links to b.html#x, whose place is not there"]),
        ("#top", "https://cdn.org/x.js", ["a.html loads https://cdn.org/x.js"]),
    ],
)
def test_links_that_lead_nowhere_and_scripts_from_elsewhere_are_found(
    extension, tmp_path, link, script, said
):
    (tmp_path / "a.html").write_text(PAGE.format(link, script))
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "own.js").write_text("")
    assert list(extension("links").problems(tmp_path)) == said


def test_a_page_that_shows_a_bare_object_is_found(extension, tmp_path):
    (tmp_path / "a.html").write_text("<pre>&lt;matplotlib.legend.Legend object at 0x7f1c&gt;</pre>")
    (problem,) = extension("links").problems(tmp_path)
    assert problem == "a.html shows <matplotlib.legend.Legend object at 0x7f1c>"


def test_the_picture_shows_every_room_above_those_that_it_imports(extension):
    rooms = extension("rooms")
    layers = rooms.contract()
    height = {room: -place for place, layer in enumerate(layers) for room in layer}
    for room in height:
        below = rooms.imports(rooms.files_of(room)) - {room}
        assert all(height[other] < height[room] for other in below)
    assert {"kernels", "training"} <= rooms.imports(rooms.files_of("estimators"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("AROW", "AROW"),
        ("separability(X, y)", "separability"),
        ("rosenblatt.train", "train"),
        ("margin", ""),
        ("rosenblatt train", ""),
        ("coef_", ""),
    ],
)
def test_names_that_can_mean_but_one_thing_are_linked(extension, text, name):
    assert extension("names").public_name(text) == name


def test_every_command_and_option_is_in_the_reference(extension):
    commands = extension("commands")
    for command in commands.list_commands():
        page = "\n".join(commands.describe(command))
        options = [name for one in command.params for name in one.opts]
        assert all(name in page for name in options if name.startswith("-"))


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_pages_of_the_repository_are_included_with_their_links_into_docs(page):
    """A plain include would leave their links to docs/ dangling on the site."""
    text = (ROOT / "docs" / page.lower()).read_text("utf-8")
    assert text == f"```{{include}} ../{page}\n:relative-docs: docs\n```\n"

"""Every state of the lab that a page, a lesson or the tour links to opens and learns."""

import html
import re
from pathlib import Path

import pytest

from .test_engine import WEB, pytestmark, run_cases  # noqa: F401

ROOT = Path(__file__).parents[2]
STATE = re.compile(r"""lab/index\.html(?:\?embed)?#([^"\s)]+)""")
LESSON = re.compile(r"^# \.\. lab:: .*\n#\n((?:#    .*\n)+)", re.MULTILINE)
TOUR = re.compile(r"""[`"](data=[^`"]+)[`"]""")


def find_states():
    """All states by where they are linked."""
    for page in sorted(ROOT.glob("docs/**/*.md")):
        for state in STATE.findall(page.read_text("utf-8")):
            if not state.startswith("tour="):  # test_docs.py looks these up
                yield page.name, html.unescape(state)
    for lesson in sorted(ROOT.glob("examples/course/*.py")):
        for lines in LESSON.findall(lesson.read_text("utf-8")):
            yield lesson.name, "".join(line[1:].strip() for line in lines.splitlines())
    for state in TOUR.findall((WEB / "tour.js").read_text("utf-8")):
        yield "tour.js", state.replace("${END}", "9999")


def test_states_are_found_everywhere():
    places = [place for place, _ in find_states()]
    assert {"textbook.md", "lab.md", "tour.js"} <= set(places)
    lessons = sorted(path.name for path in ROOT.glob("examples/course/plot_*.py"))
    assert [place for place in places if place.startswith("plot_")] == lessons


def test_every_linked_state_opens_and_learns(tmp_path):
    states = list(find_states())
    cases = [{"kind": "address", "address": state} for _, state in states]
    for (place, state), found in zip(states, run_cases(cases, tmp_path), strict=True):
        assert found["names"] == [], f"{place} links to {state}: the lab does not know these"
        assert found["troubles"] == [], f"{place} links to {state}"


@pytest.mark.parametrize("state", ["data=nothing", "data=xor&order=sideways"])
def test_a_state_that_does_not_open_is_found(tmp_path, state):
    (found,) = run_cases([{"kind": "address", "address": state}], tmp_path)
    assert found["troubles"]

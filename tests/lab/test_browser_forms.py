"""Forms, links, files, the tour and accessibility of the page, in a real browser."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rosenblatt import separability
from rosenblatt.theory.certificates import Separable

from .conftest import SMALL, TWO, execute

pytestmark = pytest.mark.browser


# Forms, links, files


def test_a_line_is_tried_by_hand_and_learning_starts_there(page):
    page.open("data=points&points=2,1,+;1,2,+;-1,-1,-;-2,1,-&order=fixed")
    page.click("try")
    assert "start=" in page.state
    page.js("window.handles = import('./plane.js').then(({handlesOf}) => handlesOf(lab.scene(0)))")
    handles = page.js("return window.handles")
    (foot_x, foot_y), (tip_x, tip_y) = handles["foot"], handles["tip"]
    page.mouse(tip_x, tip_y, drag_to=(foot_x - 1, foot_y + 0.5))
    w1, w2, _ = map(float, page.js("return lab.runs[0].settings.start").split(","))
    assert (w1, w2) == pytest.approx((-1, 0.5), abs=0.06)
    model = execute(page.js("return lab.python"))
    assert page.weights() == pytest.approx([*model.coef_[0], *model.intercept_])
    assert page.js("return lab.runs[0].theorem") is None
    page.click("try")
    assert "start=" not in page.state


STATES = [
    SMALL,
    "data=blobs&size=20&gap=0.1&form=origin&order=once&solution=average&random_state=7",
    "data=blobs&size=20&gap=-0.3&form=bias&intercept_step=radius&ties=positive&max_iter=7&halved=on",
    "data=moons&size=20&form=lifted&third=square&eta0=0.5&margin=0.25&max_iter=9",
    "data=xor&form=kernel&kernel=poly&degree=3&order=fixed",
    "data=circles&size=30&form=kernel&gamma=0.5&solution=average",
    "data=irises&max_iter=5&solution=average",
    "data=three&multi_class=ovr&form=origin&max_iter=4",
    "data=xor&form=network&growth=tower",
    "data=iris&order=worst",
    "data=blobs&size=30&gap=0.1&order=batch&solution=average",
    "data=blobs&size=30&gap=0.1&order=replacement&solution=pocket&random_state=3",
]


@pytest.mark.parametrize("state", STATES)
def test_python_lines_make_exactly_this_run(page, state):
    page.open(state)
    model = execute(page.js("return lab.python"))
    reason, epochs, made = page.js(
        "const {stopReason, epochs, last} = lab.runs[0].trace;"
        "return [stopReason, epochs.length, last]"
    )
    assert model.stop_reason_ == reason
    if "network" in state:
        assert model.n_units_ == made
        return
    updates = model.n_mistakes_
    if "batch" in state:
        updates = sum(epoch.mistakes > 0 for epoch in model.history_)
    assert (model.n_iter_, updates) == (epochs, made)
    if "kernel" not in state and "three" not in state and "irises" not in state:
        assert page.weights() == pytest.approx([*model.coef_[0], *model.intercept_], rel=1e-12)


@pytest.mark.parametrize("state", STATES)
def test_the_address_holds_the_whole_state(page, state):
    page.open(f"{state}&t=3")
    shown, address = page.text("now-0"), page.state
    page.open("data=empty")
    page.open(address)
    assert page.state == address
    assert page.text("now-0") == shown


def test_a_link_opens_the_same_page_anew(page):
    page.open("data=points&points=0.1,-2.5,+;1e-05,3,-;1,1,*&columns=a b;c&classes=ä;b;c&t=2")
    before = page.state
    page.load(f"{page.address}#{before}")
    assert page.state == before
    assert page.js("return lab.found.classes") == ["ä", "b", "c"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("data=nonsense", "no set"),
        ("size=abc", "must be a number"),
        ("data=blobs&size=5000", "from 2 to 1000"),
        ("points=1,2,x", "a point is"),
        ("order=sideways", "must be one of"),
        ("max_iter=0", "from 1 to 1000"),
        ("data=points&points=" + ";".join(["1,2,+"] * 1001), "1,001 points"),
        ("start=1,2", "three numbers"),
    ],
)
def test_a_bad_address_is_refused_in_one_sentence(page, state, words):
    page.open(SMALL)
    before = page.state
    page.js("lab.open(arguments[0]); lab.drawNow()", state)
    assert words in page.message
    assert page.state == before


def test_the_page_saved_as_one_file_learns(page, tmp_path):
    page.open(f"{TWO}&t=1")
    page.click("save-page")
    saved = page.downloaded("perceptron-lab.html")
    assert len(saved) < 300_000
    path = tmp_path / "lab.html"
    path.write_bytes(saved)
    state = page.state
    page.load(path.as_uri())
    assert page.state == state
    assert page.js("return performance.getEntriesByType('resource').length") == 0
    page.mouse(1, -1)
    assert len(page.points()) == 3
    assert page.js("return lab.runs[0].last") >= 1
    page.click("save-page")  # again, from the file itself
    again = page.downloaded("perceptron-lab.html")
    path.write_bytes(again)
    page.load(path.as_uri())
    assert len(page.points()) == 3


def test_the_page_asks_no_other_host(page):
    page.load(page.address)
    page.js(
        "for (let stop = 0; stop < 20; stop++) { lab.visit(stop); lab.drawNow(); }lab.visit(-1)"
    )
    names = page.js("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert len(names) > 10
    assert all(name.startswith((page.address, "data:")) for name in names)


def drop(page, name, text):
    page.js(
        "const transfer = new DataTransfer();"
        "transfer.items.add(new File([arguments[1]], arguments[0]));"
        "document.body.dispatchEvent("
        "new DragEvent('drop', {dataTransfer: transfer, bubbles: true}))",
        name,
        text,
    )


def test_a_file_is_dropped_and_its_columns_chosen(page):
    page.open(SMALL)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3)) * [1, 10, 0.1]
    lines = [f"{a},{b},{c},{'yes' if a > 0 else 'no'}" for a, b, c in rows]
    drop(page, "some.csv", "width,height,depth,class\n" + "\n".join(lines))
    page.until("lab.found.points.length === 30")
    assert page.js("return lab.found.columns") == ["width", "height"]
    assert page.js("return lab.found.classes") == ["yes", "no"]
    assert "stays on this computer" in page.message
    page.choose("drawn-1", "2")
    assert page.js("return lab.found.columns") == ["width", "depth"]
    page.choose("drawn-0", "principal directions")
    assert page.js("return lab.found.columns") == ["first direction", "second direction"]
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    directions = np.linalg.svd(scaled, full_matrices=False)[2][:2]
    found = np.array([point[:2] for point in page.points()])
    np.testing.assert_allclose(np.abs(found), np.abs(scaled @ directions.T), atol=2e-3)


def test_a_thousand_rows_of_a_long_file_are_drawn(page):
    page.open(SMALL)
    drop(page, "long.csv", "x,y,label\n" + "".join(f"{k},2,{k % 2}\n" for k in range(1200)))
    page.until("lab.found.points.length === 1000")
    assert "1,000 of 1,200 rows of long.csv, evenly spread." in page.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y,label\n1,,1\n2,1,0\n", "missing number"),
        ("Once upon a time there was a perceptron.\nIt learnt.\n", "no column of numbers"),
        ("x,y,label\n1,2,1\n2,1,1\n", "one class"),
        ("x,label\n1,0\n2,1\n", "only one column"),
        ("\n", "empty"),
        ("x,y,label\n1,2,1\n2,1\n", "expected 3 columns, got 2"),
        ("x" * 2_000_001, "2.0 MB"),
    ],
)
def test_a_file_that_cannot_be_drawn_is_refused(page, text, words):
    page.open(SMALL)
    before = page.state
    drop(page, "bad.csv", text)
    page.until("!document.getElementById('message').hidden")
    assert words in page.message
    assert page.state == before


def test_points_are_saved_and_read_again(page):
    page.open("data=moons&size=10")
    points = page.points()
    page.click("save-csv")
    text = page.downloaded("points.csv").decode()
    page.open("data=empty")
    drop(page, "points.csv", text)
    page.until("lab.found.points.length === 10")
    assert page.points() == points


ROOT = Path(__file__).parents[2]


def embedded_states():
    """The states with which pages and lessons embed the lab, and where."""
    for path in ROOT.glob("docs/*.md"):
        for state in re.findall(r'lab/index\.html\?embed#([^"]+)', path.read_text("utf-8")):
            yield path, state
    for path in ROOT.glob("examples/course/*.py"):
        for lines in re.findall(r"\.\. lab::.*\n#\n((?:#    .*\n)+)", path.read_text("utf-8")):
            yield path, "".join(line[1:].strip() for line in lines.splitlines())


def test_every_state_that_is_embedded_in_the_documentation_opens(page):
    found = list(embedded_states())
    assert len(found) >= 11
    for path, state in found:
        page.open(state)
        assert page.message == "", path
        assert page.js("return lab.runs.every((run) => !run || run.trace)"), path


# The tour


CONCEPTS = [
    "gradient descent",
    "angle", "sgn(0)", "bias", "η", "order", "(r/γ)²", "margin", "(2r/γ)²", "dual", "gram", "xor",
    "feature", "kernel", "average", "vote", "pass", "noise", "come back", "projection",
]  # fmt: skip


def test_the_tour_has_a_stop_for_every_concept(page):
    tour = page.js("return import('./tour.js').then(({TOUR}) => TOUR)")
    said = " ".join(f"{stop['title']} {stop['text']}" for stop in tour).lower()
    said += json.dumps([stop.get("ways", []) for stop in tour]).lower()
    for concept in CONCEPTS:
        assert concept in said, concept
    named = {
        page_number
        for stop in tour
        for page_number in ("000", "001", "002", "003", "004")
        if page_number in stop["document"]
    }
    assert named == {"000", "001", "002", "003", "004"}


def test_every_stop_of_the_tour_opens(page):
    page.open(SMALL)
    page.click("tour-start")
    count = page.js("return import('./tour.js').then(({TOUR}) => TOUR.length)")
    for number in range(count):
        assert page.text("tour-title").startswith(f"{number + 1} of {count}")
        assert page.message == ""
        assert page.js("return lab.runs.every((run) => !run || run.trace)")
        ways = page.driver.find_elements("css selector", "#tour-ways button")
        for way in ways:
            way.click()
            assert page.message == ""
            assert page.js("return lab.runs.every((run) => !run || run.trace)")
        page.click("tour-next")
    assert not page.driver.find_element("id", "tour").is_displayed()


def test_what_the_tour_says_is_so(page):
    page.open("data=xor&order=fixed&max_iter=12&t=8")
    assert "the same weights" in page.text("now-0")
    page.open("data=500-then-500&gap=0.05&order=fixed&compare=on")
    left, right = page.js("return lab.runs.map((run) => run.trace.epochs.length)")
    assert left > 2 * right
    page.open("data=blobs&size=40&gap=0.1&order=fixed&compare=on&b.order=fixed&b.eta0=0.1")
    assert page.js("return lab.runs[0].trace.row.join() === lab.runs[1].trace.row.join()")
    page.open("data=blobs&size=40&gap=0.15&order=batch&compare=on&b.order=fixed")
    left, right = page.js("return lab.runs.map((run) => run.trace.epochs.length)")
    assert left > right
    page.open("data=blobs&size=30&gap=0.3&order=fixed&compare=on&b.form=origin&b.order=fixed")
    assert page.js("return lab.runs.map((run) => run.verdict.separable)") == [True, False]
    page.open("data=boundary&order=fixed&ties=positive&t=99")
    assert page.js("return lab.runs[0].measure(lab.runs[0].last).margins[4]") == 0


def test_built_in_sets_are_those_of_scikit_learn(page):
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine

    iris, wine, cancer = load_iris(), load_wine(), load_breast_cancer()
    expected = {
        "iris": (iris.data[:, 2:], np.where(iris.target == 0, 0, 1)),
        "irises": (iris.data[:, 2:], iris.target),
        "virginica": (iris.data[50:, 2:], np.where(iris.target[50:] == 2, 0, 1)),
        "wine": (wine.data[:, [0, 6]], np.where(wine.target == 0, 0, 1)),
        "breast-cancer": (cancer.data[:, :2], np.where(cancer.target == 1, 0, 1)),
    }
    for name, (X, y) in expected.items():
        page.open(f"data={name}")
        assert page.points() == [
            [*row, kind] for row, kind in zip(X.tolist(), y.tolist(), strict=True)
        ]


def test_ready_sets_are_what_they_are_called(page):
    page.open("data=origin&gap=0.3")
    X = np.array(page.points())
    assert isinstance(separability(X[:, :2], X[:, 2] == 0, fit_intercept=False), Separable)
    page.open("data=boundary&order=fixed&t=1")
    assert 0 in page.js("return lab.runs[0].measure(1).margins")


# For everybody


def test_points_are_selected_and_moved_by_the_keyboard(page):
    page.open("data=points&points=2,1,+;-1,-1,-&order=fixed")
    page.press("]")
    assert page.js("return lab.selected") == [0]
    assert "Selected row 1" in page.js("return document.getElementById('live').textContent")
    before = page.points()
    page.js(
        "document.getElementById('plane-0').dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'ArrowRight', shiftKey: true, bubbles: true})); lab.drawNow()"
    )
    assert page.points()[0][0] > before[0][0]
    page.press("x")
    assert page.points()[0][2] == 1
    page.press("[")
    assert page.js("return lab.selected") == [1]
    page.press("\ue017")
    assert len(page.points()) == 1
    page.press("n")
    assert len(page.points()) == 2
    page.press("\ue00c")  # escape
    assert page.js("return lab.selected") == []


def test_points_are_placed_by_their_numbers(page):
    page.open("data=empty")
    page.js("document.querySelector('#choices details').open = true")
    page.js("document.getElementById('place-x').value = '-1.5'")
    page.click("place")
    assert page.points() == [[-1.5, 0, 0]]


def test_everything_has_a_name(page):
    page.open(f"{SMALL}&compare=on&panel=space")
    unnamed = page.js(
        "const all = document.querySelectorAll('button, input, select, textarea, canvas');"
        "return [...all]"
        ".filter((each) => each.offsetParent !== null || each.tagName === 'CANVAS')"
        ".filter((each) => !(each.labels?.length || each.textContent.trim()"
        " || each.getAttribute('aria-label'))).map((each) => each.outerHTML.slice(0, 80))"
    )
    assert unnamed == []
    assert page.js("return document.documentElement.lang") == "en"


def test_a_screen_reader_hears_the_rule(page):
    page.open(SMALL)
    page.press("\ue014")
    page.until("document.getElementById('live').textContent.includes('Update 1')")
    assert page.driver.find_element("id", "live").get_attribute("aria-live") == "polite"


def luminance(colour):
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(page, scheme):
    page.emulate(**{"prefers-color-scheme": scheme})
    try:
        page.open(SMALL)
        names = [
            "ground",
            "paper",
            "ink",
            "faint",
            "class0",
            "class1",
            "class2",
            "weights",
            "use",
            "proof",
            "yes",
            "no",
            "accent",
            "on-accent",
        ]
        colours = page.js(
            "const style = getComputedStyle(document.documentElement);"
            "const read = (name) => [name, style.getPropertyValue(`--${name}`).trim()];"
            "return Object.fromEntries(arguments[0].map(read))",
            names,
        )
        for name in ("ink", "faint", "class0", "class1", "class2", "weights", "proof"):
            assert contrast(colours[name], colours["ground"]) >= 4.5, name
        for ground in ("paper", "yes", "no"):
            assert contrast(colours["ink"], colours[ground]) >= 4.5, ground
        assert contrast(colours["use"], colours["ground"]) >= 4.5
        assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
        assert (luminance(colours["ground"]) > 0.5) == (scheme == "light")
        pixel = page.js(
            "const context = document.getElementById('chart').getContext('2d');"
            "return [...context.getImageData(2, 2, 1, 1).data]"
        )
        assert (pixel[0] > 128) == (scheme == "light")
    finally:
        page.emulate()


def test_reduced_motion_is_respected(page):
    page.emulate(**{"prefers-reduced-motion": "reduce"})
    try:
        page.load(page.address)
        assert page.js("return document.getElementById('speed').value") == "1"
    finally:
        page.emulate()
        page.load(page.address)


SIZES = [(1280, 720), (1366, 768), (1920, 1080), (3840, 2160)]
PRESENTED = [
    "data=blobs&size=30&gap=0.15&seed=3&order=fixed&t=3",
    "data=xor&order=fixed&max_iter=20&t=99",
    "data=circles&form=kernel&order=fixed&t=99",
    "data=500-then-500&gap=0.05&order=fixed&compare=on&t=99",
]


@pytest.mark.parametrize(
    ("state", "width", "height"),  # all sizes with the longest texts, the extremes with others
    [(PRESENTED[-1], *size) for size in SIZES]
    + [(state, *size) for state in PRESENTED[:-1] for size in (SIZES[0], SIZES[-1])],
)
def test_present_mode_shows_all_in_large_type(page, state, width, height):
    page.open(state)
    page.resize(width, height)
    try:
        page.js(
            "document.body.classList.add('presenting'); lab.draw(); lab.drawNow();"
            "lab.draw(); lab.drawNow()"
        )
        page.js("window.dispatchEvent(new Event('resize')); lab.drawNow()")
        for identity in ("plane-0", "chart", "verdict", "legend", "title-0", "now-0", "play"):
            box = page.js(
                "const each = document.getElementById(arguments[0]);"
                "const {left, top, right, bottom} = each.getBoundingClientRect();"
                "return [left, top, right, bottom]",
                identity,
            )
            assert box[0] >= 0, identity
            assert box[1] >= 0, identity
            assert box[2] <= width + 1, identity
            assert box[3] <= height + 1, identity
            assert (box[2] - box[0]) * (box[3] - box[1]) > 0, identity
        small = page.js(
            "const all = [...document.querySelectorAll('body *')], least = 0.03 * innerHeight;"
            "return all.filter((each) => each.offsetParent !== null"
            " && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())"
            " && !each.closest('.hidden, svg')"
            " && parseFloat(getComputedStyle(each).fontSize) < least)"
            ".map((each) => each.outerHTML.slice(0, 60))"
        )
        assert small == []
        cut = page.js(
            "return ['told', 'verdict', 'now-0', 'legend', 'title-0'].filter((id) => {"
            " const each = document.getElementById(id);"
            " return each.scrollHeight > each.clientHeight + 2"
            " || each.scrollWidth > each.clientWidth + 2})"
        )
        assert cut == []
        assert page.js(
            "const style = getComputedStyle(document.getElementById('plane-0'));"
            "return parseFloat(style.fontSize) * 0.85 >= 0.03 * innerHeight"
        )
    finally:
        page.js("document.body.classList.remove('presenting')")
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_f_presents_in_full_screen_and_escape_leaves(page):
    page.open(SMALL)
    page.press("f")
    assert page.js("return document.body.classList.contains('presenting')")
    page.press("\ue00c")
    page.until("!document.body.classList.contains('presenting')")


def test_a_phone_shows_the_plane_first_and_nothing_is_wider(page):
    page.open(f"{SMALL}&compare=on")
    page.resize(390, 844, mobile=True)
    try:
        assert page.js("return document.documentElement.scrollWidth") <= 390
        top = page.js("return document.getElementById('plane-0').getBoundingClientRect().top")
        assert top < 300
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

"""Forms, links, files, the tour and accessibility of the page, in a real browser."""

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
    "data=three&form=origin&max_iter=4",
    "data=moons&size=30&form=network",
    "data=iris&order=worst",
    "data=blobs&size=30&gap=0.1&order=batch&solution=average",
    "data=blobs&size=30&gap=0.1&order=once&solution=pocket&random_state=3",
]


@pytest.mark.parametrize("state", STATES)
def test_the_address_holds_the_state_and_python_lines_make_exactly_this_run(page, state):
    page.open(f"{state}&t=3")
    shown, address = page.text("now-0"), page.state
    page.open("data=empty")
    page.open(address)
    assert (page.state, page.text("now-0")) == (address, shown)
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
    assert len(saved) < 330_000
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


def test_a_thousand_rows_of_a_long_file_are_drawn(page):
    page.open(SMALL)
    drop(page, "long.csv", "x,y,label\n" + "".join(f"{k},2,{k % 2}\n" for k in range(1200)))
    page.until("lab.found.points.length === 1000")
    assert "1,000 of 1,200 rows of long.csv, evenly spread." in page.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y,label\n,1,1\nNA,1,0\n", "only one column"),
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


def test_decimal_commas_and_gaps_are_read_as_train_reads_them(page):
    page.open(SMALL)
    rows = ["a;b;label", "1,5;1.200,5;x", "2,5;NA;x", "-0,5;0,25;y", "3;4;y"]
    drop(page, "german.csv", "\n".join(rows))
    page.until("lab.found.points.length === 3")
    assert "1 row is left out for gaps." in page.message
    first = np.array([1.5, -0.5, 3])
    expected = (first - first.mean()) / first.std()
    assert [point[0] for point in page.points()] == pytest.approx(expected, abs=1e-3)


def test_the_same_file_can_be_chosen_twice(page, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("x,y,label\n1,2,1\n2,1,0\n")
    page.open(SMALL)
    page.js("lab.showView('choices')")
    for text in ("x,y,label\n1,2,1\n2,1,0\n", "x,y,label\n1,2,1\n2,1,0\n3,3,0\n"):
        path.write_text(text)
        page.driver.find_element("id", "file").send_keys(str(path))
        page.until(f"lab.found.points.length === {text.count(chr(10)) - 1}")


# Languages


@pytest.mark.parametrize(
    ("language", "words"),
    [("de", ["Abspielen", "Einstellungen", "Gerade mit Achsenabschnitt", "Rundgang"]),
     ("es", ["Reproducir", "Ajustes", "recta con sesgo", "Recorrido"])],
)  # fmt: skip
def test_fixed_words_are_translated_and_back(page, language, words):
    page.open(SMALL)
    fixed = (
        "return ['header', '#legend', '.tools', '.player', '#views', '#tabs', '#choices']"
        ".map((each) => document.querySelector(each).innerText).join()"
    )
    before = page.js(fixed)
    page.open(f"{SMALL}&lang={language}")
    page.until(f"document.body.innerText.includes('{words[0]}')")
    shown = page.js("return document.body.innerText")
    for each in words:
        assert each in shown
    assert page.js("return document.documentElement.lang") == language
    page.press("\ue014")
    page.js("lab.showView('choices'); lab.drawNow()")
    page.choose("language", "en")
    page.open(SMALL)
    page.until("document.body.innerText.includes('Play')")
    assert page.js(fixed) == before


def test_settings_and_sets_have_words_in_every_language(page):
    missing = page.js(
        "return Promise.all(['./state.js', './sets.js', './panels.js', './chart.js']"
        ".map((name) => import(name))).then(([{SETTINGS}, {SETS}, {PANELS}, {CURVES}]) => {"
        " const table = new Set(document.getElementById('words').textContent.trim()"
        ".split('\\n').map((line) => line.split('|')[0]));"
        " const words = [...Object.values(SETTINGS).flatMap(({words, choices = {}}) =>"
        " [words, ...Object.values(choices)]), ...Object.values(CURVES),"
        " ...[...Object.values(SETS), ...Object.values(PANELS)].map((each) => each.words)];"
        " return words.filter((each) => !table.has(each)) })"
    )
    names = {"iris: setosa", "iris: virginica", "Gram", "XOR", "auto", "sphere", "none", "pocket"}
    assert [each for each in missing if each not in names and each[0].isalpha()] == [
        each for each in missing if each in ("x₁·x₂", "x₁² + x₂²", "R²")
    ]


# Verdicts that take long


def test_a_long_verdict_has_a_bar_and_can_be_stopped(page):
    page.open("data=empty")
    state = "data=moons&size=300&form=kernel&kernel=poly&degree=4&max_iter=3"
    before = page.js("return performance.now()")
    page.js("lab.open(arguments[0]); lab.drawNow()", state)
    assert page.js("return performance.now()") - before < 2000
    assert page.js("return lab.runs[0].verdict.why") == "deciding"
    shares = [page.js("return lab.runs[0].verdict.share") for _ in range(3)]
    assert all(0 <= share <= 1 for share in shares)
    page.js("document.getElementById('stop-deciding').click()")
    page.drawn()
    assert "stopped by you" in page.text("verdict")
    page.open("data=moons&size=60&form=kernel&kernel=poly&degree=3&max_iter=50&t=9999")
    page.until("!lab.runs[0].deciding")
    page.drawn()
    assert page.js("return lab.runs[0].verdict.separable") is not None


def test_points_are_saved_and_read_again(page):
    page.open("data=moons&size=10")
    points = page.points()
    page.click("save-csv")
    text = page.downloaded("points.csv").decode()
    page.open("data=empty")
    drop(page, "points.csv", text)
    page.until("lab.found.points.length === 10")
    assert page.points() == points


# The tour


def test_built_in_sets_are_those_of_scikit_learn(page):
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine

    iris, wine, cancer = load_iris(), load_wine(), load_breast_cancer()
    expected = {
        "iris": (iris.data[:, 2:], np.where(iris.target == 0, 0, 1)),
        "irises": (iris.data[:, 2:], iris.target),
        "virginica": (iris.data[50:, 2:], np.where(iris.target[50:] == 2, 0, 1)),
        "wine": (wine.data[:, [0, 6]], np.where(wine.target == 0, 0, 1)),
        "sepals": (iris.data[:99, :2], np.where(iris.target[:99] == 1, 0, 1)),
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
    with page.preferring(**{"prefers-color-scheme": scheme}):
        page.open(SMALL)
        names = (
            "ground paper ink faint class0 class1 class2 weights use proof yes no accent on-accent"
        )
        colours = page.js(
            "const style = getComputedStyle(document.documentElement);"
            "const read = (name) => [name, style.getPropertyValue(`--${name}`).trim()];"
            "return Object.fromEntries(arguments[0].map(read))",
            names.split(),
        )
        for name in names.split()[2:12]:
            assert contrast(colours[name], colours["ground"]) >= 4.5, name
        for name in ("ink", "faint"):
            assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
        assert (luminance(colours["ground"]) > 0.5) == (scheme == "light")
        pixel = page.js(
            "const context = document.getElementById('panel').getContext('2d');"
            "return [...context.getImageData(2, 2, 1, 1).data]"
        )
        assert (pixel[0] > 128) == (scheme == "light")


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
    with page.sized(width, height):
        page.js(
            "document.body.classList.add('presenting'); lab.draw(); lab.drawNow();"
            "lab.draw(); lab.drawNow()"
        )
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


ONE_SCREEN = [(1366, 768), (1024, 768)]
NEEDED = ["data", "form-0", "compare", "play", "speed", "plane-0", "verdict", "now-0", "panel"]


@pytest.mark.parametrize(("width", "height"), ONE_SCREEN)
def test_one_screen_shows_what_is_needed_without_scrolling(page, width, height):
    page.open(f"{SMALL}&t=3")
    with page.sized(width, height):
        boxes = page.js(
            "return arguments[0].map((id) => {"
            " const {left, top, right, bottom} = document.getElementById(id)"
            ".getBoundingClientRect(); return [left, top, right, bottom]})",
            NEEDED,
        )
        areas = {}
        for name, (left, top, right, bottom) in zip(NEEDED, boxes, strict=True):
            assert 0 <= left <= right <= width, name
            assert 0 <= top <= bottom <= height, name
            areas[name] = (right - left) * (bottom - top)
        assert min(areas.values()) > 100
        assert max(areas, key=areas.get) == "plane-0"
        assert areas["plane-0"] > 0.3 * width * height
        assert page.js("return document.documentElement.scrollHeight") <= height


def test_the_line_moves_from_one_update_to_the_next(page):
    page.open(f"{SMALL}&t=3")
    between = page.js(
        "const ends = [3, 4].map((k) => lab.runs[0].line(k)); lab.step(1);"
        "const shown = lab.lineAt(lab.runs[0], 4);"
        "return [ends[0].b, shown.b, ends[1].b, ends[0].w[0], shown.w[0], ends[1].w[0]]"
    )
    assert between[1] != between[2] or between[4] != between[5]
    page.until("!lab.glide && !lab.frame")
    assert page.js("const {b} = lab.lineAt(lab.runs[0], 4); return b") == between[2]
    with page.preferring(**{"prefers-reduced-motion": "reduce"}):
        page.js("lab.step(-1)")
        assert page.js("return lab.glide") is None
        page.load(page.address)
        assert page.js("return document.getElementById('speed').value") == "1"
    page.load(page.address)


# Questions and exercises


ASKED = [
    *("data=blobs&t=3", "data=xor&order=fixed", "data=irises&t=5", "data=moons&form=kernel&t=2"),
    *("data=circles&form=lifted&third=square", "data=moons&form=network"),
    *("data=blobs&solution=average&t=7", "data=blobs&order=batch", "data=blobs&rows=on&t=5"),
]


@pytest.mark.parametrize("state", ASKED)
def test_a_question_comes_before_each_step_in_every_state(page, state):
    page.open(state)
    page.click("ask")
    for _ in range(4):
        moment = page.moment
        question = page.js("return lab.question")
        assert question["words"].endswith("?")
        assert 0 <= question["right"] < len(question["choices"])
        page.press(str(question["right"] + 1))
        assert page.moment == moment + 1
        assert page.text("question").startswith("Right.")
        assert " right" in page.text("question")
        if page.moment == page.js("return lab.steps"):
            break
        page.press("\ue014")
    page.click("ask")
    assert not page.driver.find_element("id", "question").is_displayed()


def test_a_wrong_answer_is_explained(page):
    page.open("data=blobs&t=0&quiz=on")
    page.press("\ue014")
    question = page.js("return lab.question")
    assert "at most" in question["words"]
    page.press("3")
    right = question["choices"][question["right"]]
    assert page.text("question").startswith(f"The answer is {right}.")
    assert "(R/γ)²" in page.text("question")


def test_answers_are_true(page):
    """Each question's answer, against the run itself."""
    page.open("data=blobs&gap=0.1&seed=4")
    seen = set()
    for moment in range(12):
        page.js("lab.question = null; lab.state.quiz = true; lab.show(arguments[0])", moment)
        page.js("lab.ask()")
        question = page.js("return lab.question")
        before, after = page.js(
            "const run = lab.runs[0], k = arguments[0];"
            "return [k, k + 1].map((k) => ({...run.measure(k), w: [...run.line(k).w]}))",
            moment,
        )
        right = question["choices"][question["right"]]
        seen.add(question["words"].partition(" ")[0] + question["words"][-6:])
        if "mistake of" in question["words"]:
            assert (right == "yes") == (before["margins"][question["row"]] <= 0)
        elif "turn" in question["words"]:
            area = before["w"][0] * after["w"][1] - before["w"][1] * after["w"][0]
            assert right.startswith("↺") == (area > 0)
        elif "Fewer" in question["words"] or "fewer" in question["words"]:
            sign = np.sign(after["errors"] - before["errors"])
            assert right == ["fewer", "as many", "more"][int(sign) + 1]
    assert len(seen) >= 3
    page.js("lab.state.quiz = false")


def test_an_exercise_is_checked_as_points_are_placed(page):
    page.open("data=empty")
    page.js("lab.showView('exercises'); lab.drawNow()")
    page.driver.find_elements("css selector", "#exercises [data-begin]")[4].click()
    page.drawn()
    assert "Place two points" in page.text("question")
    page.mouse(1, 1)
    page.press("2")
    page.mouse(2, 2)
    assert "done ✓" in page.text("question")
    assert "1 of 15 done" in page.text("exercises")
    page.press("1")
    page.driver.find_element("css selector", "#question [data-begin='-1']").click()
    page.drawn()
    assert not page.driver.find_element("id", "question").is_displayed()


# The tour in a lecture


def test_keys_move_the_tour_and_a_link_names_a_stop(page):
    page.open("tour=angles")
    assert page.text("tour-title") == "4 Angles"
    assert page.state == "tour=angles"
    page.press("\ue00f")  # page down
    assert page.state == "tour=threshold"
    page.press("\ue015")  # arrow down
    assert page.state == "tour=bias"
    page.press("\ue00e")  # page up
    assert page.state == "tour=threshold"
    page.press("\ue013")  # arrow up
    assert page.state == "tour=angles"
    page.press("\ue014")  # a step leaves the stop as it was
    assert page.state.startswith("data=origin")
    page.until("location.hash.startsWith('#data=origin')")


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1366, 768), (1024, 768)])
def test_presented_stops_cover_nothing_and_show_two_lines(page, width, height):
    page.open(SMALL)
    with page.sized(width, height):
        page.js("lab.visit(0); document.body.classList.add('presenting')")
        for number in range(page.js("return lab.stops.length")):
            page.js("lab.visit(arguments[0]); lab.drawNow(); lab.draw(); lab.drawNow()", number)
            name, boxes, lines, hit = page.js(
                "const box = (id) => { const {left, top, right, bottom} ="
                " document.querySelector(id).getBoundingClientRect();"
                " return [left, top, right, bottom] };"
                "const text = document.querySelector('#tour p'), play = box('#play');"
                "const line = parseFloat(getComputedStyle(text).lineHeight);"
                "return [lab.stops[lab.stop].name, ['#tour p', '#plane-0', '#play', '#told',"
                " '#tour .buttons'].map(box), text.scrollHeight / line,"
                " document.elementFromPoint((play[0] + play[2]) / 2,"
                " (play[1] + play[3]) / 2)?.id]"
            )
            assert hit == "play", name
            assert lines < 2.3, name
            for k, one in enumerate(boxes):
                assert one[3] <= height + 1, name
                for other in boxes[k + 1 :]:
                    pairs = (one, other), (other, one)
                    assert any(a[i + 2] <= b[i] + 1 for a, b in pairs for i in (0, 1)), name
            if name == "novikoff":
                assert "(2R/γ)²" in page.text("verdict")
            if name == "average":
                assert "held out wrong" in page.text("now-1")


def test_a_lecture_is_a_list_of_links(page):
    page.open(SMALL)
    lines = ["First XOR. https://example.org/lab/#data=xor&form=lifted", "", "#data=iris&t=2"]
    drop(page, "lecture.txt", "\n".join(lines))
    page.until("lab.stops.length === 2")
    page.drawn()
    assert page.text("tour-text") == "First XOR."
    assert page.state.startswith("data=xor&form=lifted")
    page.press("\ue00f")
    assert page.state.startswith("data=iris")
    page.js("lab.visit(-1)")
    page.open(f"lecture={'%0A'.join(line.replace('#', '%23') for line in lines[:1])}")
    assert page.js("return lab.stops.length") == 1


def test_the_link_has_a_code(page):
    page.open(SMALL)
    page.click("link")
    assert page.js("return document.querySelectorAll('#qr path').length") == 2
    page.click("link-close")


def test_a_phone_shows_the_plane_first_and_nothing_is_wider(page):
    page.open(f"{SMALL}&compare=on")
    with page.sized(390, 844, mobile=True):
        assert page.js("return document.documentElement.scrollWidth") <= 390
        top = page.js("return document.getElementById('plane-0').getBoundingClientRect().top")
        assert top < 300
        bottom = "return document.getElementById(arguments[0]).getBoundingClientRect().bottom"
        assert page.js(bottom, "play") < 844
        with page.sized(360, 464, mobile=True):
            page.load(f"{page.address}?embed#{SMALL}&compare=on&panel=space")
            assert page.js(bottom, "panel") < 464
    page.load(page.address)

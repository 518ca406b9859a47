"""The lab: runs as arrays, addresses and Python lines, and the page in a real browser."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from rosenblatt import margin, max_margin, steps

pytest.importorskip("bokeh", reason="the lab needs bokeh")

from rosenblatt.lab import data, server, state, tour, trace

ORIGIN = "&form=origin&data=points&points=1,2,+;2,0.1,+;-1,-1.5,-"
SMALL = "data=blobs&size=30&gap=0.1&order=fixed"


def run_of(address):
    shown = state.from_address(address)
    points = shown.points()
    return points, shown.first, trace.trace_of(points, shown.first, trace.view_of(points.X))


def executed(lines):
    names = {}
    exec(compile(lines, "lines", "exec"), names)
    return names["model"]


# Points


@pytest.mark.parametrize("name", [name for name in data.SETS if name != "empty"])
def test_every_set_can_be_learnt_from(name):
    X, y, _ = data.made(name, data.Recipe())
    assert X.shape == (len(y), 2)
    assert set(y.tolist()) == {-1, 1}
    assert len(y) <= data.MOST_POINTS


@pytest.mark.parametrize("gap", [0.05, 0.5, 2.0])
def test_blobs_have_the_margin_that_was_chosen(gap):
    X, y, _ = data.made("blobs", data.Recipe(gap=gap, seed=4))
    assert max_margin(X, y).attained == pytest.approx(gap, rel=0.02)  # points have three digits


def test_500_then_500_are_in_that_order():
    assert data.made("500-then-500", data.Recipe()).y.tolist() == [1] * 500 + [-1] * 500


def test_a_csv_comes_back_to_the_last_bit():
    points = data.Points(np.array([[0.1, 1 / 3], [2e-7, -5.0]]), np.array([1, -1]))
    again = data.from_text(data.as_csv(points).encode(), "points.csv")
    assert again.X.tolist() == points.X.tolist()
    assert again.y.tolist() == points.y.tolist()


def test_a_csv_with_more_columns_and_classes_says_what_is_drawn():
    text = b"a,b,c,kind\n1,2,3,x\n2,1,0,y\n0,0,0,z\n"
    points = data.from_text(text, "three.csv")
    assert points.X.tolist() == [[1, 2], [2, 1], [0, 0]]
    assert points.y.tolist() == [-1, -1, 1]
    assert "first two of 3 columns" in points.note
    assert "z is +1, all others are −1" in points.note


HOSTILE = {
    "large": (b"x,y,label\n" + b"1.0,2.0,1\n3.0,4.0,-1\n" * 500_000, "10.5 MB"),
    "many": (b"x,y,label\n" + b"1,2,1\n3,4,0\n" * 600, "1,200 points"),
    "nan": (b"x,y,label\n1,nan,1\n2,1,0\n", "missing|not a finite"),
    "missing": (b"x,y,label\n1,,1\n2,1,0\n", "missing"),
    "text": (b"Once upon a time there was a perceptron.\nIt learnt.\n", "column"),
    "one class": (b"x,y,label\n1,2,1\n2,1,1\n", "one class"),
    "one column": (b"x,label\n1,0\n2,1\n", "one column"),
    "empty": (b"\n", "empty"),
    "binary": (bytes(range(256)) * 40, "NUL byte"),
    "huge numbers": (b"x,y,label\n1e300,2,1\n2,1,0\n", "1e"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_drawn_gets_a_sentence(name):
    text, expected = HOSTILE[name]
    with pytest.raises(ValueError, match=expected):
        data.from_text(text, "file.csv")


# Traces


@pytest.mark.parametrize("order", ["each", "once", "fixed", "active", "first", "worst"])
@pytest.mark.parametrize("form", ["bias", "origin"])
def test_a_trace_has_every_update_of_the_engine(order, form):
    points, settings, run = run_of(f"data=blobs&size=24&gap=0.1&order={order}&form={form}&seed=2")
    taken = list(steps(points.X, points.y, **settings.parameters()))
    assert run.last == len(taken)
    assert run.columns["row"].tolist() == [-1, *(step.row for step in taken)]
    assert run.columns["w1"].tolist() == [0, *(step.new_weights[0, 0] for step in taken)]
    assert run.columns["b"].tolist() == [0, *(step.new_bias[0] for step in taken)]


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative", "correct"])
@pytest.mark.parametrize("solution", ["last", "average", "vote", "pocket"])
def test_a_trace_ends_with_what_fit_gives(solution, ties):
    address = f"data=virginica&order=fixed&max_iter=7&ties={ties}&solution={solution}"
    points, settings, run = run_of(address)
    model = settings.estimator(measure=True).fit(points.X, points.y)
    wrong = np.unpackbits(run.wrong.reshape(run.last + 1, -1), axis=1, bitorder="little")
    assert (wrong.sum(axis=1) == run.columns["errors"]).all()
    if solution == "last":
        assert run.columns["errors"][-1] == model.history_[-1].errors
        assert run.columns["loss"][-1] == pytest.approx(model.history_[-1].loss)
    else:
        predicted = np.where(model.decision_function(points.X) == 0, 0, model.predict(points.X))
        wrong_at_zero = {"mistake": [-1, 1], "positive": [-1], "negative": [1], "correct": []}[ties]
        at_zero = np.isin(points.y, wrong_at_zero)
        wrong_now = np.where(predicted == 0, at_zero, predicted != points.y)
        assert run.columns["errors"][-1] == wrong_now.sum()
    if solution == "vote":
        assert len(run.curves) == len(run.regions) == run.epochs + 1


def test_lines_and_bands_are_where_the_weights_say():
    points, _, run = run_of(SMALL)
    at = {name: values[-1] for name, values in run.columns.items()}
    w, b = np.array([at["w1"], at["w2"]]), at["b"]
    for x, y in [(at["s_x0"], at["s_y0"]), (at["s_x1"], at["s_y1"])]:
        assert w @ [x, y] + b == pytest.approx(0, abs=1e-9)
    assert at["margin"] == pytest.approx(margin(points.X, points.y, w, b))
    edge = np.array([at["s_x0"] + at["m_x"], at["s_y0"] + at["m_y"]])
    assert (w @ edge + b) / np.linalg.norm(w) == pytest.approx(at["margin"])
    assert np.isnan(run.columns["s_x0"][0])  # at w = 0 there is no line


@pytest.mark.parametrize("choice", ["", "&intercept_step=radius", ORIGIN])
def test_the_theorem_holds_at_every_moment(choice):
    _, _, run = run_of(f"{SMALL}&eta0=0.3{choice}")
    assert run.stop_reason == "separated"
    assert run.last <= run.theorem.bound
    assert (run.columns["low"] <= run.columns["length"] + 1e-9).all()
    assert (run.columns["length"] <= run.columns["high"] + 1e-9).all()


def test_a_long_run_is_cut_and_its_lines_say_so():
    points, settings, run = run_of("data=breast-cancer&max_iter=1000")
    assert run.cut
    assert run.last <= trace.MOST_UPDATES
    model = executed(state.python_lines(points, settings, run.epochs))
    assert model.coef_.ravel().tolist() == [run.columns["w1"][-1], run.columns["w2"][-1]]


def test_a_kernel_bends_the_boundary_of_xor():
    points, settings, run = run_of("data=xor&form=kernel&kernel=poly&order=fixed")
    assert run.stop_reason == "separated"
    assert run.columns["errors"][-1] == 0
    assert len(run.curves[-1]) >= 1
    model = executed(state.python_lines(points, settings))
    assert model.n_mistakes_ == run.columns["mistakes"][-1]


@pytest.mark.parametrize("address", ["data=empty", "data=points&points=1,2,%2B;2,2,%2B"])
def test_nothing_is_learnt_from_fewer_than_two_classes(address):
    with pytest.raises(ValueError, match="both classes"):
        run_of(address)
    assert trace.verdict_of(state.from_address(address).points(), True).separable is None


def test_the_verdict_on_xor_is_a_certificate():
    points = data.made("xor", data.Recipe())
    verdict = trace.verdict_of(points, True)
    assert verdict.separable is False
    assert verdict.support == (0, 1, 2, 3)
    assert verdict.meeting == (0.0, 0.0)
    assert "1/4 of row 1" in verdict.detail


def test_the_verdict_on_blobs_is_their_margin():
    verdict = trace.verdict_of(data.made("blobs", data.Recipe(gap=0.5)), True)
    assert verdict.separable is True
    assert "γ = 0.5 " in verdict.detail


# Addresses and lines

ADDRESSES = [
    "",
    SMALL,
    "data=xor&form=kernel&kernel=poly&degree=3&t=2",
    "data=iris&solution=average&margin=0.5&eta0=0.25&ties=correct&intercept_step=radius",
    "data=points&points=0.1,0.2,+;1e-05,-2.0,-&compare=on&b.order=worst&b.form=origin",
]


@pytest.mark.parametrize("address", [*ADDRESSES, *(stop.address for stop in tour.TOUR)])
def test_an_address_is_read_as_it_was_written(address):
    shown = state.from_address(address)
    again = state.from_address(shown.address())
    assert again == shown
    assert again.points().X.tolist() == shown.points().X.tolist()
    assert again.points().y.tolist() == shown.points().y.tolist()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("data=nonsense", "There is no set 'nonsense'"),
        ("eta0=fast", "eta0 must be a number"),
        ("eta0=nan", "eta0 must be a number"),
        ("max_iter=1000000000", "1 to 1,000 epochs"),
        ("size=1000000", "2 to 1,000 points"),
        ("form=cubic", "form must be one of"),
        ("intercept_step=7", "moves by 1 or radius"),
        ("random_state=-1", "seed"),
        ("seed=-1", "seed"),
        ("gap=1e9", "margin between blobs"),
        ("data=points&points=1,2", r"not x,y,\+ or x,y,-"),
        ("data=points&points=nan,2,-", "NaN"),
        ("data=points&points=" + "1,2,-;" * 2000, "2,000 points"),
        ("order=sideways", "order must be one of"),
        ("margin=-1", "margin must be"),
        ("order=worst&solution=average", "use order="),
    ],
)
def test_a_wrong_address_gets_a_sentence(address, said):
    with pytest.raises(ValueError, match=said):
        run_of(address)


@pytest.mark.parametrize("address", ADDRESSES[1:2] + ADDRESSES[3:])
def test_the_lines_make_the_same_run(address):
    points, settings, run = run_of(address)
    model = executed(state.python_lines(points, settings))
    assert model.n_mistakes_ == run.last
    weights, bias, _ = (model if settings.margin == 0 else last(points, settings)).last_weights()
    assert [*weights, bias] == [run.columns[name][-1] for name in ("w1", "w2", "b")]


def last(points, settings):
    """The same run, with the weights that another solution does not tell."""
    taken = list(steps(points.X, points.y, **settings.parameters()))

    class Told:
        @staticmethod
        def last_weights():
            return taken[-1].new_weights[0], taken[-1].new_bias[0], 1.0

    return Told


def test_the_tour_has_seven_stops_that_can_be_shown():
    assert len(tour.TOUR) == 7
    for stop in tour.TOUR:
        shown = state.from_address(stop.address)
        for settings in (shown.first, shown.second):
            if settings is not None:
                trace.trace_of(shown.points(), settings, trace.View())


def test_documents_set_what_the_table_of_forms_says():
    points = data.made("blobs", data.Recipe())
    for choices in state.DOCUMENTS.values():
        run = trace.trace_of(points, replace(state.Settings(), **choices), trace.View())
        assert run.last > 0


# The command


def test_without_bokeh_the_command_says_what_to_install():
    script = "import sys; sys.modules['bokeh'] = None; from rosenblatt.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", script, "lab"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 2
    assert ran.stderr == "rosenblatt: The lab needs bokeh: pip install 'rosenblatt[lab]'.\n"


def test_a_file_that_cannot_be_drawn_is_refused(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("x,y,label\n" + "1,2,1\n3,4,0\n" * 600)
    with pytest.raises(ValueError, match="1,200 points"):
        state.of_data(str(path))
    with pytest.raises((ValueError, OSError), match=r"nowhere\.csv"):
        state.of_data("nowhere.csv")


def test_a_large_file_is_not_read_as_a_whole_before_it_is_refused(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(HOSTILE["large"][0])
    with pytest.raises(ValueError, match=r"10\.5 MB"):
        state.of_data(str(path))


def test_a_free_port_is_taken_when_the_usual_one_is_not_free():
    first = server.server_of(state.State(), server.free_port(0))
    try:
        assert server.free_port(first.port) != first.port
        with pytest.raises(ValueError, match=f"Port {first.port} is taken"):
            server.serve(state.State(), first.port, browser=False)
    finally:
        first.unlisten()
        first.stop()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the command serves the page; at the end Ctrl-C, which is no error."""
    path = tmp_path_factory.mktemp("lab") / "named.csv"
    path.write_text("x,y,label\n1,2,1\n-1,-2,0\n")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "rosenblatt", "lab", str(path), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        line = process.stdout.readline()
        assert line.startswith("The lab is at http://127.0.0.1:"), line
        yield line.split()[4]
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    assert process.returncode == 0
    assert "The lab is closed." in rest
    assert "Traceback" not in rest


def test_the_page_brings_its_own_scripts(address):
    from urllib.request import urlopen

    with urlopen(address) as answer:
        page = answer.read().decode()
    assert "static/js/bokeh.min.js" in page
    assert "cdn.bokeh.org" not in page
    assert 'name="b.intercept_step"' in page


# In a browser

CHROMIUM = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
]


class Page:
    """The lab in Chromium, as a visitor uses it."""

    def __init__(self, driver, address, downloads):
        self.driver, self.address, self.downloads = driver, address, downloads

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 60, 0.05).until(lambda _: self.js(f"return {script}"))

    def open(self, state):
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{state}")
        self.answered()

    def answered(self):
        self.until("window.lab?.ready && lab.asked === lab.answered && !lab.waiting")

    def change(self, name, value):
        self.js(
            "const field = document.forms[0].elements[arguments[0]];"
            "field[field.type === 'checkbox' ? 'checked' : 'value'] = arguments[1];"
            "field.dispatchEvent(new Event('change', {bubbles: true}))",
            name,
            value,
        )
        self.answered()

    def click(self, identity):
        element = self.driver.find_element("id", identity)
        self.js("arguments[0].scrollIntoView({block: 'nearest'})", element)
        element.click()

    def mouse(self, x, y, *, drag_to=None):
        """Press the mouse at a place of the plane, and perhaps let it go at another."""
        from selenium.webdriver import ActionChains

        time.sleep(0.4)  # two taps within 0.3 s are a double tap, which Bokeh takes for no place
        places = [self.pixels(*place) for place in [(x, y), drag_to] if place]
        chain = ActionChains(self.driver, duration=20)
        chain.w3c_actions.pointer_action.move_to_location(*places[0])
        if drag_to is None:
            chain.w3c_actions.pointer_action.click()
        else:
            chain.w3c_actions.pointer_action.click_and_hold()
            for share in (0.3, 0.7, 1.0):
                between = [int(a + share * (b - a)) for a, b in zip(*places, strict=True)]
                chain.w3c_actions.pointer_action.move_to_location(*between)
            chain.w3c_actions.pointer_action.release()
        chain.perform()

    def pixels(self, x, y):
        return self.js(
            "const plot = Bokeh.documents[0].get_model_by_name('pane_a');"
            "const view = Bokeh.index.find_one(plot);"
            "const box = view.el.getBoundingClientRect();"
            "return [box.left + view.frame.x_scale.compute(arguments[0]),"
            " box.top + view.frame.y_scale.compute(arguments[1])].map(Math.round)",
            x,
            y,
        )

    def points(self):
        return self.js(
            "const {x, y, label} = Bokeh.documents[0].get_model_by_name('points').data;"
            "return Array.from(x, (value, i) => [value, y[i], label[i]])"
        )

    def weights(self):
        return self.js(
            "const data = lab.sides[0].trace.data, last = data.b.length - 1;"
            "return [data.w1[last], data.w2[last], data.b[last]]"
        )

    def downloaded(self, name):
        path = self.downloads / name
        for _ in range(1200):
            if path.exists() and path.stat().st_size:
                return path.read_bytes()
            time.sleep(0.05)
        raise AssertionError(f"{name} was not downloaded")

    @property
    def message(self):
        return self.driver.find_element("id", "message").text

    @property
    def moment(self):
        return self.js("return lab.moment")

    def errors(self):
        return [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium-driver)")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    folder = tmp_path_factory.mktemp("chromium")
    for argument in [*CHROMIUM, f"--user-data-dir={folder / 'user'}"]:
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver, log_output=os.devnull))
    yield started, folder
    started.quit()


@pytest.fixture
def page(browser, address):
    driver, folder = browser
    shown = Page(driver, address, folder)
    yield shown
    assert shown.errors() == []


def test_the_page_starts_with_the_file_that_was_named(page):
    page.driver.get("about:blank")
    page.driver.get(page.address)
    page.answered()
    assert page.points() == [[1, 2, "+1"], [-1, -2, "-1"]]


def test_points_are_placed_dragged_and_removed(page):
    page.open("data=empty")
    assert "no points" in page.message
    page.mouse(1, 1)
    page.click("start")
    page.driver.find_element("css selector", "[name=brush][value='-1']").click()
    page.mouse(-1, -1)
    page.until("lab.runs[0].last > 0")
    (x, y, label), (_, _, other) = page.points()
    assert (x, y) == pytest.approx((1, 1), abs=0.03)
    assert (label, other) == ("+1", "-1")
    assert "data=points" in page.until("location.hash.includes('points=') && location.hash")
    page.mouse(1, 1, drag_to=(1, -1.5))
    page.until("lab.asked === lab.answered && lab.written?.includes(',-1.')")
    assert page.points()[0][:2] == pytest.approx((1, -1.5), abs=0.05)
    page.mouse(1, -1.5)
    page.until("!document.getElementById('remove').disabled")
    page.click("remove")
    page.until("lab.runs[0].last === 0 && lab.asked === lab.answered")
    assert len(page.points()) == 1
    assert "one class only" in page.message


def test_points_are_placed_by_the_keyboard_alone(page):
    from selenium.webdriver import ActionChains

    page.open("data=empty")
    ActionChains(page.driver).send_keys("2").perform()
    page.js(
        "document.querySelector('details').open = true;"
        "document.getElementById('place_x').value = '-1.5';"
        "document.getElementById('place').focus()"
    )
    ActionChains(page.driver).send_keys(" ").perform()
    page.until("lab.address.includes('points=-1.5,0.0,-')")
    assert page.points() == [[-1.5, 0, "-1"]]


def test_a_document_sets_its_form(page):
    page.open(SMALL)
    page.js(
        "const field = document.querySelector('select.document'); field.value = '002';"
        "field.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    page.answered()
    assert "bias step R²" in page.driver.find_element("id", "title_a").text


def test_time_goes_on_and_back(page):
    from selenium.webdriver import ActionChains, Keys

    page.open(SMALL)
    end = page.js("return lab.last")
    page.js("document.getElementById('speed').value = '100'")
    page.click("play")
    page.until(f"lab.moment === {end} && !lab.timer")
    page.click("back")
    assert page.moment == end - 1
    rule = page.driver.find_element("id", "now_a").text
    assert f"Update {end - 1}" in rule
    assert "w ← w" in rule
    page.js(
        "const scrub = document.getElementById('scrub'); scrub.value = 2;"
        "scrub.dispatchEvent(new Event('input'))"
    )
    assert page.moment == 2
    page.js("document.activeElement.blur()")
    ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
    assert page.moment == 3
    ActionChains(page.driver).send_keys(Keys.HOME).perform()
    assert page.moment == 0
    assert "Start" in page.driver.find_element("id", "now_a").text
    page.click("forward")
    page.until("location.hash.includes('t=1')")


def test_xor_is_bounded_and_a_kernel_separates_it(page):
    page.open(SMALL)
    page.change("data", "xor")
    page.click("end")
    assert "would go on for ever" in page.driver.find_element("id", "now_a").text
    verdict = page.driver.find_element("id", "verdict").text
    assert "Not separable" in verdict
    assert "1/4 of row 1" in verdict
    page.change("form", "kernel")
    page.change("kernel", "poly")
    page.click("end")
    assert "Separated after" in page.driver.find_element("id", "now_a").text
    assert page.js("return lab.sides[0].curves.data.xs.at(-1).length") >= 1


def test_two_settings_stand_side_by_side(page):
    page.open(SMALL)
    page.change("compare", True)
    page.change("b.solution", "average")
    titles = [page.driver.find_element("id", f"title_{side}").text for side in "ab"]
    assert titles == ["w·x + b · order fixed · last", "w·x + b · order each · average"]
    page.change("compare", False)
    assert page.js("return document.getElementById('side_b').hidden")


def test_the_lines_on_the_page_make_the_run_on_the_page(page):
    page.open("data=blobs&size=50&gap=0.02&seed=7&eta0=0.5")
    page.click("save-python")
    model = executed(page.js("return document.getElementById('python').value"))
    assert [*model.coef_[0], *model.intercept_] == page.weights()
    assert model.n_mistakes_ == page.js("return lab.last")


def test_data_figures_and_the_film_are_saved(page):
    pytest.importorskip("matplotlib", reason="the film is drawn by matplotlib")
    page.open("data=xor&max_iter=1&order=fixed")
    page.click("save-csv")
    assert data.from_text(page.downloaded("points.csv"), "saved").y.tolist() == [-1, 1, 1, -1]
    page.click("save-png")
    assert page.downloaded("rosenblatt-a.png").startswith(b"\x89PNG")
    page.click("save-svg")
    assert b"<svg" in page.downloaded("rosenblatt-a.svg")[:200]
    page.click("save-film")
    assert page.downloaded("learning.gif").startswith(b"GIF8")


def test_the_tour_visits_seven_stops(page):
    page.open(SMALL)
    page.click("tour-start")
    for number in range(7):
        page.answered()
        assert page.driver.find_element("id", "tour-title").text.startswith(f"{number + 1} of 7")
        page.click("tour-next")
    assert not page.driver.find_element("id", "tour").is_displayed()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(page, width):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.open(SMALL + "&compare=on")
    assert page.js("return document.documentElement.scrollWidth") <= width
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_hostile_files_get_a_message_and_other_tabs_go_on(page, tmp_path):
    page.open(SMALL)
    other = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.open(SMALL)
    for name in ("large", "many", "nan", "text", "one class", "binary"):
        text, said = HOSTILE[name]
        path = tmp_path / f"{name.replace(' ', '-')}.csv"
        path.write_bytes(text)
        page.js("document.getElementById('message').textContent = ''")
        page.driver.find_element("id", "file").send_keys(str(path))
        page.until("document.getElementById('message').textContent !== ''")
        page.answered()
        assert page.js("return document.getElementById('message').className") == "failed", name
        assert said.split("|")[0] in page.message or said.split("|")[-1] in page.message
        assert len(page.points()) == 30
    ask = "lab.ask({do: 'file', name: 'sly', text: btoa('1,2,3\\n'.repeat(1.2e6))})"
    page.js(ask)  # a page that does not look at the size first
    page.until("document.getElementById('message').textContent.startsWith('sly has 7.2 MB')")
    page.js("lab.ask({do: 'nonsense'})")
    page.until("document.getElementById('message').textContent.includes('makes no sense')")
    page.driver.close()
    page.driver.switch_to.window(other)
    page.change("order", "each")
    assert "order each" in page.driver.find_element("id", "title_a").text


def test_500_points_and_thousands_of_updates_can_be_scrubbed(page):
    page.open("data=breast-cancer")
    assert page.js("return lab.last") > 4000
    assert page.js("for (let k = 0; k <= 4000; k += 100) lab.show(k); return lab.moment") == 4000

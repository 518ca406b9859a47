"""Runs to look at, files that cannot be drawn, and the page in a real browser."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("bokeh", reason="the lab needs bokeh")

from rosenblatt.lab import state, trace
from rosenblatt.lab.geometry import view_of

SMALL = "data=blobs&size=30&gap=0.1&order=fixed"


def run_of(address):
    shown = state.from_address(address)
    points = shown.points()
    return points, shown.first, trace.trace_of(points, shown.first, view_of(points.X))


def executed(lines):
    names = {}
    exec(compile(lines, "lines", "exec"), names)
    return names["model"]


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


@pytest.fixture(scope="session")
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
    try:
        line = next(line for line in process.stdout if "compiles" not in line)
        assert line.startswith("The lab is at http://127.0.0.1:"), line
        yield line.split()[4]
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    finally:
        process.kill()
        process.stdout.close()
    assert process.returncode == 0
    assert "The lab is closed." in rest
    assert "Traceback" not in rest


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

    def hover(self, x, y):
        """Move the mouse over a place of the plane."""
        self.js(
            "document.querySelector('#side_a .plot').dispatchEvent("
            "new PointerEvent('pointermove', {clientX: arguments[0], clientY: arguments[1]}))",
            *self.pixels(x, y),
        )

    def click_switch(self, name):
        """Click a checkbox of the page."""
        self.driver.find_element("name", name).click()

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

    def axes(self):
        return self.js(
            "const plot = Bokeh.documents[0].get_model_by_name('pane_a');"
            "return [plot.below[0].axis_label, plot.left[0].axis_label]"
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


@pytest.fixture(scope="session")
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

"""The page in a real browser, served by the command."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

CHROMIUM = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--window-size=1280,900",
]  # fmt: skip

SMALL = "data=blobs&size=30&gap=0.1&order=fixed"
TWO = "data=points&points=2,1,+;-1,-1,-&order=fixed"


def execute(lines):
    """The model that lines of Python make."""
    names = {}
    exec(compile(lines, "lines", "exec"), names)
    return names["model"]


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
        line = process.stdout.readline()
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


class Page:
    """The lab in Chromium, as a visitor uses it."""

    def __init__(self, driver, address, downloads):
        self.driver, self.downloads = driver, downloads
        self.address = address.split("#")[0]

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 30, 0.05).until(lambda _: self.js(f"return {script}"))

    def load(self, address):
        """Open an address and wait until the page is ready."""
        self.driver.get("about:blank")
        self.driver.get(address)
        self.until("document.body?.dataset.ready === 'true'")

    def open(self, state):
        """Show a state, without loading the page again if it is there."""
        if not self.driver.current_url.startswith(self.address):
            self.load(self.address)
        self.js(
            "document.body.classList.remove('presenting'); lab.visit(-1); lab.begin(-1);"
            "lab.showView('told'); lab.say('');"
            "lab.open(arguments[0]); lab.past = []; lab.future = []; lab.changed(); lab.drawNow();"
            "document.getElementById('plane-0').focus({preventScroll: true})",
            state,
        )

    def drawn(self):
        """Draw what has changed, now."""
        self.js("lab.drawNow()")

    def choose(self, identity, value):
        """Choose or type a value in a field."""
        self.js(
            "const field = document.getElementById(arguments[0]);"
            "field[field.type === 'checkbox' ? 'checked' : 'value'] = arguments[1];"
            "field.dispatchEvent(new Event('change', {bubbles: true})); lab.drawNow()",
            identity,
            value,
        )

    def click(self, identity):
        element = self.driver.find_element("id", identity)
        self.js(
            "const view = arguments[0].closest('#told, #choices, #exercises');"
            "if (view?.hidden) lab.showView(view.id)",
            element,
        )
        self.js("arguments[0].scrollIntoView({block: 'nearest'})", element)
        element.click()
        self.drawn()

    def press(self, *keys):
        """Press keys where the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()
        self.drawn()

    def mouse(self, x, y, *, drag_to=None, release=True):
        """Press the mouse at a place of the plane, and perhaps let it go at another."""
        from selenium.webdriver import ActionChains

        self.js("document.getElementById('plane-0').scrollIntoView({block: 'nearest'})")
        places = [self.pixels(*place) for place in [(x, y), drag_to] if place]
        chain = ActionChains(self.driver, duration=20)
        pointer = chain.w3c_actions.pointer_action
        pointer.move_to_location(*places[0])
        if drag_to is None:
            pointer.click()
        else:
            pointer.click_and_hold()
            for share in (0.3, 0.7, 1.0):
                between = [int(a + share * (b - a)) for a, b in zip(*places, strict=True)]
                pointer.move_to_location(*between)
            if release:
                pointer.release()
        chain.perform()
        self.drawn()

    def release(self):
        """Let the mouse go."""
        from selenium.webdriver import ActionChains

        chain = ActionChains(self.driver)
        chain.w3c_actions.pointer_action.release()
        chain.perform()
        self.drawn()

    def pixels(self, x, y):
        """Where a place of the plane is on the screen."""
        return self.js(
            "const canvas = document.getElementById('plane-0');"
            "const box = canvas.getBoundingClientRect(), {x, y, wide, high} = lab.view;"
            "const scale = Math.min(box.width / wide, box.height / high) / 2;"
            "return [box.left + box.width / 2 + (arguments[0] - x) * scale,"
            " box.top + box.height / 2 - (arguments[1] - y) * scale].map(Math.round)",
            x,
            y,
        )

    def points(self):
        return self.js("return lab.found.points")

    def text(self, identity):
        return self.driver.find_element("id", identity).text

    def weights(self):
        """The weights and the bias that the left run ends with."""
        return self.js(
            "const {found, last} = lab.runs[0].trace;"
            "return [...found.weights[last], ...found.bias[last]]"
        )

    def downloaded(self, name):
        path = self.downloads / name
        for _ in range(400):
            if path.exists() and path.stat().st_size:
                content = path.read_bytes()
                path.unlink()
                return content
            time.sleep(0.05)
        raise AssertionError(f"{name} was not downloaded")

    @property
    def message(self):
        return self.js("return document.querySelector('#message span').textContent")

    @property
    def moment(self):
        return self.js("return lab.state.moment")

    @property
    def state(self):
        return self.js("return lab.address")

    @contextmanager
    def preferring(self, **features):
        """Let the browser say what the system prefers, for example colours."""
        listed = [{"name": name, "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})
        yield
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    @contextmanager
    def sized(self, width, height, mobile=False):
        """Give the window another size for a while."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        time.sleep(0.1)
        self.js("lab.draw(); lab.drawNow()")
        yield
        self.js("document.body.classList.remove('presenting'); lab.visit(-1)")
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

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
    if not driver.current_url.startswith(shown.address):
        shown.load(shown.address)
    yield shown
    assert shown.errors() == []

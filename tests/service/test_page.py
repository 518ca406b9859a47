"""The page in a real browser: what the model is, its error over time, and a form to try it."""

import pytest

from ..lab.conftest import browser  # noqa: F401
from .conftest import examples, trained

pytestmark = pytest.mark.browser


class Page:
    """The page, as a visitor uses it."""

    def __init__(self, driver, service):
        self.driver, self.service = driver, service
        driver.get("about:blank")
        driver.get_log("browser")  # of the page before, whose service has ended
        driver.get(f"http://{service.address}/")

    def until(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 30, 0.05).until(
            lambda driver: driver.execute_script(f"return {script}")
        )

    def fill(self, **values):
        for name, value in values.items():
            field = self.driver.find_element("name", name)
            field.clear()
            field.send_keys(value)

    def click(self, identity):
        self.driver.find_element("id", identity).click()

    @property
    def message(self):
        return self.driver.find_element("id", "message").text

    def errors(self):
        found = self.driver.get_log("browser")
        return [one for one in found if one["level"] == "SEVERE" and "40" not in one["message"]]


@pytest.fixture
def driver(browser):  # noqa: F811
    return browser[0]


def test_the_page_shows_tries_and_teaches_the_model(driver, serve, model):
    service = serve(model, "--learn")
    service.learn(examples(200))
    page = Page(driver, service)
    page.until("document.querySelector('#facts').textContent.includes('200')")
    assert "big, small" in driver.find_element("id", "facts").text
    points = page.until("document.querySelector('.curve')?.getAttribute('points')")
    assert len(points.split()) == 40
    page.fill(size="2.5", colour="red", note="a red one of 2")
    page.click("predict")
    page.until("document.querySelector('#message').textContent.includes('score')")
    assert page.message.startswith("big (score ")
    page.click("learn")
    page.until("document.querySelector('#message').textContent === 'Example 201 is on disk.'")
    page.until("document.querySelector('#facts').textContent.includes('201')")
    page.fill(size="tall")
    page.click("predict")
    page.until("document.querySelector('#message').className === 'failed'")
    assert page.message == "row 1, column 'size': 'tall' is not a number"
    assert page.errors() == []


def test_what_a_model_is_called_is_text(driver, serve, tmp_path):
    hostile = "<img src=x onerror=document.title='bad'>"
    rows = [{hostile: k, "y": 1, "kind": [hostile, "b"][k]} for k in (0, 1)]
    page = Page(driver, serve(trained(tmp_path / "m", rows, text=(), bits=None), "--learn"))
    page.until("document.querySelector('#facts').textContent.includes('onerror')")
    assert driver.title == "Rosenblatt service"
    assert driver.find_elements("css selector", "img") == []

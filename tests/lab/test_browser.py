"""The page in a real browser, as a visitor uses it."""

import io

import numpy as np
import pytest

from .conftest import SMALL, TWO, execute

pytestmark = pytest.mark.browser


# Points


def test_the_page_starts_with_the_file_that_was_named(page):
    page.load(f"{page.address}#table=named.csv")
    page.until("lab.found.points.length === 2")
    assert page.points() == [[1, 1, 0], [-1, -1, 1]]  # standardised
    assert page.js("return lab.found.columns") == ["x", "y"]


def test_points_are_placed_dragged_and_removed(page):
    page.open("data=empty")
    assert "no points" in page.text("now-0")
    page.mouse(1, 1)
    page.press("2")
    page.mouse(-1, -1)
    (x, y, kind), (_, _, other) = page.points()
    assert (x, y) == pytest.approx((1, 1), abs=0.03)
    assert (kind, other) == (0, 1)
    assert page.js("return lab.runs[0].last") > 0
    page.until("location.hash.includes('data=points&points=')")
    page.mouse(1, 1, drag_to=(1, -1.5))
    assert page.points()[0][:2] == pytest.approx((1, -1.5), abs=0.05)
    page.mouse(1, -1.5)
    page.click("remove")
    assert len(page.points()) == 1
    assert "one class only" in page.text("now-0")


def test_the_line_moves_while_a_point_is_dragged_and_the_player_stays_at_the_end(page):
    page.open("data=points&points=2,1,+;-1,-1,-;1,2,+;-2,0,-&order=fixed&t=99")
    before, end = page.weights(), page.moment
    assert end == page.js("return lab.steps")
    page.mouse(2, 1, drag_to=(-1, 0.8), release=False)
    assert page.js("return lab.isMoving")
    assert page.weights() != before
    assert page.moment == page.js("return lab.steps")
    during = page.weights()
    page.release()
    assert not page.js("return lab.isMoving")
    assert page.weights() == during
    assert page.moment == page.js("return lab.steps")


def test_after_choosing_a_set_the_arrow_steps_and_space_plays(page):
    from selenium.webdriver.support.ui import Select

    page.open(SMALL)
    Select(page.driver.find_element("id", "data")).select_by_value("moons")
    assert page.state.startswith("data=moons")
    page.press("\ue014")  # arrow right
    assert page.moment == 1
    page.press("\ue014")
    assert page.moment == 2
    page.press(" ")
    page.until("lab.state.moment > 2")
    page.press(" ")
    page.until("lab.timer === null")


def test_changes_are_undone_and_redone(page):
    page.open(TWO)
    page.mouse(1, 0)
    placed = page.points()
    page.mouse(1, 0, drag_to=(0.5, 0.7))
    dragged = page.points()
    page.choose("order-0", "each")
    for expected in (dragged, placed, placed[:2]):
        page.click("undo")
        assert page.points() == expected
    assert page.js("return lab.runs[0].settings.order") == "fixed"
    assert not page.driver.find_element("id", "undo").is_enabled()
    for _ in range(3):
        page.click("redo")
    assert page.points() == dragged
    assert page.js("return lab.runs[0].settings.order") == "each"
    page.choose("order-0", "once")  # another way from here
    assert not page.driver.find_element("id", "redo").is_enabled()


def test_points_lie_where_the_screen_shows_them_or_on_a_grid(page):
    page.open("data=empty")
    page.mouse(0.51, 0.52)
    ((x, y, _),) = page.points()
    assert len(str(x)) <= 5
    assert (x, y) == pytest.approx((0.51, 0.52), abs=0.02)
    page.click("snap")
    page.mouse(1.23, -0.38)
    x, y, _ = page.points()[1]
    assert (10 * x, 10 * y) == pytest.approx((round(10 * x), round(10 * y)))
    assert (x, y) == pytest.approx((1.23, -0.38), abs=0.2)
    page.click("snap")


def test_too_many_points_are_refused_and_nothing_changes(page):
    page.open("data=500-then-500")
    before = page.points()
    x, y, wide, high = page.js("return Object.values(lab.view)")
    page.mouse(x - 0.95 * wide, y + 0.95 * high)
    assert "1,001 points" in page.message
    assert page.points() == before
    assert page.state.startswith("data=500-then-500")


def test_a_point_without_a_label_is_only_classified(page):
    page.open(f"{TWO}&t=9")
    page.press("?")
    page.mouse(1.5, 0.5)
    page.mouse(-0.5, -1)
    assert len(page.points()) == 2
    assert page.js("return lab.runs[0].classify(lab.runs[0].last, lab.state.asked)") == [0, 1]
    assert "ask=" in page.state
    assert "only classified" in page.text("legend")
    page.press("\ue017")  # delete
    assert page.js("return lab.state.asked.length") == 1
    page.press("1")


# Time


def test_time_goes_on_and_back(page):
    page.open(SMALL)
    end = page.js("return lab.steps")
    page.choose("speed", "100")
    page.click("play")
    page.until(f"lab.state.moment === {end} && !lab.timer")
    page.click("back")
    assert page.moment == end - 1
    assert f"Update {end - 1}" in page.text("now-0")
    assert "w ← w" in page.text("now-0")
    page.js(
        "const scrub = document.getElementById('scrub'); scrub.value = 2;"
        "scrub.dispatchEvent(new Event('input'))"
    )
    assert page.moment == 2
    page.js("document.getElementById('plane-0').focus()")
    page.press("\ue014")
    assert page.moment == 3
    page.press("\ue011")  # home
    assert "Start" in page.text("now-0")
    page.press("\ue010")  # end
    assert page.moment == end
    page.until(f"location.hash.includes('t={end}')")


def test_every_row_that_is_met_can_be_stepped_through(page):
    page.open("data=points&points=2,1,+;1,2,+;-1,-1,-&order=fixed")
    assert page.js("return lab.steps") == 1
    page.click("rows")
    assert page.js("return lab.steps") == 6
    page.click("forward")
    assert "Update 1" in page.text("now-0")
    page.click("forward")
    said = page.text("now-0")
    assert said.startswith("Row 2: right, no change")
    assert "epoch 1, y = +1, y·(w·x + b) = 5 > 0" in said
    assert "rows=on" in page.state
    page.open(page.state)
    assert page.text("now-0") == said
    page.click("end")
    assert "Separated after 1 mistake in 2 epochs" in page.text("verdict")
    page.click("rows")
    assert page.moment == page.js("return lab.steps") == 1


def test_the_chart_leads_to_a_moment(page):
    page.open(SMALL)
    page.js("document.getElementById('panel').scrollIntoView({block: 'center'})")
    place = page.js(
        "const box = document.getElementById('panel').getBoundingClientRect();"
        "return [box.left + box.width / 2, box.top + box.height / 2].map(Math.round)"
    )
    from selenium.webdriver import ActionChains

    chain = ActionChains(page.driver)
    chain.w3c_actions.pointer_action.move_to_location(*place)
    chain.w3c_actions.pointer_action.click()
    chain.perform()
    assert 0 < page.moment < page.js("return lab.steps")


# The update, the verdict, the words


def test_the_update_is_told_with_its_rise_and_angles(page):
    page.open("data=points&points=2,1,+;-1,2,-&order=fixed&t=2")
    said = page.text("now-0")
    assert "w ← w − x = (2, 1) − (−1, 2) = (3, −1); b ← 1 − 1 = 0" in said
    assert "y·(w·x + b): −1 → 5, a rise of 6" in said  # ‖x‖² + 1
    assert "∠(w, x): 90.0° → 135.0°" in said
    shown = page.js(
        "const words = []; const painter = new Proxy({measure: () => 1}, {get: (_, name) =>"
        " name === 'text' ? (at, text) => words.push(text) :"
        " name === 'measure' ? () => 1 : () => {}});"
        "return import('./panels.js').then(({DRAW}) => {"
        " DRAW.vectors(painter, {...lab.scene(0), unit: 15, width: 400, height: 240});"
        " return words})"
    )
    assert {"w", "w′", "−x", "x", "90°", "135°"} <= set(shown)


def test_numbers_show_their_formulas(page):
    from selenium.webdriver import ActionChains

    page.open(f"{SMALL}&t=3")
    numbers = page.driver.find_elements("css selector", "#told .num")
    assert len(numbers) >= 8
    for number in numbers[:3]:
        ActionChains(page.driver).move_to_element(number).perform()
        assert page.text("tip") == number.get_attribute("data-formula") != ""
    assert page.js(
        "return [...document.querySelectorAll('#told .num')].every(n => n.dataset.formula)"
    )


def test_xor_is_refused_and_its_cycle_found(page):
    page.open("data=xor&order=fixed&t=4")
    assert "the same weights as at the start" in page.text("now-0")
    verdict = page.text("verdict")
    assert "Not separable" in verdict
    assert "1/4 of row 1" in verdict
    page.open("data=xor&order=fixed&t=9999")
    assert "It would never stop" in page.text("verdict")
    page.open("data=xor&order=fixed&t=8")
    assert "the same weights as after update 4" in page.text("now-0")


def test_the_verdict_of_a_kernel_is_about_its_space(page):
    page.open("data=xor&form=kernel&kernel=poly&order=fixed&t=99")
    verdict = page.text("verdict")
    assert "Separable in the space of this kernel" in verdict
    assert "No line separates these points" in verdict
    assert "in the kernel’s space" in verdict
    assert "Separated after" in verdict
    page.open("data=points&points=1,1,+;1,1,-;0,1,+&form=kernel")
    assert "at the same place and of two classes" in page.text("verdict")
    page.open("data=xor&form=kernel&kernel=sigmoid")
    assert "No verdict" in page.text("verdict")


def test_the_textbook_bound_of_002_is_shown(page):
    page.open("data=blobs&size=40&gap=0.3&order=fixed")
    page.js(
        "const field = document.querySelector('#settings-0 .document'); field.value = '002';"
        "field.dispatchEvent(new Event('change', {bubbles: true})); lab.drawNow()"
    )
    assert "bias step R²" in page.text("title-0")
    assert "As in 002: at most (2R/γ)²" in page.text("verdict")
    R, gamma, bound = page.js(
        "const {radius, gamma, bound} = lab.runs[0].theorem.textbook; return [radius, gamma, bound]"
    )
    assert bound == pytest.approx((2 * R / gamma) ** 2, abs=1)


def test_refused_settings_say_why(page):
    page.open(SMALL)
    page.choose("order-0", "worst")
    page.choose("solution-0", "average")
    assert "choose another order" in page.text("now-0")
    page.choose("order-0", "each")
    assert "Start" in page.text("now-0")
    page.choose("eta0-0", "-1")
    assert "must be above 0" in page.message
    assert page.js("return lab.runs[0].settings.eta0") == 1


def test_a_batch_is_told_as_one_update_by_all_its_rows(page):
    page.open("data=blobs&size=40&gap=0.15&order=batch&t=2")
    batch = page.js("return lab.runs[0].trace.batches[2].map(({row}) => row)")
    said = page.text("now-0")
    assert f"{len(batch)} mistakes of one pass, added at once" in said
    assert page.js("return lab.scene(0).used") == batch
    assert "2 of at most" in said
    assert "In a batch, at most (n + 1)²/(4n) times that" in page.text("verdict")
    assert "rows in use" in page.text("legend")
    page.choose("solution-0", "pocket")
    assert "a batch takes all at once" in page.text("now-0")
    page.open("data=blobs&size=40&gap=0.15&order=batch&rows=on&t=41")
    rows = page.js("return lab.runs[0].trace.batches[2].map(({row}) => row)")
    page.js("lab.show(40 + arguments[0] + 1); lab.drawNow()", rows[0])
    assert "a mistake, added with the others at the end of epoch 2" in page.text("now-0")


# What is drawn


def test_the_arrow_belongs_to_the_line_that_is_drawn(page):
    page.open("data=blobs&size=40&gap=-0.1&solution=average&order=fixed&t=20")
    drawn, last = page.js(
        "const run = lab.runs[0]; return [[...run.line(20).w], [...run.lastLine(20).w]]"
    )
    model = execute(page.js("return lab.python"))
    assert drawn != last
    end = page.js("return [...lab.runs[0].line(lab.runs[0].last).w]")
    assert end == pytest.approx(model.coef_[0], rel=1e-9)
    legend = page.text("legend")
    assert "boundary of the average" in legend
    assert "last weights" in legend
    assert "w̄" in legend


def test_the_boundary_of_xor_with_products_is_a_cross(page):
    for state in ("data=xor&form=lifted&order=fixed&t=9", "data=xor&form=kernel&kernel=poly&t=99"):
        page.open(state)
        segments = page.js("return lab.runs[0].curve.segments")
        places = np.array(segments).reshape(-1, 2)
        assert np.abs(places).min(axis=1).max() < 0.02  # each on one of the axes
        assert np.hypot(*places.T).min() < 1e-3  # through the middle
        assert np.abs(places).max() > 1


def test_saved_figures_have_right_legends_for_any_classes(page):
    page.open("data=irises&max_iter=20&t=99999")
    page.click("save-svg")
    figure = page.downloaded("perceptron.svg").decode()
    for name in ("setosa (1)", "versicolor (2)", "virginica (3)", "misclassified", "petal length"):
        assert name in figure
    page.open(f"{SMALL}&t=99")
    page.click("save-svg")
    figure = page.downloaded("perceptron.svg").decode()
    assert min(figure.count(f">{sign}</text>") for sign in "+−") > 3  # without colour
    page.open("data=moons&halved=on&compare=on&b.solution=average&dual=on&t=99")
    page.click("save-svg")
    figure = page.downloaded("perceptron.svg").decode()
    for name in ("left: Solution: last", "right: Solution: average", "held out", "α: mistakes"):
        assert name in figure
    page.click("save-png")
    Image = pytest.importorskip("PIL.Image")
    picture = Image.open(io.BytesIO(page.downloaded("perceptron.png")))
    assert picture.width > 2000


def test_compared_panes_say_what_differs(page):
    page.open("data=moons&order=fixed&compare=on&b.order=fixed&b.form=kernel")
    assert page.text("title-0").startswith("Left: line with a bias")
    assert page.text("title-1").startswith("Right: dual, with a kernel")
    page.open(f"{SMALL}&compare=on&b.order=fixed&b.eta0=2")
    assert page.text("title-1") == "Right: Rate η: 2"
    page.open("data=xor&form=lifted&order=fixed&compare=on&b.form=network")
    left, right = page.js(
        "return [0, 1].map((side) => {"
        " const {left, right} = document.getElementById(`plane-${side}`).getBoundingClientRect();"
        " return [left, right]})"
    )
    assert left[1] <= right[0]
    assert abs((left[1] - left[0]) - (right[1] - right[0])) <= 2


@pytest.mark.parametrize("name", ["vectors", "strip", "space", "gram", "gap", "units"])
def test_every_panel_draws(page, name):
    form = "&form=network" if name == "units" else ""
    page.open(f"data=blobs&size=20&gap=0.1{form}&t=3&panel={name}")
    page.js("document.getElementById('panel').scrollIntoView()")
    page.drawn()
    colours = page.js(
        "const canvas = document.getElementById('panel');"
        "const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "const seen = new Set(); for (let i = 0; i < data.length; i += 4)"
        " seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return seen.size"
    )
    assert colours > 20
    assert page.driver.find_element("id", "panel").get_attribute("aria-label")

"""The page in a real browser, as a visitor uses it."""

import re

import numpy as np
import pytest

from rosenblatt.lab import data

from .conftest import HOSTILE, SMALL, executed, run_of

pytestmark = pytest.mark.browser


def test_the_page_starts_with_the_file_that_was_named(page):
    page.driver.get("about:blank")
    page.driver.get(page.address)
    page.answered()
    assert page.points() == [[1, 1, "+1"], [-1, -1, "-1"]]  # standardised
    assert page.axes() == ["x", "y"]


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
    page.until("!document.getElementById('remove').hidden")
    page.click("remove")
    page.until("lab.runs[0].last === 0 && lab.asked === lab.answered")
    assert len(page.points()) == 1
    assert "one class only" in page.message


def test_changes_are_undone_and_redone(page):
    from selenium.webdriver import ActionChains, Keys

    page.open("data=points&points=2,1,+;-1,-1,-&order=fixed")
    page.mouse(1, 0)
    page.until("lab.address.split(';').length === 3 && lab.asked === lab.answered")
    placed = page.points()
    page.mouse(1, 0, drag_to=(0.5, 0.7))
    page.until("lab.asked === lab.answered && lab.written?.includes(';0.5')")
    dragged = page.points()
    page.change("order", "each")
    page.js("document.activeElement.blur()")
    keys = ActionChains(page.driver)
    keys.key_down(Keys.CONTROL).send_keys("zz").key_up(Keys.CONTROL).perform()
    page.answered()
    page.until("lab.runs[0].choices.order === 'fixed'")
    page.click("undo")
    page.answered()
    assert page.points() == placed[:2]
    assert not page.driver.find_element("id", "undo").is_enabled()
    for _ in range(2):
        page.click("redo")
        page.answered()
    assert page.points() == dragged
    page.change("order", "once")  # another way from here
    assert not page.driver.find_element("id", "redo").is_enabled()


def test_points_lie_where_the_screen_shows_them_or_on_a_grid(page):
    page.open("data=empty")
    page.mouse(0.51, 0.52)
    page.until("lab.address.includes('points=')")
    ((x, y, _),) = page.points()
    assert len(str(x)) <= 4
    assert (x, y) == pytest.approx((0.51, 0.52), abs=0.02)
    page.click("snap")
    page.mouse(1.23, -0.38)
    page.until("lab.address.split(';').length === 2 && lab.asked === lab.answered")
    assert page.points()[1][:2] == [1.2, -0.4]
    page.click("snap")


def test_a_selected_point_changes_its_class(page):
    page.open("data=points&points=2,1,+;-1,-1,-&order=fixed")
    assert not page.driver.find_element("id", "flip").is_displayed()
    page.mouse(2, 1)
    page.until("!document.getElementById('flip').hidden")
    page.click("flip")
    page.until("lab.address.includes('points=2.0,1.0,-;')")
    page.until("lab.asked === lab.answered")


def test_a_row_of_the_proof_lights_up_when_touched(page):
    from selenium.webdriver import ActionChains

    page.open("data=xor&order=fixed")
    word = page.driver.find_elements("css selector", "#verdict .row")[1]
    assert word.text == "row 2"
    ActionChains(page.driver).move_to_element(word).perform()
    lit = "Bokeh.documents[0].get_model_by_name('lit_a').data"
    assert page.js(f"return [{lit}.x[0], {lit}.y[0]]") == [-1, 1]
    ActionChains(page.driver).move_to_element(
        page.driver.find_element("css selector", "h1")
    ).perform()
    assert page.js(f"return {lit}.x.length") == 0


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
    assert page.js("return document.querySelector('select.document').selectedOptions[0].text") == (
        "primal form with R² (002)"
    )


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


def test_the_bound_follows_from_the_numbers_beside_it(page):
    page.open("data=iris&order=fixed")
    said = page.driver.find_element("id", "verdict").text
    R, gamma, bound = re.search(r"\((\S+)/(\S+)\)² = ([\d,]+) mistakes", said).groups()
    assert (float(R) / float(gamma)) ** 2 == pytest.approx(int(bound.replace(",", "")), rel=1e-3)


def test_a_refused_point_is_taken_back(page):
    page.open("data=500-then-500")
    before = page.points()
    page.mouse(0.5, 0.5)
    page.until("document.getElementById('message').textContent.includes('1,001 points')")
    page.answered()
    assert page.points() == before
    assert "of 1000 points" in page.driver.find_element("id", "now_a").text
    assert page.js("return document.forms[0].elements.data.value") == "500-then-500"
    page.change("order", "fixed")
    assert "order fixed" in page.driver.find_element("id", "title_a").text


def test_a_selected_point_leaves_the_others_as_large_as_they_are(page):
    page.open(SMALL)
    sizes = page.js(
        "const pane = Bokeh.documents[0].get_model_by_name('pane_a');"
        "const drawn = pane.renderers.find((one) => one.data_source?.name === 'points');"
        "return [drawn.glyph, drawn.selection_glyph, drawn.nonselection_glyph]"
        ".map((glyph) => glyph.size.value ?? glyph.size)"
    )
    assert len(set(sizes)) == 1
    assert sizes[0] >= 10


def test_refused_settings_say_why_in_the_pane(page):
    page.open(SMALL)
    page.change("order", "worst")
    page.change("solution", "average")
    assert "use order=" in page.driver.find_element("id", "now_a").text
    page.change("order", "each")
    assert "Start" in page.driver.find_element("id", "now_a").text


def test_shown_python_lines_follow_the_settings(page):
    page.open(SMALL)
    page.click("save-python")
    page.change("order", "once")
    assert "order='once'" in page.js("return document.getElementById('python').value")


def test_keys_do_what_the_field_in_focus_means(page):
    from selenium.webdriver import ActionChains, Keys

    page.open(SMALL)
    page.js("document.getElementById('scrub').focus()")
    ActionChains(page.driver).send_keys(" ").perform()
    assert page.until("lab.timer !== null")
    ActionChains(page.driver).send_keys(" ").perform()
    page.until("lab.timer === null")
    page.click("start")
    page.js("document.querySelector('[name=brush]').focus()")
    ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
    assert page.js("return lab.brush") == "-1"
    assert page.moment == 0


def test_every_row_that_is_met_can_be_stepped_through(page):
    page.open("data=points&points=2,1,+;1,2,+;-1,-1,-&order=fixed")
    assert page.js("return lab.last") == 1
    page.click_switch("rows")
    assert page.js("return lab.last") == 6
    page.click("forward")
    assert "Update 1" in page.driver.find_element("id", "now_a").text
    page.click("forward")
    said = page.driver.find_element("id", "now_a").text
    assert said.startswith("Row 2: right, no change\nepoch 1, y = +1, y·(w·x + b) = 5 > 0")
    page.until("location.hash.includes('rows=on') && location.hash.includes('t=2')")
    page.open("data=points&points=2,1,+;1,2,+;-1,-1,-&order=fixed&rows=on&t=2")
    assert page.driver.find_element("id", "now_a").text == said
    page.click("end")
    assert "Separated after 1 mistake in 2 epochs" in page.driver.find_element("id", "now_a").text
    page.click_switch("rows")
    assert page.moment == page.js("return lab.last") == 1


def test_a_kernel_steps_by_updates_and_shows_alpha(page):
    shown = "data=blobs&size=30&gap=0.02&seed=7&order=fixed&form=kernel&kernel=linear"
    points, _, run = run_of(shown)
    counts = np.bincount(run.columns["row"][1:])
    row, alpha = int(np.argmax(counts)), int(counts.max())
    moment = int(np.flatnonzero(run.columns["row"] == row)[-1])
    assert alpha > 1
    page.open(f"{shown}&t={moment}")
    counts = page.js("return Bokeh.documents[0].get_model_by_name('alpha_a').data.text")
    assert sum(map(int, counts)) == moment
    said = page.driver.find_element("id", "now_a").text.replace("\n", "")
    assert f"α{row + 1} ← {alpha - 1} + 1 = {alpha}" in said
    page.hover(*points.X[row])
    assert page.driver.find_element("id", "point").text.endswith(f"α = {alpha}")


def test_the_dual_view_of_a_line_adds_up_to_w(page):
    page.open("data=points&points=2,1,+;-1,2,-;-1,-1,-&order=fixed&dual=on&form=origin")
    page.click("end")
    said = page.driver.find_element("id", "now_a").text
    assert "w = Σ αᵢyᵢxᵢ = 1·(2, 1) − 1·(−1, 2) = (3, −1)" in said


def test_a_line_is_tried_by_hand_and_learning_starts_there(page):
    page.open("data=points&points=2,1,+;1,2,+;-1,-1,-;-2,1,-&order=fixed")
    page.click("try")
    page.until("lab.address.includes('start=') && lab.asked === lab.answered")
    (foot_x, tip_x), (foot_y, tip_y) = page.js(
        "const {x, y} = Bokeh.documents[0].get_model_by_name('grip_a').data; return [x, y]"
    )
    page.mouse(tip_x, tip_y, drag_to=(foot_x - 1, foot_y + 0.5))
    page.until("lab.asked === lab.answered && !lab.wishes && lab.runs[0].choices.start[0] === '-'")
    w1, w2, b = map(float, page.js("return lab.runs[0].choices.start").split(","))
    assert (w1, w2) == pytest.approx((-1, 0.5), abs=0.06)
    assert w1 * foot_x + w2 * foot_y + b == pytest.approx(0, abs=0.02)
    assert len(page.points()) == 4
    assert "4 of 4 points misclassified" in page.driver.find_element("id", "now_a").text
    page.until("location.hash.includes('start=-')")
    page.click("save-python")
    model = executed(page.js("return document.getElementById('python').value"))
    assert [*model.coef_[0], *model.intercept_] == page.weights()
    page.click("try")
    page.until("!lab.address.includes('start=') && lab.asked === lab.answered")
    assert "w = (0, 0), b = 0" in page.driver.find_element("id", "now_a").text


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


def test_work_is_told_and_can_be_cancelled(page):
    page.open(SMALL)
    before = page.points()
    page.js(
        "lab.bars = []; new MutationObserver(() => {"
        " const work = document.getElementById('work');"
        " if (!work.hidden) { lab.bars.push(work.textContent); work.lastElementChild.click(); }"
        "}).observe(document.getElementById('work'), {attributes: true});"
        "document.forms[0].elements.data.value = '500-then-500';"
        "document.forms[0].elements.gap.value = -2;"
        "lab.ask({do: 'open', address: 'data=500-then-500&gap=-2&form=kernel&max_iter=1000'})"
    )
    page.until("document.getElementById('message').textContent.startsWith('Ended')")
    assert page.js("return lab.bars.length")
    assert page.points() == before
    assert page.js("return document.forms[0].elements.data.value") == "blobs"


def test_data_figures_and_the_animation_are_saved(page):
    pytest.importorskip("matplotlib", reason="the animation is drawn by matplotlib")
    page.open("data=xor&max_iter=1&order=fixed")
    page.click("save-csv")
    assert data.from_text(page.downloaded("points.csv"), "saved").y.tolist() == [-1, 1, 1, -1]
    page.click("save-png")
    assert page.downloaded("rosenblatt-a.png").startswith(b"\x89PNG")
    page.click("save-svg")
    assert b"<svg" in page.downloaded("rosenblatt-a.svg")[:200]
    page.click("save-animation")
    assert page.downloaded("learning-a.gif").startswith(b"GIF8")


def test_the_tour_visits_eight_stops(page):
    page.open(SMALL)
    page.click("tour-start")
    for number in range(8):
        page.answered()
        assert page.driver.find_element("id", "tour-title").text.startswith(f"{number + 1} of 8")
        if number == 7:
            ways = page.driver.find_elements("css selector", "#tour-ways button")
            assert [way.text for way in ways] == ["Products", "A kernel", "Two units"]
            ways[2].click()
            page.until("lab.runs[0].units?.length === 2 && !lab.runs[1]")
        page.click("tour-next")
    assert not page.driver.find_element("id", "tour").is_displayed()


def test_a_network_grows_unit_by_unit_beside_the_plane(page):
    page.open("data=xor")
    page.change("form", "network")
    assert not page.driver.find_element("name", "order").is_displayed()
    assert page.driver.find_element("name", "growth").is_displayed()
    graph = "document.querySelectorAll('#beside_a svg circle').length"
    names = "lab.sides[0].region.indices[0]"
    for units in (0, 1, 2):
        page.js("lab.show(arguments[0])", units)
        assert page.js(f"return {graph}") == units
        assert not units or page.js(f"return {names}") == units
        drawn = page.js("return Bokeh.documents[0].get_model_by_name('names_a').data.text")
        assert drawn == [f"{number + 1} on" for number in range(units)]
    said = page.driver.find_element("id", "now_a").text
    assert "on where unit 1 is wrongly on, and turns it off" in said
    assert "Separated by 2 units." in said
    model = executed(page.js("return lab.runs[0].python"))
    assert model.n_units_ == 2
    page.change("form", "bias")
    assert not page.driver.find_element("id", "beside_a").is_displayed()


def test_the_cursor_of_the_chart_follows_the_longer_run(page):
    page.open("data=xor&form=network&compare=on&b.form=lifted&t=4")
    assert page.js("return Bokeh.documents[0].get_model_by_name('cursor').location") == 4


def test_a_third_feature_is_turned_in_space(page):
    from selenium.webdriver import ActionChains

    page.open("data=xor&form=lifted&order=fixed&t=4")
    canvas = page.driver.find_element("css selector", "#beside_a canvas")
    assert canvas.is_displayed()
    picture = "return document.querySelector('#beside_a canvas').toDataURL()"
    before = page.js(picture)
    page.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(page.driver).click_and_hold(canvas).move_by_offset(80, 20).release().perform()
    assert page.js(picture) != before
    said = page.driver.find_element("id", "now_a").text
    assert "= (0, 0, −4)" in said
    assert "4 of at most 4 mistakes" in said
    assert executed(page.js("return lab.runs[0].python")).coef_.tolist() == [[0, 0, -4]]


def resized(page, width, height):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize(("width", "height", "least"), [(1920, 1080, 850), (400, 800, 330)])
def test_the_plane_is_square_and_fills_the_window(page, width, height, least):
    resized(page, width, height)
    page.open(SMALL)
    inner = "const p = Bokeh.documents[0].get_model_by_name('pane_a'); return "
    across, down = page.js(inner + "[p.inner_width, p.inner_height]")
    assert min(across, down) >= least
    assert across / down == pytest.approx(1, abs=0.06)
    x, y = page.js(inner + "[p.x_range.end - p.x_range.start, p.y_range.end - p.y_range.start]")
    assert x / across == pytest.approx(y / down, rel=1e-6)
    page.click("present")
    page.until("!document.forms[0].offsetParent")
    assert page.driver.find_element("id", "now_a").is_displayed()
    page.click("present")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_regions_reach_the_edges_after_zooming_out_and_home_shows_all_points(page):
    page.open("data=circles&form=kernel&order=fixed&t=3")
    ends = (
        "(() => { const p = Bokeh.documents[0].get_model_by_name('pane_a');"
        " const region = p.renderers.find((one) => one.glyph.color_mapper).data_source.data;"
        " return [p.x_range.start, p.x_range.end, region.x[0], region.x[0] + region.size[0]]; })()"
    )
    home = page.js(f"return {ends}")
    page.js(
        "const p = Bokeh.documents[0].get_model_by_name('pane_a');"
        "p.y_range.setv({start: p.y_range.start * 5, end: p.y_range.end * 5});"
        "p.x_range.setv({start: p.x_range.start * 5, end: p.x_range.end * 5})"
    )
    page.until("lab.view.half > 9 && lab.asked === lab.answered")
    left, right, first, last = page.js(f"return {ends}")
    assert right - left == pytest.approx(5 * (home[1] - home[0]), rel=0.05)
    assert first < left
    assert last > right
    assert page.moment == 3
    page.click("home")
    page.until("lab.view.half < 4 && lab.asked === lab.answered")
    assert page.js(f"return {ends}") == pytest.approx(home)


def test_dark_systems_get_a_dark_page(page):
    scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    page.open(SMALL)
    pane = "Bokeh.documents[0].get_model_by_name('pane_a')"
    assert page.js(f"return {pane}.background_fill_color") == "#14191f"
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.until(f"{pane}.background_fill_color === '#ffffff'")


def test_a_point_under_the_mouse_says_what_it_is(page):
    page.open("data=points&points=1,2,+;-1,-1,-&order=fixed&t=1")
    page.hover(1, 2)
    said = page.driver.find_element("id", "point").text
    where = "2.683 from the line on the right side"
    assert said == f"row 1: (1, 2), y = +1 · activation 6 · {where} · α = 1"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(page, width):
    resized(page, width, 844)
    page.open(SMALL + "&compare=on")
    assert page.js("return document.documentElement.scrollWidth") <= width
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_columns_of_a_file_are_named_and_can_be_chosen(page, tmp_path):
    path = tmp_path / "trees.csv"
    path.write_text("tree height,girth,age,kind\n1,20,3,oak\n2,10,0,elm\n0,0,0,oak\n3,-30,1,elm\n")
    page.open(SMALL)
    page.driver.find_element("id", "file").send_keys(str(path))
    page.until("lab.address.includes('columns=tree%20height;girth')")
    assert page.axes() == ["tree height", "girth"]
    brush = page.driver.find_element("id", "brush").text
    assert "oak" in brush
    assert "elm" in brush
    page.js(
        "const field = document.getElementById('drawn_y'); field.value = 'age';"
        "field.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    page.until("lab.address.includes('columns=tree%20height;age')")
    assert page.axes() == ["tree height", "age"]
    page.mouse(0.5, 0.5)
    page.until("lab.asked === lab.answered && lab.written.split(';').length === 5")
    page.until("location.hash.includes('columns=tree%20height')")
    assert page.axes() == ["tree height", "age"]
    page.change("data", "xor")
    assert page.axes() == [None, None]


def test_a_half_is_held_out_and_its_errors_stand_beside_the_others(page):
    page.open("data=moons&size=40&noise=0.1&order=fixed")
    page.change("halved", True)
    page.click("end")
    errors, held = page.js(
        "const {errors, held_errors} = lab.sides[0].trace.data;"
        "return [errors.at(-1), held_errors.at(-1)]"
    )
    said = page.driver.find_element("id", "now_a").text
    assert f"misclassified {errors:.0f} of 20 ({5 * errors:.0f} %)" in said
    assert f"held out {held:.0f} of 20 ({5 * held:.0f} %)" in said
    assert page.js("return Bokeh.documents[0].get_model_by_name('held_a').data.x.length") == 20
    page.until("location.hash.includes('halved=on')")
    assert (
        page.js("return Bokeh.documents[0].get_model_by_name('curve_a').data.high.at(-1)") == held
    )
    page.change("halved", False)
    assert "of 40 points misclassified" in page.driver.find_element("id", "now_a").text


def test_three_classes_are_learnt_placed_and_flipped(page):
    page.open("data=three&size=30&order=fixed")
    page.click("end")
    assert "Separated after" in page.driver.find_element("id", "now_a").text
    shade = "Bokeh.documents[0].get_model_by_name('shade_a').data"
    assert page.js(f"return {shade}.xs.length") == 3
    page.click("back")
    said = page.driver.find_element("id", "now_a").text
    assert "leads by" in said
    assert said.count("←") == 2
    page.change("multi_class", "ovr")
    assert "one against the rest" in page.driver.find_element("id", "title_a").text
    page.click("forward")
    assert "against the rest, activation" in page.driver.find_element("id", "now_a").text
    page.driver.find_element("css selector", "[name=brush][value='3']").click()
    page.mouse(0, 0)
    page.until("lab.address.endsWith('t=1') && lab.written.endsWith(',*')")
    page.change("data", "xor")
    assert page.js("return lab.brush") == "+1"
    assert not page.driver.find_element("css selector", "[name=brush][value='3']").is_displayed()


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


@pytest.mark.parametrize("more", ["", "&compare=on&b.form=network", "&form=lifted"])
def test_a_saved_page_needs_no_server(page, more):
    """Opened as a file it plays, steps back, scrubs, tells of points, and draws its chart."""
    page.open(f"{SMALL}{more}&t=2")
    path = page.downloads / "perceptron.html"
    path.unlink(missing_ok=True)
    page.click("save-page")
    saved = page.downloaded(path.name).decode()
    assert "cdn.bokeh.org" not in saved
    shown = page.js("return [lab.last, document.getElementById('now_a').innerText]")
    page.driver.get("about:blank")
    page.driver.get(path.as_uri())
    page.until("window.lab?.runs[0]?.ending")
    assert page.js("return [lab.last, document.getElementById('now_a').innerText]") == shown
    assert page.moment == 2
    assert not page.driver.find_element("id", "choices").is_displayed()
    assert not page.driver.find_element("id", "brush").is_displayed()
    page.click("back")
    assert page.moment == 1
    page.js("document.getElementById('speed').value = '100'")
    page.click("play")
    page.until("lab.moment === lab.last && !lab.timer")
    curve = "Bokeh.documents[0].get_model_by_name('curve_a').data.v.length"
    assert page.js(f"return {curve}") == page.js("return lab.runs[0].last") + 1
    before = page.points()
    page.mouse(0.1, 0.1)  # places nothing
    x, y, _ = before[3]
    page.hover(x, y)
    page.until("!document.getElementById('point').hidden")
    assert "row 4" in page.driver.find_element("id", "point").text
    assert page.points() == before
    page.until("location.hash === `#t=${lab.last}`")


def test_a_link_is_said_to_work_on_this_computer(page):
    page.open(SMALL)
    page.click("copy-link")
    page.until("document.getElementById('message').textContent.includes('on this computer')")


def test_a_figure_has_a_legend_and_the_size_of_the_screen(page):
    from io import BytesIO

    image = pytest.importorskip("PIL.Image", reason="Pillow opens pictures")
    page.open(SMALL)
    (page.downloads / "rosenblatt-a.png").unlink(missing_ok=True)
    page.click("save-png")
    width, height = image.open(BytesIO(page.downloaded("rosenblatt-a.png"))).size
    shown = page.js(
        "const plot = document.querySelector('#side_a .plot').getBoundingClientRect();"
        "return [plot.width * devicePixelRatio, plot.height * devicePixelRatio]"
    )
    assert width == pytest.approx(shown[0], abs=2)
    assert height > shown[1] + 30  # the title and the legend stand above

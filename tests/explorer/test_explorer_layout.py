"""The explorer in a real browser: what comes first at every width, what a refusal leaves, and how near the controls are."""

import pytest

import giantstep as gs
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer.views.one_step._elsewhere import giant_steps
from tests.browser import CHROMIUM, DRIVER, until
from tests.browser import browser as browser
from tests.explorer_server import address as address
from tests.explorer_server import page as page
from tests.explorer_server import put, text

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium with its chromedriver here")
HEIGHTS = {390: 844, 800: 1100, 1400: 1000}


@pytest.fixture(params=HEIGHTS)
def wide(browser, request):
    """The browser at a width, as a phone has it or a larger screen."""
    size = {"width": request.param, "height": HEIGHTS[request.param], "deviceScaleFactor": 1}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "mobile": request.param < 600})
    yield request.param
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(("query", "words"), [("d=1e9", "Dimension must be"), ("target=x1%2Bx2", "one direction")])
def test_bad_links_are_told_in_a_sentence(page, query, words):
    browser = page(f"/one-step?{query}")
    until(browser, f"return document.getElementById('main')?.textContent.includes({words!r})")


@pytest.mark.parametrize("view", state.VIEWS)
def test_nothing_scrolls_sideways_and_every_input_has_a_label(page, wide, view):
    browser = page(f"/{view}")
    until(browser, "return document.querySelector('h1') && document.querySelector('.bench, .matrix, .words-list')")
    until(browser, f"return window.innerWidth === {wide} && document.documentElement.scrollWidth <= {wide}")
    aside = """return [...document.querySelectorAll('main *')].filter((e) => e.scrollWidth > e.clientWidth + 1
        && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && !e.matches('.scroll, .stairs, pre'))
        .map((e) => e.className);"""
    assert browser.execute_script(aside) == []
    bare = "return [...document.querySelectorAll('main input')].filter(e => !e.labels.length).map(e => e.id)"
    assert browser.execute_script(bare) == []
    assert browser.execute_script("return document.querySelectorAll('h1').length") == 1


def test_the_error_curve_is_in_the_first_screen_and_the_controls_are_below_or_beside_it(page, wide):
    browser = page(f"/one-step?{state.write(state.OneStep(d=60))}")
    text(browser, "one-step-errors--words", "At α")
    until(browser, f"return window.innerWidth === {wide}")
    whole = """const plate = document.getElementById('one-step-errors').getBoundingClientRect();
        return plate.left >= 0 && plate.right <= innerWidth && plate.top > 0 && plate.bottom <= innerHeight
          && document.elementFromPoint((plate.left + plate.right) / 2, (plate.top + plate.bottom) / 2)
            .closest('#one-step-errors') !== null;"""
    until(browser, whole)
    places = """const box = (name) => document.querySelector(name).getBoundingClientRect();
        return [box('.figures').bottom <= box('.panel').top + 1, box('.panel').right <= box('.figures').left,
          box('#one-step-errors').right <= box('#one-step-spectrum').left];"""
    below, beside, first = browser.execute_script(places)
    assert (below, beside) == ((False, True) if wide > 832 else (True, False))
    assert first == (wide > 640)


def test_a_phone_shows_the_other_chart_in_the_same_place(page):
    browser = page(f"/one-step?{state.write(state.OneStep(d=60))}")
    text(browser, "one-step-spectrum--words", "The bulk")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    seen = """const shown = (key) => getComputedStyle(document.getElementById(key)).visibility;
        return [shown('one-step-errors'), shown('one-step-spectrum')];"""
    try:
        assert browser.execute_script(seen) == ["visible", "hidden"]
        browser.find_element("xpath", "//*[@class='turn']//label[contains(., 'Spectrum')]").click()
        until(browser, f"const [a, b] = (() => {{ {seen} }})(); return a === 'hidden' && b === 'visible';")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.execute_script(seen) == ["visible", "visible"]


def test_on_a_phone_the_chart_stays_while_a_slider_moves(page):
    browser = page("/giant-steps")
    until(browser, "return document.getElementById('giant-steps-seed')")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        seen = """const slider = document.getElementById('giant-steps-seed');
            slider.scrollIntoView({block: 'center'});
            const plate = document.querySelector('.plate').getBoundingClientRect(), at = slider.getBoundingClientRect();
            return window.innerWidth === 390 && window.scrollY > 200 && plate.top >= 0 && plate.height > 150
              && plate.bottom < at.top && at.bottom < 844;"""
        until(browser, seen)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("view", ["one-step", "giant-steps", "explain"])
def test_the_first_control_is_near_for_the_keyboard(page, view):
    from selenium.webdriver.common.keys import Keys

    browser = page(f"/{view}")
    until(browser, f"return document.getElementById('{view}-target')")
    browser.execute_script("document.querySelector('.skip').focus()")
    presses = 0
    while browser.switch_to.active_element.get_attribute("id") != f"{view}-target":
        browser.switch_to.active_element.send_keys(Keys.TAB)
        presses += 1
        assert presses <= 10


def test_a_target_of_two_directions_leads_to_the_view_that_takes_it_and_the_pictures_stay(page):
    from selenium.webdriver.common.keys import Keys

    s = state.OneStep(d=100, activation="tanh")
    browser = page(f"/one-step?{state.write(s)}")
    before = text(browser, "one-step-errors--words", "At α")
    line = browser.find_element("id", "one-step-target")
    line.send_keys(Keys.CONTROL, "a")
    line.send_keys("x1 + x1*x2", Keys.ENTER)
    assert "page still shows the last setting" in text(browser, "one-step-mistake", "one direction")
    drawn = """return ['errors', 'spectrum'].every((key) =>
        document.querySelector(`#one-step-${key} .js-plotly-plot`).data.length > 0);"""
    assert browser.execute_script(drawn) and text(browser, "one-step-errors--words", "At α") == before
    put(browser, "one-step-noise", "0.75")  # still refused
    until(browser, "return document.getElementById('one-step-noise--value').textContent.includes('0.75')")
    assert browser.execute_script(drawn)
    browser.find_element("css selector", "#one-step-mistake a[href^='/giant-steps']").click()
    text(browser, "giant-steps-plane--words", "After step")
    there = giant_steps(state.OneStep(target="x1 + x1*x2", d=100, activation="tanh"), 2)
    assert state.read_query(state.GiantSteps, browser.current_url.split("?")[1]) == (there, [])
    assert browser.find_element("id", "giant-steps-target").get_attribute("value") == "x1 + x1*x2"


def test_the_setting_that_is_taken_along_is_the_same_step():
    s = state.OneStep(target="x1*x2", d=200, alpha=0.5)
    n, p = settings.sizes(s)
    one = settings.giant_steps(giant_steps(s, 2))
    assert abs(one.d / s.d - 1) < 0.15 and abs(one.protocol.sizes()[0] / n - 1) < 0.15
    moves = n**s.alpha / p**0.5, one.protocol.steps[0].eta / one.p  # the scales are 1/sqrt(p) and 1/p
    assert abs(moves[1] / moves[0] - 1) < 0.05
    for least in (state.OneStep(target="x1*x2", d=50, n_over_d=0.25), state.OneStep(target="x1*x2", d=400, alpha=0.7)):
        there = giant_steps(least, 2)
        assert state.read_query(state.GiantSteps, state.write(there)) == (there, [])
        gs.theory.evolution(settings.giant_steps(there), 0) if least.d == 400 else settings.giant_steps(there)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["one-step", "explain"])
def test_a_mistyped_formula_leaves_the_page_as_wide_as_it_was_and_the_answer_where_it_was(page, view):
    from selenium.webdriver.common.keys import Keys

    browser = page(f"/{view}")
    until(browser, f"return document.querySelector('#{view}-downloads a')")  # the answer is complete
    answer = "return document.querySelector('.answer, .words').textContent"
    before = browser.execute_script(answer)
    line = browser.find_element("id", f"{view}-target")
    line.send_keys(Keys.CONTROL, "a")
    line.send_keys("x1 + foo(x2)", Keys.ENTER)
    text(browser, f"{view}-mistake", "unknown name 'foo'")
    wide = """const panel = document.querySelector('.panel'), wide = panel.clientWidth + 1;
        return document.documentElement.scrollWidth > window.innerWidth ||
          [...panel.children].some((e) => e.offsetWidth > wide) || document.querySelector('.mistake p').scrollWidth > wide;"""
    assert not browser.execute_script(wide)
    assert before if view == "one-step" else browser.execute_script(answer)
    until(browser, "return getComputedStyle(document.querySelector('.figure, .answer')).opacity < 0.6")

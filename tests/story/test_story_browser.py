"""The story's page in a real browser, from disk: figures, sliders, Play, keys, both themes, a phone."""

import json

import pytest

from giantstep.story import scenes
from giantstep.story._page import numbers, write
from tests.browser import CHROMIUM, DRIVER, until
from tests.browser import browser as browser

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium with its chromedriver here")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write(tmp_path_factory.mktemp("story")).as_uri()


@pytest.fixture
def page(browser, address):
    """The page from disk; afterwards the console is empty, and nothing was asked of a network."""
    browser.set_window_size(1280, 1000)
    browser.get(address)
    until(browser, "return document.querySelectorAll('figure .chart svg').length")
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            assert message["params"]["request"]["url"].startswith(("file:", "data:", "chrome:", "about:"))


def words(browser, name: str) -> str:
    return browser.execute_script("return document.querySelector(`#${arguments[0]} figcaption`).textContent", name)


def test_every_scene_draws_and_says_what_its_numbers_say(page):
    for scene in scenes():
        assert words(page, scene.name) == numbers()[scene.name]["frames"][scene.first]["words"]
        shapes = "return document.querySelectorAll(`#${arguments[0]} .chart svg [clip-path] > *`).length"
        assert page.execute_script(shapes, scene.name) > 0


def test_a_slider_moves_by_the_keyboard(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    slider = page.find_element(By.ID, "spikes-alpha")
    slider.send_keys(Keys.ARROW_RIGHT)
    slider.send_keys(Keys.ARROW_RIGHT)
    first = next(scene for scene in scenes() if scene.name == "spikes").first
    assert words(page, "spikes") == numbers()["spikes"]["frames"][first + 2]["words"]
    slider.send_keys(Keys.END)
    assert words(page, "spikes") == numbers()["spikes"]["frames"][-1]["words"]
    uprights = len(page.find_elements(By.CSS_SELECTOR, "#spikes .chart .upright"))
    assert uprights == len(numbers()["spikes"]["frames"][-1]["marks"][-1]["x"])


def test_two_controls_choose_one_frame(page):
    put = (
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'));"
    )
    page.execute_script(put, "staircase-steps", 2)
    page.execute_script(put, "staircase-target", 1)
    count = len(next(scene for scene in scenes() if scene.name == "staircase").controls[1].values)
    assert words(page, "staircase") == numbers()["staircase"]["frames"][2 * count + 1]["words"]


def test_play_runs_to_the_end_and_stops(page):
    page.execute_script("document.querySelector('#best-step .play').click()")
    until(page, "return document.getElementById('best-step-penalty').value === '3'")
    until(page, "return document.querySelector('#best-step .play').textContent.includes('Play')")
    assert words(page, "best-step") == numbers()["best-step"]["frames"][-1]["words"]


def test_play_begins_at_the_first_value_and_goes_on_from_where_a_reader_is(page):
    play = "document.querySelector('#spikes .play').click(); return document.getElementById('spikes-alpha').value"
    assert page.execute_script("return document.getElementById('spikes-alpha').value") != "0"
    assert page.execute_script(play) == "0" and words(page, "spikes") == numbers()["spikes"]["frames"][0]["words"]
    until(page, "return Number(document.getElementById('spikes-alpha').value) > 0")
    at = page.execute_script(play)
    assert page.execute_script(play) == at
    page.execute_script(play)


def test_arrow_keys_lead_from_scene_to_scene(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.ARROW_RIGHT)
    assert until(page, "return document.activeElement.id") in [scene.name for scene in scenes()]
    first = page.execute_script("return document.activeElement.id")
    until(page, f"return document.getElementById('{first}').getBoundingClientRect().top < 60")
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    until(page, f"return document.activeElement.id !== '{first}'")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_the_window_in_both_themes(browser, address, width, theme):
    emulate = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", emulate)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        browser.get(address)
        until(browser, "return document.querySelectorAll('figure .chart svg').length")
        assert browser.execute_script("return document.documentElement.dataset.theme") == theme
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        ink = browser.execute_script("return getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
        assert (sum(ink) > 382) == (theme == "dark")
        wide = "return [...document.querySelectorAll('figure')].every((f) => f.getBoundingClientRect().right <= innerWidth)"
        assert browser.execute_script(wide)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

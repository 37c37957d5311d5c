"""The pages of a report in a browser: opened from disk, at the width of a phone, and on paper."""

import base64
from pathlib import Path

import pytest
from reported import FIGURE, good, pages_in, some_results
from reported import ended as result

from giantstep.checks.report.page import write
from tests.browser import CHROMIUM, DRIVER, until
from tests.browser import browser as browser

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium with its chromedriver here")
WIDE = FIGURE.replace('width="9pt" height="9pt"', 'width="500pt" height="200pt"')
LONG = good(
    figure=WIDE,
    header=("what", "n"),
    rows=tuple((f"the long name of the number {i} in one row of this table", i) for i in range(20)),
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    write([*some_results(), result("moniri/long", LONG)], tmp_path)
    return tmp_path


def at_width(browser, width: int) -> None:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_pages_open_from_disk_with_their_figures(browser, report, width):
    at_width(browser, width)
    for place in pages_in(report):
        browser.get((report / place).as_uri())
        until(browser, "return document.readyState === 'complete'")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.execute_script("document.querySelectorAll('img').forEach(each => each.loading = 'eager')")
        until(browser, "return [...document.images].every(each => each.complete)")
        assert browser.execute_script("return [...document.images].every(each => each.naturalWidth > 0)")
        floating = (
            "return [...document.querySelectorAll('*')].filter(each => getComputedStyle(each).position === 'fixed')"
        )
        assert browser.execute_script(floating) == []
    assert [each["message"] for each in browser.get_log("browser")] == []


def test_what_a_phone_cannot_show_scrolls_in_its_box_and_says_so(browser, report):
    at_width(browser, 390)
    browser.get((report / "papers/moniri.html").as_uri())
    script = """
    const article = document.querySelector('#claim-moniri-long');
    article.querySelector('details').open = true;
    return ['.plate', '.scroll'].map(box => {
      const each = article.querySelector(box);
      return each.scrollWidth > each.clientWidth;
    }).concat([...article.querySelectorAll('.hint')].map(hint => hint.offsetWidth > 0))"""
    assert browser.execute_script(script) == [True, True, True, True]
    at_width(browser, 1400)
    assert browser.execute_script(script) == [False, False, False, False]


def test_one_verdict_can_be_chosen_without_a_script(browser, report):
    at_width(browser, 1400)
    browser.get((report / "index.html").as_uri())
    shown = "return [...document.querySelectorAll('#claims li')].filter(each => each.offsetHeight).length"
    assert browser.execute_script(shown) == 8
    browser.find_element("id", "only-contradicted").send_keys(" ")
    assert browser.execute_script(shown) == 1
    assert browser.execute_script("return document.querySelector('#of-moniri').offsetHeight") == 0


def test_a_printed_page_has_its_figures_and_what_was_folded(browser, report):
    browser.get((report / "papers/moniri.html").as_uri())
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    script = """
    const box = document.querySelector('#claim-moniri-long tbody tr:last-child').getBoundingClientRect();
    const height = name => document.querySelector(name).offsetHeight;
    return [box.height > 0, height('#contents'), height('.back')]"""
    assert browser.execute_script(script) == [True, 0, 0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")

"""The pages as they are shown: their pictures, their formulas, and their search, also from disk."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from giantstep.theory._band import half_width
from tests.browser import until

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SMALL = 160_000  # bytes of a picture
BUILT = {"gallery", "built"}  # folders of pictures that `make docs` draws


def mathematics():
    """The module that typesets the pages while they are built."""
    return hook("mathematics")


def hook(name: str):
    """A module that changes the pages while they are built."""
    found = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def pictures(page: Path) -> list[Path]:
    return [page.parent / path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))]


def test_every_picture_is_there_small_and_on_a_page():
    shown = {path.resolve() for page in PAGES for path in pictures(page) if not BUILT & {*path.parts}}
    assert [path for path in shown if not path.is_file() or path.stat().st_size > SMALL] == []
    drawn = {path.resolve() for path in (ROOT / "docs/assets").iterdir() if path.suffix in (".svg", ".png")}
    assert drawn == shown


def test_the_readme_begins_with_the_spikes_and_the_explorer():
    assert [path.name for path in pictures(ROOT / "README.md")] == ["spikes.svg", "explorer.png"]


def test_the_first_page_and_the_readme_say_the_same_of_what_it_is_not():
    said = [
        page.read_text(encoding="utf-8").split("## What it is not\n\n")[1]
        for page in (PAGES[0], ROOT / "docs/index.md")
    ]
    assert len({text.partition("\n\n")[0].strip() for text in said}) == 1


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    page = mathematics().on_page_content(r'<p>a</p><div class="arithmatex">\[\frac{a}{b} &lt; 1\]</div>')
    assert '<div class="formula"><math' in page and "<mfrac>" in page and "arithmatex" not in page


def test_a_figure_says_how_far_a_phone_may_shrink_it(tmp_path):
    (tmp_path / "wide.svg").write_text('<svg height="90pt" width="300.0pt">', encoding="utf-8")
    page, config = SimpleNamespace(file=SimpleNamespace(src_uri="page.md")), {"docs_dir": tmp_path}
    shown = hook("frames").on_page_content(
        '<img alt="a" src="wide.svg"><img src="none.svg"><img src="a.png">', page=page, config=config
    )
    least = round(0.74 * 300 * 96 / 72)
    assert shown == f'<img style="--least: {least}px" alt="a" src="wide.svg"><img src="none.svg"><img src="a.png">'


def test_plus_minus_stays_with_its_number_in_a_table():
    page = mathematics().on_page_content("<p>1 ± 2</p><td>3 ± 4</td>")
    assert page == "<p>1 ± 2</p><td>3 ±\N{NO-BREAK SPACE}4</td>"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_star_of_a_formula_becomes_an_emphasis_and_no_formula_is_set_as_code(page):
    markdown = pytest.importorskip("markdown")
    text = re.sub(r"^\$\$\n.*?\n\$\$$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    built = markdown.markdown(text, extensions=["tables", "fenced_code", "md_in_html"])
    assert [each for each in re.findall(r"<em>(.*?)</em>", built, re.DOTALL) if re.search(r"[=≤≥^_/|∑]", each)] == []
    assert re.findall(r"<pre><code>[^<]*(?:[Σ‖∇σκ].*|=.*[Σ‖∇σκ])", built) == []


def test_every_formula_of_the_pages_can_be_typeset():
    pytest.importorskip("latex2mathml")
    typeset, found = mathematics().mathml, 0
    for page in PAGES:
        for formula in re.findall(r"^\$\$\n(.*?)\n\$\$$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            left = re.findall(
                r"<m[iot][^>]*>[^<]*[\\&](?!#x)[^<]*</", typeset(formula, "block")
            )  # what was not understood
            assert not left, f"{page.name}: {left[0]} in {formula}"
            found += 1
    assert found > 40


def test_the_table_of_bands_is_that_of_the_theory():
    page = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
    head, _, *rows = page[page.index("| smallest of d, n, p |") :].split("\n\n")[0].splitlines()
    strengths = np.array([float(value) for value in re.findall(r"U = ([\d.]+)", head)])
    assert len(rows) == 4 and len(strengths) == 4
    for row in rows:
        size, *shown = [float(value) for value in row.strip("| ").split("|")]
        percents = 100 * half_width("test_error", int(size), strengths, 1.5)
        assert [float(f"{value:.2g}") for value in percents] == shown


def test_the_built_pages_are_searched_from_disk_and_ask_nothing_of_the_network(tmp_path):
    """Those in the folder GIANTSTEP_SITE, where ``make pages`` has built them, or some that are built here."""
    for tool in ("mkdocs", "latex2mathml", "mkdocstrings"):
        pytest.importorskip(tool)
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("there is no chromium with its chromedriver here")
    site = ROOT / os.environ["GIANTSTEP_SITE"] if "GIANTSTEP_SITE" in os.environ else tmp_path / "site"
    if not (site / "index.html").exists():
        build = [sys.executable, "-P", "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)]
        subprocess.run(build, check=True, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    for page in site.glob("*.html"):
        asked = re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text(encoding="utf-8")
        )
        assert [one for one in asked if 'rel="canonical"' not in one] == []
    claims = (site / "claims.html").read_text(encoding="utf-8")
    assert "c*₁/√(c*₁² + (d/n)(E f*² + noise²))" in claims and "⟨w<sub>i</sub>, w*<sub>k</sub>⟩" in claims
    assert "<mfrac>" in (site / "theory.html").read_text(encoding="utf-8")
    with _started(chromium, driver) as browser:
        _search(browser, site / "index.html")
        _on_a_phone(browser, site)


def _search(browser, index: Path) -> None:
    """Type a word into the search of a page on disk, and wait for pages that hold it."""
    browser.get(index.as_uri())
    end, found = time.monotonic() + 120, []
    field = browser.find_element("css selector", "[data-md-component=search-query]")
    field.click()
    field.send_keys("staircase")
    while not found and time.monotonic() < end:
        found = browser.find_elements("css selector", ".md-search-result__item a")
        time.sleep(0.1)
    assert any("explain.html" in (link.get_attribute("href") or "") for link in found)


def _on_a_phone(browser, site: Path) -> None:
    """A wide figure and a wide formula scroll in a frame that says so, a narrow figure fits, and no page scrolls sideways."""
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    frames = (
        "return [...document.querySelectorAll('article p:has(> img), article .formula')].map(f => "
        "[f.scrollWidth > f.clientWidth + 1, f.classList.contains('wide'), f.classList.contains('more')])"
    )
    found = []
    for name in ("index", "tour", "theory"):
        browser.get((site / f"{name}.html").as_uri())
        until(browser, "return document.querySelector('.wide')")
        marks = browser.execute_script(frames)
        assert all(wide == more == hidden for hidden, wide, more in marks)
        found += [hidden for hidden, *_ in marks]
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    assert any(found) and not all(found)


@contextmanager
def _started(chromium: str, driver: str):
    """A headless browser."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield browser
    finally:
        browser.quit()

"""The explorer in a real browser: every view, bad input, a permalink, and the numbers shown against the library's own."""

import time
from io import BytesIO
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest
from PIL.PngImagePlugin import PngImageFile

import giantstep as gs
from giantstep.claims import TEXTS
from giantstep.explorer import _controls as controls
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._glossary import WORDS
from giantstep.explorer._presets import PRESETS
from giantstep.explorer.views.one_step._words import against
from giantstep.results.table import within
from tests.browser import CHROMIUM, DRIVER, PATIENCE, until
from tests.browser import browser as browser
from tests.explorer_server import address as address
from tests.explorer_server import page as page
from tests.explorer_server import put, text, trace

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium with its chromedriver here")


def typeset(sentence: str) -> str:
    """The text of a sentence as a page has it."""
    return "".join(part if isinstance(part, str) else part.children for part in controls.formulas(sentence))


def test_explain_says_what_the_library_says_and_shows_mistakes_at_the_caret(page):
    browser = page("/explain")
    found = gs.explain("x1 + H2(x1)*x2 + H3(x3)/2")
    shown = text(browser, "explain-answer", typeset(found.reasons[-1]))
    assert all(typeset(sentence) in shown for sentence in found.reasons) and "H3(x3)" in shown and "lost" in shown
    put(browser, "explain-target", "x1 + + y")
    assert "  x1 + + y\n         ^" in text(browser, "explain-mistake", "^")
    assert typeset(found.reasons[-1]) in text(browser, "explain-answer", "")  # the last answer stays
    put(browser, "explain-target", "x1 + x1*x2")
    browser.execute_script("document.querySelector('#explain-activation input[value=tanh]').click()")
    again = gs.explain("x1 + x1*x2", activation="tanh")
    assert again.realised is not None
    text(browser, "explain-answer", typeset(again.realised.reasons[-1]))
    assert text(browser, "explain-snippet", "tanh").count("gs.explain") == 1
    end = time.monotonic() + PATIENCE
    while "activation=tanh" not in browser.current_url and time.monotonic() < end:
        time.sleep(0.05)
    assert state.read_query(state.Explain, browser.current_url.split("?")[1])[0].activation == "tanh"
    until(browser, "return document.querySelector('#explain-downloads a')?.href.includes('activation=tanh')")
    svg, png = (a.get_attribute("href") for a in browser.find_elements("css selector", "#explain-downloads a"))
    assert "gs.explain(" in urlopen(svg).read().decode()
    code = browser.find_element("id", "explain-snippet").get_attribute("textContent")
    assert PngImageFile(BytesIO(urlopen(png).read())).text["Python"] == code


def test_one_step_agrees_with_the_library_simulates_stops_and_has_its_state_in_the_address(page, address):
    s = state.OneStep(d=60, alpha=0.35, noise=0.25, seeds=2)
    browser = page(f"/one-step?{state.write(s)}")
    words = text(browser, "one-step-errors--words", "At α = 0.35")
    p = gs.theory(settings.one_step(s, 0.35))
    test, train = within(p.test_error, *p.test_error_band), within(p.train_error, *p.train_error_band)
    assert f"a test error of {test} and a training error of {train}." in words
    law = gs.theory.spectrum(settings.one_step(s, 0.35))
    assert not isinstance(law, tuple)
    assert f"{law.edge:.4g}" in text(browser, "one-step-spectrum--words", "bulk")
    numbers = browser.find_element("id", "one-step-errors--numbers").get_attribute("textContent")
    assert f"η{'test error, theory'}" in numbers and f"{test}{train}" in numbers
    put(browser, "one-step-noise", "0.75")
    now = gs.theory(settings.one_step(state.OneStep(d=60, noise=0.75), settings.FAST)).test_error[0]
    trace(browser, "one-step-errors", "test error, theory", lambda one: one["y"][0] == pytest.approx(now, rel=1e-9))
    put(browser, "one-step-noise", "0.25")
    browser.find_element("id", "one-step-start").click()
    text(browser, "one-step-progress", "2 of 2 seeds.")
    o = gs.simulate(settings.one_step(s, settings.ALPHAS), range(2)).mean()
    both = pytest.approx(o.test_error.tolist(), rel=1e-9)
    dots = trace(browser, "one-step-errors", "test error, simulation", lambda one: one["y"] == both)
    _all_seeds(browser, s)
    assert dots["error_y"]["array"] == pytest.approx(o.test_error_se.tolist(), rel=1e-6)
    text(browser, "one-step-errors--words", words)
    until(browser, "return document.getElementById('one-step-stop').disabled")
    _ink(browser)
    link = browser.current_url
    assert state.read_query(state.OneStep, link.split("?")[1]) == (s, [])
    page(link.removeprefix(address))  # a copied link shows the same picture
    text(browser, "one-step-progress", "2 of 2 seeds.")
    trace(browser, "one-step-errors", "test error, simulation", lambda one: one["y"] == dots["y"])
    _downloads(browser, s)


def _all_seeds(browser, s: state.OneStep) -> None:
    """The spectrum has the outliers of both seeds, and the words say what the error is against the band."""
    one = gs.simulate(settings.one_step(s, s.alpha), range(2), spectrum=True)
    above = [gs.measure.outliers(values) for values in one.singular_values]
    every = pytest.approx(sorted(value for own in above for value in own), rel=1e-6)
    trace(browser, "one-step-spectrum", "outlier, simulation", lambda marks: sorted(marks["x"]) == every)
    assert "2 seeds" in text(browser, "one-step-spectrum--marks", "simulation")
    p, o = gs.theory(settings.one_step(s, s.alpha)), one.mean()
    said = against(float(o.test_error), float(o.test_error_se), p.test_error, tuple(p.test_error_band))
    assert "band" in said and "line" in said
    text(browser, "one-step-errors--words", said)


def _ink(browser) -> None:
    """The bulk's line is drawn in the ink of the theme, light or dark, also after bars have come before it."""
    trace(browser, "one-step-spectrum", "simulation")
    line = "getComputedStyle(document.querySelector('#one-step-spectrum .traceink .js-line')).stroke"
    for theme, ink in (("dark", "rgb(228, 230, 227)"), ("light", "rgb(29, 33, 38)")):
        browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
        until(browser, f"return {line} === {ink!r}")


def _downloads(browser, s: state.OneStep) -> None:
    """The files have the page's Python and BibTeX inside."""
    links = [a.get_attribute("href") for a in browser.find_elements("css selector", "#one-step-downloads a")]
    assert len(links) == 6
    code = browser.find_element("id", "one-step-snippet").get_attribute("textContent")
    assert "compare(s, seed=range(2))" in code
    svg = urlopen(links[0]).read().decode()
    assert "<svg" in svg and "compare(s, seed=range(2))" in svg and "@inproceedings{moniri2024" in svg
    assert PngImageFile(BytesIO(urlopen(links[1]).read())).text["Python"] == code


def test_a_long_simulation_is_stopped(page):
    browser = page(f"/one-step?{state.write(state.OneStep(d=400, n_over_d=8.0, p_over_n=0.6, seeds=10))}")
    text(browser, "one-step-errors--words", "At α")
    browser.find_element("id", "one-step-start").click()
    text(browser, "one-step-progress", "0 of 10 seeds")
    until(browser, "return document.getElementById('one-step-stop')?.disabled === false")
    browser.find_element("id", "one-step-stop").click()
    until(browser, "return document.getElementById('one-step-stop').disabled")
    until(browser, "return !document.getElementById('one-step-progress').textContent.includes('of 10 seeds …')")


def test_giant_steps_agree_with_the_library_in_a_billion_dimensions(page):
    s = state.GiantSteps(d=9.0, kappa=0.6, steps=2, shown=2, width=4, seed=3)
    browser = page(f"/giant-steps?{state.write(s)}")
    chain = gs.simulate.evolution(settings.giant_steps(s), 3)
    text(browser, "giant-steps-shares--words", "they differ by")
    share = pytest.approx(chain.shares[:, :, 0].mean(axis=1).tolist(), rel=1e-9)
    trace(browser, "giant-steps-shares", "w1, simulated", lambda one: one["y"] == share)
    put(browser, "giant-steps-kappa", "1.2")
    text(browser, "giant-steps-progress", "are not simulated here")
    theory = gs.theory.evolution(settings.giant_steps(state.GiantSteps(d=9.0, kappa=1.2, steps=2, width=4, seed=3)), 3)
    assert f"{theory.shares[2].mean(axis=0)[0]:.3g} along w1" in text(browser, "giant-steps-plane--words", "by theory")


def test_claims_show_the_matrix_and_run_one(page, tmp_path):
    browser = page("/claims")
    until(browser, "return document.querySelectorAll('.matrix .badge').length")
    assert len(browser.find_elements("css selector", ".matrix .badge")) == len(TEXTS)
    browser.find_element("css selector", "a[href*='moniri%2Falignment']").click()
    text(browser, "claims-command", "giantstep check moniri/alignment")
    browser.find_element("id", "claims-start").click()
    text(browser, "claims-now", "Just now, at quick size")
    wide = "const i = document.querySelector('.print img'); return i && i.complete && i.naturalWidth > 100;"
    until(browser, wide)
    code, cited = (text(browser, key, "") for key in ("claims-snippet", "claims-bibtex"))
    svg = browser.find_element("css selector", ".downloads a:not(.as-png)")
    inside = ElementTree.fromstring(urlopen(svg.get_attribute("href")).read()).findtext("{*}desc")
    assert inside == f"{code}\n{cited}" and "@" in cited
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.find_element("css selector", ".downloads a.as-png").click()
    end = time.monotonic() + PATIENCE
    while not (found := list(tmp_path.glob("*.png"))) and time.monotonic() < end:
        time.sleep(0.05)
    with PngImageFile(found[0]) as picture:
        picture.load()  # every checksum is looked at
        assert picture.size[0] > 600 and (picture.text["Python"], picture.text["BibTeX"]) == (code, cited)


def test_a_slider_moves_by_the_keyboard_and_the_theme_changes(page):
    from selenium.webdriver.common.keys import Keys

    browser = page("/one-step")
    until(browser, "return document.getElementById('one-step-alpha')")
    browser.find_element("id", "one-step-alpha").send_keys(Keys.ARROW_RIGHT)
    text(browser, "one-step-alpha--value", "n0.31")
    theme = "return document.documentElement.dataset.theme"
    before = browser.execute_script(theme)
    browser.find_element("id", "theme").click()
    assert {before, browser.execute_script(theme)} == {"light", "dark"}
    browser.find_element("id", "theme").click()


def test_the_explorer_opens_on_a_picture_that_waits_for_play(page):
    browser = page("/")
    shown = "return document.getElementById('one-step-alpha--value').textContent"
    text(browser, "one-step-spectrum--words", "The bulk ends at")
    first = until(browser, shown)
    time.sleep(3)  # a picture of Play stands for 700 ms
    assert browser.execute_script(shown) == first
    assert browser.find_element("id", "one-step-play").text == "Play"
    browser.find_element("id", "one-step-play").click()
    until(browser, "return document.getElementById('one-step-play').textContent === 'Pause'")
    until(browser, f"{shown} !== '{first}'")  # which pictures are seen depends on the machine
    browser.find_element("id", "one-step-play").click()
    until(browser, "return document.getElementById('one-step-play').textContent === 'Play'")
    until(browser, "return !document.querySelector('[data-dash-is-loading=true]')")
    alpha = float(browser.execute_script(shown).rpartition("n")[2].split()[0])  # "n0.05 = 1.4"
    law = gs.theory.spectrum(settings.one_step(state.OneStep(), alpha))
    assert not isinstance(law, tuple)
    text(browser, "one-step-spectrum--words", f"The bulk ends at {law.edge:.4g}")


def test_play_moves_slider_picture_and_words_together_and_keeps_the_published_limit(page):
    browser = page(f"/one-step?{state.write(state.OneStep(d=60))}")
    text(browser, "one-step-errors--words", "At α = 0.3")
    browser.execute_script("""window.seen = []; window.watch = setInterval(() => {
        const said = (key) => document.getElementById(key).textContent;
        const drawn = document.querySelector('#one-step-errors .js-plotly-plot').data.map((one) => one.name);
        window.seen.push([said('one-step-alpha--value'), said('one-step-errors--words'),
          drawn.includes('test error, published limit')]);
    }, 20);""")
    browser.find_element("id", "one-step-play").click()
    text(browser, "one-step-errors--words", "At α = 0.1 ")
    text(browser, "one-step-errors--words", "At α = 0.2 ")
    browser.find_element("id", "one-step-play").click()
    seen = browser.execute_script("clearInterval(window.watch); return window.seen")
    assert all(limit for *_, limit in seen)
    slider, words = zip(*dict.fromkeys((value, said) for value, said, _ in seen), strict=True)
    at = [float(value.rpartition("n")[2].split()[0]) for value in slider]  # "η = n0.05 = 1.4"
    assert at == [float(said.split()[3]) for said in words] and at[:5] == [0.3, 0.0, 0.05, 0.1, 0.15]
    until(browser, "return document.getElementById('one-step-play').textContent === 'Play'")


@pytest.mark.slow
def test_what_is_typed_while_the_page_is_busy_stays_in_order(page):
    browser = page("/explain")
    until(browser, "return document.getElementById('explain-target')")
    typed = """
        const line = document.getElementById('explain-target'), done = arguments[0];
        const type = (keys) => document.execCommand('insertText', false, keys);
        line.focus();
        line.select();
        type('x1 ');
        await new Promise((next) => queueMicrotask(next));
        setTimeout(() => { type('x2'); done(line.value); });  // between the page's answers to the first keys and to the second
        type('+ ');
    """
    found = browser.execute_async_script(f"(async function () {{ {typed} }}).apply(null, arguments)")
    assert found == "x1 + x2"


def test_presets_hold_and_reset_change_the_controls(page):
    browser = page(f"/one-step?{state.write(state.OneStep(d=60))}")
    until(browser, "return document.querySelector('.preset')")
    chosen = next(one for one in PRESETS if one.title == "the figure of the talk")
    assert isinstance(chosen.state, state.OneStep)
    browser.execute_script(
        "[...document.querySelectorAll('.preset')].find((e) => e.textContent === arguments[0]).click()", chosen.label
    )
    text(browser, "one-step-n-over-d--value", "n = 500")
    until(browser, "return window.location.search.includes('d=300')")
    assert state.read_query(state.OneStep, browser.current_url.split("?")[1]) == (chosen.state, [])
    browser.find_element("id", "one-step-hold").click()
    put(browser, "one-step-noise", "0.5")
    held = gs.theory(settings.one_step(chosen.state, settings.FAST)).test_error[0]
    trace(browser, "one-step-errors", "A: test error, theory", lambda one: one["y"][0] == pytest.approx(held, rel=1e-6))
    assert "Label noise: A has σ = 1, now σ = 0.5" in text(browser, "one-step-held", "Label noise")
    text(browser, "one-step-errors--words", "setting A has")
    page(browser.current_url.removeprefix(browser.current_url.split("/one-step")[0]))  # a link has A too
    text(browser, "one-step-held", "Label noise")
    browser.find_element("id", "one-step-reset").click()
    until(browser, "return document.getElementById('one-step-held').textContent === ''")
    text(browser, "one-step-n-over-d--value", "n = 800")


def test_words_are_explained_where_they_stand(page):
    browser = page("/giant-steps")
    until(browser, "return document.querySelectorAll('.control .term').length")
    bare = "return [...document.querySelectorAll('.control')].filter((e) => !e.querySelector('.definition')).length"
    assert browser.execute_script(bare) == 0
    shown = """const term = document.querySelector('.control .term');
        const display = () => getComputedStyle(term.firstElementChild).display;
        const before = display(); term.focus(); return [before, display(), term.querySelector('a').getAttribute('href')];"""
    before, after, link = browser.execute_script(shown)
    assert (before, after, link) == ("none", "block", "/words?word=target")
    page(link)
    assert WORDS["target"].meaning in until(browser, "return document.querySelector('dt.chosen + dd')?.textContent")


def test_the_page_says_that_it_computes(page):
    browser = page(f"/one-step?{state.write(state.OneStep(d=50, activation='softplus'))}")
    until(browser, "return document.querySelector('#one-step-spectrum .annotation')?.textContent.includes('Computing')")
    until(browser, "return getComputedStyle(document.getElementById('computing')).visibility === 'visible'")
    text(browser, "one-step-errors--words", "At α")
    until(browser, "return getComputedStyle(document.getElementById('computing')).visibility === 'hidden'")


def test_play_goes_through_the_giant_steps(page):
    browser = page(f"/giant-steps?{state.write(state.GiantSteps(d=3.0, kappa=1.0, steps=2, shown=2, width=4))}")
    text(browser, "giant-steps-plane--words", "After step 2")
    browser.find_element("id", "giant-steps-play").click()
    text(browser, "giant-steps-plane--words", "After step 0")
    text(browser, "giant-steps-plane--words", "After step 2")
    until(browser, "return document.getElementById('giant-steps-play').textContent === 'Play'")
    at = "return document.querySelector('#giant-steps-shares .js-plotly-plot').layout.shapes[0].x0 === 2"
    until(browser, at)  # the step is marked among the shares

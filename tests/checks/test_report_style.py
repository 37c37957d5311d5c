"""The style of the report: contrast in every palette, and verdicts that differ without their colours."""

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from giantstep.checks.report._entry import MARK, css_class
from giantstep.plot.style import INK

OUTCOMES = [css_class(outcome) for outcome in MARK]
CSS = files("giantstep.checks.report").joinpath("report.css").read_text(encoding="utf-8")


def palettes() -> dict[str, dict[str, str]]:
    """The variables of the blocks ``:root``, in their order: light, dark, print."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, flags=re.DOTALL)
    named = zip(("light", "dark", "print"), blocks, strict=True)
    return {name: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for name, block in named}


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_palettes_have_the_same_variables():
    assert all(set(one) == set(other) for one, other in pairwise(palettes().values()))
    used = set(re.findall(r"var\(--([a-z-]+)", CSS)) - {"width", "sans", "serif", "mono"}
    assert used == set(palettes()["light"])


@pytest.mark.parametrize("palette", ["light", "dark", "print"])
def test_text_has_contrast(palette: str):
    colours = palettes()[palette]
    pairs = [("ink", "paper"), ("soft", "paper"), ("link", "paper"), ("ink", "card"), ("link", "card"), ("ink", "code")]
    pairs += [(f"{outcome}-ink", f"{outcome}-bg") for outcome in OUTCOMES]
    found = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 4.5} == {}


@pytest.mark.parametrize("palette", ["light", "dark", "print"])
def test_lines_that_say_something_have_contrast(palette: str):
    colours = palettes()[palette]
    assert all(contrast(colours[name], colours["paper"]) >= 3 for name in (*OUTCOMES, "link"))


@pytest.mark.parametrize("palette", ["light", "dark", "print"])
def test_what_fails_stands_out_without_colours(palette: str):
    """Solid against tint in grey, hence to every eye; what is open has a dashed border, and all have marks."""
    colours = palettes()[palette]
    assert all(
        contrast(colours["contradicted-bg"], colours[f"{each}-bg"]) >= 3 for each in OUTCOMES if each != "contradicted"
    )
    assert re.search(r"\.badge\.undecided \{[^}]*dashed", CSS) and len(set(MARK.values())) == len(MARK)
    assert colours["not-run-bg"] == colours["paper"] and colours["not-run"] != colours["paper"]  # an outline alone


def test_figures_are_read_on_white():
    assert re.search(r"\.plate \{[^}]*background: #fff;", CSS) and contrast(INK, "#ffffff") >= 4.5


def test_every_colour_is_a_variable():
    rules = re.sub(r":root \{.*?\}", "", CSS, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", rules) == ["#fff"]  # the plate of a figure


def test_motion_focus_and_paper():
    assert re.search(r"prefers-reduced-motion: no-preference\) \{ html \{ scroll-behavior", CSS)
    assert CSS.count("scroll-behavior") == 1 and "animation" not in CSS and "transition" not in CSS
    assert re.search(r":focus-visible \{ outline: 3px", CSS) and "outline: none" not in CSS
    printed = CSS[CSS.index("@media print") :]
    assert "size: A4" in printed and re.search(r"#contents \{ display: none", printed)
    assert re.search(r"figure,[^{]*\{ break-inside: avoid", printed) and "::details-content" in printed


def test_nothing_floats_over_the_text():
    """The contents stand beside the page on a wide screen, in a column of their own, and above the text elsewhere."""
    narrow = re.sub(r"@media screen and \(min-width: 75rem\) \{.*?\n\}", "", CSS, flags=re.DOTALL)
    assert "position: fixed" not in CSS and "position: sticky" not in narrow

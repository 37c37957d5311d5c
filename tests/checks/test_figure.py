"""A figure of a report: a file of its own, with the size that it takes on the page."""

from xml.etree import ElementTree

from reported import FIGURE, ended, good, paper_of

from giantstep.checks.report._figure import figure
from giantstep.checks.report._own import in_figure


def test_figure_without_svg_is_left_out():
    assert figure("") is None and figure("no picture") is None


def test_a_figure_is_a_document_of_its_own_with_its_size():
    made = figure(FIGURE)
    assert made is not None and (made.width, made.height, made.wide) == (11, 11, False)
    assert "DOCTYPE" not in made.svg and "example.org" not in made.svg
    root = ElementTree.fromstring(in_figure("papers/moniri/moniri-one--2.svg") + made.svg)
    assert root.tag.endswith("svg") and root.get("viewBox") == "0 0 9 9"


def test_a_figure_without_a_size_is_as_wide_as_the_page():
    made = figure('<svg viewBox="0 0 9 9"></svg>')
    assert made is not None and made.width is None and not made.wide


def test_a_wide_figure_says_on_a_phone_that_it_scrolls(tmp_path):
    large = FIGURE.replace('width="9pt"', 'width="500pt"')
    page = paper_of([ended("moniri/one", good(figure=large)), ended("moniri/two", good())], tmp_path)
    wide, narrow = page.all("figure")
    assert wide.attributes["class"] == "wide" and "scrolls sideways" in wide.one("span", kind="hint").text
    assert "class" not in narrow.attributes and not narrow.all("span", kind="hint")
    assert wide.one("img").attributes["style"] == "--width: 600pt"

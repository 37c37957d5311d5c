"""A figure inside a page: confined, with its own names."""

from reported import FIGURE

from giantstep.checks.report.figure import inline


def test_figure_without_svg_is_left_out():
    assert inline("", "f", "label") == ""


def test_figure_is_confined():
    svg = inline(FIGURE, "f1", 'a "label"')
    assert 'width="9pt"' not in svg and 'style="--width: 11pt"' in svg and "DOCTYPE" not in svg
    assert "#f1 *{stroke-linecap" in svg and "made today" not in svg
    assert 'id="f1-c1"' in svg and "url(#f1-c1)" in svg and 'xlink:href="#f1-m1"' in svg
    assert '<title id="f1--title">a &quot;label&quot;</title>' in svg and "<desc" not in svg
    assert '<rect width="4" height="4"/>' in svg

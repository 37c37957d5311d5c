"""Notebooks: progress bars that need nothing but the notebook, and results as HTML."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import toys

import giantstep as gs
from giantstep._shown import notebook
from giantstep._shown.html import figure, table
from giantstep.checks._check import check
from giantstep.checks.report._follow import following
from giantstep.checks.verdict import Result, Verdict
from giantstep.lab.compare.comparison import Comparison, ComparisonRow, Gap, Prediction
from giantstep.results.outcome import Status
from giantstep.results.system import Curve, Finding, Number
from giantstep.theory.optimal import Optimum


@pytest.fixture
def kernel(monkeypatch):
    """A notebook's kernel that keeps what is displayed."""
    shown: list[str] = []

    def display(bar, display_id):
        assert display_id
        shown.append(bar._repr_html_())
        return SimpleNamespace(update=lambda new: shown.append(new._repr_html_()))

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))  # type: ignore[arg-type]
    monkeypatch.setattr(notebook, "PAUSE", 0.0)
    return shown


def test_a_bar_moves_and_goes_away(kernel, small):
    assert notebook.inside_notebook()
    gs.simulate(small, range(2), n_test=50, progress=True)
    assert kernel[0].startswith("simulate <progress") and kernel[-1] == "<span></span>" and len(kernel) > 2
    kernel.clear()
    gs.sweep(small, {"eta": [1.0, 2.0]})
    assert kernel[0].startswith("sweep") and any("100%" in each for each in kernel)


def test_short_work_has_none_unless_asked(kernel, small):
    gs.simulate(small, n_test=50)
    gs.simulate(small, n_test=50, progress=False)
    assert kernel == []


def test_outside_a_notebook_there_is_none():
    assert not notebook.inside_notebook()


def test_results_are_html(small):
    outcome = gs.simulate(small.with_(eta=[0.5, 1.0]), range(2), n_test=50)
    for noun, words in (
        (outcome, ("test error", "±", "status: ok")),
        (small, ("Gaussian, d = 30", "40 neurons, tanh", "n = 90, η = 2", "ridge, n = 70")),
        (small.target, ("x1 + x1*x2", "information exponent", "leap")),
        (gs.explain("x1 + x1*x2"), ("U2", "w1, w2", "fitted")),
    ):
        text = noun._repr_html_()
        assert all(word in text for word in words) and text.count("<table") == text.count("</table>") >= 1


def test_a_check_has_a_bar(kernel):
    """The claims that run are named at once, the bar moves with those that end, and it goes away."""
    claims = [toys.claim(f"group/{name}", Verdict("holds")) for name in ("first", "second")]
    with following(None) as tell:
        check(claims, "quick", on_progress=tell)
    assert kernel[0].startswith("claims <progress") and kernel[-1] == "<span></span>"
    assert "running: group/first" in kernel[1] and "running: group/second" in kernel[2] and "50%" in kernel[2]
    assert "2 hold " in kernel[3] and "100%" in kernel[3]
    kernel.clear()
    with following(False) as tell:
        check(claims, "quick", on_progress=tell)
    assert kernel == []


def test_comparisons_optima_and_findings_are_html(small):
    setting = small.with_(eta=[0.5, 1.0])
    simulated = gs.simulate(setting, range(2), n_test=50)
    theory = replace(simulated.mean(), route="theory")
    gap = Gap(1.0, 0.1, 1.25)
    rows = tuple(ComparisonRow(eta, 0.05, 0.05, gap, None, None) for eta in (0.5, 1.0))
    best = Optimum(small, 1.0, 0.05, 0.5, 1.0, Status())
    curve = Curve("samples", np.arange(2.0), np.ones(2))
    for noun, words in (
        (
            Comparison(setting, rows, Prediction(theory), simulated),
            ("test error", "+25.0%", "+2.5", "of the theory: ok"),
        ),
        (Prediction(theory), ("theory:", "test error")),
        (best, ("η = 1, penalty = 0.05: predicted test error 0.5, 50.0% below", "status: ok", "40 neurons")),
        (Finding(gs.FunctionSpace(small), "theory", {"risk": Number(0.25)}, {"path": curve}), ("0.25", "samples")),
    ):
        text = noun._repr_html_()
        assert all(word in text for word in words) and text.count("<table") == text.count("</table>") >= 1
    assert repr(best) == str(best)


def test_a_result_names_its_claim():
    result = Result(toys.claim("group/claim", Verdict("holds")), Verdict("holds", "It does."), 1.0, "quick")
    assert repr(result) == "Result(group/claim: holds. It does.)" and "It is so." in result._repr_html_()


def test_a_verdict_is_html_with_its_figure():
    verdict = Verdict("holds", "It holds <b>.", ("a", "b"), ((1, 0.123456),), figure="<svg></svg>")
    text = verdict._repr_html_()
    assert "<svg " in text and "It holds &lt;b&gt;." in text and "0.1235" in text
    assert repr(verdict) == "Verdict(holds: It holds <b>.)"


def test_a_figure_is_no_wider_than_the_page_until_it_would_be_too_small_to_read():
    text = figure('<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg height="2pt" width="490.5pt"><g width="1pt"/></svg>\n')
    assert text.startswith('<div style="overflow-x:auto"><svg style="display:block;max-width:max(100%, 0.65 * 490.5pt)')
    assert text.endswith("</svg></div>") and figure("none") == figure("") == ""
    assert "max-width:100%" in figure("<svg></svg>")


def test_short_cells_stay_whole_and_sentences_are_broken():
    text = table(["at", "status"], [["setting 1, n = 0.5d", "a sentence that is longer than the widest name of a row"]])
    assert (
        text.count("white-space:pre;") + text.count('white-space:pre"') == 3 and text.count("white-space:pre-line") == 1
    )


def test_a_notebook_shows_a_picture_although_nothing_has_loaded_pyplot():
    assert gs.plot(gs.explain("x1 + x1*x2"))._repr_png_().startswith(b"\x89PNG\r\n")  # type: ignore[attr-defined]


def test_text_is_escaped():
    assert "<script>" not in table(["<script>"], [["<script>"]])


def test_reprs_are_short(small):
    assert max(map(len, repr(small).splitlines())) < 100 and "noise 0.3" in repr(small)
    assert repr(small.target) == "target('x1 + x1*x2', noise=0.3)"
    assert repr(gs.target(lambda z: z[0] * z[1], rank=2)) == "target('<lambda>', rank=2)"
    step = gs.GiantStep(2000, 6.0)
    path = gs.simulate.evolution(
        gs.Setting(gs.Gaussian(1000), "x1 + x1*x2", gs.Network(4, "relu", scale="1/p"), gs.Protocol((step, step)))
    )
    assert repr(path).startswith(
        "Evolution(simulate: 2 steps, 4 neurons, 2 directions; mean share after the last step: w1"
    )


def test_a_table_typesets_its_formulas_and_scrolls_by_itself():
    text = table(["at"], [["n = p = d^2, d = 1e+06"], ["<b>"]])
    assert "n = p = d<sup>2</sup>, d = 10<sup>6</sup>" in text and "&lt;b&gt;" in text
    assert text.startswith('<div style="overflow-x:auto"><table>') and text.endswith("</table></div>")

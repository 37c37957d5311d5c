"""Verdicts and the page that shows them."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from giantstep._errors import InputError
from giantstep.lab.figure import inline
from giantstep.lab.report import write
from giantstep.lab.verdict import Claim, Result, Verdict, run_claims

FIGURE = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "http://example.org/x.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="9pt" height="9pt" viewBox="0 0 9 9">
<metadata>made today</metadata><defs><style type="text/css">*{stroke-linecap: butt}</style><path id="m1" d="M0 0"/>
<clipPath id="c1"><rect width="4" height="4"/></clipPath></defs>
<g id="g1" clip-path="url(#c1)"><use xlink:href="#m1" style="fill: url(#c1)"/></g></svg>"""


def claim(name: str, verdict: Verdict | Exception, statement: str = "It is so.") -> Claim:
    def run(size: str) -> Verdict:
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    return Claim(name, statement, "moniri", "Theorem 1", run)


def good(**changes) -> Verdict:
    given = dict(header=("d", "error"), rows=((100, 0.123456), (200, float("nan"))), seeds="0-9", sizes="d = 100, 200")
    return Verdict("holds", "It fell by half.", **(given | {"figure": FIGURE, "settings": ("abc123",)} | changes))


class Page(HTMLParser):
    """Collects ids, references and tags, and checks that tags close in order."""

    VOID = {"meta", "path", "rect", "use", "br"}

    def __init__(self, text: str):
        super().__init__()
        self.ids, self.references, self.tags, self.open = [], [], set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            self.ids += [value] * (name == "id")
            self.references += [value[1:]] * (name.endswith("href") and value.startswith("#"))
            self.references += re.findall(r"url\(#([^)]+)\)", value or "")
            assert not (value or "").startswith(("http://", "https://")) or name.startswith("xmlns")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def page_of(results: list[Result], folder: Path) -> str:
    return write(results, folder).read_text(encoding="utf-8")


def test_a_broken_claim_does_not_lose_the_others():
    seen = []
    claims = [claim("a/one", good()), claim("a/two", RuntimeError("no luck\nmore")), claim("a/three", good())]
    results = run_claims(claims, "quick", lambda index, total, each: seen.append((index, total, each.name)))
    assert [result.verdict.outcome for result in results] == ["holds", "inconclusive", "holds"]
    assert results[1].error == "RuntimeError: no luck"
    assert [result.passed for result in results] == [True, False, True]
    assert seen == [(0, 3, "a/one"), (1, 3, "a/two"), (2, 3, "a/three")]


def test_bad_input_is_not_a_verdict():
    with pytest.raises(InputError, match="no such size"):
        run_claims([claim("a/one", InputError("no such size"))], "quick")


def test_rows_match_the_header():
    with pytest.raises(ValueError, match="2 cells"):
        good(rows=((1,),))


def test_a_claim_names_a_known_paper():
    with pytest.raises(ValueError, match="nobody"):
        Claim("a/one", "It is so.", "nobody", "Theorem 1", lambda size: good())


def test_results_are_json_without_nan():
    (result,) = run_claims([claim("a/one", good())], "full")
    back = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert back["rows"] == [[100, 0.123456], [200, None]]
    assert back["size"] == "full" and "figure" not in back


def test_page_is_self_contained_and_its_ids_are_unique(tmp_path):
    results = run_claims([claim("a/one", good()), claim("a/two", good()), claim("b/three", good(figure=""))], "quick")
    text = page_of(results, tmp_path)
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.references) <= set(page.ids)
    assert not page.tags & {"script", "link", "img", "iframe", "object"}
    assert "@import" not in text and "made today" not in text
    assert text.count("<svg") == 2


def test_page_shows_every_part_of_a_result(tmp_path):
    text = page_of(run_claims([claim("a/one", good())], "quick"), tmp_path)
    wanted = [
        "holds",
        "It is so.",
        "Theorem 1",
        "Moniri et al. (2024)",
        "arXiv:2310.07891",
        "It fell by half.",
        "0.1235",
    ]
    wanted += ["0-9", "d = 100, 200", "abc123", "1 claim at quick size", 'href="#claim-a-one"', 'id="claim-a-one"']
    assert [each for each in wanted if each not in text] == []


def test_decimals_line_up_unless_they_differ_much(tmp_path):
    rows = ((0.82, 1e-4, -1.23456, 400), (0.45041, 1.0, float("nan"), 800), (0.55, 0.1, 0.12344, 1600))
    verdict = good(header=("a", "b", "c", "n"), rows=rows)
    cells = re.findall(r'<td class="n">([^<]*)</td>', page_of(run_claims([claim("a/one", verdict)], "quick"), tmp_path))
    assert cells[0::4] == ["0.8200", "0.4504", "0.5500"]
    assert cells[1::4] == ["0.0001", "1", "0.1"]
    assert cells[2::4] == ["−1.2346", "–", "0.1234"]
    assert cells[3::4] == ["400", "800", "1600"]


def test_all_text_is_escaped(tmp_path):
    nasty = "<b>&\"'</b><script>alert(1)</script>"
    verdict = Verdict("fails", nasty, (nasty,), ((nasty,),), nasty, nasty, "", (nasty,))
    bad = Claim("a/" + nasty, nasty, "moniri", nasty, lambda size: verdict)
    page = Page(page_of(run_claims([bad], "quick"), tmp_path))
    assert "script" not in page.tags
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", each) for each in page.ids)


def test_page_has_no_traces_of_the_machine(tmp_path):
    text = page_of(run_claims([claim("a/one", good())], "quick"), tmp_path)
    assert str(tmp_path) not in text and str(Path.home()) not in text


def test_writing_replaces_the_old_page_and_leaves_nothing_else(tmp_path):
    write([], tmp_path / "new" / "folder")
    write([], tmp_path / "new" / "folder")
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["index.html"]


def test_figure_without_svg_is_left_out():
    assert inline("", "f", "label") == ""


def test_figure_is_confined():
    svg = inline(FIGURE, "f1", 'a "label"')
    assert 'width="9pt"' not in svg and 'style="width: 11pt"' in svg and "DOCTYPE" not in svg
    assert "#f1 *{stroke-linecap" in svg
    assert 'id="f1-c1"' in svg and "url(#f1-c1)" in svg and 'xlink:href="#f1-m1"' in svg
    assert 'aria-label="a &quot;label&quot;"' in svg
    assert '<rect width="4" height="4"/>' in svg

"""The page that shows verdicts."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reported import FIGURE, claim, ended, good, open_, page_of, some_results

from giantstep.checks.check import check
from giantstep.checks.claim import Result, Verdict
from giantstep.checks.report.entry import by_paper, css_class
from giantstep.checks.report.numbers import numbers
from giantstep.checks.report.page import write
from giantstep.checks.statistics import RATES
from giantstep.citations import paper
from giantstep.lab.store.provenance import Provenance
from giantstep.results.table import duration


@pytest.fixture
def results() -> list[Result]:
    return some_results()


# The page as a whole


def test_page_is_self_contained_and_its_links_resolve(tmp_path, results):
    page = page_of(results, tmp_path)
    ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    for node in page.walk():
        assert node.tag not in {"script", "link", "img", "iframe", "object", "base", "form"}
        for name, value in node.attributes.items():
            if name in {"aria-labelledby", "aria-describedby"}:
                assert value in ids
            if name.endswith("href"):
                outside = node.tag == "a" and value.startswith("https://arxiv.org/abs/")
                assert outside or value[1:] in ids or (tmp_path / value).exists(), value
            assert set(re.findall(r"url\(#([^)]+)\)", value)) <= set(ids)
            assert name not in {"src", "srcset"} and not name.startswith("on")
    assert "@import" not in page.one("head").text and "url(" not in page.one("head").one("style").text
    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert policy.startswith("default-src 'none'") and "script" not in policy


def test_headings_landmarks_and_labels(tmp_path, results):
    page = page_of(results, tmp_path)
    assert page.one("html").attributes["lang"] == "en"
    for landmark in ("header", "main", "footer", "h1"):
        page.one(landmark)
    levels = [int(node.tag[1]) for node in page.walk() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    first = page.one("body").all("a")[0]
    assert first.attributes == {"class": "skip", "href": "#main"}
    labels = [node.attributes["aria-label"] for node in page.walk() if "aria-label" in node.attributes]
    assert len(set(labels)) == len(labels)
    assert all(node.attributes.get("role") == "group" for node in page.walk() if "tabindex" in node.attributes)


def test_tables_have_captions_and_headers(tmp_path, results):
    tables = page_of(results, tmp_path).all("table")
    assert len(tables) == 2 + 5  # the matrix, the claims, and the numbers of five claims
    for table in tables:
        assert table.one("caption").text.strip()
        assert all(head.attributes["scope"] in {"col", "row"} for head in table.all("th"))
        columns = len(table.one("thead").all("th"))
        for row in table.one("tbody").all("tr"):
            assert len(row.all("th", scope="row")) == 1 and len(row.all("th")) + len(row.all("td")) == columns


def test_roles_are_those_of_the_elements(tmp_path, results):
    table = page_of(results, tmp_path).one("table", kind="claims")
    roles = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell"}
    for node in table.walk():
        role = {"col": "columnheader", "row": "rowheader"}.get(node.attributes.get("scope", ""), roles.get(node.tag))
        assert node.attributes.get("role") == role


def test_an_empty_report_is_a_page(tmp_path):
    page = page_of([], tmp_path)
    assert "No claim was run." in page.one("header").text
    assert page.all("table") == []


def test_page_has_no_traces_of_the_machine(tmp_path, results):
    write(results, tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert str(tmp_path) not in text and str(Path.home()) not in text


def test_the_footer_says_what_made_the_page_and_no_more(tmp_path, results):
    footer, here = page_of(results, tmp_path).one("footer").text, Provenance.here()
    versions = f"giantstep {here.version} · Python {here.python} · JAX {here.jax} · NumPy {here.numpy}"
    made = re.escape(f"Made with {versions} · {here.device} ({here.machine}) · ")
    rest = r"The same results as data: verdicts\.json\.\s+To cite everything on this page, run giantstep cite\."
    assert re.fullmatch(rf"{made}\d{{4}}-\d\d-\d\d\.\s+{rest}", footer.strip())


# Top of the page


def test_the_lead_is_one_sentence(tmp_path, results):
    lead = page_of(results, tmp_path).one("p", kind="lead").text
    assert re.fullmatch(
        r"7 claims at quick size, \d+\.\d (?:s|min) in all: 2 hold, 1 is contradicted and holds with a correction, "
        r"1 is contradicted, 2 are undecided and 1 was not run "
        r"\(1 because of an error\)\.",
        lead,
    )


def test_how_rarely_tests_err_is_told_once(tmp_path, results):
    page = page_of(results, tmp_path)
    assert page.text.count(RATES) == 1 and RATES in page.one("header").text


def test_the_matrix_has_a_row_a_paper_and_a_marked_link_a_claim(tmp_path, results):
    rows = page_of(results, tmp_path).one("table", kind="matrix").one("tbody").all("tr")
    assert [row.one("th").text for row in rows] == [paper(key).short for key in ("moniri", "dandi", "saad_solla")]
    pills = [[(pill.text, pill.attributes["href"]) for pill in row.one("td").all("a")] for row in rows]
    assert pills[0][0] == ("✓ one: holds", "#claim-moniri-one")
    assert pills[1] == [
        ("✗ two: contradicted", "#claim-dandi-two"),
        ("○ five: not run", "#claim-dandi-five"),
        ("✎ six: contradicted, holds with a correction", "#claim-dandi-six"),
    ]


def test_what_does_not_hold_is_explained_at_the_top(tmp_path, results):
    rows = page_of(results, tmp_path).one("table", kind="claims").one("tbody").all("tr")
    sentences = {row.one("th").text: [node.text for node in row.all("span", kind="seen")] for row in rows}
    assert sentences["dandi/two"] == ["It rose by half."] and sentences["moniri/three"] == ["Who knows."]
    assert sentences["moniri/one"] == []
    assert [row.all("td")[0].text for row in rows][:3] == ["✓ holds", "? undecided at these sizes", "✓ holds"]


# Papers and claims


def test_claims_stand_under_their_papers_with_bibtex(tmp_path, results):
    sections = page_of(results, tmp_path).all("section", kind="paper")
    assert [each.attributes["id"] for each in sections] == ["paper-moniri", "paper-dandi", "paper-saad_solla"]
    names = [[node.text.split(maxsplit=1) for node in each.all("h3")] for each in sections]
    assert names[0] == [["1", "moniri/one"], ["2", "moniri/three"], ["3", "moniri/one figure"]]
    assert names[1] == [["4", "dandi/two"], ["5", "dandi/five"], ["6", "dandi/six"]]
    for section, key in zip(sections, ("moniri", "dandi", "saad_solla"), strict=True):
        source = paper(key)
        assert section.one("h2").text == source.title
        assert section.one("p", kind="authors").text == ", ".join(source.authors)
        details = section.one("details")
        assert details.one("pre").text == source.bibtex
        assert details.one("code", kind="command").text == f"giantstep cite {key}"
        assert all(source.arxiv in link.attributes["href"] for link in section.one("p", kind="venue").all("a"))
    assert "25(349):1–65" in sections[1].text and not sections[2].one("p", kind="venue").all("a")


def test_a_claim_shows_every_part_of_its_result(tmp_path, results):
    article = page_of(results, tmp_path).one("article", id="claim-moniri-one")
    assert article.one("strong", kind="holds").text == "✓ holds"
    assert article.one("p", kind="statement").text == "It is so."
    assert article.one("p", kind="source").text == "Moniri et al. (2024), Theorem 1"
    assert article.one("p", kind="seen").text == "It fell by half."
    facts = {each.one("dt").text: each.one("dd").text for each in article.all("div") if each.all("dt")}
    assert re.fullmatch(r"\d+\.\d (s|min)", facts.pop("Time"))
    assert facts == {
        "Test": "We compare, and allow 4%.",
        "Power": "A departure of 3% is seen.",
        "Finite-size trend": "It falls as 1/d.",
        "Sizes": "d = 100, 200",
        "Seeds": "0-9",
        "Settings": "abc123",
        "Run again": "giantstep check moniri/one --size quick",
    }
    assert "0.1235" in article.one("table").text


def test_the_words_of_the_source_stand_above_the_statement(tmp_path):
    quoted = {"quote": "It <is> c_1 n.", "place": "slide 3", "kind": "theorem"}
    (result,) = check([claim("a/one", good(), **quoted)], "quick")
    article = page_of([result], tmp_path).one("article")
    assert [each.attributes["class"] for each in article.all("p")][:2] == ["quote", "statement"]
    assert article.one("p", kind="quote").text == "Source: “It <is> c1 n.” (slide 3)"
    assert "Source: “It &lt;is&gt;" in result._repr_html_()
    (plain,) = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["results"]
    assert {name: plain[name] for name in quoted} == quoted and plain["of"] == ""


def test_a_statement_of_our_own_says_so(tmp_path):
    (result,) = check([claim("a/one", good(), of="giantstep")], "quick")
    assert page_of([result], tmp_path).one("article").one("p", kind="quote").text == "Our own statement."


def test_a_correction_stands_under_the_statement_with_its_verdict(tmp_path, results):
    article = page_of(results, tmp_path).one("article", id="claim-dandi-six")
    texts = [each.text for each in article.all("p", kind="statement")]
    assert texts == ["As worded. It is so.", "Corrected. It is nearly so."]
    assert article.one("strong", kind="corrected").text == "✎ contradicted, holds with a correction"


def test_counts_over_sets_of_seeds_stand_in_the_facts(tmp_path, results):
    several = replace(results[0], replicated=(good(), good(), open_()))
    article = page_of([several], tmp_path).one("article")
    facts = {each.one("dt").text: each.one("dd").text for each in article.all("div") if each.all("dt")}
    assert facts["Replicated"] == "holds 3 times, undecided at these sizes 1 times in 4 sets of seeds"


def test_what_is_not_there_leaves_no_empty_place(tmp_path, results):
    article = page_of(results, tmp_path).one("article", id="claim-saad-solla-four")
    assert [each.text for each in article.all("dt")] == ["Time", "Run again"]
    assert article.all("figure") == [] and article.all("table") == []
    assert all(each.text.strip() for each in article.all("p"))


def test_every_figure_has_a_caption_that_is_its_description(tmp_path, results):
    page = page_of(results, tmp_path)
    figures = page.all("figure")
    assert len(figures) == 5
    for figure in figures:
        svg, caption = figure.one("svg"), figure.one("figcaption").text
        assert svg.attributes["role"] == "img"
        assert figure.one("title", id=svg.attributes["aria-labelledby"]).text.startswith("Figure ")
        words = figure.one("desc", id=svg.attributes["aria-describedby"]).text
        assert words and re.fullmatch(rf"Figure \d\. {re.escape(words)}", caption)
    assert figures[0].one("desc").text == "A line and dots on it."
    assert figures[2].one("desc").text == "It fell by half."  # no caption: what was seen


def test_a_stored_measurement_is_marked(tmp_path):
    (result,) = check([claim("a/one", good())], "full")
    page = page_of([replace(result, stored=True, seconds=12.34)], tmp_path)
    assert "measured in 12.3 s, stored" in page.one("article").text
    assert "earlier measurement" in page.one("footer").text
    assert "--size full" in page.one("article").one("pre").text


def test_anchors_of_like_names_differ():
    names = ["a/one", "a-one", "a/one figure", "a/é", "a/è", "a/one 2"]
    results = [Result(claim(name, good()), good(), 1.0, "quick") for name in names]
    anchors = [entry.anchor for _, entries in by_paper(results) for entry in entries]
    assert len(set(anchors)) == len(names)


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (12.34, "12.3 s"), (270, "4.5 min"), (7560, "2.1 h")])
def test_durations(seconds: float, text: str):
    assert duration(seconds) == text


def test_rough_durations():
    texts = {3: "about 10 s", 34: "about 30 s", 70: "about 1 min", 200: "about 3 min", 5400: "about 1.5 h"}
    assert {seconds: duration(seconds, rough=True) for seconds in texts} == texts


def test_decimals_line_up_unless_they_differ_much(tmp_path):
    rows = ((0.82, 1e-4, -1.23456, 400), (0.45041, 1.0, float("nan"), 800), (0.55, 0.1, 0.12344, 1600))
    verdict = good(header=("a", "b", "c", "n"), rows=rows)
    page = page_of([ended("a/one", verdict)], tmp_path)
    lines = page.one("table", kind="numbers").one("tbody").all("tr")
    columns = list(zip(*([cell.text for cell in line.all(kind="n")] for line in lines), strict=True))
    assert columns[0] == ("0.8200", "0.4504", "0.5500")
    assert columns[1] == ("0.0001", "1", "0.1")
    assert columns[2] == ("−1.2346", "–", "0.1234")
    assert columns[3] == ("400", "800", "1600")


def test_small_numbers_have_five_decimals_beside_larger_ones(tmp_path):
    verdict = good(header=("a",), rows=((0.0107754,), (0.00036018,)))
    page = page_of([ended("a/one", verdict)], tmp_path)
    assert [cell.text for cell in page.one("table", kind="numbers").all(kind="n")][1:] == ["0.01078", "0.00036"]


def test_long_tables_are_folded_and_a_claim_leads_to_the_next(tmp_path):
    long, short = (good(header=("a",), rows=tuple((float(i),) for i in range(count))) for count in (13, 12))
    page = page_of([ended("moniri/one", long), ended("moniri/two", short)], tmp_path)
    (folded,) = page.all("details", kind="long")
    assert folded.one("summary").text.endswith("13 rows") and len(folded.one("tbody").all("tr")) == 13
    first, second = page.all("article")
    (link,) = first.one("p", kind="back").all("a")
    assert link.attributes["href"] == f"#{second.attributes['id']}" and not second.all("p", kind="back")


def test_a_script_in_the_text_of_a_claim_is_escaped(tmp_path):
    script = "<script>alert(1)</script>"
    results = check([claim("a/one", good(sentence=script), statement=script, test=script)], "quick")
    page = write(results, tmp_path).read_text(encoding="utf-8")
    assert "<script" not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4


NASTY = "</style><b>&\"'</b><script>alert(1)</script>|`*\\ \ud800"


def test_hostile_text_stays_text(tmp_path):
    texts: dict[str, Any] = {name: NASTY for name in ("sentence", "seeds", "sizes", "caption", "power", "trend")}
    verdict = Verdict("contradicted", header=(NASTY,), rows=((NASTY,),), figure=FIGURE, settings=(NASTY,), **texts)
    results = [ended("a/" + NASTY, verdict, statement=NASTY, where=NASTY, test=NASTY)]
    page = page_of(results, tmp_path)
    shown = NASTY.replace("\ud800", "?")
    article = page.one("article")
    assert page.all("script") == [] and len(page.all("style")) == 2  # that of the page and that of the figure
    assert all(
        re.fullmatch(r"[A-Za-z0-9_-]+", node.attributes["id"]) for node in page.walk() if "id" in node.attributes
    )
    for place in (article.one("h3"), article.one("figcaption"), article.one("desc"), article.one("tbody")):
        assert shown in place.text
    for kind in ("statement", "source", "seen"):
        assert shown in article.one("p", kind=kind).text
    assert [each.text for each in article.all("dd")][:6] == [shown] * 6
    assert json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["results"][0]["sentence"] == shown


def test_the_command_is_one_that_a_shell_reads_back(tmp_path):
    import shlex

    name = "a/it's $HOME; rm"
    page = page_of([ended(name, good())], tmp_path)
    command = page.one("article").one("code", kind="command").text
    assert shlex.split(command) == ["giantstep", "check", name, "--size", "quick"]


def test_contents_and_filters_name_every_claim_verdict_and_paper(tmp_path):
    """The choices come before all that they filter, and what they hide says its verdict and its paper."""
    results = some_results()
    write(results, tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    page = page_of(results, tmp_path)
    (contents,) = [node for node in page.all("nav") if node.attributes.get("id") == "contents"]
    linked = {node.attributes["href"][1:] for node in contents.all("a")}
    assert {node.attributes["id"] for node in page.all("article")} <= linked
    outcomes = {css_class(result.verdict.outcome) for result in results}
    choices = {node.attributes["id"] for node in page.all("input")}
    assert choices == {"only-every", "only-paper"} | {f"only-{each}" for each in outcomes} | {
        f"only-paper-{result.claim.paper}" for result in results
    }
    assert {node.attributes["for"] for node in contents.all("label")} == choices
    assert text.rindex("<input") < text.index("<header") and text.count(" checked>") == 2
    for node in page.all("article"):
        assert node.attributes["data-outcome"] in outcomes
    for choice in choices - {"only-every", "only-paper"}:
        assert f"#{choice}:checked ~ * " in text


def test_formulas_of_the_texts_are_typeset(tmp_path):
    found = good(sentence="As alpha grows, n^alpha is -0.5 away, 2e-04 at F_ℓ.")
    write([ended("moniri/one", found)], tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "As α grows, n<sup>α</sup> is −0.5 away, 2·10<sup>−4</sup> at F<sub>ℓ</sub>." in text  # noqa: RUF001


def test_differences_and_intervals_have_fewer_digits():
    verdict = good(
        header=("measured", "difference", "interval ±"), rows=((1.23456, 0.36431, 0.05092), (1.5, -0.0126, 0.0487))
    )
    assert [[text for text, _ in row] for row in numbers(verdict).rows] == [
        ["1.235", "0.3643", "0.051"],
        ["1.500", "−0.0126", "0.049"],
    ]

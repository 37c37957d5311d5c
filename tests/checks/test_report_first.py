"""The first page of a report: counts, what is contradicted or open, and a line for every claim."""

import re

import pytest
from reported import page_of, pages_in, some_results

from giantstep.checks.report._entry import MEANING, css_class
from giantstep.checks.report.page import write
from giantstep.checks.verdict import Result
from giantstep.citations import paper


@pytest.fixture
def results() -> list[Result]:
    return some_results()


def test_the_lead_says_how_much_and_how_long(tmp_path, results):
    assert re.fullmatch(
        r"7 claims at quick size\. One after another, the claims take \d+\.\d (?:s|min)\.",
        page_of(results, tmp_path).one("p", kind="lead").text,
    )
    write(results, tmp_path, 387.0)
    assert " The check took 6.5 min. " in pages_in(tmp_path)["index.html"].one("p", kind="lead").text


def test_a_page_is_described_by_its_counts(tmp_path, results):
    page = page_of(results, tmp_path)
    assert page.one("meta", name="description").attributes["content"] == (
        "7 claims at quick size: 2 hold, 1 is contradicted and holds with a correction, "
        "1 is contradicted, 2 are undecided and 1 was not run (1 because of an error)."
    )


def test_every_outcome_has_its_count_and_its_meaning(tmp_path, results):
    lines = page_of(results, tmp_path).one("ul", kind="outcomes").all("li")
    counts = {line.one("strong").one("span").text: int(line.one("b", kind="count").text) for line in lines}
    assert counts == {outcome: sum(each.verdict.outcome == outcome for each in results) for outcome in MEANING}
    assert all(meaning in line.text for line, meaning in zip(lines, MEANING.values(), strict=True))
    assert "An error stopped 1 of them." in lines[-1].text


def test_power_is_told_once(tmp_path, results):
    words = "A true statement is called false in at most one of 5000 checks."
    assert page_of(results, tmp_path).one("header").text.count(words) == 1
    assert all(words not in page.text for place, page in pages_in(tmp_path).items() if place != "index.html")


def test_the_matrix_counts_the_verdicts_of_every_paper(tmp_path, results):
    table = page_of(results, tmp_path).one("table", kind="matrix")
    heads = [head.text for head in table.one("thead").all("th")]
    assert heads == ["Paper", "✓holds", "✎contradicted, holds with a correction", "✗contradicted"] + [
        "?undecided at these sizes",
        "○not run",
    ]
    rows = {row.one("th").text: [cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")}
    assert rows == {
        paper("moniri").short: ["2", "", "", "1", ""],
        paper("dandi").short: ["", "1", "1", "", "1"],
        paper("saad_solla").short: ["", "", "", "1", ""],
    }
    links = [link.attributes["href"] for link in table.all("a")]
    assert links == ["papers/moniri.html", "papers/dandi.html", "papers/saad_solla.html"]


def test_what_does_not_hold_is_told_before_the_claims(tmp_path, results):
    page = page_of(results, tmp_path)
    sections = page.all("section", kind="findings")
    assert [each.attributes["id"] for each in sections] == ["contradicted", "corrected", "undecided", "not-run"]
    places = [node.attributes.get("id") for node in page.one("main").all("section")]
    assert places.index("not-run") < places.index("claims")
    fails, corrected, open_ones, not_run = sections
    assert fails.one("a").attributes["href"] == "papers/dandi.html#claim-dandi-two"
    assert fails.one("p", kind="seen").text == "It rose by half."
    texts = [each.text for each in corrected.all("p", kind="statement")]
    assert texts == ["As worded. It is so.", "Corrected. It is nearly so."]
    assert [each.text for each in open_ones.all("a")] == ["moniri/three", "saad_solla/four"]
    assert not_run.one("li").one("span", kind="line").text == "The claim could not be run: RuntimeError: no luck"


def test_every_claim_has_a_line_under_its_paper(tmp_path, results):
    section = page_of(results, tmp_path).one("section", id="claims")
    papers = section.all("section")[1:]
    assert [each.one("h3").one("a").text for each in papers] == [
        paper(key).short for key in ("moniri", "dandi", "saad_solla")
    ]
    lines = [(line.one("a").text, line.one("a").attributes["href"]) for line in papers[1].all("li")]
    assert lines == [
        ("two: contradicted", "papers/dandi.html#claim-dandi-two"),
        ("five: not run", "papers/dandi.html#claim-dandi-five"),
        ("six: contradicted, holds with a correction", "papers/dandi.html#claim-dandi-six"),
    ]
    assert [line.one("b").text for line in papers[1].all("li")] == ["✗", "○", "✎"]
    assert papers[1].all("li")[0].one("span", kind="line").text == "It is so."


def test_the_lines_of_one_verdict_can_be_chosen(tmp_path, results):
    """A style hides the lines of other verdicts, so a line says its verdict, and a paper all of its verdicts."""
    page = page_of(results, tmp_path)
    section, style = page.one("section", id="claims"), page.one("head").one("style").text
    outcomes = {css_class(result.verdict.outcome) for result in results}
    choices = {node.attributes["id"] for node in section.one("fieldset").all("input")}
    assert choices == {"only-every"} | {f"only-{each}" for each in outcomes} and len(section.all(checked="")) == 1
    for outcome in outcomes:
        assert f"#claims:has(#only-{outcome}:checked) " in style
    for each in section.all("section")[1:]:
        own = {line.attributes["data-outcome"] for line in each.all("li")}
        assert own == set(each.attributes["data-outcomes"].split()) and own <= outcomes


def test_contents_lead_to_every_part_and_every_claim(tmp_path, results):
    contents = page_of(results, tmp_path).one("nav", id="contents")
    assert [link.attributes["href"] for link in contents.all("a")] == [
        *("#summary", "#contradicted", "#corrected", "#undecided", "#not-run", "#claims"),
        *("#of-moniri", "#of-dandi", "#of-saad_solla"),
    ]
    page = pages_in(tmp_path)["papers/dandi.html"]
    links = [link.attributes["href"] for link in page.one("nav", id="contents").all("a")]
    assert links == ["../index.html", *(f"#{each.attributes['id']}" for each in page.all("article"))]

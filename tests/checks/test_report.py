"""The pages that show verdicts."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reported import FIGURE, broken_links, claim, ended, good, open_, page_of, pages_in, paper_of, some_results

from giantstep.checks._check import check
from giantstep.checks.report._entry import by_paper
from giantstep.checks.report._numbers import numbers
from giantstep.checks.report.page import write
from giantstep.checks.verdict import Result, Verdict
from giantstep.citations import paper
from giantstep.lab.store.provenance import Provenance
from giantstep.results.table import duration


@pytest.fixture
def results() -> list[Result]:
    return some_results()


# The pages as a whole


def test_pages_ask_nothing_of_the_network_and_their_links_resolve(tmp_path, results):
    write(results, tmp_path)
    pages = pages_in(tmp_path)
    assert sorted(pages) == ["index.html", *(f"papers/{key}.html" for key in ("dandi", "moniri", "saad_solla"))]
    assert broken_links(tmp_path) == []
    for page in pages.values():
        ids = [node.attributes["id"] for node in page.walk() if "id" in node.attributes]
        assert len(set(ids)) == len(ids)
        for node in page.walk():
            assert node.tag not in {"script", "link", "iframe", "object", "base", "form"}
            for name, value in node.attributes.items():
                if name in {"aria-labelledby", "aria-describedby"}:
                    assert value in ids
                assert name != "srcset" and not name.startswith("on")
        assert "@import" not in page.one("head").text and "url(" not in page.one("head").one("style").text
        policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
        assert policy.startswith("default-src 'none'") and "script" not in policy


def test_the_first_page_is_light(tmp_path, results):
    """It has neither figures nor tables of numbers, and a claim adds a line."""
    page = page_of(results, tmp_path)
    assert not page.all("img") and not page.all("svg") and not page.all("table", kind="numbers")
    size = (tmp_path / "index.html").stat().st_size
    more = [ended(f"moniri/more {i}", good()) for i in range(100)]
    write([*results, *more], tmp_path)
    assert (tmp_path / "index.html").stat().st_size - size < 100 * 500


def test_headings_landmarks_and_labels(tmp_path, results):
    write(results, tmp_path)
    for page in pages_in(tmp_path).values():
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
    write(results, tmp_path)
    tables = [table for page in pages_in(tmp_path).values() for table in page.all("table")]
    assert len(tables) == 1 + 5  # the matrix, and the numbers of five claims
    for table in tables:
        assert table.one("caption").text.strip()
        assert all(head.attributes["scope"] in {"col", "row"} for head in table.all("th"))
        columns = len(table.one("thead").all("th"))
        for row in table.one("tbody").all("tr"):
            assert len(row.all("th", scope="row")) == 1 and len(row.all("th")) + len(row.all("td")) == columns


def test_an_empty_report_is_a_page(tmp_path):
    page = page_of([], tmp_path)
    assert "No claim was run." in page.one("header").text
    assert page.all("table") == []


def test_page_has_no_traces_of_the_machine(tmp_path, results):
    write(results, tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file())
    assert str(tmp_path) not in text and str(Path.home()) not in text


def test_the_footer_says_what_made_the_page_and_no_more(tmp_path, results):
    footer, here = page_of(results, tmp_path).one("footer").text, Provenance.here()
    versions = f"giantstep {here.version} · Python {here.python} · JAX {here.jax} · NumPy {here.numpy}"
    made = re.escape(f"Made with {versions} · {here.device} ({here.machine}) · ")
    rest = r"The same results as data: verdicts\.json\.\s+To cite everything in this report, run giantstep cite\."
    assert re.fullmatch(rf"{made}\d{{4}}-\d\d-\d\d\.\s+{rest}", footer.strip())


# The pages of papers


def test_a_paper_has_its_page_with_bibtex(tmp_path, results):
    write(results, tmp_path)
    pages = {place[7:-5]: page for place, page in pages_in(tmp_path).items() if place.startswith("papers/")}
    names = {key: [node.text.split(maxsplit=1) for node in page.one("main").all("h2")] for key, page in pages.items()}
    assert names["moniri"] == [["1", "moniri/one"], ["2", "moniri/three"], ["3", "moniri/one figure"]]
    assert names["dandi"] == [["1", "dandi/two"], ["2", "dandi/five"], ["3", "dandi/six"]]
    for key, page in pages.items():
        source, header = paper(key), page.one("header")
        assert header.one("h1").text == source.title
        assert header.one("p", kind="authors").text == ", ".join(source.authors)
        details = header.one("details")
        assert details.one("pre").text == source.bibtex
        assert details.one("code", kind="command").text == f"giantstep cite {key}"
        assert all(source.arxiv in link.attributes["href"] for link in header.one("p", kind="venue").all("a"))
    assert "25(349):1–65" in pages["dandi"].text and not pages["saad_solla"].one("p", kind="venue").all("a")
    assert pages["moniri"].one("p", kind="lead").text == "3 claims at quick size: 2 hold and 1 is undecided."
    after = [page.one("main").all("p", kind="back")[-1].all("a") for page in (pages["moniri"], pages["saad_solla"])]
    assert [[link.attributes["href"] for link in links] for links in after] == [
        ["dandi.html", "../index.html"],
        ["../index.html"],
    ]


def test_a_claim_shows_every_part_of_its_result(tmp_path, results):
    article = paper_of(results, tmp_path).one("article", id="claim-moniri-one")
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
    article = paper_of([result], tmp_path).one("article")
    assert [each.attributes["class"] for each in article.all("p")][:2] == ["quote", "statement"]
    assert article.one("p", kind="quote").text == "Source: “It <is> c1 n.” (slide 3)"
    assert "Source: “It &lt;is&gt;" in result._repr_html_()
    (plain,) = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["results"]
    assert {name: plain[name] for name in quoted} == quoted and plain["of"] == ""


def test_a_statement_of_our_own_says_so(tmp_path):
    (result,) = check([claim("a/one", good(), of="giantstep")], "quick")
    assert paper_of([result], tmp_path, "giantstep").one("article").one("p", kind="quote").text == "Our own statement."


def test_a_correction_stands_under_the_statement_with_its_verdict(tmp_path, results):
    article = paper_of(results, tmp_path, "dandi").one("article", id="claim-dandi-six")
    texts = [each.text for each in article.all("p", kind="statement")]
    assert texts == ["As worded. It is so.", "Corrected. It is nearly so."]
    assert article.one("strong", kind="corrected").text == "✎ contradicted, holds with a correction"


def test_counts_over_sets_of_seeds_stand_in_the_facts(tmp_path, results):
    several = replace(results[0], replicated=(good(), good(), open_()))
    article = paper_of([several], tmp_path).one("article")
    facts = {each.one("dt").text: each.one("dd").text for each in article.all("div") if each.all("dt")}
    assert facts["Replicated"] == "holds 3 times, undecided at these sizes 1 times in 4 sets of seeds"


def test_what_is_not_there_leaves_no_empty_place(tmp_path, results):
    article = paper_of(results, tmp_path, "saad_solla").one("article", id="claim-saad-solla-four")
    assert [each.text for each in article.all("dt")] == ["Time", "Run again"]
    assert article.all("figure") == [] and article.all("table") == []
    assert all(each.text.strip() for each in article.all("p"))


def test_every_figure_is_a_file_with_a_caption_that_describes_it(tmp_path, results):
    write(results, tmp_path)
    figures = [(page, figure) for page in pages_in(tmp_path).values() for figure in page.all("figure")]
    assert len(figures) == 5 == len(list(tmp_path.glob("papers/*/*.svg")))
    for page, figure in figures:
        picture, caption = figure.one("img"), figure.one("figcaption")
        assert re.fullmatch(r"Figure \d, [a-z]+/[a-z ]+", picture.attributes["alt"])
        assert page.one(id=picture.attributes["aria-describedby"]) is caption
        assert re.fullmatch(r"Figure \d\. [A-Z].+", caption.text)
        assert picture.attributes["loading"] == "lazy" and picture.attributes["width"] == "11"
    captions = [figure.one("figcaption").text for _, figure in figures]
    assert "Figure 1. A line and dots on it." in captions
    assert "Figure 3. It fell by half." in captions  # no caption: what was seen


def test_a_stored_measurement_is_marked(tmp_path):
    (result,) = check([claim("a/one", good())], "full")
    page = paper_of([replace(result, stored=True, seconds=12.34)], tmp_path)
    assert "measured in 12.3 s, stored" in page.one("article").text
    assert "earlier measurement" in page.one("footer").text
    assert "--size full" in page.one("article").one("pre").text


def test_anchors_of_like_names_differ():
    names = ["a/one", "a-one", "a/one figure", "a/é", "a/è", "a/one 2"]
    results = [Result(claim(name, good()), good(), 1.0, "quick") for name in names]
    (group,) = by_paper(results)
    assert len({entry.anchor for entry in group.entries}) == len({*group.places}) - 1 == len(names)


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (12.34, "12.3 s"), (270, "4.5 min"), (7560, "2.1 h")])
def test_durations(seconds: float, text: str):
    assert duration(seconds) == text


def test_rough_durations():
    texts = {3: "about 10 s", 34: "about 30 s", 70: "about 1 min", 200: "about 3 min", 5400: "about 1.5 h"}
    assert {seconds: duration(seconds, rough=True) for seconds in texts} == texts


def test_decimals_line_up_unless_they_differ_much(tmp_path):
    rows = ((0.82, 1e-4, -1.23456, 400), (0.45041, 1.0, float("nan"), 800), (0.55, 0.1, 0.12344, 1600))
    verdict = good(header=("a", "b", "c", "n"), rows=rows)
    page = paper_of([ended("a/one", verdict)], tmp_path)
    lines = page.one("table", kind="numbers").one("tbody").all("tr")
    columns = list(zip(*([cell.text for cell in line.all(kind="n")] for line in lines), strict=True))
    assert columns[0] == ("0.8200", "0.4504", "0.5500")
    assert columns[1] == ("0.0001", "1", "0.1")
    assert columns[2] == ("−1.2346", "–", "0.1234")
    assert columns[3] == ("400", "800", "1600")


def test_small_numbers_have_five_decimals_beside_larger_ones(tmp_path):
    verdict = good(header=("a",), rows=((0.0107754,), (0.00036018,)))
    page = paper_of([ended("a/one", verdict)], tmp_path)
    assert [cell.text for cell in page.one("table", kind="numbers").all(kind="n")][1:] == ["0.01078", "0.00036"]


def test_long_tables_are_folded_and_a_claim_leads_to_the_next(tmp_path):
    long, short = (good(header=("a",), rows=tuple((float(i),) for i in range(count))) for count in (13, 12))
    page = paper_of([ended("moniri/one", long), ended("moniri/two", short)], tmp_path)
    first, second = page.all("article")
    folded = first.one("details")
    assert folded.one("summary").text.endswith("13 rows.") and len(folded.one("tbody").all("tr")) == 13
    assert second.all("details") == [] and len(second.one("tbody").all("tr")) == 12
    links = [[link.attributes["href"] for link in each.one("p", kind="back").all("a")] for each in (first, second)]
    assert links == [[f"#{second.attributes['id']}", "#contents"], ["#contents"]]


def test_a_table_wider_than_a_phone_says_that_it_scrolls(tmp_path):
    wide = good(header=("a", "b"), rows=(("a long text in the first column", "and another one"),))
    page = paper_of([ended("moniri/one", wide), ended("moniri/two", good())], tmp_path)
    first, second = page.all("article")
    assert first.one("p", kind="name").one("span", kind="hint").text == " The table scrolls sideways."
    assert second.one("p", kind="name").all("span", kind="hint") == []


def test_a_script_in_the_text_of_a_claim_is_escaped(tmp_path):
    script = "<script>alert(1)</script>"
    write(check([claim("moniri/one", good(sentence=script), statement=script, how=script)], "quick"), tmp_path)
    for place, times in (("index.html", 1), ("papers/moniri.html", 3)):
        page = (tmp_path / place).read_text(encoding="utf-8")
        assert "<script" not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == times


NASTY = "</style><b>&\"'</b><script>alert(1)</script>|`*\\ \ud800"


def test_hostile_text_stays_text(tmp_path):
    texts: dict[str, Any] = {name: NASTY for name in ("sentence", "seeds", "sizes", "caption", "power", "trend")}
    verdict = Verdict("contradicted", header=(NASTY,), rows=((NASTY,),), figure=FIGURE, settings=(NASTY,), **texts)
    results = [ended("a/" + NASTY, verdict, statement=NASTY, where=NASTY, how=NASTY)]
    page = paper_of(results, tmp_path)
    shown = NASTY.replace("\ud800", "?")
    article = page.one("article")
    for each in pages_in(tmp_path).values():
        assert each.all("script") == [] and len(each.all("style")) == 1
        assert all(
            re.fullmatch(r"[A-Za-z0-9_-]+", node.attributes["id"]) for node in each.walk() if "id" in node.attributes
        )
    for place in (article.one("h2"), article.one("figcaption"), article.one("tbody")):
        assert shown in place.text
    assert shown in article.one("img").attributes["alt"]
    for kind in ("statement", "source", "seen"):
        assert shown in article.one("p", kind=kind).text
        assert shown in pages_in(tmp_path)["index.html"].one("section", kind="findings").one(kind=kind).text
    assert [each.text for each in article.all("dd")][:6] == [shown] * 6
    assert json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["results"][0]["sentence"] == shown


def test_the_command_is_one_that_a_shell_reads_back(tmp_path):
    import shlex

    name = "a/it's $HOME; rm"
    page = paper_of([ended(name, good())], tmp_path)
    command = page.one("article").one("code", kind="command").text
    assert shlex.split(command) == ["giantstep", "check", name, "--size", "quick"]


def test_formulas_of_the_texts_are_typeset(tmp_path):
    found = good(sentence="As alpha grows, n^alpha is -0.5 away, 2e-04 at F_ℓ.")
    write([ended("moniri/one", found)], tmp_path)
    text = (tmp_path / "papers/moniri.html").read_text(encoding="utf-8")
    assert "As α grows, n<sup>α</sup> is −0.5 away, 2·10<sup>−4</sup> at F<sub>ℓ</sub>." in text  # noqa: RUF001


def test_differences_and_intervals_have_fewer_digits():
    verdict = good(
        header=("measured", "difference", "interval ±"), rows=((1.23456, 0.36431, 0.05092), (1.5, -0.0126, 0.0487))
    )
    assert [[text for text, _ in row] for row in numbers(verdict).rows] == [
        ["1.235", "0.3643", "0.051"],
        ["1.500", "−0.0126", "0.049"],
    ]

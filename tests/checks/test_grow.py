"""The report that grows while claims run, and what the terminal says meanwhile."""

import json
import re
from pathlib import Path

import page as pages
import pytest
import toys
from reported import bad, broken_links, claim, good, pages_in

from giantstep import cli
from giantstep.checks._check import check
from giantstep.checks._expected import longest_first, read_seconds
from giantstep.checks._standing import Standing, count_verdicts
from giantstep.checks.cache import Interrupted
from giantstep.checks.report import _grow as growth
from giantstep.checks.report._follow import following, line
from giantstep.checks.report._grow import growing
from giantstep.checks.report.page import write
from giantstep.checks.verdict import Result, Verdict
from giantstep.errors import InputError

CLAIMS = [claim("moniri/one", good()), claim("dandi/two", bad(), "dandi"), claim("moniri/three", good())]


def read_both(folder: Path) -> tuple[pages.Node, dict]:
    """The page and its twin as they are now."""
    twin = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    return pages.read((folder / "index.html").read_text(encoding="utf-8")), twin


def facts(page: pages.Node) -> dict[str, str]:
    section = page.one("section", kind="unfinished")
    return {each.one("dt").text: each.one("dd").text for each in section.all("div")}


def lines(page: pages.Node) -> list[str]:
    """The claims of a first page with their verdicts."""
    return [line.one("a").text for each in page.all("section", id="claims") for line in each.all("li")]


def refreshes(page: pages.Node) -> list[str]:
    return [node.attributes["content"] for node in page.all("meta") if node.attributes.get("http-equiv") == "refresh"]


def test_the_page_is_there_at_the_start_and_after_every_claim(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "PAUSE", 0.0)
    monkeypatch.setattr(growth, "LEAST", 0.0)
    pages_so_far = []

    def look(standing: Standing) -> None:
        grow(standing)
        pages_so_far.append(read_both(tmp_path))

    with growing(tmp_path) as grow:
        results = check(CLAIMS, "quick", on_progress=look)
    (start, empty), (first, one), (second, two), _ = pages_so_far
    assert "No claim has ended yet." in start.one("header").text and empty["results"] == []
    assert facts(start)["Running"] == "moniri/one" and "2 claims" in facts(start)["Waiting"]
    assert lines(start) == [] and lines(first) == ["one: holds"]
    assert facts(first)["Running"] == "dandi/two" and "1 claim" in facts(first)["Waiting"]
    assert "moniri/three" in facts(first)["Waiting"] and facts(first)["Time left"].startswith("about 10 s")
    assert facts(second)["Waiting"] == "no claim" and lines(second) == ["one: holds", "two: contradicted"]
    words = first.one("section", kind="unfinished").text
    assert "This report is incomplete" in words and "1 of 3 claims has ended." in words
    assert re.search(r"It was last written at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.", words)
    assert [len(each["results"]) for each in (empty, one, two)] == [0, 1, 2]
    assert all(refreshes(page) == ["10"] and twin["complete"] is False for page, twin in pages_so_far)

    write(results, tmp_path)
    page, twin = read_both(tmp_path)
    assert refreshes(page) == [] and page.all("section", kind="unfinished") == [] and twin["complete"] is True
    assert all("incomplete" not in each.text for each in pages_in(tmp_path).values())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["index.html", "papers", "verdicts.json"]


def test_the_page_of_a_paper_is_written_when_one_of_its_claims_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "PAUSE", 0.0)
    monkeypatch.setattr(growth, "LEAST", 0.0)
    seen = []

    def look(standing: Standing) -> None:
        grow(standing)
        seen.append(pages_in(tmp_path))
        assert broken_links(tmp_path) == []
        if len(standing.results) == 1:
            (tmp_path / "papers/moniri.html").touch()
            old.append((tmp_path / "papers/moniri.html").stat().st_mtime_ns)

    old: list[int] = []
    with growing(tmp_path) as grow:
        check(CLAIMS, "quick", on_progress=look)
    start, first, second, _ = seen
    assert list(start) == ["index.html"] and list(first) == ["index.html", "papers/moniri.html"]
    assert list(second) == ["index.html", "papers/dandi.html", "papers/moniri.html"]
    page = first["papers/moniri.html"]
    assert page.one("article").one("p", kind="seen").text == "It fell by half." and len(page.all("figure")) == 1
    assert "1 claim of this paper has not ended: moniri/three." in page.one("section", kind="unfinished").text
    assert refreshes(page) == []  # whoever reads it stays where he is
    assert second["papers/dandi.html"].all("section", kind="unfinished") == []
    # The end of a claim of another paper leaves this page as it is.
    assert (tmp_path / "papers/moniri.html").stat().st_mtime_ns == old[0]


@pytest.mark.parametrize("problem", [Interrupted(), KeyboardInterrupt(), InputError("no")])
def test_a_check_that_is_stopped_leaves_what_is_known(tmp_path, monkeypatch, problem):
    monkeypatch.setattr(growth, "PAUSE", 1e9)  # only the first page is written by and by

    def stop(size, seeds) -> dict:
        raise problem

    last = toys.claim("moniri/slow", good(), measure=stop)
    with pytest.raises(type(problem)), growing(tmp_path) as grow:
        check([CLAIMS[0], last, CLAIMS[1]], "quick", on_progress=grow)
    page, twin = read_both(tmp_path)
    assert [each["claim"] for each in twin["results"]] == ["moniri/one"] and twin["complete"] is False
    assert refreshes(page) == [] and "Running" not in facts(page) and "2 claims" in facts(page)["Waiting"]
    assert "The check was stopped at " in page.one("section", kind="unfinished").text


def test_a_killed_check_leaves_a_page_that_says_so(two, tmp_path, monkeypatch):
    """After a kill nothing more is written: the page of the last moment is the one to read."""
    monkeypatch.setattr("giantstep.checks.report.page.write", lambda results, folder, took: folder / "index.html")
    assert cli.run(["check", "--out", str(tmp_path)]) == 1
    page, twin = read_both(tmp_path)
    assert twin["complete"] is False and "If that is long ago, the check was stopped." in page.one("main").text


@pytest.mark.parametrize(
    "moments",
    [
        [0.0, 2.0, 41.0, 42.5, 44.5],  # 2 s to write: not again before 42 s
        [0.0, 0.1, 9.9, 10.2, 10.3],  # quickly written: not again before 10.1 s, because a browser loads it every 10 s
    ],
)
def test_pages_are_not_written_too_often(tmp_path, monkeypatch, moments):
    times = iter(moments)
    written = []
    monkeypatch.setattr(growth.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(growth, "write_so_far", lambda standing, folder, since: written.append((standing, since)))
    standings = [Standing(running=(CLAIMS[0],), workers=k) for k in range(3)]
    with growing(tmp_path) as grow:
        for each in standings:
            grow(each)
    assert written == [(standings[0], None), (standings[2], standings[0])]


# The terminal


@pytest.fixture
def two(replace_claims):
    replace_claims(tuple(CLAIMS[:2]))


def test_lines_without_a_terminal_and_one_object_on_standard_output(two, tmp_path, capsys):
    assert cli.run(["check", "--json", "--out", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)["results"]) == 2 and captured.out.count("\n") == 1
    assert captured.err.splitlines() == [
        "[1/2] moniri/one: holds (0.0 s), about 10 s left",
        "[2/2] dandi/two: contradicted (0.0 s)",
    ]
    cli.run(["check", "--out", str(tmp_path)])
    assert capsys.readouterr().err == ""  # nothing ran


def result(name: str, seconds: float, outcome: str = "holds", **changes) -> Result:
    verdict = Verdict(outcome, "Seen.")  # type: ignore[arg-type]
    return Result(claim(name, verdict), verdict, seconds, "quick", **changes)


def test_time_left_is_the_mean_of_those_that_ran_shared_by_the_workers():
    ran = (result("a/1", 30.0), result("a/2", 10.0), result("a/3", 0.0, "not run"), result("a/4", 900.0, stored=True))
    now = Standing(ran, tuple(CLAIMS[:2]), tuple(CLAIMS[2:]), ran[1], 2)
    assert now.seconds_left == pytest.approx(3 * 20.0 / 2)
    assert line(now) == "[4/7] a/2: holds (10.0 s), about 30 s left"
    assert Standing(ran, (CLAIMS[0],), (), ran[0], 2).seconds_left == 20.0  # one claim has one worker
    assert Standing(ran[2:], (CLAIMS[0],)).seconds_left is None and Standing(ran).seconds_left is None


def test_time_left_goes_by_what_claims_cost_before():
    expected = {"a/1": 3.0, "moniri/one": 6.0, "dandi/two": 1.0}
    now = Standing((result("a/1", 30.0),), (CLAIMS[0],), (CLAIMS[1],), None, 1, expected)
    assert now.seconds_left == pytest.approx(70.0)


def test_counts_in_words():
    assert (
        count_verdicts([result("a/1", 1), result("a/2", 1), result("a/3", 1, "contradicted")])
        == "2 hold, 1 is contradicted"
    )
    assert (
        count_verdicts([result("a/1", 1, "not run"), result("a/2", 1, "undecided at these sizes")])
        == "1 is undecided, 1 was not run"
    )


def test_a_terminal_has_a_bar_with_counts_and_the_claims_at_work(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with following() as follow:
        check(CLAIMS, "quick", on_progress=follow)
    captured = capsys.readouterr()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", captured.err)
    assert captured.out == ""
    assert "1 holds; running: dandi/two" in shown and "1/3 claims" in shown and "about 10 s left" in shown


# The order


def test_workers_begin_with_the_claims_that_took_longest(tmp_path):
    assert read_seconds(tmp_path, "quick") == {}
    write([result("moniri/one", 2.0), result("moniri/three", 9.0), result("dandi/two", 5.0, "not run")], tmp_path)
    expected = read_seconds(tmp_path, "quick")
    assert expected == {"moniri/one": 2.0, "moniri/three": 9.0} and read_seconds(tmp_path, "full") == {}
    assert [each.name for each in longest_first(CLAIMS, expected)] == ["moniri/three", "dandi/two", "moniri/one"]
    assert longest_first(CLAIMS, {}) == CLAIMS
    (tmp_path / "verdicts.json").write_text("[", encoding="utf-8")
    assert read_seconds(tmp_path, "quick") == {}

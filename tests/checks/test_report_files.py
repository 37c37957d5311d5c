"""Claims that run, the files of a report, and its summary."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reported import broken_links, claim, ended, good, names, some_results

from giantstep.checks._check import check
from giantstep.checks.report import page
from giantstep.checks.report.markdown import summary
from giantstep.checks.report.page import write
from giantstep.checks.verdict import Result
from giantstep.errors import InputError
from giantstep.lab.store.provenance import Provenance


@pytest.fixture
def results() -> list[Result]:
    return some_results()


# Running claims


def test_a_broken_claim_does_not_lose_the_others():
    seen = []
    claims = [claim("a/one", good()), claim("a/two", RuntimeError("no luck\nmore")), claim("a/three", good())]
    results = check(claims, "quick", on_progress=lambda now: seen.append((len(now.results), now.total, names(now))))
    assert [result.verdict.outcome for result in results] == ["holds", "not run", "holds"]
    assert results[1].error == "RuntimeError: no luck"
    assert [result.passed for result in results] == [True, False, True]
    assert seen == [(0, 3, ["a/one"]), (1, 3, ["a/two"]), (2, 3, ["a/three"]), (3, 3, [])]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("no file '/home/someone/deep/data.npz' there", "no file 'data.npz' there"),
        ("no file C:\\Users\\someone\\data.npz", "no file data.npz"),
        ("rate 1/n/d and a/b, ratio (n/d)/2/3", "rate 1/n/d and a/b, ratio (n/d)/2/3"),
    ],
)
def test_an_error_names_no_folder(message: str, text: str):
    (result,) = check([claim("a/one", OSError(message))], "quick")
    assert result.error == f"OSError: {text}" and text in result.verdict.sentence


def test_bad_input_is_not_a_verdict():
    with pytest.raises(InputError, match="no such size"):
        check([claim("a/one", InputError("no such size"))], "quick")


def test_rows_match_the_header():
    with pytest.raises(ValueError, match="2 cells"):
        good(rows=((1,),))


def test_a_claim_names_a_known_paper():
    assert claim("a/one", good()).cites.key == "moniri"
    with pytest.raises(KeyError, match="nobody"):
        claim("a/one", good(), "nobody").cites  # noqa: B018


def test_results_are_json_without_nan():
    (result,) = check([claim("a/one", good())], "full")
    back = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert back["rows"] == [[100, 0.123456], [200, None]]
    assert back["size"] == "full" and back["stored"] is False and "figure" not in back


# Files


def test_the_twin_holds_the_results(tmp_path, results):
    write(results, tmp_path)
    twin = json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))
    assert twin["results"] == [json.loads(json.dumps(result.to_dict())) for result in results]
    assert twin["provenance"]["version"] == Provenance.here().version
    assert set(twin) == {"date", "complete", "provenance", "results"} and twin["complete"] is True


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_writing_replaces_the_old_files_and_leaves_nothing_else(tmp_path, results):
    folder = tmp_path / "new" / "folder"
    write(results, folder)
    write([], folder)
    assert sorted(files(folder)) == ["index.html", "verdicts.json"]


def test_pages_of_an_earlier_report_go_and_other_files_stay(tmp_path, results):
    write(results, tmp_path)
    assert {"papers/dandi.html", "papers/dandi/dandi-two.svg"} <= files(tmp_path).keys()
    page = (tmp_path / "papers/dandi.html").read_bytes()
    others = {
        "notes.txt": b"mine",
        "papers/notes.html": b"<p>mine",
        "papers/dandi, first try.html": page,  # a copy
        "papers/cui.html": b"<p>A paper of mine, with a name that a report could have.",
        "papers/dandi/mine.svg": b"<svg></svg>",
        "dandi.html": page,
    }
    for place, text in others.items():
        (tmp_path / place).write_bytes(text)
    one = ended("moniri/one", good(figure=""))
    write([one], tmp_path)
    assert sorted(files(tmp_path)) == sorted([*others, "index.html", "papers/moniri.html", "verdicts.json"])
    assert {place: files(tmp_path)[place] for place in others} == others


def test_a_page_of_somebody_else_is_not_written_over(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/moniri.html").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"moniri\.html, which no report wrote"):
        write([ended("moniri/one", good())], tmp_path)
    assert files(tmp_path) == {"papers/moniri.html": b"mine"}


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "papers").write_bytes(b"a file")
    with pytest.raises(InputError, match="cannot make the folder"):
        write([ended("moniri/one", good())], tmp_path)


@pytest.mark.parametrize("written", range(12))
def test_a_report_that_is_killed_while_it_is_written_has_no_broken_link(tmp_path, results, monkeypatch, written):
    """The first page comes last."""
    write(results, tmp_path)
    left = iter(range(written))

    def put(place: Path, text: str) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        before(place, text)

    before = page._put
    monkeypatch.setattr(page, "_put", put)
    with pytest.raises(KeyboardInterrupt):
        write([*results, ended("moniri/seven", good()), ended("cui/eight", good(), "cui")], tmp_path)
    assert broken_links(tmp_path) == []


def test_a_page_that_cannot_be_made_leaves_the_old_ones(tmp_path, results):
    write(results, tmp_path)
    before = files(tmp_path)
    broken = [replace(results[0], size=3)]  # a size that is no text
    with pytest.raises(TypeError):
        write(broken, tmp_path)
    assert files(tmp_path) == before


def test_the_same_results_give_the_same_page(tmp_path, results):
    write(results, tmp_path / "a")
    write(results, tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


# Markdown


def test_the_summary_is_a_table_in_markdown(results):
    lines = summary([replace(results[0], stored=True, seconds=12.34), *results[1:]]).splitlines()
    assert lines[0] == "| paper | claim | verdict | result | size | seeds | time |"
    assert lines[2] == (
        "| Moniri et al. (2024) | `moniri/one` | ✓ holds | It fell by half. | quick | 0-9 | 12.3 s, stored |"
    )
    assert len(lines) == 2 + len(results)


def test_the_summary_keeps_hostile_text_in_its_cell():
    verdict = good(sentence="f* and g* | a_b_c\n<script>`x`")
    (line,) = summary([Result(claim("a/`|`", verdict), verdict, 1.0, "quick")]).splitlines()[2:]
    assert line.count("|") - line.count("\\|") == 8
    assert "f\\* and g\\* \\| a\\_b\\_c &lt;script>\\`x\\`" in line

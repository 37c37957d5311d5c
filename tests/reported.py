"""Results of made-up claims, for the tests of reports."""

from pathlib import Path
from typing import Any

import page as pages
import toys

from giantstep.checks._check import check
from giantstep.checks._standing import Standing
from giantstep.checks.claim import Claim
from giantstep.checks.report.page import write
from giantstep.checks.verdict import Result, Verdict

FIGURE = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "http://example.org/x.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="9pt" height="9pt" viewBox="0 0 9 9">
<metadata>made today</metadata><defs><style type="text/css">*{stroke-linecap: butt}</style><path id="m1" d="M0 0"/>
<clipPath id="c1"><rect width="4" height="4"/></clipPath></defs>
<g id="g1" clip-path="url(#c1)"><use xlink:href="#m1" style="fill: url(#c1)"/></g></svg>"""


def claim(name: str, verdict: Verdict | Exception, source: str = "moniri", **changes) -> Claim:
    def broken(*_) -> Any:
        raise verdict  # type: ignore[misc]

    if isinstance(verdict, Exception):
        return toys.claim(name, good(), source, broken, **changes)
    texts: dict[str, Any] = {"how": "We compare, and allow 4%."}
    return toys.claim(name, verdict, source, **(texts | changes))


def good(**changes) -> Verdict:
    given: dict[str, Any] = dict(
        outcome="holds",
        stated="holds",
        sentence="It fell by half.",
        header=("d", "error"),
        rows=((100, 0.123456), (200, float("nan"))),
        seeds="0-9",
        sizes="d = 100, 200",
    )
    given |= dict(figure=FIGURE, settings=("abc123",), caption="A line and dots on it.")
    given |= dict(power="A departure of 3% is seen.", trend="It falls as 1/d.")
    return Verdict(**(given | changes))


def bad(**changes) -> Verdict:
    return good(**({"outcome": "contradicted", "stated": "fails", "sentence": "It rose by half."} | changes))


def open_(**changes) -> Verdict:
    return good(
        **({"outcome": "undecided at these sizes", "stated": "inconclusive", "sentence": "Who knows."} | changes)
    )


def some_results() -> list[Result]:
    """Three papers, the claims of one not side by side, every outcome, one broken, one without figure and numbers."""
    bare = open_(figure="", header=(), rows=(), power="", trend="", caption="", settings=(), seeds="", sizes="")
    (broken,) = check([claim("dandi/five", RuntimeError("no luck\nmore"), "dandi")], "quick")
    return [
        ended("moniri/one", good()),
        ended("dandi/two", bad(), "dandi"),
        ended("moniri/three", open_()),
        ended("saad_solla/four", bare, "saad_solla", where="", how=""),
        broken,
        ended("moniri/one figure", good(caption="")),
        ended("dandi/six", bad(outcome="contradicted, holds with a correction", corrected="holds"), "dandi"),
    ]


def ended(name: str, verdict: Verdict, source: str = "moniri", **changes) -> Result:
    """The result of a claim with this verdict, as it is."""
    return Result(claim(name, verdict, source, **changes), verdict, 0.1, "quick")


def page_of(results: list[Result], folder: Path) -> pages.Node:
    """The first page."""
    return pages.read(write(results, folder).read_text(encoding="utf-8"))


def paper_of(results: list[Result], folder: Path, key: str = "moniri") -> pages.Node:
    """The page of a paper."""
    write(results, folder)
    return pages.read((folder / "papers" / f"{key}.html").read_text(encoding="utf-8"))


def pages_in(folder: Path) -> dict[str, pages.Node]:
    """All pages of a report by their places."""
    places = [folder / "index.html", *sorted((folder / "papers").glob("*.html"))]
    return {place.relative_to(folder).as_posix(): pages.read(place.read_text(encoding="utf-8")) for place in places}


def broken_links(folder: Path) -> list[str]:
    """The links and pictures of all pages that lead nowhere: to no file, or to no part of a page."""
    pages = pages_in(folder)
    ids = {place: {node.attributes.get("id") for node in page.walk()} for place, page in pages.items()}
    led = [
        (place, value)
        for place, page in pages.items()
        for node in page.walk()
        for name, value in node.attributes.items()
        if name in {"href", "src"} and not (node.tag == "a" and value.startswith("https://arxiv.org/abs/"))
    ]
    broken = []
    for place, value in led:
        file, _, part = value.partition("#")
        there = ((folder / place).parent / file).resolve() if file else (folder / place).resolve()
        known = ids.get(there.relative_to(folder.resolve()).as_posix(), set())
        if not there.is_file() or (part and part not in known):
            broken.append(f"{place}: {value}")
    return broken


def names(standing: Standing) -> list[str]:
    return [claim.name for claim in standing.running]

"""One HTML page with the verdicts: no network, no script, fine on a phone and on paper."""

import math
import os
import platform
import re
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from giantstep.lab.figure import inline
from giantstep.lab.verdict import Cell, Result
from giantstep.papers import PAPERS, Paper, paper

__all__ = ["write"]

_MARK = {"holds": "✓", "fails": "✗", "inconclusive": "?"}
_COUNTED = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
}


def write(results: Sequence[Result], folder: Path) -> Path:
    """Write ``folder/index.html`` and return its path; a reader sees the old page or the new one, never half of one."""
    folder.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=folder, prefix=".index-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_page(results))
        os.chmod(scratch, 0o644)
        os.replace(scratch, folder / "index.html")
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
    return folder / "index.html"


def _page(results: Sequence[Result]) -> str:
    style = files("giantstep.lab").joinpath("report.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>giantstep: verdicts</title>
<style>
{style}</style>
</head>
<body>
<header>
<p class="brand">giantstep</p>
<h1>What the papers say, checked</h1>
{_tally(results)}
</header>
<main>
{_summary(results)}
{"".join(_section(result) for result in results)}
{_references(results)}
</main>
{_footer()}
</body>
</html>
"""


def _tally(results: Sequence[Result]) -> str:
    if not results:
        return '<p class="lead">No claim was run.</p>'
    counts = {outcome: sum(r.verdict.outcome == outcome for r in results) for outcome in _MARK}
    said = ", ".join(f"{n} {_COUNTED[outcome][n > 1]}" for outcome, n in counts.items() if n)
    bars = "".join(f'<i class="{outcome}" style="flex:{n}"></i>' for outcome, n in counts.items() if n)
    claims = "1 claim" if len(results) == 1 else f"{len(results)} claims"
    seconds = _seconds(sum(result.seconds for result in results))
    lead = f"{claims} at {results[0].size} size: {said}. {seconds} in all."
    return f'<p class="lead">{escape(lead)}</p>\n<div class="tally" aria-hidden="true">{bars}</div>'


def _summary(results: Sequence[Result]) -> str:
    rows = "".join(
        f"<tr><td>{_badge(result)}</td>"
        f'<td><a href="#{_anchor(result)}">{escape(result.claim.name)}</a>'
        f"<span>{escape(result.claim.statement)}</span></td>"
        f"<td>{escape(paper(result.claim.paper).short)}</td><td>{_seconds(result.seconds)}</td></tr>\n"
        for result in results
    )
    head = "<tr><th>Verdict</th><th>Claim</th><th>Paper</th><th>Time</th></tr>"
    return f'<table class="summary">\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table>' if rows else ""


def _section(result: Result) -> str:
    claim, verdict, anchor = result.claim, result.verdict, _anchor(result)
    figure = inline(verdict.figure, f"{anchor}-figure", f"Figure for {claim.name}")
    again = f"giantstep check {claim.name} --size {result.size}"
    facts = {
        "Sizes": escape(verdict.sizes),
        "Seeds": escape(verdict.seeds),
        "Settings": " ".join(f"<code>{escape(each)}</code>" for each in verdict.settings),
        "Time": _seconds(result.seconds),
        "Again": f"<code>{escape(again)}</code>",
    }
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items() if value)
    return f"""
<article id="{anchor}" class="{verdict.outcome}">
<div class="title"><h2>{escape(claim.name)}</h2>{_badge(result)}</div>
<blockquote>{escape(claim.statement)}</blockquote>
<p class="source">{_source(paper(claim.paper), claim.where)}</p>
<p class="seen">{escape(verdict.sentence)}</p>
{f"<figure>{figure}</figure>" if figure else ""}
{_numbers(verdict.header, verdict.rows)}
<dl>{listed}</dl>
</article>
"""


def _source(source: Paper, where: str) -> str:
    arxiv = f", arXiv:{source.arxiv}" if source.arxiv else ""
    return f"{escape(source.short)}{escape(arxiv)}{f', {escape(where)}' if where else ''}"


def _numbers(header: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...]) -> str:
    if not rows:
        return ""
    columns = list(zip(*rows, strict=True))
    kinds = ["t" if any(isinstance(cell, str) for cell in column) else "n" for column in columns]
    head = "".join(f'<th class="{kind}">{escape(name)}</th>' for name, kind in zip(header, kinds, strict=True))
    lines = zip(*(_column(column) for column in columns), strict=True)
    cells = ("".join(f'<td class="{k}">{escape(c)}</td>' for c, k in zip(line, kinds, strict=True)) for line in lines)
    body = "".join(f"<tr>{each}</tr>\n" for each in cells)
    table = f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>'
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Numbers">{table}</div>'


def _references(results: Sequence[Result]) -> str:
    used = {result.claim.paper for result in results}
    entries = "".join(
        f"<li>{escape(', '.join(each.authors))} ({each.year}). <em>{escape(each.title)}</em>. {escape(each.venue)}"
        f"{escape(f', {each.pages}'.replace('--', '–')) if each.pages else ''}."
        f"{f' arXiv:{escape(each.arxiv)}.' if each.arxiv else ''}</li>\n"
        for each in PAPERS
        if each.key in used
    )
    return f'<section class="references"><h2>Papers</h2>\n<ul>\n{entries}</ul></section>' if entries else ""


def _footer() -> str:
    versions = [f"{name} {_version(name)}" for name in ("giantstep", "numpy", "scipy", "jax")]
    versions.insert(1, f"Python {platform.python_version()}")
    told = " · ".join([*versions, platform.machine(), datetime.now(UTC).date().isoformat()])
    return f"<footer><p>{escape(told)}</p></footer>"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _badge(result: Result) -> str:
    outcome = result.verdict.outcome
    return f'<strong class="badge {outcome}"><b aria-hidden="true">{_MARK[outcome]}</b> {outcome}</strong>'


def _anchor(result: Result) -> str:
    return "claim-" + re.sub(r"[^A-Za-z0-9]+", "-", result.claim.name)


def _seconds(seconds: float) -> str:
    if seconds >= 90:
        return f"{seconds / 60:.1f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _column(cells: Sequence[Cell]) -> list[str]:
    """Four digits, and the same number of decimals down the column where they differ by at most two."""
    texts = [_cell(cell) for cell in cells]
    numbers = [i for i, cell in enumerate(cells) if not isinstance(cell, str) and math.isfinite(cell)]
    decimals = {i: len(texts[i].partition(".")[2]) for i in numbers}
    most = max(decimals.values(), default=0)
    if any("e" in texts[i] for i in numbers) or most - min(decimals.values(), default=0) > 2:
        return texts
    for i in numbers:
        texts[i] = _minus(f"{cells[i]:.{most}f}")
    return texts


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    if not math.isfinite(cell):
        return "–"
    whole = float(cell).is_integer() and abs(cell) < 1e6
    return _minus(str(int(cell)) if whole else f"{cell:.4g}")


def _minus(number: str) -> str:
    return "−" + number[1:] if number.startswith("-") else number

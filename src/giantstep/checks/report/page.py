"""One HTML page with the verdicts, and the same as JSON: no network, no script, fine on a phone and on paper."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path

from giantstep.checks.claim import Result
from giantstep.checks.report.entry import MARK, Entry, by_paper, css_class, duration
from giantstep.checks.report.section import paper_section
from giantstep.checks.report.unfinished import refresh, unfinished
from giantstep.checks.standing import Standing
from giantstep.citations import Paper
from giantstep.lab.store.atomic import atomic
from giantstep.lab.store.provenance import Provenance

__all__ = ["write", "write_so_far"]

Groups = list[tuple[Paper, list[Entry]]]

_COUNTED = {
    "holds": ("holds", "hold"),
    "fails": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "not run": ("was not run", "were not run"),
}
_MEANING = {
    "holds": "the simulations agree with the statement",
    "fails": "they contradict it",
    "inconclusive": "the sizes that ran cannot tell",
    "not run": "its data are not on this machine, or an error stopped it",
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def write(results: Sequence[Result], folder: Path) -> Path:
    """Write ``folder/index.html`` and its twin ``folder/verdicts.json``, and return the page's path.

    A reader sees an old file or a new one, never half of one.
    """
    return _write(results, folder, None)


def write_so_far(standing: Standing, folder: Path) -> Path:
    """The same while claims run: the page says that it is incomplete and loads itself again, and the twin says so too."""
    return _write(standing.results, folder, standing)


def _write(results: Sequence[Result], folder: Path, standing: Standing | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made, now = Provenance.here(), datetime.now(UTC)
    twin = {
        "date": now.date().isoformat(),
        "complete": standing is None,
        "provenance": asdict(made),
        "results": [result.to_dict() for result in results],
    }
    texts = {
        "verdicts.json": json.dumps(twin, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "index.html": _page(by_paper(results), made, now, standing),
    }
    for name, text in texts.items():
        with atomic(folder / name) as file:
            file.write_bytes(text.encode("utf-8", "replace"))
    return folder / "index.html"


def _page(groups: Groups, made: Provenance, now: datetime, standing: Standing | None) -> str:
    style = files("giantstep.checks.report").joinpath("report.css").read_text(encoding="utf-8")
    entries = [entry for _, group in groups for entry in group]
    tally = _tally(entries) if standing is None else _so_far(entries)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
{refresh(standing)}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{escape(tally)}">
<title>giantstep: verdicts{" so far" if standing else ""}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the verdicts</a>
<header>
<p class="brand">giantstep {escape(made.version)}</p>
<h1>What the papers say, checked</h1>
<p class="lead">{escape(tally)}</p>
</header>
<main id="main">
{unfinished(standing, f"{now:%Y-%m-%d %H:%M:%S} UTC")}{_matrix(groups)}
{_claims(entries)}
{"".join(paper_section(source, group) for source, group in groups)}
</main>
{_footer(entries, made, now.date().isoformat())}
</body>
</html>
"""


def _tally(entries: Sequence[Entry]) -> str:
    """One sentence."""
    if not entries:
        return "No claim was run."
    counts = {outcome: sum(entry.outcome == outcome for entry in entries) for outcome in MARK}
    said = [f"{count} {_COUNTED[outcome][count > 1]}" for outcome, count in counts.items() if count]
    broken = sum(entry.result.error is not None for entry in entries)
    if broken:
        said[-1] += f" ({broken} because of an error)"  # a claim that broke was not run, which is said last
    listed = f"{', '.join(said[:-1])} and {said[-1]}" if said[1:] else said[0]
    claims = "1 claim" if len(entries) == 1 else f"{len(entries)} claims"
    sizes = " and ".join(dict.fromkeys(entry.result.size for entry in entries))
    return f"{claims} at {sizes} size, {duration(sum(e.result.seconds for e in entries))} in all: {listed}."


def _so_far(entries: Sequence[Entry]) -> str:
    return f"So far, {_tally(entries)}" if entries else "No claim has ended yet."


def _matrix(groups: Groups) -> str:
    """Papers as rows, their claims as marked links: the page at a glance."""
    if not groups:
        return ""
    rows = "".join(
        f'<tr><th scope="row"><a href="#paper-{source.key}">{escape(source.short)}</a></th>'
        f"<td><ul>{''.join(f'<li>{entry.pill}</li>' for entry in group)}</ul></td></tr>\n"
        for source, group in groups
    )
    legend = "".join(
        f'<li><span class="badge {css_class(outcome)}"><b>{mark}</b> {outcome}</span> {_MEANING[outcome]}</li>'
        for outcome, mark in MARK.items()
    )
    return f"""<section id="summary" aria-labelledby="summary--title">
<h2 id="summary--title">Summary</h2>
<table class="matrix">
<caption class="unseen">Verdicts on the claims of every paper</caption>
<thead class="unseen"><tr><th scope="col">Paper</th><th scope="col">Claims</th></tr></thead>
<tbody>
{rows}</tbody>
</table>
<ul class="legend">{legend}</ul>
</section>"""


def _claims(entries: Sequence[Entry]) -> str:
    """The table of claims; what was seen is told at once where a statement does not hold.

    The roles are those the elements have: browsers forget them where a narrow page lays the rows out as blocks.
    """
    if not entries:
        return ""
    rows = "".join(
        f'<tr role="row"><td role="cell">{entry.badge}</td>'
        f'<th scope="row" role="rowheader"><a href="#{entry.anchor}">{escape(entry.name).replace("/", "/<wbr>")}</a></th>'
        f'<td role="cell">{escape(entry.result.claim.statement)}{_seen(entry)}</td>'
        f'<td role="cell">{entry.time}</td></tr>\n'
        for entry in entries
    )
    head = "".join(
        f'<th scope="col" role="columnheader">{name}</th>' for name in ("Verdict", "Claim", "Statement", "Time")
    )
    return f"""<section aria-labelledby="claims--title">
<h2 id="claims--title">Claims</h2>
<table class="claims" role="table">
<caption class="unseen">Every claim with its verdict, its statement and its time</caption>
<thead role="rowgroup"><tr role="row">{head}</tr></thead>
<tbody role="rowgroup">
{rows}</tbody>
</table>
</section>"""


def _seen(entry: Entry) -> str:
    sentence = entry.result.verdict.sentence
    return "" if entry.outcome == "holds" else f'<span class="seen {entry.css}">{escape(sentence)}</span>'


def _footer(entries: Sequence[Entry], made: Provenance, today: str) -> str:
    versions = {"giantstep": made.version, "Python": made.python, "JAX": made.jax, "NumPy": made.numpy}
    told = [*(f"{name} {number}" for name, number in versions.items()), f"{made.device} ({made.machine})", today]
    kept = "<p>Times marked as kept are those of measurements made earlier, perhaps with other versions.</p>\n"
    return f"""<footer>
<p>Made with {escape(" · ".join(told))}.</p>
{kept if any(entry.result.stored for entry in entries) else ""}<p>The same as data: <a href="verdicts.json">verdicts.json</a>.
To cite everything here: <code class="command">giantstep cite</code></p>
</footer>"""

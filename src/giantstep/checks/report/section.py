"""The sections of the page: a paper with its BibTeX, and under it each of its claims with everything behind the verdict."""

from collections.abc import Sequence
from html import escape

from giantstep.checks.report.entry import Entry
from giantstep.checks.report.figure import inline
from giantstep.checks.report.numbers import numbers
from giantstep.citations import Paper, paper

__all__ = ["paper_section"]


def paper_section(source: Paper, entries: Sequence[Entry]) -> str:
    """The paper, how to cite it, and its claims."""
    anchor = f"paper-{source.key}"
    pages = f", {source.pages}".replace("--", "–") if source.pages else ""
    arxiv = (
        f' <a href="https://arxiv.org/abs/{escape(source.arxiv)}">arXiv:{escape(source.arxiv)}</a>.'
        if source.arxiv
        else ""
    )
    return f"""
<section class="paper" id="{anchor}" aria-labelledby="{anchor}--title">
<h2 id="{anchor}--title">{escape(source.title)}</h2>
<p class="authors">{escape(", ".join(source.authors))}</p>
<p class="venue">{escape(source.venue)}{escape(pages)}, {source.year}.{arxiv}</p>
<details><summary>BibTeX<span class="unseen"> of {escape(source.short)}</span></summary>
<pre class="bibtex"><code>{escape(source.bibtex)}</code></pre>
<p>From the command line, with the entry of giantstep: <code class="command">giantstep cite {escape(source.key)}</code></p>
</details>
{"".join(_claim(entry) for entry in entries)}
<p class="back"><a href="#summary">Back to the summary</a></p>
</section>
"""


def _claim(entry: Entry) -> str:
    claim, verdict, anchor = entry.result.claim, entry.result.verdict, entry.anchor
    method = {"Test": claim.test, "Size and power": verdict.power, "Finite-size trend": verdict.trend}
    where = f", {escape(claim.where)}" if claim.where else ""
    title = f'<span class="number">{entry.number}</span> {escape(claim.name)}'
    return f"""
<article id="{anchor}" class="{entry.css}" aria-labelledby="{anchor}--title">
<div class="title"><h3 id="{anchor}--title">{title}</h3>{entry.badge}</div>
<p class="statement">{escape(claim.statement)}</p>
<p class="source">{escape(paper(claim.paper).short)}{where}</p>
<p class="seen">{escape(verdict.sentence)}</p>
{_listed({name: escape(text) for name, text in method.items()}, "method")}
{_figure(entry)}
{numbers(verdict.header, verdict.rows, f"Table {entry.number}. The numbers behind {claim.name}.")}
{_facts(entry)}
</article>
"""


def _figure(entry: Entry) -> str:
    """The picture, and below it the words that describe it; what was seen stands in for a caption that is not there."""
    verdict, label = entry.result.verdict, f"Figure {entry.number}"
    words = verdict.caption or verdict.sentence
    svg = inline(verdict.figure, f"{entry.anchor}--figure", f"{label}, {entry.name}", words)
    if not svg:
        return ""
    plate = f'<div class="plate" tabindex="0" role="group" aria-label="{escape(f"{label}, {entry.name}")}">{svg}</div>'
    return f"<figure>{plate}\n<figcaption><b>{label}.</b> {escape(words)}</figcaption></figure>"


def _facts(entry: Entry) -> str:
    verdict = entry.result.verdict
    facts = {
        "Sizes": escape(verdict.sizes),
        "Seeds": escape(verdict.seeds),
        "Settings": " ".join(f"<code>{escape(each)}</code>" for each in verdict.settings),
        "Time": f"measured in {entry.time}" if entry.result.stored else entry.time,
        "Again": f'<pre><code class="command">{escape(entry.command)}</code></pre>',
    }
    return _listed(facts, "facts")


def _listed(facts: dict[str, str], kind: str) -> str:
    """Terms and what they stand for, already escaped; those without a text are left out."""
    items = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in facts.items() if text)
    return f'<dl class="{kind}">{items}</dl>' if items else ""

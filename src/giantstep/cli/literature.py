"""check and cite: what the papers say."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from giantstep.cli.options import AsJson, show


def check(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Claims or groups of claims; all by default.")
    ] = None,
    size: Annotated[
        Literal["quick", "full"], typer.Option(help="Minutes on a laptop, or the papers' sizes.")
    ] = "quick",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")] = Path("report"),
    as_json: AsJson = False,
) -> None:
    """Check statements of the literature.

    Prints the verdicts and writes an HTML report with the numbers and the figures.
    """
    from giantstep.claims import select
    from giantstep.lab import report, verdict

    chosen = select(claims or [])
    out.mkdir(parents=True, exist_ok=True)
    results = verdict.run_claims(
        chosen, size, lambda index, total, claim: typer.echo(f"[{index + 1}/{total}] {claim.name}", err=True)
    )
    page = report.write(results, out)
    if as_json:
        show({"size": size, "report": str(page), "results": [result.to_dict() for result in results]})
    else:
        verdict.show(results)
        typer.echo(f"Report: {page}")
    if not all(result.passed for result in results):
        raise typer.Exit(1)


def cite(
    claim: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="A claim, a group or a paper; everything by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the BibTeX of what was used."""
    from giantstep.claims import cited

    papers = cited(claim)
    if not as_json:
        show("\n\n".join(paper.bibtex for paper in papers))
        return
    keys = ("key", "title", "authors", "year", "venue", "arxiv", "bibtex")
    show({"papers": [{key: getattr(paper, key) for key in keys} for paper in papers]})

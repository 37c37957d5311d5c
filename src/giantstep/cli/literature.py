"""check and cite: what the papers say."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from giantstep.cli.interrupt import leave, stopping
from giantstep.cli.options import AsJson, Memory, Scheduler, Workers, check_options, show


def check(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="CLAIM", help="Claims or groups of claims; all by default.")
    ] = None,
    size: Annotated[Literal["quick", "full"], typer.Option(help="Minutes on two cores, or about an hour.")] = "quick",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")] = Path("report"),
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where measurements are kept; in the report's folder if not given."),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Check statements of the literature.

    Prints the verdicts and writes an HTML report with the numbers and the figures, which is there from the start and grows
    while the claims run. Measurements are kept: a second run is instant, and one that was stopped or killed goes on where it
    was. A new version of the code measures anew. Workers take a claim each at quick size, and the trials of one claim after
    the other at full size. The exit code is 1 when a claim fails or breaks; one whose data are missing is not run, and the
    code is 0.
    """
    from giantstep.checks import claim as _claim
    from giantstep.checks.cache import Bench, Interrupted
    from giantstep.checks.check import check as checked
    from giantstep.checks.code import computing
    from giantstep.checks.expected import read_seconds
    from giantstep.checks.report import page as _page
    from giantstep.checks.report.follow import following
    from giantstep.checks.report.grow import growing
    from giantstep.checks.standing import Standing
    from giantstep.claims import select
    from giantstep.claims.alone import task
    from giantstep.claims.full import seconds
    from giantstep.lab.store import Store
    from giantstep.lab.work.executor import executor

    check_options(None, memory)
    chosen = select(claims or [])
    out.mkdir(parents=True, exist_ok=True)
    kept = store or out / f"measured-{computing()}.sqlite"
    expected = {**(seconds() if size == "quick" else {}), **read_seconds(out, size)}
    apart = task if workers is not None and size == "quick" and len(chosen) > 1 else None
    with Store.open(kept) as opened, closing(executor(workers, scheduler, memory)) as where:
        try:
            with stopping(where), growing(out) as grow, following() as follow:

                def tell(standing: Standing) -> None:
                    follow(standing)
                    grow(standing)

                results = checked(chosen, size, Bench(opened, where, computing()), tell, apart, expected)
        except Interrupted:
            leave("claims")
    page = _page.write(results, out)
    if as_json:
        show({"size": size, "report": str(page), "results": [result.to_dict() for result in results]})
    else:
        _claim.show(results)
        typer.echo(f"Report: {page}")
    broken = [f"{result.claim.name} ({result.error})" for result in results if result.error is not None]
    if broken:
        count = "1 claim" if len(broken) == 1 else f"{len(broken)} claims"
        typer.echo(f"{count} could not be run because of an error: {', '.join(broken)}.", err=True)
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

"""check and cite: the statements of the papers."""

import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from giantstep.cli._interrupt import leave, stopping
from giantstep.cli._options import AsJson, Memory, Scheduler, Workers, check_options, show


def check(
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CLAIM",
            help="Claims, groups of claims, or folders with claims of your own; by default all of ours.",
        ),
    ] = None,
    size: Annotated[
        Literal["quick", "full"], typer.Option(help="quick takes minutes on two cores, full about an hour.")
    ] = "quick",
    first_seed: Annotated[
        int, typer.Option(metavar="N", help="Measure every claim on the seeds N, N + 1, and so on.")
    ] = 0,
    replicate: Annotated[
        int, typer.Option(metavar="R", help="Measure on R sets of seeds and count how often each verdict comes.")
    ] = 1,
    listed: Annotated[
        bool, typer.Option("--list", help="Print the claims and what they state, and check nothing.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the report.")] = Path("report"),
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Store of the measurements; by default it is in the report's folder."),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Check statements of the literature.

    Prints the verdicts and writes an HTML report. Its first page says what is contradicted or open and has a line for every
    claim. The numbers and the figures are on a page for every paper. The report exists from the start and grows while the
    claims run. Measurements are stored: a second run is instant, and a stopped run continues where it was. A claim is
    measured again if code that makes its numbers has changed. At quick size each worker takes a claim, and at full size too
    if there are three claims or more for every worker; else the workers share the trials of one claim at a time. With
    --replicate the claims are measured again on further sets of seeds, 10000 seeds apart.

    A verdict is on the source's own words: they hold, hold in the limit, are a bound that is respected, are contradicted, or are
    undecided at these sizes. The exit code is 1 if a statement is contradicted and has no correction that holds, or if a claim
    breaks. A claim whose data are missing, or that needs full size, is not run, and this does not change the exit code.
    """
    if listed:
        return _list(claims or [], as_json)
    start = time.monotonic()
    from giantstep._given.plain import whole
    from giantstep.checks import verdict as _verdict
    from giantstep.checks._expected import read_seconds
    from giantstep.checks._replicate import replicate as on_sets
    from giantstep.checks._standing import Standing
    from giantstep.checks.cache import Bench, Interrupted
    from giantstep.checks.code import trials
    from giantstep.checks.report import page as _page
    from giantstep.checks.report._follow import following
    from giantstep.checks.report._grow import growing
    from giantstep.claims import select
    from giantstep.claims._alone import apart, task
    from giantstep.claims._full import seconds
    from giantstep.lab.store import Store
    from giantstep.lab.work.executor import executor

    check_options(None, memory)
    first_seed, replicate = whole(first_seed, "--first-seed", 0), whole(replicate, "--replicate")
    selected = select(claims or [])
    out.mkdir(parents=True, exist_ok=True)
    path = store or out / f"measured-{trials()}.sqlite"
    expected = {**seconds(size), **read_seconds(out, size)}
    claim_task = task if apart(size, len(selected), workers) else None
    with Store.open(path) as opened, closing(executor(workers, scheduler, memory)) as where:
        try:
            with stopping(where), growing(out) as grow, following() as follow:

                def tell(standing: Standing) -> None:
                    follow(standing)
                    grow(standing)

                bench = Bench(opened, where)
                results = on_sets(
                    selected, size, replicate, bench, tell, first_seed, task=claim_task, expected=expected
                )
        except Interrupted:
            leave("claims")
    page = _page.write(results, out, time.monotonic() - start)
    if as_json:
        run = {"size": size, "first_seed": first_seed, "sets": replicate, "report": str(page)}
        show({**run, "results": [result.to_dict() for result in results]})
    else:
        _verdict.show(results)
        typer.echo(f"Report: {page}")
    broken = [f"{result.claim.name} ({result.error})" for result in results if result.error is not None]
    if broken:
        count = "1 claim" if len(broken) == 1 else f"{len(broken)} claims"
        typer.echo(f"{count} could not be run because of an error: {', '.join(broken)}.", err=True)
    if not all(result.passed for result in results):
        raise typer.Exit(1)


def _list(names: list[str], as_json: bool) -> None:
    """Print what the claims state. Nothing of them is executed."""
    from giantstep.claims import texts

    chosen = texts(names)
    if as_json:
        fields = ("name", "of", "quote", "place", "kind", "statement", "correction", "where", "test")
        show({"claims": [{"paper": each.cites.key, **{f: getattr(each, f) for f in fields}} for each in chosen]})
        return
    for each in chosen:
        typer.echo(f"{each.name}\n    {each.statement}")


def cite(
    claim: Annotated[
        str | None, typer.Argument(metavar="CLAIM", help="A claim, a group or a paper; by default everything.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the BibTeX of the papers."""
    from giantstep.claims import cited

    papers = cited(claim)
    if not as_json:
        show("\n\n".join(paper.bibtex for paper in papers))
        return
    keys = ("key", "title", "authors", "year", "venue", "arxiv", "bibtex")
    show({"papers": [{key: getattr(paper, key) for key in keys} for paper in papers]})

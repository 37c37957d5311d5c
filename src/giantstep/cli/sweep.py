"""sweep: every combination of the axes of a file, resumed, spread over workers, and drawn."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from giantstep.cli.interrupt import leave, stopping
from giantstep.cli.options import AsJson, Memory, Scheduler, Workers, check_options, save, show
from giantstep.errors import InputError

if TYPE_CHECKING:
    from giantstep.lab.sweep.run import Ended
    from giantstep.lab.sweep.sweep import Sweep
    from giantstep.lab.work.forecast import Forecast


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP", help="A file with the sweep, .toml or .json.")],
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where results are kept; SWEEP.sqlite beside the sweep if not given."),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Only part I of N; give every part its own store, then merge them."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and run nothing.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The figure: .svg, .png or .pdf; beside the store if not given.")
    ] = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Run a sweep: every combination of its axes, on every seed, by every route.

    Says first what it will take. What the store has is not run again: a sweep that was stopped or killed goes on where it was.
    Ends with a table and a figure, written beside the store as .csv and .svg.
    """
    check_options(plot, memory)
    part = _part(shard)
    from giantstep.lab.sweep.toml import read

    found = read(file)
    from giantstep.lab.store import Store
    from giantstep.lab.sweep.run import missing, planned, run
    from giantstep.lab.sweep.run import shard as sharded
    from giantstep.lab.work.executor import executor
    from giantstep.lab.work.forecast import forecast
    from giantstep.lab.work.progress import shown

    kept = store or file.with_suffix(".sqlite")
    every = sharded(planned(found), part)
    if dry_run:
        todo = every
        if kept.exists():
            with Store.open(kept, "read") as opened:
                todo = missing(every, opened)
        ahead = forecast(every, todo, workers=workers or 1, memory=memory)
        return show(_plan(found, ahead) if as_json else _described(found, ahead))
    with Store.open(kept) as opened, closing(executor(workers, scheduler, memory)) as where:
        todo = missing(every, opened)
        ahead = forecast(every, todo, workers=workers or 1, memory=memory)
        typer.echo(_described(found, ahead), err=True)
        with stopping(where), shown(todo) as tick:
            ended = run(todo, opened, where, tick)
        _told(ended, kept)
        answer = _finish(found, opened, kept, plot, part)
    show({**_plan(found, ahead), "new": ended.new, "left": ended.left, **answer} if as_json else answer["text"])
    if ended.left:
        leave(f"{ended.left} trials")
    if ended.refused:
        raise typer.Exit(1)


def _part(text: str | None) -> tuple[int, int]:
    if text is None:
        return 1, 1
    index, slash, count = text.partition("/")
    if not (slash and index.isascii() and index.isdigit() and count.isascii() and count.isdigit() and len(text) < 20):
        raise InputError(f"--shard needs a part such as 1/8, not {text!r}.")
    if not 1 <= int(index) <= int(count):
        raise InputError(f"--shard {text} must be between 1/{count} and {count}/{count}.")
    return int(index), int(count)


def _described(found: "Sweep", ahead: "Forecast") -> str:
    axes = [f"{' and '.join(axis.names)}: {len(axis)}" for axis in found.axes]
    routes = ", ".join(route.key for route in found.routes)
    return f"{', '.join(axes) or 'one point'}; seeds: {len(found.seeds)}; by {routes}.\n{ahead}"


def _plan(found: "Sweep", ahead: "Forecast") -> dict[str, Any]:
    from dataclasses import asdict

    axes = {axis.name: len(axis) for axis in found.axes}
    return {"sweep": found.id, "axes": axes, "routes": [route.key for route in found.routes], "plan": asdict(ahead)}


def _told(ended: "Ended", kept: Path) -> None:
    typer.echo(f"{ended.new} trials written to {kept}.", err=True)
    for sentence, count in ended.refused[:5]:
        typer.echo(f"{count} trials could not be run: {sentence}", err=True)


def _finish(found: "Sweep", opened: Any, kept: Path, plot: Path | None, part: tuple[int, int]) -> dict[str, Any]:
    """The table and the figure, of all that the store has of the sweep."""
    from giantstep.lab.sweep.averages import averages, text, to_csv
    from giantstep.lab.sweep.figure import picture
    from giantstep.lab.sweep.labelled import dataset

    labelled = dataset(found, opened)
    rows = averages(found, labelled)
    if part[1] > 1:  # a part of a sweep is no picture
        return {"text": text(rows), "rows": rows}
    table = kept.with_suffix(".csv")
    table.write_text(to_csv(rows), encoding="utf-8")
    drawn = plot or kept.with_suffix(".svg")
    save(picture(found, labelled), drawn)
    typer.echo(f"Wrote {table} and {drawn}.", err=True)
    return {"text": text(rows), "rows": rows, "table": str(table), "figure": str(drawn)}

"""sweep: run every combination of the axes of a file, on several workers, and draw the result."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from giantstep.cli._interrupt import leave, stopping
from giantstep.cli._options import AsJson, Memory, Scheduler, Workers, check_options, save, show
from giantstep.errors import InputError

if TYPE_CHECKING:
    from giantstep.lab.sweep.run import Ended
    from giantstep.lab.sweep.sweep import Sweep
    from giantstep.lab.work.forecast import Forecast


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP", help="File with the sweep, .toml or .json.")],
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Store of the results; by default SWEEP.sqlite beside the sweep."),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Run only part I of N; give every part its own store and merge the stores."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and run nothing.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Figure, .svg, .png or .pdf; by default beside the store.")
    ] = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Run a sweep: every combination of its axes, on every seed, by every route.

    First prints the expected cost. Results in the store are not run again: a stopped sweep continues where it was. At the end
    it writes a table and a figure beside the store as .csv and .svg.
    """
    check_options(plot, memory)
    part = _part(shard)
    from giantstep.lab.sweep.toml import read

    grid = read(file)
    from giantstep.lab.store import Store
    from giantstep.lab.sweep.run import missing, planned, run
    from giantstep.lab.sweep.run import shard as select_shard
    from giantstep.lab.work._progress import shown
    from giantstep.lab.work.executor import executor
    from giantstep.lab.work.forecast import forecast

    path = store or file.with_suffix(".sqlite")
    every = select_shard(planned(grid), part)
    if dry_run:
        todo = every
        if path.exists():
            with Store.open(path, "read") as opened:
                todo = missing(every, opened)
        ahead = forecast(every, todo, workers=workers or 1, memory=memory)
        return show(_plan(grid, ahead) if as_json else _describe(grid, ahead))
    with closing(executor(workers, scheduler, memory)) as where, Store.open(path) as opened:
        todo = missing(every, opened)
        ahead = forecast(every, todo, workers=workers or 1, memory=memory)
        typer.echo(_describe(grid, ahead), err=True)
        with stopping(where), shown(todo) as tick:
            ended = run(todo, opened, where, tick)
        _report(ended, path)
        answer = _finish(grid, opened, path, plot, part)
    show({**_plan(grid, ahead), "new": ended.new, "left": ended.left, **answer} if as_json else answer["text"])
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


def _describe(grid: "Sweep", ahead: "Forecast") -> str:
    axes = [f"{' and '.join(axis.names)}: {len(axis)}" for axis in grid.axes]
    routes = ", ".join(route.key for route in grid.routes)
    return f"{', '.join(axes) or 'one setting'}; seeds: {len(grid.seeds)}; by {routes}.\n{ahead}"


def _plan(grid: "Sweep", ahead: "Forecast") -> dict[str, Any]:
    from dataclasses import asdict

    axes = {axis.name: len(axis) for axis in grid.axes}
    return {"sweep": grid.id, "axes": axes, "routes": [route.key for route in grid.routes], "plan": asdict(ahead)}


def _report(ended: "Ended", path: Path) -> None:
    typer.echo(f"Wrote {ended.new} trials to {path}.", err=True)
    for sentence, count in ended.refused[:5]:
        typer.echo(f"{count} trials could not be run: {sentence}", err=True)


def _finish(grid: "Sweep", opened: Any, path: Path, plot: Path | None, part: tuple[int, int]) -> dict[str, Any]:
    """Write the table and the figure of the sweep's results in the store."""
    from giantstep.lab.sweep._averages import averages, text, to_csv
    from giantstep.lab.sweep._labelled import dataset, held
    from giantstep.plot._sweep import picture

    labelled = dataset(grid, opened)
    rows = averages(grid, labelled)
    table_as_text = text(rows, held=held(grid))
    if part[1] > 1:  # part of a sweep makes no figure
        return {"text": table_as_text, "rows": rows}
    table = path.with_suffix(".csv")
    table.write_text(to_csv(rows), encoding="utf-8")
    figure = plot or path.with_suffix(".svg")
    save(picture(labelled), figure)
    typer.echo(f"Wrote {table} and {figure}.", err=True)
    return {"text": table_as_text, "rows": rows, "table": str(table), "figure": str(figure)}

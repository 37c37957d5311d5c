"""results: list, export, merge, verify and repair the rows of a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from giantstep.cli._options import AsJson, show
from giantstep.errors import InputError

if TYPE_CHECKING:
    from giantstep.lab.store.stored_row import StoredRow

_SAVE = "'giantstep results repair STORE NEW' saves the rows that are whole."
_COLUMNS = ("seed", "route", "ok", "test_error", "test_error_se", "train_error")


class _Listing(TyperGroup):
    """``results STORE`` is short for ``results list STORE``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = (*self.commands, *self.get_help_option_names(ctx))
        return super().parse_args(ctx, ["list", *args] if args and args[0] not in known else args)


app = typer.Typer(cls=_Listing, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def results() -> None:
    """List, export, merge, verify or repair stored results.

    'giantstep results STORE' is short for 'giantstep results list STORE'.
    """


@app.command("list")
def list_rows(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="File with stored results.")],
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COND", help="Condition on the rows: d=1000, 'eta<3', activation=relu; give it again for more."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Number of rows to show.")] = 20,
    columns: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns to show, such as d,width,seed,test_error.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all matching rows to a .csv, .parquet or .nc file instead."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the exported file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the rows of a store.

    Prints the number of rows by route and status, and the first rows: the fields in which their settings differ, and the
    results. A condition names a column or a field of the setting by its dotted path or the end of that path.
    """
    if limit < 0:
        raise InputError(f"--limit needs a whole number of at least 0, not {limit}.")
    from giantstep.lab.store import Store

    conditions = where or []
    with Store.open(store, "read") as opened:
        if export is not None:
            from giantstep.lab.store.export import export as write_rows

            count = write_rows(opened, export, conditions, force=force)
            return show({"rows": count, "file": str(export)} if as_json else f"Wrote {count} rows to {export}.")
        tally = opened.tally(conditions)
        rows = list(opened.select(conditions, limit))
        names = None if columns is None else [opened.resolve(name.strip()) for name in columns.split(",")]
        if as_json:
            plain = [row.to_dict() if names is None else {k: row.to_dict().get(k) for k in names} for row in rows]
            counts = [{"route": route, "ok": ok, "rows": count} for (route, ok), count in tally.items()]
            return show({"store": str(store), "count": sum(tally.values()), "counts": counts, "rows": plain})
        _table(rows, names or [*_varying(rows), *_COLUMNS])
        for (route, ok), count in tally.items():
            typer.echo(f"{count} by {route}{'' if ok else ', NOT ok'}")
        typer.echo(f"{sum(tally.values())} in all, {len(rows)} shown")


@app.command()
def merge(
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Store to write into; created if it does not exist.")
    ],
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="Stores to read.")],
    as_json: AsJson = False,
) -> None:
    """Merge stores into one.

    A row that the target already has stays as it is. The command prints how many of these rows have other numbers.
    """
    from giantstep.lab.store.merge import merge as merge_stores

    counts = merge_stores(target, sources)
    answer = {"new": counts.new, "known": counts.known, "conflicts": counts.conflicts}
    known = f"{counts.known} were there already, {counts.conflicts} of them with other numbers"
    show(answer if as_json else f"Wrote {counts.new} rows to {target}; {known}.")


@app.command()
def verify(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="File with stored results.")],
    as_json: AsJson = False,
) -> None:
    """Read a whole store and say what is damaged.

    Every page, setting, row, array and record is read. The exit code is 0 if nothing is damaged, 1 if something is, and 2 if
    the file is no store.
    """
    from dataclasses import asdict

    from giantstep.lab.store import Store
    from giantstep.lab.store._damage import DamagedStore
    from giantstep.lab.store._verify import Verified

    try:
        with Store.open(store, "read") as opened:
            found = opened.verify()
    except DamagedStore as damaged:  # it cannot even be opened
        found = Verified(0, 0, 0, 0, (str(damaged),))
    read = f"{found.rows} rows, {found.arrays} arrays, {found.settings} settings and {found.records} records"
    if as_json:
        show({"store": str(store), "ok": found.ok, **asdict(found)})
    else:
        end = f"{store} is whole: {read}." if found.ok else f"{store} is damaged; {read} were read. {_SAVE}"
        show("\n".join([*found.damage, end]))
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def repair(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Store that is damaged; it is only read.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="File for the rows that can be read; it must not exist.")],
    as_json: AsJson = False,
) -> None:
    """Save what is whole of a damaged store.

    Every row is read and checked by itself. Run the sweep again with the new store: it computes the rows that are lost.
    """
    from giantstep.lab.store._repair import repair as save

    counts = save(store, new)
    answer = {"saved": counts.saved, "lost": counts.lost, "store": str(new)}
    show(answer if as_json else f"Saved {counts.saved} rows in {new}; {counts.lost} could not be read.")


def _varying(rows: "list[StoredRow]") -> list[str]:
    """The paths of the settings in which the rows differ."""
    from giantstep.lab.store._setting_paths import flatten

    paths = dict.fromkeys(path for row in rows for path in flatten(row.plain))
    return [path for path in paths if len({row.leaves.get(path) for row in rows}) > 1]


def _table(rows: "list[StoredRow]", names: list[str]) -> None:
    """Print the rows at the table's own width: a narrow terminal folds lines, never cells."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    ends = [name.rpartition(".")[2] for name in names]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, end in zip(names, ends, strict=True):
        table.add_column(end if ends.count(end) == 1 else name, justify="right", no_wrap=True)
    for row in rows:
        values = row.to_dict()
        table.add_row(*(_cell(values.get(name)) for name in names))
    console = Console(markup=False)
    width = console.measure(table, options=console.options.update(width=100_000)).maximum
    Console(markup=False, width=max(console.width, width)).print(table)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return f"{value:.5g}" if isinstance(value, float) else str(value)

"""Follow a check: a bar on a terminal or in a notebook, or a line on standard error for every claim that ends."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from giantstep._shown.notebook import NotebookBar, inside_notebook
from giantstep.checks._standing import Standing, count_verdicts
from giantstep.results.table import duration


@contextmanager
def following(wanted: bool | None = True) -> Iterator[Callable[[Standing], None]]:
    """Give a function to call with every standing; None shows a bar on a terminal or in a notebook and nothing elsewhere."""
    notebook = inside_notebook()
    if not (sys.stderr.isatty() or notebook if wanted is None else wanted):
        yield lambda standing: None
        return
    if notebook:
        with NotebookBar("claims", 1.0) as shown:
            yield lambda standing: shown.move(_share(standing), _words(standing))
        return
    if not sys.stderr.isatty():
        yield _print
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    console = Console(stderr=True)
    columns = (
        MofNCompleteColumn(),
        TextColumn("claims"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=None)
    with Live(bar, console=console, transient=True, redirect_stdout=False) as live:

        def show(standing: Standing) -> None:
            bar.update(task, completed=len(standing.results), total=standing.total, description=_left(standing))
            words = Text(_words(standing), overflow="ellipsis", no_wrap=True)
            live.update(Group(bar, words), refresh=True)

        yield show


def line(standing: Standing) -> str:
    """The line about the claim that ended last: [12/70] moniri/bulk: holds (11.3 s), about 4 min left."""
    latest = standing.latest
    if latest is None:
        return ""
    place, left = f"{_set(standing)}[{len(standing.results)}/{standing.total}]", _left(standing)
    words = f"{place} {latest.claim.name}: {latest.verdict.outcome} ({duration(latest.seconds)})"
    return f"{words}, {left}" if left else words


def _words(standing: Standing) -> str:
    """The set of seeds, the verdicts so far and the claims that run."""
    running = ", ".join(claim.name for claim in standing.running)
    parts = [_set(standing), count_verdicts(standing.results), f"running: {running}" if running else ""]
    return "; ".join(part for part in parts if part)


def _share(standing: Standing) -> float:
    """The share of all claims on all sets of seeds that have ended."""
    return (standing.set_number + len(standing.results) / max(standing.total, 1)) / standing.sets


def _set(standing: Standing) -> str:
    """Which set of seeds it is, if there are several."""
    return f"set {standing.set_number + 1} of {standing.sets} " if standing.sets > 1 else ""


def _left(standing: Standing) -> str:
    left = standing.seconds_left
    return "" if left is None else f"{duration(left, rough=True)} left"


def _print(standing: Standing) -> None:
    if standing.latest is not None:
        print(line(standing), file=sys.stderr, flush=True)

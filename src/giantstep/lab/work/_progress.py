"""A progress bar of a sweep on standard error, or in a notebook: trials done, trials per second, time left."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from giantstep._shown.notebook import NotebookBar, inside_notebook
from giantstep.lab.work._perform import Done
from giantstep.lab.work.block import Block
from giantstep.lab.work.forecast import planned

THEORY = 1e9  # operations that one prediction counts as


@contextmanager
def shown(todo: Sequence[Block], wanted: bool | None = None) -> Iterator[Callable[[Done], None]]:
    """Yield a function to call with every finished block. The time left is estimated from operations, not from trials."""
    notebook = inside_notebook()
    if not todo or not (sys.stderr.isatty() or notebook if wanted is None else wanted):
        yield lambda done: None
        return
    if notebook:
        with NotebookBar("sweep", sum(map(_work, todo))) as shown_bar:
            yield lambda done: shown_bar.add(_work(done.task))  # type: ignore[arg-type]
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    trials = sum(len(block.trials) for block in todo)
    columns = (
        TextColumn("{task.fields[trials]} of {task.fields[every]} trials"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    finished = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweep", total=sum(map(_work, todo)), trials=0, every=trials, rate="")

        def tick(done: Done) -> None:
            nonlocal finished
            assert isinstance(done.task, Block)
            finished += len(done.task.trials)
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, advance=_work(done.task), trials=finished, rate=f"{finished / elapsed:.3g} a second")

        yield tick


def _work(block: Block) -> float:
    if not block.route.random:
        return THEORY * len(block.trials)
    return planned(block.setting, block.route).work * len(block.seeds)

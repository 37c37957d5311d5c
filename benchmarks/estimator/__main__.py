"""The estimators against the usual ones, on the same splits in one run.

Measure everything, which takes hours on two cores; a run that was cut goes on from the file. Then write the tables:
python -m benchmarks.estimator --out docs/estimator.jsonl
python -m benchmarks.estimator --out docs/estimator.jsonl --write docs/estimator.md
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.estimator import page, synthetic, tables
from benchmarks.estimator.contender import CONTENDERS
from benchmarks.estimator.race import Line, keep, plan, race, read
from benchmarks.estimator.task import Task
from giantstep.errors import InputError

TASKS = (*synthetic.TASKS, *tables.TASKS)
QUICK = ("staircase-128", "multi-index-64", "diabetes", "iris")


def chosen(wanted: str | None, every: Sequence[Any], what: str) -> list[Any]:
    """Those with the names, or of the groups, in a list with commas; all where there is no list."""
    if wanted is None:
        return list(every)
    words = [word.strip() for word in wanted.split(",")]
    groups = {each: getattr(each, "group", each.name) for each in every}
    known = {each.name for each in every} | set(groups.values())
    for word in words:
        if word not in known:
            raise InputError(f"there is no {what} {word!r}: there are {', '.join(sorted(known))}")
    return [each for each in every if each.name in words or groups[each] in words]


def arguments(given: Sequence[str]) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        "python -m benchmarks.estimator", None, summary, rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", metavar="A,B", help=f"only these: names, or {', '.join(page.TITLES)}")
    parser.add_argument("--contenders", metavar="A,B", help="only these, beside giantstep, whose time is the unit")
    parser.add_argument("--quick", action="store_true", help="one split of a few small tasks")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="keep every result as a line of JSON, and go on from those that are there",
    )
    parser.add_argument(
        "--write",
        metavar="PAGE",
        type=Path,
        help="measure nothing: write the tables of --out between the markers of a page",
    )
    parser.add_argument("--json", action="store_true", help="print lines of JSON in the place of tables")
    return parser.parse_args(given)


@contextmanager
def progress(total: int) -> Iterator[Any]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        key = bar.add_task("warming up", total=total)

        def tell(said: str) -> None:
            bar.console.print(said, markup=False, highlight=False, soft_wrap=True)

        yield tell, lambda said: bar.update(key, advance=1, description=said)


def measured(tasks: list[Task], wanted: str | None, out: Path | None) -> list[Line]:
    """Everything there is of these tasks after the run."""
    contenders = chosen(wanted, CONTENDERS, "contender")
    before = read(out) if out else []
    heats = plan(tasks, contenders, {line.key for line in before})
    with progress(sum(len(each) for _, _, each in heats)) as (tell, tick):
        for each in contenders:
            if each.absent:
                tell(each.absent)
        lines = race(heats, tell)
        found = {line.key: line for line in before}
        for line in keep(out, lines) if out else lines:
            found[line.key] = line
            tick(f"{line.task}, {line.contender}")
            if line.failed:
                tell(f"{line.contender} failed on {line.task}: {line.failed}")
    return list(found.values())


def main(given: Sequence[str]) -> int:
    try:
        options = arguments(given)
        tasks = chosen(options.tasks, TASKS, "task")
        if options.quick:
            tasks = [replace(task, splits=1) for task in tasks if task.name in QUICK or options.tasks]
        if options.write:
            if options.out is None or not options.out.exists():
                raise InputError("--write needs --out FILE with results to write")
            page.write(options.write, page.text(TASKS, read(options.out)))
            return 0
        names = {task.name for task in tasks}
        lines = [line for line in measured(tasks, options.contenders, options.out) if line.task in names]
        print("\n".join(json.dumps(asdict(line)) for line in lines) if options.json else page.text(tasks, lines))
    except InputError as problem:
        print(f"benchmarks.estimator: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

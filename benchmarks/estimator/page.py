"""The tables: errors with their standard errors, and fitting times as multiples of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.estimator.contender import CONTENDERS, OURS
from benchmarks.estimator.race import Line
from benchmarks.estimator.task import Task
from giantstep.errors import InputError
from giantstep.lab.store._atomic import atomic

BEGIN = "<!-- Written by `python -m benchmarks.estimator --write PAGE`; do not edit from here. -->"
END = "<!-- To here. -->"
TITLES = {
    "staircase": "Staircases",
    "index": "Targets with noise",
    "other": "Other laws",
    "tables": "Tables of numbers",
    "classes": "Tables of classes",
}
RIVAL, SHARE = "xRFM", 5.0  # goal: at least SHARE times as fast as this one
CLOSE = 1.1  # times the least error: the goal on two thirds of the tasks
MANY, FAR = 2000, 2.0  # from so many rows on, never farther from the least error than this
SURE = 2.0  # standard errors of the difference over splits
HOW = (
    "An error is the mean squared error over the variance of the test labels, without noise where the law is known; for "
    "classes it is the share of wrong ones. ± is the standard error over splits: seeds of a law, folds or draws of a table. "
    "× is the time to fit over ours, in CPU seconds on the same split in the same run; where it is absent, the error is from an "
    "earlier run on the same splits. Better and worse are differences of more than two "
    "standard errors over the same splits; the least error of a row is bold."
)


@dataclass(frozen=True)
class Results:
    """Lines by task and contender, and then by split."""

    tasks: Sequence[Task]
    lines: Mapping[tuple[str, str], Mapping[int, Line]]

    @property
    def names(self) -> list[str]:
        return [each.name for each in CONTENDERS]

    def of(self, task: str, name: str) -> dict[int, Line]:
        """Lines by split, without failures."""
        return {split: line for split, line in self.lines.get((task, name), {}).items() if line.error is not None}

    def failed(self, task: str, name: str) -> bool:
        return (task, name) in self.lines and not self.of(task, name)

    def mean(self, task: str, name: str) -> float:
        return float(
            np.mean([line.error for line in self.of(task, name).values() if line.error is not None] or [np.inf])
        )

    def times(self, task: str, name: str) -> float | None:
        """Fitting time over ours, the median over splits."""
        ratios = [line.times for line in self.of(task, name).values() if line.times is not None]
        return float(np.median(ratios)) if ratios else None

    def verdict(self, task: str, name: str) -> str:
        """We against another: "better", "worse", or "level" within 2 standard errors of the difference over the same splits;
        nothing where there are no two of them."""
        ours, theirs = self.of(task, OURS.name), self.of(task, name)
        gaps = np.array([theirs[split].error - ours[split].error for split in ours if split in theirs])  # type: ignore[operator]
        if len(gaps) < 2:
            return ""
        if abs(gaps.mean()) <= SURE * gaps.std(ddof=1) / len(gaps) ** 0.5:
            return "level"
        return "better" if gaps.mean() > 0 else "worse"


def cell(results: Results, task: str, name: str, best: float) -> str:
    """``0.052 ± 0.003, 4.1×``; the least error of a row is bold."""
    errors = [line.error for line in results.of(task, name).values()]
    if not errors:
        return "failed" if results.failed(task, name) else ""
    mean = results.mean(task, name)
    text = f"**{mean:.3g}**" if mean == best else f"{mean:.3g}"
    if len(errors) > 1:
        text += f" ± {np.std(errors, ddof=1) / len(errors) ** 0.5:.1g}"  # type: ignore[arg-type]
    times = results.times(task, name)
    return text if times is None or name == OURS.name else f"{text}, {times:.2g}×"


def table(results: Results, group: str) -> list[str]:
    """One row a task, one column a contender that ran on any of them."""
    tasks = [t for t in results.tasks if t.group == group and any(results.of(t.name, n) for n in results.names)]
    if not tasks:
        return []
    names = [n for n in results.names if any(results.of(t.name, n) or results.failed(t.name, n) for t in tasks)]
    lines = [f"### {TITLES[group]}", "", "| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for task in tasks:
        best = min(results.mean(task.name, n) for n in names)
        row = " | ".join(cell(results, task.name, n, best) for n in names)
        lines.append(f"| `{task.name}` | {row} |")
    return [*lines, "", *(f"- `{task.name}`: {task.about}." for task in tasks), ""]


def score(results: Results) -> list[str]:
    """On how many tasks we are better, level and worse, against each of the others."""
    groups = [g for g in TITLES if any(t.group == g and results.of(t.name, OURS.name) for t in results.tasks)]
    head = "| against | " + " | ".join(TITLES[g] for g in groups)
    lines = ["### Better, level, worse", "", head + " | its time over ours |", "|---" * (len(groups) + 2) + "|"]
    for name in results.names:
        if name == OURS.name or not any(results.verdict(t.name, name) for t in results.tasks):
            continue
        cells = []
        for group in groups:
            verdicts = [results.verdict(t.name, name) for t in results.tasks if t.group == group]
            cells.append(" / ".join(str(verdicts.count(word)) for word in ("better", "level", "worse")))
        times = [results.times(t.name, name) for t in results.tasks]
        middle = [each for each in times if each is not None]
        lines.append(f"| {name} | {' | '.join(cells)} | {f'{np.median(middle):.2g}×' if middle else ''} |")
    return [*lines, ""] if len(lines) > 4 else []


def _least(results: Results, task: str) -> float:
    """The least error of a task, at least that of one wrong row in ten thousand."""
    return max(min(results.mean(task, name) for name in results.names), 1e-4)


def summary(results: Results) -> list[str]:
    """The three goals, and the tasks on which another method is better."""
    raced = [t for t in results.tasks if results.of(t.name, OURS.name)]
    ratios = {t.name: results.mean(t.name, OURS.name) / _least(results, t.name) for t in raced}
    lines = []
    if len(raced) > 1:
        near = sum(each <= CLOSE for each in ratios.values())
        lines.append(f"On {near} of {len(raced)} tasks, the error is the least of all or within a tenth of it.")
        many = [t.name for t in raced if t.rows >= MANY]
        for names, which in ((many, f"at least {MANY}"), ([n for n in ratios if n not in many], "fewer")):
            far = [f"`{name}` ({ratios[name]:.2g} times)" for name in names if ratios[name] > FAR]
            lines.append(
                f"On the {len(names)} tasks with {which} rows, it is at most twice the least{', except on ' if far else ''}"
                f"{', '.join(far)}."
            )
    times = {t.name: results.times(t.name, RIVAL) for t in raced if t.rows >= MANY}
    known = {name: each for name, each in times.items() if each is not None}
    if known:
        fast = [f"`{name}`" for name, each in known.items() if each >= SHARE]
        lines.append(
            f"The fit takes at most a fifth of {RIVAL}'s time on {len(fast)} of {len(known)} tasks with at least {MANY} rows"
            f"{' (' + ', '.join(fast) + ')' if fast else ''}; the median of {RIVAL}'s time over ours is "
            f"{np.median(list(known.values())):.2g}."
        )
    behind = []
    for task in results.tasks:
        ahead = [n for n in results.names if results.verdict(task.name, n) == "worse"]
        if ahead:
            first = min(ahead, key=lambda n: results.mean(task.name, n))
            ours, theirs = results.mean(task.name, OURS.name), results.mean(task.name, first)
            behind.append(f"`{task.name}` ({first} {theirs:.3g}, we {ours:.3g})")
    if any(results.verdict(task.name, name) for task in results.tasks for name in results.names):
        lines.append(f"Tasks on which another method is better: {', '.join(behind) or 'none'}.")
    return [*lines, ""] if lines else []


def text(tasks: Sequence[Task], lines: Sequence[Line]) -> str:
    """Everything between the markers."""
    if not lines:
        return "Nothing has been measured yet: `python -m benchmarks.estimator --help` says how.\n"
    by_contender: dict[tuple[str, str], dict[int, Line]] = {}
    for line in lines:
        by_contender.setdefault((line.task, line.contender), {})[line.split] = line
    results, ran = Results(tasks, by_contender), {line.contender for line in lines}
    parts = [HOW, "", *summary(results)]
    for group in TITLES:
        parts += table(results, group)
    parts += [*score(results), *(f"- {each.name}: {each.about}." for each in CONTENDERS if each.name in ran), ""]
    problems = [(line, line.failed or line.warned and f"warned: {line.warned}") for line in lines]
    notes = dict.fromkeys(f"- {line.contender}, `{line.task}`: {words}" for line, words in problems if words)
    if notes:
        parts += ["Failures and warnings:", "", *notes, ""]
    return "\n".join([*parts, *_made(lines)]) + "\n"


def _made(lines: Sequence[Line]) -> list[str]:
    """The versions of this run, and those of earlier ones, whose errors have no time."""
    of_run = dict.fromkeys(line.made for line in lines if line.times is not None or line.failed)
    earlier = dict.fromkeys(line.made for line in lines if line.made not in of_run)
    heads = (("Measured with", of_run), ("Errors without a time are from runs with", earlier))
    return [f"{head} {'; '.join(versions)}." for head, versions in heads if versions]


def write(page: Path, inside: str) -> None:
    """Put the text between the markers of a page; a page that is not there is begun."""
    try:
        old = page.read_text(encoding="utf-8") if page.exists() else f"# Estimators\n\n{BEGIN}\n{END}\n"
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read {page}: {problem}") from None
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(f"{page} has no place for the tables: it needs the line {BEGIN} and after it the line {END}")
    with atomic(page) as unfinished:
        unfinished.write_text(f"{before}{BEGIN}\n\n{inside}\n{END}{after}", encoding="utf-8")

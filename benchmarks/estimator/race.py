"""The run: every contender on every split, one after the other, with what came out kept line by line."""

import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count

from benchmarks.estimator.contender import OURS, Contender
from benchmarks.estimator.task import CLASSES, REGRESSION, Split, Task, error
from giantstep.errors import InputError
from giantstep.lab.store._digest import digest

PACKAGES = ("numpy", "scikit-learn", "torch", "xrfm", "lightgbm", "catboost")
Heat = tuple[Task, int, list[Contender]]  # a split and who runs on it, in this order


@dataclass(frozen=True)
class Line:
    """What one contender did on one split.

    Times are CPU seconds, because other programs may use the machine. ``times`` is its fitting time over ours on the same
    split in the same run. ``failed`` is a sentence where it has no error to show, ``warned`` the first sentence it warned with,
    ``made`` the versions it was measured with.
    """

    task: str
    split: int
    contender: str
    error: float | None = None
    fit_s: float | None = None
    predict_s: float | None = None
    times: float | None = None
    failed: str | None = None
    warned: str | None = None
    made: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        return self.task, self.split, self.contender


@cache
def made() -> str:
    """Versions and cores, in words."""
    found = [f"giantstep {digest()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join([*found, f"{cpu_count()} cores"])


def sentence(said: object) -> str:
    """One line of at most 200 characters."""
    return " ".join(str(said).split())[:200] or type(said).__name__


def measure(contender: Contender, task: Task, split: int, data: Split, ours: float | None) -> Line:
    """Fit, predict, compare; a failure is a line too. ``ours`` is our fitting time on the same split."""
    outputs = data.y.shape[1] if data.y.ndim == 2 else 1
    estimator = contender.build(task.kind, len(data.y), outputs, split)
    start: dict[str, Any] = {"task": task.name, "split": split, "contender": contender.name, "made": made()}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            began = time.process_time()
            estimator.fit(data.X, data.y)
            fitted = time.process_time()
            found = np.asarray(estimator.predict(data.X_test))
            done = time.process_time()
        except Exception as problem:  # whatever another package raises: the others go on
            return Line(**start, failed=sentence(problem))
    if task.kind == REGRESSION and not np.all(np.isfinite(found)):
        return Line(**start, failed="it predicted numbers that are not finite")
    unit = fitted - began if contender is OURS else ours
    return Line(
        **start,
        error=error(task.kind, data.y_test, found),
        fit_s=fitted - began,
        predict_s=done - fitted,
        times=(fitted - began) / unit if unit else None,
        warned=sentence(said[0].message) if said else None,
    )


def warm_up(heats: Iterable[Heat]) -> None:
    """One fit of each on a tiny table, so that imports and first calls are not on the clock."""
    rng = np.random.default_rng(0)
    X, classes = rng.standard_normal((200, 5)), rng.integers(0, 2, 200)
    for kind, contender in dict.fromkeys((task.kind, each) for task, _, chosen in heats for each in chosen):
        tiny = Split(X, classes if kind == CLASSES else X[:, 0] ** 2, X, classes)
        measure(contender, Task("tiny", "", kind, "", 200, 1, lambda _, tiny=tiny: tiny), 0, tiny, None)


def plan(tasks: Sequence[Task], contenders: Sequence[Contender], done: set[tuple[str, int, str]]) -> list[Heat]:
    """Splits of which something is missing. We run first on each, be it again: our time is the unit of the others'."""
    heats = []
    for task in tasks:
        for split in range(task.splits):
            fit = [each for each in (OURS, *contenders) if each.has(task.kind) and not each.absent]
            missing = [each for each in dict.fromkeys(fit) if (task.name, split, each.name) not in done]
            if missing:
                heats.append((task, split, list(dict.fromkeys([OURS, *missing]))))
    return heats


def race(heats: Sequence[Heat], tell: Callable[[str], None]) -> Iterator[Line]:
    """Lines as they come; a task whose data are not here is left out with a sentence."""
    warm_up(heats)
    absent = set()
    for task, split, contenders in heats:
        if task.name in absent:
            continue
        try:
            data = task.load(split).single()
        except InputError as problem:
            absent.add(task.name)
            tell(f"{task.name} is left out: {problem}")
            continue
        ours = None
        for contender in contenders:
            line = measure(contender, task, split, data, ours)
            ours = line.fit_s if contender is OURS else ours
            yield line


def read(file: Path) -> list[Line]:
    """The lines of a file, the last of every task, split and contender; a line that a kill cut short is no line."""
    if not file.exists():
        return []
    found: dict[tuple[str, int, str], Line] = {}
    for number, text in enumerate(_text(file).split("\n")[:-1], start=1):
        try:
            line = Line(**json.loads(text))
        except (TypeError, ValueError):
            raise InputError(
                f"line {number} of {file} is no result of this benchmark: remove it, or name another file"
            ) from None
        found[line.key] = line
    return list(found.values())


def keep(file: Path, lines: Iterable[Line]) -> Iterator[Line]:
    """Append lines to a file as they come, after what is whole of it."""
    whole = _text(file).rpartition("\n")[0] if file.exists() else ""
    try:
        with file.open("r+" if file.exists() else "w", encoding="utf-8", newline="\n") as out:
            out.truncate(len(whole.encode()) + bool(whole))
            out.seek(0, os.SEEK_END)
            for line in lines:
                out.write(json.dumps(asdict(line)) + "\n")
                out.flush()
                yield line
    except OSError as problem:
        raise InputError(f"cannot write {file}: {problem.strerror or problem}") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read {file}: {sentence(problem)}") from None

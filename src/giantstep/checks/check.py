"""check(claims, size): measure, predict and judge. Everything is stored, so a second time it is instant.

The measurement, the prediction and the verdict of a claim are stored separately, each with the version of its code. So a change
in how verdicts are judged or plotted does not discard the measurements.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from giantstep.checks.cache import Bench, Interrupted, on
from giantstep.checks.claim import Claim, Result, Size, Verdict
from giantstep.checks.code import computing, judging, measuring
from giantstep.checks.expected import longest_first
from giantstep.checks.standing import Standing
from giantstep.errors import InputError, MissingData
from giantstep.lab.store import Store
from giantstep.lab.work.call import Call
from giantstep.lab.work.pool import Pool

__all__ = ["NotRun", "check", "verdict_of"]

_FOLDERS = re.compile(r"(?<![\w.:/)~])(?:[A-Za-z]:)?[/\\](?:[\w.~+@-]+[/\\])+")  # folders, not shown in a report


@dataclass(frozen=True)
class NotRun:
    """The answer of a worker for a claim without a verdict: a sentence that says why, and the error if there was one."""

    sentence: str
    error: str | None
    seconds: float


def check(
    claims: Sequence[Claim],
    size: Size,
    bench: Bench | None = None,
    on_progress: Callable[[Standing], None] | None = None,
    task: Callable[[str, Size, str], Call] | None = None,
    expected: Mapping[str, float] | None = None,
) -> list[Result]:
    """Run the claims that have no stored verdict; results come in the order of the list.

    A claim whose data are not on this machine gets the verdict "not run". So does a claim that fails, and its result has the
    error. The other claims go on, and such a claim is run again the next time. Bad input and an interruption are raised.

    Args:
        claims: what to check, each name once.
        size: "quick" or "full".
        bench: the store and the executor; without a bench nothing is stored.
        on_progress: called once at the start and after every claim that ends.
        task: ``task(name, size, store)`` makes whole claims run side by side on the bench's executor, each in a process that
            writes to the same store. Without it one claim runs after the other.
        expected: seconds by the names of claims, as far as they are known; workers begin with the longest claims.
    """
    finished = {} if bench is None else _stored(claims, size, bench)
    todo = [claim for claim in claims if claim.name not in finished]
    if task is not None:
        todo = longest_first(todo, expected or {})
    workers = bench.where.workers if bench is not None and task is not None and isinstance(bench.where, Pool) else 1
    known = len(finished)

    def tell(latest: Result | None) -> None:
        begun = len(finished) - known + workers  # claims begin in their order, this many at a time
        results = tuple(finished[claim.name] for claim in claims if claim.name in finished)
        running = tuple(claim for claim in todo[:begun] if claim.name not in finished)
        if on_progress is not None:
            on_progress(Standing(results, running, tuple(todo[begun:]), latest, workers, expected or {}))

    tell(None)
    ran = _in_turn(todo, size, bench) if bench is None or task is None else _side_by_side(todo, size, bench, task)
    for result in ran:
        finished[result.claim.name] = result
        tell(result)
    if any(claim.name not in finished for claim in claims):
        raise Interrupted
    return [finished[claim.name] for claim in claims]


def verdict_of(store: Store, name: str, size: Size) -> Verdict | None:
    """The stored verdict of a claim from this version of the code, or None."""
    record = store.get_record(_key(computing(), name, size, "verdict"))
    return None if record is None else _verdict(record[0])


def _stored(claims: Sequence[Claim], size: Size, bench: Bench, fresh: bool = False) -> dict[str, Result]:
    """The stored results by the names of their claims; ``fresh`` ones were made by this check."""
    records = ((claim, bench.store.get_record(_key(bench.code, claim.name, size, "verdict"))) for claim in claims)
    return {
        claim.name: Result(claim, _verdict(there[0]), there[1], size, stored=not fresh)
        for claim, there in records
        if there is not None
    }


def _in_turn(todo: Sequence[Claim], size: Size, bench: Bench | None) -> Iterator[Result]:
    for claim in todo:
        if bench is not None and bench.where.stopping.is_set():
            return
        yield _run(claim, size, bench)


def _side_by_side(todo: Sequence[Claim], size: Size, bench: Bench, task: Callable[..., Call]) -> Iterator[Result]:
    """Workers write verdicts to the store; a worker without a verdict returns the reason."""
    tasks = {task(claim.name, size, str(bench.store.path.absolute())): claim for claim in todo}
    for done in bench.where.run(tasks):
        assert isinstance(done.task, Call)
        claim = tasks[done.task]
        if done.refused is not None and done.cause == "input":
            raise InputError(done.refused)
        if isinstance(done.value, NotRun):
            ended = done.value
            yield Result(claim, Verdict("not run", ended.sentence), ended.seconds, size, ended.error)
        elif done.refused is not None:
            yield _broken(claim, size, _plain(done.refused), done.seconds)
        else:
            yield _stored([claim], size, bench, fresh=True)[claim.name]


def _run(claim: Claim, size: Size, bench: Bench | None) -> Result:
    start = time.perf_counter()
    try:
        measured, took = _part(claim, size, bench, "measured", claim.measure)
        predicted, more = _part(claim, size, bench, "predicted", claim.predict or (lambda size: {}))
        judging = time.perf_counter()
        verdict = claim.judge(size, measured, predicted)
        spent = took + more + time.perf_counter() - judging
        if bench is not None:
            bench.store.put_record(_key(bench.code, claim.name, size, "verdict"), asdict(verdict), spent)
    except MissingData as problem:
        return Result(claim, Verdict("not run", _plain(str(problem))), time.perf_counter() - start, size)
    except (InputError, Interrupted):
        raise
    except Exception as problem:  # the report shows the error
        text = _plain(str(problem))
        error = f"{type(problem).__name__}: {text}" if text else type(problem).__name__
        return _broken(claim, size, error, time.perf_counter() - start)
    return Result(claim, verdict, spent, size)


def _broken(claim: Claim, size: Size, error: str, seconds: float) -> Result:
    return Result(claim, Verdict("not run", f"The claim could not be run: {error}"), seconds, size, error)


def _plain(text: str) -> str:
    """The first line, without the folders of this machine."""
    lines = _FOLDERS.sub("", text).strip().splitlines()
    return lines[0] if lines else ""


def _part(claim: Claim, size: Size, bench: Bench | None, name: str, make: Callable[[Size], Any]) -> tuple[Any, float]:
    """A measurement or prediction, stored or made now, and the seconds that it took."""
    if bench is None:
        start = time.perf_counter()
        return make(size), time.perf_counter() - start
    key = _key(bench.code, claim.name, size, name)
    record = bench.store.get_record(key)
    if record is not None:
        return record
    start = time.perf_counter()
    with on(replace(bench, code=f"{bench.code} {measuring(claim.name)}")):
        value = make(size)
    bench.store.put_record(key, value, time.perf_counter() - start)
    record = bench.store.get_record(key)  # read again, because the store turns tuples into lists
    assert record is not None
    return record


def _key(code: str, name: str, size: Size, part: str) -> str:
    own = judging(name) if part == "verdict" else measuring(name)
    return f"{code} {own} {name} {size} {part}"


def _verdict(record: dict[str, Any]) -> Verdict:
    tuples = {"rows": tuple(tuple(row) for row in record["rows"])}
    return Verdict(**{**record, **tuples, "header": tuple(record["header"]), "settings": tuple(record["settings"])})

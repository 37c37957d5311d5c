"""check(claims, size): measure, predict and judge, with everything kept: a second time it is instant.

What a claim measures, what it predicts and its verdict are kept apart in the store of a bench, under the digest of the code
that they come from.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from giantstep._errors import InputError, MissingData
from giantstep.lab.bench import Bench, Interrupted, on
from giantstep.lab.call import Call
from giantstep.lab.code import digest
from giantstep.lab.store import Store
from giantstep.lab.verdict import Claim, Result, Size, Verdict

__all__ = ["check", "verdict_of"]

_FOLDERS = re.compile(r"(?<![\w.:/)])(?:[A-Za-z]:)?[/\\](?:[\w.~+@-]+[/\\])+")  # of a path: a report names no machine


def check(
    claims: Sequence[Claim],
    size: Size,
    bench: Bench | None = None,
    on_progress: Callable[[int, int, Claim], None] | None = None,
    task: Callable[[str, Size, str], Call] | None = None,
) -> list[Result]:
    """Run the claims one after the other; ``on_progress(index, total, claim)`` is called before each that is not kept.

    With ``task(name, size, store)`` those that are not kept are first done by the bench's executor, whole claims side by side,
    each by a process that writes to the same store; ``on_progress`` is called after each of them.

    A claim that breaks, or that lacks its data on this machine, does not lose the others: it is inconclusive, and its result
    carries the error. Other bad input is not a verdict and goes through, and so does an interruption.
    """
    results = []
    fresh = set() if bench is None or task is None else _side_by_side(claims, size, bench, on_progress, task)
    for index, claim in enumerate(claims):
        kept = None if bench is None else bench.store.kept(_key(bench.code, claim.name, size, "verdict"))
        if kept is not None:
            results.append(Result(claim, _verdict(kept[0]), kept[1], size, stored=claim.name not in fresh))
            continue
        if bench is not None and bench.where.stopping.is_set():
            raise Interrupted
        if on_progress is not None:
            on_progress(index, len(claims), claim)
        results.append(_run(claim, size, bench))
    return results


def verdict_of(store: Store, name: str, size: Size) -> Verdict | None:
    """The verdict that a store keeps of a claim, made by this version of the code."""
    kept = store.kept(_key(digest(), name, size, "verdict"))
    return None if kept is None else _verdict(kept[0])


def _side_by_side(claims: Sequence[Claim], size: Size, bench: Bench, on_progress: Any, task: Any) -> set[str]:
    """Names of the claims that were done now. One that broke has no verdict: it is run again here, where it is told."""
    todo = [claim for claim in claims if bench.store.kept(_key(bench.code, claim.name, size, "verdict")) is None]
    tasks = {task(claim.name, size, str(bench.store.path.absolute())): claim for claim in todo}
    for index, done in enumerate(bench.where.run(tasks)):
        if on_progress is not None:
            on_progress(index, len(todo), tasks[done.task])
    return {claim.name for claim in todo}


def _run(claim: Claim, size: Size, bench: Bench | None) -> Result:
    start, error, spent = time.perf_counter(), None, 0.0
    try:
        measured, took = _part(claim, size, bench, "measured", claim.measure)
        predicted, more = _part(claim, size, bench, "predicted", claim.predict or (lambda size: {}))
        judging = time.perf_counter()
        verdict = claim.judge(size, measured, predicted)
        spent = took + more + time.perf_counter() - judging
        if bench is not None:
            bench.store.keep(_key(bench.code, claim.name, size, "verdict"), asdict(verdict), spent)
    except Interrupted:
        raise
    except Exception as problem:  # whatever a claim stumbles over is told in its place of the report
        if isinstance(problem, InputError) and not isinstance(problem, MissingData):
            raise
        lines = _FOLDERS.sub("", str(problem)).strip().splitlines()
        error = f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
        verdict = Verdict("inconclusive", f"The claim could not be run: {error}")
        spent = time.perf_counter() - start
    return Result(claim, verdict, spent, size, error)


def _part(claim: Claim, size: Size, bench: Bench | None, name: str, make: Callable[[Size], Any]) -> tuple[Any, float]:
    """What was measured or predicted, made now or kept, and the seconds that it took."""
    if bench is None:
        start = time.perf_counter()
        return make(size), time.perf_counter() - start
    key = _key(bench.code, claim.name, size, name)
    kept = bench.store.kept(key)
    if kept is not None:
        return kept
    start = time.perf_counter()
    with on(bench):
        found = make(size)
    bench.store.keep(key, found, time.perf_counter() - start)
    kept = bench.store.kept(key)  # as it is read again: tuples are lists from the start
    assert kept is not None
    return kept


def _key(code: str, name: str, size: Size, part: str) -> str:
    return f"{code} {name} {size} {part}"


def _verdict(kept: dict[str, Any]) -> Verdict:
    tuples = {"rows": tuple(tuple(row) for row in kept["rows"])}
    return Verdict(**{**kept, **tuples, "header": tuple(kept["header"]), "settings": tuple(kept["settings"])})

"""A claim checked in a process of its own, which writes to the store of all."""

import gc
from functools import cache

from giantstep.checks._check import NotRun, check
from giantstep.checks.cache import Bench, keep_drawn
from giantstep.checks.claim import Size
from giantstep.claims import select
from giantstep.lab.store import Store
from giantstep.lab.work._call import Call, call
from giantstep.lab.work.executor import Here

KEPT = 2**27  # random numbers that a worker keeps, 1 GiB: most are asked for again, by another arm or another claim
ALLOCATIONS = 50_000  # between two cleanings; Python's 700 make them a fiftieth of the time of a claim
ENOUGH = 3  # claims for every worker, from which on all of them are busy


def apart(size: Size, claims: int, workers: int | None) -> bool:
    """Whether every worker takes a claim of its own, so that none waits for theory; else they share the trials of one claim."""
    if workers is None:
        return False
    return claims > 1 if size == "quick" else claims >= ENOUGH * workers


def task(name: str, size: Size, store: str, first_seed: int) -> Call:
    """What a worker is asked to do."""
    return call(alone, (name, size, store, first_seed))


@cache
def _settle() -> None:
    """Leave the modules, which stay anyway, to themselves when memory is cleaned up, and clean up less often."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS)


def alone(name: str, size: Size, store: str, first_seed: int) -> NotRun | None:
    """Check a claim; its verdict is in the store afterwards, and where there is none this returns why."""
    keep_drawn(KEPT)
    _settle()
    with Store.open(store) as opened:
        (result,) = check(select([name]), size, Bench(opened, Here()), first_seed=first_seed)
    if result.verdict.outcome != "not run":
        return None
    return NotRun(result.verdict.sentence, result.error, result.seconds)

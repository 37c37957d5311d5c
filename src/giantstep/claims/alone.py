"""A claim checked in a process of its own, which writes to the store of all."""

from giantstep.checks.cache import Bench, keep_drawn
from giantstep.checks.check import NotRun, check
from giantstep.checks.claim import Size
from giantstep.checks.code import computing
from giantstep.claims import select
from giantstep.lab.store import Store
from giantstep.lab.work.call import Call, call
from giantstep.lab.work.executor import Here

KEPT = (
    2**25
)  # random numbers that a worker keeps, 256 MiB: seven of ten are asked for again, by another arm or another claim
ENOUGH = 3  # claims for every worker, from which on all of them are busy


def apart(size: Size, claims: int, workers: int | None) -> bool:
    """Whether every worker takes a claim of its own, so that none waits for theory; else they share the trials of one claim."""
    if workers is None:
        return False
    return claims > 1 if size == "quick" else claims >= ENOUGH * workers


def task(name: str, size: Size, store: str, first_seed: int) -> Call:
    """What a worker is asked to do."""
    return call(alone, (name, size, store, first_seed))


def alone(name: str, size: Size, store: str, first_seed: int) -> NotRun | None:
    """Check a claim; its verdict is in the store afterwards, and where there is none this returns why."""
    keep_drawn(KEPT)
    with Store.open(store) as opened:
        (result,) = check(select([name]), size, Bench(opened, Here(), computing()), first_seed=first_seed)
    if result.verdict.outcome != "not run":
        return None
    return NotRun(result.verdict.sentence, result.error, result.seconds)

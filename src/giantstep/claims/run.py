"""check(claims): the statements of the literature checked from Python."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from giantstep._given.declared import a_path, at_least, given, one_of, texts
from giantstep._given.plain import flag, whole
from giantstep.checks._replicate import replicate as on_sets
from giantstep.checks.cache import Bench
from giantstep.checks.claim import Size
from giantstep.checks.report._follow import following
from giantstep.checks.verdict import Result
from giantstep.claims import select
from giantstep.claims._alone import apart, task
from giantstep.claims._full import seconds
from giantstep.lab.store import Store
from giantstep.lab.work.executor import executor


@given(
    claims=texts,
    size=one_of("quick", "full"),
    first_seed=at_least(0),
    replicate=whole,
    workers=whole,
    store=a_path,
    progress=flag,
)
def check(
    claims: str | Sequence[str] = (),
    size: Size = "quick",
    *,
    first_seed: int = 0,
    replicate: int = 1,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
) -> list[Result]:
    """Check statements of the literature.

    Args:
        claims: names such as "moniri/bulk", or groups such as "moniri"; without names, all of them.
        size: "quick" takes minutes on two cores, "full" about an hour.
        first_seed: every claim is measured on this seed and those that follow; every random number depends on it.
        replicate: the number of sets of seeds. Sets are 10000 seeds apart, and ``result.times`` counts the verdicts.
        workers: processes that share the work; by default this process does it alone.
        store: a file that keeps the measurements, so that a second check is instant; by default nothing is kept.
        progress: show a bar, or without a terminal and a notebook a line for every claim that ends. By default a terminal and
            a notebook have the bar.

    Returns:
        A result for every claim, in the order of the list. ``result.verdict.outcome`` is the verdict on the source's own words,
        ``result.verdict.corrected`` the decision on its correction if it has one.

    Examples:
        >>> (result,) = gs.check("moniri/alignment")
        >>> result.claim.name, result.verdict.outcome
        ('moniri/alignment', 'holds')
    """
    selected = select([claims] if isinstance(claims, str) else list(claims))
    each = task if apart(size, len(selected), workers) else None
    with closing(executor(workers, None, None)) as where, Store.at(store) as opened, following(progress) as tell:
        bench = Bench(opened, where)
        return on_sets(selected, size, replicate, bench, tell, first_seed, task=each, expected=seconds(size))

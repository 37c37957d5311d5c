"""replicate(claims, size, sets): check the claims on several sets of seeds, and count how often each verdict comes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from giantstep._given.plain import choice, whole
from giantstep.checks._check import check
from giantstep.checks._standing import Standing
from giantstep.checks.cache import Bench
from giantstep.checks.claim import MOST_SEEDS, Claim, Size
from giantstep.checks.verdict import Result


def replicate(
    claims: Sequence[Claim],
    size: Size,
    sets: int = 1,
    bench: Bench | None = None,
    on_progress: Callable[[Standing], None] | None = None,
    first_seed: int = 0,
    **options: Any,
) -> list[Result]:
    """Check on the seeds from ``first_seed`` on, then on the next sets; sets are 10000 seeds apart and share none.

    The result of a claim is that of the first set, with the verdicts of the others beside it; its time is that of all sets.
    ``options`` are those of ``check``.
    """
    choice(size, ("quick", "full"), "size")
    first_seed, sets = whole(first_seed, "first_seed", 0), whole(sets, "replicate")
    rounds = []
    for number in range(sets):

        def tell(standing: Standing, number: int = number) -> None:
            if on_progress is not None:
                on_progress(replace(standing, set_number=number, sets=sets))

        rounds.append(check(claims, size, bench, tell, first_seed=first_seed + number * MOST_SEEDS, **options))
    first, *others = rounds
    return [_together(result, [each[i] for each in others]) for i, result in enumerate(first)]


def _together(first: Result, others: Sequence[Result]) -> Result:
    """One result from those of all sets; an error of one set is an error."""
    if not others:
        return first
    errors = [each.error for each in (first, *others) if each.error is not None]
    seconds = sum(each.seconds for each in (first, *others))
    verdicts = tuple(each.verdict for each in others)
    return replace(first, replicated=verdicts, seconds=seconds, error=errors[0] if errors else None)

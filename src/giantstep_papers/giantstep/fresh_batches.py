"""Two fresh batches of order d do not find targets without a linear part,
nor does one batch twice find an even one."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep_papers.dandi import ranks, reuse
from giantstep_papers.dandi.reuse import ReuseCase, over_null

CLAIM = Claim(
    order=20,
    of="giantstep",
    statement="Two giant steps on fresh batches of order d do not learn a target without a linear "
    "part, and two on one batch do not learn an even one.",
    where="the other side of re-using batches (dandi/reuse): information and generative exponents "
    "above one",
    how="We fit the share of a neuron along the target over the null level freely by a power of "
    "d. The exponent must be zero. This runs at full size only, because squares of "
    "heavy-tailed gradients scatter.",
    judges=(
        Judge(
            "exponent of a target that is not learned",
            margin=EXPONENT,
            departure=0.3,
            mean=(EXPONENT, 0.12),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"full": Seeds(200, 1600)},
)

# a size between the two would not change the fit
LEARNED = tuple(case._replace(sizes=(case.sizes[0], case.sizes[-1])) for case in reuse.CASES)
EVEN = ReuseCase("H2(x1)/sqrt(2)", "H₂, even", 4, (4000, 64_000))
CASES = (*LEARNED, EVEN)
BATCHES = {"fresh": "two fresh batches", "reuse": "one batch twice"}


def cases(batch: str) -> tuple[ReuseCase, ...]:
    """All targets on fresh batches, and the even one on one batch."""
    return CASES if batch == "fresh" else CASES[-1:]


def measure(size: Size, seeds: range) -> Data:
    """Share along the target over the null level, (sizes, seeds) for every target,
    on fresh batches and on one."""
    return {
        batch: {
            c.name: cache.over(over_null, [(tuple(c), d, batch) for d in c.sizes], seeds)
            for c in cases(batch)
        }
        for batch in BATCHES
    }


def predict(size: Size) -> Data:
    """The exponent of d."""
    return {"exponent": 0.0}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of d."""
    slopes = {
        f"{case.name}, {words}": ranks.growth(case.sizes, measured[batch][case.name])
        for batch, words in BATCHES.items()
        for case in cases(batch)
    }
    found, what = np.stack(list(slopes.values())), "exponent of a target that is not learned"
    judge = judging(CLAIM, size)
    return statistics.stated(*judge.each_and_mean(what, found, predicted["exponent"], at=slopes))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    said = {case.name: False for case in CASES}
    return Verdict(
        sizes=reuse.sizes(CASES),
        figure=reuse.figure({words: (measured[b], said) for b, words in BATCHES.items()}, CASES),
        caption="No share grows with the dimension, so none of these targets is learned.",
        settings=tuple(reuse.setting(c, c.sizes[-1], b).id for b in BATCHES for c in cases(b)),
    )

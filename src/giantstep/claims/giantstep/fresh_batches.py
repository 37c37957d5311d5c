"""Two fresh batches of order d do not find targets without a linear part, nor does one batch twice find an even one."""

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Verdict, cache, statistics
from giantstep.claims.dandi.directions import ranks, reuse
from giantstep.claims.dandi.directions.reuse import ReuseCase, over_null

CASES = tuple(case._replace(sizes=(case.sizes[0], case.sizes[-1])) for case in reuse.CASES) + (
    ReuseCase("H2(x1)/sqrt(2)", "H₂, even", 4, (4000, 64_000)),
)  # a size between the two would not change the fit
BATCHES = {"fresh": "two fresh batches", "reuse": "one batch twice"}
SEEDS: dict[Size, Seeds] = {"full": Seeds(200, 1600)}
RULE = ranks.exponents(0.3, 0.12)


def cases(batch: str) -> tuple[ReuseCase, ...]:
    """All targets on fresh batches, and the even one on one batch."""
    return CASES if batch == "fresh" else CASES[-1:]


def measure(size: Size, seeds: range) -> Data:
    """Share along the target over the null level, (sizes, seeds) for every target, on fresh batches and on one."""
    return {
        batch: {c.name: cache.over(over_null, [(tuple(c), d, batch) for d in c.sizes], seeds) for c in cases(batch)}
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
    return statistics.stated(
        *ranks.each_and_mean("exponent of a target that is not learned", slopes, predicted["exponent"], RULE)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    said = {case.name: False for case in CASES}
    return Verdict(
        sizes=reuse.sizes(CASES),
        figure=reuse.figure({words: (measured[b], said) for b, words in BATCHES.items()}, CASES),
        caption="No share grows with the dimension, so none of these targets is learned.",
        settings=tuple(reuse.setting(c, c.sizes[-1], b).id for b in BATCHES for c in cases(b)),
    )

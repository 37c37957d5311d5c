"""What the staircase promises, a second layer of signs cannot always deliver: a step adds one direction for each size of a_i."""

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi import ranks
from giantstep.claims.dandi.ranks import RankCase

TARGET = "x1 + x1*x2 + H3(x1)*x3"
SIZES = {"quick": ((2**11, 2**12, 2**14), 8), "full": ((4000, 16_000, 64_000), 12)}


def cases(size: Size) -> tuple[RankCase, ...]:
    sizes, _ = SIZES[size]
    return tuple(
        RankCase(f"{name}, two steps", TARGET, rank, sizes, ratio=64, strength=3.0, steps=2, second_layer=law, width=8)
        for name, law, rank in (("signs", "rademacher", 2), ("Gaussian", "gaussian", 3))
    )


def measure(size: Size) -> Data:
    return ranks.measured(cases(size), SIZES[size][1])


def predict(size: Size) -> Data:
    return ranks.predicted(cases(size))


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    return ranks.judged(cases(size), measured, predicted)


CLAIM = claim("dandi/second-layer", measure=measure, predict=predict, judge=judge)

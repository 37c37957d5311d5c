"""One giant step learns a single direction when the information exponent is one, the span of the tensor when it is two."""

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi import ranks
from giantstep.claims.dandi.ranks import RankCase

ONE, TWO = "x1 + x2 + x1^2 - x2^2", "x1*x2 + H2(x3)/sqrt(2)"
SIZES = {
    "quick": ((512, 2048, 8192), (64, 96, 192), 8),
    "full": ((1000, 10_000, 100_000), (100, 250, 600), 20),
}  # dimensions for n of the order of d and of d^2, seeds


def cases(size: Size) -> tuple[RankCase, ...]:
    linear, square, _ = SIZES[size]
    return (
        RankCase("ℓ = 1, n = 4d", ONE, 1, linear),
        RankCase("ℓ = 1, n = 4d²", ONE, 1, square, power=2),
        RankCase("the same, deflated", ONE, 2, square, power=2, deflate=2),
        RankCase("ℓ = 2, n = 4d²", TWO, 3, square, power=2, strength=2.0),
    )


def measure(size: Size) -> Data:
    return ranks.measured(cases(size), SIZES[size][2])


def predict(size: Size) -> Data:
    return ranks.predicted(cases(size))


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    return ranks.judged(cases(size), measured, predicted)


CLAIM = claim("dandi/one-step", measure=measure, predict=predict, judge=judge)

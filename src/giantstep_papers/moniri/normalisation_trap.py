"""The normalisation trap: with the initial output kept, the gradient is rank one elsewhere."""

from functools import partial
from math import sqrt

import giantstep as gs
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
    judging,
    statistics,
)
from giantstep.theory.one_step.parameters import activation_constants
from giantstep_papers.moniri import remainder, talk
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=2,
    of="giantstep",
    statement="With a ~ N(0, I/N) the initial output f₀ is of order one: the gradient is rank one "
    "along Xᵀ(y − f₀), and along Xᵀy an error of size c₁√(c₁² + φ E σ²) stays for ever.",
    where="our correction to the rank-one approximation as the talk writes it",
    how="We compare the remainder along Xᵀy at the largest n with its limit, corrected by the "
    "derived term of order 1/n. The exponent of n of this remainder must be 0. The exponent along "
    "Xᵀ(y − f₀), a factor √log n aside, must be at most −1/2.",
    judges=(
        Judge(
            "remainder along Xᵀy",
            relative=True,
            margin=(0.05, 0.02),
            departure=(0.1, 0.04),
            because="the next term, of order n^(−1/2)",
        ),
        Judge(
            "exponent of n along Xᵀy",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of n along Xᵀ(y − f₀)",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(16, 90), "full": Seeds(18, 110)},
)

measure = partial(remainder.measure, residuals=("full",))


def limit_along_labels() -> float:
    """What is left along X^T y if the initial output is kept.

    c_1 sqrt(c_1^2 + phi (c_1^2 + c_{>1}^2)), phi = d/n.
    """
    sigma = gs.activation("relu", centred=True)
    c1, phi = sigma.hermite(1)[1], 0.6
    return c1 * sqrt(c1**2 + phi * sigma.mean_square)


def at_finite_size(n: int) -> float:
    """The limit with what the rest of the gradient adds to the norm.

    sqrt(limit^2 + (3 phi/p + 1/n) E (y - f_0)^2 Var sigma'). The rest has rows a_i z_i, so it adds
    E a^4/E a^2 = 3 along a and 1 along the direction of the rank-one part.
    """
    setting = remainder.experiment(n, "full")
    sigma, target = setting.network.activation, setting.target
    coefficients, _, slope = activation_constants(sigma)
    power = target.power + target.noise**2 + sigma.mean_square
    rest = (3 * setting.d / (n * setting.p) + 1 / n) * power * (slope - coefficients[1] ** 2)
    return sqrt(limit_along_labels() ** 2 + rest)


def predict(size: Size) -> Data:
    return {"limit": limit_along_labels(), "finite": at_finite_size(remainder.SIZES[size][-1])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Along X^T y the limit and no decay, along X^T (y - f_0) the decay."""
    judge, last = judging(CLAIM, size), f"n = {remainder.SIZES[size][-1]}"
    # |a| and |W^T a| are known on average
    norms = controlled(measured["norms"][-1, :1], measured["controls"][-1])
    stays = remainder.exponents(size, measured, [0], decaying=False)
    falls, name = remainder.exponents(size, measured, [1]), "exponent of n along Xᵀ(y − f₀)"
    return statistics.stated(
        judge("remainder along Xᵀy", norms, predicted["finite"], at=[last]),
        judge("exponent of n along Xᵀy", stays, 0.0),
        judge("exponent of n", falls, remainder.RATE, by=name, at=remainder.ARMS[1:2]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, limit = remainder.SIZES[size], predicted["limit"]
    mean = measured["norms"].mean(axis=-1)
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(size, measured["norms"], [0, 1], limit),
        caption=f"Along Xᵀy the remainder stays near the predicted {limit:.2f}, and along "
        f"Xᵀ(y − f₀) it falls to {mean[-1, 1]:.2f}.",
        settings=tuple(remainder.experiment(n, "full").id for n in sizes),
        trend=f"Between n = {sizes[0]} and {sizes[-1]} the remainder along Xᵀ(y − f₀) goes from "
        f"{mean[0, 1]:.3f} to {mean[-1, 1]:.3f}. Along Xᵀy it goes from {mean[0, 0]:.3f} to "
        f"{mean[-1, 0]:.3f}, and the predicted limit is {limit:.3f}.",
    )

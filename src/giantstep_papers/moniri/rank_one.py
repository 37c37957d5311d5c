"""What a rank-one matrix leaves of the gradient falls with n: not for the talk's direction."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    ComparedNumbers,
    Data,
    Evidence,
    Judge,
    Judging,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep.theory.limits.gains import direction
from giantstep_papers.moniri import normalisation_trap, remainder, talk

CLAIM = Claim(
    order=1,
    quote="Rank-1 Approximation: W₁ = W₀ + η c₁ a (Xᵀy/n)ᵀ + small.",
    place="Moniri's talk of March 2024, slide “Spectrum of the Weights”",
    kind="remark",
    statement="The gradient step is W₀ + η c₁ a (Xᵀy/n)ᵀ up to a small remainder: a rank-1 "
    "approximation.",
    where="the rank-one approximation of the gradient, with the residual y − f₀ as on the slide "
    "and a ~ N(0, I/N)",
    correction="With y in place of y − f₀ in the gradient, or with β = Xᵀ(y − f₀)/n, the remainder "
    "falls with n.",
    how="The slide names no rate. We read “small” as small beside the rank-one part: ‖G − "
    "c₁aβᵀ‖/(c₁‖a‖‖β‖) must fall with n, and in our theory it must vanish at large n. Falling "
    "means an exponent of at most −1/4, half of that of a sum of independent terms.",
    judges=(
        Judge(
            "exponent of n of the relative remainder",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "relative remainder in theory",
            side="below",
            margin=0.05,
            departure=0.1,
            because="the word “small”, which names no number",
        ),
    ),
    seeds={"quick": Seeds(16, 90), "full": Seeds(18, 110)},
)

measure = remainder.measure
FAR = (10**6, 10**9, 10**12)  # where theory shows what stays
FALLS = remainder.RATE / 2  # half-way between that rate and a remainder that stays


def stays(n: int) -> float:
    """What theory leaves along X^T y over the rank-one part, c_1 |beta|."""
    setting = remainder.experiment(n, "full")
    target, first = setting.target, setting.network.activation.hermite(1)[1]
    slope = float(target.hermite.get((1,), 0.0))
    power = target.power + target.noise**2
    beta = direction(setting.d / n, slope, power).norm
    return normalisation_trap.at_finite_size(n) / float(abs(first) * beta)


def predict(size: Size) -> Data:
    return {"far": np.array([stays(n) for n in FAR])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated: the gradient of y - f_0 along X^T y.

    As corrected: both directions that fit their residual.
    """
    judge, at = judging(CLAIM, size), [f"n = 10^{len(str(n)) - 1}" for n in FAR]
    far = judge("relative remainder in theory", predicted["far"], at=at, noisy=False)
    stated, corrected = (_fall(judge, measured, arms) for arms in ([0], [1, 2]))
    return statistics.trend(stated, far, corrected=(corrected,))


def _fall(judge: Judging, measured: Data, arms: list[int]) -> ComparedNumbers:
    """Whether the relative remainder of these arms falls with n.

    No rate is named, so half of the expected one is asked.
    """
    slopes = remainder.relative_exponents(judge.size, measured, arms)
    at = [remainder.ARMS[i] for i in arms]
    return judge("exponent of n of the relative remainder", slopes, FALLS, at=at)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = remainder.SIZES[size]
    share = remainder.relative(measured).mean(axis=-1)
    ends = [f"from {share[0, i]:.0%} to {share[-1, i]:.0%}" for i in range(3)]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        sentence=f"With β = Xᵀy/n the remainder is {share[-1, 0]:.0%} of the rank-one part at the "
        f"largest n. Theory keeps {predicted['far'][-1]:.0%} in the limit, because the initial "
        f"output is as large as the labels. With y in place of y − f₀ it goes {ends[2]} as n "
        "grows.",
        figure=remainder.draw_decay(size, measured["norms"], [0, 1, 2]),
        caption="The gradient of y − f₀ tends to rank one along Xᵀ(y − f₀), and not along Xᵀy.",
        settings=tuple(
            remainder.experiment(n, residual).id for n in sizes for residual in ("full", "target")
        ),
        trend=f"With β = Xᵀy/n the remainder goes {ends[0]} of the rank-one part between "
        f"n = {sizes[0]} and {sizes[-1]}.",
    )

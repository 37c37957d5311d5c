"""What a rank-one matrix leaves of the gradient falls with n: not for the direction that the talk writes."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.theory.limits.gains import direction
from giantstep_papers.moniri import normalisation_trap, remainder, talk

CLAIM = Claim(
    order=1,
    quote="Rank-1 Approximation: W₁ = W₀ + η c₁ a (Xᵀy/n)ᵀ + small.",
    place="Moniri's talk of March 2024, slide “Spectrum of the Weights”",
    kind="remark",
    statement="The gradient step is W₀ + η c₁ a (Xᵀy/n)ᵀ up to a small remainder: a rank-1 approximation.",
    where="the rank-one approximation of the gradient, with the residual y − f₀ as on the slide and a ~ N(0, I/N)",
    correction="With y in place of y − f₀ in the gradient, or with β = Xᵀ(y − f₀)/n, the remainder falls with n.",
    how="The slide names no rate. We read “small” as small beside the rank-one part: ‖G − "
    "c₁aβᵀ‖/(c₁‖a‖‖β‖) must fall with n, and our theory of it must be below the margin at "
    "large n. Falling means an exponent of at most −1/4, half of that of a sum of independent"
    " terms, with the margin that every exponent has.",
    seeds={"quick": Seeds(16, 90), "full": Seeds(18, 110)},
)

measure = remainder.measure
FAR = (10**6, 10**9, 10**12)  # where theory shows what stays
SMALL = Tolerance(0.05, 0.1)  # of the rank-one part


def stays(n: int) -> float:
    """What theory leaves along X^T y over the rank-one part, c_1 |beta|."""
    setting = remainder.experiment(n, "full")
    target, first = setting.target, setting.network.activation.hermite(1)[1]
    slope, power = float(target.hermite.get((1,), 0.0)), target.power + target.noise**2
    beta = direction(setting.d / n, slope, power).norm
    return normalisation_trap.at_finite_size(n) / float(abs(first) * beta)


def predict(size: Size) -> Data:
    return {"far": np.array([stays(n) for n in FAR])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated: the gradient of y - f_0 along X^T y. As corrected: both directions that fit their residual."""
    at = [f"n = 10^{len(str(n)) - 1}" for n in FAR]
    far = statistics.compare(
        "relative remainder in theory", predicted["far"], at=at, side="below", noisy=False, within=SMALL
    )
    return statistics.trend(
        remainder.fall(size, measured, [0]), far, corrected=(remainder.fall(size, measured, [1, 2]),)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = remainder.SIZES[size]
    share = remainder.relative(measured).mean(axis=-1)
    ends = [f"from {share[0, i]:.0%} to {share[-1, i]:.0%}" for i in range(3)]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        sentence=f"With β = Xᵀy/n the remainder is {share[-1, 0]:.0%} of the rank-one part at the largest n. "
        f"Theory keeps {predicted['far'][-1]:.0%} in the limit, because the initial output is as large as the "
        f"labels. With y in place of y − f₀ it goes {ends[2]} as n grows.",
        figure=remainder.draw_decay(size, measured["norms"], [0, 1, 2]),
        caption="The gradient of y − f₀ tends to rank one along Xᵀ(y − f₀), and not along Xᵀy.",
        settings=tuple(remainder.experiment(n, residual).id for n in sizes for residual in ("full", "target")),
        trend=f"With β = Xᵀy/n the remainder goes {ends[0]} of the rank-one part between n = {sizes[0]} and "
        f"{sizes[-1]}.",
    )

"""The normalisation trap: with the initial output kept, the gradient is rank one along another direction."""

from functools import partial
from math import sqrt

import giantstep as gs
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import remainder, talk
from giantstep.measure import mean_and_error

NEAR = 0.05  # of the limit, granted to finite sizes
SHARE = 0.2  # of the limit: a departure that must be seen


def limit_along_labels() -> float:
    """c_1 sqrt(c_1^2 + phi (c_1^2 + c_{>1}^2)), phi = d/n: what is left along X^T y when the initial output is kept."""
    sigma = gs.activation("relu", centred=True)
    c1, phi = sigma.hermite(1)[1], 0.6
    return c1 * sqrt(c1**2 + phi * sigma.mean_square)


def predict(size: Size) -> Data:
    return {**remainder.predict(size), "limit": limit_along_labels()}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, seeds), norms, limit = remainder.SIZES[size], measured["norms"], predicted["limit"]
    labels = remainder.rate(sizes, norms[:, :, 0], 0.0)
    residual = remainder.rate(sizes, norms[:, :, 1], predicted["rate"])
    last = compare(norms[-1, :, 0], limit, granted=NEAR * limit)
    decays = residual.mean - residual.predicted <= residual.bound
    needs = (last.seen / (SHARE * limit), labels.seen / remainder.TOLD, residual.seen / remainder.TOLD)
    mean, se = mean_and_error(norms, axis=1)
    ends = (mean[0, 0], se[0, 0], sizes[0]), (last.mean, last.error, sizes[-1])
    stays = " and ".join(f"{m:.3f} ± {e:.3f} at n = {n}" for m, e, n in ends)
    return Verdict(
        outcome=decided(bool(last.missed or labels.missed or not decays), float(max(needs)), 1.0),
        sentence=f"Along Xᵀy the remainder stays: {last.mean:.3f} ± {last.error:.3f} at n = {sizes[-1]} (predicted {limit:.3f}, "
        f"{abs(last.distance):.1f} s.e. away; slope {labels.mean:.3f} ± {labels.error:.3f}). "
        f"Along Xᵀ(y − f₀) it decays as n^({residual.mean:.3f} ± {residual.error:.3f}) √log n.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G − c₁aβ_effᵀ‖", "s.e. "),
        rows=tuple((n, *(float(v) for k in (0, 1) for v in (mean[i, k], se[i, k]))) for i, n in enumerate(sizes)),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(
            sizes,
            [(r"$\beta = X^\top\! y/n$", norms[:, :, 0]), (r"$\beta = X^\top\!(y - f_0)/n$", norms[:, :, 1])],
            limit,
        ),
        caption="Operator norm of what a rank-one matrix leaves of the gradient against n, both logarithmic. Along Xᵀy it "
        f"stays at the predicted {limit:.3f} ({stays}); along Xᵀ(y − f₀) it falls to {mean[-1, 1]:.3f} beside a guide (log "
        "n/n)^½.",
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1(), residual="full").id for n in sizes),
        power=f"Limit: {last.relative().power('%', 100)} Slopes: {labels.power()} {residual.power()}",
        trend=f"Along Xᵀy the distance from the predicted limit goes from {mean[0, 0] / limit - 1:+.1%} at n = {sizes[0]} to "
        f"{last.mean / limit - 1:+.1%} at n = {sizes[-1]}; along Xᵀ(y − f₀) the remainder goes from {mean[0, 1]:.3f} to "
        f"{mean[-1, 1]:.3f}.",
    )


CLAIM = claim(
    "moniri/normalisation-trap", measure=partial(remainder.measure, residual="full"), predict=predict, judge=judge
)

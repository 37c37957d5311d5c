"""The normalisation trap: with the initial output kept, the gradient is rank one along another direction."""

from math import sqrt

import giantstep as gs
from giantstep.claims.moniri import remainder, talk
from giantstep.lab.verdict import Claim, Size, Verdict


def limit_along_labels() -> float:
    """c_1 sqrt(c_1^2 + phi (c_1^2 + c_{>1}^2)), phi = d/n: what is left along X^T y when the initial output is kept."""
    sigma = gs.activation("relu", centred=True)
    c1, phi = sigma.hermite(1)[1], 0.6
    return c1 * sqrt(c1**2 + phi * sigma.mean_square)


def run(size: Size) -> Verdict:
    from giantstep.measure import mean_and_error

    sizes, seeds, norms = remainder.measured(size, "full")
    naive, naive_se = remainder.slope(sizes, norms[:, :, 0], logarithm=False)
    true, true_se = remainder.slope(sizes, norms[:, :, 1], logarithm=True)
    mean, se = mean_and_error(norms, axis=1)
    limit, gap = limit_along_labels(), float(abs(mean[-1, 0] - limit_along_labels()) / se[-1, 0])
    near = abs(mean[-1, 0] - limit) < 3 * se[-1, 0] + 0.05 * limit
    along_labels, along_residual = remainder.judge_decay(naive, naive_se), remainder.judge_decay(true, true_se)
    if near and along_labels == "fails" and along_residual == "holds":
        outcome = "holds"
    else:  # contradicted where a slope is on the wrong side or the limit is missed
        contradicted = not near or along_labels == "holds" or along_residual == "fails"
        outcome = "fails" if contradicted else "inconclusive"
    rows = tuple((n, *(float(v) for k in (0, 1) for v in (mean[i, k], se[i, k]))) for i, n in enumerate(sizes))
    return Verdict(
        outcome=outcome,
        sentence=f"Along Xᵀy the remainder stays: {mean[-1, 0]:.3f} ± {se[-1, 0]:.3f} at n = {sizes[-1]} (predicted {limit:.3f}, "
        f"{gap:.1f} s.e. away; slope {naive:.3f} ± {naive_se:.3f}). "
        f"Along Xᵀ(y − f₀) it decays as n^({true:.3f} ± {true_se:.3f}) √log n.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G − c₁aβ_effᵀ‖", "s.e. "),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(
            sizes,
            [(r"$\beta = X^\top\! y/n$", norms[:, :, 0]), (r"$\beta = X^\top\!(y - f_0)/n$", norms[:, :, 1])],
            limit,
        ),
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1(), residual="full").id for n in sizes),
    )


TRAP = Claim(
    name="moniri/normalisation-trap",
    statement="With a ~ N(0, I/N) the initial output f₀ is of order one: the gradient is rank one along Xᵀ(y − f₀), and along "
    "Xᵀy an error of size c₁√(c₁² + φ E σ²) stays for ever.",
    paper="moniri",
    where="our correction to the rank-one approximation as the talk writes it",
    run=run,
)

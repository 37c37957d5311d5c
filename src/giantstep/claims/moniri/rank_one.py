"""The gradient is rank one up to O(n^-1/2)."""

from functools import partial

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import remainder, talk
from giantstep.measure import mean_and_error


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, seeds), norms = remainder.SIZES[size], measured["norms"]
    slope = remainder.rate(sizes, norms[:, :, 0], predicted["rate"])
    mean, se = mean_and_error(norms, axis=1)
    rows = tuple((n, float(mean[i, 0]), float(se[i, 0]), float(mean[i, 2])) for i, n in enumerate(sizes))
    first, last = (rows[i][1] for i in (0, -1))
    shares = [rows[i][1] / rows[i][3] for i in (0, -1)]
    fall = f"from {first:.3f} at n = {sizes[0]} to {last:.3f} at n = {sizes[-1]}"
    return Verdict(
        outcome=decided(bool(slope.mean - slope.predicted > slope.bound), float(slope.seen), remainder.TOLD),
        sentence=f"The remainder decays as n^({slope.mean:.3f} ± {slope.error:.3f}) √log n; the theorem's rate is "
        f"n^({slope.predicted:g}) up to logarithms.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G‖"),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(sizes, [(r"$\|G - c_1 a\beta^\top\|$", norms[:, :, 0])]),
        caption=f"Operator norm of G − c₁aβᵀ against the batch size n, both logarithmic, with a guide (log n/n)^½: it falls "
        f"{fall}, beside the guide.",
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1()).id for n in sizes),
        power=slope.power(" in the exponent"),
        trend=f"The remainder falls {fall}: from {shares[0]:.1%} to {shares[1]:.1%} of ‖G‖.",
    )


CLAIM = claim(
    "moniri/rank-one", measure=partial(remainder.measure, residual="target"), predict=remainder.predict, judge=judge
)

"""The gradient is rank one up to O(n^-1/2): not as the talk writes it, but with y in place of y - f_0."""

from giantstep.checks import Data, Evidence, Ruling, Size, Verdict
from giantstep.claims.moniri import talk
from giantstep.claims.moniri.gradient import remainder
from giantstep.measure import mean_and_error

SEEDS, measure = remainder.SEEDS, remainder.measure


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated: the gradient of y - f_0 along X^T y. As corrected: both directions that fit their residual."""
    return Evidence((remainder.decay(size, measured, [0]),), (remainder.decay(size, measured, [1, 2]),))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, mean = remainder.SIZES[size], mean_and_error(measured["norms"])[0]
    ends = [f"from {mean[0, i]:.3f} to {mean[-1, i]:.3f}" for i in range(3)]
    span = f"between n = {sizes[0]} and {sizes[-1]}"
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(size, measured["norms"], [0, 1, 2]),
        caption=f"Operator norm of what a rank-one matrix leaves of the gradient, against n. {span.capitalize()} "
        f"the norm goes {ends[0]} for the gradient of y − f₀ along Xᵀy, {ends[1]} along Xᵀ(y − f₀), and {ends[2]} for the "
        "gradient of y along Xᵀy. Dashed guides are proportional to (log n/n)^½.",
        settings=tuple(remainder.experiment(n, residual).id for n in sizes for residual in ("full", "target")),
        trend=f"The remainder goes {ends[0]} as stated, and {ends[2]} with y in place of y − f₀, {span}.",
    )

"""The gradient is rank one up to O(n^-1/2)."""

from giantstep.claims.moniri import remainder, talk
from giantstep.lab.verdict import Claim, Size, Verdict


def run(size: Size) -> Verdict:
    from giantstep.measure import mean_and_error

    sizes, seeds, norms = remainder.measured(size, "target")
    value, error = remainder.slope(sizes, norms[:, :, 0], logarithm=True)
    mean, se = mean_and_error(norms, axis=1)
    rows = tuple((n, float(mean[i, 0]), float(se[i, 0]), float(mean[i, 2])) for i, n in enumerate(sizes))
    return Verdict(
        outcome=remainder.judge_decay(value, error),  # type: ignore[arg-type]
        sentence=f"The remainder decays as n^({value:.3f} ± {error:.3f}) √log n; the theorem's rate is n^-1/2 up to logarithms.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G‖"),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=remainder.draw_decay(sizes, [(r"$\|G - c_1 a\beta^\top\|$", norms[:, :, 0])]),
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1()).id for n in sizes),
    )


RANK_ONE = Claim(
    name="moniri/rank-one",
    statement="The gradient is the rank-one matrix c₁aβᵀ, β = Xᵀy/n, up to an error of order n^-1/2 in operator norm.",
    paper="moniri",
    where="the rank-one approximation of the gradient, with the initial output left out of the residual",
    run=run,
)

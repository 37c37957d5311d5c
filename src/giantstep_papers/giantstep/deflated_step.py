"""One giant step on labels without their linear part learns the second order as n reaches d^2,
with the risk of theory."""

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.checks.statistics.comparison import Side
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep_papers.dandi import deflated
from giantstep_papers.dandi.deflated import FORMULA, D, P, experiment
from giantstep_papers.dandi.single_step import N_TEST
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=19,
    of="giantstep",
    statement="One giant step on labels without their linear part learns the second order as n "
    "reaches d²: the risk falls below that of a network which knows w1 + w2 alone, and is that of "
    "theory.",
    where="the risk behind the printed figure of the single step (dandi/single-step)",
    how="The mean risk over many networks at d = 128, p = 2d, n = 3d² must be that of theory. "
    "At d = 512 the risk must be above the "
    "least risk of a network that knows w1 + w2 alone at n = d^1.3, and below it at n = d². "
    "This runs at full size only, because one seed takes seconds.",
    judges=(
        Judge(
            "risk over theory",
            relative=True,
            margin=0.025,
            departure=0.04,
            because="terms of order d/n and 1/√d",
        ),
        Judge(
            "risk over the least without the second order",
            relative=True,
            margin=0.02,
            departure=0.15,
            because="terms of order 1/√d",
        ),
    ),
    seeds={"full": Seeds(12, 48)},
)

EXPONENTS = (1.3, 2.0)  # log n / log d
SIZES = tuple(int(D**e) for e in EXPONENTS)
# n, d, p and test samples for theory, which lacks terms of order d/n
COVERED = (3 * 128**2, 128, 256, 20_000)
NETWORKS = 40  # of one seed there


def risk(n: int, d: int, p: int, n_test: int, seed: int) -> float:
    """The mean risk over the networks of a seed; no two seeds share one."""
    numbers = range(NETWORKS * seed, NETWORKS * (seed + 1))
    return float(np.mean([deflated.both((n,), d, p, k, n_test)[0, 1] for k in numbers]))


def measure(size: Size, seeds: range) -> Data:
    """Risks (seeds) at both n, with two thirds of the seeds at the larger; and mean risks,
    (seeds), where theory is compared."""
    counts = [len(seeds), 2 * len(seeds) // 3]
    jobs = [
        ((n,), D, P, seed, N_TEST)
        for n, count in zip(SIZES, counts, strict=True)
        for seed in seeds[:count]
    ]
    runs = iter(cache.each(deflated.both, jobs))
    ends = [np.array([next(runs)[0, 1] for _ in range(count)]) for count in counts]
    return {"ends": ends, "risks": cache.over(risk, COVERED, seeds)}


def predict(size: Size) -> Data:
    """The least risk of a network that knows w1 + w2 alone,
    which labels as they are show to one step; and the risk by theory."""
    return {
        "without": gs.explain(FORMULA, batch="d", width="d").floor["network"],
        "risk": float(gs.theory(experiment(*COVERED[:3])).test_error),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The mean risk against theory, and whether the second order is learned."""
    n, d, p, _ = COVERED
    judge = judging(CLAIM, size)
    at = [f"n = {n}, d = {d}, p = {p}"]
    theory = judge("risk over theory", measured["risks"][None], [predicted["risk"]], at=at)
    sides: tuple[Side, ...] = ("above", "below")
    learned = [
        judge(
            f"risk at n = d^{e:g}",
            each[None],
            [predicted["without"]],
            by="risk over the least without the second order",
            at=["w1 + w2 alone"],
            side=side,
        )
        for e, each, side in zip(EXPONENTS, measured["ends"], sides, strict=True)
    ]
    return statistics.stated(theory, *learned)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    few, many = (float(np.mean(each)) for each in measured["ends"])
    off = abs(np.mean(measured["risks"]) / predicted["risk"] - 1)
    words = (
        f"As n grows to d² the risk falls from {few:.3f} to {many:.3f}. A network that knows w₁ + "
        f"w₂ alone has {predicted['without']:.3f} at best. At a size that theory covers it is "
        f"{off:.1%} off the prediction."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"d = {D}, p = {P}, {N_TEST} test samples; theory at d = {COVERED[1]}, p = "
        f"{COVERED[2]}, n = {COVERED[0]}, {NETWORKS} networks a seed; products in float32",
        figure=_figure(measured, predicted),
        caption="Between n = d^1.3 and n = d² the risk falls below what w₁ + w₂ alone allows "
        "(dotted).",
        settings=(*(experiment(n, D, P).id for n in SIZES), experiment(*COVERED[:3]).id),
    )


def _figure(measured: Data, predicted: Data) -> str:
    covered = float(np.log(COVERED[0]) / np.log(COVERED[1]))
    with style.figure(width=4.6) as (fig, ax):
        points = zip((*EXPONENTS, covered), (*measured["ends"], measured["risks"]), strict=True)
        for k, (x, values) in enumerate(points):
            mean, error = mean_and_error(values)
            label = f"d = {D}" if k == 0 else f"d = {COVERED[1]}" if k == 2 else None
            style.dots(ax, [x], [mean], [error], color=style.COLOURS[k // 2], label=label)
        ax.plot([covered], [predicted["risk"]], "x", color=style.INK, label="theory")
        ax.axhline(
            predicted["without"],
            color=style.INK,
            linewidth=0.8,
            linestyle=":",
            label="w₁ + w₂ alone at best",
        )
        ax.set(xlabel="log n / log d", ylabel="risk", ylim=(0, 0.4))
        ax.legend()
        return style.svg(fig)

"""Random features at n = p = C d^2: the constant C says how far the risk ends above the mass of
higher degree."""

import numpy as np

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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.dandi.random_features import ACTIVATION, TARGET, best, experiment, left, risk

CLAIM = Claim(
    order=18,
    of="giantstep",
    statement="At n = p = C d² the risk of random features ends above the mass of degree three and "
    "more by an amount that depends on C and not on d: 69% of it at C = 1, and 1% at C = 100.",
    where="the constant in n = p = C d², by the theory degree by degree (dandi/random-features)",
    how="We compare exact risks of ridge fits at C = 1 and 4 with theory, at the penalty that "
    "theory calls best. That theory must be the same at d = 10⁵ and 10⁶, reach the mass of "
    "degree three from C = 100 on, and stay at least half a mass above it at C = 1.",
    judges=(
        Judge(
            "risk over theory",
            relative=True,
            margin=(0.08, 0.05),
            departure=(0.2, 0.1),
            mean=((0.04, 0.03), (0.1, 0.04)),
            because="the heavy tails of the part that is not learned",
        ),
        Judge(
            "risk by theory at one d over that at another",
            relative=True,
            margin=0.01,
            departure=0.03,
            because="terms that vanish as d grows",
        ),
        Judge(
            "risk by theory over the mass of degree three",
            relative=True,
            margin=0.02,
            departure=0.05,
            because="the part of degree two that a finite C leaves",
        ),
        Judge(
            "risk by theory less the mass of degree three",
            side="above",
            margin=0.05,
            departure=0.2,
            because="terms that vanish as d grows",
        ),
    ),
    seeds={"quick": Seeds(12, 100), "full": Seeds(12, 390)},
)

POWER, MANY = 2.0, (1, 4)  # n = p = C d^2 at sizes that run
SIZES = {"quick": (10, 14), "full": (20, 28)}  # d
FAR = (10**5, 10**6)  # the d of theory
SCAN = (1, 3, 10, 30, 100, 300, 1000)  # C there
CLOSE = 100  # the C from which the part of degree two is learned
ABOVE = 0.5  # the least by which the risk at C = 1 lies above the mass of degree three, which is 1


def measure(size: Size, seeds: range) -> Data:
    """Risks (C, sizes, seeds)."""
    cells = [[(d, POWER, many) for d in SIZES[size]] for many in MANY]
    return {"risks": cache.over(risk, cells, seeds)}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured, (C, sizes), and far beyond them, (d, C)."""
    return {
        "risks": np.array([[best(d, POWER, many)[0] for d in SIZES[size]] for many in MANY]),
        "far": np.array([[best(d, POWER, many)[0] for many in SCAN] for d in FAR]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Risks that run against theory; and theory: what is left depends on C and not on d,
    and vanishes as C grows."""
    judge, mass = judging(CLAIM, size), left(POWER)
    at = [f"C = {c}, d = {d}" for c in MANY for d in SIZES[size]]
    first, last = predicted["far"]
    some = [SCAN.index(c) for c in SCAN if c >= CLOSE]
    return statistics.stated(
        *judge.each_and_mean("risk over theory", measured["risks"], predicted["risks"], at=at),
        judge(
            f"risk by theory at d = {FAR[1]:.0e} over that at {FAR[0]:.0e}",
            last,
            first,
            by="risk by theory at one d over that at another",
            at=[f"C = {c}" for c in SCAN],
            noisy=False,
        ),
        judge(
            "risk by theory over the mass of degree three",
            last[some],
            np.full(len(some), mass),
            at=[f"C = {SCAN[i]}" for i in some],
            noisy=False,
        ),
        judge(
            "risk by theory less the mass of degree three",
            last[:1] - mass,
            [ABOVE],
            at=["C = 1"],
            noisy=False,
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    above = dict(zip(SCAN, predicted["far"][-1] / left(POWER) - 1, strict=True))
    sizes = SIZES[size]
    return Verdict(
        sentence=f"In theory the risk at C = 1 ends {above[1]:.0%} above the mass of degree three "
        f"and more. At C = {CLOSE} it ends {above[CLOSE]:.0%} above. {ruling.stated.sentence}",
        sizes=f"d = {', '.join(map(str, sizes))}; n = p = C d², C = {', '.join(map(str, MANY))}; "
        f"{ACTIVATION}; y = {TARGET}",
        figure=_figure(size, measured["risks"], predicted),
        caption="At n = p = C d² the risk falls only slowly with C to the mass of degree three "
        "(dotted).",
        settings=tuple(experiment(d, POWER, many=c).id for c in MANY for d in sizes),
    )


def _figure(size: Size, risks: np.ndarray, predicted: Data) -> str:
    mean, error = mean_and_error(risks[:, -1])
    with style.figure(width=4.6) as (fig, ax):
        ax.plot(
            SCAN, predicted["far"][-1], color=style.COLOURS[0], label=f"theory, d = {FAR[-1]:.0e}"
        )
        ax.plot(
            MANY,
            predicted["risks"][:, -1],
            "x",
            color=style.INK,
            label=f"theory, d = {SIZES[size][-1]}",
        )
        look = {"color": style.COLOURS[1], "label": f"simulated, d = {SIZES[size][-1]}"}
        style.dots(ax, np.array(MANY), mean, error, **look)
        ax.axhline(
            left(POWER), color=style.INK, linewidth=0.8, linestyle=":", label="mass of degree three"
        )
        ax.set(xscale="log", xlabel="C", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", SCAN[::2])
        ax.legend()
        return style.svg(fig)

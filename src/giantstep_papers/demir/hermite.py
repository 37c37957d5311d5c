"""On a mixture with spikes the activation is said to be replaceable by a polynomial.

Here is where it is, and how that changes with n.
"""

from math import floor
from typing import NamedTuple

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
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.demir.conditional import (
    ERRORS,
    JUDGED,
    PENALTY,
    Case,
    experiment,
    network,
    replaced,
)
from giantstep_papers.shared import said

CLAIM = Claim(
    order=8,
    quote="(Informal Statement) If strength parameter satisfies (l−2)/(l−1) < β < (l−1)/l, then, we"
    " can replace original activation function with the following one without any change on "
    "the generalization (and training) performance.",
    place="ICLR slides of Demir and Dogan, “Theorem: Equivalent Hermite (Polynomial) Model”",
    kind="asymptotic limit",
    statement="If (l − 2)/(l − 1) < β < (l − 1)/l, the activation can be replaced by its Hermite "
    "expansion of degree l − 1 plus noise without any change of the generalization (and "
    "training) performance.",
    where="theorem 4 with ReLU and labels along the spikes, as in figure 4; β = 0.25, 0.6 and 0.7, "
    "inside the ranges of l = 2, 3 and 4, at α = 0, 1/2 and 1",
    correction="At the sizes reached it can for α of 1/2 and 1, and for β = 1/4. At α = 0 with β "
    "of 0.6 and 0.7 the test error of the polynomial model is too low up to n = 1600.",
    how="For both errors log(model/network) on the same draws must be 0 at the largest n. In the "
    "correction log(model/network) of the test error must be lower than 0 by the margin at full "
    "size, at least, for α = 0 and β of 0.6 and 0.7. The first term left out is of order n^((1 − "
    "l(1 − β))/2), which is n^(−1/4) at the smallest β and n^(−1/10) at the others. No size that "
    "runs can decide a limit approached so slowly, so a failure leaves it undecided. The penalty "
    "is that of demir/conditional.",
    judges=(
        Judge(
            "log of the model's error over the network's",
            margin=(0.05, 0.02),
            departure=(0.1, 0.04),
            because="the first term that the polynomial leaves out",
        ),
        Judge(
            "log of the test error that is too low",
            side="below",
            margin=0,
            departure=(0.06, 0.02),
        ),
    ),
    seeds={"quick": Seeds(20, 60), "full": Seeds(24, 60)},
)

BETAS = (0.25, 0.6, 0.7)  # inside (0, 1/2), (1/2, 2/3) and (2/3, 3/4)
SPREAD: tuple[Case, ...] = tuple(("relu", 0.0, beta) for beta in BETAS)  # all of n^beta is spread
STEPPED: tuple[Case, ...] = tuple(("relu", alpha, beta) for alpha in (0.5, 1.0) for beta in BETAS)
SIZES = {"quick": (50, 100, 200), "full": (200, 400, 800, 1600)}  # n of SPREAD; m = k = 5n/4
ONCE = {"quick": 200, "full": 800}  # n of STEPPED
FEWER = 0.4  # of the seeds for STEPPED at full size, because errors scatter less there
LOW = "log of the test error that is too low"


def order(beta: float) -> int:
    """The order l of theorem 4: (l - 2)/(l - 1) < beta < (l - 1)/l."""
    return floor(1 / (1 - beta)) + 1


def rate(beta: float) -> float:
    """The first term that is left out is of order n^((1 - l (1 - beta))/2)."""
    return (1 - order(beta) * (1 - beta)) / 2


class HermiteArm(NamedTuple):
    """A case at one n."""

    case: Case
    n: int

    @property
    def name(self) -> str:
        activation, alpha, beta = self.case
        return f"{activation}, α = {alpha:g}, β = {beta:g}, n = {self.n}"

    def seeds(self, size: Size, seeds: range) -> range:
        """Those on which the arm is measured: as many as its noise asks for."""
        share = FEWER if self.case in STEPPED else 1.0
        return seeds[: max(round(share * len(seeds)), 5)] if size == "full" else seeds


def arms(size: Size) -> list[HermiteArm]:
    return [HermiteArm(case, n) for case in SPREAD for n in SIZES[size]] + [
        HermiteArm(case, ONCE[size]) for case in STEPPED
    ]


def measure(size: Size, seeds: range) -> Data:
    """By arm: log(model) - log(network) on the same draws, and the network's test errors.

    They are (errors, seeds) and (steps, seeds).
    """
    found = {}
    for arm in arms(size):
        own = arm.seeds(size, seeds)
        ours = network(arm.n, arm.case, own)
        theirs = replaced(arm.n, arm.case, own, "hermite", degree=order(arm.case[2]) - 1)
        found[arm.name] = {"gap": np.log(theirs / ours[:, 1]), "network": ours[0]}
    return found


def gap(measured: Data, case: Case, n: int) -> np.ndarray:
    return measured[HermiteArm(case, n).name]["gap"]


def short(measured: Data, case: Case, n: int) -> float:
    """How much the model's test error is too low, over Var(y).

    Labels are of order one, and so the theorem bounds this.
    """
    network = measured[HermiteArm(case, n).name]["network"][1]
    ratio = np.exp(gap(measured, case, n)[0])
    return float(np.mean((1 - ratio) * network) / gs.labels(experiment(n, case)).variance)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Stated: no change in any case, at the largest n.

    Corrected: none at alpha of 1/2 and 1 and at beta = 1/4, while else the test error is still too
    low, by the margin at full size.

    Both are judged relative to the error, which is more than the theorem says where it falls.
    """
    judge, last = judging(CLAIM, size), SIZES[size][-1]
    apart = -float(judging(CLAIM, "full").tolerance(JUDGED).margin)

    def close(what: str, cases: tuple[Case, ...], n: int) -> statistics.ComparedNumbers:
        at = [f"{HermiteArm(case, n).name}, {error}" for case in cases for error in ERRORS.values()]
        return judge(what, np.array([gap(measured, c, n) for c in cases]), by=JUDGED, at=at)

    stepped = close("log model/network", STEPPED, ONCE[size])
    spread = close("log model/network, all of it spread", SPREAD, last)
    little, *much = SPREAD
    low = judge(
        f"log model/network of test errors, n = {last}",
        np.array([gap(measured, case, last)[0] for case in much]),
        apart,
        by=LOW,
        at=[f"α = 0, β = {beta:g}" for _, _, beta in much],
    )
    corrected = close("log model/network, all of it spread", (little,), last)
    return Evidence((stepped, spread), (stepped, corrected, low))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, (little, *much) = SIZES[size][-1], SPREAD
    near = [gap(measured, case, ONCE[size]) for case in STEPPED] + [gap(measured, little, n)]
    off = {case[2]: -100 * gap(measured, case, n)[0].mean() for case in much}
    low = " to ".join(f"{said.signed(x, '.0f')}%" for x in (min(off.values()), max(off.values())))
    corrected = ruling.corrected is not None and ruling.corrected.outcome == "holds"
    sentence = (
        "With a long step or little spread the polynomial model is within "
        f"{100 * max(abs(each.mean(axis=-1)).max() for each in near):.1f}% of the network. With a "
        f"large spread and a short step its test error is {low} too low. The first term that it "
        f"leaves out falls only like n^({said.signed(rate(much[0][2]), '.1f')}), so these sizes "
        "cannot decide the limit."
    )
    return Verdict(
        sentence=sentence if ruling.stated.outcome != "holds" and corrected else "",
        sizes=f"n = {', '.join(map(str, SIZES[size]))} at α = 0, and {ONCE[size]} else; "
        f"m = k = 5n/4; λ = {PENALTY:g}/n; labels along γ₁ + γ₂",
        figure=_figure(size, measured),
        caption="The polynomial model follows the network where there is a step (crosses). Where "
        f"all is spread its test error is up to {max(off.values()):.0f}% too low.",
        trend=_trend(size, measured),
        settings=tuple(experiment(arm.n, arm.case).id for arm in arms(size)),
    )


def _trend(size: Size, measured: Data) -> str:
    """How the model's test error departs under the largest spread, at the two ends of n."""
    ends = (
        mean_and_error(100 * gap(measured, SPREAD[-1], n)[0])
        for n in (SIZES[size][0], SIZES[size][-1])
    )
    first, last = (said.signed(float(mean), "+.1f") + f" ± {error:.1f}%" for mean, error in ends)
    part = 100 * max(short(measured, case, SIZES[size][-1]) for case in SPREAD[1:])
    return (
        f"At the largest spread the model's test error departs by {first} at the smallest n and by "
        f"{last} at the largest (one standard error). At most {said.signed(part, '.1f')}% of "
        "Var(y) is missing."
    )


def _figure(size: Size, measured: Data) -> str:
    with style.figure(2, width=4.1, height=3.3) as (fig, axes):
        for i, (ax, what) in enumerate(zip(axes, ERRORS.values(), strict=True)):
            margin = 100 * judging(CLAIM, size).tolerance(JUDGED).margin
            ax.axhspan(
                -margin, margin, color=style.INK, alpha=0.07, linewidth=0, label=f"±{margin:g}%"
            )
            ax.axhline(0, color=style.INK, linewidth=0.8)
            for j, case in enumerate(SPREAD):
                x = [n * 1.03 ** (j - 1) for n in SIZES[size]]
                values = np.array(
                    [mean_and_error(100 * gap(measured, case, n)[i]) for n in SIZES[size]]
                ).T
                look = {
                    "color": style.COLOURS[j],
                    "marker": "os^"[j],
                    "linestyle": "-",
                    "linewidth": 0.8,
                }
                label = f"α = 0, β = {case[2]:g}, l = {order(case[2])}"
                style.dots(ax, x, *values, label=label, **look)
            at = [ONCE[size] * 1.03 ** (j % 3 - 1) for j in range(len(STEPPED))]
            values = np.array(
                [mean_and_error(100 * gap(measured, case, ONCE[size])[i]) for case in STEPPED]
            ).T
            look = {"color": style.INK, "marker": "x", "markersize": 5.5, "zorder": 4}
            style.dots(ax, at, *values, label="α = 1/2 and 1, the same β", **look)
            ax.set(xlabel="input dimension n", ylabel="log(model / network), %", title=what)
            ax.margins(x=0.1)
            ticks.logarithmic(ax, "x", SIZES[size])
        return style.svg(fig, below=3)

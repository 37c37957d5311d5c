"""The converse of the lower bound: with many neurons, yet far fewer than d, the risk is its floor.

The floor is E Var(f* | P_U x).
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    ComparedNumbers,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import rounded
from giantstep.theory.limits import by_term
from giantstep_papers.dandi.terms import at_penalties
from giantstep_papers.shared.far import vouched

CLAIM = Claim(
    order=8,
    quote="The converse bound is true if p is large enough",
    place="Stephan's talk, slide “Finite p regime”",
    kind="conjecture",
    statement="The converse of the lower bound is true if p is large enough.",
    where="the conjecture after the lower bound for p = O(1), after one step from the start that "
    "the slide “Initialization” prescribes, a_i = ±1; the conjecture names no start",
    correction="It is true of a start in which |a_i| varies, such as a Gaussian one. With a_i = "
    "±1 the neurons have two functions of the learned coordinate between them, and the risk stops "
    "above.",
    how="We compare the risk with a_i = ±1 at two widths with E Var(f*|P_U x). The limit is the "
    "risk by theory against the width, up to p = 10⁹, if that theory agrees with the fits at "
    "hand.",
    judges=(
        Judge(
            "risk over theory",
            relative=True,
            margin=(0.08, 0.05),
            departure=(0.2, 0.1),
            mean=((0.04, 0.02), (0.1, 0.04)),
            because="terms of order d^(−1/2) and p^(−1/2)",
        ),
        Judge(
            "risk over the floor",
            relative=True,
            margin=(0.08, 0.05),
            departure=(0.2, 0.1),
            because="terms of order d^(−1/2) and p^(−1/2)",
        ),
        Judge(
            "risk by theory over the floor",
            relative=True,
            margin=0.05,
            departure=0.1,
            because="what is left at the largest widths",
        ),
    ),
    seeds={"quick": Seeds(10, 60), "full": Seeds(10, 60)},
)

TERMS = ("x1", "H2(x1)/sqrt(2)", "H3(x1)/sqrt(6)", "x1*x2")  # of mass one; a step learns w1
FLOOR = 1.0  # E Var(f* | x1), of the last term
ACTIVATION = "tanh(x + 0.8)"  # it has Hermite coefficients of all orders
LAYERS = {"rademacher": "a = ±1", "gaussian": "Gaussian a"}
STEP, BATCH = 2.0, 64  # s = eta/p and n/d
PENALTIES = tuple(10.0**k for k in range(-9, 5))  # times p/n
WIDTHS = (16, 64)
SIZES = {"quick": (160, 3000), "full": (600, 20_000)}  # d, test samples
# n, d, and the widths that theory follows
FAR = (10.0**26, 10**24, tuple(10.0**k for k in range(1, 10)))
LAST = 3  # of the widths of ``FAR``, at which the limit is judged


def experiment(
    layer: str, d: int, p: int, penalties: tuple[float, ...], batch: int = BATCH
) -> gs.Setting:
    """One step, and penalties in units of p/n."""
    n = batch * d
    network = gs.Network(p, ACTIVATION, scale="1/p", second_layer=layer)
    readout = gs.Ridge(n, tuple(k * p / n for k in penalties))
    protocol = gs.Protocol((gs.GiantStep(n, STEP * p),), readout)
    return gs.Setting(gs.Gaussian(d), gs.target(" + ".join(TERMS)), network, protocol)


@lru_cache
def best(layer: str, d: int, p: int) -> tuple[float, float]:
    """The least risk that theory has on the grid of penalties, and its penalty."""
    risks = by_term.fitted(experiment(layer, d, p, PENALTIES)).risk
    return float(np.min(risks)), PENALTIES[int(np.argmin(risks))]


def risk(layer: str, d: int, p: int, penalty: float, seed: int, n_test: int) -> float:
    setting = experiment(layer, d, p, (penalty,))
    path: Any = setting.protocol.readout.path  # type: ignore[union-attr]
    return float(at_penalties(setting, TERMS, seed, n_test, path, 0)[0, 0])


@lru_cache
def followed(layer: str) -> np.ndarray:
    """The least risks at the widths of ``FAR``, in a dimension far beyond them."""
    n, d, widths = FAR
    law, found = experiment(layer, 10**12, 2, PENALTIES, 10**6), []
    for p in widths:
        readout = gs.Ridge(2, tuple(k * p / n for k in PENALTIES))
        own = replace(law, protocol=replace(law.protocol, readout=readout))
        found.append(np.min(by_term.fitted(own, n=n, d=d, p=p).risk))
    return np.array(found)


def measure(size: Size, seeds: range) -> Data:
    """Risks (second layers, widths, seeds), at the penalty that theory calls best."""
    d, n_test = SIZES[size]
    jobs = [
        (a, d, p, best(a, d, p)[1], seed, n_test) for a in LAYERS for p in WIDTHS for seed in seeds
    ]
    shape = (len(LAYERS), len(WIDTHS), len(seeds))
    return {"risks": np.array(cache.each(risk, jobs)).reshape(shape)}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured, (second layers, widths), and along the widths of
    ``FAR``."""
    d, _ = SIZES[size]
    return {
        "risks": np.array([[best(a, d, p)[0] for p in WIDTHS] for a in LAYERS]),
        "far": np.array([followed(a) for a in LAYERS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The risk with signs against the floor, at hand and as the width grows; and the risk with a
    Gaussian layer as it grows."""
    at = [f"{name}, p = {p}" for name in LAYERS.values() for p in WIDTHS]
    judge, risks = judging(CLAIM, size), measured["risks"]
    theory = judge.each_and_mean("risk over theory", risks, predicted["risks"], at=at)
    hand = judge("risk over the floor", risks[0], FLOOR, at=at[: len(WIDTHS)])

    def far(k: int) -> ComparedNumbers:
        name = list(LAYERS.values())[k]
        widest = [f"{name}, p = {p:.0e}" for p in FAR[2][-LAST:]]
        ends = predicted["far"][k, -LAST:]
        return judge("risk by theory over the floor", ends, FLOOR, at=widest, noisy=False)

    return Evidence((hand,), (*theory, far(1)), vouched(theory, (far(0),)))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    signs, gaussian = measured["risks"][:, -1].mean(axis=-1)
    stays, falls = predicted["far"][:, -1]
    return Verdict(
        sentence="With a_i = ±1 the neurons have two functions of x1 between them. By theory very "
        f"wide networks then have a risk of {stays:.2f}, where the floor E Var(f*|x1) is "
        f"{FLOOR:g}. With a Gaussian second layer they have {falls:.2f}.",
        sizes=f"d = {SIZES[size][0]}, n = {BATCH}d, p = {', '.join(map(str, WIDTHS))}; "
        f"{ACTIVATION}; theory at d = {FAR[1]:.0e}",
        figure=_figure(measured["risks"], predicted),
        caption=f"With signs no width takes the risk below {stays:.2f}, and with a Gaussian "
        f"second layer it falls to {falls:.2f}.",
        settings=tuple(
            experiment(a, SIZES[size][0], p, PENALTIES).id for a in LAYERS for p in WIDTHS
        ),
        trend=f"Between p = {WIDTHS[-1]} and {rounded(FAR[2][-1])} theory takes the measured risk "
        f"from {signs:.2f} to {stays:.2f} with signs, and from {gaussian:.2f} to {falls:.2f} with "
        "a Gaussian second layer.",
    )


def _figure(risks: np.ndarray, predicted: Data) -> str:
    mean, error = mean_and_error(risks)
    with style.figure(width=4.6) as (fig, ax):
        for k, name in enumerate(LAYERS.values()):
            colour = style.COLOURS[k]
            line = {"color": colour, "label": f"{name}, theory, p far below d"}
            style.curve(ax, FAR[2], predicted["far"][k], log="x", **line)
            ax.plot(WIDTHS, predicted["risks"][k], "x", color=colour)
            look = {"color": colour, "marker": "os"[k], "label": f"{name}, simulated"}
            style.dots(ax, WIDTHS, mean[k], error[k], **look)
        floor = {"color": style.INK, "linewidth": 0.8, "linestyle": ":"}
        ax.axhline(FLOOR, **floor, label=r"E Var$(f^\star | x_1)$")
        ax.set(xscale="log", xlabel="width p", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", FAR[2][::3])
        ax.legend()
        return style.svg(fig)

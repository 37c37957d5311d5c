"""The converse of the lower bound: with many neurons, still far fewer than d, the risk is E Var(f* | P_U x)."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Ruling,
    Seeds,
    Size,
    Tolerance,
    Tolerances,
    Verdict,
    cache,
    statistics,
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
    correction="It is true of a start in which |a_i| varies, such as a Gaussian one. With a_i = ±1 the "
    "neurons have two functions of the learned coordinate between them, and the risk stops "
    "above.",
    how="We compare the risk with a_i = ±1 at two widths with E Var(f*|P_U x). The limit is the "
    "risk by theory against the width, up to p = 10⁹, if that theory agrees with the fits at "
    "hand. The margin is for terms of order d^(−1/2) and p^(−1/2) at hand, and for what is "
    "left at the largest widths.",
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
FAR = (10.0**26, 10**24, tuple(10.0**k for k in range(1, 10)))  # n, d, and the widths that theory follows
EACH = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.05, 0.1)}
MEAN = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.04)}
REACHED = Tolerance(0.05, 0.1)  # of the floor
LAST = 3  # of the widths of ``FAR``, at which the limit is judged


def experiment(layer: str, d: int, p: int, penalties: tuple[float, ...], batch: int = BATCH) -> gs.Setting:
    """One step, and penalties in units of p/n."""
    n = batch * d
    network = gs.Network(p, ACTIVATION, scale="1/p", second_layer=layer)
    readout = gs.Ridge(n, tuple(k * p / n for k in penalties))
    return gs.Setting(
        gs.Gaussian(d), gs.target(" + ".join(TERMS)), network, gs.Protocol((gs.GiantStep(n, STEP * p),), readout)
    )


@lru_cache
def best(layer: str, d: int, p: int) -> tuple[float, float]:
    """The least risk that theory has on the grid of penalties, and its penalty."""
    risks = by_term.fitted(experiment(layer, d, p, PENALTIES)).risk
    return float(np.min(risks)), PENALTIES[int(np.argmin(risks))]


def risk(layer: str, d: int, p: int, penalty: float, seed: int, n_test: int) -> float:
    setting = experiment(layer, d, p, (penalty,))
    return float(at_penalties(setting, TERMS, seed, n_test, setting.protocol.readout.path, 0)[0, 0])  # type: ignore[union-attr]


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
    jobs = [(a, d, p, best(a, d, p)[1], seed, n_test) for a in LAYERS for p in WIDTHS for seed in seeds]
    return {"risks": np.array(cache.each(risk, jobs)).reshape(len(LAYERS), len(WIDTHS), len(seeds))}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured, (second layers, widths), and along the widths of ``FAR``."""
    d, _ = SIZES[size]
    return {
        "risks": np.array([[best(a, d, p)[0] for p in WIDTHS] for a in LAYERS]),
        "far": np.array([followed(a) for a in LAYERS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The risk with signs against the floor, at hand and as the width grows; and the risk with a Gaussian layer as it grows."""
    at = [f"{name}, p = {p}" for name in LAYERS.values() for p in WIDTHS]
    theory = statistics.each_and_mean(
        "risk over theory", measured["risks"], predicted["risks"], at=at, relative=True,
        within=Tolerances(EACH[size], MEAN[size]),
    )  # fmt: skip
    hand = statistics.compare(
        "risk over the floor", measured["risks"][0], np.full(len(WIDTHS), FLOOR), at=at[: len(WIDTHS)], relative=True,
        within=EACH[size],
    )  # fmt: skip

    def far(k: int) -> statistics.ComparedNumbers:
        name = list(LAYERS.values())[k]
        return statistics.compare(
            "risk by theory over the floor", predicted["far"][k, -LAST:], np.full(LAST, FLOOR), noisy=False, within=REACHED,
            at=[f"{name}, p = {p:.0e}" for p in FAR[2][-LAST:]], relative=True,
        )  # fmt: skip

    return Evidence((hand,), (*theory, far(1)), vouched(theory, (far(0),)))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    signs, gaussian = measured["risks"][:, -1].mean(axis=-1)
    stays, falls = predicted["far"][:, -1]
    return Verdict(
        sentence="With a_i = ±1 the neurons have two functions of x1 between them. By theory very wide "
        f"networks then have a risk of {stays:.2f}, where the floor E Var(f*|x1) is {FLOOR:g}. With a Gaussian "
        f"second layer they have {falls:.2f}.",
        sizes=f"d = {SIZES[size][0]}, n = {BATCH}d, p = {', '.join(map(str, WIDTHS))}; {ACTIVATION}; theory at d = {FAR[1]:.0e}",
        figure=_figure(measured["risks"], predicted),
        caption=f"With signs no width takes the risk below {stays:.2f}, and with a Gaussian second layer it falls to "
        f"{falls:.2f}.",
        settings=tuple(experiment(a, SIZES[size][0], p, PENALTIES).id for a in LAYERS for p in WIDTHS),
        trend=f"Between p = {WIDTHS[-1]} and {rounded(FAR[2][-1])} theory takes the measured risk from "
        f"{signs:.2f} to {stays:.2f} with signs, and from {gaussian:.2f} to {falls:.2f} with a Gaussian second "
        "layer.",
    )  # fmt: skip


def _figure(risks: np.ndarray, predicted: Data) -> str:
    mean, error = mean_and_error(risks)
    with style.figure(width=4.6) as (fig, ax):
        for k, name in enumerate(LAYERS.values()):
            colour = style.COLOURS[k]
            style.curve(ax, FAR[2], predicted["far"][k], log="x", color=colour, label=f"{name}, theory, p far below d")
            ax.plot(WIDTHS, predicted["risks"][k], "x", color=colour)
            style.dots(ax, WIDTHS, mean[k], error[k], color=colour, marker="os"[k], label=f"{name}, simulated")
        ax.axhline(FLOOR, color=style.INK, linewidth=0.8, linestyle=":", label=r"E Var$(f^\star | x_1)$")
        ax.set(xscale="log", xlabel="width p", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", FAR[2][::3])
        ax.legend()
        return style.svg(fig)

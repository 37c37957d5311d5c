"""What one step and a readout fit, regime by regime: floors of the risk and the table of terms.

With U the directions learned, n ~ d^a samples and p ~ d^b neurons, the talk says

    random features:  risk = |P_{> min(a, b)} f*|^2,        p = O(1):  risk >= E Var(f* | P_U x), with equality if p is large,
    else:  risk >= |P_{U, > min(a, b)} f*|^2,  the mass of higher degree outside U,

and its table underlines the terms of the final fitted function. The terms are scaled to mass one each, so that a floor of 3 says
that three terms are out of reach.

The two equalities are those of a limit, from which risks differ by terms of order d/n + d/p. So the theory by terms stands
between: measured risks are compared with it at their own size, and it is compared with the floor at sizes that no computer runs.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.risk.regime import TALK, Regime
from giantstep.claims.dandi.risk.terms import NAMES, PENALTIES, at_penalties, fitted
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep.theory.limits import by_term

FLOORS = (
    Regime("random features, κ = 1", "d", "d", 20, 8, ("x1", "H2(x2)/sqrt(2)"), steps=0, symmetric=False),
    Regime("narrow network", "d", "1", 192, 32, ("x1", "x1*x2"), symmetric=False),
)  # equalities
FAR = (
    (10.0**16, 10**12, 10.0**16),
    (10.0**26, 10**24, 10.0**4),
)  # n, d, p at which theory is compared with these floors
LAW = (10**12, 10**6)  # d and n/d of the step whose law of neurons is followed there
GRID = tuple(10.0**k for k in range(-9, 7))  # penalties of these two, times p/n
TABLE = tuple(
    Regime(f"n ~ {batch}, p ~ {width}", batch, width, 8 if batch == "d" else 4, 16 if width == "1" else 1)
    for batch, width in (("d", "1"), ("d", "d"), ("d^2", "1"), ("d^2", "d"), ("d^2", "d^2"))
)
PAIR = ("x1", "H2(x1)*x2/sqrt(2)")
GROWTH = (Regime("n = 8d, p = d", "d", "d", 8, 1, PAIR), Regime("n = 64d, p = 8d", "d", "d", 64, 8, PAIR))
REGIMES = (*FLOORS, *TABLE, *GROWTH)
SIZES = {
    "quick": ((80, 100, 60, 60, 24, 24, 12, 40, 40), 4000),
    "full": ((300, 300, 200, 200, 48, 48, 20, 100, 100), 10_000),
}  # dimensions in the order of the regimes, test samples
SEEDS: dict[Size, Seeds] = {"quick": Seeds(24, 80), "full": Seeds(24, 160)}
FEWEST = 12  # seeds of what is measured on a part of them
RULE = {
    "quick": {
        "risk": Tolerance(0.04, 0.1),
        "above": Tolerance(0.1, 0.5),
        "lost": Tolerances(Tolerance(0.06, 0.25), Tolerance(0.04, 0.1)),
        "half": Tolerance(0.05, 0.25),
    },
    "full": {
        "risk": Tolerance(0.02, 0.04),
        "above": Tolerance(0.05, 0.2),
        "lost": Tolerances(Tolerance(0.04, 0.12), Tolerance(0.02, 0.05)),
        "half": Tolerance(0.02, 0.1),
    },
}  # margin and departure: of a risk by theory, of the masses above a floor, of shares out of reach, of half a share
REACHED = Tolerance(0.01, 0.04)  # of a floor, by theory
GAIN = 0.05  # of a share, from the smaller to the larger sizes


def by_theory(setting: gs.Setting, n: float, d: int, p: float) -> Float[np.ndarray, " penalties"]:
    """Risks by the theory by terms at these sizes, for the penalties of the grid."""
    readout = gs.Ridge(2, tuple(k * p / n for k in GRID))
    return by_term.fitted(replace(setting, protocol=replace(setting.protocol, readout=readout)), n=n, d=d, p=p).risk


@lru_cache
def best(regime: Regime, d: int) -> tuple[float, float]:
    """The least risk that theory has on the grid of penalties, and its penalty."""
    setting = regime.setting(d)
    n, p = setting.protocol.readout_size, setting.p
    risks = by_theory(setting, n, d, p)
    return float(np.min(risks)), GRID[int(np.argmin(risks))] * p / n


@lru_cache
def followed(regime: Regime, n: float, d: int, p: float) -> float:
    """The least risk by theory far beyond what runs."""
    return float(np.min(by_theory(regime._replace(samples=LAW[1], neurons=2).setting(LAW[0]), n, d, p)))


def at_floor(regime: tuple, d: int, seed: int, n_test: int) -> Float[np.ndarray, " 1+terms"]:
    """The risk and the shares of the terms, at the penalty that theory calls best."""
    this = Regime._make(regime)
    return at_penalties(this.setting(d), this.terms, seed, n_test, (best(this, d)[1],), 0)[0]


# what has less noise and takes long is measured on a part of the seeds
PARTS = {r.name: (at_floor, 2) for r in FLOORS}


def measure(size: Size, seeds: range) -> Data:
    """For every regime the risk and the shares of the terms in the fit, (1 + terms, seeds)."""
    dimensions, n_test = SIZES[size]
    found = {}
    for r, d in zip(REGIMES, dimensions, strict=True):
        run, part = PARTS.get(r.name, (fitted, 1))
        jobs = [(tuple(r), d, seed, n_test) for seed in seeds[: max(FEWEST, len(seeds) // part)]]
        found[r.name] = np.stack(cache.each(run, jobs), axis=-1)
    return found


def predict(size: Size) -> Data:
    """For every regime the floor, and for every term whether it is underlined; for equalities the risks by theory, too."""
    floors = {r.name: {"floor": r.floor, "fates": r.fates} for r in REGIMES}
    for r, d, far in zip(FLOORS, SIZES[size][0], FAR, strict=False):
        floors[r.name] |= {"risk": best(r, d)[0], "far": followed(r, *far)}
    return floors


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Floors that are equalities, floors of the table, terms out of reach, and terms that are underlined."""
    rule = RULE[size]
    equal = [
        statistics.compare(
            f"risk, {r.name}", measured[r.name][:1], [predicted[r.name]["risk"]], at=[""], within=rule["risk"], relative=True,
        )
        for r in FLOORS
    ]  # fmt: skip
    equal.append(
        statistics.compare(
            "risk by theory beyond the sizes that run", [predicted[r.name]["far"] for r in FLOORS],
            [predicted[r.name]["floor"] for r in FLOORS], at=[r.name for r in FLOORS], within=REACHED, relative=True, noisy=False,
        )
    )  # fmt: skip
    above = statistics.compare(
        "risk above a floor", [measured[r.name][0] for r in TABLE], [predicted[r.name]["floor"] for r in TABLE],
        at=[r.name for r in TABLE], within=rule["above"], side="above",
    )  # fmt: skip
    shares: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for r in TABLE:
        for k, known in enumerate(predicted[r.name]["fates"]):
            shares[known][f"{r.terms[k].split('/')[0]}, {r.name}"] = measured[r.name][1 + k]
    out = ranks.each_and_mean("share of a term out of reach", shares[False], 0.0, rule["lost"])
    underlined = statistics.compare(
        "share of an underlined term", list(shares[True].values()), 0.5, at=shares[True],
        side="above", within=rule["half"],
    )  # fmt: skip
    small, large = (measured[r.name][2] for r in GROWTH)
    gain = statistics.compare(
        "gain in the share of H2(x1)*x2",
        (large - small)[None],
        [GAIN],
        at=[""],
        side="above",
        within=Tolerance(0.0, GAIN),
    )
    return Evidence((*equal, above, *out, underlined), (*equal, above, *out, gain))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    underlined = ruling.stated.of("share of an underlined term")
    low = int(np.sum(np.mean(underlined.comparison.samples, axis=1) < 0.5))
    small, large = (measured[r.name][2].mean() for r in GROWTH)
    risks = "; ".join(
        f"{r.name}, {measured[r.name][0].mean():.3f} where theory has {said['risk']:.3f}, and {said['far']:.3f} far beyond "
        f"(floor {said['floor']:g})"
        for r, said in ((r, predicted[r.name]) for r in FLOORS)
    )
    return Verdict(
        sentence=f"Risks that should reach a floor: {risks}. {low} of {len(underlined.comparison.at)} underlined terms are less "
        f"than half fitted. The share of H2(x1)*x2 is {small:.2f} at n = 8d, p = d and {large:.2f} at n = 64d, p = 8d. "
        f"{ruling.sentence}",
        sizes="; ".join(f"{r.name}: d = {d}" for r, d in zip(REGIMES, SIZES[size][0], strict=True))
        + f"; one step, {REGIMES[-1].activation}, best of {len(PENALTIES)} penalties; theory at n, d, p = "
        + " and ".join(", ".join(f"{x:.0e}" for x in far) for far in FAR),
        figure=_figure(measured, predicted),
        caption="Above, the risk over its floor; terms have mass one, and crosses are the theory at the same size. Below, the "
        "share of every term of the talk's target in the fit: a bar where the talk underlines it, a cross where it is out of "
        f"reach. {low} of the underlined bars are below one half (dotted), and the crosses are near zero.",
        settings=tuple(r.setting(d).id for r, d in zip(REGIMES, SIZES[size][0], strict=True)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    """Risk over the floor for every regime, and the share of every term of the talk's target."""
    with style.figure(1, 2, width=7.4, height=2.7) as (fig, axes):
        several = (*FLOORS, *TABLE)
        for i, r in enumerate(several):
            mean, error = mean_and_error(measured[r.name][0])
            style.dots(axes[0], [i], [mean], [error], color=style.COLOURS[0], label="risk" if i == 0 else None)
            floor = predicted[r.name]["floor"]
            axes[0].plot([i - 0.3, i + 0.3], [floor] * 2, color=style.COLOURS[1], label="floor" if i == 0 else None)
            if r in FLOORS:
                label = "theory" if i == 0 else None
                axes[0].plot([i + 0.2], [predicted[r.name]["risk"]], "x", color=style.INK, label=label)
        axes[0].set_xticks(
            range(len(several)),
            [
                formula(r.name).replace(", ", ",\n").replace(" features", "\nfeatures").replace(" network", "\nnetwork")
                for r in several
            ],
        )
        axes[0].set(ylabel="risk", ylim=(-0.3, 6.2))  # a floor of zero is seen
        axes[0].legend(loc="upper left", ncols=3)
        for i, r in enumerate(TABLE):
            means, errors = mean_and_error(measured[r.name][1:])
            for k, known in enumerate(predicted[r.name]["fates"]):
                x, colour = i + 0.16 * (k - 2), style.COLOURS[k]
                if known:
                    label = NAMES[TALK[k]] if i == len(TABLE) - 1 else None
                    axes[1].bar(x, means[k], 0.14, yerr=errors[k], color=colour, label=label)
                else:
                    style.dots(axes[1], [x], [means[k]], [errors[k]], color=colour, marker="x")
        axes[1].plot([], [], "x", color=style.INK, label="out of reach")
        axes[1].axhline(0.5, color=style.INK, linewidth=0.8, linestyle=":")
        axes[1].set_xticks(range(len(TABLE)), [formula(r.name) for r in TABLE])
        axes[1].set(ylabel="share of a term in the fit", ylim=(-0.1, 1.45))
        axes[1].legend(loc="upper left", ncols=6, columnspacing=1.0, handletextpad=0.5)
        return style.svg(fig)

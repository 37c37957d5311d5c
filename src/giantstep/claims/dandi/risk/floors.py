"""What one step and a readout fit, regime by regime: floors of the risk and the table of terms.

With U the directions learned, n ~ d^a samples and p ~ d^b neurons, the talk says

    random features:  risk = |P_{> min(a, b)} f*|^2,        p = O(1):  risk >= E Var(f* | P_U x), with equality if p is large,
    else:  risk >= |P_{U, > min(a, b)} f*|^2,  the mass of higher degree outside U,

and its table underlines the terms of the final fitted function. The terms are scaled to mass one each, so that a floor of 3 says
that three terms are out of reach.
"""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.risk.regime import TALK, Regime
from giantstep.claims.dandi.risk.terms import NAMES, PENALTIES, fitted
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula

FLOORS = (
    Regime("random features, κ = 1", "d", "d", 20, 8, ("x1", "H2(x2)/sqrt(2)"), steps=0),
    Regime("narrow network", "d", "1", 64, 16, ("x1", "x1*x2"), "relu"),
)  # equalities
TABLE = tuple(
    Regime(f"n ~ {batch}, p ~ {width}", batch, width, 8 if batch == "d" else 4, 16 if width == "1" else 1)
    for batch, width in (("d", "1"), ("d", "d"), ("d^2", "1"), ("d^2", "d"), ("d^2", "d^2"))
)
PAIR = ("x1", "H2(x1)*x2/sqrt(2)")
GROWTH = (Regime("n = 8d, p = d", "d", "d", 8, 1, PAIR), Regime("n = 64d, p = 8d", "d", "d", 64, 8, PAIR))
REGIMES = (*FLOORS, *TABLE, *GROWTH)
SIZES = {
    "quick": ((120, 128, 60, 60, 24, 24, 12, 40, 40), 4000),
    "full": ((300, 400, 200, 200, 48, 48, 20, 100, 100), 10_000),
}  # dimensions in the order of the regimes, test samples
SEEDS: dict[Size, Seeds] = {"quick": Seeds(16, 80), "full": Seeds(16, 90)}
RULE = {
    "quick": {
        "risk": (Tolerance(0.15, 0.35), Tolerance(0.1, 0.25)),
        "lost": Tolerances(Tolerance(0.06, 0.25), Tolerance(0.04, 0.1)),
    },
    "full": {
        "risk": (Tolerance(0.12, 0.25), Tolerance(0.06, 0.15)),
        "lost": Tolerances(Tolerance(0.04, 0.12), Tolerance(0.02, 0.05)),
    },
}  # margin and departure
TERM = 0.5  # of the mass of a term: what must be noticed below a floor of the table
HALF = Tolerance(0.05, 0.25)  # of the half that an underlined term should have at least
GAIN = 0.05  # of a share, from the smaller to the larger sizes


def measure(size: Size, seeds: range) -> Data:
    """For every regime the risk and the shares of the terms in the fit, (1 + terms, seeds)."""
    dimensions, n_test = SIZES[size]
    some = {FLOORS[0].name: seeds[: max(8, len(seeds) // 3)]}  # random features have little noise and take long
    jobs = [
        (tuple(r), d, seed, n_test)
        for r, d in zip(REGIMES, dimensions, strict=True)
        for seed in some.get(r.name, seeds)
    ]
    runs = iter(cache.each(fitted, jobs))
    return {r.name: np.stack([next(runs) for _ in some.get(r.name, seeds)], axis=-1) for r in REGIMES}


def predict(size: Size) -> Data:
    """For every regime the floor, and for every term whether it is underlined."""
    return {r.name: {"floor": r.floor, "fates": r.fates} for r in REGIMES}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Floors that are equalities, floors of the table, terms out of reach, and terms that are underlined."""
    equal = [
        statistics.compare(
            f"risk, {r.name}", measured[r.name][:1], [predicted[r.name]["floor"]], at=[""], within=rule, relative=True,
        )
        for r, rule in zip(FLOORS, RULE[size]["risk"], strict=True)
    ]  # fmt: skip
    above = statistics.compare(
        "risk above a floor", [measured[r.name][0] for r in TABLE], [predicted[r.name]["floor"] for r in TABLE],
        at=[r.name for r in TABLE], within=Tolerance(0.1, TERM), side="above",
    )  # fmt: skip
    shares: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for r in TABLE:
        for k, known in enumerate(predicted[r.name]["fates"]):
            shares[known][f"{r.terms[k].split('/')[0]}, {r.name}"] = measured[r.name][1 + k]
    out = ranks.each_and_mean("share of a term out of reach", shares[False], 0.0, RULE[size]["lost"])
    underlined = statistics.compare(
        "share of an underlined term", list(shares[True].values()), 0.5, at=shares[True],
        side="above", within=HALF,
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
        f"{r.name}: {measured[r.name][0].mean():.2f} (floor {predicted[r.name]['floor']:g})" for r in FLOORS
    )
    return Verdict(
        sentence=f"Risks at the floors are {risks}. {low} of {len(underlined.comparison.at)} underlined terms are less than half "
        f"fitted. The share of H2(x1)*x2 is {small:.2f} at n = 8d, p = d and {large:.2f} at n = 64d, p = 8d. "
        f"{ruling.sentence}",
        sizes="; ".join(f"{r.name}: d = {d}" for r, d in zip(REGIMES, SIZES[size][0], strict=True))
        + f"; one step, {REGIMES[-1].activation} (narrow network: relu), best of {len(PENALTIES)} penalties",
        figure=_figure(measured, predicted),
        caption="Above, the risk over its floor; terms have mass one. Below, the share of every term of the talk's target in the "
        f"fit: a bar where the talk underlines it, a cross where it is out of reach. {low} of the underlined bars are below "
        "one half (dotted), and the crosses are near zero.",
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
        axes[0].set_xticks(
            range(len(several)),
            [
                formula(r.name).replace(", ", ",\n").replace(" features", "\nfeatures").replace(" network", "\nnetwork")
                for r in several
            ],
        )
        axes[0].set(ylabel="risk", ylim=(-0.3, 6.2))  # a floor of zero is seen
        axes[0].legend(loc="upper left", ncols=2)
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

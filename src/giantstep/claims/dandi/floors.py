"""What one step and a readout can fit at best, regime by regime: the two lower bounds on the risk and the table of terms.

With U the directions learned, n ~ d^a samples and p ~ d^b neurons, the risk is at least

    p = O(1):  E Var(f* | P_U x),        else:  |P_{U, > min(a, b)} f*|^2,  the mass of higher degree outside U,

and random features are the case U = {0}. The target is the talk's, its five terms scaled to mass one each, so that no term hides
the others: a floor of 3 says that three terms are out of reach. A second target of two terms, which a wide network can fit and a
narrow one cannot, shows that the floors are not idle.
"""

from typing import Any

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi.regime import NARROW, REGIMES, TALK, WIDE, Regime
from giantstep.claims.dandi.terms import NAMES, PENALTIES, fitted
from giantstep.claims.growth import line
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

SIZES = {
    "quick": ({"d": (40, 80, 160), "d^2": (20, 30, 44), "d^2 d^2": (8, 10, 14)}, 6, 5000),
    "full": ({"d": (100, 200, 400), "d^2": (24, 36, 48), "d^2 d^2": (12, 16, 20)}, 10, 20_000),
}  # dimensions, seeds, test samples
SLACK = 0.05  # of one term's mass: what a fit of something else shows by chance
LEVEL = 3.0  # standard errors
ENOUGH = 1.0  # what the test should see: the mass of one term


def dimensions(regime: Regime, size: Size) -> tuple[int, ...]:
    return SIZES[size][0]["d^2 d^2" if regime.width == "d^2" else regime.batch]


def measure(size: Size) -> Data:
    """For every regime and d: risk, that of random features, and the shares of the terms in the fit, (seeds, 2 + terms)."""
    _, seeds, n_test = SIZES[size]
    risks: Data = {}
    for r in REGIMES:
        jobs = [(r.batch, r.width, r.terms, d, seed, n_test) for d in dimensions(r, size) for seed in range(seeds)]
        each = np.array(cache.each(fitted, jobs))
        risks[str(r)] = list(each.reshape(-1, seeds, each.shape[1]))
    return risks


def predict(size: Size) -> Data:
    """For every regime the floors, of the network and of random features, and the fate of every term: fitted or lost."""
    return {str(r): {"floors": list(r.floors), "fates": list(r.fates)} for r in REGIMES}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether the floors are respected."""
    seeds = SIZES[size][1]
    at = {r: mean_and_error(np.array(measured[str(r)]), axis=1) for r in REGIMES}  # each (sizes, 2 + terms)
    below, leaked, promised, errors, above = [], [], [], [], []
    shares = {"lost": [0.0], "fitted": [0.0]}
    for regime, (mean, error) in at.items():
        x, said = 1 / np.array(dimensions(regime, size)), predicted[str(regime)]
        for k, floor in enumerate(said["floors"]):
            limit, se, *_ = line(x, mean[:, k], error[:, k])
            below += [str(regime)] * bool(floor - limit > max(LEVEL * se, SLACK))
            errors.append(se)
        above.append(mean[[0, -1], 0] - said["floors"][0])
        for k, (term, fate) in enumerate(zip(regime.terms, said["fates"], strict=True), start=2):
            share, here = mean[-1, k], f"{term} ({regime})"
            shares[fate].append(float(share))
            if fate == "lost":
                limit, se, *_ = line(x, mean[:, k], error[:, k])
                leaked += [here] * bool(abs(limit) > max(LEVEL * se, SLACK))
                errors.append(se)
            elif share < 0.5:
                promised.append(f"{here} {share:.2f} ± {error[-1, k]:.2f}")
    floors = {r: predicted[str(r)]["floors"][0] for r in REGIMES}
    said = [f"{r}: {mean[-1, 0]:.2f} ± {error[-1, 0]:.2f} (floor {floors[r]:g})" for r, (mean, error) in at.items()]
    apart = at[WIDE][0][-1, 0] + LEVEL * at[WIDE][1][-1, 0] < floors[NARROW]
    sure = apart and all(power.detectable(se, LEVEL, SLACK) < ENOUGH for se in errors)
    first, last = np.mean(above, axis=0)
    closest = said[int(np.argmin([last for _, last in above]))]
    pale, full = (max(shares[fate]) for fate in ("lost", "fitted"))
    return Verdict(
        outcome="fails" if below or leaked else ("holds" if sure else "inconclusive"),
        sentence="Risk after one step at the largest d, terms of mass one: "
        + "; ".join(said)
        + (f". Below its floor: {', '.join(below)}" if below else ". No risk is below its floor")
        + (f"; fitted though out of reach: {', '.join(leaked)}" if leaked else ", and no term out of reach is fitted")
        + f". On two terms the wide network {'beats' if apart else 'does not beat'} the floor of the narrow one. The talk's "
        + "floors are not attained at these sizes: within reach but less than half fitted are "
        + ("; ".join(promised) or "none")
        + ".",
        header=("n", "p", "d", "risk", "s.e.", "floor", "random features", "s.e.", "floor", "shares of the terms"),
        rows=tuple(
            _cells(r, d, mean[i], error[i], predicted[str(r)]["floors"])
            for r, (mean, error) in at.items()
            for i, d in enumerate(dimensions(r, size))
        ),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"{r}: d = {', '.join(map(str, dimensions(r, size)))}" for r in REGIMES)
        + "; n = 8d or 4d², p = 16, d or d², elu (two terms: 32d, 16 or 2d, relu), Gaussian second layer; best of "
        f"{len(PENALTIES)} penalties",
        figure=_figure(at, predicted),
        caption="Left, the risk of one step and of random features at three d for every regime over the lines that are "
        f"their floors. Closest to its floor is {closest}. Right, the share of the terms in the fit at the largest d, pale "
        f"where the term is out of reach: pale bars are {pale:.2f} at most, the highest full one is {full:.2f}.",
        power=power.stated(
            errors, LEVEL, SLACK, ", below a floor or of a term out of reach, where a term has mass one,", seeds=seeds
        ),
        trend=f"The risk is {first:.2f} above its floor on average over the regimes at the smallest d, and {last:.2f} at "
        "the largest.",
        settings=tuple(r.setting(dimensions(r, size)[-1]).id for r in REGIMES),
    )


def _cells(regime: Regime, d: int, mean: np.ndarray, error: np.ndarray, floors: list[float]) -> tuple:
    risk, base = zip(mean[:2].tolist(), error[:2].tolist(), floors, strict=True)
    named = zip(regime.terms, mean[2:], strict=True)
    shares = ", ".join(f"{NAMES[t].strip('$')}: {share:.2f}" for t, share in named)
    return (regime.batch, regime.width, d, *risk, *base, shares)


def _figure(at: dict[Regime, Any], predicted: Data) -> str:
    """Risk over the floor for every regime and d, and the share of every term of the talk's target at the largest d."""
    with _style.figure(2, width=4.2, height=3.2) as (fig, axes):
        for term, colour in zip(TALK, _style.COLOURS, strict=False):
            axes[1].bar(0, 0, color=colour, label=NAMES[term])
        for i, (regime, (mean, error)) in enumerate(at.items()):
            x, expected = i + np.linspace(-0.3, 0.0, len(mean)), predicted[str(regime)]
            for k, label in enumerate(("one step", "random features")):
                style = {"color": _style.COLOURS[k], "markersize": 3, "label": None if i else label}
                _style.dots(axes[0], x + 0.3 * k, mean[:, k], error[:, k], **style)
                axes[0].plot([i - 0.4, i + 0.4], [expected["floors"][k]] * 2, color=_style.COLOURS[k], linewidth=1.2)
            for k, (fate, share) in enumerate(zip(expected["fates"], mean[-1, 2:], strict=True)):
                if regime.terms == TALK:
                    pale = 1.0 if fate == "fitted" else 0.35
                    axes[1].bar(i + 0.16 * (k - 2), share, 0.14, color=_style.COLOURS[k], alpha=pale)
        labels = [f"$n \\sim {r.batch}$\n$p \\sim {r.width}$" for r in REGIMES]
        axes[0].axvline(len(REGIMES) - 2.5, color=_style.INK, linewidth=0.6, linestyle=":")
        axes[0].set_xticks(range(len(REGIMES)), labels)
        axes[1].set_xticks(range(len(REGIMES) - 2), labels[:-2])
        axes[0].set_title("risk, d growing to the right; lines: floors; last two: two terms", loc="left", fontsize=8)
        axes[1].set_title("share of a term in the fit; pale: out of reach", loc="left", fontsize=8)
        for ax in axes:
            ax.legend(fontsize=7, loc="lower left" if ax is axes[0] else "upper left")
        return _style.svg(fig)


CLAIM = claim("dandi/floors", measure=measure, predict=predict, judge=judge)

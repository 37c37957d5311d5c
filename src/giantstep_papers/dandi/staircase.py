"""Step by step a network with fresh batches learns the directions of the staircase alone."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
)
from giantstep.explain.words import combination
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep.theory import evolution
from giantstep_papers.dandi import ranks
from giantstep_papers.dandi.ranks import RankCase

CLAIM = Claim(
    order=5,
    quote="Assume that n = O(d), and η = √p. […] U*_{t+1} = U*_t ⊕ span({μ_{U*ₜ, x}(f*) : x ∈ "
    "U*_t}). Then, after t gradient steps […], the first layer learns exactly U*_t.",
    place="Stephan's talk, slide “Main conjecture”",
    kind="conjecture",
    statement="With n = O(d) the first layer learns exactly U*_t after t gradient steps, where "
    "U*_{t+1} adds to U*_t the span of the μ_{U*ₜ, x}(f*).",
    where="Definition 2 and Conjecture 1, on examples 1, 2 and 3 of the talk, two steps, with the "
    "exact chain of overlaps and ReLU, which has the Hermite coefficients that these targets "
    "use; run with η = p, as the slides for one step have it, where this slide has η = √p",
    how="We fit the energy of every direction over the null level, after every step, freely by a "
    "power of d. The exponent must be one if the direction is learned, and zero if not. "
    "Learned energies at the largest d must be those of the evolution of overlaps. Chance adds "
    "one null level to a learned energy. The limit is the trend: learned exponents must be above "
    "one half, the others below.",
    judges=(
        Judge(
            "exponent of d",
            margin=EXPONENT,
            departure=(0.65, 0.25),
            mean=(EXPONENT, (0.2, 0.12)),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "learned energy over theory",
            relative=True,
            margin=(0.06, 0.03),
            departure=(0.25, 0.1),
            mean=((0.04, 0.015), (0.1, 0.04)),
            because="corrections of order 1/d",
        ),
        Judge(
            "trend with d",
            margin=EXPONENT,
            departure=0.5,
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(30, 140), "full": Seeds(60, 320)},
)

CASES = {  # targets of the talk
    "example 1": "x1 + x2 + x1^2 - x2^2",
    "example 2": "x1 + x2 + x1^2 + x2^2 - 2",
    "example 3": "x1 + x1*x2 + x1*x3",
}
ACTIVATION = "relu"  # it has the Hermite coefficients that these targets use
STEPS = 2
SIZES = {"quick": (2**7, 2**9, 2**11), "full": (2**8, 2**11, 2**14)}
WIDTH = 24  # p


def cases(size: Size) -> dict[str, RankCase]:
    return {
        name: RankCase(name, target, SIZES[size], steps=STEPS, activation=ACTIVATION, width=WIDTH)
        for name, target in CASES.items()
    }


def measure(size: Size, seeds: range) -> Data:
    """For every case the mean of pi pi^T, (sizes, steps, seeds, r, r)."""
    return {name: ranks.measured(case, seeds) for name, case in cases(size).items()}


def predict(size: Size) -> Data:
    """For every case the directions, whether each is learned, and energies at the largest d."""
    return {name: said(case) for name, case in cases(size).items()}


def said(case: RankCase) -> Data:
    """``learned`` is what the conjecture says, ``seen`` what the activation's orders leave."""
    d = case.sizes[-1]
    explained = gs.explain(case.formula, batch="d", width="1", activation=case.activation)
    assert explained.realised is not None
    basis = directions(explained.staircase[-1], gs.target(case.formula).rank)
    path = evolution(case.setting(d))
    cosines = path.M[1:] @ basis.T / np.sqrt(np.diagonal(path.Q[1:], axis1=1, axis2=2))[:, :, None]
    outside = 1 - np.mean(path.shares[1:].sum(2), axis=1)
    return {
        "directions": basis,
        "names": [combination(v.tolist()).replace("sqrt2", "√2") for v in basis],
        "learned": [_known(explained.staircase, k, basis) for k in range(1, STEPS + 1)],
        "seen": [_known(explained.realised.staircase, k, basis) for k in range(1, STEPS + 1)],
        "energies": 1 + d * np.mean(cosines**2, axis=1) / outside[:, None],
    }


def _known(stairs: Any, step: int, basis: np.ndarray) -> list[bool]:
    known = np.array(stairs[min(step, len(stairs) - 1)])
    return (np.linalg.norm(known @ basis.T, axis=0) > 0.99).tolist()


def directions(stairs: Any, rank: int) -> np.ndarray:
    """Unit vectors as rows: the whole staircase in the order found, then what it never reaches."""
    known = np.array(stairs)
    values, vectors = np.linalg.eigh(np.eye(rank) - known.T @ known)
    return np.concatenate([known, vectors.T[values > 0.5]])


def levels(case: RankCase, measured: Data, predicted: Data) -> np.ndarray:
    """Energies over the null level, (sizes, steps, directions, seeds)."""
    values = measured[case.name]
    energies = ranks.energies(values, np.asarray(predicted[case.name]["directions"]))
    return energies / ranks.chance(case.sizes, values)[:, :, None]


def slopes_of(
    case: RankCase, found: np.ndarray, said: Data, which: str
) -> dict[bool, dict[str, np.ndarray]]:
    """Exponents in d of all energies after every step, of learned directions and of others."""
    parts: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for t, v in np.ndindex(found.shape[1:3]):
        known = said[which][t][v]
        # chance adds one null level to a learned energy
        grown = ranks.growth(case.sizes, found[:, t, v], float(known))
        parts[known][f"{case.name}, step {t + 1}, {said['names'][v]}"] = grown
    return parts


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of all energies, and the learned energies at the largest d."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    energies: dict[str, np.ndarray] = {}
    for name, case in cases(size).items():
        known, found = predicted[name], levels(case, measured, predicted)
        for which, labelled in slopes_of(case, found, known, "learned").items():
            slopes[which] |= labelled
        for t, v in np.argwhere(known["learned"]):
            ratio = found[-1, t, v] / known["energies"][t][v]
            energies[f"{name}, step {t + 1}, {known['names'][v]}"] = ratio
    judge, ratios = judging(CLAIM, size), list(energies.values())
    theory = judge.each_and_mean("learned energy over theory", ratios, 1.0, at=energies)
    return Evidence((*ranks.fitted(slopes, judge), *theory), limit=ranks.trends(slopes, judge))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    one = some["example 1"]
    climbed = levels(one, measured, predicted)[:, -1, 1].mean(-1)
    d = ", ".join(map(str, SIZES[size]))
    return Verdict(
        sentence=f"After the second step w₁ − w₂ of example 1 goes from {climbed[0]:.0f} to "
        f"{climbed[-1]:.0f} times chance as d grows. {ruling.sentence}",
        sizes=f"d = {d}; n = {one.ratio}d a step, {STEPS} steps; p = {WIDTH}, {ACTIVATION}, "
        f"signs, pairs; s = {one.strength:g}",
        figure=_figure(some, measured, predicted),
        caption="Directions on the staircase rise over chance like d, and the others stay near "
        "chance.",
        settings=tuple(c.setting(c.sizes[-1]).id for c in some.values()),
    )


def _figure(some: dict[str, RankCase], measured: Data, predicted: Data) -> str:
    with style.figure(len(some), width=3.4, height=3.0) as (fig, axes):
        for ax, (name, case) in zip(axes, some.items(), strict=True):
            said = predicted[name]
            found = levels(case, measured, predicted)[:, -1]
            ranks.panel(ax, case.sizes, found, list(map(formula, said["names"])))
            for k, value in enumerate(said["energies"][-1]):
                if said["learned"][-1][k]:
                    look = {"color": style.COLOURS[k], "markersize": 22, "zorder": 1}
                    label = "theory" if k == 0 else None
                    ax.plot(case.sizes[-1], value, "_", **look, label=label)
            ax.set_title(f"{name}: {formula(case.formula)}")
            ax.set_ylabel("energy / null level")
            ax.set_ylim(0.2, 60 * ax.get_ylim()[1])
            ax.legend(loc="upper left", ncols=2)
        return style.svg(fig)

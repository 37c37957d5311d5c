"""Step by step a network with fresh batches learns the directions of the staircase, and no others; not with every activation."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import ComparedNumbers, Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.directions.ranks import RankCase
from giantstep.explain.words import combination
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep.theory import evolution

CASES = {  # targets of the talk and activations
    "example 1": ("x1 + x2 + x1^2 - x2^2", "relu"),
    "example 2": ("x1 + x2 + x1^2 + x2^2 - 2", "relu"),
    "example 3": ("x1 + x1*x2 + x1*x3", "relu"),
    "example 1, tanh": ("x1 + x2 + x1^2 - x2^2", "tanh"),
}
STEPS = 2
SIZES = {"quick": (2**7, 2**9, 2**11), "full": (2**8, 2**11, 2**14)}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(30, 140), "full": Seeds(60, 320)}
RULE = {
    "quick": Tolerances(Tolerance(0.12, 0.65), Tolerance(0.07, 0.2)),
    "full": Tolerances(Tolerance(0.06, 0.25), Tolerance(0.02, 0.1)),
}
ENERGY = {
    "quick": Tolerances(Tolerance(0.06, 0.25), Tolerance(0.04, 0.1)),
    "full": Tolerances(Tolerance(0.03, 0.1), Tolerance(0.015, 0.04)),
}  # of a predicted energy


def cases(size: Size) -> dict[str, RankCase]:
    return {
        name: RankCase(name, target, SIZES[size], steps=STEPS, activation=activation, width=24)
        for name, (target, activation) in CASES.items()
    }


def measure(size: Size, seeds: range) -> Data:
    """For every case the mean of pi pi^T, (sizes, steps, seeds, r, r)."""
    return {name: ranks.measured(case, seeds) for name, case in cases(size).items()}


def predict(size: Size) -> Data:
    """For every case the directions, which of them are learned as stated and as corrected, and the energies at the largest d."""
    return {name: _said(case) for name, case in cases(size).items()}


def _said(case: RankCase) -> Data:
    """``learned`` is what the conjecture says, ``seen`` what is left of it for the orders that the activation has."""
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
    """Unit vectors as rows: those of the whole staircase in the order found, then what it never reaches."""
    known = np.array(stairs)
    values, vectors = np.linalg.eigh(np.eye(rank) - known.T @ known)
    return np.concatenate([known, vectors.T[values > 0.5]])


def levels(case: RankCase, measured: Data, predicted: Data) -> np.ndarray:
    """Energies over the null level, (sizes, steps, directions, seeds)."""
    values = measured[case.name]
    energies = ranks.energies(values, np.asarray(predicted[case.name]["directions"]))
    return energies / ranks.chance(case.sizes, values)[:, :, None]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of all energies, and the learned energies at the largest d."""
    some = cases(size).values()
    found = {c.name: levels(c, measured, predicted) for c in some}
    slopes = {c.name: [ranks.growth(c.sizes, found[c.name], above) for above in (0.0, 1.0)] for c in some}

    def on(which: str) -> tuple[ComparedNumbers, ...]:
        parts: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
        sizes_of: dict[str, np.ndarray] = {}
        for c in some:
            said = predicted[c.name]
            for t, v in np.ndindex(found[c.name].shape[1:3]):
                label, known = f"{c.name}, step {t + 1}, {said['names'][v]}", said[which][t][v]
                # chance is subtracted where the theory itself predicts an energy far above it
                parts[known][label] = slopes[c.name][said["seen"][t][v]][t, v]
                if said["seen"][t][v]:
                    sizes_of[label] = found[c.name][-1, t, v] / said["energies"][t][v]
        return (
            *ranks.each_and_mean("exponent of a learned direction", parts[True], 1.0, RULE[size]),
            *ranks.each_and_mean("exponent of another direction", parts[False], 0.0, RULE[size]),
            *ranks.each_and_mean("learned energy over theory", sizes_of, 1.0, ENERGY[size], relative=True),
        )

    return Evidence(on("learned"), on("seen"))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    one, other = (
        levels(some[name], measured, predicted)[:, -1, 1].mean(-1) for name in ("example 1", "example 1, tanh")
    )
    d = ", ".join(map(str, SIZES[size]))
    words = [", ".join(f"{v:.2g}" for v in values) for values in (one, other)]
    return Verdict(
        sentence=f"On example 1 the second step brings w1 − w2 to {words[0]} null levels at d = {d} with relu, and to "  # noqa: RUF001
        f"{words[1]} with tanh, whose second Hermite coefficient is zero. As stated, for any activation: "
        f"{ruling.stated.sentence} As corrected: {ruling.corrected.sentence if ruling.corrected else ''}",
        sizes=f"d = {d}; n = 4d a step, {STEPS} steps; p = 24, signs, pairs; s = 1",
        figure=_figure(some, measured, predicted),
        caption=f"Energy of every direction over the null level after {STEPS} steps against d, one panel a case; horizontal "
        "ticks are the theory at the largest d. Learned directions rise along the dotted line ∝ d, the others stay near the "
        f"dashed null level. With tanh example 1 stays at {words[1]} null levels along w1 − w2.",  # noqa: RUF001
        settings=tuple(c.setting(c.sizes[-1]).id for c in some.values()),
    )


def _figure(some: dict[str, RankCase], measured: Data, predicted: Data) -> str:
    with style.figure(2, 2, width=3.8, height=2.7) as (fig, axes):
        for ax, (name, case) in zip(axes.ravel(), some.items(), strict=True):
            said = predicted[name]
            ranks.panel(ax, case.sizes, levels(case, measured, predicted)[:, -1], list(map(formula, said["names"])))
            for k, value in enumerate(said["energies"][-1]):
                if said["seen"][-1][k]:
                    label = "theory" if k == 0 else None
                    ax.plot(case.sizes[-1], value, "_", color=style.COLOURS[k], markersize=22, label=label, zorder=1)
            ax.set_title(f"{name}: {formula(case.formula)}")
            ax.set_ylabel("energy / null level")
            ax.set_ylim(0.2, 60 * ax.get_ylim()[1])
            ax.legend(loc="upper left", ncols=2)
        return style.svg(fig)

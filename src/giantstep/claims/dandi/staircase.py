"""Step by step a network with fresh batches learns the directions of the staircase, and no others."""

from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims import growth
from giantstep.claims.claim import claim
from giantstep.claims.dandi.narrow import chain, experiment
from giantstep.explain.words import combination
from giantstep.measure import LEARNED, mean_and_error
from giantstep.plot import style
from giantstep.theory import evolution

EXAMPLES = {
    "example 1": "x1 + x2 + x1^2 - x2^2",
    "example 2": "x1 + x2 + x1^2 + x2^2 - 2",
    "example 3": "x1 + x1*x2 + x1*x3",
}
STEPS = 3
SIZES = {"quick": ((500, 2000, 8000), 6), "full": ((1000, 8000, 64_000), 12)}
RATIO = 4  # n/d
FLAT = 0.5  # exponent in d that separates what stays at the null level (0) from what is learned (1)
NEAR = 0.1  # of an energy, granted to finite sizes


def measure(size: Size) -> Data:
    """For every example the mean of pi pi^T over the null level, (steps, sizes, seeds, r, r)."""
    sizes, seeds = SIZES[size]

    def over_null(formula: str, steps: int, d: int) -> np.ndarray:
        outcome = chain(experiment(formula, d, RATIO * d, steps), seeds)
        return outcome.learned / np.reshape(outcome.null_level, (-1, 1, 1))

    steps = range(1, STEPS + 1)
    return {name: np.array([[over_null(f, k, d) for d in sizes] for k in steps]) for name, f in EXAMPLES.items()}


def predict(size: Size) -> Data:
    """For every example the directions, which of them are learned, and the energies at the largest d, (steps, directions)."""
    d, overlaps = SIZES[size][0][-1], {}
    for name, formula in EXAMPLES.items():
        stairs = gs.explain(formula, batch="d", width="1").staircase
        basis = directions(stairs[-1], gs.target(formula).rank)
        path = evolution(experiment(formula, d, RATIO * d, STEPS))
        learned, energies = [], []
        for k in range(1, STEPS + 1):
            known = np.array(stairs[min(k, len(stairs) - 1)])
            learned.append((np.linalg.norm(known @ basis.T, axis=0) > 0.99).tolist())
            cosines = path.M[k] @ basis.T / np.sqrt(np.diagonal(path.Q[k]))[:, None]
            energies.append(1 + d * np.mean(cosines**2, axis=0) / (1 - path.shares[k].sum(1).mean()))
        names = [combination(v.tolist()) for v in basis]
        overlaps[name] = {"directions": basis, "names": names, "learned": learned, "energies": np.array(energies)}
    return overlaps


def directions(stairs: Any, rank: int) -> np.ndarray:
    """Unit vectors as rows: those of the whole staircase in the order found, then what it never reaches."""
    known = np.array(stairs)
    values, vectors = np.linalg.eigh(np.eye(rank) - known.T @ known)
    return np.concatenate([known, vectors.T[values > 0.5]])


class StaircaseRow(NamedTuple):
    """One direction after some steps: its energy over the null level, measured and predicted, and the exponent of its growth."""

    example: str
    steps: int
    direction: str
    predicted: str
    ratio: float
    error: float
    theory: float
    growth: float
    growth_error: float

    @property
    def learned(self) -> bool:
        return self.predicted == "learned"


def energies(measured: Data, predicted: Data) -> dict[str, np.ndarray]:
    """pi^T E pi over the null level, (steps, directions, sizes, seeds) for every example: about one where nothing was learned."""
    return {
        name: np.einsum("vk,tnskl,vl->tvns", said["directions"], measured[name], said["directions"])
        for name, said in predicted.items()
    }


def rows_of(sizes: tuple[int, ...], values: dict[str, np.ndarray], predicted: Data) -> list[StaircaseRow]:
    rows = []
    for name, said in predicted.items():
        for k, v in np.ndindex(values[name].shape[:2]):
            here, word = values[name][k, v], "learned" if said["learned"][k][v] else "not"
            at = (*map(float, mean_and_error(here[-1])), float(said["energies"][k, v]))
            rows.append(StaircaseRow._make((name, k + 1, said["names"][v], word, *at, *growth.growth(sizes, here))))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, seeds = SIZES[size]
    values = energies(measured, predicted)
    rows = rows_of(sizes, values, predicted)
    # a learned direction keeps its share of a neuron as d grows, so it grows like d over the null level; the others stay at it
    sides = [growth.as_said(r[-2:], r.learned, FLAT) for r in rows]
    learned, rest = ([r for r in rows if r.learned == known] for known in (True, False))
    far = [r for r in learned if abs(r.ratio - r.theory) > max(growth.LEVEL * r.error, NEAR * r.theory)]
    worst = max(learned, key=lambda r: abs(r.ratio / r.theory - 1))
    least, most = min(learned, key=lambda r: r.ratio), max(rest, key=lambda r: r.ratio)
    spans = [f"d^{min(r.growth for r in some):.2f} to d^{max(r.growth for r in some):.2f}" for some in (learned, rest)]
    return Verdict(
        outcome="fails" if far else growth.outcome(sides),
        sentence=f"{sides.count(True)} of {len(rows)} directions, after one to {STEPS} steps, are learned or not as the "
        f"staircase says, by 3 s.e. in the exponent of d. At d = {sizes[-1]} those learned carry at least {least.ratio:.0f} null "
        f"levels ({least.direction}, {least.example}, step {least.steps}) and grow as {spans[0]}; the others at most "
        f"{most.ratio:.1f} ± {most.error:.1f} ({most.direction}, {most.example}, step {most.steps}), as {spans[1]}. Equal "
        f"components (example 2) stay at w1 + w2. The evolution of overlaps gives {len(learned) - len(far)} of "
        f"{len(learned)} learned "
        f"energies to within 3 s.e. or {100 * NEAR:g}% (the furthest by {100 * (worst.ratio / worst.theory - 1):+.1f} ± "
        f"{100 * worst.error / worst.theory:.1f}%).",
        header=("target", "steps", "direction", "staircase", "null levels", "s.e.", "theory", "exponent in d", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; n = {RATIO}d; p = 40, relu, signs, pairs; s = 1",
        figure=_figure(sizes, rows),
        caption=f"Energy of every direction over the null level after 1 to {STEPS} steps, one panel a target, over the lines "
        f"of the evolution of overlaps. Directions of the staircase jump to {least.ratio:.0f} null levels or more at the step "
        f"that learns them; all others reach at most {most.ratio:.1f}; dashed, the dashed level from which a direction counts as "
        "learned.",
        power=growth.stated([r.growth_error for r in rows], FLAT, seeds)
        + " Energies: "
        + power.stated([r.error / r.theory for r in learned], growth.LEVEL, NEAR, "%", scale=100, seeds=seeds),
        trend=_trend(sizes, values, predicted),
        settings=tuple(experiment(f, sizes[-1], RATIO * sizes[-1], STEPS).id for f in EXAMPLES.values()),
    )


def _trend(sizes: tuple[int, ...], found: dict[str, np.ndarray], predicted: Data) -> str:
    """The least learned energy and the largest of the others at the first and the last d."""
    learned = np.concatenate([np.ravel(said["learned"]) for said in predicted.values()])
    means = np.concatenate([values.mean(axis=3).reshape(-1, len(sizes)) for values in found.values()])
    least, most = means[learned].min(axis=0), means[~learned].max(axis=0)
    said = [f"{least[i]:.0f} against {most[i]:.1f} at d = {sizes[i]}" for i in (0, -1)]
    return (
        f"The least energy of a learned direction against the largest of the others, in null levels: {', '.join(said)}."
    )


def _figure(sizes: Any, rows: list[StaircaseRow]) -> str:
    """Energy over the null level after every step over the theory's line; dashed, the level from which it counts as learned."""
    with style.figure(len(EXAMPLES), width=3.0, height=3.1) as (fig, axes):
        for ax, (example, formula) in zip(np.atleast_1d(axes), EXAMPLES.items(), strict=True):
            here = [r for r in rows if r.example == example]
            for i, name in enumerate(dict.fromkeys(r.direction for r in here)):
                line = [r for r in here if r.direction == name]
                x, colour = [r.steps for r in line], style.COLOURS[i]
                ax.plot(x, [r.theory for r in line], color=colour)
                middle = [r.ratio for r in line], [r.error for r in line]
                style.dots(ax, x, *middle, color=colour, label=name.replace("sqrt2", "√2"))
            ax.axhline(LEARNED, color=style.INK, linewidth=0.8, linestyle="--")
            ax.set(yscale="log", xlabel="steps", xticks=range(1, STEPS + 1), ylim=(0.4, 3e6), xlim=(0.8, STEPS + 0.2))
            ax.set_title(formula.replace("^2", "²").replace("*", ""), loc="left")
            ax.legend(loc="upper left")
        np.atleast_1d(axes)[0].set_ylabel(f"energy / null level, d = {sizes[-1]}")
        return style.svg(fig)


CLAIM = claim("dandi/staircase", measure=measure, predict=predict, judge=judge)

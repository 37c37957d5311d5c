"""Energies of directions: what a narrow network has learned, in units of the level of chance.

A learned direction keeps its share of a neuron as d grows, so its energy over the null level
grows like d. An unlearned one stays at the null level. So the exponent of d is one or zero, and
a free fit decides.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.checks import ComparedNumbers, Evidence, Judging, cache, statistics
from giantstep.checks.claim import Side
from giantstep.checks.statistics import Decision
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import evolution
from giantstep_papers.dandi import column
from giantstep_papers.dandi.narrow import experiment

HALFWAY = 0.5  # between the exponents zero and one
EXPONENTS = {
    True: "exponent of a learned direction",
    False: "exponent of another direction",
}
TRENDS: dict[bool, tuple[str, Side]] = {
    True: ("trend with d of a learned direction", "above"),
    False: ("trend with d of another direction", "below"),
}
# names of judges; a claim may have one for each of ``EXPONENTS`` instead of one for both
EXPONENT_JUDGE, TREND_JUDGE = "exponent of d", "trend with d"
ONE_JUDGE = dict.fromkeys(EXPONENTS, EXPONENT_JUDGE)
Slopes = Mapping[bool, Mapping[str, np.ndarray]]  # exponents by their labels, of both kinds


class RankCase(NamedTuple):
    """One experiment at every d: n = ratio d^power samples a step and s = strength d^longer."""

    name: str
    formula: str
    sizes: tuple[int, ...]
    power: int = 1
    ratio: int = 4
    strength: float = 1.0
    longer: float = 0.0
    steps: int = 1
    activation: str = "relu"
    second_layer: str = "rademacher"
    deflate: int = 0
    width: int = 16

    def setting(self, d: int) -> Setting:
        strength = self.strength * d**self.longer
        n = self.ratio * d**self.power
        return experiment(
            self.formula,
            d,
            n,
            self.steps,
            p=self.width,
            activation=self.activation,
            strength=strength,
            second_layer=self.second_layer,
            deflate=self.deflate,
        )


def learned(case: tuple, d: int, seed: int) -> Float[np.ndarray, "steps r r"]:
    """The mean of pi pi^T over the neurons after every step.

    pi are the cosines with the target's directions.
    """
    path = evolution(RankCase._make(case).setting(d), seed, dtype="float32")
    cosines = path.M[1:] / np.sqrt(np.diagonal(path.Q[1:], axis1=1, axis2=2))[:, :, None]
    return np.einsum("tik,til->tkl", cosines, cosines) / cosines.shape[1]


def measured(case: RankCase, seeds: range) -> Float[np.ndarray, "sizes steps seeds r r"]:
    """``learned`` at every d and seed."""
    return np.moveaxis(cache.over(learned, [(tuple(case), d) for d in case.sizes], seeds), -1, 2)


def chance(
    sizes: Sequence[int], values: Float[np.ndarray, "sizes steps seeds r r"]
) -> Float[np.ndarray, "sizes steps seeds"]:
    """The null level: the share outside the target's span over the other d - r directions."""
    inside = np.trace(values, axis1=3, axis2=4)
    return (1 - inside) / (np.array(sizes) - values.shape[-1])[:, None, None]


def energies(
    values: Float[np.ndarray, "sizes steps seeds r r"], directions: Float[np.ndarray, "v r"]
) -> Float[np.ndarray, "sizes steps v seeds"]:
    """v^T E v of every direction."""
    return np.einsum("vk,ntskl,vl->ntvs", directions, values, directions)


def eigenvalues(
    values: Float[np.ndarray, "sizes steps seeds r r"],
) -> Float[np.ndarray, "sizes steps r seeds"]:
    """In decreasing order."""
    return np.moveaxis(np.linalg.eigvalsh(values)[..., ::-1], 2, 3)


def growth(
    sizes: Sequence[int], values: Float[np.ndarray, "sizes *more seeds"], above: float = 0.0
) -> Float[np.ndarray, "*more seeds"]:
    """Exponents in d of the mean energies less ``above``, as jackknife values.

    ``above`` is what chance adds to a learned direction.
    """
    x = np.log(sizes) - np.mean(np.log(sizes))
    weights = x / np.sum(x**2)

    def slope(some: np.ndarray) -> np.ndarray:
        logs = np.log(np.maximum(np.mean(some, axis=-1) - above, 0.02))
        return np.tensordot(weights, logs, axes=1)

    return statistics.pseudovalues(slope, values)


def fitted(
    slopes: Slopes, judge: Judging, by: Mapping[bool, str] = ONE_JUDGE
) -> tuple[ComparedNumbers, ...]:
    """Exponents of d at the sizes at hand: one for a learned direction, zero for another."""
    made: list[ComparedNumbers] = []
    for known, what in EXPONENTS.items():
        found, said = slopes[known], float(known)
        made += judge.each_and_mean(what, list(found.values()), said, by=by[known], at=found)
    return tuple(made)


def trends(slopes: Slopes, judge: Judging) -> tuple[ComparedNumbers, ...]:
    """Whether energies grow with d: learned exponents are nearer one, the others nearer zero."""
    return tuple(
        judge(what, list(found.values()), HALFWAY, by=TREND_JUDGE, at=found, side=side)
        for known, (what, side) in TRENDS.items()
        if (found := slopes[known])
    )


def on_directions(slopes: Slopes, judge: Judging, by: Mapping[bool, str] = ONE_JUDGE) -> Evidence:
    """Exponents of d at the sizes at hand, and the trends that they are."""
    return Evidence(fitted(slopes, judge, by), limit=trends(slopes, judge))


def ladder(decision: Decision, blocks: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """A figure of all exponents, learned directions and the others by two marks.

    ``blocks`` has for every case the names of its directions and the labels that they were
    compared by.
    """
    found = {}
    for known, what in EXPONENTS.items():
        judged = decision.of(what)
        means = judged.comparison.samples.mean(axis=1)
        for at, mean, half in zip(judged.comparison.at, means, judged.half, strict=True):
            found[at] = float(mean), float(half), float(known), int(not known)
    shown = {
        title: [column.ColumnRow(name, *found[at]) for name, at in named]
        for title, named in blocks.items()
    }
    with column.figure(shown, ["learned", "not learned"], "as stated") as (fig, ax, _):
        ax.axvline(HALFWAY, color=style.INK, linewidth=0.8, linestyle=":", zorder=0)
        ax.set_xlabel("exponent of d")
        return style.svg(fig, below=3, columnspacing=1)


def panel(
    ax, sizes: Sequence[int], values: Float[np.ndarray, "sizes v seeds"], names: Sequence[str]
) -> None:
    """Energies over the null level against d, and the line that grows like d."""
    mean, error = mean_and_error(values)
    for k, name in enumerate(names):
        marks = {"color": style.COLOURS[k], "marker": "os^Dv"[k], "label": name}
        style.dots(ax, sizes, mean[:, k], error[:, k], linestyle="-", linewidth=0.8, **marks)
    d = np.array(sizes)
    thin = {"color": style.INK, "linewidth": 0.9}
    ax.plot(d, 0.6 * mean[0].max() * d / d[0], **thin, linestyle=":", label="∝ d")
    ax.axhline(1, **thin, linestyle="--", label="null level")
    ax.set(yscale="log", xlabel="d", ylim=(0.2, 3 * mean.max()))
    ticks.logarithmic(ax, "x", d)
    ax.minorticks_off()

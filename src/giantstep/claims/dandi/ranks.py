"""How many directions a narrow network has learned, and how sure that is: eigenvalues of the mean of pi pi^T over chance, 1/d.

A learned direction keeps its share of a neuron as d grows, so its eigenvalue grows like d over chance; the others stay at it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from giantstep.checks.claim import Data, Verdict
from giantstep.claims import growth
from giantstep.claims.dandi.narrow import chain, experiment
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

FLAT = 0.5  # exponent in d that separates what stays at chance (0) from what is learned (1)


class RankCase(NamedTuple):
    """One experiment at every d: n = ratio d^power, s = strength d^((power - 1)/2)."""

    name: str
    formula: str
    rank: int  # predicted
    sizes: tuple[int, ...]
    power: int = 1
    ratio: int = 4
    strength: float = 1.0
    steps: int = 1
    second_layer: str = "rademacher"
    deflate: int = 0
    width: int = 16

    def setting(self, d: int) -> Setting:
        strength = self.strength * d ** ((self.power - 1) / 2)
        return experiment(
            self.formula, d, self.ratio * d**self.power, self.steps, p=self.width, strength=strength,
            second_layer=self.second_layer, deflate=self.deflate,
        )  # fmt: skip


def measured(cases: Sequence[RankCase], seeds: int) -> Data:
    """Eigenvalues times d, (sizes, seeds, r) for every case, in decreasing order."""

    def over_chance(case: RankCase, d: int) -> np.ndarray:
        return np.linalg.eigvalsh(chain(case.setting(d), seeds).learned)[:, ::-1] * d

    return {case.name: np.stack([over_chance(case, d) for d in case.sizes]) for case in cases}


def predicted(cases: Sequence[RankCase]) -> Data:
    """The rank of every case."""
    return {case.name: case.rank for case in cases}


def judged(cases: Sequence[RankCase], measured: Data, ranks: Data) -> Verdict:
    """Whether the learned ranks are the predicted ones."""
    powers = {c: [growth.growth(c.sizes, v) for v in measured[c.name].transpose(2, 0, 1)] for c in cases}
    sides = [
        growth.as_said(each, k < ranks[c.name], FLAT) for c, several in powers.items() for k, each in enumerate(several)
    ]
    counts = [
        f"{c.name}: {sum(value > FLAT for value, _ in several)} of {len(several)} (predicted {ranks[c.name]}; exponents "
        + ", ".join(f"{value:+.2f} ± {error:.2f}" for value, error in several)
        + ")"
        for c, several in powers.items()
    ]
    unsure = sides.count(None)
    seeds = measured[cases[0].name].shape[1]
    return Verdict(
        outcome=growth.outcome(sides),
        sentence="Directions whose share of a neuron grows over chance, 1/d, as d does: "
        + "; ".join(counts)
        + (f". {unsure} exponents are within 3 s.e. of {FLAT:g}." if unsure else "."),
        header=("case", "d", "eigenvalue", "over chance", "s.e."),
        rows=tuple(row for c in cases for row in _rows(c, measured[c.name])),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"{c.name}: d = {', '.join(map(str, c.sizes))}" for c in cases)
        + f"; p = {cases[0].width}, relu, pairs",
        figure=_figure(cases, measured, ranks),
        caption=f"Eigenvalues of the mean of π πᵀ, times d, against d on logarithmic axes, one panel a case ({len(cases)}). "
        "Learned ones should run along the dotted line ∝ d, the others stay flat: "
        + "; ".join(
            f"{c.name}: {sum(v > FLAT for v, _ in several)} rise, {ranks[c.name]} should"
            for c, several in powers.items()
        )
        + ".",
        power=growth.stated([e for several in powers.values() for _, e in several], FLAT, seeds),
        trend=_trend(cases, measured, ranks),
        settings=tuple(c.setting(c.sizes[-1]).id for c in cases),
    )


def _trend(cases: Sequence[RankCase], measured: Data, ranks: Data) -> str:
    """How far the least eigenvalue said to be learned is above the largest of the others, at the first and last d."""
    words = []
    for c in cases:
        means, rank = measured[c.name].mean(axis=1), ranks[c.name]
        if 0 < rank < means.shape[1]:
            first, last = means[[0, -1], rank - 1] / means[[0, -1], rank]
            words.append(f"{first:.0f} to {last:.0f} ({c.name}, d = {c.sizes[0]} to {c.sizes[-1]})")
    return (
        f"The least learned eigenvalue over the next one goes from {', from '.join(words)}; it should grow as d."
        if words
        else ""
    )


def _rows(case: RankCase, ratios: Any) -> list[tuple]:
    mean, error = mean_and_error(ratios, axis=1)
    return [
        (case.name, d, k + 1, float(mean[i, k]), float(error[i, k]))
        for i, d in enumerate(case.sizes)
        for k in range(mean.shape[1])
    ]


def _figure(cases: Sequence[RankCase], measured: Data, ranks: Data) -> str:
    """Eigenvalues over chance against d, one panel a case; the grey line grows like d."""
    with style.figure(len(cases), width=2.6, height=2.7) as (fig, axes):
        for ax, case in zip(np.atleast_1d(axes), cases, strict=True):
            d = np.array(case.sizes)
            mean, error = mean_and_error(measured[case.name], axis=1)
            for k in range(mean.shape[1]):
                style.dots(ax, d, mean[:, k], error[:, k], color=style.COLOURS[k], label=f"eigenvalue {k + 1}")
                ax.plot(d, mean[:, k], color=style.COLOURS[k], linewidth=0.8)
            ax.plot(d, mean[0, 0] * d / d[0], color=style.INK, linewidth=0.7, linestyle=":", label="∝ d")
            ax.set(xscale="log", yscale="log", xlabel="d", ylim=(0.05, 2 * mean.max()))
            ax.set_xticks(d, [str(each) for each in d])
            ax.minorticks_off()
            ax.set_title(f"{case.name}\npredicted rank {ranks[case.name]}", loc="left", fontsize=8)
        np.atleast_1d(axes)[0].set_ylabel("share of a neuron, times d")
        fig.legend(*np.atleast_1d(axes)[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return style.svg(fig)

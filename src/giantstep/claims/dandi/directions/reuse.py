"""Two steps on one batch of order d find what fresh batches cannot."""

from typing import NamedTuple

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.directions.narrow import experiment
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import evolution


class ReuseCase(NamedTuple):
    """A target of mass one, n/d, its dimensions, and whether reuse finds it: its generative exponent is one."""

    formula: str
    name: str
    ratio: int
    sizes: tuple[int, ...]
    found: bool


MIXED, EVEN = "(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)", "H2(x1)/sqrt(2)"
CASES = (
    ReuseCase("H3(x1)/sqrt(6)", "H₃", 64, (2000, 16_000), True),
    ReuseCase(MIXED, "(h₂ + h₃)/√2", 4, (4000, 64_000), True),
    ReuseCase(EVEN, "H₂, even", 4, (4000, 64_000), False),
)  # H3 alone is learned so slowly that it needs more samples; a size between the two would not change the fit
FEWER = 8  # what is learned scatters less, and is measured on one of so many seeds
BATCHES = {"fresh": "two fresh batches", "reuse": "one batch twice"}
SEEDS: dict[Size, Seeds] = {"full": Seeds(200, 1600)}
LEARNED = Tolerance(np.array([0.2, 0.04]), np.array([0.5, 0.1]))  # H3 grows towards its exponent slowly
REST = Tolerances(Tolerance(0.1, 0.3), Tolerance(0.04, 0.1))
STRENGTH = 10.0  # s: so long a step that the memory of the batch is not hidden by the initial weights


def setting(case: ReuseCase, d: int, batch: str) -> Setting:
    return experiment(case.formula, d, case.ratio * d, 2, p=8, batch=batch, strength=STRENGTH)


def over_null(case: tuple, d: int, batch: str, seed: int) -> float:
    """Share of a neuron along the target after two steps over the null level."""
    path = evolution(setting(ReuseCase._make(case), d, batch), seed, dtype="float32")
    share = np.mean(path.M[2][:, 0] ** 2 / np.diagonal(path.Q[2]))
    return float(share * (d - 1) / (1 - share))


def measure(size: Size, seeds: range) -> Data:
    """Share along the target over the null level, (sizes, seeds) for every target, on fresh batches and on one."""
    found: Data = {batch: [] for batch in BATCHES}
    for batch in BATCHES:
        for case in CASES:
            own = seeds[: len(seeds) // FEWER] if case.found and batch == "reuse" else seeds
            found[batch].append(cache.over(over_null, [(tuple(case), d, batch) for d in case.sizes], own))
    return found


def predict(size: Size) -> Data:
    """Whether the target is learned, on fresh batches and on one."""
    return {"fresh": [False] * len(CASES), "reuse": [case.found for case in CASES]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of d: one where the target is learned, above the one null level of chance, and zero where it is not."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for batch, words in BATCHES.items():
        for i, case in enumerate(CASES):
            known = bool(predicted[batch][i])
            found = ranks.growth(case.sizes, measured[batch][i], float(known))
            slopes[known][f"{case.name}, {words}"] = found
    learned = list(slopes[True].values())
    return statistics.stated(
        statistics.compare("exponent of a learned target", learned, 1.0, at=slopes[True], within=LEARNED),
        *ranks.each_and_mean("exponent of another target", slopes[False], 0.0, REST),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    ends = {b: ", ".join(f"{np.mean(each[-1]):.1f}" for each in measured[b]) for b in BATCHES}
    names = ", ".join(case.name for case in CASES)
    return Verdict(
        sizes="; ".join(f"{c.name}: d = {', '.join(map(str, c.sizes))}, n = {c.ratio}d" for c in CASES)
        + f"; two steps, p = 8, relu, signs, pairs; s = {STRENGTH:g}",
        figure=_figure(measured, predicted),
        caption="Share of a neuron along the target over the null level against d, one panel a target, with lines ∝ d where it "
        f"should be learned and constants where not. At the largest d it is {ends['reuse']} null levels for {names} "
        f"on one batch used twice, and {ends['fresh']} on fresh ones.",
        settings=tuple(setting(c, c.sizes[-1], b).id for c in CASES for b in BATCHES),
    )


def _figure(measured: Data, predicted: Data) -> str:
    with style.figure(len(CASES), width=2.9, height=2.9) as (fig, axes):
        top = 3 * max(np.max(np.mean(each, axis=-1)) for of in measured.values() for each in of)
        for k, (ax, case) in enumerate(zip(axes, CASES, strict=True)):
            d = np.array(case.sizes)
            for i, (batch, label) in enumerate(BATCHES.items()):
                mean, error = mean_and_error(measured[batch][k])
                colour = style.COLOURS[i]
                style.dots(ax, d, mean, error, color=colour, marker="os"[i], label=label)
                learned = predicted[batch][k]
                line = 1 + (mean[-1] - 1) * d / d[-1] if learned else np.full(len(d), np.exp(np.mean(np.log(mean))))
                shape = "learned, ∝ d" if learned else "not learned, constant"
                ax.plot(d, line, color=colour, linestyle="-" if learned else "--", label=f"{label}: {shape}")
            ax.set(yscale="log", xlabel="d", ylim=(0.8, top), xlim=(0.7 * d[0], 1.4 * d[-1]))
            ticks.logarithmic(ax, "x", d)
            ax.minorticks_off()
            ax.set_title(case.name, loc="left")
        axes[0].set_ylabel("share / null level")
        return style.svg(fig, below=2)

"""Two steps on one batch of order d find targets that have no staircase."""

from typing import Any, NamedTuple

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Judging,
    Ruling,
    Seeds,
    Size,
    Tolerance,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import frame, style, ticks
from giantstep.simulate import evolution
from giantstep_papers.dandi import ranks
from giantstep_papers.dandi.narrow import experiment

CLAIM = Claim(
    order=11,
    paper="dandi_reuse",
    quote="We show that upon re-using batches, the network achieves in just two time steps an "
    "overlap with the target subspace even for functions not satisfying the staircase "
    "property",
    place="abstract only",
    kind="theorem",
    statement="Upon re-using batches, the network achieves in two time steps an overlap with the "
    "target subspace even for functions not satisfying the staircase property.",
    where="re-using a batch of order d, with the exact chain of overlaps; H₃ and (h₂ + h₃)/√2, "
    "which have no linear part and so no first stair",
    how="We fit the share of a neuron along the target over the null level, after two steps on "
    "one batch, freely by a power of d. The exponent must be one if the target is learned. "
    "The limit is the trend over three d: the exponent must be above one half. This runs at "
    "full size only, because squares of heavy-tailed gradients scatter.",
    judges=(
        Judge(
            "exponent of H₃",
            margin=EXPONENT,
            departure=0.6,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of (h₂ + h₃)/√2",
            margin=EXPONENT,
            departure=0.2,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "trend with d of a target",
            side="above",
            margin=EXPONENT,
            departure=0.5,
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"full": Seeds(24, 200)},
)


class ReuseCase(NamedTuple):
    """A target of mass one without a linear part, n/d and its dimensions."""

    formula: str
    name: str
    ratio: int
    sizes: tuple[int, ...]


SUM = "(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)"
# H3 alone is learned so slowly that it needs more samples, and it scatters more
CASES = (
    ReuseCase("H3(x1)/sqrt(6)", "H₃", 64, (2000, 6000, 16_000)),
    ReuseCase(SUM, "(h₂ + h₃)/√2", 4, (4000, 16_000, 64_000)),
)
WIDTH = 8  # p
# s: so long a step that the memory of the batch is not hidden by the initial weights
STRENGTH = 10.0


def setting(case: ReuseCase, d: int, batch: str = "reuse") -> Setting:
    n = case.ratio * d
    return experiment(case.formula, d, n, 2, p=WIDTH, batch=batch, strength=STRENGTH)


def over_null(case: tuple, d: int, batch: str, seed: int) -> float:
    """Share of a neuron along the target after two steps over the null level."""
    path = evolution(setting(ReuseCase._make(case), d, batch), seed, dtype="float32")
    share = np.mean(path.M[2][:, 0] ** 2 / np.diagonal(path.Q[2]))
    return float(share * (d - 1) / (1 - share))


def measure(size: Size, seeds: range) -> Data:
    """Share along the target over the null level, (sizes, seeds) for every target."""
    return {
        c.name: cache.over(over_null, [(tuple(c), d, "reuse") for d in c.sizes], seeds)
        for c in CASES
    }


def predict(size: Size) -> Data:
    """Whether the targets are learned."""
    return {case.name: True for case in CASES}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of d: one where the target is learned, above the one null level of chance."""
    slopes = {case.name: ranks.growth(case.sizes, measured[case.name], 1.0) for case in CASES}
    values = list(slopes.values())
    said = [float(predicted[name]) for name in slopes]
    judge = judging(CLAIM, size)
    hand = statistics.compare(
        "exponent of a target", values, said, at=slopes, within=_within(judge)
    )
    grows = judge("trend with d of a target", values, ranks.HALFWAY, at=slopes)
    return Evidence((hand,), limit=(grows,))


def _within(judge: Judging) -> Tolerance:
    """The exponents are numbers of one kind, and each has a judge of its own."""
    each = [judge.tolerance(f"exponent of {case.name}") for case in CASES]
    margins = np.array([one.margin for one in each])
    return Tolerance(margins, np.array([one.departure for one in each]))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    every = {case.name: _shares(case, measured) for case in CASES}
    shares = " and ".join(
        f"from {first:.3f} to {last:.3f} for {name}" for name, (first, *_, last) in every.items()
    )
    return Verdict(
        sentence="After two steps on one batch the share of a neuron along the target goes "
        f"{shares}, where chance falls like 1/d. {ruling.sentence}",
        sizes=sizes(),
        figure=figure({"one batch twice": (measured, predicted)}, CASES),
        caption="After two steps on one batch both targets have risen over chance like d.",
        settings=tuple(setting(c, c.sizes[-1]).id for c in CASES),
    )


def _shares(case: ReuseCase, measured: Data) -> list[float]:
    pairs = zip(measured[case.name], case.sizes, strict=True)
    return [float(np.mean(value / (value + d - 1))) for value, d in pairs]


def sizes(cases: tuple[ReuseCase, ...] = CASES) -> str:
    each = [f"{c.name}: d = {', '.join(map(str, c.sizes))}, n = {c.ratio}d" for c in cases]
    return "; ".join(each) + (f"; two steps, p = {WIDTH}, relu, signs, pairs; s = {STRENGTH:g}")


def figure(of: dict[str, tuple[Data, Data]], cases: tuple[ReuseCase, ...]) -> str:
    """Null levels against d by kind of batch.

    ``of`` has what was measured, and whether each target is learned.
    """
    entries: dict[str, Any] = {}
    with style.figure(len(cases), width=2.9, height=2.9) as (fig, axes):
        for ax, case in zip(axes, cases, strict=True):
            d = np.array(case.sizes)
            for i, (label, (measured, learned)) in enumerate(of.items()):
                if case.name not in measured:
                    continue
                mean, error = mean_and_error(measured[case.name])
                colour = style.COLOURS[i]
                style.dots(ax, d, mean, error, color=colour, marker="os"[i], label=label)
                known = learned[case.name]
                flat = np.full(len(d), np.exp(np.mean(np.log(mean))))
                line = 1 + (mean[-1] - 1) * d / d[-1] if known else flat
                shape = "learned, ∝ d" if known else "not learned, constant"
                look = {"color": colour, "linestyle": "-" if known else "--"}
                ax.plot(d, line, **look, label=f"{label}: {shape}")
                entries |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
            limits = {"ylim": (0.8, 2 * ax.get_ylim()[1]), "xlim": (0.7 * d[0], 1.4 * d[-1])}
            ax.set(yscale="log", xlabel="d", **limits)
            ticks.logarithmic(ax, "x", d)
            ax.minorticks_off()
            ax.set_title(case.name, loc="left")
        axes[0].set_ylabel("share / null level")
        frame.explain_below(fig, list(entries.values()))
        return style.svg(fig)

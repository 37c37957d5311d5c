"""The first step's direction aligns with the target's, by a known amount."""

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.experiment.target import Target
from giantstep.plot import style, ticks
from giantstep.theory.limits.gains import direction
from giantstep_papers.moniri import talk

CLAIM = Claim(
    order=3,
    quote="The vector β := Xᵀy/n is aligned to β*.",
    place="Moniri's talk of March 2024, slide “Spectrum of the Weights”",
    kind="remark",
    statement="The vector β = Xᵀy/n is aligned to β*.",
    where="the limit of ⟨β, β*⟩/‖β‖, with our formula c*₁/√(c*₁² + (d/n)(E f*² + noise²))",
    how="We compare the mean cosine of both targets at several n/d with the limit that we derive, "
    "which is far from zero.",
    judges=(
        Judge(
            "cos(β, β*)",
            margin=(0.01, 0.003),
            departure=(0.05, 0.015),
            because="the bias of order 1/d of a cosine",
        ),
    ),
    seeds={"quick": Seeds(20, 120), "full": Seeds(30, 260)},
)

DIMENSIONS = {"quick": 300, "full": 2400}
COSINE = "cos(β, β*)"  # the name of the judge
SAMPLES_PER_DIMENSION = (0.5, 1.0, 2.0, 4.0)
MARKERS = "os"


def limit(target: Target, phi: float) -> float:
    """c*_1 / sqrt(c*_1^2 + phi (E f*^2 + noise^2)), phi = d/n: the limit of cos(beta, beta*)."""
    first, power = float(target.hermite.get((1,), 0.0)), target.power + target.noise**2
    return direction(phi, first, power).cosine


def experiment(target: Target, d: int, ratio: float) -> gs.Setting:
    """The preset at n = ratio d; the width plays no part."""
    return gs.presets.moniri(int(ratio * d), d, 2, 0.0, 0.01, target=target)


def cosine(name: str, d: int, ratio: float, seed: int) -> float:
    """cos(beta, beta*) with beta = X^T y / n on n = ratio d samples."""
    target = talk.TARGETS[name]
    beta = talk.direction(experiment(target, d, ratio), seed)
    return gs.measure.cosine(beta, target.matrix(d)[0])


def measure(size: Size, seeds: range) -> Data:
    """Cosines, (targets, n/d, seeds)."""
    d, ratios = DIMENSIONS[size], SAMPLES_PER_DIMENSION
    each = [[(name, d, ratio) for ratio in ratios] for name in talk.targets()]
    return {"cosines": cache.over(cosine, each, seeds)}


def predict(size: Size) -> Data:
    fine = np.geomspace(SAMPLES_PER_DIMENSION[0], SAMPLES_PER_DIMENSION[-1], 60)
    at, lines = (
        np.array([[limit(target, 1 / r) for r in ratios] for target in talk.targets().values()])
        for ratios in (SAMPLES_PER_DIMENSION, fine)
    )
    return {"limits": at, "fine": fine, "line": lines[0]}  # both targets have one line


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [f"{name}, n = {r:g}d" for name in talk.targets() for r in SAMPLES_PER_DIMENSION]
    judge = judging(CLAIM, size)
    return statistics.stated(judge(COSINE, measured["cosines"], predicted["limits"], at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, ratios = DIMENSIONS[size], SAMPLES_PER_DIMENSION
    mean, judged = measured["cosines"].mean(axis=-1), ruling.stated.of(COSINE)
    return Verdict(
        sizes=f"d = {d}, n/d = {', '.join(f'{r:g}' for r in ratios)}",
        figure=_figure(size, mean, judged.half.reshape(mean.shape), predicted),
        caption="The first step's direction turns to the target's as n/d grows, along one limit "
        f"for both targets, with gaps of at most {np.max(np.abs(judged.difference)):.3f}.",
        settings=tuple(experiment(t, d, r).id for t in talk.targets().values() for r in ratios),
    )


def _figure(size: Size, mean: np.ndarray, half: np.ndarray, predicted: Data) -> str:
    """Above the cosines and the limit, below their distance from it.

    The error bars are the intervals of the verdict, and the shade is its margin.
    """
    with style.figure(rows=2, width=3.5, height=2.0) as (fig, (ax, rest)):
        ax.plot(predicted["fine"], predicted["line"], color=style.INK, label="limit of both")
        rest.axhline(0, color=style.INK)
        margin = float(judging(CLAIM, size).tolerance(COSINE).margin)
        rest.axhspan(-margin, margin, color=style.INK, alpha=0.12, linewidth=0, label="margin")
        for i, label in enumerate(talk.LABELS.values()):
            shift = 0.96 if i == 0 else 1.04  # side by side: the two settings have one limit
            x = shift * np.array(SAMPLES_PER_DIMENSION)
            look = {"color": style.COLOURS[i], "marker": MARKERS[i]}
            style.dots(ax, x, mean[i], half[i], label=label, **look)
            style.dots(rest, x, mean[i] - predicted["limits"][i], half[i], **look)
        ax.set_ylabel(COSINE)
        rest.set(xlabel="samples per dimension n/d", ylabel="less the limit")
        for each in (ax, rest):
            ticks.logarithmic(each, "x", SAMPLES_PER_DIMENSION)
        handles = [drawn for each in (ax, rest) for drawn in each.get_legend_handles_labels()[0]]
        fig.legend(handles=handles, loc="outside lower center", ncols=2, columnspacing=1)
        return style.svg(fig)

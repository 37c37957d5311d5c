"""Two steps on one batch learn directions of information exponent above one.

On fresh batches they do not.

cos^2 of what the layer moved along with the target is of order 1/d where nothing is learned and of
order one where it is. So m/(1 - m), m the mean of cos^2 over networks, times d stays level or grows
as d: no sign is averaged away. A cos^2 of order 1/d scatters by as much as its mean, whatever is
known of the draws, so only many networks help: a seed has ``NETWORKS`` of them. A network takes a
time of order d^3 and the noise of an exponent falls with the range of log d, so the range reaches
down.

On fresh batches the level in the limit is (E y^2 x^2/E y^2) (1 + (n/d) (E y x^2)^2/E y^2): 42 for
(h2 + h3)/√2 and 7 for h3. ``limit_reuse`` computes it at any width, and what grows on a reused
batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
    LIMIT,
    Claim,
    ComparedNumbers,
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
from giantstep.checks.claim import Side
from giantstep.experiment.setting import Setting
from giantstep.functions.activation import activation as made
from giantstep.plot import style, ticks
from giantstep.plot.formula import formula, rounded
from giantstep.simulate import train
from giantstep_papers.moniri_hassani.limit_reuse import learned

CLAIM = Claim(
    order=5,
    quote="While independent batches restrict learning to directions with an information exponent "
    "of one, batch reuse enables the second update to capture directions even when the "
    "information exponent exceeds one, provided that α₁, α₂ are chosen properly.",
    place="abstract only",
    kind="theorem",
    statement="Independent batches restrict learning to directions with an information exponent of "
    "one. Batch reuse captures directions even when the information exponent exceeds one, provided "
    "that α₁, α₂ are chosen properly.",
    where="alignment with targets of information exponent two, three and four, at α₁ = α₂ = 0.45, "
    "independent against reused batches",
    how="This runs at full size only. We measure d cos² of what the layer moved along with the "
    "target, as d m/(1 − m) for the mean m of cos² over networks. Its exponent in d, by a "
    "free fit at three dimensions, must be at least 1 on one batch used twice and at most 0, "
    "as by chance, on fresh batches. In the limit theory at widths of 10⁶ to 10¹² must say "
    "the same. A cosine of order 1/√d scatters by its own size, so a seed is the mean of ten "
    "networks. The even target, which reuse does not learn (y² has no linear part), is judged"
    " on fresh batches only.",
    judges=(
        Judge(
            "exponent of d cos²",
            margin=EXPONENT,
            departure=0.15,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of d cos² by theory",
            margin=LIMIT,
            departure=0.1,
            because="the corrections that are left at large widths",
        ),
    ),
    seeds={"full": Seeds(100, 800)},
)

SOFT = "softplus(2*(x-1))/2"  # E sigma' sigma'' is not zero
ALPHA = 0.45  # of both steps, below 1/2
# target, activation, the power of a that carries it, C1 mu_1 and C2 at p = 1000, and whether reuse
# learns it
CASES = {
    "(h2 + h3)/√2": ("(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)", SOFT, 2, 0.4, 55.0, True),
    "h3": ("H3(x1)/sqrt(6)", "tanh(x+0.8)", 3, 0.6, 90.0, True),
    "h4, even": ("H4(x1)/sqrt(24)", SOFT, 2, 0.4, 55.0, False),
}
LEARNED = [name for name, case in CASES.items() if case[-1]]
BATCHES = {"reuse": "one batch twice", "fresh": "fresh batches"}
DIMENSIONS = (40, 110, 300)
NETWORKS = 10  # of one seed
FAR = (1e6, 1e9, 1e12)  # widths at which theory is followed
SAMPLES, WIDTH = 6, 1.25  # n/d and p/d
# the judges
RULE = "exponent of d cos²"
SLOPE_FAR = "exponent of d cos² by theory"


def experiment(name: str, batch: str, d: int) -> Setting:
    """eta = C p^alpha in the paper's units; constants give the steps of alpha = 1/2 at p = 1000."""
    target, activation, _, first, second, _ = CASES[name]
    scale = 1000 ** (0.5 - ALPHA)
    C1 = scale * first / float(made(activation).hermite(1)[1])
    return gs.presets.moniri_hassani(
        SAMPLES * d,
        d,
        int(WIDTH * d),
        ALPHA,
        ALPHA,
        C1=C1,
        C2=scale * second / 1000**0.5,
        batch=batch,
        target=target,
        activation=activation,
        residual="target",
    )


def cosine(name: str, batch: str, d: int, seed: int) -> float:
    """Of what the layer moved along, left power of a by power, with the target."""
    setting, k = experiment(name, batch, d), CASES[name][2]
    layers = train(setting, seed, dtype="float32")
    moved = gs.measure.moved(layers.final - layers.initial, layers.second_layer, k)[:, -1]
    return gs.measure.cosine(moved, setting.target.orthonormal(d)[0])


def square(name: str, batch: str, d: int, seed: int) -> float:
    """The mean of cos^2 over the networks of a seed; no two seeds share one."""
    squares = [cosine(name, batch, d, NETWORKS * seed + k) ** 2 for k in range(NETWORKS)]
    return float(np.mean(squares))


def measure(size: Size, seeds: range) -> Data:
    """cos^2, (targets, batches, d, seeds)."""
    cases = [[[(name, b, d) for d in DIMENSIONS] for b in BATCHES] for name in CASES]
    return {"squares": cache.over(square, cases, seeds)}


def strength(
    sizes: Sequence[int], squares: Float[np.ndarray, "*more d seeds"]
) -> Float[np.ndarray, "*more d"]:
    """d m/(1 - m)."""
    mean = np.mean(squares, axis=-1)
    return np.array(sizes) * mean / (1 - mean)


def slopes(
    sizes: Sequence[int], squares: Float[np.ndarray, "*more d seeds"]
) -> Float[np.ndarray, "*more seeds"]:
    """Its exponent in d, one jackknife value a seed."""
    x = np.log(sizes) - np.mean(np.log(sizes))
    return statistics.pseudovalues(lambda v: np.log(strength(sizes, v)) @ x / np.sum(x**2), squares)


def far(name: str, batch: str, p: float) -> float:
    """d cos^2/(1 - cos^2) by theory at a width that no network has."""
    target, activation, power, first, *_ = CASES[name]
    sigma = made(activation)
    length = first / float(sigma.hermite(1)[1]) * (1000 / p) ** (0.5 - ALPHA)
    return learned(
        target=gs.target(target),
        sigma=sigma,
        power=power,
        length=length,
        samples=SAMPLES,
        d=p / WIDTH,
        reused=batch == "reuse",
    )


def predict(size: Size) -> Data:
    """The same for all, (targets, batches, widths)."""
    every = [[[far(name, batch, p) for p in FAR] for batch in BATCHES] for name in CASES]
    return {"far": np.array(every)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """On one batch used twice the exponent is at least 1, for targets that it can learn.

    On fresh batches it is at most 0.
    """
    judge = judging(CLAIM, size)
    taught = [list(CASES).index(name) for name in LEARNED]
    theory = statistics.exponent(FAR, np.moveaxis(predicted["far"], -1, 0))

    def judged(by: str, found: np.ndarray, ends: str = "") -> tuple[ComparedNumbers, ...]:
        sides: tuple[tuple[str, np.ndarray, Any, float, Side], ...] = (
            ("one batch twice", found[taught, 0], LEARNED, 1.0, "above"),
            ("fresh batches", found[:, 1], CASES, 0.0, "below"),
        )
        return tuple(
            judge(f"{by}{ends}, {batch}", own, expected, by=by, at=at, side=side, noisy=not ends)
            for batch, own, at, expected, side in sides
        )

    hand = judged(RULE, slopes(DIMENSIONS, measured["squares"]))
    ends = f", p = {FAR[0]:.0e} to {FAR[-1]:.0e}"
    return Evidence(hand, limit=judged(SLOPE_FAR, theory, ends))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = DIMENSIONS
    found = strength(sizes, measured["squares"])
    exponent = slopes(sizes, measured["squares"]).mean(axis=-1)
    taught = [list(CASES).index(name) for name in LEARNED]
    mixed, theory = found[0, 1], predicted["far"]
    vanishes = ruling.limit is not None and ruling.limit.outcome == "holds"
    ends = " By theory none is left at large widths." if vanishes else ""
    return Verdict(
        sentence="On one batch used twice both targets that are not even rise over chance as d to "
        f"the {exponent[taught, 0].min():.2f} or faster. On fresh batches the largest exponent of "
        f"a target is {exponent[:, 1].max():.2f}.{ends}",
        trend=f"On fresh batches {next(iter(CASES))} reaches {mixed[-1]:.0f} times chance at the "
        f"largest d, and theory takes it to {theory[0, 1, -1]:.0f} at large widths.",
        header=(
            "target",
            "batches",
            *(f"d = {d}" for d in sizes),
            "exponent",
            *(f"theory, p = {p:.0e}" for p in FAR),
        ),
        rows=tuple(
            (name, batch, *(float(x) for x in (*found[i, j], exponent[i, j], *theory[i, j])))
            for i, name in enumerate(CASES)
            for j, batch in enumerate(BATCHES.values())
        ),
        sizes=f"d = {', '.join(map(str, sizes))}, p = 5d/4, n = 6d; α₁ = α₂ = {ALPHA}; {NETWORKS} "
        "networks a seed",
        figure=_figure(measured["squares"], predicted["far"][:, 1, -1]),
        caption="One batch used twice learns both targets that are not even, and fresh batches "
        "learn none.",
        settings=tuple(
            experiment(name, batch, d).id for name in CASES for batch in BATCHES for d in sizes
        ),
    )


def _figure(squares: np.ndarray, levels: np.ndarray) -> str:
    sizes = np.array(DIMENSIONS)
    found = strength(sizes.tolist(), squares)
    values = statistics.pseudovalues(lambda v: np.log(strength(sizes.tolist(), v)), squares)
    error = found * np.std(values, axis=-1, ddof=1) / squares.shape[-1] ** 0.5
    names = CASES
    with style.figure(len(names), width=4.2 if len(names) == 1 else 2.9, height=3.1) as (fig, axes):
        for i, (ax, name) in enumerate(zip(np.atleast_1d(axes), names, strict=True)):
            for j, (label, marker) in enumerate(zip(BATCHES.values(), "os", strict=True)):
                look = {"color": style.COLOURS[j], "marker": marker, "label": label}
                style.dots(ax, sizes, found[i, j], error[i, j], **look)
            line: Any = {"color": style.INK, "linewidth": 1}
            learned_line, level = found[i, 0, 0] * sizes / sizes[0], [levels[i]] * len(sizes)
            ax.plot(sizes, learned_line, label="as d (learned)", **line)
            ax.plot(sizes, level, ":", label=f"fresh batches, theory at {rounded(FAR[-1])}", **line)
            ax.set(xlabel="dimension d", ylabel="$d\\,\\cos^2/(1-\\cos^2)$" if i == 0 else "")
            ticks.logarithmic(ax, "x", sizes)
            ticks.logarithmic(ax)
            ax.set_title(f"target {formula(name)}", loc="left")
        entries = np.atleast_1d(axes)[0].get_legend_handles_labels()
        fig.legend(*entries, loc="outside lower center", ncols=2)
        return style.svg(fig)

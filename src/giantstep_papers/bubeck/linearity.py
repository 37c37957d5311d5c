"""A random network is almost linear on the scale of the perturbation that flips it:
how much its gradient changes there."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
    LIMIT,
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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.bubeck import random_networks
from giantstep_papers.shared import said

CLAIM = Claim(
    order=3,
    of="giantstep",
    statement="A random network is close to linear on the scale of the perturbation: in the limit "
    "the squared change of its gradient after a unit move along it falls as d to the −1/2 for ReLU "
    "and as d to the −1 for tanh.",
    where="the idea behind the theorems, that the network is nearly linear around x; the sizes are "
    "our computation",
    how="We measure the squared change of the gradient after a unit move, along it and at random,"
    " at five (d, p). It must be that of the law of the ray."
    " Along the gradient its exponent in d must be −1/2 (ReLU) and −1 (tanh), at three "
    "d, and by the law of the ray at d = 10⁶ to 10⁸. At full size a seed has more networks at"
    " the smaller p, where they scatter more.",
    judges=(
        Judge(
            "exponent of d",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "squared change",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d",
        ),
        Judge(
            "exponent of d by the law, d ≥ 10⁶",
            margin=LIMIT,
            departure=0.1,
            because="what is left of that bend at large sizes",
        ),
    ),
    seeds={"quick": Seeds(30, 300), "full": Seeds(80, 420)},
)

NAMES = ("relu", "tanh")
MOVES = {"along the gradient": "-", "at random": "--"}
INPUTS = 64  # of a network
RATES = {"relu": -0.5, "tanh": -1.0}  # of d at fixed p/d
SIZES = {  # d, and p/d at the second of them
    "quick": ((100, 200, 400), (0.5, 4.0)),
    "full": ((100, 400, 1600), (0.25, 4.0)),
}
# networks of a seed, by width; else one
NETWORKS: dict[Size, dict[int, int]] = {"quick": {}, "full": {100: 8, 400: 3}}
FAR = (10**6, 10**7, 10**8)  # d where theory is followed


def cases(size: Size) -> list[tuple[int, int]]:
    """d and p: growing together, then the width alone."""
    sizes, ratios = SIZES[size]
    return [(d, d) for d in sizes] + [(sizes[1], int(r * sizes[1])) for r in ratios]


def measure(size: Size, seeds: range) -> Data:
    """Squared changes of the gradient, (cases, activations, moves, seeds)."""
    each = [(d, p, NAMES, INPUTS, NETWORKS[size].get(p, 1)) for d, p in cases(size)]
    return {"changes": cache.over(random_networks.changes, each, seeds)}


def predict(size: Size) -> Data:
    """The same by the law of the ray."""
    laws = random_networks.laws([(name, d, p) for d, p in cases(size) for name in NAMES])
    changes = np.array([(law.change(), law.random_change()) for law in laws])
    far = [
        [law.change() for law in random_networks.laws([(name, d, d) for name in NAMES])]
        for d in FAR
    ]
    return {
        "changes": changes.reshape(len(cases(size)), len(NAMES), len(MOVES)),
        "far": np.array(far),
    }


def _slopes(size: Size, changes: np.ndarray) -> np.ndarray:
    """Exponents of d of the change along the gradient, (activations, seeds)."""
    sizes, _ = SIZES[size]
    return statistics.exponent(sizes, changes[: len(sizes), :, 0], of_means=True)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponents of d, at hand and by the law at large d,
    and every change against the law of the ray."""
    names = [random_networks.TITLES[name] for name in NAMES]
    at = [
        f"d = {d}, p = {p}, {name}, {move}"
        for d, p in cases(size)
        for name in names
        for move in MOVES
    ]
    changes, rates = measured["changes"], [RATES[name] for name in NAMES]
    far = statistics.exponent(FAR, predicted["far"])
    judge = judging(CLAIM, size)
    return Evidence(
        (
            judge("exponent of d", _slopes(size, changes), rates, at=names),
            judge("squared change", changes, predicted["changes"], at=at),
        ),
        limit=(judge("exponent of d by the law, d ≥ 10⁶", far, rates, at=names, noisy=False),),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    slopes = mean_and_error(_slopes(size, measured["changes"]))
    fall = " and ".join(
        f"{said.power('d', s, e)} for {random_networks.TITLES[n]}"
        for n, s, e in zip(NAMES, *slopes, strict=True)
    )
    return Verdict(
        sentence=f"After a unit move along it the gradient's squared change goes as {fall}. "
        f"{ruling.stated.sentence}",
        sizes=f"(d, p) = {', '.join(map(str, cases(size)))}; a network a seed with {INPUTS} inputs"
        + "".join(f", {count} at p = {p}" for p, count in NETWORKS[size].items()),
        figure=_figure(size, *mean_and_error(measured["changes"]), predicted["changes"]),
        caption="The gradient changes less in higher dimension (left), and along itself less in "
        "wide networks (right).",
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    sizes, ratios = SIZES[size]
    # the second d has p = d too
    order = sorted([(1.0, 1), *((r, len(sizes) + i) for i, r in enumerate(ratios))])
    with style.figure(2, width=3.6, height=3.2) as (fig, axes):
        for ax, part, x in (
            (axes[0], list(range(len(sizes))), sizes),
            (axes[1], [i for _, i in order], [r for r, _ in order]),
        ):
            looks = zip(NAMES, style.COLOURS, "os", strict=False)
            for j, (name, colour, marker) in enumerate(looks):
                for k, (move, line) in enumerate(MOVES.items()):
                    label, fill = (
                        f"{random_networks.TITLES[name]}, {move}",
                        ("white" if k else colour),
                    )
                    look = {"color": colour, "marker": marker, "markerfacecolor": fill}
                    dots = mean[part, j, k], error[part, j, k]
                    ax.plot(x, expected[part, j, k], line, color=colour, linewidth=1, zorder=1)
                    style.dots(ax, x, *dots, label=label, **look)
            ticks.logarithmic(ax, "x", x)
            ticks.logarithmic(ax)
        axes[0].set(xlabel="dimension d, p = d", ylabel="‖change of ∇f‖²")
        axes[1].set(xlabel=f"width p/d, d = {sizes[1]}")
        axes[0].plot([], [], color=style.INK, linewidth=1, label="lines: law of the ray")
        return style.svg(fig, below=2)

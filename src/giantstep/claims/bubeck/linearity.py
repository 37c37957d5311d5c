"""A random network is almost linear on the scale of the perturbation that flips it: how much its gradient changes there."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.bubeck import random_networks
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.plot import style

NAMES = ("relu", "tanh")
RATES = {"relu": -0.5, "tanh": -1.0}  # of d at fixed p/d
SIZES = {
    "quick": ((64, 128, 256), (0.25, 4.0), 16, 20),  # d, p/d at the second of them, seeds, networks of a seed
    "full": ((100, 400, 1600), (0.125, 0.5, 2.0, 8.0), 20, 50),
}
GRANTED = 0.05  # of a change
NEEDED = 0.3  # of a change: what the test should see
NEAR = 0.06  # granted to an exponent


def cases(size: Size) -> list[tuple[int, int]]:
    """d and p: growing together, then the width alone."""
    sizes, ratios, _, _ = SIZES[size]
    return [(d, d) for d in sizes] + [(sizes[1], int(r * sizes[1])) for r in ratios]


def measure(size: Size) -> Data:
    """Squared changes of the gradient, (cases, activations, (along, random), seeds)."""
    _, _, seeds, networks = SIZES[size]
    jobs = [(d, p, NAMES, networks, seed) for d, p in cases(size) for seed in range(seeds)]
    changes = np.array(cache.each(random_networks.changes, jobs)).reshape(len(cases(size)), seeds, len(NAMES), 2)
    return {"changes": np.moveaxis(changes, 1, -1)}


def predict(size: Size) -> Data:
    """The same by the law of the ray, and the exponents of d."""
    laws = random_networks.laws([(name, d, p) for d, p in cases(size) for name in NAMES])
    changes = np.array([(law.change(), law.random_change()) for law in laws])
    return {"changes": changes.reshape(len(cases(size)), len(NAMES), 2), "rates": [RATES[name] for name in NAMES]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, _, seeds, networks = SIZES[size]
    expected = predicted["changes"]
    comparison = compare(measured["changes"], expected, granted=GRANTED * expected)
    share = comparison.relative()
    slopes = [growth(sizes, measured["changes"][: len(sizes), j, 0]) for j in range(len(NAMES))]
    off = [abs(s - r) > max(3 * e, NEAR) for (s, e), r in zip(slopes, predicted["rates"], strict=True)]
    fall = " and ".join(
        f"{s:.3f} ± {e:.3f} ({random_networks.TITLES[n]})" for n, (s, e) in zip(NAMES, slopes, strict=True)
    )
    furthest = float(np.max(np.abs(share.mean - 1)))
    return Verdict(
        outcome=decided(any(off) or bool(np.any(comparison.missed)), float(np.max(share.seen)), NEEDED),
        sentence=f"After a unit move along it the gradient's squared change falls as d to the {fall} at p = d; along it and "
        f"at random, at {len(cases(size))} sizes, it is within {100 * furthest:.1f}% of the law of the ray.",
        header=("activation", "d", "p", "move", "‖change‖²", "s.e.", "predicted", "in s.e."),
        rows=tuple(
            (
                name,
                d,
                p,
                move,
                *(float(x[i, j, k]) for x in (comparison.mean, comparison.error, expected, comparison.distance)),
            )
            for j, name in enumerate(NAMES)
            for i, (d, p) in enumerate(cases(size))
            for k, move in enumerate(("along", "random"))
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"(d, p) = {', '.join(map(str, cases(size)))}; {networks} networks a seed",
        figure=_figure(size, comparison.mean, comparison.error, expected),
        caption="The squared change of the gradient after a unit move along it and at random; left against d at p = d, where it "
        f"falls as d to the {fall}, right against p/d, where narrow networks change more along the gradient; dots lie on the "
        "lines of the law of the ray.",
        power=share.power("%", 100),
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    sizes, ratios, _, _ = SIZES[size]
    m, order = len(sizes), sorted((r, len(sizes) + i) for i, r in enumerate(ratios))
    order = sorted([*order, (1.0, 1)])  # the second d, p = d
    wide, every = [i for _, i in order], [r for r, _ in order]
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for ax, part, x in ((axes[0], list(range(m)), sizes), (axes[1], wide, every)):
            for j, (name, colour) in enumerate(zip(NAMES, style.COLOURS, strict=False)):
                for k, (move, line) in enumerate((("along the gradient", "-"), ("at random", "--"))):
                    fill = colour if k == 0 else "white"
                    ax.plot(x, expected[part, j, k], line, color=colour, linewidth=1, zorder=1)
                    style.dots(
                        ax, x, mean[part, j, k], error[part, j, k], color=colour, markerfacecolor=fill,
                        label=f"{random_networks.TITLES[name]}, {move}",
                    )  # fmt: skip
            ax.set(xscale="log", yscale="log")
            ax.set_xticks(x, [f"{v:g}" for v in x])
            ax.minorticks_off()
        axes[0].set(xlabel="dimension d, p = d", ylabel="‖change of ∇f‖²")
        axes[1].set(xlabel=f"width p/d, d = {sizes[1]}")
        handles, labels = axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=2)
        return style.svg(fig)


CLAIM = claim("bubeck/linearity", measure=measure, predict=predict, judge=judge)

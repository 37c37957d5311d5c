"""A target of information exponent l is seen by one giant step from n ~ d^l samples on, and not before.

With s = S d^((l-1)/2), g ~ N(0, 1) a neuron's initial overlap times sqrt(d), and x = n / d^l, as d grows

    share along the target = E_g [ A g^(2l-2) / (A g^(2l-2) + V/x + 1/S^2) ],   A = l! (l c_l)^2,   V = E[f*^2] E[sigma'^2]

by the expansion of the gradient in Hermite tensors (Dandi et al. 2024): a function of n / d^l alone. Here f* = h_l(x_1) is the
normalised Hermite polynomial, and E[sigma^(l)] = l! c_l. What is measured does not lean on it: the same expression at the g that
were drawn, less its mean, only takes the luck of the draw out of the averages (a control variate).
"""

from functools import cache
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

from giantstep.claims.dandi.narrow import chain, experiment, steepness
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

    from giantstep.setting import Setting

TARGETS = {1: "x1", 2: "H2(x1)/sqrt(2)", 3: "H3(x1)/sqrt(6)"}
ACTIVATIONS = {1: "relu", 2: "relu", 3: "H3"}  # relu is blind to odd orders from three on
SIZES = {
    "quick": ({1: (2**9, 2**12, 2**15), 2: (2**6, 2**8, 2**9), 3: (2**5, 2**6, 2**7)}, 14, 2**21),
    "full": ({1: (2**10, 2**14, 2**18), 2: (2**7, 2**9, 2**12), 3: (2**5, 2**7, 2**8)}, 24, 2**24),
}  # dimensions, seeds, largest batch
RATIOS = (1 / 16, 1 / 4, 1, 4)  # n / d^l
LEVEL = 0.2  # share of a neuron from which on the scale of n is read off: below, chance counts, of order 1/d
STRENGTH = 10.0  # S: so long a step that the initial weights hardly count, and no longer one helps


class Curve(NamedTuple):
    """Shares of the neurons along the target for one l and d: (batch sizes, seeds), the luck of the draw taken out."""

    order: int
    d: int
    sizes: "np.ndarray"
    shares: "np.ndarray"

    def scale(self, seeds: "np.ndarray") -> float:
        """log of the n_c at which the mean share of these seeds is closest to share = limit(n / n_c); nan if all stay low."""
        import numpy as np

        mean, error = self.shares[:, seeds].mean(1), self.shares.std(1)
        kept = self.shares.mean(1) > LEVEL
        if not np.any(kept):
            return float("nan")
        grid, shift = np.linspace(-8, 6, 561), np.linspace(-2, 2, 401)
        at = np.log(self.sizes[kept]) - self.order * np.log(self.d) - shift[:, None]
        gap = np.interp(at, grid, shape(self.order)) - mean[kept]
        return float(self.order * np.log(self.d) + shift[np.argmin(np.sum((gap / error[kept]) ** 2, axis=1))])


@cache
def shape(order: int) -> "np.ndarray":
    """The limit on a grid of log x."""
    import numpy as np

    return limit(order, np.exp(np.linspace(-8, 6, 561)))


def setting(order: int, d: int, n: int) -> "Setting":
    strength = STRENGTH * d ** ((order - 1) / 2)
    return experiment(TARGETS[order], d, n, 1, p=4, activation=ACTIVATIONS[order], strength=strength)


def measured(size: Size) -> list[Curve]:
    import numpy as np

    sizes, seeds, most = SIZES[size]
    curves = []
    for order, each in sizes.items():
        for d in each:
            batches = [n for n in (round(x * d**order) for x in RATIOS) if 4 <= n <= most]
            shares = np.stack([chain(setting(order, d, n), seeds).captured[:, 0] for n in batches])
            x = np.array(batches) / float(d) ** order
            luck = share_at(order, x, overlaps(order, d, seeds)).mean(2) - limit(order, x, d)[:, None]
            curves.append(Curve(order, d, np.array(batches), shares - luck))
    return curves


def overlaps(order: int, d: int, seeds: int) -> "np.ndarray":
    """g of every neuron of every seed, as drawn: (seeds, p)."""
    import numpy as np

    from giantstep.simulate.projections import initial

    return d**0.5 * np.stack([initial(setting(order, d, d), seed)[:, 0] for seed in range(seeds)])


def share_at(order: int, x: "np.ndarray", g: "np.ndarray") -> "np.ndarray":
    """The share of a neuron that starts at g, n = x d^l: shape of x, then of g."""
    import numpy as np

    sigma = setting(order, 100, 100).network.activation
    noise = steepness(sigma) / np.reshape(x, (-1, *[1] * np.ndim(g))) + STRENGTH**-2
    signal = factorial(order) * (order * sigma.hermite(order)[order]) ** 2 * g ** (2 * order - 2)
    return signal / (signal + noise)


def limit(order: int, x: "np.ndarray", d: float = float("inf")) -> "np.ndarray":
    """Its mean over g: a coordinate of a random point on the sphere of radius sqrt(d), or N(0, 1)."""
    import numpy as np

    rng = np.random.default_rng(0)
    g = rng.standard_normal(50_000)
    if d < np.inf:
        g *= np.sqrt(d / (g**2 + rng.chisquare(d - 1, g.size)))
    return share_at(order, x, g).mean(1)


def exponent(curves: list[Curve]) -> tuple[float, float]:
    """Slope of log n_c against log d, and its standard error over seeds."""
    import numpy as np

    rng, count = np.random.default_rng(0), curves[0].shares.shape[1]
    x = np.log([c.d for c in curves])
    slope = lambda seeds: np.polyfit(x, [c.scale(seeds) for c in curves], 1)[0]  # noqa: E731
    again = [slope(rng.integers(0, count, count)) for _ in range(200)]
    return float(slope(np.arange(count))), float(np.std(again))


def run(size: Size) -> Verdict:
    return judged(size, measured(size))


def judged(size: Size, curves: list[Curve]) -> Verdict:
    """Whether the exponents are l, from what was measured."""
    import numpy as np

    from giantstep.measure import mean_and_error

    sizes, seeds, _ = SIZES[size]
    found = {order: exponent([c for c in curves if c.order == order]) for order in TARGETS}
    wrong = [k for k, (value, error) in found.items() if not abs(value - k) <= 3 * error + 0.05]
    sure = all(error < 0.15 for _, error in found.values())
    rows = []
    for c in curves:
        mean, error = mean_and_error(c.shares)
        predicted = limit(c.order, c.sizes / float(c.d) ** c.order)
        rows += [
            (c.order, c.d, int(n), float(np.log(n) / np.log(c.d)), float(m), float(e), float(t))
            for n, m, e, t in zip(c.sizes, mean, error, predicted, strict=True)
        ]
    largest = [r for r in rows if r[1] == sizes[r[0]][-1] and r[4] > LEVEL]
    gap, gap_se = max(((abs(r[4] - r[6]), r[5]) for r in largest), default=(float("nan"), float("nan")))
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence="The batch at which a neuron turns to the target grows as d to the "
        + ", ".join(f"{value:.2f} ± {error:.2f} (ℓ = {k})" for k, (value, error) in found.items())
        + f". Against n/d^ℓ the curves of all d fall on one: shares above {LEVEL:g} at the largest d are within "
        f"{gap:.3f} ± {gap_se:.3f} of the predicted limit.",
        header=("ℓ", "d", "n", "log n / log d", "share", "s.e.", "limit"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"ℓ = {k}: d = {', '.join(map(str, v))}" for k, v in sizes.items())
        + f"; one step, p = 4, signs, pairs; s = {STRENGTH:g} d^((ℓ−1)/2)",  # noqa: RUF001
        figure=_figure(curves),
        settings=tuple(setting(k, v[-1], v[-1] ** k).id for k, v in sizes.items()),
    )


def _figure(curves: list[Curve]) -> str:
    """Share against log n / log d for every d, over the limit in n / d^l; the curves cross at l."""
    import numpy as np

    from giantstep import canvas
    from giantstep.measure import mean_and_error

    with canvas.figure(len(TARGETS), width=2.9, height=2.9) as (fig, axes):
        for ax, order in zip(axes, TARGETS, strict=True):
            for i, c in enumerate(c for c in curves if c.order == order):
                mean, error = mean_and_error(c.shares)
                fine = np.geomspace(c.sizes[0], c.sizes[-1], 60)
                ax.plot(np.log(fine) / np.log(c.d), limit(order, fine / float(c.d) ** order), color=canvas.COLOURS[i])
                canvas.dots(ax, np.log(c.sizes) / np.log(c.d), mean, error, color=canvas.COLOURS[i], label=f"d = {c.d}")
            ax.axvline(order, color=canvas.INK, linewidth=0.8, linestyle=":")
            ax.set(xlabel="log n / log d", ylim=(0, 1))
            ax.set_title(f"$\\ell = {order}$, {ACTIVATIONS[order]}", loc="left")
            ax.legend(loc="upper left")
        axes[0].set_ylabel("share of a neuron along the target")
        return canvas.svg(fig)


THRESHOLD = Claim(
    name="dandi/threshold",
    statement="One giant step learns a target of information exponent ℓ from n of the order of d^ℓ samples on; with fewer, no "
    "step size helps.",
    paper="dandi",
    where="the theorem on one step, ℓ = 1, 2, 3, here with the exact chain of overlaps",
    run=run,
)

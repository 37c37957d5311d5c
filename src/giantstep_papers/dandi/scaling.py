"""Behind the scenes of one step: how far a neuron moves to the target, and how long it gets.

For y = sum_k mu_k h_l(x_k), a separable target of one order, a neuron w (unit length, second
layer a) and s = eta/p, the gradient gives (Dandi et al. 2024; the constants here)

    <w^1 - w, w*_k> = s a c_l l sqrt(l!) mu_k <w, w*_k>^(l-1),
    |w^1|^2 = 1 + s^2 a^2 (d/n) E[y^2] E[sigma'^2] + |signal|^2

with l! c_l = E[sigma^(l)]: the first falls like d^(-(l-1)/2) over neurons, the second like d/n.
At finite d, with m_k = <w, w*_k>, the overlap has one more term,

    s a m_k (l+2)! c_(l+2) (l!)^(-1/2) sum_j mu_j m_j^l,

and the length outside the target's directions has E[y^2 sigma'(<w, x>)^2 |x_perp|^2] in place of
d E[y^2] E[sigma'^2], in the mean over the overlaps of w.
"""

from itertools import product
from math import factorial

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
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
from giantstep.simulate import evolution
from giantstep_papers.dandi import ranks
from giantstep_papers.dandi.narrow import experiment, steepness

CLAIM = Claim(
    order=4,
    quote="⟨w_i^1, w*_k⟩ ≈ (η a_i/p) · μ*_{k,ℓ} · ⟨w_i^0, w*_k⟩^{ℓ−1} […] ‖w_i^1‖ ≍ 1 + dη²/(np²)",
    place="Stephan's talk, slide “Behind the scenes”",
    kind="asymptotic limit",
    statement="After the step ⟨w_i^1, w*_k⟩ is of the order of (η a_i/p) μ*_{k,ℓ} ⟨w_i^0, "
    "w*_k⟩^(ℓ−1), and ‖w_i^1‖ of the order of 1 + dη²/(np²).",
    where="the slide behind the scenes, at ℓ = 1, 2, 3; the powers of d, because the slide leaves "
    "constants free; squared lengths in place of the lengths that the slide has",
    how="We measure the overlaps gained, by regression on the predicted ones of the same neurons,"
    " and the squared lengths gained. Both are fitted freely by powers of d. The limit is the"
    " trend, which tells the power from the next one. What the prediction lacks is of order 1/d².",
    judges=(
        Judge(
            "power of d at ℓ = 1 and 2",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "power of d at ℓ = 3",
            margin=EXPONENT,
            departure=(0.6, 0.3),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "trend with d at ℓ = 1 and 2",
            margin=0.25,
            departure=0.6,
            because="the next power of d, which is one half away",
        ),
        Judge(
            "trend with d at ℓ = 3",
            margin=0.25,
            departure=0.9,
            because="the next power of d, which is one away",
        ),
    ),
    seeds={"quick": Seeds(24, 120), "full": Seeds(24, 160)},
)

MU = (1.0, -0.5)
ACTIVATIONS = {1: "relu", 2: "relu", 3: "tanh"}  # relu is blind to the third order
SIZES = {
    "quick": {1: (2**7, 2**9, 2**11), 2: (2**5, 2**6, 2**7), 3: (16, 32, 64)},
    "full": {1: (2**10, 2**12, 2**14), 2: (2**7, 2**8, 2**9), 3: (32, 72, 160)},
}
DIMENSIONS = {"quick": (16, 64, 256, 1024), "full": (32, 160, 1000, 6000)}  # that the figure names
WIDTH = 16  # p
RATIOS = {1: 4.0, 2: 4.0, 3: 0.25}  # n / d^l
WHAT = ("overlap gained", "squared length gained")


def target(order: int) -> str:
    size = factorial(order)
    return " + ".join(f"({mu})*H{order}(x{k})/sqrt({size})" for k, mu in enumerate(MU, 1))


def samples(order: int, d: int) -> int:
    return round(RATIOS[order] * d**order)


def setting(order: int, d: int) -> gs.Setting:
    n, activation = samples(order, d), ACTIVATIONS[order]
    return experiment(target(order), d, n, 1, p=WIDTH, activation=activation)


def gained(order: int, d: int, seed: int) -> list[float]:
    """For one seed at s = 1: means over neurons of products with predicted overlaps.

    They are times the measured ones, squared, and times the next term; the length gained follows.
    In pairs of neurons with a and -a the term 2 <w, w^1 - w> of the length cancels.
    """
    path = evolution(setting(order, d), seed, dtype="float32")
    (start, end), a = path.M, path.a[:, None]
    # s a c_l l sqrt(l!) mu_k <w, w*_k>^(l-1) up to the factor c_l l sqrt(l!), which ``predict`` has
    expected = a * np.array(MU) * start ** (order - 1)
    before = np.diagonal(path.Q[0]) - np.sum(start**2, axis=1)
    lengths = np.diagonal(path.Q[1]) - np.sum(end**2, axis=1) - before
    # m_k sum_j mu_j m_j^l, up to a factor too
    further = a * start * np.sum(np.array(MU) * start**order, axis=1, keepdims=True)
    parts = ((end - start) * expected, expected**2, further * expected, lengths)
    return [float(np.mean(part)) for part in parts]


def measure(size: Size, seeds: range) -> Data:
    """``gained`` for every l, (4, sizes, seeds)."""
    cells = [[(order, d) for d in sizes] for order, sizes in SIZES[size].items()]
    found = zip(ACTIVATIONS, cache.over(gained, cells, seeds), strict=True)
    return {f"l = {order}": np.swapaxes(each, 0, 1) for order, each in found}


def square(order: int, d: int) -> float:
    """E[y^2 sigma'(h)^2 |x_perp|^2] over its limit.

    Here h = m_1 x_1 + m_2 x_2 + sqrt(1 - |m|^2) z and m_k ~ N(0, 1/d).
    By quadrature; x_perp has the component z and d - 3 others.
    """
    x, m, z = (np.polynomial.hermite_e.hermegauss(count) for count in (8, 4, 40))
    grid = np.meshgrid(x[0], x[0], m[0] / d**0.5, m[0] / d**0.5, z[0], indexing="ij")
    weight = np.einsum("i,j,k,l,m->ijklm", x[1], x[1], m[1], m[1], z[1])
    sigma, (x1, x2, m1, m2, rest) = setting(order, 100).network.activation, grid
    y = np.asarray(gs.target(target(order))(np.stack([x1.ravel(), x2.ravel()]))).reshape(x1.shape)
    h = m1 * x1 + m2 * x2 + np.sqrt(np.maximum(1 - m1**2 - m2**2, 0.0)) * rest
    squares = y**2 * np.asarray(sigma.slope(h)) ** 2 * (d - 3 + rest**2) / d
    mean = np.average(squares, weights=weight)
    return float(mean / (sum(mu**2 for mu in MU) * steepness(sigma)))


def predict(size: Size) -> Data:
    """For every l the factors, their terms at finite size, and the powers of d.

    The factors are those of an overlap, and of a squared length times d/n.
    """
    sigmas = {order: setting(order, 100).network.activation for order in ACTIVATIONS}
    labels = sum(mu**2 for mu in MU)
    overlaps = [
        sigma.hermite(order)[order] * order * factorial(order) ** 0.5
        for order, sigma in sigmas.items()
    ]
    lengths = [labels * steepness(sigma) for sigma in sigmas.values()]
    return {
        "factors": [list(both) for both in zip(overlaps, lengths, strict=True)],
        "further": [
            sigma.hermite(order + 2)[order + 2] * factorial(order + 2) / factorial(order) ** 0.5
            for order, sigma in sigmas.items()
        ],
        "finite": [[square(order, d) for d in SIZES[size][order]] for order in ACTIVATIONS],
        "powers": [[-(order - 1) / 2, float(1 - order)] for order in ACTIVATIONS],
    }


def values(
    size: Size, measured: Data, predicted: Data
) -> dict[int, Float[np.ndarray, "2 sizes seeds"]]:
    """For every l the overlap and the squared length gained, over the predicted ones.

    The overlap is less its next term. The regression of all neurons and seeds on their predicted
    overlaps is one number; jackknife values give one a seed.
    """
    found = {}
    known = zip(ACTIVATIONS, predicted["factors"], predicted["finite"], strict=True)
    for order, (overlap, length), finite in known:
        both, squares, further, lengths = measured[f"l = {order}"]
        rest = both - predicted["further"][order - 1] * further
        slope = statistics.pseudovalues(_quotient, np.stack([rest, squares]))
        d, correction = np.array(SIZES[size][order])[:, None], np.array(finite)[:, None]
        expected = length * correction * d / (RATIOS[order] * d**order)
        found[order] = np.stack([slope / overlap, lengths / expected])
    return found


def _quotient(parts: np.ndarray) -> np.ndarray:
    return parts[0].mean(-1) / parts[1].mean(-1)


# orders with one judge each: at l = 3 the small d make squared lengths scatter by (2/d)^(1/2)
GROUPS = ((1, 2), (3,))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both powers of d, by free fits."""
    stated, limit, found = [], [], values(size, measured, predicted)
    judge = judging(CLAIM, size)
    for (k, what), some in product(enumerate(WHAT), GROUPS):
        powers = [predicted["powers"][order - 1][k] for order in some]
        rests = [ranks.growth(SIZES[size][order], found[order][k]) for order in some]
        slopes = [power + rest for power, rest in zip(powers, rests, strict=True)]
        at = [f"ℓ = {order}" for order in some]
        orders = " and ".join(map(str, some))
        for name, kept in (("power of d", stated), ("trend with d", limit)):
            own = f"{name} at ℓ = {orders}"
            kept.append(judge(f"{name}, {what}", slopes, powers, by=own, at=at))
    return Evidence(tuple(stated), limit=tuple(limit))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    return Verdict(
        sizes=sizes(size),
        figure=figure(size, measured, predicted),
        caption="With every order ℓ of the target, one step gains overlap (root mean square) and "
        "length at the predicted powers of d.",
        settings=ids(size),
    )


def ids(size: Size) -> tuple[str, ...]:
    return tuple(setting(k, v[-1]).id for k, v in SIZES[size].items())


def sizes(size: Size) -> str:
    return (
        "; ".join(f"ℓ = {k}: d = {', '.join(map(str, v))}" for k, v in SIZES[size].items())
        + f"; n = {RATIOS[1]:g}d^ℓ (ℓ = 3: d³/{1 / RATIOS[3]:g}), one step, p = {WIDTH}, "
        "signs, pairs; s = 1"
    )


def figure(size: Size, measured: Data, predicted: Data) -> str:
    """Overlap and squared length gained against d, dots over the predicted lines."""
    found = values(size, measured, predicted)
    with style.figure(rows=2, width=3.5, height=2.1) as (fig, axes):
        factors = zip(ACTIVATIONS, predicted["factors"], strict=True)
        for i, (order, (overlap, length)) in enumerate(factors):
            d = np.array(SIZES[size][order])
            typical = abs(overlap) * np.sqrt(measured[f"l = {order}"][1].mean(1))
            lines = (typical, length * d / (RATIOS[order] * d**order))
            for ax, line, ratio in zip(axes, lines, found[order], strict=True):
                mean, error = mean_and_error(ratio)
                look = {"color": style.COLOURS[i]}
                ax.plot(d, line, **look, label=None if i else "predicted")
                marks = {**look, "marker": "os^"[i], "label": None if i else "measured"}
                style.dots(ax, d, line * mean, line * error, **marks)
                beside = {"textcoords": "offset points", "va": "center", **look}
                ax.annotate(f"ℓ = {order}", (d[-1], line[-1]), (7, 0), **beside)
        for ax, what in zip(axes, WHAT, strict=True):
            ax.set(yscale="log", ylabel=what)
            ticks.logarithmic(ax, "x", DIMENSIONS[size])
            ax.set_xlim(None, 4 * SIZES[size][1][-1])  # room for the names
            ticks.logarithmic(ax)
        axes[1].set_xlabel("dimension d")
        return style.svg(fig, below=2)

"""After a rank-one step the features are a polynomial in X beta and a remainder.

F = F_l + Delta with |Delta| = o(sqrt(n)).
"""

from typing import Any

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
    Claim,
    ComparedNumbers,
    Data,
    Evidence,
    Judge,
    Judging,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.functions.hermite import gauss_hermite
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import train
from giantstep_papers.moniri import predicted as spectra
from giantstep_papers.moniri import talk
from giantstep_papers.moniri.lengths import remainder_power
from giantstep_papers.moniri.remainder import log_largest
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=9,
    quote="F = σ(XWᵀ) = σ(XW₀ᵀ + c₁ηXβaᵀ) […] F = F_ℓ + Δ, with F_ℓ := F₀ + Σ_{k=1}^ℓ c_1^k c_k η^k"
    " (Xβ)^{∘k} (a^{∘k})ᵀ, where ‖Δ‖_op = o(√n) with probability 1 − o(1).",
    place="Moniri's talk of March 2024, slide “Spectrum of Updated Feature Matrix”",
    kind="asymptotic limit",
    statement="The features F = σ(XW₀ᵀ + c₁ηXβaᵀ) are F = F_ℓ + Δ with ‖Δ‖_op = o(√n).",
    where="the spectral theorem for the features that the slides define just before it, F = σ(XWᵀ) "
    "with W = W₀ + ηc₁aβᵀ",
    how="We take the rank-one update in the middle of the regimes ℓ = 1, 2, 3. At hand the "
    "exponent of n of ‖Δ‖/√(n log n) must be at most alpha − 1/2, that of the noise of first "
    "order. The logarithm comes from the largest rows and columns. The theorem names no rate, "
    "so the limit is judged by whether ‖Δ‖/√n falls at all.",
    judges=(
        Judge(
            "exponent of n of the remainder",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of n of ‖Δ‖/√n",
            side="below",
            margin=0.0,
            departure=(0.2, 0.1),
        ),
    ),
    seeds={"quick": Seeds(16, 36), "full": Seeds(16, 80)},
)

ORDERS = (1, 2, 3)
ALPHAS = (0.125, 0.29, 0.354)  # the middles of the regimes (l - 1)/(2l) < alpha < l/(2l + 2)
# Exponents of n for the noise of first order over sqrt(n): sigma'(h) - c_1 times eta s g_i a_j.
RATES = np.array(ALPHAS) - 0.5
# Times n^alpha: the theorem takes any constant, and with this one terms of higher order in
# eta/sqrt(n) are small.
STEP = 0.3
ACTIVATION = "sin(x+pi/4)"  # c_1, c_2 and c_3 are not zero
AT = [f"ℓ = {order}" for order in ORDERS]
SIZES = {"quick": (75, 150, 300), "full": (200, 400, 800, 1600)}
NODES = 4  # of the average over xi, exact up to degree seven


def experiment(n: int) -> gs.Setting:
    etas = tuple(STEP * float(n**a) for a in ALPHAS)
    return spectra.experiment(n, etas, activation=ACTIVATION, update="gradient")


def powers(g: Float[np.ndarray, " n"], order: int, tau: float) -> Float[np.ndarray, " n"]:
    """E (g + tau xi)^order over xi ~ N(0, 1): g, g^2 + tau^2, g^3 + 3 tau^2 g."""
    xi, weights = gauss_hermite(NODES)
    return (g[:, None] + tau * xi) ** order @ weights


def expansion(
    c: Float[np.ndarray, " k"],
    g: Float[np.ndarray, " n"],
    u: Float[np.ndarray, " p"],
    order: int,
    tau: float = 0.0,
) -> Float[np.ndarray, "n p"]:
    """F_l - F_0 = sum_{k <= l} c_k g^{o k} (u^{o k})^T, u = c_1 eta s a.

    With tau, E (g + tau xi)^k stands in place of g^k.
    """
    k = np.arange(1, order + 1)
    of_samples = np.stack([powers(g, j, tau) for j in range(1, order + 1)], axis=-1)
    of_neurons = c[k, None] * u ** k[:, None]
    return of_samples @ of_neurons


def remainders(n: int, seed: int) -> dict[str, np.ndarray]:
    """What the expansion leaves of the features of a seed, for every order.

    norms: |Delta|/sqrt(n) of the rank-one update, of the gradient, and of the gradient with the
        corrected F_l, (3, orders).
    along: what the gradient adds to the component of Delta along 1 (a^2)^T over the term that
        longer rows predict, and the part of it that is odd in a and so has mean zero, (orders, 2).
    controls: of mean zero, (3), from log max |a|, log max |g|/|beta| and |beta|^2.
    """
    setting, norms, along = experiment(n), [], []
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    sigma = setting.network.activation
    etas = setting.protocol.etas(setting.d, setting.p).ravel()
    c, power = sigma.hermite(max(ORDERS)), remainder_power(setting)
    with one_blas_thread(setting.p):
        layers, beta = train(setting, seed), talk.direction(setting, seed)
        g, a, before = X @ beta, layers.second_layer, X @ layers.initial.T
        start = np.asarray(sigma(before))
        for order, eta, W in zip(ORDERS, etas.tolist(), layers.final, strict=True):
            u = c[1] * eta * setting.network.factor * a
            stated, corrected = (expansion(c, g, u, order, tau) for tau in (0.0, np.sqrt(power)))
            # both odd in a, whose sign is as likely as the other
            shifts = np.outer(g, u), X @ (W - layers.initial).T
            one, full = (np.asarray(sigma(before + shift)) - start for shift in shifts)
            other = [np.mean(np.asarray(sigma(before - shift)), axis=0) for shift in shifts]
            added = np.mean(full - one, axis=0)
            odd = (added - other[1] + other[0]) / 2
            parts = np.stack([added, odd])
            norm = gs.measure.operator_norm
            norms.append([norm(one - stated), norm(full - stated)])
            norms[-1].append(norm(full - corrected) if order > 1 else norms[-1][1])
            along.append(parts @ u**2 / (c[2] * power * np.sum(u**4)))
    largest = np.max(np.abs(a)), np.max(np.abs(g)) / np.linalg.norm(beta)
    counts = len(a), n
    controls = [
        float(np.log(top) - log_largest(count)) for top, count in zip(largest, counts, strict=True)
    ]
    return {
        "norms": np.transpose(norms) / np.sqrt(n),
        "along": np.array(along),
        "controls": np.array([*controls, spectra.controls(setting, seed)[0]]),
    }


def measure(size: Size, seeds: range) -> Data:
    """Norms (sizes, 3, orders, seeds), components and controls of every seed.

    Components, with control variates, are (sizes, orders, seeds), controls (sizes, 3, seeds).
    """
    found = cache.over(remainders, [(n,) for n in SIZES[size]], seeds)
    along = [[controlled(one[:1], one[1:])[0] for one in part] for part in found["along"]]
    return {**found, "along": np.array(along)}


def exponents(size: Size, measured: Data, logs: bool = True) -> Float[np.ndarray, "3 orders seeds"]:
    """Exponents of |Delta|/sqrt(n log n), without ``logs`` those of |Delta|/sqrt(n).

    The largest rows and columns make the norm: their |g_i| or |a_j| is of order sqrt(log n).
    """
    sizes = SIZES[size]
    front = np.sqrt(np.log(sizes))[:, None, None, None] if logs else 1.0
    slopes = statistics.exponent(sizes, measured["norms"] / front)
    return controlled(slopes, statistics.exponent(sizes, np.exp(measured["controls"])))


def decay(judge: Judging, measured: Data, row: int) -> ComparedNumbers:
    """The exponents of a row of the remainders against those of the noise of first order."""
    slopes = exponents(judge.size, measured)[row]
    return judge("exponent of n of the remainder", slopes, RATES, at=AT)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The remainder of the rank-one update falls.

    At the sizes at hand it does so with the exponents of the noise of first order.
    """
    judge, slopes = judging(CLAIM, size), exponents(size, measured, logs=False)[0]
    name = "exponent of n of ‖Δ‖/√n"
    falls = judge(f"{name}, whatever the rate", slopes, by=name, at=AT)
    return Evidence((decay(judge, measured, 0),), limit=(falls,))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, norms = SIZES[size], measured["norms"][:, 0].mean(axis=-1)
    ends = [f"from {first:.2f} to {last:.2f}" for first, last in norms[[0, -1]].T]
    parts = ruling.stated, ruling.limit
    falls = all(part is not None and part.outcome == "holds" for part in parts)
    return Verdict(
        sizes=setup(size),
        sentence="With the rank-one update ‖Δ‖/√n falls with n in the middle of all three "
        "regimes. A factor √log n aside it falls no slower than the noise of first order."
        if falls
        else "",
        figure=draw_decay(size, measured, 0),
        caption="After the rank-one step the remainder of the expansion falls with n as fast as "
        "theory says.",
        settings=tuple(experiment(n).id for n in sizes),
        trend=f"Between n = {sizes[0]} and {sizes[-1]} ‖Δ‖/√n goes {ends[0]} at ℓ = {ORDERS[0]}, "
        f"and {ends[-1]} at ℓ = {ORDERS[-1]}.",
    )


def setup(size: Size) -> str:
    """What is run, in words."""
    sizes, alphas = ", ".join(map(str, SIZES[size])), ", ".join(f"{a:g}" for a in ALPHAS)
    return f"n = {sizes}; {talk.RATIOS}; {ACTIVATION}; η = {STEP:g} n^α, α = {alphas}"


def draw_norms(ax: Any, size: Size, measured: Data, row: int) -> None:
    """A row of the remainders against n.

    Dashed guides have the exponents of the noise of first order.
    """
    sizes = np.array(SIZES[size])
    mean, error = mean_and_error(measured["norms"][:, row])
    for k, order in enumerate(ORDERS):
        guide = sizes ** RATES[k] * np.sqrt(np.log(sizes))
        look = {"color": style.COLOURS[k], "marker": "osD"[k]}
        label = f"ℓ = {order}, α = {ALPHAS[k]:g}"
        style.dots(ax, sizes, mean[:, k], error[:, k], label=label, **look)
        level = np.exp(np.mean(np.log(mean[:, k] / guide)))
        ax.plot(sizes, level * guide, "--", color=style.COLOURS[k], linewidth=0.9)
    guides = r"$\propto n^{\alpha - 1/2} (\log n)^{1/2}$"
    ax.plot([], [], "--", color=style.INK, linewidth=0.9, label=guides)
    ax.set_ylabel("norm of the remainder / √n")
    against_n(ax, sizes)


def against_n(ax: Any, sizes: np.ndarray) -> None:
    ax.set(xscale="log", yscale="log", xlabel="batch size n")
    ticks.logarithmic(ax, "x", sizes)
    ticks.logarithmic(ax)


def draw_decay(size: Size, measured: Data, row: int) -> str:
    with style.figure(width=4.6, height=3.2) as (fig, ax):
        draw_norms(ax, size, measured, row)
        return style.svg(fig, below=2)

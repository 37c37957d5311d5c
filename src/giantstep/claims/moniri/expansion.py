"""After a step the features are a polynomial in X beta and a remainder of smaller norm: F = F_l + Delta, |Delta| = o(sqrt(n))."""

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import ComparedNumbers, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.checks.cache import one_blas_thread
from giantstep.claims.controls import controlled
from giantstep.claims.moniri import talk
from giantstep.claims.moniri.errors.lengths import remainder_power
from giantstep.claims.moniri.gradient.remainder import log_largest
from giantstep.claims.moniri.spectrum import predicted as spectra
from giantstep.experiment import draw
from giantstep.functions.hermite import gauss_hermite
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import train

ORDERS = (1, 2, 3)
ALPHAS = (0.125, 0.29, 0.354)  # the middles of the regimes (l - 1)/(2l) < alpha < l/(2l + 2)
STEP = 0.3  # times n^alpha: the theorem takes any constant, and with this one terms of higher order in eta/sqrt(n) are small
ACTIVATION = "sin(x+pi/4)"  # c_1, c_2 and c_3 are not zero
UPDATES = ("rank-one update", "true gradient")
SIZES = {"quick": (75, 150, 300), "full": (200, 400, 800, 1600)}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(16, 36), "full": Seeds(16, 80)}
EXPONENT = {"quick": Tolerance(0.05, 0.2), "full": Tolerance(0.04, 0.1)}
TERM = {"quick": Tolerance(0.15, 0.4), "full": Tolerance(0.08, 0.2)}  # of the term that lengthened rows add
NODES = 4  # of the average over xi, exact up to degree seven


def experiment(n: int) -> gs.Setting:
    return spectra.experiment(n, tuple(STEP * float(n**a) for a in ALPHAS), activation=ACTIVATION, update="gradient")


def powers(g: Float[np.ndarray, " n"], order: int, tau: float) -> Float[np.ndarray, " n"]:
    """E (g + tau xi)^order over xi ~ N(0, 1): g, g^2 + tau^2, g^3 + 3 tau^2 g."""
    xi, weights = gauss_hermite(NODES)
    return (g[:, None] + tau * xi) ** order @ weights


def expansion(
    c: Float[np.ndarray, " k"], g: Float[np.ndarray, " n"], u: Float[np.ndarray, " p"], order: int, tau: float = 0.0
) -> Float[np.ndarray, "n p"]:
    """F_l - F_0 = sum_{k <= l} c_k g^{o k} (u^{o k})^T, u = c_1 eta s a; with tau, E (g + tau xi)^k in place of g^k."""
    k = np.arange(1, order + 1)
    return np.stack([powers(g, j, tau) for j in range(1, order + 1)], axis=-1) @ (c[k, None] * u ** k[:, None])


def remainders(n: int, seed: int) -> dict[str, np.ndarray]:
    """Of every order: ``norms``, |Delta|/sqrt(n) of the rank-one update, of the gradient, and of the gradient with the corrected
    F_l, (3, orders); ``along``, what the gradient adds to the component of Delta along 1 (a^2)^T over the term that longer rows
    predict, and the part of it that is odd in a and so has mean zero, (orders, 2); and ``controls`` of mean zero, (3), from
    log max |a|, log max |g|/|beta| and |beta|^2.
    """
    setting, norms, along = experiment(n), [], []
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    sigma, etas = setting.network.activation, setting.protocol.etas(setting.d, setting.p).ravel()
    c, power = sigma.hermite(max(ORDERS)), remainder_power(setting)
    with one_blas_thread(setting.p):
        layers, beta = train(setting, seed), talk.direction(setting, seed)
        g, a, before = X @ beta, layers.second_layer, X @ layers.initial.T
        start = np.asarray(sigma(before))
        for order, eta, W in zip(ORDERS, etas.tolist(), layers.final, strict=True):
            u = c[1] * eta * setting.network.factor * a
            stated, corrected = (expansion(c, g, u, order, tau) for tau in (0.0, np.sqrt(power)))
            shifts = np.outer(g, u), X @ (W - layers.initial).T  # both odd in a, whose sign is as likely as the other
            one, full = (np.asarray(sigma(before + shift)) - start for shift in shifts)
            other = [np.mean(np.asarray(sigma(before - shift)), axis=0) for shift in shifts]
            added = np.mean(full - one, axis=0)
            parts = np.stack([added, (added - other[1] + other[0]) / 2])
            norms.append([gs.measure.operator_norm(each) for each in (one - stated, full - stated)])
            norms[-1].append(gs.measure.operator_norm(full - corrected) if order > 1 else norms[-1][1])
            along.append(parts @ u**2 / (c[2] * power * np.sum(u**4)))
    largest = np.max(np.abs(a)), np.max(np.abs(g)) / np.linalg.norm(beta)
    controls = [float(np.log(top) - log_largest(count)) for top, count in zip(largest, (len(a), n), strict=True)]
    return {
        "norms": np.transpose(norms) / np.sqrt(n),
        "along": np.array(along),
        "controls": np.array([*controls, spectra.controls(setting, seed)[0]]),
    }


def measure(size: Size, seeds: range) -> Data:
    """Norms (sizes, 3, orders, seeds), components with control variates (sizes, orders, seeds), controls (sizes, 3, seeds)."""
    found = cache.over(remainders, [(n,) for n in SIZES[size]], seeds)
    return {**found, "along": np.array([[controlled(one[:1], one[1:])[0] for one in part] for part in found["along"]])}


def predict(size: Size) -> Data:
    """The exponents of n of |Delta|/sqrt(n log n), those of the first-order noise sigma'(h) - c_1 times eta s g_i a_j."""
    return {"exponents": np.array(ALPHAS) - 0.5}


def exponents(size: Size, measured: Data) -> Float[np.ndarray, "3 orders seeds"]:
    """Exponents of |Delta|/sqrt(n log n): the largest rows and columns, |g_i| or |a_j| of order sqrt(log n), make the norm."""
    sizes = SIZES[size]
    slopes = statistics.exponent(sizes, measured["norms"] / np.sqrt(np.log(sizes))[:, None, None, None])
    return controlled(slopes, statistics.exponent(sizes, np.exp(measured["controls"])))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The remainder decays; beyond alpha = 1/4 it has no part along 1 (a^2)^T as stated, and that of longer rows as corrected."""
    slopes, added = exponents(size, measured), measured["along"][-1, 1:]
    at, later = [f"{u}, ℓ = {k}" for u in UPDATES for k in ORDERS], [f"ℓ = {k}" for k in ORDERS[1:]]

    def decay(rows: list[int]) -> ComparedNumbers:
        return statistics.compare(
            "exponent of n of the remainder", slopes[rows], np.tile(predicted["exponents"], (2, 1)), at=at, side="below",
            within=EXPONENT[size],
        )  # fmt: skip

    name = "remainder of the gradient along 1(a²)ᵀ over that of longer rows"
    return Evidence(
        (decay([0, 1]), statistics.compare(name, added, 0.0, at=later, within=TERM[size])),
        (decay([0, 2]), statistics.compare(f"{name}, corrected", added - 1, 0.0, at=later, within=TERM[size])),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    norms, slopes = measured["norms"].mean(axis=-1), exponents(size, measured).mean(axis=-1)
    words = [", ".join(f"{x:.2f}" for x in row) for row in (slopes[0], slopes[2], predicted["exponents"])]
    ends = [f"{norms[0, r, -1]:.3f} to {norms[-1, r, -1]:.3f}" for r in (0, 2)]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; {ACTIVATION}; η = {STEP:g} n^α, α = "
        f"{', '.join(f'{a:g}' for a in ALPHAS)}",
        figure=_figure(size, measured),
        caption="‖F − F_ℓ‖/√n against n, both logarithmic, for the rank-one update (left) and the gradient with the corrected "
        f"F_ℓ (middle): the exponents for ℓ = 1, 2, 3, a factor √log n aside, are {words[0]} and {words[1]}, where theory has "
        f"{words[2]}, dashed. Right: what longer rows add along 1(a²)ᵀ grows with n beyond α = 1/4, on the predicted lines.",
        settings=tuple(experiment(n).id for n in sizes),
        trend=f"At ℓ = 3 the remainder over √n goes from {ends[0]} for the rank-one update and from {ends[1]} for the gradient "
        f"with the corrected F_ℓ, between n = {sizes[0]} and {sizes[-1]}. The part along 1(a²)ᵀ has the exponent 2α − 1/2, which "
        f"is {', '.join(f'{2 * a - 0.5:+.2f}' for a in ALPHAS[1:])} for ℓ = 2, 3.",
    )


def unit(n: int) -> Float[np.ndarray, " orders"]:
    """The expected norm of c_2 tau^2 1 (u^2)^T over sqrt(n), sqrt(3 p) (c_1 eta s)^2 |c_2| tau^2, of every order."""
    setting = experiment(n)
    c, etas = setting.network.activation.hermite(2), setting.protocol.etas(setting.d, setting.p).ravel()
    return np.sqrt(3 * setting.p) * (c[1] * etas * setting.network.factor) ** 2 * abs(c[2]) * remainder_power(setting)


def _figure(size: Size, measured: Data) -> str:
    sizes = np.array(SIZES[size])
    mean, error = mean_and_error(measured["norms"])
    term, doubt = mean_and_error(measured["along"])
    scale = np.array([unit(int(n)) for n in sizes])
    with style.figure(3, width=2.7, height=2.9) as (fig, axes):
        for k, order in enumerate(ORDERS):
            look = {"color": style.COLOURS[k], "marker": "osD"[k]}
            guide = sizes ** (ALPHAS[k] - 0.5) * np.sqrt(np.log(sizes))
            for ax, row in zip(axes[:2], (0, 2), strict=True):
                style.dots(
                    ax, sizes, mean[:, row, k], error[:, row, k], label=f"ℓ = {order}, α = {ALPHAS[k]:g}", **look
                )
                level = np.exp(np.mean(np.log(mean[:, row, k] / guide)))
                ax.plot(sizes, level * guide, "--", color=style.COLOURS[k], linewidth=0.9)
            if k:
                axes[2].plot(sizes, scale[:, k], color=style.COLOURS[k])
                style.dots(axes[2], sizes, term[:, k] * scale[:, k], doubt[:, k] * scale[:, k], **look)
        titles = ("rank-one update", "gradient, corrected $F_\\ell$", r"part along $1(a^2)^\top$")
        for ax, title in zip(axes, titles, strict=True):
            ax.set(xscale="log", yscale="log", xlabel="batch size n", title=title)
            ticks.logarithmic(ax, "x", sizes)
            ticks.logarithmic(ax)
        axes[0].set_ylabel("norm of the remainder / √n")
        axes[0].plot([], [], "--", color=style.INK, linewidth=0.9, label=r"$\propto n^{\alpha - 1/2} (\log n)^{1/2}$")
        axes[0].plot([], [], color=style.INK, label="predicted")
        return style.svg(fig, below=5)

"""The same expansion of the features after the true gradient, which lengthens the rows: a term of degree two is missing."""

import numpy as np
from jaxtyping import Float

from giantstep.checks import Data, Evidence, Ruling, Size, Tolerance, Verdict, statistics
from giantstep.claims.moniri import expansion
from giantstep.claims.moniri.errors.lengths import remainder_power
from giantstep.measure import mean_and_error
from giantstep.plot import style

SEEDS, measure = expansion.SEEDS, expansion.measure
TERM = {"quick": Tolerance(0.15, 0.4), "full": Tolerance(0.08, 0.2)}  # of the term that longer rows add
FAR = (10**6, 10**9, 10**12)  # followed by theory
GROWS = Tolerance(statistics.LIMIT_MARGIN, 0.05)  # of its exponent
LATER = expansion.ORDERS[1:]  # where the term is not o(sqrt(n))


def unit(n: int) -> Float[np.ndarray, " orders"]:
    """The expected norm of c_2 tau^2 1 (u^2)^T over sqrt(n), sqrt(3 p) (c_1 eta s)^2 |c_2| tau^2, of every order."""
    setting = expansion.experiment(n)
    c, etas = setting.network.activation.hermite(2), setting.protocol.etas(setting.d, setting.p).ravel()
    return np.sqrt(3 * setting.p) * (c[1] * etas * setting.network.factor) ** 2 * abs(c[2]) * remainder_power(setting)


def predict(size: Size) -> Data:
    """The norm of the term over sqrt(n), which ||Delta||/sqrt(n) is not below: here and far away, (sizes, orders)."""
    here, far = (np.array([unit(n) for n in sizes]) for sizes in (expansion.SIZES[size], FAR))
    return {"unit": here, "far": far}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated the remainder has no part along 1 (a^2)^T that stays over sqrt(n); as corrected it has that of longer rows."""
    sizes, added = expansion.SIZES[size], measured["along"][:, 1:]
    name, at = "part of the remainder along 1(a²)ᵀ over that of longer rows", [f"ℓ = {k}" for k in LATER]
    every = [f"ℓ = {k}, n = {n}" for n in sizes for k in LATER]
    grows = statistics.compare(
        "exponent of n of that part over √n, in theory", statistics.exponent(FAR, predicted["far"])[1:], at=at,
        side="below", noisy=False, within=GROWS,
    )  # fmt: skip
    return Evidence(
        (statistics.compare(name, added[-1], at=at, within=TERM[size]),),
        (
            expansion.decay(size, measured, 2),
            statistics.compare(f"{name}, corrected", added[-1] - 1, at=at, within=TERM[size]),
        ),
        (statistics.compare(f"{name}, at every n", added, at=every, within=TERM[size]), grows),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, last = expansion.SIZES[size], expansion.SIZES[size][-1]
    along, norms = (measured[name].mean(axis=-1) for name in ("along", "norms"))
    share = along[-1, 1:] * predicted["unit"][-1, 1:] / norms[-1, 1, 1:]
    found, theory = (
        ", ".join(f"{x:.2f}" for x in row)
        for row in (expansion.exponents(size, measured)[2].mean(axis=-1), expansion.RATES)
    )
    rates = " and ".join(f"{2 * expansion.ALPHAS[k - 1] - 0.5:+.2f}" for k in LATER)
    falls = f"{norms[0, 1, -1]:.2f} to {norms[-1, 1, -1]:.2f}"
    return Verdict(
        sizes=expansion.setup(size),
        sentence=f"After the true gradient Δ has a part along 1(a²)ᵀ that longer rows add. At n = {last} it is "
        f"{along[-1, 1]:.2f} (ℓ = 2) and {along[-1, 2]:.2f} (ℓ = 3) of what is derived for it, and over √n it grows with the "
        f"exponents {rates}. At hand it is {share[0]:.0%} and {share[1]:.0%} of ‖Δ‖, and ‖Δ‖/√n still falls, from {falls} at "
        "ℓ = 3. With the corrected F_ℓ this part is gone.",
        figure=_figure(size, measured, predicted),
        caption="Left, ‖F − F_ℓ‖/√n against n for the gradient with the corrected F_ℓ, both logarithmic: the exponents for "
        f"ℓ = 1, 2, 3, a factor √log n aside, are {found}, where theory has {theory}, dashed. Right, what longer rows add along "
        "1(a²)ᵀ grows with n beyond α = 1/4, on the predicted lines.",
        settings=tuple(expansion.experiment(n).id for n in sizes),
        trend=f"At ℓ = 3 ‖Δ‖/√n goes from {falls} between n = {sizes[0]} and {last}. The part along 1(a²)ᵀ, over √n, is "
        f"{predicted['unit'][-1, 2]:.2f} at n = {last} and {predicted['far'][-1, 2]:.1f} at n = 10¹² in theory.",
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    sizes = np.array(expansion.SIZES[size])
    term, doubt = mean_and_error(measured["along"])
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        expansion.draw_norms(axes[0], size, measured, 2)
        for k in range(1, len(expansion.ORDERS)):
            scale, look = predicted["unit"][:, k], {"color": style.COLOURS[k], "marker": "osD"[k]}
            axes[1].plot(sizes, scale, color=style.COLOURS[k])
            style.dots(axes[1], sizes, term[:, k] * scale, doubt[:, k] * scale, **look)
        expansion.against_n(axes[1], sizes)
        axes[1].set_ylabel(r"part along $1(a^2)^\top$ / √n")
        axes[0].plot([], [], color=style.INK, label="predicted (right)")
        return style.svg(fig, below=3)

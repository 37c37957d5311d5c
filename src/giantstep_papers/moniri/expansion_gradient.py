"""The same expansion after the true gradient, which lengthens the rows.

The remainder has a part of degree two.
"""

import numpy as np
from jaxtyping import Float

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
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import rounded
from giantstep_papers.moniri import expansion
from giantstep_papers.moniri.lengths import remainder_power

CLAIM = Claim(
    order=10,
    of="giantstep",
    statement="After the true gradient F − F_ℓ has a further part, which is not o(√n) for ℓ ≥ 2. "
    "The gradient lengthens the rows, so the powers (Xβ)^k become the averages E(Xβ + τξ)^k, ξ ~ "
    "N(0, 1), τ² = (d/n) E y² Var σ′/c₁²: the second spike is along (Xβ)² + τ².",
    where="the expansion of moniri/expansion for the features after the true gradient, in place of "
    "its rank-one part; no slide states it",
    how="We measure the part of Δ along 1(a²)ᵀ in units of c₂τ²(c₁η/√N)²‖a²‖√n, in the middle of "
    "ℓ = 2 and 3. It must be 1 at the largest n, and over √n it must grow in theory at large "
    "n. With the averages in F_ℓ the remainder must fall as in moniri/expansion.",
    judges=(
        Judge(
            "part of the remainder along 1(a²)ᵀ over that of longer rows",
            percent=True,
            margin=(0.15, 0.08),
            departure=(0.4, 0.2),
            because="terms of higher order",
        ),
        Judge(
            "exponent of n of that part over √n in theory",
            side="above",
            margin=LIMIT,
            departure=0.05,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of n of the remainder",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(16, 36), "full": Seeds(16, 80)},
)

measure = expansion.measure
FAR = (10**6, 10**9, 10**12)  # followed by theory
LATER = expansion.ORDERS[1:]  # where the term is not o(sqrt(n))


def unit(n: int) -> Float[np.ndarray, " orders"]:
    """The expected norm of c_2 tau^2 1 (u^2)^T over sqrt(n), of every order.

    It is sqrt(3 p) (c_1 eta s)^2 |c_2| tau^2.
    """
    setting = expansion.experiment(n)
    c = setting.network.activation.hermite(2)
    etas = setting.protocol.etas(setting.d, setting.p).ravel()
    squared = (c[1] * etas * setting.network.factor) ** 2
    return np.sqrt(3 * setting.p) * squared * abs(c[2]) * remainder_power(setting)


def predict(size: Size) -> Data:
    """The norm of the term over sqrt(n), here and far away, (sizes, orders).

    ||Delta||/sqrt(n) is not below it.
    """
    here, far = (np.array([unit(n) for n in sizes]) for sizes in (expansion.SIZES[size], FAR))
    return {"unit": here, "far": far}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The remainder has the part along 1 (a^2)^T that longer rows add, which grows over sqrt(n).

    Without that part it falls.
    """
    judge, at = judging(CLAIM, size), [f"ℓ = {k}" for k in LATER]
    name = "part of the remainder along 1(a²)ᵀ over that of longer rows"
    grows, theory = "exponent of n of that part over √n", statistics.exponent(FAR, predicted["far"])
    return statistics.stated(
        judge(name, measured["along"][-1, 1:], 1.0, at=at),
        judge(f"{grows}, in theory", theory[1:], by=f"{grows} in theory", at=at, noisy=False),
        expansion.decay(judge, measured, 2),
    )


def leads(size: Size, measured: Data, order: int) -> float:
    """The n from which the part that grows is larger than the noise.

    The noise falls as n^(alpha - 1/2) (log n)^(1/2).
    """
    last, level = expansion.SIZES[size][-1], measured["norms"][-1, 2, order - 1].mean()
    n, rate = np.geomspace(last, FAR[-1], 400), expansion.RATES[order - 1]
    noise = level * (n / last) ** rate * np.sqrt(np.log(n) / np.log(last))
    part = np.array([unit(round(each))[order - 1] for each in n])
    return float(n[np.argmax(part > noise)])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = expansion.SIZES[size]
    along, norms = (measured[name].mean(axis=-1) for name in ("along", "norms"))
    share = along[-1, -1] * predicted["unit"][-1, -1] / norms[-1, 1, -1]
    falls = f"{norms[0, 1, -1]:.2f} to {norms[-1, 1, -1]:.2f}"
    leading = {order: rounded(leads(size, measured, order)) for order in LATER}
    return Verdict(
        sizes=expansion.setup(size),
        sentence="After the true gradient Δ has a further part, along 1(a²)ᵀ. At ℓ = 3 it is "
        f"{along[-1, -1]:.2f} of what longer rows add by our theory, and {share:.0%} of ‖Δ‖. With "
        "the averages in F_ℓ the rest falls no slower than the noise of first order."
        if ruling.stated.outcome == "holds"
        else "",
        figure=_figure(size, measured, predicted),
        caption="With the averages in F_ℓ the remainder falls as theory says (left), and the part "
        "that they take away grows as predicted (right).",
        settings=tuple(expansion.experiment(n).id for n in sizes),
        trend=f"At ℓ = 3 ‖Δ‖/√n goes from {falls} between n = {sizes[0]} and {sizes[-1]}. By our "
        f"theory the part along 1(a²)ᵀ leads at ℓ = 2 from n = {leading[2]} on, and at ℓ = 3 from "
        f"n = {leading[3]}.",
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    sizes = np.array(expansion.SIZES[size])
    term, doubt = mean_and_error(measured["along"])
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        expansion.draw_norms(axes[0], size, measured, 2)
        for k in range(1, len(expansion.ORDERS)):
            scale = predicted["unit"][:, k]
            look = {"color": style.COLOURS[k], "marker": "osD"[k]}
            axes[1].plot(sizes, scale, color=style.COLOURS[k])
            style.dots(axes[1], sizes, term[:, k] * scale, doubt[:, k] * scale, **look)
        expansion.against_n(axes[1], sizes)
        axes[1].set_ylabel(r"part along $1(a^2)^\top$ / √n")
        axes[0].plot([], [], color=style.INK, label="predicted (right)")
        return style.svg(fig, below=3)

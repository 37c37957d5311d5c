"""With a step of the l-th regime the updated features have l new spikes, up to l = 3.

The k-th lies along (X beta)^k.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

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
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.measure import margin, mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import rounded
from giantstep_papers.dandi import column
from giantstep_papers.moniri import predicted as spectra
from giantstep_papers.moniri import talk
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=5,
    quote="Let η ≍ n^α with (ℓ−1)/(2ℓ) < α < ℓ/(2ℓ+2) for some ℓ ∈ ℕ. We have F = F_ℓ + Δ, with F_ℓ"
    " := F₀ + Σ_{k=1}^ℓ c_1^k c_k η^k (Xβ)^{∘k} (a^{∘k})ᵀ",
    place="Moniri's talk of March 2024, slide “Spectrum of Updated Feature Matrix”",
    kind="asymptotic limit",
    statement="For η ≍ n^α with (ℓ−1)/(2ℓ) < α < ℓ/(2ℓ+2) the features after the step are F₀ plus "
    "ℓ components, c_1^k c_k η^k (Xβ)^{∘k} (a^{∘k})ᵀ for k from 1 to ℓ, and a remainder.",
    where="the theorem on the updated features in the middle of the regimes ℓ = 1, 2, 3",
    how="We look at the largest singular values in the middle of the regime ℓ = 3 after the "
    "rank-one update, and at full size also at ℓ = 1, 2 and after the true gradient. Spike ℓ "
    "must be above the predicted edge by the gap that makes an outlier, and the next singular "
    "value must be the edge. The positions of all spikes, and their cos² with their power of "
    "Xβ made orthogonal to the lower ones, must be those of the finite-size theory. At quick "
    "size a cos² below 0.75 is left out. Moments of the second layer and |Xᵀy/n|² are regressed "
    "out.",
    judges=(
        Judge(
            "spike ℓ over the edge",
            side="above",
            percent=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="fluctuations of the edge by p^(−2/3)",
        ),
        Judge(
            "singular value ℓ + 1 over the edge",
            percent=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="fluctuations of the edge by p^(−2/3)",
        ),
        Judge(
            "position",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="fluctuations of the strength of a spike",
        ),
        Judge(
            "cos²",
            margin=(0.04, 0.025),
            departure=(0.1, 0.05),
            because="fluctuations of the strength of a spike, in which a cos² near its threshold "
            "is concave",
        ),
    ),
    seeds={"quick": Seeds(20, 60), "full": Seeds(40, 600)},
)

REGIMES = {
    1: 0.125,
    2: 0.29,
    3: 0.354,
}  # l and alpha, the middle of (l - 1)/(2l) < alpha < l/(2l + 2)
ORDERS = {"quick": (3,), "full": (1, 2, 3)}
# Times n^alpha: with it three spikes, and no fourth, are predicted from n = 600 on (rank one) and
# from 1200 on (gradient).
STEP = 2.0
ACTIVATION = "sin(x+0.5)"  # c_1, c_2 and c_3 are not zero, and the second and third spike lie apart
ALL = {"rank1": "rank-one update", "gradient": "true gradient"}
UPDATES = {"quick": ("rank1",), "full": tuple(ALL)}
SIZES = {"quick": 800, "full": 2000}
FAR = (1e4, 1e8)  # followed by theory
# cos^2 from which it is compared: that of the third spike takes 80 seeds at quick size
SOLID = {"quick": 0.75, "full": 0.0}
POSITION, AFTER = "position", "singular value ℓ + 1 over the edge"
POWERS, NEXT = ("$g$", "$g^2$", "$g^3$"), "next, the edge"
TOP = 4  # singular values looked at: three spikes and the edge


def experiment(n: int, update: str, orders: tuple[int, ...]) -> Setting:
    etas = tuple(STEP * float(n ** REGIMES[order]) for order in orders)
    return spectra.experiment(n, etas, activation=ACTIVATION, update=update)


def leading(n: int, update: str, orders: tuple[int, ...], seed: int) -> dict[str, Any]:
    """Position and cos^2 of the largest singular values, (orders, TOP, 2), and controls.

    The controls have mean zero. The third spike grows with the sixth moment of the second layer,
    E a^6 = 15.
    """
    setting = experiment(n, update, orders)
    a = draw.weights(setting, seed)[1]
    sixth = float(np.mean(a**6) - 15)
    return {
        "leading": spectra.leading(setting, seed, TOP),
        "controls": [*spectra.controls(setting, seed), sixth],
    }


def measure(size: Size, seeds: range) -> Data:
    """Position and cos^2 with control variates, (updates, orders, TOP, 2, seeds)."""
    cases = [(SIZES[size], update, ORDERS[size]) for update in UPDATES[size]]
    runs = [cache.over(leading, case, seeds) for case in cases]
    return {"leading": np.array([controlled(run["leading"], run["controls"]) for run in runs])}


def predict(size: Size) -> Data:
    """What the laws say of the spikes.

    places: position and cos^2 of the outliers that show, (updates, orders, TOP, 2).
    edges: of the bulk, (updates, orders).
    far: the cos^2 of the third spike at larger sizes, (updates, sizes).
    """
    n, updates, orders = SIZES[size], UPDATES[size], ORDERS[size]
    every = [spectra.laws(experiment(n, update, orders)) for update in updates]
    far = [[spectra.laws(experiment(int(n), update, (3,))) for n in FAR] for update in updates]
    return {
        "places": np.array([spectra.visible(laws, TOP) for laws in every]),
        "edges": np.array([[law.edge for law in laws] for laws in every]),
        "far": np.array([[spectra.visible(law, TOP)[0, 2, 1] for law in laws] for laws in far]),
    }


def over_the_edge(
    size: Size, measured: Data, predicted: Data
) -> Float[np.ndarray, "updates orders 2 seeds"]:
    """Singular values number l and l + 1 over the predicted edge of the bulk."""
    orders, values = ORDERS[size], measured["leading"][:, :, :, 0]
    each = [values[:, i, [order - 1, order]] for i, order in enumerate(orders)]
    pairs = np.stack(each, axis=1)
    return pairs / predicted["edges"][..., None, None]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Spike l stands clear of the edge, and the next singular value is the edge.

    Every spike is where theory has it.
    """
    judge, updates, orders = judging(CLAIM, size), UPDATES[size], ORDERS[size]
    seeds = measured["leading"].shape[-1]
    over = over_the_edge(size, measured, predicted).reshape(-1, 2, seeds)
    at = [f"ℓ = {order}, {ALL[update]}" for update in updates for order in orders]
    there = _there(size, predicted)
    which = np.argwhere(there)
    names = [f"spike {k + 1}, ℓ = {orders[i]}, {ALL[updates[u]]}" for u, i, k in which]
    found, expected = measured["leading"][there], predicted["places"][there]
    width, solid = 4 * SIZES[size] // 5, expected[:, 1] >= SOLID[size]
    clear = 1 + margin(width)
    along = [name for name, far in zip(names, solid, strict=True) if far]
    return statistics.stated(
        judge("spike ℓ over the edge", over[:, 0], clear, at=at),
        judge(AFTER, over[:, 1], 1.0, at=at),
        judge(POSITION, found[:, 0], expected[:, 0], at=names),
        judge("cos²", found[solid, 1], expected[solid, 1], at=along),
    )


def _there(size: Size, predicted: Data) -> np.ndarray:
    """Which of the first l singular values are predicted to be spikes, (updates, orders, TOP)."""
    shown, orders = np.isfinite(predicted["places"][..., 0]), np.array(ORDERS[size])
    return shown & (np.arange(TOP) < orders[:, None])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, updates, orders = SIZES[size], UPDATES[size], ORDERS[size]
    mean, error = mean_and_error(measured["leading"][:, -1, 2])
    over = over_the_edge(size, measured, predicted)[:, -1].mean(axis=-1)
    words = " ".join(
        f"With the {ALL[update]} the third singular value is {over[u, 0]:.2f} times the edge, and "
        f"its cos² with (Xβ)³ is {mean[u, 1]:.3f} ± {error[u, 1]:.3f}."
        for u, update in enumerate(updates)
    )
    far = " ".join(
        f"With the {ALL[update]} theory takes the cos² of the third spike with (Xβ)³ from "
        f"{first:.2f} to {last:.2f} between n = {rounded(FAR[0])} and {rounded(FAR[-1])}."
        for update, (first, *_, last) in zip(updates, predicted["far"], strict=True)
    )
    alphas = ", ".join(f"{REGIMES[order]:g}" for order in orders)
    return Verdict(
        sentence=f"{words} {ruling.stated.sentence}",
        sizes=f"n = {n}; {talk.RATIOS}; {ACTIVATION}; η = {STEP:g} n^α, α = {alphas}",
        figure=_figure(size, measured, predicted, ruling),
        caption="A step of regime ℓ gives ℓ spikes, one along each power of g = Xβ, and the next "
        "singular value is the edge of the bulk.",
        trend=far,
        settings=tuple(experiment(n, update, orders).id for update in updates),
    )


def _figure(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> str:
    """The spikes of every regime and the singular value after them, beside the bulk, the shade."""
    updates, orders, values = UPDATES[size], ORDERS[size], measured["leading"][:, :, :, 0]
    positions, after = map(ruling.stated.of, (POSITION, AFTER))
    spikes, theory = _there(size, predicted), predicted["places"][..., 0].copy()
    halves = np.full(spikes.shape, np.nan)
    halves[spikes] = positions.half * theory[spikes]
    blocks, bulks = {}, []
    for j, (u, i) in enumerate(np.ndindex(len(updates), len(orders))):
        order, edge = orders[i], predicted["edges"][u, i]
        theory[u, i, order], halves[u, i, order] = edge, after.half[j] * edge
        names, means = (*POWERS[:order], NEXT), values[u, i].mean(axis=-1)
        numbers = zip(names, means, halves[u, i], theory[u, i], strict=False)
        blocks[f"{ALL[updates[u]]}, ℓ = {order}"] = [column.ColumnRow(*row) for row in numbers]
        bulks += [edge] * (order + 1)
    with column.figure(blocks, [f"mean of {values.shape[-1]} seeds"]) as (fig, ax, heights):
        shade = {"color": style.INK, "alpha": 0.12, "linewidth": 0, "zorder": 0}
        ax.barh(heights, bulks, 1.0, label="bulk", **shade)
        ax.set(xlabel="singular values of F/√n", xlim=(0, None))
        return style.svg(fig, below=3, columnspacing=1, handlelength=1.5)

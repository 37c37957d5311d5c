"""A target of information exponent l is seen by one giant step from n ~ d^l samples on.

No step size sees it before.
"""

from typing import Any

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
from giantstep.plot import style
from giantstep_papers.dandi.share import ACTIVATIONS, RANKS, STRENGTHS, WIDTH, limit, setting
from giantstep_papers.shared.far import vouched

CLAIM = Claim(
    order=1,
    quote="Main takeaway: phase transition at n = Θ(d^ℓ) […] Assume that n = O(d^{ℓ−ε}) for "
    "sufficiently small ε. Then, whatever the choice of η, the first layer never learns: for "
    "all i ∈ [p], ‖P_{V*} w_i‖ = o(‖w_i‖)",
    place="Stephan's talk, slide “Results: one gradient step”",
    kind="theorem",
    statement="If n = O(d^(ℓ−ε)), the first layer never learns, whatever the step size: its share "
    "along V* is o(1). The transition is at n = Θ(d^ℓ).",
    where="the theorem on one step, first case, at ℓ = 1, 2, 3, with the exact chain of overlaps "
    "at seven step sizes",
    how="We find the batch n_c at which the share of a neuron, at the best step size, reaches "
    "three tenths, and fit it freely by a power of d. The exponent must be ℓ. Quick size cannot "
    "pay for ℓ = 3. At n = d^(ℓ−1/2) the share at the largest d must be small. The limit is that "
    "share by theory at d = 10¹², if the exponents agree with theory. At a large multiple of d^ℓ "
    "samples it must be at least one fifth there.",
    judges=(
        Judge(
            "exponent of n_c",
            margin=EXPONENT,
            departure=(0.2, 0.12),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "share at n = d^(ℓ−1/2)",
            side="below",
            margin=0.1,
            departure=0.3,
            because="the o(1) of the theorem",
        ),
        Judge(
            "share by theory at n = d^(ℓ−1/2)",
            margin=0.02,
            departure=0.05,
            because="the o(1) of the theorem",
        ),
        Judge(
            "share by theory at a multiple of d^ℓ",
            side="above",
            margin=0.05,
            departure=0.1,
            because="the constant that Θ(d^ℓ) leaves free",
        ),
    ),
    seeds={"quick": Seeds(32, 270), "full": Seeds(128, 2600)},
)

# dimensions, and the largest batch; quick size cannot pay for l = 3
SIZES = {
    "quick": ({1: (2**9, 2**11, 2**13), 2: (48, 96, 192)}, 2**16),
    "full": ({1: (2**10, 2**13, 2**16), 2: (2**7, 2**8, 2**10), 3: (24, 48, 100)}, 2**20),
}
FAR = 1e12  # the d of theory
MUCH = 0.2  # the share that is reached there at C d^l
MANY = 10.0  # C
FACTOR = 4  # from one n to the next
# orders with less noise are measured on one of so many seeds
SHARES = {"quick": {1: 4, 2: 1}, "full": {1: 32, 2: 16, 3: 1}}
FEW = 8  # seeds far from the threshold, where shares scatter little
BLOCK = 8  # seeds that are drawn together
LEVEL = 0.3  # the share at which n_c is read off


def curves(size: Size) -> list[tuple[int, int, list[int]]]:
    """Orders, dimensions and batch sizes, from d^(l-1) to d^(l+1) or the largest batch."""
    sizes, most = SIZES[size]
    powers = float(FACTOR) ** np.arange(-12, 12)

    def batches(order: int, d: int) -> list[int]:
        within = [x * d**order for x in powers if 1 / d <= x <= d]
        return [round(n) for n in within if 4 <= n <= most]

    return [(order, d, batches(order, d)) for order, each in sizes.items() for d in each]


def shares(order: int, d: int, n: int, first: int, count: int) -> np.ndarray:
    """Mean share of a neuron along the target above chance, r/d: (step sizes, seeds)."""
    seeds = range(first, first + count)
    work: Any = {"method": "overlap", "n_test": 100, "dtype": "float32", "progress": False}
    outcome = gs.simulate(setting(order, d, n), seeds, **work)
    chance = RANKS[order] / d
    return (np.sum(np.asarray(outcome.captured), axis=-1) - chance) / (1 - chance)


def measure(size: Size, seeds: range) -> Data:
    """Shares, (batch sizes, step sizes, seeds) for every curve, nan where few seeds ran."""
    found = []
    for order, d, batches in curves(size):
        some = seeds[: max(len(seeds) // SHARES[size][order], BLOCK)]
        blocks = {n: _blocks(some if near(order, d, n) else some[:FEW]) for n in batches}
        jobs = [(order, d, n, *block) for n in batches for block in blocks[n]]
        runs = iter(cache.each(shares, jobs))
        rows = [np.concatenate([next(runs) for _ in blocks[n]], axis=1) for n in batches]
        found.append(np.stack([_padded(row, len(some)) for row in rows]))
    return {"shares": found}


def _padded(row: np.ndarray, length: int) -> np.ndarray:
    """With nan for the seeds that did not run."""
    return np.pad(row, ((0, 0), (0, length - row.shape[1])), constant_values=np.nan)


def near(order: int, d: int, n: int) -> bool:
    """Whether the level lies next to this n if the statement is true.

    Elsewhere few seeds are enough.
    """
    low, high = (1 / FACTOR**2, 1 / FACTOR) if order == 3 else (1 / FACTOR, 1.0)
    return 0.99 * low <= n / d**order <= 1.01 * high


def _blocks(seeds: range) -> list[tuple[int, int]]:
    """The first seed and the number of seeds of every block."""
    return [(seeds[i], len(seeds[i : i + BLOCK])) for i in range(0, len(seeds), BLOCK)]


def predict(size: Size) -> Data:
    """The exponents, and shares of the best step as d grows.

    Those are shares at every n from d^(l-1) to d^(l+1), and below and above d^l in the limit.
    """
    orders = list(SIZES[size][0])
    return {
        "exponents": [float(order) for order in orders],
        "limits": [limit(order, np.geomspace(1 / d, d, 60)) for order, d, _ in curves(size)],
        "below": [float(limit(order, np.array([FAR**-0.5]))[0]) for order in orders],
        "at": [float(limit(order, np.array([MANY]))[0]) for order in orders],
    }


def threshold(n: list[int], shares: Float[np.ndarray, "n etas seeds"]) -> float:
    """log of the n_c at which the mean share of the best step size reaches the level.

    Lines in log n go through the shares, and beyond their ends too.
    """
    best, x = np.max(np.nanmean(shares, axis=-1), axis=1), np.log(n)
    above = np.flatnonzero(best >= LEVEL)
    k = int(np.clip(above[0] if len(above) else len(n), 1, len(n) - 1))
    part = (LEVEL - best[k - 1]) / (best[k] - best[k - 1])
    return float(x[k - 1] + part * (x[k] - x[k - 1]))


def exponents(size: Size, measured: Data) -> dict[int, np.ndarray]:
    """Slopes of log n_c against log d, as jackknife values over seeds."""
    found = {}
    for order, sizes in SIZES[size][0].items():
        here = zip(curves(size), measured["shares"], strict=True)
        logs = [
            statistics.pseudovalues(lambda v, n=n: threshold(n, v), each)
            for (k, _, n), each in here
            if k == order
        ]
        found[order] = statistics.exponent(sizes, np.exp(np.array(logs)))
    return found


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent of the threshold for every l, and what is learned half a power of d below it."""
    orders = list(SIZES[size][0])
    slopes = [found[None][0] for found in exponents(size, measured).values()]
    at = [f"ℓ = {order}" for order in orders]
    judge = judging(CLAIM, size)
    power = [
        judge("exponent of n_c", slope[None], [said], at=[label])
        for slope, said, label in zip(slopes, predicted["exponents"], at, strict=True)
    ]
    least = [values[-1] for values in below(size, measured).values()]  # at the largest d
    hand = judge("share at n = d^(ℓ−1/2)", least, 0.0, at=at)
    little, much = "share by theory at n = d^(ℓ−1/2)", "share by theory at a multiple of d^ℓ"
    far = (
        judge(f"{little}, d = {FAR:.0e}", predicted["below"], 0.0, by=little, at=at, noisy=False),
        judge(
            f"share by theory at n = {MANY:g}d^ℓ",
            predicted["at"],
            MUCH,
            by=much,
            at=at,
            noisy=False,
        ),
    )
    return Evidence((*power, hand), limit=vouched(tuple(power), far))


def below(size: Size, measured: Data) -> dict[int, list[np.ndarray]]:
    """The share of the best step near n = d^(l - 1/2) at every d, for the seeds that all n have."""
    found: dict[int, list[np.ndarray]] = {order: [] for order in SIZES[size][0]}
    for (order, d, n), each in zip(curves(size), measured["shares"], strict=True):
        best = np.argmax(np.nanmean(each, axis=-1), axis=1)
        shares = np.stack([each[i, k, :FEW] for i, k in enumerate(best)])
        at = (order - 0.5) * np.log(d)
        found[order].append(np.array([np.interp(at, np.log(n), one) for one in shares.T]))
    return found


def _below(size: Size, measured: Data) -> dict[int, str]:
    """From which share to which, between the smallest and the largest d."""
    return {
        order: f"from {np.mean(first):.3f} to {np.mean(last):.3f}"
        for order, (first, *_, last) in below(size, measured).items()
    }


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, most = SIZES[size]
    found = {order: float(np.mean(v)) for order, v in exponents(size, measured).items()}
    pairs = zip(found.values(), predicted["exponents"], strict=True)
    off = max(abs(value - said) for value, said in pairs)
    turns = " and ".join(f"{value:.2f} (ℓ = {order})" for order, value in found.items())
    ends = _below(size, measured)
    least, hardest = min(ends), max(ends)
    return Verdict(
        sentence="With the best step size, the batch at which a neuron turns to the target grows "
        f"as d to a power within {off:.2f} of ℓ. Half a power of d below that batch the share of "
        f"the best step goes {ends[hardest]} as d grows, for ℓ = {hardest}.",
        sizes="; ".join(f"ℓ = {k}: d = {', '.join(map(str, v))}" for k, v in sizes.items())
        + f"; n from d^(ℓ−1) to d^(ℓ+1) or {most}; one step, p = {WIDTH}, r = "
        f"{', '.join(str(RANKS[k]) for k in sizes)}; η/p = "
        f"{', '.join(f'{s:g}' for s in STRENGTHS)}",
        figure=_figure(size, measured, predicted),
        caption="The batch at which one step turns a neuron to the target grows as d to the "
        f"{turns}.",
        trend=f"At n = d^(ℓ−1/2) the share of the best step goes {ends[least]} for ℓ = {least} as "
        "d grows."
        + "".join(
            f" For ℓ = {order} it goes {span}." for order, span in ends.items() if order != least
        ),
        settings=tuple(setting(k, v[-1], v[-1] ** k).id for k, v in sizes.items()),
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    """Share against log n / log d for every d, over the limit in n / d^l; the curves cross at l."""
    with style.figure(len(SIZES[size][0]), width=3.1, height=3.0) as (fig, axes):
        for ax, order in zip(axes, SIZES[size][0], strict=True):
            here = zip(curves(size), measured["shares"], predicted["limits"], strict=True)
            for i, ((_, d, n), each, line) in enumerate(one for one in here if one[0][0] == order):
                best = [v[np.argmax(np.nanmean(v, axis=1))] for v in each]
                mean, error = np.transpose([mean_and_error(v[np.isfinite(v)]) for v in best])
                x = np.linspace(order - 1, order + 1, len(line))
                ax.plot(x, line, color=style.COLOURS[i], linewidth=1)
                marks = {"color": style.COLOURS[i], "marker": "os^"[i], "label": f"d = {d}"}
                style.dots(ax, np.log(n) / np.log(d), mean, error, **marks)
            ax.axvline(order, color=style.INK, linewidth=0.8, linestyle=":")
            ax.axhline(LEVEL, color=style.INK, linewidth=0.8, linestyle=":")
            ax.set(xlabel="log n / log d", ylim=(0, 1), xlim=(order - 1, order + 1))
            ax.set_title(f"ℓ = {order}, {ACTIVATIONS[order]}")
            ax.legend(loc="upper left")
        axes[0].set_ylabel("share of a neuron along the target")
        return style.svg(fig)

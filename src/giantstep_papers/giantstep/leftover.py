"""What the full gradient has beyond its rank-one part changes the test error where the features
are far from linear."""

from itertools import product

import numpy as np

from giantstep.checks import (
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
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired, replaced
from giantstep_papers.shared.replaced import Arm
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=5,
    of="giantstep",
    statement="What the full gradient has beyond its rank-one part changes the test error: for "
    "sin(1.5x) spiked Gaussian features put it 3% lower at least than after the rank-one "
    "part.",
    where="the full gradient beside its rank-one part, with the replacement of moniri/universality",
    how="We measure by how much the test error changes when spiked Gaussian features replace the "
    "network's, after the full gradient and after its rank-one part, on the same draws, in "
    "the middle of the regime ℓ = 3. Full size has three n.",
    judges=(
        Judge(
            "change of the test error less that after the rank-one part",
            side="below",
            margin=0.0,
            departure=0.03,
        ),
    ),
    seeds={"quick": Seeds(30, 110), "full": Seeds(30, 120)},
)

ALPHAS = (0.355,)  # the middle of the regime of degree three
SIZES = {"quick": (400,), "full": (375, 750, 1500)}
LOWER = -0.03  # of the test error: what the leftover changes at least
GRADIENT, RANK_ONE = (Arm("sin(1.5*x)", update, ALPHAS) for update in ("gradient", "rank1"))


def measure(size: Size, seeds: range) -> Data:
    """Errors after the full gradient and after its rank-one part, on the same draws,
    (sizes, 2, errors, steps, seeds)."""
    names = {"gradient": GRADIENT, "rank1": RANK_ONE}
    return {
        key: np.array([replaced.errors(n, arm, seeds) for n in SIZES[size]])
        for key, arm in names.items()
    }


def test_error(found: np.ndarray) -> np.ndarray:
    """Changes of the test error after the steps, (sizes, step sizes, seeds)."""
    return np.array([replaced.changes(one)[0, 1:] for one in found])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The change after the full gradient less that after the rank-one part,
    at every n and step size."""
    gap = test_error(measured["gradient"]) - test_error(measured["rank1"])
    at = [f"α = {a:g}, n = {n}" for n, a in product(SIZES[size], ALPHAS)]
    judge = judging(CLAIM, size)
    what = "change of the test error less that after the rank-one part"
    return statistics.stated(judge(what, gap, LOWER, at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, n = SIZES[size], SIZES[size][-1]
    full, part = (
        100 * test_error(measured[key])[:, -1].mean(axis=-1) for key in ("gradient", "rank1")
    )
    words = (
        f"After the full gradient spiked Gaussian features put the test error {_off(full[-1])}. "
        f"After its rank-one part they put it {_off(part[-1])}."
    )
    last = [measured[key][-1] for key in ("gradient", "rank1")]
    gap = [f"{abs(f - p):.1f}% at n = {m}" for f, p, m in zip(full, part, sizes, strict=True)]
    goes = f"The difference between the two goes from {gap[0]} to {gap[-1]}."
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; sin(1.5 x); penalty "
        f"{paired.PENALTY:g}",
        sentence=where_it_holds(ruling, words),
        figure=replaced.draw(n, (GRADIENT, RANK_ONE), last),
        caption=f"Spiked Gaussian features change the test error by {full[-1]:.1f}% after the "
        f"full gradient and by {part[-1]:.1f}% after its rank-one part.",
        trend=goes if len(sizes) > 1 else "",
        settings=tuple(replaced.experiment(n, arm).id for arm in (GRADIENT, RANK_ONE)),
    )


def _off(change: float) -> str:
    """A change in per cent as an error of the model."""
    return f"{abs(change):.1f}% too {'low' if change < 0 else 'high'}"

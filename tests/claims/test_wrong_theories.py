"""Every claim with a theory fails on a deliberately wrong one: on what was measured at quick size and kept, so at no cost."""

from collections.abc import Callable
from typing import Any

import kept
import numpy as np
import pytest

from giantstep.checks.claim import Data
from giantstep.claims import CLAIMS
from giantstep.claims.moniri import onset
from giantstep.plot import style

Wrong = Callable[[Data], Data]


def scaled(data: Data, key: str, factor: Any) -> Data:
    """What is predicted under a key, deeper ones by dots, times a factor."""
    head, _, rest = key.partition(".")
    value = scaled(data[head], rest, factor) if rest else np.multiply(data[head], factor).tolist()
    return {**data, head: np.array(value) if not rest and isinstance(data[head], np.ndarray) else value}


def told(data: Data, key: str, value: Any) -> Data:
    """Something else predicted under a key."""
    return {**data, key: value}


def of_laws(key: str, factor: float) -> Wrong:
    """The same for every law of a spectrum."""
    return lambda p: {name: scaled(law, key, factor) for name, law in p.items()}


def where(data: Data, key: str, index: Any, factor: float) -> Data:
    """The prediction with one part of an entry multiplied by a factor."""
    array = np.array(data[key])
    array[index] *= factor
    return {**data, key: array}


MONIRI: dict[str, tuple[Wrong, ...]] = {
    "moniri/rank-one": (lambda p: scaled(p, "rate", 1.4),),  # n^-0.7
    "moniri/normalisation-trap": (lambda p: scaled(p, "limit", 1.1), lambda p: scaled(p, "rate", 1.4)),
    "moniri/alignment": (lambda p: scaled(p, "limits", 1.02), lambda p: where(p, "limits", (1, 2), 0.97)),
    "moniri/bulk": (of_laws("edge", 1.02), of_laws("density", 0.985)),
    "moniri/onset": (
        lambda p: {"onsets": p["onsets"] + 0.04},
        lambda p: {"onsets": np.broadcast_to(onset.LIMITS, p["onsets"].shape)},
    ),
    "moniri/positions": (lambda p: scaled(p, "lines", [1.15, 1.0]), lambda p: scaled(p, "lines", [1.0, 0.97])),
    "moniri/linear-floor": (lambda p: scaled(p, "test_error", 1.15), lambda p: scaled(p, "floor", 1.5)),
    "moniri/improvement": (lambda p: scaled(p, "gains", 1.25), lambda p: where(p, "gains", (0, 0), 0.8)),
    "moniri/limits": (lambda p: scaled(p, "limits", 1.1), lambda p: where(p, "limits", (2, 1), 0.85)),
    "moniri/trend": (
        lambda p: {**p, "ours": p["published"]},  # rows that do not lengthen
        lambda p: scaled(p, "small", 1.3),
        lambda p: where(p, "large", (slice(None), -1), 0.95),
    ),
    "moniri/settings": (
        lambda p: scaled(p, "apart", 1.8),
        lambda p: where(p, "stays", (slice(None), slice(5)), 100.0),  # what stays below the threshold
    ),
    "giantstep/one-curve": (
        lambda p: scaled(p, "errors", 1.06),
        lambda p: where(p, "errors", (2, 0), 0.94),
    ),
    "giantstep/optimal": (
        lambda p: scaled(p, "test_error", 1.05),
        lambda p: scaled(p, "eta", 2.0),
        lambda p: scaled(p, "penalty", 0.5),
    ),
}
REST: dict[str, tuple[Wrong, ...]] = {
    "mei_montanari/double-descent": (lambda p: scaled(p, "limits", 1.06), lambda p: scaled(p, "limits", 0.94)),
    "ba/baselines": (
        lambda p: scaled(p, "errors", 1.12),
        lambda p: scaled(p, "errors", [0.88, 1, 1, 1, 1]),  # of the giant step alone
        lambda p: scaled(p, "linear", 1.5),  # the step of order one would beat it
    ),
    "cui/test-error": (lambda p: scaled(p, "errors", 1.1), lambda p: scaled(p, "errors", 0.9)),
    "hu_lu/universality": (lambda p: told(p, "change", 4.0), lambda p: told(p, "change", -4.0)),
    "dandi/threshold": (lambda p: scaled(p, "exponents", 1.1), lambda p: scaled(p, "exponents", [1, 0.9, 1])),
    "dandi/one-step": (
        lambda p: told(p, "ℓ = 1, n = 4d", 2),
        lambda p: told(p, "ℓ = 1, n = 4d²", 2),
        lambda p: told(p, "the same, deflated", 1),
        lambda p: told(p, "ℓ = 2, n = 4d²", 2),
    ),
    "dandi/single-step": (lambda p: scaled(p, "printed", 1.2), lambda p: scaled(p, "printed", 0.8)),
    "dandi/scaling": (
        lambda p: scaled(p, "overlap", 1.1),
        lambda p: scaled(p, "length", 1.15),
        lambda p: scaled(p, "overlap", 2.0),  # as the slide has it, c_1 = 1/2 left out
    ),
    "dandi/staircase": (
        lambda p: scaled(p, "example 1.energies", 1.2),
        lambda p: told(
            p, "example 1", told(p["example 1"], "learned", [[True, False]] * 3)
        ),  # stuck after the first step
        lambda p: told(p, "example 2", told(p["example 2"], "learned", [[True, False], [True, True], [True, True]])),
    ),
    "dandi/second-layer": (
        lambda p: told(p, "signs, two steps", 3),
        lambda p: told(p, "Gaussian, two steps", 2),
    ),
    "dandi/floors": (
        lambda p: told(p, "n ~ d, p ~ 1", told(p["n ~ d, p ~ 1"], "floors", [5.0, 4.0])),
        lambda p: told(p, "n ~ d, p ~ d, two terms", told(p["n ~ d, p ~ d, two terms"], "fates", ["fitted", "lost"])),
    ),
    "dandi/reuse": (
        lambda p: told(p, "reuse", [1.0, 1.0, 1.0]),  # the even target too
        lambda p: told(p, "reuse", [1.0, 0.0, 0.0]),
        lambda p: told(p, "fresh", [1.0, 0.0, 0.0]),
    ),
    "saad_solla/one-pass": (
        lambda p: scaled(scaled(p, "erf.800.overlaps", 1.05), "erf.256.overlaps", 1.05),
        lambda p: told(p, "power", 0.0),
    ),
    "dandi/conditional": (lambda p: told(p, "difference", 6.0), lambda p: told(p, "difference", -6.0)),
}
DEMIR: dict[str, tuple[Wrong, ...]] = {
    **{
        f"demir/{name}": (
            lambda p: {**p, "errors": {curve: 1.15 * errors for curve, errors in p["errors"].items()}},
            lambda p: {**p, "errors": {curve: errors / 1.15 for curve, errors in p["errors"].items()}},
            lambda p: told(p, "difference", 15.0),  # between the Hermite model and the network, in %
        )
        for name in ("width", "weighting", "strength", "ratio", "alignment")
    },
    "demir/rank": (lambda p: told(p, "difference", 15.0), lambda p: told(p, "difference", -15.0)),
    "giantstep/mixtures": (
        lambda p: scaled(p, "errors", 1.15),
        lambda p: scaled(p, "errors", 0.87),
        lambda p: where(p, "errors", (2, 0), 0.87),
    ),
}
EQUIVALENCES: dict[str, tuple[Wrong, ...]] = {
    "demir/conditional": (lambda p: told(p, "difference", 10.0), lambda p: told(p, "difference", -12.0)),
    "demir/hermite": (
        lambda p: told(p, "difference", 10.0),
        lambda p: told(p, "orders", [4, 4, 2, 8]),  # the linear model in the place of the fourth order
        lambda p: told(p, "orders", [3, 4, 5, 8]),  # one order too many, where it spoils the expansion
        lambda p: told(p, "factor", 4.0),
    ),
    "demir/fashion": (
        lambda p: told(p, "polynomial", 10.0),
        lambda p: told(p, "polynomial", -8.0),
        lambda p: told(p, "conditional", 15.0),
    ),
    "demir/fashion-step": (
        lambda p: told(p, "difference", 12.0),
        lambda p: told(p, "gain", 4.0),
        lambda p: told(p, "miss", 500.0),  # a polynomial that is much worse than it is
    ),
    "giantstep/fitted": (
        lambda p: scaled(p, "errors", 1.15),
        lambda p: scaled(p, "errors", 0.85),
        lambda p: where(p, "errors", (slice(None), 1), 1.3),  # of the step alone; 25% is what is seen
    ),
}
LIU: dict[str, tuple[Wrong, ...]] = {
    "liu/test-error": (
        lambda p: scaled(p, "errors", 1.08),
        lambda p: where(p, "errors", (slice(None), 4, 0), 0.9),  # the last iterate at one width
    ),
    "liu/bias-variance": (
        lambda p: where(p, "tanh", (slice(None), 1), 1.5),  # the variance of tanh
        lambda p: where(p, "sin(1.5*x)", (slice(None), 0), 1.25),  # the bias of sines
    ),
    "liu/threshold": (
        lambda p: where(p, "errors", (slice(None), 0), 1.2),  # one pass
        lambda p: where(p, "errors", (slice(None), 1, 5), 1.25),  # the fit at the largest width
    ),
}
TWO_STEPS: dict[str, tuple[Wrong, ...]] = {
    "moniri_hassani/outliers": (
        lambda p: scaled(p, "values", 1.1),
        lambda p: scaled(p, "cosines", 0.85),
        lambda p: where(p, "values", (1, slice(None), slice(None), 2), 0.6),  # two spikes where there are three
        lambda p: where(p, "values", (0, slice(None), slice(None), 2), 1.5),  # and three where there are two
    ),
    "moniri_hassani/phase-diagram": (
        lambda p: scaled(p, "thresholds", 1.6),
        lambda p: where(p, "values", (0, 4, 0, 2), 2.0),  # one outlier more in one cell
    ),
    "moniri_hassani/exponents": (
        lambda p: told(p, "positions", p["positions"] * np.array([1.0, 1.1, 1.2])[:, None, None]),
        lambda p: told(p, "positions", p["positions"][:1] * (np.array([1, 5 / 3, 8 / 3])[:, None, None] ** 0.25)),
    ),
    "moniri_hassani/reuse": (
        lambda p: scaled(p, "cosines", 0.6),
        lambda p: told(p, "learned", [True, False, False]),
        lambda p: told(p, "learned", [True, True, True]),  # the even target too
    ),
    "moniri_hassani/degenerate": (
        lambda p: scaled(p, "shares", 0.8),
        lambda p: told(p, "third", [True, True, False]),
    ),
}
NISHIKAWA: dict[str, tuple[Wrong, ...]] = {
    "nishikawa/truncation": (
        lambda p: told(p, "exponent", 0.5),  # the deviation that is cut in the place of its variance
        lambda p: told(p, "change", -0.2),  # a sampler that tires with J
    ),
    "nishikawa/finite": (
        lambda p: {case: 3 * rate for case, rate in p.items()},
        lambda p: told(p, "logistic, λ = 0.005", 2.5 * p["logistic, λ = 0.005"]),
    ),
    "nishikawa/online": (
        lambda p: told(p, "exponent", -0.5),
        lambda p: told(p, "exponent", -2.0),
        lambda p: told(p, "square, λ = 0.02", 0.05),  # slope of the loss: a guarantee that is too good
    ),
    "nishikawa/certified": (
        lambda p: scaled(p, "optimum", 1.1),
        lambda p: scaled(p, "optimum", [0.9, 1, 1, 1]),
        lambda p: told(p, "power", -2.0),
    ),
    "nishikawa/generalisation": (
        lambda p: scaled(p, "bounds", 0.5),
        lambda p: told(p, "power", -1.0),
        lambda p: told(p, "steepest", 0.002),
    ),
}
EARLY: dict[str, tuple[Wrong, ...]] = {
    "wang_ma/partition": (
        lambda p: {**p, "alive": p["alive"] + 1},  # a dead neuron that lives
        lambda p: scaled(p, "most", 0.4),
        lambda p: scaled(p, "least", 2.5),
    ),
    "wang_ma/early": (
        lambda p: scaled(p, "times", 1.05),
        lambda p: scaled(p, "times", 2.0),  # as if half of the neurons lived
        lambda p: told(p, "power", -0.5),  # 1/sqrt(m)
        lambda p: scaled(p, "losses", 1.003),
    ),
    "wang_ma/convergence": (
        lambda p: scaled(p, "bounds", 0.6),
        lambda p: scaled(p, "losses", 1.003),
        lambda p: told(p, "power", -0.5),
    ),
    "wang_ma/sgd": (
        lambda p: {**p, "mean": p["all"]},  # noise of the batches left out
        lambda p: scaled(p, "mean", 1.2),
        lambda p: {**p, "followed": {k: 1.003 * v for k, v in p["followed"].items()}},
    ),
}
LOBO: dict[str, tuple[Wrong, ...]] = {
    "lobo/covariance": (
        lambda p: told(p, "numbers", p["unspread"]),  # no rho
        lambda p: where(p, "numbers", (slice(None), 0), 1.05),
        lambda p: where(p, "numbers", (2, 1), 0.95),
    ),
    "lobo/eigenvalues": (
        lambda p: told(p, "values", p["unspread"]),
        lambda p: where(p, "values", (0, 3), 1.05),
        lambda p: where(p, "values", (3, 4), 0.96),
    ),
    "lobo/amplification": (
        lambda p: where(p, "found", (slice(None), slice(1, None), 1), 1.12),
        lambda p: where(p, "found", (slice(None), slice(1, None), 2), 0.9),
    ),
    "lobo/mixing": (
        lambda p: told(p, "found", p["unspread"]),
        lambda p: where(p, "found", (0, slice(1, None), 3), 1.08),
        lambda p: where(p, "found", (1, slice(1, None), 3), -1.0),
    ),
}
BUBECK: dict[str, tuple[Wrong, ...]] = {
    "bubeck/flips": (
        lambda p: scaled(p, "finite", [1.0, 1.12, 1.12, 1.0, 1.0]),
        lambda p: scaled(p, "finite", [1.05, 1.0, 1.0, 1.0, 1.0]),  # of the gradient alone
        lambda p: where(p, "finite", (1, 0, slice(3, None)), 1.07),  # ReLU with few neurons as if it were linear
    ),
    "bubeck/rate": (lambda p: told(p, "exponent", -0.25), lambda p: scaled(p, "medians", 1.2)),
    "bubeck/linearity": (
        lambda p: told(p, "rates", [-1.0, -1.0]),
        lambda p: where(p, "changes", (3, 0, 0), 0.5),  # without the neurons' own share of the gradient
        lambda p: where(p, "changes", (slice(None), 1, 1), 1.2),
    ),
    "bubeck/width": (lambda p: scaled(p, "flips", [[1.0], [0.9], [0.7], [0.5]]), lambda p: scaled(p, "flips", 1.15)),
    "giantstep/flip-distance": (
        lambda p: where(p, "found", (slice(None), -1, slice(-1)), 0.85),  # further away after the step
        lambda p: where(p, "found", (0, 2, -1), 1.3),
    ),
}
NGUWI: dict[str, tuple[Wrong, ...]] = {
    "nguwi/fresh": (
        lambda p: told(p, "exponent", -0.4),
        lambda p: scaled(p, "bounds", [0.09, 1.0]),  # below the bound from the weights
        lambda p: scaled(p, "spread", 0.02),
    ),
    "nguwi/training": (lambda p: told(p, "exponent", -0.5), lambda p: scaled(p, "bounds", 0.01)),
    "nguwi/wasserstein": (lambda p: scaled(p, "exponents", [1.0, 1.0, 2.0]), lambda p: scaled(p, "bounds", 0.05)),
    "nguwi/vacuity": (
        lambda p: scaled(p, "modulus", 0.5),
        lambda p: scaled(p, "bounds", 0.5),  # below the bound from the weights
        lambda p: scaled(p, "trivial", 0.1),
    ),
}
WRONG = {
    **TWO_STEPS,
    **MONIRI,
    **REST,
    **DEMIR,
    **EQUIVALENCES,
    **LIU,
    **NISHIKAWA,
    **EARLY,
    **LOBO,
    **BUBECK,
    **NGUWI,
}  # a claim's name, and theories that its measurements contradict


# On one of six seeds the polynomial is off by a factor 290, so that the mean factor of 120 is not 2 beyond 3 s.e.
OPEN = {"demir/fashion-step": "inconclusive"}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_verdict_on_what_was_kept(claim):
    verdict = claim.judge("quick", *kept.load(claim))
    assert verdict.outcome == OPEN.get(claim.name, "holds"), verdict.sentence
    assert claim.test and verdict.power and verdict.caption
    assert "<svg" in verdict.figure


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.predict is not None], ids=lambda claim: claim.name)
def test_a_wrong_theory_fails(claim, monkeypatch):
    monkeypatch.setattr(style, "svg", lambda fig: "")  # the dearest part of a verdict
    measured, predicted = kept.load(claim)
    for wrong in WRONG[claim.name]:
        verdict = claim.judge("quick", measured, wrong(predicted))
        assert verdict.outcome == "fails", verdict.sentence

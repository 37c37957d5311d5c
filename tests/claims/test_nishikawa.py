"""The claims on mean-field networks: identities behind them, and tiny live runs."""

import kept
import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.systems.mean_field import dual
from giantstep_papers.nishikawa import certified, exact, features, finite, generalisation, online, truncation

OUTCOMES = {
    "nishikawa/truncation": "holds",
    "nishikawa/finite": "a bound, respected",
    "nishikawa/online": "a bound, respected",
    "nishikawa/certified": "holds",
    "nishikawa/generalisation": "a bound, respected",
    "giantstep/dual-rates": "holds",
    "giantstep/function-gap": "holds",
}


def test_the_curvature_is_that_of_the_dual():
    """2n (D* - D) = d' A d near the optimum, for both losses."""
    for loss, lam in (("square", 0.02), ("logistic", 0.02)):
        solved = exact.optimum(loss, lam, 12, 3)
        A, _ = exact.curvature(solved, lam, loss)
        d = 1e-3 * solved.g * np.cos(np.arange(12))
        excess = solved.best.dual - dual.at(solved.H, solved.y, solved.g + d, lam, loss).dual
        assert excess == pytest.approx(d @ A @ d / 24, rel=0.02)


def test_a_pass_in_the_mean_is_a_pass_in_draws():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 6))
    A, c, d0 = np.eye(6) + root @ root.T / 6, rng.uniform(0.3, 0.6, 6), rng.standard_normal(6)
    left = []
    for _ in range(20_000):
        d = d0.copy()
        for i in rng.integers(0, 6, 6):
            d[i] -= c[i] * (A[i] @ d)
        left.append(d @ A @ d)
    assert np.mean(left) == pytest.approx(d0 @ exact.after_a_pass(A, c) @ d0, rel=0.03)


def test_they_measure_at_tiny_sizes():
    off = truncation.distances(8, 100, 0)
    assert off.shape == (len(truncation.BASES),) and abs(off[-1]) < 0.05 * abs(off[0])
    share = finite.shares("square", 0.02, 3, 6, 12, 0)
    assert 0.2 < share[1] < 1 and np.all(np.diff(share[2:]) < 0) and share[0] == pytest.approx(share[1], rel=0.5)
    falls = online.excess("square", 0.05, 6, 40, 0)
    assert falls[5] < falls[0] and falls[-2] > 0
    assert np.all(generalisation.gaps((10, 20), 16, 0.05, 0)[:, 1] > 0)
    found, best = certified.trained(8, 100, 0), certified.optimal(8, 2000, 0)
    np.testing.assert_allclose(found[:2], best[:2], rtol=0.25)


@pytest.mark.parametrize(("name", "outcome"), OUTCOMES.items())
def test_the_verdict_on_what_was_kept(name, outcome):
    (claim,) = select([name])
    verdict = rule(claim, "quick", *kept.load(claim))
    assert verdict.outcome == outcome, verdict.sentence
    assert (verdict.looseness is not None) == (outcome == "a bound, respected")
    assert "<svg" in verdict.figure and verdict.caption and verdict.power


def test_a_method_that_is_faster_than_its_order_is_no_contradiction_and_a_slower_one_is():
    (claim,) = select(["nishikawa/finite"])
    measured, predicted = kept.load(claim)

    def of(power: float) -> str:
        changed = {case: np.concatenate([v[:2], v[2:] ** power]) for case, v in measured.items()}
        return rule(claim, "quick", changed, predicted).outcome

    assert of(2.0) != "contradicted" and of(0.05) == "contradicted"


def test_an_excess_that_levels_off_has_no_polynomial_order():
    (claim,) = select(["nishikawa/online"])
    measured, predicted = kept.load(claim)
    level = {case: {**v, "excess": v["excess"] + v["excess"][-1].mean() * 50} for case, v in measured.items()}
    assert rule(claim, "quick", level, predicted).outcome == "contradicted"


def test_the_kernel_of_features_is_ridge_regression_at_its_best_penalty():
    rng = np.random.default_rng(0)
    H, Ht, y, yt = (
        rng.standard_normal((40, 6)),
        rng.standard_normal((40, 9)),
        rng.standard_normal(6),
        rng.standard_normal(9),
    )
    K, Kt = H.T @ H / 40, Ht.T @ H / 40
    plain = [np.mean((Kt @ np.linalg.solve(K + lam * np.eye(6), y) - yt) ** 2) / 2 for lam in features.PENALTIES]
    assert features.kernel_loss(H, y, Ht, yt) == pytest.approx(min(plain))

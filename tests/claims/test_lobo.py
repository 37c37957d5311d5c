"""The claims on function space: the law of the coloured rows, and tiny live runs."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.simulate import train
from giantstep.systems.function_space import coloured
from giantstep_papers.giantstep import row_edge
from giantstep_papers.lobo import covariance, eigenvalues, experiment, sweep


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(covariance.DIMENSIONS, "quick", (15, 20))
    for module in (row_edge, eigenvalues, sweep):
        monkeypatch.setitem(module.DIMENSIONS, "quick", 42)


@pytest.mark.parametrize(
    "claim", select(["lobo", "giantstep/row-edge", "giantstep/kernel-sweep"]), ids=lambda claim: claim.name
)
def test_a_claim_runs(claim, tiny):
    seeds = range(3)
    predicted = {**claim.predict("quick"), **(claim.predict_draws("quick", seeds) if claim.predict_draws else {})}
    verdict = rule(claim, "quick", claim.measure("quick", seeds), predicted)
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure and verdict.power


def test_without_noise_the_edge_is_that_of_marchenko_and_pastur():
    zero = np.zeros((40, 40))
    found = coloured.edge(coloured.ColouredRows(np.random.default_rng(0).standard_normal(320), zero, zero))
    assert found == pytest.approx((1 + (1 / 8) ** 0.5) ** 2, rel=0.01)


def test_coloured_rows_have_the_mean_variance_of_the_spiked_law():
    case = row_edge.setting("tanh", 100, 1.0)
    a, B, D = coloured.coloured_rows(case, 0)
    mean = 1 + np.mean(a**2) * np.trace(B @ B + D) / 100
    assert mean == pytest.approx(experiment.layer(case, 0, rho=True)[0], rel=0.1)


def test_networks_with_rows_of_the_law_are_not_apart_and_others_are(monkeypatch):
    """Rows drawn from the spiked law in the place of trained ones, and rows that are longer by a tenth."""
    case, rng = covariance.setting("relu", 1.0, 30), np.random.default_rng(0)
    (law,) = covariance.kernel.rows(case, True)
    b = float(law.weights @ law.width**2)

    def square(factor: float) -> float:
        def rows(given, seed, **options):
            beta = covariance.direction(given, seed)
            u, p = beta / np.linalg.norm(beta), given.p
            (own,) = covariance.kernel.rows(given, True, beta=float(np.linalg.norm(beta)))
            W = b**0.5 * rng.standard_normal((p, 30)) / 30**0.5 + own.strength * np.outer(rng.standard_normal(p), u)
            return replace(train(given, seed, **options), final=factor * W[None])

        monkeypatch.setattr(covariance, "train", rows)
        return float(np.mean([covariance.apart("relu", 1.0, 30, seed)[1] for seed in range(40)]))

    assert abs(square(1.0)) < covariance.squared("quick").margin
    assert square(1.1) > covariance.squared("quick").departure

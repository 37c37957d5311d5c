"""The claims on function space: the law of the coloured rows, and tiny live runs."""

import numpy as np
import pytest

from giantstep.claims import select
from giantstep.claims.lobo import covariance, eigenvalues, experiment, sweep
from giantstep.systems.function_space import coloured


@pytest.fixture
def tiny(monkeypatch):
    for module in (covariance, eigenvalues, sweep):
        monkeypatch.setitem(module.DIMENSIONS, "quick", 42)


@pytest.mark.parametrize("claim", select(["lobo"]), ids=lambda claim: claim.name)
def test_a_claim_runs(claim, tiny):
    seeds = range(3)
    predicted = {**claim.predict("quick"), **claim.predict_draws("quick", seeds)}
    verdict = claim.rule("quick", claim.measure("quick", seeds), predicted)
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure and verdict.power


def test_without_noise_the_edge_is_that_of_marchenko_and_pastur():
    zero = np.zeros((40, 40))
    found = coloured.edge(coloured.ColouredRows(np.random.default_rng(0).standard_normal(320), zero, zero))
    assert found == pytest.approx((1 + (1 / 8) ** 0.5) ** 2, rel=0.01)


def test_coloured_rows_have_the_mean_variance_of_the_spiked_law():
    case = covariance.setting("tanh", 100, 1.0)
    a, B, D = coloured.coloured_rows(case, 0)
    mean = 1 + np.mean(a**2) * np.trace(B @ B + D) / 100
    assert mean == pytest.approx(experiment.layer(case, 0, rho=True)[0], rel=0.1)

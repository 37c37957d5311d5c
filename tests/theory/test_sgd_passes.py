"""Several passes of SGD through the same samples: the theory against SGD on Gaussian features, and its two ends."""

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.backend import jnp
from giantstep.ridge.sgd import descend
from giantstep.theory.sgd_readout import _passes as passes
from giantstep.theory.sgd_readout import predict
from giantstep.theory.sgd_readout.population import Population, minimum_norm

LAM = np.arange(1, 91.0) ** -0.5  # 90 features
LAM /= LAM.sum()
BEST = np.cos(np.arange(90.0))
OF = Population(LAM, BEST, np.zeros(90), 0.0, 0.0)


def on_gaussian_features(n: int, times: int, average: bool, runs: int = 40) -> np.ndarray:
    """Excess of runs of SGD on labels with noise of unit variance."""
    rng, p = np.random.default_rng(n + times), len(LAM)
    F = rng.standard_normal((runs, n, p)) * np.sqrt(p * LAM)
    y = F @ BEST / p**0.5 + rng.standard_normal((runs, n))
    found = descend(lambda: [(jnp.asarray(F), jnp.asarray(y))], (runs, n, p), np.array([0.9]), 0.0, times, average)
    return (p**0.5 * found.coefficients[:, 0] - BEST) ** 2 @ LAM


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("n", [60, 90, 180])
def test_gaussian_features_follow_the_theory_of_passes(n, average):
    """Twelve passes below, at and above p = n: within 3 standard errors and 4%, where fresh samples would lead far away."""
    found = on_gaussian_features(n, 12, average)
    expected = sum(passes.excess_after(OF, 0.9, n, 12, average=average))
    error = found.std() / len(found) ** 0.5
    assert abs(found.mean() - expected) < 3 * error + 0.04 * expected
    fresh = predict.excess(OF, gs.SGD(12 * n, 0.9, average=average), 12 * n)
    assert expected > 1.4 * float(fresh.start[0] + fresh.noise[0])


@pytest.mark.parametrize("average", [True, False])
def test_one_pass_is_the_recursion(average):
    exact = predict.excess(OF, gs.SGD(120, 0.7, average=average), 120)
    found = passes.excess_after(OF, 0.7, 120, 1, average=average)
    np.testing.assert_allclose(found, (exact.start[0], exact.noise[0]), rtol=0.03)


def test_many_passes_end_in_the_minimum_norm_fit():
    n, (start, noise) = 30, passes.excess_after(OF, 0.9, 30, 60, average=False)
    assert start + noise == pytest.approx(minimum_norm(OF, n, 1.0), rel=0.02)


def test_more_points_and_groups_change_little():
    coarse, fine = passes.grouped(OF), passes.grouped(OF, 60)
    assert coarse.lam @ coarse.many == pytest.approx(1.0) and len(fine.lam) > len(coarse.lam)
    ends = []
    for modes, phases in ((coarse, passes.PHASES), (fine, 36)):
        answered = passes.answer(modes, 0.9, 90, 6, phases)
        ends.append(passes.residuals(modes, answered, 0.9, 90, phases)[1][:, -1])
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=0.01)
    assert ends[0].sum() == pytest.approx(ends[1].sum(), rel=0.01)


def test_a_peak_grows_with_the_passes_and_a_rate_that_diverges_is_told():
    """At p = n the error over the geometric mean of those at p = n/2 and p = 2n grows with the passes."""

    def error(n: int, times: int) -> float:
        return 1.0 + sum(passes.excess_after(OF, 0.9, n, times, average=True))

    peaks = [error(90, times) / (error(45, times) * error(180, times)) ** 0.5 for times in (1, 4, 16)]
    assert peaks[0] < 1.02 < peaks[1] < 1.1 < 1.2 < peaks[2]
    assert np.isnan(passes.excess_after(OF, 9.0, 90, 3, average=False)[0])
    assert passes.excess_after(OF, 0.0, 90, 3, average=True)[0] == pytest.approx(LAM @ BEST**2)


def test_theory_lies_beside_a_simulation_of_several_passes():
    network = gs.Network(100, "relu", centred=True)
    protocol = gs.Protocol((), gs.SGD(80, [0.6, 1.2], passes=6))
    s = gs.Setting(gs.Gaussian(40), gs.target("x1", noise=0.7), network, protocol)
    found, predicted = gs.simulate(s, range(24), n_test=2000).mean(), gs.theory(s)
    allowed = 3 * np.hypot(found.test_error_se, predicted.test_error_se) + 0.05 * predicted.test_error
    assert np.all(np.abs(found.test_error - predicted.test_error) < allowed)
    own = gs.theory.parts(s)
    assert own.gradient_bias is None and np.allclose(own.risk, predicted.risk)
    once = gs.theory(s.with_(passes=1))
    assert np.all(np.abs(once.test_error - found.test_error) > 0.05 * found.test_error)

"""The claims on random features, the baselines and the test error after one step: each can fail or stay open."""

from dataclasses import replace

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.claims.ba import baselines, rivals
from giantstep.claims.cui import test_error as cui
from giantstep.claims.mei_montanari import double_descent
from giantstep.theory.one_step import conditional

TINY = {double_descent: (20, 3), baselines: (16, 3), cui: (20, 3)}


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, monkeypatch):
    monkeypatch.setitem(module.SIZES, "quick", TINY[module])
    monkeypatch.setattr(baselines, "BETWEEN", ())
    monkeypatch.setattr(cui, "LINE", (0.5, 2.0, 3))
    verdict = module.judge("quick", module.measure("quick"), module.predict("quick"))
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption


@pytest.fixture(params=[double_descent.CLAIM, baselines.CLAIM, cui.CLAIM], ids=lambda claim: claim.name)
def claim(request):
    return request.param


def test_wide_error_bars_leave_it_open(claim):
    measured, predicted = kept.load(claim)
    seeds = {"mei_montanari": 0}.get(claim.name.split("/")[0], 1)
    errors = np.moveaxis(measured["errors"], seeds, 0)
    signs = np.where(np.arange(len(errors)) % 2, 1, -1).reshape(-1, 1, 1)
    wide = np.moveaxis(errors + 0.8 * signs * errors.mean(axis=0), 0, seeds)
    assert claim.judge("quick", {**measured, "errors": wide}, predicted).outcome == "inconclusive"


def test_double_descent_fails_without_its_peak():
    measured, predicted = kept.load(double_descent.CLAIM)
    flat = {"errors": measured["errors"][:, :, [2, 1, 0]]}, {**predicted, "limits": predicted["limits"][:, [2, 1, 0]]}
    assert double_descent.judge("quick", *flat).outcome == "fails"


def test_baselines_fail_when_the_steps_change_places():
    """Behind the rivals, or below the best linear predictor, with the theory's blessing."""
    measured, predicted = kept.load(baselines.CLAIM)
    for order in ([1, 1, 2, 3, 4], [0, 0, 2, 3, 4]):
        swapped = {**measured, "errors": measured["errors"][:, :, order]}
        assert (
            baselines.judge("quick", swapped, {**predicted, "errors": predicted["errors"][:, order]}).outcome == "fails"
        )


def test_the_kernel_is_that_of_wide_random_features():
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((5, 20)), rng.standard_normal((400_000, 20)) / np.sqrt(20)
    F = np.maximum(X @ W.T, 0)
    np.testing.assert_allclose(rivals.relu_kernel(X, X), F @ F.T / len(W), rtol=0.02, atol=2e-3)


def test_the_claims_measure_what_simulate_measures(monkeypatch):
    """Nested draws and fits in NumPy against the library's own route."""
    monkeypatch.setattr(double_descent, "WIDTHS", (0.5, 2.0))
    setting = double_descent.experiment(20, 0.5)
    np.testing.assert_allclose(
        double_descent.errors(20, 3)[0], gs.simulate(setting, seed=3, n_test=1000).test_error, rtol=1e-8
    )
    monkeypatch.setattr(cui, "RATIOS", (1.0, 2.0))
    case = cui.CASES[1]
    outcome = gs.simulate(cui.experiment(case, 30, 1.0), seed=2, n_test=4000)
    assert cui.errors(*case, 30, 2)[0] == pytest.approx(outcome.test_error, rel=1e-8)
    outcome = gs.simulate(rivals.experiment(20, 3.0, [0.3]), seed=1, n_test=2000)
    np.testing.assert_allclose(rivals.errors(20, 3.0, (0.3,) * 5, 1)[:3], outcome.test_error[:, 0], rtol=1e-8)


def closed_equations(
    case: cui.NotebookCase, ratio: float, nodes: int, isotropic: float | None = None
) -> tuple[float, float]:
    """Test and training error of Cui et al. for p = d: their closed equations, iterated with damping 1/2.

    Features tanh(<sqrt(c) w_i + r v, x>) with rows w_i isotropic, one v for all; ``isotropic`` sets c in place of their value.
    """
    sigma, star = np.tanh, {"sin(x1)": np.sin, "tanh(x1)": np.tanh}[case.teacher]
    (z, w), (kappa, pi) = (np.polynomial.hermite_e.hermegauss(k) for k in (121, nodes))
    w, pi = w / w.sum(), pi / pi.sum()
    slope = 1 - np.tanh(z) ** 2
    c1, t1, t2 = w @ slope, w @ (z * star(z)), w @ star(z) ** 2
    length = np.sqrt(t1**2 + t2 / case.step_samples)
    c = 1 + case.eta**2 / case.step_samples * t2 * (w @ (slope - c1) ** 2) if isotropic is None else isotropic
    r, gamma = case.eta * c1 * length, t1 / length
    S = sigma(np.sqrt(c) * z + r * kappa[:, None])
    mu0, mu1 = S @ w, (S * z) @ w / np.sqrt(c)
    rest = S**2 @ w - mu0**2 - c * mu1**2  # mu_2^2
    Y = star(gamma * kappa[:, None] + np.sqrt(1 - gamma**2) * z)
    h, h1, power = Y @ w, (Y * z) @ w, Y**2 @ w
    state = np.array([1.0, 1.0, 0.5, 0.5, 0.0, 0.0])
    e = g = np.ones(nodes)
    for _ in range(2000):
        V1, V2, q1, q2, theta, psi = state
        g = 1 / (1 + mu1**2 * V1 + rest * V2)
        m = pi @ (mu0 * (h - mu1 * kappa * theta) * g) / (pi @ (mu0**2 * g))
        chi = m * mu0 + theta * kappa * mu1
        e = power - 2 * chi * h - 2 * psi * mu1 * h1 + chi**2 + mu1**2 * q1 + rest * q2
        v1, v2 = (ratio * (pi @ (mu * g)) for mu in (mu1**2, rest))
        r1, r2 = (ratio * (pi @ (mu * e * g**2)) for mu in (mu1**2, rest))
        along, across = ratio * (pi @ (kappa * mu1 * (h - chi) * g)), ratio * (pi @ (mu1 * h1 * g))
        s, k = case.penalty + v2, c * v1
        t0 = (np.sqrt(s**2 + 4 * s * k) - s) / (2 * s * k)  # S k t^2 + S t - 1 = 0
        s0 = (k * t0**2 + t0) / (2 * s * k * t0 + s)
        first = (1 - s * t0) / v1
        s1 = (t0 - s * s0) / v1
        s2 = (first - s * s1) / v1
        new = [first, t0, r1 * s2 + r2 * s1 + across**2 * s2 + c * along**2 * s1]
        new += [r1 * s1 + r2 * s0 + across**2 * s1 + c * along**2 * s0, c * along * t0, across * first]
        change, state = np.max(np.abs(new - state)), (state + new) / 2
        if change < 1e-13:
            break
    return float(pi @ e), float(pi @ (e * g**2))


def predicted(case: cui.NotebookCase, d: int, ratio: float, update: str) -> np.ndarray:
    setting = cui.experiment(case, d, ratio)
    step = replace(setting.protocol.steps[0], update=update)
    found = gs.theory(replace(setting, protocol=replace(setting.protocol, steps=(step,))))
    return np.array([found.test_error, found.train_error])


@pytest.mark.parametrize("case", cui.CASES, ids=lambda case: case.teacher)
def test_the_theory_is_that_of_the_closed_equations(case):
    """Where they are the same model: equal second layers, and a remainder that is absent (c = 1) or, for tanh, isotropic.

    Theirs is the limit of large d; ours keeps terms of order 1/d (the inputs' lengths, a finite weight of the mean), so the two
    agree as d grows, like 1/d. With the remainder a difference of 3e-4 stays: it makes the rows' lengths fluctuate, and p neurons
    of different lengths hold one more function of kappa, which theirs leaves out. The quadrature in kappa is the same in both.
    """
    for ratio in (0.3, 2.0):
        for update, c, near in (("rank1", 1.0, 3e-5), ("gradient", None, 1e-3)):
            same = np.array(closed_equations(case, ratio, conditional.SAMPLE_NODES, c))
            np.testing.assert_allclose(predicted(case, 10**6, ratio, update), same, rtol=near)
        fine = np.array(closed_equations(case, ratio, 121, None))
        assert predicted(case, 10**6, ratio, "gradient")[0] == pytest.approx(fine[0], rel=1e-3)
    gaps = [abs(predicted(case, d, 2.0, "rank1") / closed_equations(case, 2.0, 121, 1.0) - 1)[0] for d in (400, 4000)]
    assert gaps[0] < 0.05 and gaps[0] / gaps[1] > 4
    wrong = closed_equations(case._replace(eta=1.02 * case.eta), 2.0, 121, 1.0)
    assert predicted(case, 10**6, 2.0, "rank1")[0] != pytest.approx(wrong[0], rel=1e-3)

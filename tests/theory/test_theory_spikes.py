"""Outliers after one giant step: published values, closed forms, second routes and networks."""

from dataclasses import replace
from math import factorial, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from giantstep import InputError, measure
from giantstep.functions.activation import activation
from giantstep.functions.hermite import monomial_in_hermite
from giantstep.theory.limits import _spikes as spikes
from giantstep.theory.limits import bulk
from giantstep.theory.limits._spikes import Step, critical, isolated, low_rank, outliers, strengths
from giantstep.theory.limits.gains import direction

RELU = activation("relu", centred=True)
SIN = activation("sin(x+pi/4)", centred=True)
SIZES = (1000, 600, 800)  # n, d, p


def step(alpha: float, full: bool = False) -> Step:
    """Setting 2 of the talk, y = H1 + H2 / sqrt(2), eta = n^alpha, scale 1/sqrt(p)."""
    n, d, p = SIZES
    norm = direction(d / n, 1.0, 2.0, *((0.25, 0.25 - 1 / (2 * pi)) if full else ())).norm
    return Step(RELU, *SIZES, 0.5 * n**alpha * norm / sqrt(p), residual="full" if full else "target", beta=norm)


@pytest.mark.parametrize(
    ("alpha", "full", "expected"),
    [(0.2, False, [1.80019]), (0.3, False, [3.10656]), (0.35, False, [4.27448, 1.57455]), (0.3, True, [3.23230])],
)
def test_published_outliers(alpha, full, expected):
    found = outliers(step(alpha, full))
    np.testing.assert_allclose([o.position for o in found], expected, atol=1.1e-5)
    assert [(o.kind, o.order) for o in found] == [("power", k + 1) for k in range(len(expected))]
    other = outliers(replace(step(alpha, full), tau=1.02 * step(alpha, full).tau))  # a perturbed strength is seen
    assert abs(other[0].position - expected[0]) > 1e-3


def test_critical_strengths():
    """At the edge s_c^2 z m m-tilde = 1, m = m2 for a spike along g and m1 for one along a higher power."""
    shape = step(0.3).shape
    np.testing.assert_allclose(critical(shape), [0.73994, 0.93853], atol=1e-5)
    at = bulk.beyond(shape, bulk.threshold(shape))
    np.testing.assert_allclose(
        critical(shape), [sqrt(1 / (at.z * m * at.companion)) for m in (at.m2, at.m1)], rtol=1e-12
    )
    for order, s in enumerate(critical(shape), start=1):
        assert isolated(shape, 0.999 * s, order) is None
        above = isolated(shape, 1.05 * s, order)
        assert above is not None and above > bulk.edge(shape)


@pytest.mark.parametrize("law", ["gaussian", "rademacher", "constant"])
@pytest.mark.parametrize("tau", [0.05, 0.2, 0.5])
def test_a_linear_activation_has_one_spike(law, tau):
    """sigma = 0.6 x: S is one number, sqrt(p) 0.6 tau, and position and alignment are those of an isolated spike."""
    sigma = activation("0.6*x")
    shape = bulk.shape(sigma, *SIZES)
    strength = sqrt(SIZES[2]) * 0.6 * tau
    found = outliers(Step(sigma, *SIZES, tau, second_layer=law))
    expected = isolated(shape, strength, 1)
    assert len(found) == (expected is not None)
    if expected is not None:
        assert found[0].position == pytest.approx(expected, rel=1e-10)
        assert found[0].strength == pytest.approx(strength, rel=1e-10)
        h = 1e-6  # cos^2 = -2 Res: the change of the strength with the position, by differences
        after, before = (isolated(shape, strength * (1 + e), 1) for e in (h, -h))
        assert after is not None and before is not None
        slope = (after**2 - before**2) / (2 * h)
        at = bulk.beyond(shape, strength**2 + shape.linear / shape.psi)
        # near z: 1 - s^2 z m2 m-tilde = (z - z0) (2 / (s dz/ds)), and the residue of -m2 over it in z
        assert found[0].alignment == pytest.approx(-at.m2 * slope / 2, rel=1e-6)


@settings(max_examples=25)
@given(st.floats(0.0, 0.4), st.lists(st.floats(-1.0, 1.0).map(lambda x: round(x, 9)), min_size=4, max_size=4))
def test_the_low_rank_part_of_a_polynomial(tau, c):
    """S_kj = sqrt(p) sum_m c_m tau^m M_mk M_mj sqrt(k! j!), x^m = sum_k M_mk He_k: finite for a polynomial."""
    sigma = activation(" + ".join(f"({c[m]!r})*H{m}" for m in range(1, 4)) + f" + ({c[0]!r})")
    expected = np.zeros((spikes.ORDER + 2, spikes.ORDER + 2))
    for m in range(4):
        row = np.zeros(spikes.ORDER + 2)
        for k, value in monomial_in_hermite(m).items():
            row[k] = float(value) * sqrt(factorial(k))
        expected += sqrt(SIZES[2]) * c[m] * tau**m * np.outer(row, row)
    expected[-1, 0] = c[2] * sqrt(2 * SIZES[2] / SIZES[1])
    np.testing.assert_allclose(low_rank(Step(sigma, *SIZES, tau)), expected, atol=1e-10)


def test_leading_strengths_and_the_smoothed_relu():
    """s_k = sqrt(p) |c_k| tau^k (2k-1)!!; E relu(z + u) = u Phi(u) + phi(u)."""
    found = strengths(SIN, 800, 0.1, 3)
    c = SIN.hermite(3)
    np.testing.assert_allclose(found, sqrt(800) * np.abs(c[1:]) * [0.1, 0.03, 0.015])
    small = outliers(replace(step(0.2), sigma=SIN, tau=0.09))[0]
    assert small.strength == pytest.approx(strengths(SIN, 800, 0.09, 1)[0], rel=0.05)
    u = np.array([[-30.0, -1.0], [0.3, 40.0]])
    expected = u * ndtr(u) + np.exp(-(u**2) / 2) / sqrt(2 * pi)
    np.testing.assert_allclose(spikes.smoothed(activation("relu"), u), expected, atol=1e-12)


def test_the_leaning_direction_is_the_papers_algebra():
    """(A_U)_11 = [(|beta|^2 - a) m2 + a psi k (m1 - m2)] / |beta|^2, C_11 = -(psi/|beta|)(1 - m2/m1), k = (1 + b m1)/(a m1)."""
    s = step(0.3, full=True)
    a, b, psi = s.shape.linear, s.shape.rest, s.shape.psi
    for y in (1.2, 2.0, 9.0):
        at = bulk.beyond(s.shape, y)
        x, G = spikes._green(s, (8, 8), y)
        k = (1 + b * at.m1) / (a * at.m1)
        first = ((s.beta**2 - a) * at.m2 + a * psi * k * (at.m1 - at.m2)) / s.beta**2
        assert G[1, 1] == pytest.approx(-x * first, rel=1e-12)
        assert G[1, 9] == pytest.approx(psi / s.beta * (1 - at.m2 / at.m1), rel=1e-12)
        assert np.all(np.linalg.eigvalsh(G) > 0)


@pytest.mark.parametrize("full", [False, True])
def test_alignments_are_residues(full):
    """U^T u u^T U from the matrix itself: (x - x0) times twice the left block of (G^-1 - Sigma)^-1, close to x0."""
    s = replace(step(0.36, full), sigma=SIN, rows="gaussian")
    S = low_rank(s)
    sigma = np.block([[np.zeros((len(S), len(S))), S], [S.T, np.zeros((S.shape[1], S.shape[1]))]])
    for o in outliers(s):
        place = bulk.root(
            lambda y, o=o: float(np.sqrt(bulk.beyond(s.shape, y).z)) - o.position, bulk.threshold(s.shape), 1e4
        )
        total = 0.0
        for h in (1e-5, -1e-5):  # the regular part cancels
            x, G = spikes._green(s, S.shape, place * (1 + h))
            total = total + (x - o.position) * np.linalg.inv(np.linalg.inv(G) - sigma)[: len(S), : len(S)]
        components = np.array(o.components)
        np.testing.assert_allclose(total[:-1, :-1], np.outer(components, components), atol=2e-4)


@settings(max_examples=25)
@given(st.floats(0.02, 0.4), st.sampled_from(["relu", "tanh", "sin(x+pi/4)"]), st.booleans(), st.booleans())
def test_cosines_are_cosines(tau, name, centred, full):
    s = Step(activation(name, centred=centred), *SIZES, tau, residual="full" if full else "target", beta=1.5)
    found = outliers(s)
    assert all(a.position >= b.position > bulk.edge(s.shape) for a, b in zip(found, found[1:], strict=False))
    for o in found:
        assert 0 <= o.alignment <= 1 + 1e-9 and sum(o.gram_schmidt) <= 1 + 1e-9
        assert sum(c * c for c in o.components) <= 1 + 1e-9
        assert o.order == 0 or o.alignment == pytest.approx(o.gram_schmidt[o.order - 1])
    assert sum(o.components[1] ** 2 for o in found) <= 1 + 1e-9


def test_random_features_with_a_strong_quadratic_part():
    """0.3 H1 + 0.8 H2 at psi = 1/8: the radial outlier at 3.97 (edge 3.13), twice with Gaussian rows; no step, no power."""
    sigma, n = activation("0.3*H1 + 0.8*H2"), 800
    d = round(0.8 * n)
    at = Step(sigma, n, d, 8 * d, 0.0)
    found, both = outliers(at), outliers(replace(at, rows="gaussian"))
    assert [o.kind for o in found] == ["radial"] and sorted(o.kind for o in both) == ["radial", "rows"]
    assert found[0].position == pytest.approx(both[1].position, rel=1e-6)
    assert found[0].position == pytest.approx(isolated(at.shape, 0.8 * 4, 2), rel=1e-10)
    assert all(o.order == 0 and max(o.powers[::2]) < 1e-12 for o in (*found, *both))


def test_the_mean_of_an_activation():
    """c_0 makes an outlier of strength sqrt(p) c_0 along the constant; it takes over the constant part of g^2."""
    plain, centred = (Step(activation("relu", centred=c), *SIZES, 0.2) for c in (False, True))
    first, second = outliers(plain)
    assert (first.kind, second.kind, second.order) == ("constant", "power", 1)
    assert first.strength == pytest.approx(sqrt(800 / (2 * pi)), rel=0.03)
    assert second.position == pytest.approx(outliers(centred)[0].position, rel=1e-3)
    assert first.gram_schmidt[1] == pytest.approx(
        first.alignment / 3, abs=0.03
    )  # g^2 has 1/3 of its square in the constant


def test_no_bulk_and_no_spike():
    assert outliers(Step(activation("x"), *SIZES, 0.0)) == ()
    only = outliers(Step(activation("0*x + 2"), *SIZES, 0.1))
    assert [o.kind for o in only] == ["constant"] and only[0].position == pytest.approx(2 * sqrt(800), rel=1e-6)


def network(s: Step, seed: int) -> list[tuple[float, float]]:
    """Ratio of each simulated outlier to the prediction and difference of its cos^2, with the realised sizes put in."""
    rng = np.random.default_rng(seed)
    n, d, p = s.n, s.d, s.p
    W = rng.standard_normal((p, d)) / sqrt(d)
    if s.rows == "sphere":
        W /= np.linalg.norm(W, axis=1, keepdims=True)
    a = {"gaussian": rng.standard_normal(p), "rademacher": rng.choice([-1.0, 1.0], p), "constant": np.ones(p)}[
        s.second_layer
    ]
    X, Z = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    y = X[:, 0] + (X[:, 0] ** 2 - 1) / 2
    size = np.linalg.norm(a) / sqrt(p)
    beta = X.T @ (y - s.sigma(X @ W.T) @ a / sqrt(p) if s.residual == "full" else y) / n
    g = Z @ beta / np.linalg.norm(beta)
    F = s.sigma(Z @ W.T + s.tau * np.outer(g, a)) / sqrt(n)
    realised = replace(s, tau=s.tau * size * np.linalg.norm(g) / sqrt(n), beta=float(np.linalg.norm(beta)), output=size)
    found = measure.spectrum(F, vectors=4)
    basis = np.hstack([np.full((n, 1), n**-0.5), measure.gram_schmidt_powers(g, 3)])
    cos2 = measure.alignments(found.left, basis)
    return [(found.values[j] / o.position, cos2[j, o.order] - o.alignment) for j, o in enumerate(outliers(realised))]


CASES = {
    "relu": (Step(RELU, 400, 240, 320, 0.2), 1),
    "two spikes": (Step(RELU, 400, 240, 320, 0.45), 2),
    "sin": (Step(SIN, 400, 240, 320, 0.38), 2),
    "a mean": (Step(activation("relu"), 400, 240, 320, 0.2), 2),
    "rademacher": (Step(RELU, 400, 240, 320, 0.2, second_layer="rademacher", rows="gaussian"), 1),
    "constant": (Step(RELU, 400, 240, 320, 0.2, second_layer="constant"), 1),
    "full": (Step(activation("tanh"), 400, 240, 320, 0.15, residual="full", beta=1.5), 1),
    "full, rademacher": (Step(activation("tanh"), 400, 240, 320, 0.15, "sphere", "rademacher", "full", 1.5), 1),
    "full, constant": (Step(activation("tanh"), 400, 240, 320, 0.15, "sphere", "constant", "full", 1.5), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_networks(case):
    """Rank-one steps of networks: means over seeds to 1% in position and 0.03 in cos^2, and three standard errors."""
    s, count = CASES[case]
    with threadpool_limits(1):
        runs = [network(s, seed) for seed in range(10)]
    assert {len(run) for run in runs} == {count}
    mean, error = measure.mean_and_error(np.array(runs), axis=0)
    assert np.all(np.abs(mean[:, 0] - 1) < 3 * error[:, 0] + 0.01)
    assert np.all(np.abs(mean[:, 1]) < 3 * error[:, 1] + 0.03)


def test_a_perturbed_prediction_is_seen_by_the_networks(monkeypatch):
    """Without the lean of beta on the first layer the linear spike of residual="full" lies elsewhere."""
    s, _ = CASES["full"]
    monkeypatch.setattr(Step, "lean", 0.0)
    with threadpool_limits(1):
        runs = np.array([network(s, seed) for seed in range(10)])
    mean, error = measure.mean_and_error(runs, axis=0)
    assert abs(mean[0, 0] - 1) > 3 * error[0, 0] + 0.01


def test_bad_input():
    for wrong in (
        {"tau": np.nan},
        {"n": 0},
        {"rows": "round"},
        {"second_layer": "uniform"},
        {"residual": "full", "beta": 0.0},
        {"output": -1.0},
    ):
        with pytest.raises(InputError):
            replace(step(0.2), **wrong)
    with pytest.raises(InputError):
        isolated(step(0.2).shape, -1.0, 1)

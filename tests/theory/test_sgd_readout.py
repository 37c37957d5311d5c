"""SGD as a readout: against plain loops, exact moments, its own theory, and the fits it should end in. Not ``test_sgd``, which is
SGD on the first layer."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import giantstep as gs
from giantstep._machine.backend import jnp
from giantstep.experiment import draw
from giantstep.experiment.protocol import SGD
from giantstep.lab.compare import compare
from giantstep.lab.sweep.run import sweep
from giantstep.ridge.sgd import descend
from giantstep.theory.sgd_readout import population as moments
from giantstep.theory.sgd_readout import predict

TARGET = gs.target("x1 + 0.5*H2(x1)", noise=0.5)


def setting(p=60, d=30, n=80, activation="relu", target=TARGET, centred=True, rows="sphere", steps=(), **sgd):
    network = gs.Network(p, activation, centred=centred, rows=rows)
    return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol(steps, gs.SGD(n, **{"rate": 1.0, **sgd})))


def loop(F, y, rate, decay, passes, average):
    """One sample after the other, as the docstring of SGD has it."""
    n, p = F.shape
    b, total, t = np.zeros(p), np.zeros(p), 0
    for _ in range(passes):
        for i in range(n):
            t += 1
            total += b
            b = b + rate / p * t**-decay * (y[i] - F[i] @ b) * F[i]
    return total / t if average else b


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 99), st.sampled_from([(1, True), (3, True), (2, False)]), st.sampled_from([0.0, 0.25, 0.7]))
def test_rows_in_pieces_give_what_a_plain_loop_gives(seed, how, decay):
    rng, (passes, average) = np.random.default_rng(seed), how
    F, y, rates = rng.standard_normal((2, 9, 5)), rng.standard_normal((2, 9)), np.array([0.2, 0.9])
    pieces = lambda: ((jnp.asarray(F[:, a:b]), jnp.asarray(y[:, a:b])) for a, b in ((0, 4), (4, 9)))  # noqa: E731
    found = descend(pieces, (2, 9, 5), rates, decay, passes, average)
    whole = descend(lambda: [(jnp.asarray(F), jnp.asarray(y))], (2, 9, 5), rates, decay, passes, average)
    np.testing.assert_allclose(whole.coefficients, found.coefficients, rtol=1e-12, atol=1e-14)
    for s, k in np.ndindex(2, 2):
        expected = loop(F[s], y[s], rates[k], decay, passes, average)
        np.testing.assert_allclose(found.coefficients[s, k], expected, rtol=1e-12, atol=1e-14)
        assert found.error[s, k] == pytest.approx(np.mean((y[s] - F[s] @ expected) ** 2))
    np.testing.assert_allclose(found.label, np.mean(y**2, axis=1))
    np.testing.assert_allclose(found.feature, np.mean(F**2, axis=(1, 2)))


def test_simulate_is_that_loop_on_the_batch_of_the_readout():
    s = setting(rate=[0.4, 1.2], decay=0.25, passes=2)
    found = gs.simulate(s, seed=3, n_test=300)
    W, _ = draw.weights(s, 3)
    X, y = draw.rows(s, 3, draw.readout_batch(s))
    Xt, yt = draw.rows(s, 3, draw.test_batch(300))
    F, Ft = (np.asarray(s.network.activation(x @ W.T)) for x in (X, Xt))
    b = [loop(F, y, rate, 0.25, 2, True) for rate in (0.4, 1.2)]
    assert found.axes == ("rate",) and found.rate == (0.4, 1.2) and found.train_objective is None
    np.testing.assert_allclose(found.risk, [np.mean((yt - Ft @ each) ** 2) for each in b], rtol=1e-10)
    np.testing.assert_allclose(found.train_error, [np.mean((y - F @ each) ** 2) for each in b], rtol=1e-10)


def test_features_that_do_not_stay_in_memory_are_made_again(monkeypatch):
    from giantstep._training import plan

    s = setting(passes=2)
    usual = gs.simulate(s, n_test=50).test_error
    monkeypatch.setattr(plan._Sizes, "held", lambda self, grams: np.inf if self.features else 0.0)
    assert gs.simulate(s, n_test=50).test_error == pytest.approx(usual, rel=1e-12)


def test_the_noun_goes_to_toml_and_back_and_has_an_id():
    s = setting(rate=[0.5, 1.0], decay=0.25, average=False, passes=3)
    assert gs.Setting.from_toml(s.to_toml()) == s and gs.Setting.from_json(s.to_json()).id == s.id
    ids = {
        replace(s, protocol=gs.Protocol((), r)).id
        for r in (gs.SGD(80, 1.0), gs.SGD(80, 1.0, passes=2), gs.Ridge(80, 1.0))
    }
    assert len(ids | {s.id}) == 4
    again = replace(s, protocol=gs.Protocol((gs.GiantStep(80, 1.0),), gs.SGD(None, 1.0, batch="reuse")))
    assert gs.Setting.from_toml(again.to_toml()) == again and again.protocol.readout_size == 80


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.SGD(10, -1.0), "rate must be"),
        (lambda: gs.SGD(10, 1.0, passes=0), "passes must be"),
        (lambda: gs.SGD(10, 1.0, average=1), "average must be"),  # type: ignore[arg-type]
        (lambda: gs.simulate(setting(), spectrum=True), "Ridge readout"),
        (lambda: gs.simulate(setting(), solver="cg"), "ridge problem"),
        (lambda: gs.simulate(setting(), devices=1), "one after the other"),
        (lambda: gs.theory(setting(passes=200)), "at most 100 passes"),
        (lambda: gs.theory(setting(passes=2, decay=0.5)), "at a constant rate"),
        (lambda: gs.theory(setting(steps=(gs.GiantStep(80, 1.0),), batch="reuse")), "fresh samples"),
        (lambda: gs.theory.parts(setting(steps=(gs.GiantStep(80, 1.0),))), "random features"),
        (lambda: gs.theory(setting(), "limit"), "finite sizes"),
        (lambda: gs.theory(setting(), spectrum=True), "finite sizes"),
        (lambda: gs.theory.spectrum(setting()), "finite sizes"),
        (lambda: gs.optimal(setting()), "a giant step"),
        (lambda: gs.optimal(setting(steps=(gs.GiantStep(80, 1.0),))), "finite sizes"),
        (lambda: gs.theory.parts(replace(setting(), protocol=gs.Protocol((), gs.Ridge(9, 1.0)))), "SGD readout"),
        (lambda: gs.simulate.parts(setting(steps=(gs.GiantStep(80, 1.0),))), "without steps"),
        (lambda: gs.simulate.parts(setting(target=gs.target("x1"))), "label noise"),
        (lambda: gs.Setting.from_toml(setting().to_toml() + "penalty = 1.0\n"), "unknown field 'penalty'"),
    ],
)
def test_what_does_not_go_with_it_is_refused_in_a_sentence(call, words):
    with pytest.raises(gs.InputError, match=words):
        call()


def test_a_rate_that_diverges_is_told():
    found = gs.simulate(setting(n=200, rate=[1.0, 12.0]), n_test=50)
    assert any("diverges at the rate 12" in note for note in found.status.notes)
    predicted = gs.theory(setting(n=300, p=60, rate=[1.0, 40.0]))
    assert not predicted.status.ok and np.isfinite(predicted.test_error[0]) and np.isnan(predicted.test_error[1])


# Theory


@pytest.mark.parametrize(
    ("activation", "rows"), [("relu", "gaussian"), ("sin(1.5*x)", "gaussian"), ("tanh(x+0.5)", "sphere")]
)
def test_moments_of_the_features_are_those_of_samples(activation, rows):
    s = setting(p=10, d=8, activation=activation, centred=False, rows=rows, target=gs.target("x1 + H2(x1)*x2"))
    W, _ = draw.weights(s, 0)
    lengths = np.linalg.norm(W, axis=1)
    of, U = moments.expanded(s.network.activation, lengths), W / lengths[:, None]
    second, rest = moments._second(of, U)
    X = np.random.default_rng(0).standard_normal((200_000, 8))
    F, f = np.asarray(s.network.activation(X @ W.T)), np.asarray(s.target(X[:, :2].T))
    for exact, terms in ((second, F[:, :, None] * F[:, None]), (moments._cross(s, of, U), F * f[:, None])):
        assert np.max(np.abs(terms.mean(0) - exact) / (terms.std(0) / np.sqrt(len(X)))) < 4.5
    assert rest < 1e-5


def test_moments_of_sines_have_a_closed_form():
    """E sin(a w_i x) sin(a w_j x) = exp(-a^2 (q_i + q_j)/2) sinh(a^2 G_ij), G = W W^T and q its diagonal."""
    s, a = setting(p=40, activation="sin(1.5*x)", centred=False, rows="gaussian"), 1.5
    W, _ = draw.weights(s, 1)
    lengths = np.linalg.norm(W, axis=1)
    G, q = W @ W.T, lengths**2
    expected = np.exp(-(a**2) * (q[:, None] + q) / 2) * np.sinh(a**2 * G)
    found, _ = moments._second(moments.expanded(s.network.activation, lengths), W / lengths[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_neurons_that_are_there_twice_are_one_feature():
    s = setting(p=20)
    W, a = draw.weights(s, 0)
    twice = replace(s.network, width=40, weights=None, symmetric=True)
    one, two = (moments.population(s, each) for each in (W, np.concatenate([W, W])))
    assert twice.symmetric and two.values.size == 20
    np.testing.assert_allclose(np.sort(two.values), np.sort(one.values), rtol=1e-9)
    assert two.floor == pytest.approx(one.floor, rel=1e-9)


def gaussian_moments(lam, best, mean, s2, rates, average):
    """E |theta - theta*|^2_Sigma by whole matrices: C <- E (1 - g phi phi^T) C (1 - g phi phi^T) + g^2 s2 Sigma."""
    Sigma, m = np.diag(lam), mean[:, None]
    C, cross, squares = np.outer(best, best), np.zeros((len(lam),) * 2), np.zeros((len(lam),) * 2)
    for g in rates:
        squares = squares + C + cross + cross.T
        cross = (np.eye(len(lam)) - g * Sigma) @ (cross + C)
        fourth = 2 * Sigma @ C @ Sigma + Sigma * np.trace(Sigma @ C) - 2 * m @ m.T * (m.T @ C @ m)
        C = C - g * (Sigma @ C + C @ Sigma) + g**2 * (fourth + s2 * Sigma)
    return float(np.trace(Sigma @ (squares / len(rates) ** 2 if average else C)))


@pytest.mark.parametrize("average", [True, False])
def test_the_recursion_is_that_of_whole_matrices(average):
    rng, lam = np.random.default_rng(4), np.array([0.5, 0.2, 0.1, 0.05])
    best, mean = rng.standard_normal(4), np.array([0.6, 0.0, 0.0, 0.0])
    of = moments.Population(lam, best, mean, 0.0, 0.0)
    readout = SGD(60, (0.3, 0.9), decay=0.25, average=average)
    found, without = predict.excess(of, readout, 60), predict.excess(of, readout, 60, averaged=True)
    for k, rate in enumerate((0.3, 0.9)):
        rates = rate * np.arange(1, 61.0) ** -0.25
        assert found.start[k] == pytest.approx(gaussian_moments(lam, best, mean, 0.0, rates, average), rel=1e-10)
        assert found.noise[k] == pytest.approx(gaussian_moments(lam, 0 * best, mean, 1.0, rates, average), rel=1e-10)
    for part in ("start", "noise"):
        assert np.all(getattr(without, part) <= getattr(found, part) * (1 + 1e-12))


def test_gaussian_features_follow_the_recursion():
    """SGD on phi ~ N(m, .), for which nothing is left out: within 3.5 standard errors."""
    rng, lam, n, runs = np.random.default_rng(0), np.array([0.5, 0.2, 0.1, 0.05]), 40, 4000
    mean, best = np.array([0.6, 0.0, 0.0, 0.0]), np.array([1.0, -1.0, 2.0, 0.5])
    F = 2.0 * (mean + rng.standard_normal((runs, n, 4)) * np.sqrt(lam - mean**2))  # phi = F / sqrt(p)
    y = F @ best / 2 + 0.7 * rng.standard_normal((runs, n))
    found = descend(lambda: [(jnp.asarray(F), jnp.asarray(y))], (runs, n, 4), np.array([0.8]), 0.0, 1, True)
    risk = (2 * found.coefficients[:, 0] - best) ** 2 @ lam
    of = predict.excess(moments.Population(lam, best, mean, 0.0, 0.0), SGD(n, 0.8), n)
    expected = of.start[0] + 0.49 * of.noise[0]
    assert abs(risk.mean() - expected) < 3.5 * risk.std() / np.sqrt(runs)


def test_the_isotropic_variance_peaks_where_liu_et_al_have_it():
    peak: Any = minimize_scalar(lambda v: -v * predict.isotropic_variance(1 / v), bounds=(0.05, 3.0), method="bounded")
    assert peak.x == pytest.approx(0.53, abs=0.005) and -peak.fun == pytest.approx(0.19, abs=0.005)
    p, n, rate = 50, 4000, 0.4  # the sum over steps, against its limit
    of = moments.Population(np.full(p, 1 / p), np.zeros(p), np.zeros(p), 0.0, 0.0)
    found = predict.excess(of, SGD(n, rate), n, averaged=True).noise[0]
    assert found == pytest.approx(p / n * predict.isotropic_variance(np.array(rate * n / p)), rel=0.02)


def test_compare_lays_the_theory_beside_the_simulation():
    found = compare(setting(rate=[0.5, 1.0]), range(8), n_test=500)
    for row in found.rows:
        assert row.test_error is not None and row.test_error.in_se is not None
        assert abs(row.test_error.in_se) < 4 and row.train_error is None and row.rate in (0.5, 1.0)
    assert "training error" not in str(found) and found.to_dict()["comparison"][0]["rate"] == 0.5
    assert gs.plot(found).axes[0].get_xlabel() == "rate γ"


def test_parts_add_up_and_are_predicted():
    s = setting(target=gs.target("x1", noise=1.0))
    found, theory = gs.simulate.parts(s, range(8), n_test=500), gs.theory.parts(s)
    for name in ("bias", "variance"):
        value, expected = getattr(found, name), getattr(theory, name)
        assert abs(value - expected) < 4 * np.hypot(getattr(found, f"{name}_se"), getattr(theory, f"{name}_se")), name
    assert theory.risk == pytest.approx(gs.theory(s).risk) and 0 < theory.gradient_variance < theory.variance
    assert theory.floor < theory.bias
    whole = gs.simulate(s, range(8), n_test=500).mean()
    assert abs(found.risk - whole.risk) < 4 * whole.risk_se


# Its limits, and the rest of the library


@given(st.floats(1.2, 8.0), st.floats(0.0, 2.0))
def test_the_minimum_norm_fit_of_isotropic_features_has_a_closed_form(ratio, noise):
    """Hastie et al. (2022), theorem 1: r^2 (1 - n/p) + noise n / (p - n) for p > n, noise p / (n - p) for p < n."""
    n = 60
    p = round(ratio * n)
    lam, best = np.full(p, 0.3), np.linspace(-1, 1, p)
    of = moments.Population(lam, best, np.zeros(p), 0.0, 0.0)
    expected = 0.3 * best @ best * (1 - n / p) + noise * n / (p - n)
    assert moments.minimum_norm(of, n, noise) == pytest.approx(expected, rel=1e-9)
    assert moments.minimum_norm(of, 10 * n, noise) == pytest.approx(noise * p / (10 * n - p), abs=1e-12)


def test_many_passes_end_in_the_minimum_norm_fit():
    """With more features than samples, rows projected on in turn converge to the interpolator of least norm (Kaczmarz)."""
    rng = np.random.default_rng(2)
    F, y = rng.standard_normal((1, 20, 60)), rng.standard_normal((1, 20))
    found = descend(lambda: [(jnp.asarray(F), jnp.asarray(y))], (1, 20, 60), np.array([0.8]), 0.0, 3000, False)
    np.testing.assert_allclose(found.coefficients[0, 0], np.linalg.lstsq(F[0], y[0])[0], atol=1e-9)
    assert found.error[0, 0] < 1e-15


def test_it_follows_giant_steps_and_runs_on_other_routes():
    s = setting(steps=(gs.GiantStep(200, [0.0, 8.0]),), rate=0.3)
    found = gs.simulate(s, range(8), n_test=500)
    assert found.axes == ("eta", "seed") and np.mean(found.test_error[1] < found.test_error[0]) > 0.7
    routes = [gs.simulate(setting(), range(8), method=m, n_test=500).mean() for m in ("dense", "overlap")]
    routes.append(gs.equivalent(setting(), "gaussian", range(8), n_test=500).mean())
    for other in routes[1:]:
        assert abs(other.risk - routes[0].risk) < 4 * np.hypot(other.risk_se, routes[0].risk_se)


def test_without_a_move_the_law_of_the_rows_is_that_of_random_features():
    plain, moved = gs.theory(setting()), gs.theory(setting(steps=(gs.GiantStep(200, 1e-9),)))
    assert abs(moved.test_error - plain.test_error) < 4 * np.hypot(moved.test_error_se, plain.test_error_se)


@pytest.mark.parametrize(
    "target, steps",
    [
        ("x1 + H2(x1)/sqrt(2)", (gs.GiantStep(400, 10.0),)),
        ("x1 + x1*x2", (gs.GiantStep(400, 6.0), gs.GiantStep(400, 6.0, residual="full"))),
    ],
)
def test_after_giant_steps_against_simulation(target, steps):
    """The margin, chosen before the simulations: 4% and three standard errors."""
    own = gs.Protocol(steps, gs.SGD(800, [0.3, 0.8]))
    s = gs.Setting(gs.Gaussian(200), gs.target(target, noise=0.3), gs.Network(300, "relu", centred=True), own)
    theory, found = gs.theory(s), gs.simulate(s, range(8), progress=False).mean()
    assert theory.axes == ("rate",) and theory.train_error is None
    assert np.all(np.abs(theory.test_error / found.test_error - 1) < 0.04 + 3 * found.test_error_se / found.test_error)
    plain = gs.theory(replace(s, protocol=gs.Protocol((), own.readout)))
    assert np.all(theory.test_error < 0.95 * plain.test_error)


def test_a_sweep_over_rates_is_one_block_and_is_kept(tmp_path):
    grid = {"rate": [0.5, 1.0]}
    found, again = (sweep(setting(), grid, seeds=range(8), store=tmp_path / "s.db").test_error for _ in range(2))
    np.testing.assert_array_equal(found, again)
    whole = gs.simulate(setting(rate=[0.5, 1.0]), range(8))
    np.testing.assert_allclose(found.squeeze().transpose("rate", "seed"), whole.test_error, rtol=1e-12)

"""Equivalent models on mixtures and data sets: the formulas written out, Monte Carlo, known values, the network, refusals."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import giantstep as gs
from giantstep.equivalent import _conditional as conditional
from giantstep.equivalent import _hermite as hermite
from giantstep.equivalent import _strength as strength
from giantstep.equivalent._law import eigenvectors, laws
from giantstep.experiment import draw
from giantstep.lab.store.trial import Route
from giantstep.simulate import train

D, P, N = 40, 30, 90
PARTS = (
    gs.Component(0.4, (gs.Spike(9.0, "u"), gs.Spike(-0.5, {"v": 0.6, "x1": 0.8}))),
    gs.Component(0.6, (gs.Spike(4.0, {"u": 0.6, "w": 0.8}), gs.Spike(2.0)), mean={"u": 1.0, "m": 1.5}),
)
MIXTURE = gs.Mixture(D, PARTS)


def setting(
    data: gs.Gaussian | gs.Mixture | gs.Dataset = MIXTURE,
    activation="relu",
    eta: Any = 20.0,
    target="relu(x1) + 0.3 | -x1",
    width=P,
    **network,
):
    protocol = gs.Protocol((gs.GiantStep(N, eta, residual="full"),), gs.Ridge(N, 0.05))
    rows = {"rows": "gaussian" if isinstance(data, gs.Gaussian) else "trace"}
    return gs.Setting(data, target, gs.Network(width, activation, scale="1/p", **{**rows, **network}), protocol)


def moments(sigma, a, tau):
    """m, l and nu at every a (n, p), by midpoints."""
    z = (np.arange(-900, 900) + 0.5) / 150
    w = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / 150
    values = np.asarray(sigma(a[..., None] + tau[:, None] * z))
    m, gain = values @ w, values @ (w * z) / tau
    return m, gain, np.sqrt(np.maximum(values**2 @ w - m**2 - tau**2 * gain**2, 0.0))


def conditioned(mean, cov, given, W, X):
    """a (n, p), tau and rho (p,) from dense matrices: mu and Sigma, and the directions as columns."""
    Q = np.linalg.qr(given)[0]
    across = cov @ Q @ np.linalg.inv(Q.T @ cov @ Q) @ Q.T
    a = W @ mean + (X - mean) @ (W @ across).T
    left = W @ (cov - across @ cov) @ W.T
    tau = np.sqrt(np.diag(left))
    return a, tau, np.abs(np.diag(left[::-1])) / (tau * tau[::-1])


def features(s, seed, batch, shift=1.0):
    """Section by section: the features of a batch given the move of W and the spikes and mean of the component."""
    (X, _), W0, W = draw.rows(s, seed, batch), draw.weights(s, seed)[0], train(s, seed).final
    v, c = np.linalg.svd(W - W0)[2][:1], draw.components(s, seed, batch)
    F, (Z, apart) = np.empty((len(X), s.p)), (draw.feature_noise(s, seed, batch, apart=x) for x in (False, True))
    for k in range(2):
        mean, cov = s.data.mean(k), s.data.covariance(k)
        given = np.concatenate([v, s.data.directions(k), *([mean[None]] if np.any(mean) else [])]).T
        a, tau, rho = conditioned(mean, cov, given, W, X[c == k])
        m, gain, nu = moments(s.network.activation, a, tau)
        own = rho * Z + np.sqrt(1 - rho**2) * apart if s.network.symmetric else Z
        F[c == k] = m + shift * gain * (X[c == k] @ W.T - a) + nu * own[c == k]
    return F


def ridge(s, seed, made):
    """Training error and test error of the readout on features that ``made`` gives."""
    fit, test = draw.readout_batch(s), draw.test_batch(200)
    F, y = made(s, seed, fit), draw.rows(s, seed, fit)[1]
    b = np.linalg.solve(F.T @ F / N + 0.05 * np.eye(s.p), F.T @ y / N)
    return np.mean((y - F @ b) ** 2), np.mean((draw.rows(s, seed, test)[1] - made(s, seed, test) @ b) ** 2)


def test_conditional_against_numpy(seed):
    s = setting()
    found = gs.equivalent(s, "conditional", seed, n_test=200)
    assert (found.train_error, found.test_error) == pytest.approx(ridge(s, seed, features), rel=2e-5)
    off = ridge(s, seed, lambda *a: features(*a, shift=1.02))
    assert (found.train_error, found.test_error) != pytest.approx(off, rel=1e-4)
    assert "2 spikes in component 1, 2 spikes and the mean in component 2" in str(found.status)


def test_pairs_a_list_and_chunks_against_numpy(monkeypatch, seed):
    monkeypatch.setattr("giantstep._machine.random.BLOCK", 50 * 40)
    monkeypatch.setattr("giantstep._training.plan.CHUNK_BYTES", 1.0)
    found = gs.equivalent(setting(eta=(5.0, 20.0), symmetric=True, activation="tanh"), "conditional", seed, n_test=200)
    one = ridge(setting(symmetric=True, activation="tanh"), seed, features)
    assert (found.train_error[1], found.test_error[1]) == pytest.approx(one, rel=2e-5)


def _relu_density(z, u, tau):
    return max(u + tau * z, 0) * norm.pdf(z)


def test_mean_and_variance_given_the_component_and_the_alignments(seed):
    """Monte Carlo over what is left of x given Q x, for one sample of each component; quadrature at a few neurons."""
    s, rng = setting(eta=60.0), np.random.default_rng(seed)
    W0, W = draw.weights(s, seed)[0], train(s, seed).final
    v, draws = np.linalg.svd(W - W0)[2][:1], 40_000
    for k, law in enumerate(laws(s)):
        root = np.linalg.cholesky(MIXTURE.covariance(k))
        x = MIXTURE.mean(k) + root @ rng.standard_normal(D)
        Q = conditional.basis(law.given, v[None], len(law.given) + 1)
        np.testing.assert_allclose(Q[0] @ Q[0].T, np.eye(len(Q[0])), atol=1e-10)
        split = conditional.split(W[None], Q, law)
        u, tau = split.s[0] @ (Q[0] @ x) + split.rest[0], split.tau[0]
        fresh = MIXTURE.mean(k) + rng.standard_normal((draws, D)) @ root.T
        cov = MIXTURE.covariance(k)
        pull = cov @ Q[0].T @ np.linalg.inv(Q[0] @ cov @ Q[0].T)
        there = fresh + (x - fresh) @ Q[0].T @ pull.T  # Q x held, the rest drawn
        F = np.maximum(there @ W.T, 0.0)
        r = u / tau
        mean = u * norm.cdf(r) + tau * norm.pdf(r)
        square = (u**2 + tau**2) * norm.cdf(r) + u * tau * norm.pdf(r)
        assert np.max(np.abs(F.mean(0) - mean) / (F.std(0) + 1e-12) * np.sqrt(draws)) < 4.5
        np.testing.assert_allclose(F.std(0), np.sqrt(np.maximum(square - mean**2, 0)), rtol=0.1, atol=0.01)
        np.testing.assert_allclose(np.mean(F.std(0)), np.mean(np.sqrt(square - mean**2)), rtol=0.01)
        for at, width, found in zip(u[:3], tau[:3], mean, strict=False):
            exact = quad(_relu_density, -12, 12, args=(at, width), points=[-at / width], limit=200)[0]
            assert found == pytest.approx(exact, rel=1e-6)


def test_degree_one_on_gaussian_data_is_the_gaussian_equivalent():
    s = setting(gs.Gaussian(D), target="relu(x1)")
    choices: tuple[dict[str, Any], ...] = ({}, {"width": 1})
    for options in choices:
        line = gs.equivalent(s, "hermite", 1, n_test=200, degree=1, **options)
        assert line.test_error == pytest.approx(gs.equivalent(s, "gaussian", 1, n_test=200).test_error, rel=1e-10)


# The Hermite model


def polynomials(b, h, rest):
    def made(s, seed, batch):
        T = draw.rows(s, seed, batch)[0] @ train(s, seed).final.T / b
        he = [1.0, T, T**2 - 1, T**3 - 3 * T, T**4 - 6 * T**2 + 3]
        value = sum(x / f * y for x, f, y in zip(h, (1, 1, 2, 6, 24), he, strict=False))
        return value + rest * draw.feature_noise(s, seed, batch)

    return made


@pytest.mark.parametrize("degree", [1, 4])
def test_hermite_against_numpy(degree, seed):
    """ReLU: h_0 = h_2 = b / sqrt(2 pi) = -h_4, h_1 = b / 2, h_3 = 0."""
    s, b = setting(), np.sqrt(D / MIXTURE.trace)
    h = (b * np.array([1, np.sqrt(np.pi / 2), 1, 0, -1]) / np.sqrt(2 * np.pi))[: degree + 1]
    rest = np.sqrt(b**2 / 2 - np.sum(h**2 / np.array([1, 1, 2, 6, 24])[: degree + 1]))
    found = gs.equivalent(s, "hermite", seed, n_test=200, degree=degree)
    assert (found.train_error, found.test_error) == pytest.approx(ridge(s, seed, polynomials(b, h, rest)), rel=1e-7)
    assert found.test_error != pytest.approx(ridge(s, seed, polynomials(b, 1.02 * h, rest))[1], rel=1e-4)


@pytest.mark.parametrize(
    ("sigma", "odd", "rests"),
    [
        ("relu", None, (0.2995, 0.1055, 0.1055, 0.0677)),
        ("tanh", (0.6042, -0.3610, 0.6776), (0.1642, 0.1642, 0.0724, 0.0724)),
        ("sigmoid", (0.2057, -0.0616, 0.0631), (0.0259, 0.0259, 0.0060, 0.0060)),
    ],
)
def test_known_coefficients(sigma, odd, rests):
    """At n = 1000, theta = n^0.37."""
    b, f = (1 + 1000**-0.63) ** -0.5, np.array([1, 1, 2, 6, 24, 120, 720])
    sigma = gs.activation(sigma)
    h = hermite.expansion(sigma, b, 6)[0] * f
    if odd is None:
        np.testing.assert_allclose(
            h, b / np.sqrt(2 * np.pi) * np.array([1, 1.2533141373155, 1, 0, -1, 0, 3]), atol=1e-12
        )
    else:
        np.testing.assert_allclose(h[1::2], odd, atol=6e-5)
        np.testing.assert_allclose(h[2::2], 0.0, atol=1e-12)
    np.testing.assert_allclose([hermite.expansion(sigma, b, k)[1] for k in (1, 2, 3, 4)], rests, atol=6e-5)


def test_degrees():
    assert [gs.equivalent.degree_of(x) for x in (0.0, 0.3, 0.5, 0.6, 0.74, 0.76, 0.9, 1.0, 1.3)] == [
        1,
        1,
        1,
        2,
        3,
        4,
        4,
        4,
        4,
    ]
    # 1 / (2 s): at alpha = 1 Moniri's staircase beta < 1 - 1/(2 l), at alpha = 0 the paper's up to beta = 1/2
    assert [gs.equivalent.degree_of(x, 1.0) for x in (0.3, 0.74, 0.76, 0.84, 1.0)] == [1, 1, 2, 3, 4]
    assert [gs.equivalent.degree_of(x, 0.0) for x in (0.3, 0.49, 0.51, 0.7)] == [1, 1, 2, 3]
    assert gs.equivalent.degree_of(0.74, 0.5) == 1  # of figures 1 and 2: linear
    for alpha, beta, degree in ((0, 0.3, 1), (0, 0.74, 3), (0.5, 0.74, 3), (1, 0.74, 3), (0.5, 0.6, 2), (0.5, 1.0, 4)):
        s = gs.presets.demir(300, 300, 300, alpha=alpha, beta=beta)
        assert strength.degrees(s, None) == (degree,) and strength.strengths(s) == pytest.approx([beta])
        assert hermite.bulk_width(s, None) == pytest.approx((300 / (300 + 300 ** (beta * (1 - alpha)))) ** 0.5)
    several = gs.presets.demir(300, 300, 300, eta=(1.0, 3000.0), alpha=0.5, beta=0.6)
    said = str(gs.equivalent(several, "hermite", n_test=200).status)
    assert (
        "degree 1 was chosen from eta = 1 on. The degree 4 was chosen from eta = 3e+03 on." in said
        and "mean square of W x / b" in said
    )
    overflow = gs.equivalent(setting(eta=1e100), "hermite", n_test=200, degree=4)
    assert not overflow.status.ok and "not finite" in str(overflow.status)


# The network


def test_the_network_its_equivalents_and_the_linear_model_on_aligned_labels(coarse):
    s = gs.presets.demir(200, 250, 250, penalty=1e-4, alpha=0.0, beta=0.74, spiked_target=True)
    network = gs.simulate(s, range(6), n_test=1000).test_error
    for model, options in (("conditional", {}), ("hermite", {})):
        gaps = (gs.equivalent(s, model, range(6), n_test=1000, **options).test_error - network) / network.mean()
        assert abs(gaps.mean()) < min(3.5 * gaps.std(ddof=1) / np.sqrt(6), 0.15)
    line = gs.equivalent(s, "hermite", range(6), n_test=1000, degree=1).test_error
    assert np.all(line > 2 * network)


# Data sets


def test_a_class_of_a_dataset_is_its_mean_and_its_covariance(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((300, 12)) * np.arange(1, 13), rng.choice([3, 5], 300)
    X[labels == 5] += 2.0
    for signal, centre in ((1.0, "class"), (None, "none")):
        data = gs.Dataset((X, labels), classes=(3, 5), signal=signal, centre=centre)
        s = setting(data, target="-1 | 1")
        own, noise = data.split(), np.eye(12) * (signal is not None)
        for c, law in enumerate(laws(s, 4)):
            cov = np.cov(own[0][own[1] == c].T, bias=True)
            np.testing.assert_allclose(law.bulk * np.eye(12) + law.B.T @ law.M @ law.B, cov + noise, atol=1e-9)
            np.testing.assert_allclose(law.mean, own[0][own[1] == c].mean(axis=0) * (centre == "none"), atol=1e-12)
            assert law.given.shape == (4 + (centre == "none"), 12)
            values, vectors = np.linalg.eigh(cov)
            np.testing.assert_allclose(np.linalg.norm(law.given @ vectors[:, -4:], axis=0), 1.0, atol=1e-9)
            top = np.linalg.norm(cov + np.outer(law.mean, law.mean), 2)
            assert law.strength == pytest.approx(top)
    few = laws(setting(gs.Dataset((X[:8], [0, 1] * 4), signal=None, centre="none"), target="-1 | 1"), 2)[0]
    np.testing.assert_allclose(few.B.T @ few.M @ few.B, np.cov(X[:8:2].T, bias=True), atol=1e-9)


def test_a_dataset_drawn_from_a_mixture_has_its_equivalent(coarse):
    """Classes of 3000 inputs each: covariances are known to a few percent, and the errors to the noise of seeds."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 1], 6000)
    mixture = gs.Mixture(
        D, (gs.Component(0.5, (gs.Spike(9.0, "u"),)), gs.Component(0.5, (gs.Spike(30.0, "v"),), mean={"u": 2.0}))
    )
    X = mixture.shaped(rng.standard_normal((6000, D)), labels)
    data = gs.Dataset((X, labels), signal=None, centre="none")
    errors = {}
    sources: tuple[tuple[str, Any, dict[str, Any]], ...] = (("mixture", mixture, {}), ("data", data, {"spikes": 1}))
    settings = {name: setting(source, target="-1 | 1", eta=5.0, width=60) for name, source, _ in sources}
    for name, _, options in sources:
        errors[name] = gs.equivalent(settings[name], "conditional", range(6), n_test=1000, **options).test_error
    errors["network"] = gs.simulate(settings["data"], range(6), n_test=1000).test_error
    mean = {name: e.mean() for name, e in errors.items()}
    gap = np.sqrt(sum(errors[name].var(ddof=1) / 6 for name in ("mixture", "data")))
    assert abs(mean["data"] - mean["mixture"]) < min(3 * gap, 0.1 * mean["mixture"])
    assert mean["data"] == pytest.approx(mean["network"], rel=0.08)


# Refusals


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("gaussian", {}, "isotropic Gaussian data only"),
        ("spiked", {}, "isotropic Gaussian data only"),
        ("conditional", {"spikes": 2}, "spikes is an option for a Dataset"),
        ("conditional", {"width": 1.0}, "option of model='hermite'"),
        ("conditional", {"directions": 39}, "is too small for 39 directions"),
        ("hermite", {"directions": 1}, "option of model='conditional'"),
        ("hermite", {"spikes": 1}, "option of model='conditional'"),
        ("hermite", {"base": "gaussian"}, "option of model='spiked'"),
        ("hermite", {"degree": -1}, "degree must be"),
        ("hermite", {"degree": 101}, "at most 100"),
        ("hermite", {"width": 0}, "width must be"),
        ("hermite", {"width": "wide"}, "width must be"),
    ],
)
def test_sentences(model, options, words):
    s = setting(width=50) if options.get("directions") == 39 else setting()
    with pytest.raises(gs.InputError, match=words) as caught:
        gs.equivalent(s, model, n_test=200, **options)
    assert "\n" not in str(caught.value)


def test_spikes_of_a_dataset_are_whole_and_leave_something():
    X = np.random.default_rng(0).standard_normal((400, 12))
    s = setting(gs.Dataset((X, [0, 1] * 200)), target="-1 | 1")
    for spikes, words in ((-1, "spikes must be a whole"), (1.5, "spikes must be a whole"), (10, "at most 9 here")):
        with pytest.raises(gs.InputError, match=words):
            gs.equivalent(s, "conditional", n_test=100, spikes=spikes)  # type: ignore[arg-type]
    assert eigenvectors(s, None, 1) == 9 and laws(s, 9)[0].description == "9 spikes"


def test_routes_have_the_options():
    route = Route("equivalent", {"model": "hermite", "degree": 3, "width": 1})
    assert route.key == "equivalent(degree=3, model=hermite, width=1.0)" and Route.parse(route.key) == route
    assert Route.parse("equivalent(model=hermite, width=.5)").key == "equivalent(model=hermite, width=0.5)"
    with pytest.raises(gs.InputError, match="finite number"):
        Route.parse("equivalent(width=wide)")
    assert dataclasses.replace(route, options=()).key == "equivalent"

"""Each preset simulated literally as its paper writes it, to 1e-10."""

import numpy as np
import pytest
from scipy import linalg

import giantstep as gs
from giantstep._machine.random import normals
from giantstep.experiment import draw
from giantstep.experiment.data import _fashion as fashion
from giantstep.experiment.data.mixture import pattern
from giantstep.simulate import train

N, D, P = 60, 25, 36


def data(setting, seed):
    """Initial weights, the step's batch, the readout's batch and the test batch, in our notation."""
    W, a = draw.weights(setting, seed)
    batches = [*draw.step_batches(setting), draw.readout_batch(setting), draw.test_batch(200)]
    return W, a, [draw.rows(setting, seed, batch) for batch in batches]


def relu(x):
    return np.maximum(x, 0)


def agree(setting, seed, risk, W=None):
    outcome = gs.simulate(setting, seed=seed, n_test=200)
    assert outcome.risk == pytest.approx(risk, rel=1e-10)
    if W is not None:
        np.testing.assert_allclose(train(setting, seed).final, W, rtol=1e-10, atol=1e-12)


def test_moniri(seed):
    setting = gs.presets.moniri(N, D, P, 0.3, 0.07, C=1.5, noise=0.2)
    W0, a, ((X, y), (X2, y2), (Xt, yt)) = data(setting, seed)
    a = a / np.sqrt(P)  # a ~ N(0, I/N)
    mean = 1 / np.sqrt(2 * np.pi)
    G = ((np.outer(a, y) - np.outer(a, a) @ (relu(W0 @ X.T) - mean)) * (W0 @ X.T > 0)) @ X / N
    W = W0 + 1.5 * N**0.3 * G
    F = relu(X2 @ W.T) - mean
    b = np.linalg.solve(F.T @ F / N + 0.07 * np.eye(P), F.T @ y2 / N)
    agree(setting, seed, np.mean((yt - (relu(Xt @ W.T) - mean) @ b) ** 2), W)


def test_ba(seed):
    setting = gs.presets.ba(N, D, P, 0.8, 0.07)
    W0, a, ((X, y), (X2, y2), (Xt, yt)) = data(setting, seed)
    V, a = W0.T, a / np.sqrt(P)  # their W is d x N, a_j ~ N(0, 1/N)
    f = np.tanh(X @ V) @ a / np.sqrt(P)
    G = X.T @ ((np.outer(y - f, a) / np.sqrt(P)) * (1 - np.tanh(X @ V) ** 2)) / N
    V = V + 0.8 * np.sqrt(P) * G
    Phi = np.tanh(X2 @ V) / np.sqrt(P)
    b = np.linalg.solve(Phi.T @ Phi / N + 0.07 / P * np.eye(P), Phi.T @ y2 / N)  # (1/n)||.||^2 + (lambda/N)||a||^2
    agree(setting, seed, np.mean((yt - np.tanh(Xt @ V) @ b / np.sqrt(P)) ** 2), V.T)


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
def test_moniri_hassani(batch, seed):
    setting = gs.presets.moniri_hassani(
        N, D, P, 0.3, 0.4, C1=1.5, C2=0.7, batch=batch, penalty=0.07, target="x1 + x1*x2"
    )
    W, a, (first, second, (X2, y2), (Xt, yt)) = data(setting, seed)
    assert np.array_equal(first[0], second[0]) == (batch == "reuse")
    a = a / np.sqrt(P)  # a_i ~ N(0, 1/N), f = N^(-1/2) a^T sigma(W x)
    for eta, (X, y) in ((1.5 * P**0.3, first), (0.7 * P**0.4, second)):
        r = y - np.tanh(X @ W.T + 0.8) @ a / np.sqrt(P)
        W = W + eta / N * (np.outer(a, r) * (1 - np.tanh(W @ X.T + 0.8) ** 2)) @ X
    F = np.tanh(X2 @ W.T + 0.8)
    b = np.linalg.solve(F.T @ F / N + 0.07 * np.eye(P), F.T @ y2 / N)
    agree(setting, seed, np.mean((yt - np.tanh(Xt @ W.T + 0.8) @ b) ** 2), W)


@pytest.mark.parametrize("half", [False, True])
def test_dandi(half, seed):
    setting = gs.presets.dandi(N, D, P, 40.0, 0.03, steps=2, half=half)
    W, a, (first, second, (X2, y2), (Xt, yt)) = data(setting, seed)
    assert np.array_equal(W, W[::-1]) and np.array_equal(a, -a[::-1])
    for X, y in (first, second):
        f = relu(X @ W.T) @ a / P
        W = W + 40.0 / P * a[:, None] * ((relu(np.sign(X @ W.T)) * (y - f)[:, None]).T @ X) / N
    Phi = relu(X2 @ W.T) / P
    weight = 0.5 if half else 1.0
    b = np.linalg.solve(weight * Phi.T @ Phi / N + 0.03 / P * np.eye(P), weight * Phi.T @ y2 / N)
    agree(setting, seed, np.mean((yt - relu(Xt @ W.T) @ b / P) ** 2), W)


def test_cui(seed):
    setting = gs.presets.cui(80, N, D, P, 1.3, 0.4)
    W0, a, ((X, y), (X2, y2), (Xt, yt)) = data(setting, seed)
    assert np.all(a == 1)
    W = W0 + 1.3 * ((1 - np.tanh(X @ W0.T) ** 2) * y[:, None]).T @ X / 80
    Phi = np.tanh(X2 @ W.T) / np.sqrt(P)
    theta = np.linalg.solve(Phi.T @ Phi + 0.4 * np.eye(P), Phi.T @ y2)
    agree(setting, seed, np.mean((yt - np.tanh(Xt @ W.T) @ theta / np.sqrt(P)) ** 2), W)


def test_demir(seed):
    setting = gs.presets.demir(D, N, P, 5.0, 0.02)
    F, w, ((X, y), (X2, y2), (Xt, yt)) = data(setting, seed)
    w = w / np.sqrt(P)
    G = (np.outer(w, y - relu(X @ F.T) @ w / np.sqrt(P)) * (F @ X.T > 0)) @ X / (N * np.sqrt(P))
    F = F + 5.0 * G
    R = relu(F @ X2.T) / np.sqrt(P)
    w = np.linalg.solve(R @ R.T + 0.02 * N * np.eye(P), R @ y2)
    agree(setting, seed, np.mean((yt - relu(Xt @ F.T) @ w / np.sqrt(P)) ** 2), F)


@pytest.mark.parametrize("spiked", [False, True])
def test_demir_on_a_mixture(spiked, seed):
    """Literally, from standard normal numbers: gamma, Sigma_c, xi, counts and all."""
    alpha, beta, s = 0.4, 0.9, 0.3
    setting = gs.presets.demir(
        D, N, P, penalty=0.02, alpha=alpha, beta=beta, rho=0.35, alignment=s, spiked_target=spiked, target="relu(x1)"
    )
    theta, eta = D ** (beta * (1 - alpha)), D ** (beta * alpha)
    assert isinstance(setting.data, gs.Mixture)
    gamma = [setting.data.directions(c)[0] for c in (0, 1)]
    assert gamma[0] @ gamma[1] == pytest.approx(s)
    Sigma = [np.eye(D) + theta * np.outer(g, g) for g in gamma]
    xi = gamma[0] + gamma[1] if spiked else np.eye(D)[0]
    xi *= np.linalg.norm(0.35 * Sigma[0] + 0.65 * Sigma[1], 2) ** -0.5 / np.linalg.norm(xi)
    isotropic = gs.presets.demir(D, N, P, eta, 0.02)
    F, w, batches = data(isotropic, seed)
    F, w = F * np.sqrt(D / (D + theta)), w / np.sqrt(P)
    roots = [np.real(linalg.sqrtm(S)) for S in Sigma]
    found = []
    for Z, _ in batches:
        c = pattern(setting.data.weights, 0, len(Z))
        assert np.sum(c == 0) == int(0.35 * len(Z))
        X = np.where((c == 0)[:, None], Z @ roots[0], Z @ roots[1])
        found.append((X, relu(X @ xi)))
    (X, y), (X2, y2), (Xt, yt) = found
    f = relu(X @ F.T) @ w / np.sqrt(P)
    F = F + eta * (np.outer(w, y - f) * (F @ X.T > 0)) @ X / (N * np.sqrt(P))
    R = relu(F @ X2.T) / np.sqrt(P)
    w = np.linalg.solve(R @ R.T + 0.02 * N * np.eye(P), R @ y2)
    agree(setting, seed, np.mean((yt - relu(Xt @ F.T) @ w / np.sqrt(P)) ** 2), F)


def test_demir_of_higher_rank_and_by_component():
    setting = gs.presets.demir(D, N, P, alpha=0.5, beta=0.74, strengths=(0.2, 0.9), rho=0.25, target="-1 | 1")
    theta = D**0.37
    assert setting.data.trace == pytest.approx(D + 1.1 * theta)
    assert setting.target.scale == "1/sqrt(spread)" and setting.target.components == 2
    assert gs.Setting.from_toml(setting.to_toml()) == setting
    assert gs.presets.demir(D, N, P, 3.0, alpha=0.5, beta=0.74).protocol.steps[0].eta == 3.0
    assert gs.presets.demir(D, N, P, alpha=0.5, beta=0.74, alignment=1.0).data.spread == pytest.approx(1 + theta)


@pytest.mark.parametrize("centre", ["class", "all"])
def test_fashion(centre, seed):
    """Literally, from the pixels: centred, scaled to the trace 784, noise added, F_ij ~ N(0, 1/Tr) and the units of the paper."""
    m, k, eta = 40, 30, 5.0
    setting = gs.presets.fashion(m, k, (5, 9), eta, 0.02, centre=centre, path="sample")
    pixels, labels = fashion.images("sample")["train"]
    parts = [pixels[labels == c] / 255 for c in (5, 9)]
    means = [own.mean(axis=0) for own in parts] if centre == "class" else [np.concatenate(parts).mean(axis=0)] * 2
    scales = [np.sqrt(784 / own.var(axis=0).sum()) for own in parts]
    clean = np.concatenate([s * (own - mean) for own, mean, s in zip(parts, means, scales, strict=True)])
    assert isinstance(setting.data, gs.Dataset)
    order = setting.data.order(seed)
    F, w = draw.weights(setting, seed)
    trace = clean.var(axis=0).sum() + 784
    isotropic, _ = draw.weights(gs.presets.demir(784, m, k, 1.0), seed)
    np.testing.assert_allclose(F, isotropic * np.sqrt(784 / trace), rtol=1e-9)
    assert centre == "all" or trace == pytest.approx(2 * 784)
    found = []
    for i, batch in enumerate((*draw.step_batches(setting), draw.readout_batch(setting))):
        rows = order[i * m : (i + 1) * m]
        X = clean[rows] + normals(seed, (*batch.key, 0), 0, m, 784)
        y = np.where(rows < 1400, -1.0, 1.0)
        assert np.sum(y) == 0
        found.append((X, y))
    (X, y), (X2, y2) = found
    Xt, yt = draw.rows(setting, seed, draw.test_batch(200))
    w = w / np.sqrt(k)
    f = relu(X @ F.T) @ w / np.sqrt(k)
    F = F + eta * (np.outer(w, y - f) * (F @ X.T > 0)) @ X / (m * np.sqrt(k))
    R = relu(F @ X2.T) / np.sqrt(k)
    w = np.linalg.solve(R @ R.T + 0.02 * m * np.eye(k), R @ y2)
    agree(setting, seed, np.mean((yt - relu(Xt @ F.T) @ w / np.sqrt(k)) ** 2), F)
    assert gs.labels(setting).variance == pytest.approx(1)


def test_mei_montanari(seed):
    setting = gs.presets.mei_montanari(N, D, P, (0.02, 0.3))
    W, _, ((X2, y2), (Xt, yt)) = data(setting, seed)
    outcome = gs.simulate(setting, seed=seed, n_test=200)
    for i, lam in enumerate((0.02, 0.3)):
        F = relu(X2 @ W.T)
        a = np.linalg.solve(F.T @ F / N + P * lam / D * np.eye(P), F.T @ y2 / N)
        assert outcome.risk[i] == pytest.approx(np.mean((yt - relu(Xt @ W.T) @ a) ** 2), rel=1e-10)


def test_lists_and_powers_are_scaled_not_repeated():
    assert gs.presets.cui(80, N, D, 10, [0.1, 0.2], [1.0, 2.0]).protocol.steps[0].eta == (1.0, 2.0)
    assert gs.presets.ba(N, D, 100, [1.0, 2.0], 0.1).protocol.steps[0].eta == (10.0, 20.0)
    assert gs.presets.cui(80, N, D, 10, gs.power(0.5), "gcv").protocol.steps[0].eta == gs.power(0.5, times=10.0)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: gs.presets.cui(80, 0, D, P, 1.0, 0.1),
        lambda: gs.presets.mei_montanari(N, 0, P, 0.1),
        lambda: gs.presets.dandi(N, D, P, 1.0, None),
        lambda: gs.presets.dandi(N, D, P, 1.0, 0.1, steps="a"),  # type: ignore[arg-type]
        lambda: gs.presets.ba(N, D, P, "big", 0.1),  # type: ignore[arg-type]
        lambda: gs.presets.demir(N, D, P),
        lambda: gs.presets.demir(N, D, P, alpha=0.5),
        lambda: gs.presets.demir(N, D, P, alpha=0.5, beta=1.0, rho=1.5),
        lambda: gs.presets.demir(N, D, P, alpha=0.5, beta=1.0, alignment=2.0),
        lambda: gs.presets.demir(N, D, P, alpha=0.5, beta=1.0, alignment=-1.0, spiked_target=True),
        lambda: gs.presets.demir(N, D, P, alpha=0.5, beta=1.0, strengths=("a",)),  # type: ignore[arg-type]
        lambda: gs.presets.moniri(N, D, P, 0.1, 0.1, target=gs.target("x1"), noise=1.0),
        lambda: gs.presets.fashion(classes=(0, 1, 2)),  # type: ignore[arg-type]
        lambda: gs.presets.fashion(classes=(0, 10)),
        lambda: gs.presets.fashion(signal=-1.0),
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(gs.InputError):
        bad()

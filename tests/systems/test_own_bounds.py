"""Bounds for a user's own network and table: constants against gradients, inequalities against draws and training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import giantstep as gs
from giantstep.systems.bounds._own_training import growth
from giantstep.systems.bounds.lipschitz import extent, network_lipschitz
from giantstep.systems.bounds.own_loss import OWN_LOSSES, OwnLoss


def network(q: int = 1, activation: str = "relu", p: int = 12, d: int = 3, seed: int = 0) -> gs.Layers:
    rng = np.random.default_rng(seed)
    A, b, c = rng.normal(size=(q, p)) / p**0.5, rng.normal(size=p) / 4, rng.normal(size=q)
    return gs.Layers(rng.normal(size=(p, d)) * rng.uniform(0.1, 2, (p, 1)), A, activation, b, c)


def labels(loss: str, n: int, q: int, rng: np.random.Generator) -> np.ndarray:
    if loss == "cross_entropy":
        return rng.integers(0, q, n)
    return rng.choice([-1.0, 1.0], n) if loss == "logistic" else rng.normal(size=(n, q))


@pytest.mark.parametrize("activation", ["relu", "tanh", "leaky_relu", "sin(2*x)"])
@pytest.mark.parametrize("q", [1, 3])
def test_no_pair_of_points_exceeds_the_constants(activation, q):
    """|f(x) - f(x')| <= constant |x - x'| for near and far pairs, and the largest gradient is below every constant."""
    f, rng = network(q, activation), np.random.default_rng(1)
    known = network_lipschitz(f, rng.normal(size=(500, 3)) * 3)
    x = rng.normal(size=(4000, 3)) * 3
    other = x + rng.normal(size=x.shape) * rng.choice([1e-3, 1.0], (4000, 1))
    ratio = np.linalg.norm(f(x) - f(other), axis=1) / np.linalg.norm(x - other, axis=1)
    for constant in (known.product, known.balanced, known.centred):
        assert np.max(ratio) <= constant
        assert known.on_rows is not None and known.on_rows <= constant
    assert np.max(ratio) > 0.2 * known.constant and known.on_rows > 0.2 * known.constant


def test_constants_by_hand():
    """One ReLU neuron: every constant is |a| |w|. Opposite linear neurons of ReLU cancel to |.| and keep half of the product."""
    one = network_lipschitz(gs.Layers([[3.0, 4.0]], [2.0], "relu"))
    assert [one.product, one.balanced, one.centred] == pytest.approx([10.0, 10.0, 10.0]) and one.slopes == (0.0, 1.0)
    pair = network_lipschitz(gs.Layers([[1.0], [-1.0]], [1.0, 1.0], "relu"))  # |x|, of constant 1
    assert pair.product == pytest.approx(2.0) and pair.centred == pytest.approx(1.0)
    uneven = network_lipschitz(gs.Layers([[10.0, 0.0], [0.0, 0.1]], np.diag([0.1, 10.0]), "relu"))
    assert uneven.product == pytest.approx(100.0) and uneven.constant == pytest.approx(1.0)
    assert extent(gs.activation("tanh"), slope=False) == pytest.approx((-1.0, 1.0))
    assert extent(gs.activation("relu"), slope=False) == (0.0, np.inf)


@settings(max_examples=30, deadline=None)
@given(loss=st.sampled_from(OWN_LOSSES), seed=st.integers(0, 1000))
def test_the_constants_of_a_loss_are_those_of_its_rows(loss, seed):
    """|l(f, y) - l(f', y')| <= L1 |f - f'| + L2 |y - y'| for all pairs of rows."""
    rng = np.random.default_rng(seed)
    q = {"logistic": 1, "cross_entropy": 4}.get(loss, 2)
    read, f = OwnLoss.of(loss, None), rng.normal(size=(30, q)) * 3
    y = read.labels(labels(loss, 30, q, rng), 30, q)
    first, second = read.constants(f, y)
    height = read.constants_up_to(float(np.linalg.norm(f, axis=1).max())) if loss != "square" else (first, second)
    assert first <= height[0] + 1e-12 and second <= height[1] + 1e-12
    every = np.array([read.values(np.repeat(f[i : i + 1], 30, 0), y) for i in range(30)])  # l(f_i, y_j)
    between = lambda v: np.linalg.norm(v[:, None] - v[None], axis=2)  # noqa: E731
    in_f = np.abs(every[:, None, :] - every[None, :, :]).max(axis=2)  # at the same label
    in_y = np.abs(every[:, :, None] - every[:, None, :]).max(axis=0)  # at the same prediction
    if loss != "square":  # whose largest error is over matched rows
        assert np.all(in_f <= first * between(f) + 1e-9)
        assert np.all(in_y <= second * between(y) + 1e-9)
    own = np.diag(every)
    assert np.all(np.abs(own[:, None] - own[None]) <= first * between(f) + second * between(y) + 1e-9)


@pytest.mark.parametrize(
    ("loss", "q"), [("absolute", 2), ("huber", 1), ("logistic", 1), ("cross_entropy", 3), ("square", 1)]
)
def test_the_gap_on_fresh_rows_is_below_its_bound(loss, q):
    """E|R_n - R| over many tables of 50 rows, with the bound of a large one; ``expected`` is the gap itself."""
    f, rng = network(q, "tanh"), np.random.default_rng(3)
    X, y = rng.uniform(-1, 1, (20_000, 3)), labels(loss, 20_000, q, rng)
    whole = gs.bounds(f, X, y, loss)
    read = OwnLoss.of(loss, None)
    values = read.values(f(X), read.labels(y, len(X), q)).reshape(400, 50)
    gap = np.mean(np.abs(values.mean(axis=1) - values.mean()))
    scale = (20_000 / 50) ** 0.5
    assert gap < whole.fresh * scale
    assert gap == pytest.approx(whole.expected * scale, rel=0.15)
    assert whole.mean_loss == pytest.approx(float(values.mean()))
    assert whole.fresh <= whole.modulus * (whole.spread / whole.n) ** 0.5 * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_of_the_worst_network_is_below_its_bound():
    """A network that knows its rows: trained far on few of them by scikit-learn, with several outputs."""
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (60, 2)), rng.normal(size=(60, 2))
    fitted = MLPRegressor(
        hidden_layer_sizes=(50,), activation="tanh", solver="lbfgs", alpha=0.0, max_iter=300, random_state=0, tol=1e-9
    )
    fitted.fit(X, y)
    layers = gs.Layers.of(fitted)
    np.testing.assert_allclose(layers(X), np.asarray(fitted.predict(X), dtype=float), atol=1e-9)
    found = gs.bounds(fitted, X, y)
    x = rng.uniform(-1, 1, (5000, 2))
    risk = np.mean(np.linalg.norm(layers(x) - rng.normal(size=(5000, 2)), axis=1))
    gap = abs(risk - found.mean_loss)
    assert gap > 10 * found.expected  # what it seems to be, from the rows it was trained on
    assert gap < found.measured_training < found.training


def test_the_distance_measured_is_above_that_of_the_law():
    """W1(mu_n, mu) in one dimension, known exactly: its root mean square is below both bounds."""
    from scipy.stats import wasserstein_distance

    rng, flat = np.random.default_rng(1), gs.Layers([[1.0]], [1.0], "relu")
    grid, found, exact = (np.arange(4000) + 0.5) / 4000, [], []
    for _ in range(60):
        x = rng.random(40)
        found.append(gs.bounds(flat, x[:, None], np.zeros(40)))
        exact.append(wasserstein_distance(x, grid))
    rms = np.mean(np.square(exact)) ** 0.5
    assert rms < np.mean([each.measured_distance for each in found]) < np.mean([each.distance for each in found])


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("batch", [1, 7, 16])
@pytest.mark.parametrize("loss", ["huber", "cross_entropy"])
def test_training_stays_within_what_was_known_before(activation, batch, loss):
    """SGD in NumPy, batches of every size and several epochs: ||A|| ||W|| and the outputs stay below their bounds."""
    q, rng = 2, np.random.default_rng(5)
    f = network(q, activation)
    X, read = rng.normal(size=(40, 3)), OwnLoss.of(loss, None)
    y = read.labels(labels(loss, 40, q, rng), 40, q)
    W, b, A, c = (np.array(v) for v in (f.W, f.b, f.A, f.c))
    for _ in range(3):
        order = rng.permutation(40)
        for rows in np.split(order, range(batch, 40, batch)):
            h = X[rows] @ W.T + b
            s, slope = np.asarray(f.activation(h)), np.asarray(f.activation.slope(h))
            e = s @ A.T + c
            if loss == "huber":
                e = e - y[rows]
                g = e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1.0)
            else:
                g = np.exp(e - e.max(axis=1, keepdims=True))
                g = g / g.sum(axis=1, keepdims=True) - y[rows]
            inner = (g @ A) * slope / len(rows)
            A, c = A - 0.05 * g.T @ s / len(rows), c - 0.05 * g.mean(axis=0)
            W, b = W - 0.05 * inner.T @ X[rows], b - 0.05 * inner.sum(axis=0)
    known = growth(f, X, read.constants_up_to(0.0)[0], 0.05, 3, batch)
    assert np.linalg.norm(A) * np.linalg.norm(W) < known.product
    assert np.max(np.linalg.norm(gs.Layers(W, A, activation, b, c)(X), axis=1)) < known.height
    before = gs.bounds(
        f, X, np.argmax(y, axis=1) if loss == "cross_entropy" else y, loss, rate=0.05, epochs=3, batch=batch
    )
    after = gs.bounds(
        gs.Layers(W, A, activation, b, c), X, np.argmax(y, axis=1) if loss == "cross_entropy" else y, loss
    )
    assert after.constant < before.constant and after.training < before.training and after.fresh < before.fresh


@pytest.mark.parametrize(("activation", "rate", "slack"), [("relu", 0.02, 1.3), ("tanh", 0.05, 2.5)])
@pytest.mark.parametrize("batch", [1, 7])
def test_the_bounds_before_training_are_those_of_the_worst_steps(activation, rate, slack, batch):
    """Norms that grow as fast as every step allows, in a random order of the rows, come close to the bound and not over it."""
    f, rng = network(2, activation), np.random.default_rng(2)
    f = gs.Layers(f.W / np.linalg.norm(f.W), f.A / np.linalg.norm(f.A), activation)
    X = rng.normal(size=(40, 3))
    r, v, w = np.sqrt(1 + np.sum(X**2, axis=1)), 1.0, 1.0
    for _ in range(3):
        for rows in np.split(rng.permutation(40), range(batch, 40, batch)):
            mean = float(np.mean(r[rows]))
            most = f.p**0.5 if activation == "tanh" else np.inf
            v, w = v + rate * min(most, w * mean), w + rate * v * mean
    assert v * w < growth(f, X, 1.0, rate, 3, batch).product < slack * v * w


def test_without_steps_the_bounds_before_and_after_training_have_the_same_norms():
    f = network(2, "tanh")
    known = growth(f, np.ones((10, 3)), 1.0, 0.0, 1, 1)
    first = np.hypot(np.linalg.norm(f.W), np.linalg.norm(f.b))
    assert known.product == pytest.approx(np.linalg.norm(f.A) * first)


def test_networks_of_every_kind_and_refusals():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    own = gs.Network(6, "relu", weights=(rng.normal(size=(6, 3)), rng.normal(size=6)))
    layers = gs.Layers.of(own)
    expected = own.factor * np.maximum(X @ own.weights.W.T, 0) @ own.weights.a
    np.testing.assert_allclose(layers(X)[:, 0], expected)
    found = gs.bounds(own, X, y, loss=lambda f, y: 2 * np.abs(f - y)[:, 0], lipschitz=(2.0, 2.0))
    plain = gs.bounds(own, X, y)
    assert found.mean_loss == pytest.approx(2 * plain.mean_loss) and found.training == pytest.approx(2 * plain.training)
    wide = gs.bounds(own, X, y, support=(-10.0, 10.0))
    assert wide.distance > plain.distance and "support that was given" in str(wide)
    for call, words in (
        (lambda: gs.bounds(gs.Network(6, "relu"), X, y), "needs weights of its own"),
        (lambda: gs.bounds("relu", X, y), "must be gs.Layers"),
        (lambda: gs.bounds(own, X[:, :2], y), "shape \\(n, 3\\)"),
        (lambda: gs.bounds(own, X, y[:5]), "for 20 rows"),
        (lambda: gs.bounds(own, X, y, "cross_entropy"), "an output for each class"),
        (lambda: gs.bounds(own, X, y, "logistic"), r"labels \+1 and -1"),
        (lambda: gs.bounds(own, X, y, np.abs), "needs lipschitz"),
        (lambda: gs.bounds(own, X, y, "huber", lipschitz=(1, 1)), "belongs to a loss of your own"),
        (lambda: gs.bounds(own, X, y, "square", rate=0.1), "no Lipschitz constant before training"),
        (lambda: gs.bounds(own, X, y, support=(0.0, 1.0)), "hold every row"),
        (lambda: gs.bounds(gs.Layers(np.eye(3), np.ones(3), "x^2"), X, y), "must be Lipschitz"),
        (lambda: gs.Layers(np.eye(3), np.ones(2), "relu"), "they must agree"),
        (lambda: gs.Layers(np.eye(3), np.ones(3), "relu", b=np.ones(2)), "b must be 3 finite numbers"),
    ):
        with pytest.raises(gs.InputError, match=words):
            call()

"""The dense route: draw the weights and the data, take the steps, fit the readout, test. Any network, any protocol.

Shared work: all step sizes of the last step use one gradient G and two products, X W^T and X G^T, since
X (W + eta G)^T = X W^T + eta X G^T; all penalties use one factorisation. Batches are streamed in chunks of rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from giantstep import draw, measure
from giantstep._backend import jax, jnp
from giantstep._resolvent import gram
from giantstep.activation import Activation
from giantstep.draw import Batch
from giantstep.setting import Setting
from giantstep.simulate.plan import Plan
from giantstep.simulate.readout import Readout, from_features, from_moments
from giantstep.step import descent_sum, direction_sum

Array = Any
Tick = Callable[[float], None]


@dataclass(frozen=True)
class Run:
    """A group of seeds on its way: what every stage needs."""

    setting: Setting
    seeds: tuple[int, ...]
    plan: Plan
    dtype: Any
    tick: Tick

    @property
    def sigma(self) -> Activation:
        return self.setting.network.activation

    def chunks(self, batch: Batch) -> Iterator[tuple[Array, Array]]:
        """Inputs (S, rows, d) and labels (S, rows) of a batch, piece by piece."""
        for start in range(0, batch.n, self.plan.rows):
            pairs = [draw.rows(self.setting, seed, batch, start, start + self.plan.rows) for seed in self.seeds]
            X, y = (np.stack(part) if len(pairs) > 1 else part[0][None] for part in zip(*pairs, strict=True))
            yield jnp.asarray(X, self.dtype), jnp.asarray(y, self.dtype)


@dataclass(frozen=True)
class FirstLayers:
    """First layers along the eta axis: ``members`` as they are, or members[0] + etas[e] * slope."""

    members: tuple[Array, ...]
    slope: Array | None = None
    etas: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.members) if self.slope is None else len(self.etas)

    def __getitem__(self, e: int) -> Array:
        return self.members[e] if self.slope is None else self.members[0] + self.etas[e] * self.slope

    def preactivations(self, X: Array) -> "Preactivations":
        if self.slope is None:
            return Preactivations(X, self, None, None)
        return Preactivations(X, self, _product(X, self.members[0]), _product(X, self.slope))


@dataclass(frozen=True)
class Preactivations:
    """X W^T of one chunk for every member; the affine family holds two products for all."""

    X: Array
    layers: FirstLayers
    base: Array | None
    slope: Array | None

    def __getitem__(self, e: int) -> tuple[Array, Array | None, float]:
        if self.slope is None:
            return _product(self.X, self.layers[e]), None, 0.0
        return self.base, self.slope, self.layers.etas[e]


@jax.jit
def _product(X, W):
    return jnp.einsum("snd,spd->snp", X, W)


@partial(jax.jit, static_argnames=("sigma", "full", "rank_one"))
def _sums(W, a, X, y, scale, *, sigma, full, rank_one):
    one = direction_sum if rank_one else descent_sum
    return jax.vmap(lambda *args: one(*args, sigma=sigma, scale=scale, full=full))(W, a, X, y)


def _features(H, slope, eta, sigma):
    return sigma(H if slope is None else H + eta * slope)


_features_alone = partial(jax.jit, static_argnames=("sigma",))(_features)


@partial(jax.jit, static_argnames=("sigma",))
def _add_moments(A, c, H, slope, eta, y, *, sigma):
    F = _features(H, slope, eta, sigma)
    return A + jax.vmap(gram)(F).astype(A.dtype), c + jnp.einsum("snp,sn->sp", F, y).astype(c.dtype)


@partial(jax.jit, static_argnames=("sigma",))
def _error_sums(H, slope, eta, y, b, *, sigma):
    """Sums over test rows of the squared and fourth-power error: (S, L) each."""
    F = _features(H, slope, eta, sigma)
    square = (y[:, None, :] - jnp.einsum("snp,slp->sln", F, b.astype(F.dtype))).astype(jnp.float64) ** 2
    return square.sum(-1), (square**2).sum(-1)


@jax.jit
def _deflation(X, y):
    return jnp.sum(y, axis=1), jnp.einsum("snd,sn->sd", X, y)


def descents(run: Run, layers: FirstLayers, a: Array, t: int) -> list[Array]:
    """Minus the gradient of step t at every first layer, (S, p, d) each, summed over one pass through the batch."""
    step, batch = run.setting.protocol.steps[t], draw.step_batches(run.setting)[t]
    scale, full, rank_one = run.setting.network.factor, step.residual == "full", step.update == "rank1"
    mean, linear = _plug_in(run, batch, step.deflate)
    totals: list[Any] = [0.0] * len(layers)
    for X, y in run.chunks(batch):
        jax.block_until_ready(totals)  # one chunk at work while the next is drawn: no queue of chunks in memory
        if step.deflate:
            y = y - mean[:, None] - (jnp.einsum("snd,sd->sn", X, linear) if step.deflate > 1 else 0.0)
        for e in range(len(layers)):
            part = _sums(layers[e], a, X, y, scale, sigma=run.sigma, full=full, rank_one=rank_one)
            totals[e] = totals[e] + part.astype(jnp.float64)
            run.tick(4.0 * X.shape[1] * run.setting.p * run.setting.d)
    if rank_one:  # c_1 s a beta^T
        c1 = float(run.sigma.hermite(1)[1])
        return [((c1 * scale / batch.n) * a[:, :, None] * total[:, None, :]).astype(run.dtype) for total in totals]
    return [(total / batch.n).astype(run.dtype) for total in totals]


def _plug_in(run: Run, batch: Batch, deflate: int) -> tuple[Any, Any]:
    """Plug-in estimates of E y and E[y x] on the batch itself: the Hermite parts of degree 0 and 1 of the labels."""
    if not deflate:
        return 0.0, 0.0
    parts = [_deflation(X, y) for X, y in run.chunks(batch)]
    return sum(m for m, _ in parts) / batch.n, sum(b for _, b in parts) / batch.n


@dataclass(frozen=True)
class Trained:
    """Initial W (S, p, d) and a (S, p), minus the gradient of the first step, and the first layers after all steps."""

    W0: Array
    a: Array
    descent: Array | None
    layers: FirstLayers


def train(run: Run) -> Trained:
    """All steps of the protocol."""
    pairs = [draw.weights(run.setting, seed) for seed in run.seeds]
    W0, a = (jnp.asarray(np.stack(part), run.dtype) for part in zip(*pairs, strict=True))
    layers, first = FirstLayers((W0,)), None
    for t, (step, n) in enumerate(zip(run.setting.protocol.steps, run.setting.protocol.sizes(), strict=True)):
        etas = step.etas(n, run.setting.d, run.setting.p)
        slopes = descents(run, layers, a, t)
        first = slopes[0] if t == 0 else first
        if len(layers) == 1 and etas.size > 1:
            layers = FirstLayers((layers[0],), slopes[0], tuple(etas.tolist()))
        else:
            each = np.broadcast_to(etas, (len(layers),)).tolist()
            layers = FirstLayers(tuple(layers[e] + each[e] * slopes[e] for e in range(len(layers))))
    return Trained(W0, a, first, layers)


def learned(run: Run, layers: FirstLayers) -> dict[str, np.ndarray]:
    """Overlaps (E, S, p, r), shares of the neurons along each direction (E, S, p, r) and inside their span (E, S, p)."""
    directions = run.setting.target.matrix(run.setting.d)
    basis = measure.span(directions)
    found = [_learned(layers[e], directions, basis) for e in range(len(layers))]
    names = ("overlaps", "shares", "inside")
    return {name: np.stack([np.asarray(f[k], dtype=float) for f in found]) for k, name in enumerate(names)}


@jax.jit
def _learned(W, directions, basis):
    def one(W):
        shares = measure.captured_by_neuron(W, directions)
        return measure.overlaps(W, directions), shares, measure.share_inside(W, basis)

    return jax.vmap(one)(W)


def fit(run: Run, layers: FirstLayers, spectrum: bool) -> list[Readout]:
    """The readout of every first layer."""
    readout, batch = run.setting.protocol.readout, draw.readout_batch(run.setting)
    assert readout is not None
    groups = [range(e, min(e + run.plan.grams, len(layers))) for e in range(0, len(layers), run.plan.grams)]
    held = None
    fits: list[Readout] = []
    for group in groups:
        pieces = held if held is not None else ((layers.preactivations(X), y) for X, y in run.chunks(batch))
        if batch.n <= run.plan.rows and held is None:
            pieces = held = list(pieces)  # one chunk: its products serve every group
        if batch.n <= run.setting.p:
            fits += _fit_dual(run, list(pieces), group, spectrum)
        else:
            fits += _fit_primal(run, pieces, group, batch.n, spectrum)
    return fits


def _fit_primal(run: Run, pieces, group: range, n: int, spectrum: bool) -> list[Readout]:
    S, p = len(run.seeds), run.setting.p
    A = {e: jnp.zeros((S, p, p)) for e in group}
    c = {e: jnp.zeros((S, p)) for e in group}
    yy = jnp.zeros(S)
    for pre, y in pieces:
        jax.block_until_ready((A, c))
        for e in group:
            A[e], c[e] = _add_moments(A[e], c[e], *pre[e], y, sigma=run.sigma)
        yy = yy + jnp.sum(y.astype(jnp.float64) ** 2, axis=1)
        run.tick(y.shape[1] * p * (2.0 * run.setting.d + len(group) * p))
    readout = run.setting.protocol.readout
    fits = []
    for e in group:
        fits.append(from_moments(A.pop(e) / n, c.pop(e) / n, yy / n, n, readout, spectrum))  # type: ignore[arg-type]
        run.tick(p**3 / 3)
    return fits


def _fit_dual(run: Run, pieces: list, group: range, spectrum: bool) -> list[Readout]:
    readout, fits = run.setting.protocol.readout, []
    y = jnp.concatenate([y for _, y in pieces], axis=1).astype(jnp.float64)
    for e in group:
        F = jnp.concatenate([_features_alone(*pre[e], sigma=run.sigma) for pre, _ in pieces], axis=1)
        fits.append(from_features(F.astype(jnp.float64), y, readout, spectrum))  # type: ignore[arg-type]
        run.tick(2.0 * F.shape[1] * F.shape[2] * (run.setting.d + F.shape[1]))
    return fits


def test(run: Run, layers: FirstLayers, coefficients: list[np.ndarray], n_test: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean squared error on noise-free test labels and its standard error, both (E, S, L)."""
    batch = draw.test_batch(n_test)
    b = [jnp.asarray(x) for x in coefficients]
    squares = fourths = np.zeros(())
    for X, y in run.chunks(batch):
        pre = layers.preactivations(X)
        sums = [_error_sums(*pre[e], y, b[e], sigma=run.sigma) for e in range(len(layers))]
        squares = squares + np.stack([np.asarray(s) for s, _ in sums])
        fourths = fourths + np.stack([np.asarray(f) for _, f in sums])
        run.tick(2.0 * X.shape[1] * X.shape[2] * run.setting.p)
    mean = squares / n_test
    return mean, np.sqrt(np.maximum(fourths / n_test - mean**2, 0.0) / max(n_test - 1, 1))

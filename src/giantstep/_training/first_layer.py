"""Train the first layer by giant steps, for a group of seeds; batches come in chunks of rows.

Shared work: all step sizes of the last step use one gradient G and two products, X W^T and X G^T, since
X (W + eta G)^T = X W^T + eta X G^T. Batches are streamed: their rows are drawn again when they are needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep import measure
from giantstep._machine.arrays import compiled, is_jax, over_seeds, xp
from giantstep._machine.backend import jax
from giantstep._machine.blas import product
from giantstep._training.batches import Batches, Chunk
from giantstep._training.plan import Plan
from giantstep._training.step import descent_sum, direction_sum
from giantstep.experiment.draw import Batch
from giantstep.experiment.setting import Setting
from giantstep.functions.activation import Activation

Array = Any
Tick = Callable[[float], None]


@dataclass(frozen=True)
class Run:
    """The run of a group of seeds: its draws, its plan, and a function that is called with the operations done.

    ``ambient`` is the dimension of the data if the setting has only the dimension of the projections.
    """

    batches: Batches
    plan: Plan
    tick: Tick
    ambient: int | None = None

    @property
    def setting(self) -> Setting:
        return self.batches.setting

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.batches.seeds

    @property
    def d(self) -> int:
        """Dimension of the data."""
        return self.setting.d if self.ambient is None else self.ambient

    @property
    def sigma(self) -> Activation:
        return self.setting.network.activation

    def holding_the_last(self) -> "Run":
        """The same run with the batch of the last step in memory, if its rows are needed more than once."""
        return replace(self, batches=self.batches.holding_the_last())


def start(
    setting: Setting,
    seeds: tuple[int, ...],
    plan: Plan,
    dtype: Any,
    tick: Tick = lambda work: None,
    *,
    held: tuple[Chunk, ...] = (),
    mesh: jax.sharding.Mesh | None = None,
    host: bool = False,
    device: bool = False,
) -> Run:
    """Make the run of these seeds with this plan."""
    batches = Batches(setting, seeds, plan.rows, plan.room, np.dtype(dtype), held, mesh, host, device)
    return Run(batches, plan, tick)


@dataclass(frozen=True)
class FirstLayers:
    """First layers along the eta axis: the ``members``, or with a slope members[0] + etas[e] * slope. In a compiled program
    the etas are an array, and e may be traced."""

    members: tuple[Array, ...]
    slope: Array | None = None
    etas: tuple[float, ...] | Array = ()

    def __len__(self) -> int:
        return len(self.members) if self.slope is None else len(self.etas)

    def __getitem__(self, e: int) -> Array:
        return self.members[e] if self.slope is None else self.members[0] + self.etas[e] * self.slope

    def stepped(self, slopes: Sequence[Array], etas: np.ndarray) -> "FirstLayers":
        """The layers after a step along the slope of every member; several step sizes of one member share its slope."""
        if len(self) == 1 and etas.size > 1:
            return FirstLayers((self[0],), slopes[0], etas if is_jax(etas) else tuple(etas.tolist()))
        each = xp.broadcast_to(etas, (len(self),))
        each = each if is_jax(each) else each.tolist()  # numbers of Python do not change the precision
        return FirstLayers(tuple(self[e] + each[e] * slopes[e] for e in range(len(self))))

    def preactivations(self, X: Array) -> "Preactivations":
        if self.slope is None:
            return Preactivations(X, self, None, None)
        return Preactivations(X, self, product(X, self.members[0]), product(X, self.slope))


@dataclass(frozen=True)
class Preactivations:
    """X W^T of one chunk for every member as (H, slope, eta), which stands for H + eta * slope; members that share a slope
    share two products."""

    X: Array
    layers: FirstLayers
    base: Array | None
    slope: Array | None

    def __getitem__(self, e: int) -> tuple[Array, Array | None, float]:
        if self.slope is None:
            return product(self.X, self.layers[e]), None, 0.0
        return self.base, self.slope, self.layers.etas[e]


@compiled(static_argnames=("sigma", "full", "rank_one"))
def _sums(H, a, X, y, scale, *, sigma, full, rank_one):
    one = direction_sum if rank_one else descent_sum
    return over_seeds(lambda *args: one(*args, sigma=sigma, scale=scale, full=full))(H, a, X, y)


@compiled(static_argnames="linear")
def _low_moments(X, y, *, linear):
    slope = (y[:, None, :] @ X)[:, 0] if linear else 0 * X[:, 0]
    return xp.sum(y.astype(np.float64), axis=1), slope.astype(np.float64)


@compiled
def _without(X, y, mean, slope):
    return y - mean.astype(y.dtype)[:, None] - (X @ slope.astype(X.dtype)[:, :, None])[:, :, 0]


@dataclass(frozen=True)
class LinearPart:
    """mean + <slope, x> for every seed, (S,) and (S, d): the parts of degree 0 and 1 of the labels, or estimates of them."""

    mean: Array
    slope: Array

    def without(self, X: Array, y: Array) -> Array:
        """The labels without this part."""
        return _without(X, y, self.mean, self.slope)


def linear_part(run: Run, batch: Batch, deflate: int) -> LinearPart | None:
    """Plug-in estimates of E y and E[y x] on the batch, for degrees below ``deflate``; None if ``deflate`` is 0."""
    if not deflate:
        return None

    def add(sums: tuple[Array, Array], chunk: Chunk) -> tuple[Array, Array]:
        mean, slope = _low_moments(chunk.X, chunk.y, linear=deflate > 1)
        return sums[0] + mean, sums[1] + slope

    mean, slope = run.batches.fold(batch, add, (0.0, 0.0))
    return LinearPart(mean / batch.n, slope / batch.n)


def _means(run: Run, layers: FirstLayers, a: Array, t: int, rank_one: bool) -> list[Array]:
    """Minus the gradient of step t (S, p, d), or its direction beta (S, d), at every first layer: one pass through the
    batch."""
    step, batch = run.setting.protocol.steps[t], run.batches.steps[t]
    scale, full = run.setting.network.factor, step.residual == "full"
    low = linear_part(run, batch, step.deflate)

    def add(totals: list[Any], chunk: Chunk) -> list[Any]:
        X, y = chunk.X, chunk.y if low is None else low.without(chunk.X, chunk.y)
        sums = []
        for e, total in enumerate(totals):
            part = _sums(product(X, layers[e]), a, X, y, scale, sigma=run.sigma, full=full, rank_one=rank_one)
            sums.append(total + part.astype(np.float64))
            run.tick(4.0 * X.shape[1] * run.setting.p * run.setting.d)
        return sums

    totals = run.batches.fold(batch, add, [0.0] * len(layers))
    return [total / batch.n for total in totals]


def direction(run: Run, W: Array, a: Array) -> Array:
    """beta = X^T r / n of the first step, (S, d) in float64."""
    return _means(run, FirstLayers((W,)), a, 0, rank_one=True)[0]


def rank_one(run: Run, a: Array, beta: Array) -> Array:
    """c_1 s a beta^T, the rank-one part of minus the gradient, (S, p, d)."""
    c1 = run.sigma.hermite(1)[1]
    return ((c1 * run.setting.network.factor) * a[:, :, None] * beta[:, None, :]).astype(run.batches.dtype)


def _descents(run: Run, layers: FirstLayers, a: Array, t: int) -> list[Array]:
    """The change of every first layer by step t at step size one, (S, p, d) each."""
    if run.setting.protocol.steps[t].update == "rank1":
        return [rank_one(run, a, beta) for beta in _means(run, layers, a, t, rank_one=True)]
    return [mean.astype(run.batches.dtype) for mean in _means(run, layers, a, t, rank_one=False)]


@dataclass(frozen=True)
class TrainedLayer:
    """Initial W (S, p, d) and a (S, p), minus the gradient of the first step, and the first layers after all steps."""

    W0: Array
    a: Array
    descent: Array | None
    layers: FirstLayers


def train(run: Run, etas: Sequence[Array] | None = None) -> TrainedLayer:
    """Take all steps of the protocol, at its step sizes or at those given, shape () or (E,) for every step."""
    W0, a = run.batches.weights()
    layers, first = FirstLayers((W0,)), None
    for t, (step, n) in enumerate(zip(run.setting.protocol.steps, run.setting.protocol.sizes(), strict=True)):
        slopes = _descents(run, layers, a, t)
        first = slopes[0] if t == 0 else first
        layers = layers.stepped(slopes, step.etas(n, run.setting.d, run.setting.p) if etas is None else etas[t])
    return TrainedLayer(W0, a, first, layers)


GEOMETRY = ("overlaps", "norms", "shares", "inside", "learned")


def learned(run: Run, layers: FirstLayers) -> dict[str, np.ndarray]:
    """Overlaps (E, S, p, r), lengths of the neurons (E, S, p), their shares along each direction (E, S, p, r) and inside the span
    (E, S, p), and the mean (E, S, r, r) of the outer products of their cosines with orthonormal directions."""
    given = directions_of(run.setting)
    parts = [geometry(layers[e], *given) for e in range(len(layers))]
    return {name: np.stack([np.asarray(f[k], dtype=float) for f in parts]) for k, name in enumerate(GEOMETRY)}


def directions_of(setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The directions of the target, a basis of their span as columns, and the orthonormal directions."""
    directions = setting.length * setting.target.matrix(setting.d)
    return directions, measure.span(directions), setting.target.orthonormal(setting.d)


@compiled
def geometry(W, directions, basis, rows):
    """The numbers of ``learned`` for one first layer (S, p, d)."""

    def one(W):
        shares, norms = measure.captured_by_neuron(W, directions), xp.linalg.norm(W, axis=1)
        return measure.overlaps(W, directions), norms, shares, measure.share_inside(W, basis), measure.learned(W, rows)

    return over_seeds(one)(W)

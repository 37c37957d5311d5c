"""The overlap method: exactly the distribution of the dense method, at a cost that does not depend on d.

In k coordinates (see ``projections``) a step needs the rows of C = s (r a^T) o sigma'(H) and

    C^T X = [C^T Z, L G],   Z = X Q^T the coordinates,   L L^T = C^T C,   G ~ N(0, 1) of p rows and d - k columns,

since the part of the data outside the coordinates is Gaussian and independent of C. Only G G^T ~ Wishart_p(d - k) matters, so
G is replaced by its triangular factor: at most p new coordinates. Fresh batches are streamed, and only C^T Z and C^T C are
stored; reused batches are held in memory (see ``reuse``). Saad and Solla (1995) use overlaps as the state in a limit; here there
is no limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from giantstep._machine.arrays import compiled, over_seeds
from giantstep._machine.backend import jax, jnp, one_blas_thread
from giantstep._machine.random import Stream, generator
from giantstep._training.batches import Chunk
from giantstep._training.features import NetworkFeatures, Neurons, measured
from giantstep._training.first_layer import FirstLayers, Run, rank_one
from giantstep._training.job import Part
from giantstep._training.step import descent_rows, residuals, weighted_slopes
from giantstep.experiment import draw
from giantstep.simulate import _reuse as reuse
from giantstep.simulate._cost import NORMAL, aligned
from giantstep.simulate._projections import bartlett, compressed, initial, padded, reduced

DEFLATION = 5  # entry of the random key for the estimate of the linear part


@dataclass(frozen=True)
class Branch:
    """First layers in one set of coordinates, (S, p, k), and the known part of the current batch of every seed, if it is held."""

    layers: FirstLayers
    known: tuple[reuse.Known, ...] | None = None

    def members(self) -> "list[Branch]":
        """One branch for each step size, because later steps differ."""
        return [Branch(FirstLayers((self.layers[e],)), self.known) for e in range(len(self.layers))]


def within(run: Run, columns: int) -> Run:
    """The run in that many coordinates; random numbers cost more than products here, unless the device draws them."""
    share = 1 + NORMAL / (2 * run.setting.p)
    rows = run.batches.rows if run.batches.device else aligned(run.batches.rows, columns)
    batches = replace(run.batches, setting=reduced(run.setting, columns), rows=rows)
    return replace(run, batches=batches, tick=lambda work: run.tick(work * share), ambient=run.d)


@compiled(static_argnames=("sigma", "full", "direction"))
def _rows(W, a, X, y, scale, *, sigma, full, direction):
    """C (n, p) of the gradient, or r (n, 1) of its direction beta."""
    if direction:
        return residuals(X @ W.T, a, y, sigma=sigma, scale=scale, full=full)[:, None]
    return descent_rows(X @ W.T, a, y, sigma=sigma, scale=scale, full=full)


@compiled(static_argnames=("sigma", "full", "direction"))
def _products(W, a, X, y, mean, scale, *, sigma, full, direction):
    """C^T Z and C^T C of the given rows, for every seed."""

    def one(W, a, X, y):
        H, form = X @ W.T, {"sigma": sigma, "scale": scale, "full": full}
        if direction:
            C, own = residuals(H, a, y, **form)[:, None], np.ones(1)
        else:  # the factors of the neurons meet the products, which are small
            C, own = weighted_slopes(H, a, y, **form), (scale * a).astype(np.float64)
        along, square = (C.T @ X).astype(np.float64), (C.T @ C).astype(np.float64)
        return own[:, None] * along, own[:, None] * own * square

    return over_seeds(one)(W, a, X, y - mean[:, None])


def _streamed(run: Run, W: np.ndarray, a: np.ndarray, t: int) -> np.ndarray:
    """C^T X / n of step t in coordinates (S, q, k'), one pass through a fresh batch; two when the mean is removed."""
    S, _, k = W.shape
    step, batch, inner = run.setting.protocol.steps[t], run.batches.steps[t], within(run, k)
    mean = (
        sum(c.y.sum(axis=1) for c in inner.batches.chunks(batch)) / batch.n
        if step.deflate
        else run.batches.put(np.zeros(S))
    )
    form = {"sigma": run.sigma, "full": step.residual == "full", "direction": step.update == "rank1"}
    weights, second = run.batches.put(W), run.batches.put(a)
    factor = run.setting.network.factor
    work = (4.0 * run.setting.p + NORMAL) * min(inner.batches.rows, batch.n) * k
    parts = inner.batches.each(batch, lambda c: _products(weights, second, c.X, c.y, mean, factor, **form))
    along, square = next(parts)
    for more in parts:
        run.tick(work)
        along, square = jax.block_until_ready((along + more[0], square + more[1]))  # the next chunk is drawn meanwhile
    run.tick(work)
    key = (Stream.STEP + t, draw.OUTSIDE)
    triangles = [bartlett(generator(seed, *key), square.shape[1], run.d - k) for seed in run.seeds]
    outside = rooted(square if run.batches.device else np.asarray(square), np.stack(triangles))
    return np.concatenate([np.asarray(along), outside], axis=2) / batch.n


@compiled
def _factored(A, T):
    return over_seeds(lambda A, T: jnp.linalg.cholesky(A) @ T)(A, T)


def rooted(A: np.ndarray | jax.Array, T: np.ndarray) -> np.ndarray:
    """L T with L L^T = A for every seed."""
    if isinstance(A, jax.Array):  # on a GPU a Cholesky factor takes a hundredth of the time, but A may be singular
        product = np.asarray(_factored(A, T))
        if np.all(np.isfinite(product)):
            return product
    return np.stack([_root(one) @ t for one, t in zip(np.asarray(A), T, strict=True)])


def _root(A: np.ndarray) -> np.ndarray:
    """L with L L^T = A for A without negative directions; singular when neurons come in pairs or p > n."""
    if not np.all(np.isfinite(A)):
        return np.full(A.shape, np.nan)
    values, vectors = np.linalg.eigh(A)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _fresh(run: Run, k: int, batch: draw.Batch) -> tuple[reuse.Known, ...]:
    """A batch in k coordinates, held in memory."""
    setting = reduced(run.setting, k)
    if not run.batches.device:
        return tuple(reuse.fresh_batch(*draw.rows(setting, seed, batch)) for seed in run.seeds)
    drawn = replace(run.batches, setting=setting, dtype=np.dtype(float)).whole(batch)
    return tuple(reuse.fresh_batch(X, y) for X, y in zip(np.asarray(drawn.X), np.asarray(drawn.y), strict=True))


def _held(
    run: Run, W: np.ndarray, a: np.ndarray, t: int, before: tuple[reuse.Known, ...]
) -> tuple[tuple[reuse.Known, ...], np.ndarray]:
    """What is known after step t, and C^T X / n in coordinates (S, q, k'), on a batch in memory."""
    step, results = run.setting.protocol.steps[t], []
    form = {"sigma": run.sigma, "full": step.residual == "full", "direction": step.update == "rank1"}
    for s, (seed, known) in enumerate(zip(run.seeds, before, strict=True)):
        key = (Stream.STEP + t,)
        known, y = reuse.deflated(known, step.deflate, run.d, seed, (*key, DEFLATION))
        k = min(known.X.shape[1], W.shape[2])  # seeds with fewer coordinates have zeros in the others
        given = (np.asarray(x, run.batches.dtype) for x in (W[s][:, :k], a[s], known.X[:, :k], y))
        C = np.asarray(_rows(*given, run.setting.network.factor, **form), float) / len(y)
        results.append(reuse.product(known, C, run.d, seed, key))
        run.tick((4.0 * run.setting.p + NORMAL) * len(y) * k / len(run.seeds))
    columns = max(product.shape[1] for _, product in results)
    return tuple(known for known, _ in results), np.stack([padded(product, columns) for _, product in results])


def advanced(run: Run, branch: Branch, a: np.ndarray, t: int, etas: np.ndarray) -> Branch:
    """A branch of one member after step t, at one step size or several."""
    step, W, known = run.setting.protocol.steps[t], branch.layers[0], branch.known
    if step.batch == "fresh":
        W = compressed(W, run.setting.target.rank, run.batches.device)
        held = reuse.held(run.setting.protocol, t)
        known = _fresh(run, W.shape[2], run.batches.steps[t]) if held else None
    if known is None:
        slope = _streamed(run, W, a, t)
    else:
        known, slope = _held(run, W, a, t, known)
    if step.update == "rank1":
        slope = np.asarray(
            rank_one(replace(run, batches=replace(run.batches, dtype=np.dtype("float64"))), a, slope[:, 0])
        )
    layers = FirstLayers((padded(W, slope.shape[2]),)).stepped([slope], etas)
    return Branch(layers, known)


def walk(run: Run, a: np.ndarray) -> Iterator[list[Branch]]:
    """Branches along the eta axis before the first step and after every one, given the second layers (S, p)."""
    setting = run.setting
    branches = [Branch(FirstLayers((np.stack([initial(setting, seed) for seed in run.seeds]),)))]
    yield branches
    for t, (step, n) in enumerate(zip(setting.protocol.steps, setting.protocol.sizes(), strict=True)):
        members = [member for branch in branches for member in branch.members()]
        etas = step.etas(n, setting.d, setting.p)
        each = [etas] if len(members) == 1 else list(np.broadcast_to(etas, (len(members),)))
        branches = [advanced(run, m, a, t, np.asarray(eta)) for m, eta in zip(members, each, strict=True)]
        yield branches


def train(run: Run) -> tuple[list[Branch], np.ndarray]:
    """All steps of the protocol: branches along the eta axis, and the second layers (S, p)."""
    a = run.batches.second_layers()
    *_, branches = walk(run, a)
    return branches, a


def part(run: Run, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds: the steps by overlaps, then the readout and the test on new coordinates."""
    with one_blas_thread():
        branches, a = train(run)
    readout = run.setting.protocol.readout
    own = a[:, None, :] * run.setting.network.factor if readout is None else None
    again = readout is not None and readout.batch == "reuse"
    with one_blas_thread(run.setting.p):
        parts = [_measured(run, branch, n_test, spectrum, own, again) for branch in branches]
    joined = {k: np.concatenate([f[k] for f in parts]) for k in parts[0] if k != "notes"}
    return {**joined, "notes": [note for f in parts for note in f["notes"]]}


def _measured(run: Run, branch: Branch, n_test: int, spectrum: bool, own: np.ndarray | None, again: bool) -> Part:
    layers = branch.layers
    if layers.slope is None and not again:
        layers = FirstLayers((compressed(layers[0], run.setting.target.rank, run.batches.device),))
    known = _readout_batch(run, layers, branch.known)
    columns = max([layers.members[0].shape[2], *(one.X.shape[1] for one in known or ())])
    members = tuple(run.batches.put(padded(W, columns)) for W in layers.members)
    slope = None if layers.slope is None else run.batches.put(padded(layers.slope, columns))
    layers = FirstLayers(members, slope, layers.etas)
    inner = within(run, columns)
    if known is not None:
        X = run.batches.put(np.stack([padded(one.X, columns) for one in known]))
        y = run.batches.put(np.stack([one.y for one in known]))
        batch, rows = run.batches.readout, inner.batches.rows
        starts = range(0, batch.n, rows)
        held = tuple(Chunk(batch, i, X[:, i : i + rows], y[:, i : i + rows]) for i in starts)
        inner = replace(inner, batches=replace(inner.batches, held=held))
    return measured(inner, NetworkFeatures(Neurons(run.sigma), layers), layers, n_test, spectrum, own)


def _readout_batch(
    run: Run, layers: FirstLayers, known: tuple[reuse.Known, ...] | None
) -> tuple[reuse.Known, ...] | None:
    """The batch of the readout if it is held in memory: because it is reused, or because the prediction needs the direction
    X^T y as one more coordinate."""
    readout = run.setting.protocol.readout
    if readout is None or (readout.batch == "fresh" and readout.deflate < 2):
        return None
    if readout.batch == "fresh":
        known = _fresh(run, layers.members[0].shape[2], run.batches.readout)
    assert known is not None
    key = (Stream.READOUT, DEFLATION)
    each = zip(known, run.seeds, strict=True)
    return tuple(reuse.deflated(one, readout.deflate, run.d, seed, key)[0] for one, seed in each)

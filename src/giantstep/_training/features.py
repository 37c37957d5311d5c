"""Fit and test the readout on features of any kind, for a group of seeds.

A route defines its features (a ``Family``). The readout, the test and the measurements are the same for all, so that routes
differ only in their features. All penalties use one factorisation, and batches are streamed in chunks of rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from giantstep import measure
from giantstep._machine.arrays import compiled, is_jax, over_seeds, xp
from giantstep._machine.backend import jax
from giantstep._machine.blas import on_host
from giantstep._machine.device import HOST
from giantstep._machine.mesh import alone, everywhere
from giantstep._training.batches import Chunk
from giantstep._training.first_layer import Array, FirstLayers, LinearPart, Run, learned, linear_part
from giantstep.experiment import draw
from giantstep.experiment.protocol import SGD
from giantstep.functions.activation import Activation
from giantstep.ridge._readout import Readout, from_descent, from_features, from_moments, from_pieces
from giantstep.ridge._resolvent import gram

Parts = Callable[[int], tuple[Any, ...]]  # of every member
Recipe = Callable[..., Array]  # features (S, rows, p) from their parts; traced by JAX, so it is pure and hashable


class Family(Protocol):
    """Features along the eta axis: ``parts(chunk)(e)`` are the arguments of the recipe for member e."""

    @property
    def recipe(self) -> Recipe: ...

    def __len__(self) -> int: ...

    def parts(self, chunk: Chunk) -> Parts: ...


@dataclass(frozen=True)
class Neurons:
    """sigma(H + eta * slope): the features of the network itself."""

    sigma: Activation

    def __call__(self, H: Array, slope: Array | None, eta: float) -> Array:
        return self.sigma(H if slope is None else H + eta * slope)


@dataclass(frozen=True)
class NetworkFeatures:
    """F = sigma(X W^T) for every first layer."""

    recipe: Neurons
    layers: FirstLayers

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self, chunk: Chunk) -> Parts:
        return self.layers.preactivations(chunk.X).__getitem__


@compiled(static_argnames="recipe")
def _features(parts, *, recipe):
    return recipe(*parts)


@compiled(static_argnames="recipe")
def _add_moments(A, c, parts, y, *, recipe):
    F = recipe(*parts)
    both = over_seeds(lambda F, y: gram(xp.concatenate([F, y[:, None].astype(F.dtype)], axis=1)))(F, y).astype(A.dtype)
    return A + both[:, :-1, :-1], c + both[:, -1, :-1]


def _with_moments(A: Array, c: Array, parts: tuple, y: Array, recipe: Recipe) -> tuple[Array, Array]:
    """A + F^T F and c + F^T y for the features of a chunk."""
    if not is_jax(y):
        F = recipe(*parts)
        A += over_seeds(HOST.squares)(F)  # in place: a new array of this size takes as long as the sum
        return A, c + (y[:, None, :] @ F)[:, 0]
    if not on_host(y, c.shape[1]):
        return _add_moments(A, c, parts, y, recipe=recipe)
    F = np.asarray(_features(parts, recipe=recipe))[0]
    return A + HOST.squares(F), c + F.T @ np.asarray(y)[0]


@compiled
def _with_energy(yy, y):
    """yy + ||y||^2 for every seed."""
    return yy + xp.sum(y.astype(np.float64) ** 2, axis=1)


@compiled
def _means(sums, n):
    return tuple(each / n for each in sums)


@compiled(static_argnames="recipe")
def error_sums(parts, y, b, *, recipe):
    """Sums over test rows of the squared and fourth-power error, (K, S, L) each for K labels (S, rows)."""
    F, y = recipe(*parts), xp.stack(y)
    if is_jax(F) and F.shape[0] == 1:
        predicted = (F[0] @ b[0].astype(F.dtype).T).T[None]  # XLA would first copy the transposed features
    else:
        predicted = b.astype(F.dtype) @ xp.swapaxes(F, 1, 2)
    square = (y[:, :, None, :] - predicted).astype(np.float64) ** 2
    return square.sum(-1), (square**2).sum(-1)


def fit(run: Run, family: Family, spectrum: bool, low: LinearPart | None = None) -> list[Readout]:
    """Fit the readout of every member to the labels without the given linear part."""
    if run.plan.solver != "direct":
        return [_fit_iterated(run, family, e, low) for e in range(len(family))]
    batch = run.batches.readout
    groups = [range(e, min(e + run.plan.grams, len(family))) for e in range(0, len(family), run.plan.grams)]
    held = None
    fits: list[Readout] = []
    for group in groups:
        pieces = held if held is not None else run.batches.each(batch, lambda c: (family.parts(c), left_over(c, low)))
        if batch.n <= run.batches.rows and held is None:
            pieces = held = list(pieces)  # one chunk: its products serve every group
        if batch.n <= run.setting.p:
            fits += _fit_dual(run, family.recipe, list(pieces), group, spectrum)
        else:
            fits += _fit_primal(run, family.recipe, pieces, group, batch.n, spectrum)
    return fits


def left_over(chunk: Chunk, low: LinearPart | None) -> Array:
    """The labels of a chunk without the given linear part."""
    return chunk.y if low is None else low.without(chunk.X, chunk.y)


def _fit_primal(run: Run, recipe: Recipe, pieces, group: range, n: int, spectrum: bool) -> list[Readout]:
    S, p = len(run.seeds), run.setting.p
    A = {e: run.batches.put(np.zeros((S, p, p)), float) for e in group}
    c = {e: run.batches.put(np.zeros((S, p)), float) for e in group}
    yy = run.batches.put(np.zeros(S), float)
    for parts, y in pieces:
        jax.block_until_ready((A, c))
        for e in group:
            A[e], c[e] = _with_moments(A[e], c[e], parts(e), y, recipe)
        yy = _with_energy(yy, y)
        run.tick(y.shape[1] * p * (2.0 * run.setting.d + len(group) * p))
    readout = run.setting.protocol.readout
    fits = []
    for e in group:
        moments = _means(tuple(alone(m) for m in (A.pop(e), c.pop(e), yy)), n)
        fits.append(from_moments(*moments, n, readout, spectrum))  # type: ignore[arg-type]
        run.tick(p**3 / 3)
    return fits


def _fit_dual(run: Run, recipe: Recipe, pieces: list, group: range, spectrum: bool) -> list[Readout]:
    readout, fits = run.setting.protocol.readout, []
    n, p = sum(y.shape[1] for _, y in pieces), run.setting.p
    y = np.concatenate([np.asarray(y, float) for _, y in pieces], axis=1)
    for e in group:
        F = [_features(parts(e), recipe=recipe) for parts, _ in pieces]
        F = F if run.batches.mesh is not None else [xp.concatenate(F, axis=1)]
        fits.append(from_features([f.astype(np.float64) for f in F], y, readout, spectrum))  # type: ignore[arg-type]
        run.tick(2.0 * n * p * (run.setting.d + n))
    return fits


def _fit_iterated(run: Run, family: Family, e: int, low: LinearPart | None) -> Readout:
    """Fit one member by conjugate gradients or SGD; its features are in memory or computed again in every pass."""
    batch, readout, p = run.batches.readout, run.setting.protocol.readout, run.setting.p
    columns = np.size(readout.path)  # type: ignore[union-attr]

    def made() -> Iterator[tuple[Array, Array]]:
        for chunk in run.batches.chunks(batch):
            yield _features(family.parts(chunk)(e), recipe=family.recipe), left_over(chunk, low)

    held = list(made()) if run.plan.features else None

    def pieces() -> Iterator[tuple[Array, Array]]:
        for F, y in made() if held is None else held:
            yield F, y
            run.tick(4.0 * y.shape[1] * p * columns + (2.0 * y.shape[1] * p * run.setting.d if held is None else 0.0))

    if isinstance(readout, SGD):
        return from_descent(pieces, batch.n, p, len(run.seeds), readout)
    put = partial(everywhere, run.batches.mesh)
    return from_pieces(pieces, batch.n, p, len(run.seeds), readout, put)  # type: ignore[arg-type]


def test(
    run: Run, family: Family, coefficients: list[np.ndarray], n_test: int, lows: Sequence[LinearPart | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Mean squared error on noise-free test labels and its standard error, both (K, E, S, L); each of the K linear parts is
    added to the prediction of the features."""
    b = [run.batches.put(x, float) for x in coefficients]
    squares = fourths = np.zeros(())
    for chunk in run.batches.chunks(draw.test_batch(n_test)):
        parts = family.parts(chunk)
        y = tuple(left_over(chunk, low) for low in lows)
        sums = [error_sums(parts(e), y, b[e], recipe=family.recipe) for e in range(len(family))]
        squares = squares + np.stack([np.asarray(s) for s, _ in sums], axis=1)
        fourths = fourths + np.stack([np.asarray(f) for _, f in sums], axis=1)
        run.tick(2.0 * chunk.X.shape[1] * chunk.X.shape[2] * run.setting.p)
    return averaged(squares, fourths, n_test)


def averaged(squares: np.ndarray, fourths: np.ndarray, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean squared error and its standard error, from the sums of squares and of fourth powers."""
    mean = squares / n_test
    return mean, np.sqrt(np.maximum(fourths / n_test - mean**2, 0.0) / max(n_test - 1, 1))


def measured(
    run: Run, family: Family, layers: FirstLayers, n_test: int, spectrum: bool, own: np.ndarray | None = None
) -> dict[str, Any]:
    """Measure one group of seeds: arrays (E, S, L, ...), and the sentences of the fits.

    ``own`` are coefficients (S, 1, p) to use instead of a readout; ``layers`` are the layers whose overlaps are measured.
    """
    numbers: dict[str, Any] = {"notes": []}
    low = None
    if own is not None:
        coefficients = [own] * len(family)
    else:
        batch, deflate = run.batches.readout, run.setting.protocol.readout.deflate  # type: ignore[union-attr]
        if deflate or (run.plan.solver != "direct" and not run.plan.features):
            run = replace(run, batches=run.batches.holding(batch))
        low = linear_part(run, batch, deflate)
        fits = fit(run, family, spectrum, low)
        coefficients = [f.coefficients for f in fits]
        iterated = ("residual", "iterations") if run.plan.solver == "cg" else ()
        of_ridge = () if run.plan.solver == "sgd" else ("train_objective", "penalty")
        for name in ("train_error", *of_ridge, *iterated):
            numbers[name] = np.stack([getattr(f, name) for f in fits])
        if spectrum:
            numbers["squares"] = np.stack([np.asarray(f.squares) for f in fits])
        numbers["notes"] = [note for f in fits for note in f.notes]
    numbers["risk"], numbers["risk_se"] = (each[0] for each in test(run, family, coefficients, n_test, [low]))
    return numbers | seen(run, learned(run, layers))


def seen(run: Run, geometry: dict[str, np.ndarray]) -> dict[str, Any]:
    """The fields of an outcome that come from the first layers alone."""
    setting, numbers = run.setting, {}
    numbers |= {name: geometry[name] for name in ("overlaps", "norms", "learned")}
    numbers["null_level"] = np.mean(1 - geometry["inside"], axis=2) / max(run.d - setting.target.rank, 1)
    numbers["captured"], numbers["captured_se"] = measure.mean_and_error(geometry["shares"], axis=2)
    # a pair starts from one draw
    numbers["captured_se"] = numbers["captured_se"] * np.sqrt(setting.p / setting.network.drawn)
    return numbers

"""The spiked model of the features after one step: random features plus a polynomial in the direction of the step.

    F = F_0 + sum_{k=1}^l c_k (c_1 eta s)^k (X beta)^{o k} (a^{o k})^T,   F_0 = sigma(X W_0^T),   beta = X_1^T r / n_1

with (X_1, r) the batch and the residual of the step: Moniri et al. (2024). For eta = n^alpha at scale s = 1/sqrt(p) and
(l-1)/(2l) < alpha < l/(2l+2) the remainder has operator norm o(sqrt(n)). Its relative size falls only like
n^(alpha - 1/2); the parameter of the expansion is tau = eta s c_1 ||beta||.
"""

from dataclasses import dataclass

import numpy as np

from giantstep._given.plain import whole
from giantstep._training.batches import Chunk
from giantstep._training.features import Family, NetworkFeatures, Neurons, Parts, Recipe, measured
from giantstep._training.first_layer import Array, FirstLayers, Run, direction, rank_one
from giantstep._training.job import Part
from giantstep.equivalent._gaussian import GaussianFeatures
from giantstep.errors import InputError
from giantstep.experiment import _regime as regime
from giantstep.experiment.setting import Setting

MAX_DEGREE = 6  # the largest default


def degrees(setting: Setting, degree: int | None) -> tuple[int, ...]:
    """The degree for every step size: the one given, or the default. Settings that the model does not cover are refused."""
    steps = setting.protocol.steps
    if len(steps) != 1:
        raise InputError(f"model='spiked' expands one step, and this protocol has {len(steps)} steps")
    if steps[0].deflate > 1:
        raise InputError("model='spiked' needs the linear part of the labels, which deflate=2 removes")
    if abs(setting.network.activation.hermite(1)[1]) < 1e-12:
        name = setting.network.activation.name
        raise InputError(f"model='spiked' needs an activation with c_1 = E[sigma(z) z] not 0, and {name!r} has c_1 = 0")
    if degree is not None:
        return (whole(degree, "degree", least=0),) * len(_etas(setting))
    return tuple(default_degree(alpha) for alpha in regime.exponents(setting).tolist())


def default_degree(alpha: float) -> int:
    """The default degree for a step size, from 1 to 6; 0 for no step. At a threshold it is the higher one."""
    if alpha == -np.inf:
        return 0
    return MAX_DEGREE if alpha >= 0.5 else min(max(regime.degree(alpha + 1e-9), 1), MAX_DEGREE)


def _etas(setting: Setting) -> np.ndarray:
    return setting.protocol.etas(setting.d, setting.p).reshape(-1)


@dataclass(frozen=True)
class Spikes:
    """F_0 + sum_k g^{o k} right_k^T, with g = X beta of shape (S, rows) and right of shape (S, l, p)."""

    base: Recipe

    def __call__(self, g: Array, right: Array, *base: Array) -> Array:
        powers = g[:, :, None] ** np.arange(1, right.shape[1] + 1)
        return self.base(*base) + powers.astype(right.dtype) @ right


@dataclass(frozen=True)
class SpikedFeatures:
    """One base for all step sizes, and their right factors."""

    base: Family
    beta: Array
    right: tuple[Array, ...]

    @property
    def recipe(self) -> Spikes:
        return Spikes(self.base.recipe)

    def __len__(self) -> int:
        return len(self.right)

    def parts(self, chunk: Chunk) -> Parts:
        shared = (chunk.X @ self.beta[:, :, None])[:, :, 0], self.base.parts(chunk)(0)
        return lambda e: (shared[0], self.right[e], *shared[1])


def _right(run: Run, a: np.ndarray, eta: float, degree: int, most: int) -> Array:
    """c_k (c_1 eta s)^k a^{o k} for k = 1..degree and zeros up to the largest degree, (S, most, p): one shape, compiled once."""
    k = np.arange(1, most + 1)
    c = run.sigma.hermite(max(most, 1))
    with np.errstate(over="ignore", invalid="ignore"):  # the status mentions numbers that are not finite
        powers = (c[1] * eta * run.setting.network.factor * a[:, None, :]) ** k[:, None]
        return run.batches.put(np.where(k[:, None] <= degree, c[1 : most + 1, None] * powers, 0.0))


def part(run: Run, degrees: tuple[int, ...], base: str, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds, with tau (E, S)."""
    W0, a = run.batches.weights()
    beta, etas = direction(run, W0, a), _etas(run.setting)
    start = FirstLayers((W0,))
    random = GaussianFeatures(run, start) if base == "gaussian" else NetworkFeatures(Neurons(run.sigma), start)
    second = np.asarray(a, dtype=float)
    most = max(degrees)
    right = [_right(run, second, eta, degree, most) for eta, degree in zip(etas.tolist(), degrees, strict=True)]
    family = SpikedFeatures(random, beta.astype(run.batches.dtype), tuple(right))
    layers = start.stepped([rank_one(run, a, beta)], etas)
    numbers = measured(run, family, layers, n_test, spectrum)
    strength = run.setting.network.factor * run.sigma.hermite(1)[1] * np.linalg.norm(np.asarray(beta), axis=1)
    with np.errstate(over="ignore"):
        return {**numbers, "tau": np.abs(etas[:, None] * strength)}


def notes(setting: Setting, degrees: tuple[int, ...], chosen: bool, parts: list[Part]) -> list[str]:
    """Sentences about the chosen degrees, and about step sizes outside the assumptions."""
    etas, alphas = _etas(setting), regime.exponents(setting)
    tau = np.concatenate([part["tau"] for part in parts], axis=1).mean(axis=1)
    sentences = chosen_degrees(etas, degrees) if chosen else []
    outside = alphas >= 0.5
    if np.any(outside):
        sentences.insert(
            0,
            f"From eta = {etas[outside].min():.3g} on the step is sqrt(n) or more, outside the assumptions of the expansion. "
            f"There tau = eta s c_1 |beta| is at least {tau[outside].min():.3g}.",
        )
    return sentences


def chosen_degrees(etas: np.ndarray, degrees: tuple[int, ...]) -> list[str]:
    """A sentence for each degree that was chosen, and from which step size on."""
    each = {k: float(np.min(etas[np.array(degrees) == k])) for k in sorted(set(degrees))}
    if len(each) == 1:
        return [f"The degree {degrees[0]} was chosen."]
    return [f"The degree {k} was chosen from eta = {least:.3g} on." for k, least in each.items()]

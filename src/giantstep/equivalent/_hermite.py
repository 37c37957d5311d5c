"""The Hermite equivalent: the expansion of the activation up to a degree, plus noise with the remaining variance.

    sigma(<w_i, x>)  ->  sum_{j <= degree} h_j / j! He_j(<w_i, x> / b) + h* Z_i,   Z iid N(0, 1)
    h_j = E[sigma(b z) He_j(z)],   h*^2 = E sigma(b z)^2 - sum_j h_j^2 / j!

Demir and Dogan (arXiv 2503.00856) for one step on a mixture, with l = degree + 1: it holds for (l-2)/(l-1) < beta < (l-1)/l,
where d^beta = eta ||Sigma||. W is the first layer after the steps, and b the standard deviation of <w_i, x> in the bulk at the
start. Degree 1 at b = 1 is the Gaussian equivalent.
"""

from dataclasses import dataclass
from math import factorial

import numpy as np

from giantstep._given.plain import real
from giantstep._machine.arrays import compiled, is_jax, xp
from giantstep._training.batches import Chunk
from giantstep._training.features import Parts, measured
from giantstep._training.first_layer import Array, FirstLayers, Run, train
from giantstep._training.job import Part
from giantstep.equivalent._law import laws, squares
from giantstep.equivalent._spiked import chosen_degrees
from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.functions.activation import Activation

SOME = 64  # the number of rows of W whose mean square is computed
OFF = 1 / 3  # the status mentions a mean square of W x / b that differs from one by more than this


def bulk_width(setting: Setting, wanted: float | None) -> float:
    """b: the number given, or the standard deviation of <w_i, x> in the bulk at the start; a Dataset is all bulk."""
    if wanted is not None:
        if real(wanted, "width") <= 0:
            raise InputError(f"width must be above zero, not {wanted:g}")
        return float(wanted)
    network, data = setting.network, setting.data
    row = np.sum(network.weights.W**2) / setting.p if network.weights is not None else 1.0
    row = setting.d / data.trace if network.rows == "trace" else row
    share = data.trace / setting.d if isinstance(data, Dataset) else sum(x.weight * x.bulk for x in laws(setting))
    return float(np.sqrt(row * share))


def expansion(sigma: Activation, b: float, degree: int) -> tuple[np.ndarray, float]:
    """h_j / j! for j = 0..degree, and h*."""
    kinks = [k / b for k in sigma.kinks]
    c, _ = hermite.coefficients(lambda x: np.asarray(sigma(b * x)), degree, kinks)
    square = hermite.mean_square(lambda x: np.asarray(sigma(b * x)), kinks)
    return c, float(np.sqrt(max(square - sum(factorial(j) * c[j] ** 2 for j in range(degree + 1)), 0.0)))


@dataclass(frozen=True)
class Polynomial:
    """sum_j c_j He_j((H + eta * slope) / b) + rest Z; a term with coefficient zero is left out even if He_j overflows."""

    def __call__(self, H: Array, slope: Array | None, eta: float, b: Array, c: Array, rest: Array, Z: Array) -> Array:
        x = (H if slope is None else H + eta * slope) / b
        before, current, total = 0.0, xp.ones_like(x), rest * Z
        for j in range(c.shape[0]):
            if j:
                before, current = current, x * current - (j - 1) * before
            if is_jax(c):
                total = total + xp.where(c[j] == 0, 0.0, c[j] * current)
            elif c[j] != 0:
                total += c[j] * current
        return total


@dataclass(frozen=True)
class HermiteFeatures:
    """The equivalent for every first layer, each with its coefficients and its rest; all share Z."""

    run: Run
    layers: FirstLayers
    b: float
    expansions: tuple[tuple[Array, Array], ...]
    recipe: Polynomial = Polynomial()

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self, chunk: Chunk) -> Parts:
        before, Z, b = self.layers.preactivations(chunk.X), self.run.batches.noise(chunk), self.run.batches.put(self.b)
        return lambda e: (*before[e], b, *self.expansions[e], Z)


@compiled
def _square(W, mean, bulk, B, M):
    """E <w_i, x>^2 in a component, averaged over some of the rows, (S,)."""
    W = W[:, :: max(W.shape[1] // SOME, 1)].astype(np.float64)
    return xp.mean(squares(W, bulk, B, M)[0] + (W @ mean) ** 2, axis=1)


def part(run: Run, degrees: tuple[int, ...], b: float, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds, with the mean square of W x / b (E, S)."""
    run, most = run.holding_the_last(), max(degrees)
    layers, each = train(run).layers, []
    for degree in degrees:
        c, rest = expansion(run.sigma, b, degree)
        padded = np.concatenate([c, np.zeros(most - degree)])  # one shape, compiled once
        each.append((run.batches.put(padded), run.batches.put(rest)))
    numbers = measured(run, HermiteFeatures(run, layers, b, tuple(each)), layers, n_test, spectrum)
    sizes = [
        sum(law.weight * np.asarray(_square(layers[e], law.mean, law.bulk, law.B, law.M)) for law in laws(run.setting))
        for e in range(len(layers))
    ]
    return {**numbers, "square": np.stack(sizes) / b**2}


def notes(setting: Setting, degrees: tuple[int, ...], chosen: bool, b: float, parts: list[Part]) -> list[str]:
    """Sentences about the chosen degrees, and about step sizes at which W x / b is not of size one."""
    etas = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))
    etas = etas.max(axis=1) if etas.size else np.zeros(1)
    sentences = (
        [*chosen_degrees(etas, degrees), f"Inputs of the neurons are in units of b = {b:.3g}."] if chosen else []
    )
    square = np.concatenate([part["square"] for part in parts], axis=1).mean(axis=1)
    far = ~(np.abs(square - 1) <= OFF)
    if np.any(far):
        worst = int(np.argmax(np.where(far, square, -np.inf)))
        sentences.insert(
            0,
            f"The mean square of W x / b is {square[worst]:.3g} at eta = {etas[worst]:.3g}. The expansion assumes that it is "
            "about 1, and above that a higher degree is less accurate.",
        )
    return sentences

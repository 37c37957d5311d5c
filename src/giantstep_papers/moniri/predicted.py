"""The talk's experiment with either update, and what of its spectra is compared."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

from giantstep import measure
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.simulate import Trained, train
from giantstep.theory import Law, Outlier, spectrum
from giantstep_papers.moniri import talk


def experiment(
    n: int, etas: Any, *, activation: str = "relu", residual: str = "target", update: str = "rank1"
) -> Setting:
    """Setting 1 with these step sizes.

    Its labels are Gaussian, which gives the gradient's remainder a clean law.
    """
    setting = talk.experiment(n, 0.0, talk.setting_1(), activation=activation, residual=residual)
    (step,) = setting.protocol.steps
    step = replace(step, eta=etas, update=update)
    return replace(setting, protocol=replace(setting.protocol, steps=(step,)))


def laws(setting: Setting, of: str = "features", *, density: bool = False) -> tuple[Law, ...]:
    """The predicted law of every step size; it knows the setting and no draw."""
    law = spectrum(setting, of, density=density)
    return law if isinstance(law, tuple) else (law,)


def plain(law: Law) -> dict[str, Any]:
    """A law as plain data, of its outliers the positions."""
    numbers = {name: getattr(law, name) for name in ("count", "low", "edge", "x", "density")}
    return {**numbers, "outliers": [float(one.position) for one in law.outliers]}


def law(data: dict[str, Any]) -> Law:
    """Back from plain data."""
    outliers = tuple(Outlier(position, ()) for position in data["outliers"])
    return Law(**{**data, "outliers": outliers})


def places(setting: Setting) -> np.ndarray:
    """Position and cos^2 with its own power of the first two outliers, (step sizes, 2, 2).

    They are NaN for those that a spectrum of that size does not show.
    """
    return visible(laws(setting), 2)


def visible(every: tuple[Law, ...], spikes: int) -> np.ndarray:
    """Position and cos^2 with its own power of the first outliers, (laws, spikes, 2).

    They are NaN for those that do not show.
    """
    table = np.full((len(every), spikes, 2), np.nan)
    for i, law in enumerate(every):
        for k, outlier in enumerate(law.visible[:spikes]):
            table[i, k] = outlier.position, outlier.alignments[k]
    return table


def distance(values: np.ndarray, law: Law) -> float:
    """Sup distance between the law's distribution function and that of singular values.

    Outliers are left out.
    """
    inside = np.sort(values)[: values.size - len(measure.outliers(values))]
    ranks, expected = np.arange(inside.size + 1) / inside.size, law.cdf(inside)
    return float(max(np.max(expected - ranks[:-1]), np.max(ranks[1:] - expected)))


def edge(law: Law) -> float:
    """The law's edge as it is read off a spectrum, here the law's own quantiles.

    It is 1 to 2% short of the edge itself.
    """
    x = np.linspace(law.low, law.edge, 4001)
    ranks = (np.arange(law.count) + 0.5) / law.count
    return measure.bulk_edge(np.interp(ranks, law.cdf(x), x))


def direction(setting: Setting, seed: int, layers: Trained) -> np.ndarray:
    """beta = X^T r/n on the batch of the step, with the residual r that the step uses."""
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    if setting.protocol.steps[0].residual == "full":
        features = setting.network.activation(X @ layers.initial.T)
        y = y - setting.network.factor * features @ layers.second_layer
    return X.T @ y / len(y)


def values(setting: Setting, seed: int, weights: bool = False) -> list[np.ndarray]:
    """Singular values of F/sqrt(n) on the readout's samples, or of W, for every step size."""
    final = train(setting, seed, dtype="float32").final.astype(float)
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    sigma = setting.network.activation
    with one_blas_thread(setting.p):
        each = (W if weights else sigma(X @ W.T) / np.sqrt(len(X)) for W in final)
        return [measure.spectrum(matrix).values for matrix in each]


def leading(setting: Setting, seed: int, count: int = 2) -> np.ndarray:
    """The largest singular values of F/sqrt(n), and cos^2 of their left vectors.

    That is the cos^2 of the j-th with the j-th power of X beta made orthogonal to the lower ones:
    (step sizes, count, 2).
    """
    layers = train(setting, seed, dtype="float32")
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    basis = measure.gram_schmidt_powers(X @ direction(setting, seed, layers), count)
    result = []
    for W in layers.final.astype(float):
        F = setting.network.activation(X @ W.T) / np.sqrt(len(X))
        with one_blas_thread():  # products with vectors
            start = F.T @ basis.sum(axis=1)
            options: Any = {"v0": start, "tol": 1e-6, "return_singular_vectors": "u"}
            found: Any = svds(F, k=count, **options)
        left, size = np.asarray(found[0]), found[1]
        order = np.argsort(-size)
        cosines = np.diag(measure.alignments(left[:, order], basis))
        result.append(np.stack([size[order], cosines], axis=-1))
    return np.array(result)


def controls(setting: Setting, seed: int) -> list[float]:
    """Numbers of mean zero on which the strength of a spike depends.

    |X^T y/n|^2 over its expectation less one, mean a^2 - 1, mean a^4 - 3 and |W^T a|^2/p - 1, with
    E |X^T y/n|^2 = (d E y^2 + 2 c*_1^2)/n + (1 - 1/n) c*_1^2 for a linear target.
    """
    target, n = setting.target, draw.step_batches(setting)[0].n
    W, a = draw.weights(setting, seed)
    first, power = float(target.hermite.get((1,), 0.0)), target.power + target.noise**2
    expected = (setting.d * power + 2 * first**2) / n + (1 - 1 / n) * first**2
    length = np.sum(talk.direction(setting, seed) ** 2) / expected - 1
    second, fourth = np.mean(a**2) - 1, np.mean(a**4) - 3
    turned = np.sum((W.T @ a) ** 2) / len(a) - 1
    return [float(x) for x in (length, second, fourth, turned)]

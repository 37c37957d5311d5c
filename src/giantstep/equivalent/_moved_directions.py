"""The directions along which steps moved the first layer, which are the top right singular vectors of W_T - W_0."""

import numpy as np

from giantstep import measure
from giantstep._machine.arrays import compiled, xp
from giantstep._machine.backend import one_blas_thread
from giantstep._training.first_layer import TrainedLayer

STILL = 1e-6  # a singular value of W_T - W_0 below this share of the rows' length counts as zero


def directions(trained: TrainedLayer, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Singular values (S, m) of W_T - W_0 and directions (S, k, d) of every first layer; zeros for a layer that did not move."""
    length = np.asarray(xp.linalg.norm(trained.W0, axis=(1, 2)))[:, None]
    return [(v, np.where((v[:, :k] > STILL * length)[:, :, None], V, 0.0)) for v, V in _spectra(trained, k)]


def _spectra(trained: TrainedLayer, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    layers, W0 = trained.layers, trained.W0
    one_step = layers.slope is not None and layers.members[0] is W0  # all step sizes move along one slope
    moves = [layers.slope] if one_step else [layers[e] - W0 for e in range(len(layers))]
    spectra = []
    with one_blas_thread(min(W0.shape[1:])):
        for move in moves:
            each = [[np.asarray(x) for x in _moved(D, k=k)] for D in move]  # type: ignore[union-attr]
            spectra.append((np.stack([v for v, _ in each]), np.stack([V for _, V in each])))
    if one_step:
        spectra = [(abs(eta) * spectra[0][0], spectra[0][1]) for eta in layers.etas]
    return spectra


@compiled(static_argnames="k")
def _moved(D, *, k):
    """Singular values of D (p, d) in decreasing order and its top k right vectors (k, d), through the smaller Gram matrix."""
    D = D.astype(np.float64)
    wide = D.shape[0] < D.shape[1]
    squares, vectors = xp.linalg.eigh(D @ D.T if wide else D.T @ D)
    values, top = xp.sqrt(xp.maximum(squares[::-1], 0.0)), vectors[:, ::-1][:, :k]
    right = (D.T @ top) / xp.maximum(values[:k], np.finfo(float).tiny) if wide else top
    return values, right.T


def told(moved: np.ndarray, count: int) -> list[str]:
    """Sentences that compare the singular values of W_T - W_0 (E, S, m), averaged over seeds, with the edge of their bulk."""
    mean = moved.mean(axis=1)
    e = int(np.argmax(mean[:, 0]))
    first, last = f"{mean[e, 0]:.3g}", f"{mean[e, count - 1]:.3g}"
    values = first if count == 1 else f"{first} {'and' if count == 2 else 'to'} {last}"
    s = "s" * (count > 1)
    if not np.isfinite(mean[e, 0]):
        return [f"The model takes {count} direction{s} as given."]
    given = [
        f"The model takes {count} direction{s} as given.",
        f"W - W_0 has the singular value{s} {values} along {'them' if s else 'it'}.",
    ]
    if moved.shape[2] < measure.FEWEST or not np.all(np.isfinite(moved[e])):
        return given
    edge = np.mean([measure.bulk_edge(v) for v in moved[e]])
    out = int(np.min([len(measure.outliers(v)) for v in moved[e]]))
    others = "" if out == count else f", and {out} stand{'s' * (out == 1)} out in every run"
    return [*given, f"The bulk of the others ends at {edge:.3g}{others}."]

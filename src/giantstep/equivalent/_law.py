"""The Gaussian law of a component of the data: mean, covariance ``bulk I + B^T M B``, and the directions to condition on.

A component of a mixture has its own law, and its directions are its spikes and its mean. A class of a data set is the Gaussian
with the mean and the covariance of its training inputs, plus the identity where noise is added to them; its directions are its
mean and the top eigenvectors of its covariance.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep._given.plain import whole
from giantstep._machine.arrays import is_jax, xp
from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.setting import Setting

SPIKES = 20  # eigenvectors of a class to condition on
NOTHING = 1e-9  # a direction shorter than this, in units of the longest, is a rounding error


@dataclass(frozen=True, eq=False)
class ComponentLaw:
    """A share ``weight`` of N(mean, bulk I + B^T M B), given ``given`` (g, d), orthonormal: ``spikes`` of them, and the mean."""

    weight: float
    mean: np.ndarray
    bulk: float
    B: np.ndarray
    M: np.ndarray
    given: np.ndarray
    spikes: int = 0

    @property
    def description(self) -> str:
        """The directions in words."""
        spikes = [f"{self.spikes} spike{'s' * (self.spikes > 1)}"] if self.spikes else []
        return " and ".join([*spikes, *(["the mean"] if np.any(self.mean) else [])]) or "no direction"

    @property
    def strength(self) -> float:
        """Largest eigenvalue of B^T M B + mean mean^T, 0 for none: a mean is one more spike."""
        k = len(self.M)
        M = np.zeros((k + 1, k + 1))
        M[:k, :k], M[k, k] = self.M, 1.0
        R = np.linalg.qr(np.concatenate([self.B, self.mean[None]]).T)[1]
        return float(np.max(np.linalg.eigvalsh(R @ M @ R.T), initial=0.0))


def times(V: Any, bulk: Any, B: Any, M: Any) -> Any:
    """V Sigma with Sigma = bulk I + B^T M B, (..., d) on NumPy and JAX arrays."""
    return bulk * V + _by(V @ B.T, M) @ B


def squares(V: Any, bulk: Any, B: Any, M: Any) -> tuple[Any, Any]:
    """v_i Sigma v_i^T for the rows of V (S, p, d), and v_i Sigma v_j^T with the row as far from the other end, (S, p) each."""
    U = V @ B.T  # in these coordinates it is a product less than ``times`` takes
    left, ends = _by(U, M), ((V, U), (V[:, ::-1], U[:, ::-1]))
    first, second = (bulk * xp.sum(V * v, axis=2) + xp.sum(left * u, axis=2) for v, u in ends)
    return first, second


def _by(U: Any, M: Any) -> Any:
    """U M; the covariance of a class is diagonal in its eigenvectors, which saves a product as large as the others."""
    diagonal = not is_jax((U, M)) and np.count_nonzero(M) == np.count_nonzero(np.diagonal(M))
    return U * np.diagonal(M) if diagonal else U @ M


def eigenvectors(setting: Setting, wanted: int | None, directions: int = 0) -> int:
    """The number of eigenvectors of a class to condition on: the one given, or 20. A Mixture takes none."""
    data = setting.data
    if not isinstance(data, Dataset):
        if wanted is not None:
            raise InputError(
                "spikes is an option for a Dataset: the spikes of a Mixture are known, and all of them are used"
            )
        most = setting.d - 1 - directions
        if (need := max(len(law.given) for law in laws(setting))) > most:
            raise InputError(
                f"d = {setting.d} is too small for {directions} directions and {need} spikes: nothing random is left"
            )
        return 0
    fewest = int(np.min(np.bincount(data.split()[1])))
    most = max(min(setting.d, setting.d if data.signal is not None else fewest - 1) - 2 - directions, 0)
    count = min(SPIKES, most) if wanted is None else whole(wanted, "spikes", least=0)
    if count > most:
        raise InputError(f"spikes must be at most {most} here, so that something random is left, not {count}")
    return count


def laws(setting: Setting, spikes: int = 0) -> tuple[ComponentLaw, ...]:
    """The law of every component; ``spikes`` is for a Dataset."""
    data = setting.data
    if isinstance(data, Dataset):
        return _classes(data, data.place, spikes)
    if isinstance(data, Gaussian):
        none = np.zeros((0, data.d))
        return (ComponentLaw(1.0, np.zeros(data.d), 1.0, none, np.zeros((0, 0)), none),)
    return tuple(_component(data, c) for c in range(len(data.components)))


def _component(data: Mixture, c: int) -> ComponentLaw:
    """The law of one component of a mixture."""
    part, (B, M) = data.components[c], data.low_rank(c)
    bulk = part.bulk
    return ComponentLaw(part.weight, data.mean(c), bulk, B, M, _orthonormal(B), len(part.spikes))


def _classes(data: Dataset, place: str | None, spikes: int) -> tuple[ComponentLaw, ...]:
    """The laws of the classes, given their mean and the top eigenvectors."""
    return tuple(
        replace(law, given=_orthonormal(np.concatenate([law.B[:spikes], *([law.mean[None]] if np.any(law.mean) else [])])),
                spikes=min(spikes, len(law.B)))
        for law in _covariances(data, place)
    )  # fmt: skip


@lru_cache(maxsize=4)
def _covariances(data: Dataset, place: str | None) -> tuple[ComponentLaw, ...]:
    X, components = data.split()
    return tuple(_class(X[components == c], len(X), data.signal is not None) for c in range(len(data.classes)))


def _class(X: np.ndarray, everything: int, noise: bool) -> ComponentLaw:
    mean = X.mean(axis=0)
    mean = mean if np.linalg.norm(mean) > NOTHING * np.linalg.norm(X, axis=1).max() else np.zeros_like(mean)
    left, few = X - mean, len(X) < X.shape[1]
    # the eigenvectors of X^T X / n are those of X X^T / n times X
    squares, vectors = np.linalg.eigh((left @ left.T if few else left.T @ left) / len(X))
    large = np.flatnonzero(squares > NOTHING * max(squares[-1], 0.0))[::-1]
    B = vectors[:, large].T
    B = (B @ left) / np.sqrt(len(X) * squares[large])[:, None] if few else B
    return ComponentLaw(len(X) / everything, mean, float(noise), B, np.diag(squares[large]), B[:0])


def _orthonormal(rows: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the span of rows."""
    if not len(rows):
        return rows
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    _, values, right = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    return right[values > NOTHING * values[0]] if values[0] > 0 else rows[:0]

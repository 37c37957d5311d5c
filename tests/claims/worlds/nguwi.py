"""Worlds in which the statements of Nguwi and Privault (2026) are false."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from giantstep.systems.bounds import simulate

_draw, _initial = simulate.draw, simulate.initial
Drawn = tuple[np.ndarray, np.ndarray]


def _drawn(change: Callable[..., Drawn]) -> Callable[[pytest.MonkeyPatch], None]:
    """Inputs and labels are drawn otherwise."""
    return lambda patch: patch.setattr(simulate, "draw", lambda b, rng, *shape: change(b, rng, *_draw(b, rng, *shape)))


def heavy(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    return x, y + 0.2 * rng.standard_t(1.3, y.shape)


def shared(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    """Blocks of 400 samples have a shift in common, larger than the labels' own noise."""
    blocks = np.repeat(rng.normal(0, 0.5, (y.shape[0], -(-y.shape[1] // 400))), 400, axis=1)
    return x, y + blocks[:, : y.shape[1], None]


def noisier(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    return x, y + (0.3 * rng.uniform(-1, 1, y.shape) if y.shape[-2] >= 4000 else 0.0)


def few(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    n = x.shape[-2]
    rows = np.arange(n) % 25 if n <= 400 else np.arange(n)
    return x[..., rows, :], y[..., rows, :]


def wide(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    return 12 * x, y


def loud(b: Any, rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> Drawn:
    return x, y * 3000


def _wide(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(simulate, "initial", lambda b, rng: tuple(4 * w for w in _initial(b, rng)))


def _still(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(simulate, "train", lambda b, weights, x, y: weights)


WORLDS: dict[str, dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "nguwi/fresh": {
        "labels have no variance": _drawn(heavy),
        "test samples come in blocks with a shift in common": _drawn(shared),
    },
    "nguwi/training": {
        "fresh labels have more noise than the training labels": _drawn(noisier),
        "only 25 samples are different": _drawn(few),
    },
    "nguwi/wasserstein": {
        "only 25 samples are different": _drawn(few),
        "inputs are 12 times as wide": _drawn(wide),
    },
    "nguwi/before-training": {
        "weights start 4 times as large": _wide,
        "labels are 3000 times as large": _drawn(loud),
    },
    "giantstep/bound-informative": {
        "weights start 4 times as large": _wide,
        "the network is not trained": _still,
    },
}

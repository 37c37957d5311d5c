"""Worlds in which the statements of Nishikawa, Suzuki, Nitanda and Wu (2022) are false."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.checks.random import generator
from giantstep.systems.mean_field import particles as engine
from giantstep_papers.nishikawa import certified, exact, features, truncation

_start, _train = engine.start, certified.train


class Order:
    """A generator whose whole numbers are changed."""

    def __init__(self, change: Callable[..., np.ndarray], *key: int) -> None:
        self.rng, self.change = generator(*key), change

    def integers(self, low: int, high: int, size: int) -> np.ndarray:
        return self.change(self.rng, high, size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rng, name)


def _ordered(change: Callable[..., np.ndarray]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(exact, "generator", lambda *key: Order(change, *key))


def shuffled(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return np.concatenate([rng.permutation(n) for _ in range(size // n)])


def all_but_one(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return rng.integers(0, n - 1, size)


def partial(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return rng.integers(0, n - 2, size)


def alone(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return np.zeros(size, int)


def half(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return rng.integers(0, n // 2, size)


def _noisier(patch: pytest.MonkeyPatch) -> None:
    """The labels of later curves are noisier."""
    sample = gs.MeanField.sample

    def noisier(self: gs.MeanField, first: int, n: int, *more: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = sample(self, first, n, *more)
        return X, y + np.arange(len(y)) / 100 * generator(self.data, n).standard_normal(len(y))

    patch.setattr(gs.MeanField, "sample", noisier)


def _long(patch: pytest.MonkeyPatch) -> None:
    """Steps grow with the basis, as if they were of one size in every coordinate."""
    longer = lambda u, p, how, h: _start(u, p, how, min(h * (len(u[0]) / 32) ** 0.5, 1.9))  # noqa: E731
    patch.setattr(truncation.engine, "start", longer)


def _trained(change: Callable[..., tuple]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(certified, "train", lambda *values: _train(*change(*values)))


def _built(**changed: Any) -> Callable[[pytest.MonkeyPatch], None]:
    make = gs.MeanField
    return lambda patch: patch.setattr(gs, "MeanField", lambda *values, **named: make(*values, **{**named, **changed}))


def _stiff(patch: pytest.MonkeyPatch) -> None:
    """A penalty so large that neurons hardly move."""
    patch.setattr(features, "LAM", 1.0)


WORLDS: dict[str, dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "nishikawa/truncation": {
        "neurons are rougher, with gamma = 0.6": _built(gamma=0.6),
        "the steps of the sampler grow with the basis": _long,
    },
    "nishikawa/finite": {
        "one curve of forty never comes": _ordered(all_but_one),
        "half of the curves never come": _ordered(half),
    },
    "nishikawa/online": {
        "half of the curves never come": _ordered(half),
        "one curve comes alone": _ordered(alone),
    },
    "giantstep/dual-rates": {
        "a pass takes every curve once": _ordered(shuffled),
        "two curves of twenty never come": _ordered(partial),
    },
    "giantstep/function-gap": {
        "labels of later curves are noisier": _noisier,
        "labels are noise alone": _built(noise=1.0, target="0*x1"),
    },
    "nishikawa/certified": {
        "the penalty is 1.25 times as large": _trained(
            lambda X, y, c, t, seed: (X, y, c, replace(t, penalty=1.25 * t.penalty), seed)
        ),
        "the prior is 1.3 times as wide": _trained(lambda X, y, c, t, seed: (X, y, 1.3 * c, t, seed)),
    },
    "nishikawa/generalisation": {
        "curves and neurons are rough": _built(gamma=0.55, decay=0.1),
        "labels of later curves are noisier": _noisier,
    },
    "nishikawa/features": {
        "the target has another direction": _built(target="tanh(4*x3 - 4*x4)"),
        "the penalty is so large that neurons hardly move": _stiff,
    },
}

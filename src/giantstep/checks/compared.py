"""Compared: means over seeds and their predictions, with distances, misses, and the departures that would be detected."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep.checks import power
from giantstep.measure import mean_and_error

__all__ = ["Compared", "compare"]


@dataclass(frozen=True)
class Compared:
    """Means and predictions; a difference above ``level`` standard errors and above the tolerance ``granted`` is a miss."""

    mean: np.ndarray
    error: np.ndarray
    predicted: np.ndarray
    granted: np.ndarray
    level: float
    seeds: int

    @property
    def distance(self) -> np.ndarray:
        """The difference from the prediction in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.mean - self.predicted) / self.error

    @property
    def bound(self) -> np.ndarray:
        """The largest difference that is not a miss; NaN if there is no error bar."""
        return np.maximum(self.level * self.error, self.granted)

    @property
    def missed(self) -> np.ndarray:
        return np.abs(self.mean - self.predicted) > self.bound

    @property
    def seen(self) -> np.ndarray:
        """The departures that would be detected with probability 0.9."""
        with np.errstate(invalid="ignore"):
            return np.vectorize(power.detectable, otypes=[float])(self.error, self.level, self.granted)

    def power(self, unit: str = "", scale: float = 1.0) -> str:
        """A sentence about the size and power of the test."""
        granted = np.broadcast_to(self.granted, self.error.shape)
        return power.stated(self.error.flat, self.level, granted.flat, unit, scale=scale, seeds=self.seeds)

    def relative(self) -> "Compared":
        """The same comparison in units of the prediction."""
        return self._each(lambda x: x / np.abs(self.predicted))

    def __getitem__(self, at: Any) -> "Compared":
        return self._each(lambda x: np.asarray(x[at]))

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> "Compared":
        return replace(
            self, **{name: change(getattr(self, name)) for name in ("mean", "error", "predicted", "granted")}
        )


def compare(samples: Any, predicted: Any, *, level: float = 3.0, granted: Any = 0.0) -> Compared:
    """Compare the mean of samples (..., seeds) with a prediction (...), with ``granted`` as the tolerance."""
    samples = np.asarray(samples)
    mean, error = mean_and_error(samples)
    predicted, granted = (np.broadcast_to(np.asarray(x, dtype=float), mean.shape) for x in (predicted, granted))
    return Compared(mean, error, predicted, granted, level, samples.shape[-1])

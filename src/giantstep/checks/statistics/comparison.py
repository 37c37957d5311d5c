"""Comparison: numbers measured over seeds beside what is predicted, with the margin and the departure declared for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from giantstep.checks.claim import Side
from giantstep.checks.statistics._variance import moderated

MISSED = 0.01  # the probability with which a departure may go unnoticed
Mark = Literal["within", "not distinguishable", "open", "outside"]  # of one number, by its interval


@dataclass(frozen=True)
class Tolerance:
    """The difference that a statement is allowed (margin), and the larger one that must be noticed (departure).

    Both are numbers, or arrays that broadcast with what is compared.
    """

    margin: float | np.ndarray
    departure: float | np.ndarray


class Tolerances(NamedTuple):
    """For every number, and for the mean of all."""

    each: Tolerance
    mean: Tolerance


@dataclass(frozen=True)
class ComparedNumbers:
    """K numbers of one kind. ``samples`` (K, seeds) has one value a seed, and the statement is about its mean.

    Attributes:
        what: the quantity, such as "test error".
        at: where it is measured, one label for each number.
        samples: the measured values.
        predicted: what the statement says they are.
        margin: the difference that the statement is allowed at this size.
        departure: the difference that must be noticed; it is larger than the margin.
        side: "both" for an equality; "below" if the statement says that the mean is at most the prediction, "above" if it
            says at least.
        relative: differences are in units of the prediction, else in units of the samples.
        noisy: False for numbers without any randomness; they need one "seed" only.
    """

    what: str
    at: tuple[str, ...]
    samples: Float[np.ndarray, "k seeds"]
    predicted: Float[np.ndarray, " k"]
    margin: Float[np.ndarray, " k"]
    departure: Float[np.ndarray, " k"]
    side: Side = "both"
    relative: bool = False
    noisy: bool = True

    @property
    def differences(self) -> Float[np.ndarray, "k seeds"]:
        """What is left of the samples after the prediction is subtracted, in the units of the margin."""
        rest = self.samples - self.predicted[:, None]
        return rest / np.abs(self.predicted)[:, None] if self.relative else rest

    @property
    def count(self) -> int:
        return len(self.at)

    def judge(self, alpha: float) -> "Judged":
        """Intervals of level 1 - ``alpha`` for each number."""
        differences, seeds = self.differences, self.samples.shape[1]
        mean = np.mean(differences, axis=1)
        if not self.noisy:
            zero = np.zeros_like(mean)
            return Judged(self, mean, zero, zero, np.zeros(self.count))
        own = np.var(differences, axis=1, ddof=1)
        variance, freedom = moderated(own, seeds - 1)
        error = np.sqrt(variance / seeds)
        # a number that is noisier than the others keeps its own noise
        safe = np.sqrt(np.maximum(variance, own) / seeds)
        # mean +- t_{1 - alpha/2} s.e.; a true difference of margin + (t_{1 - alpha/2} + t_{0.99}) s.e. is noticed
        sure, seen = stdtrit(freedom, 1 - alpha / 2), stdtrit(freedom, 1 - MISSED)
        needed = _seeds_needed(variance, self.departure - self.margin, alpha, freedom - (seeds - 1))
        return Judged(self, mean, sure * safe, (sure + seen) * error, needed)


@dataclass(frozen=True)
class Judged:
    """A comparison with its intervals: ``difference`` +- ``half``, and beyond the margin ``reach`` more is noticed."""

    comparison: ComparedNumbers
    difference: Float[np.ndarray, " k"]
    half: Float[np.ndarray, " k"]
    reach: Float[np.ndarray, " k"]
    needed: Float[np.ndarray, " k"]

    @property
    def missed(self) -> Bool[np.ndarray, " k"]:
        """Whether the interval lies outside the margin."""
        return self._excess - self.half > self.comparison.margin

    @property
    def precise(self) -> Bool[np.ndarray, " k"]:
        """Whether the departure would be noticed; one that is missed was."""
        return self.missed | (self.needed <= self.comparison.samples.shape[1])

    @property
    def marks(self) -> tuple[Mark, ...]:
        """For every number whether its interval lies inside the margin, leaves it, hides a departure or lies outside."""
        inside = self._excess + self.half <= self.comparison.margin
        return tuple(_mark(*each) for each in zip(inside, self.precise, self.missed, strict=True))

    @property
    def usage(self) -> Float[np.ndarray, " k"]:
        """The difference in units of the departure; negative on the right side of a one-sided statement."""
        return self._excess / self.comparison.departure

    @property
    def finite(self) -> bool:
        return bool(np.all(np.isfinite(self.comparison.differences)))

    @property
    def _excess(self) -> np.ndarray:
        """How far the mean is on the wrong side."""
        return {"both": np.abs(self.difference), "below": self.difference, "above": -self.difference}[
            self.comparison.side
        ]


def _mark(inside: bool, precise: bool, missed: bool) -> Mark:
    if missed:
        return "outside"
    if not precise:
        return "open"
    return "within" if inside else "not distinguishable"


def _seeds_needed(
    variance: Float[np.ndarray, " k"], room: Float[np.ndarray, " k"], alpha: float, borrowed: float
) -> Float[np.ndarray, " k"]:
    """The least S >= 2 with (t_{1 - alpha/2} + t_{0.99}) sqrt(v/S) <= room, each t with nu0 + S - 1 degrees of freedom."""
    finite = np.isfinite(variance)
    noise = np.sqrt(np.where(finite, variance, 0.0))

    def enough(seeds: np.ndarray) -> np.ndarray:
        freedom = borrowed + seeds - 1
        quantiles = stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, 1 - MISSED)
        return quantiles * noise / np.sqrt(seeds) <= room

    most = np.full(len(noise), 2.0)
    while not np.all(fits := enough(most)):
        most = np.where(fits, most, 2 * most)
    least = most // 2  # bisection: the left side falls as S grows
    while np.any(most - least > 1):
        middle = np.maximum((least + most) // 2, 2)
        fits = enough(middle)
        least, most = np.where(fits, least, middle), np.where(fits, middle, most)
    return np.where(finite, most, np.inf)


def compare(
    what: str,
    samples: ArrayLike,
    predicted: ArrayLike = 0.0,
    *,
    within: Tolerance,
    at: Iterable[str] | None = None,
    side: Side = "both",
    relative: bool = False,
    noisy: bool = True,
) -> ComparedNumbers:
    """Compare samples (..., seeds) with a prediction (...); labels ``at`` are in the order of the flattened numbers.

    Numbers without randomness (``noisy=False``) have no axis of seeds.
    """
    if side not in get_args(Side):
        raise ValueError(f"The comparison of {what} has the side {side!r}, not one of {', '.join(get_args(Side))}.")
    values = np.asarray(samples, dtype=float)
    values = values if noisy else values[..., None]
    shape = values.shape[:-1]
    if noisy and values.shape[-1] < 2:
        raise ValueError(f"The comparison of {what} needs at least 2 seeds, not {values.shape[-1]}.")
    expected, allowed, seen = (
        np.broadcast_to(np.asarray(x, dtype=float), shape).ravel() for x in (predicted, within.margin, within.departure)
    )
    if not np.all((0 <= allowed) & (allowed < seen)):  # refuses NaN too
        raise ValueError(f"The departure of {what} must be larger than its margin, and the margin at least 0.")
    labels = tuple(at) if at is not None else ("",) * expected.size
    if len(labels) != expected.size:
        raise ValueError(f"The comparison of {what} has {expected.size} numbers and {len(labels)} labels.")
    return ComparedNumbers(
        what, labels, values.reshape(expected.size, -1), expected, allowed, seen, side, relative, noisy
    )


def each_and_mean(
    what: str,
    samples: ArrayLike,
    predicted: ArrayLike = 0.0,
    *,
    within: Tolerances,
    at: Iterable[str] | None = None,
    relative: bool = False,
) -> tuple[ComparedNumbers, ComparedNumbers]:
    """Every number against its prediction, and the mean of their differences, which has less noise."""
    every = compare(what, samples, predicted, within=within.each, at=at, relative=relative)
    return every, compare(f"{what}, mean of all", every.differences.mean(axis=0), within=within.mean)

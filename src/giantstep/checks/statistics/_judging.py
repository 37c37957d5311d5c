"""judging(claim, size): comparisons with the margins and departures that a claim declares."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from giantstep.checks.claim import Claim, Side, Size
from giantstep.checks.statistics._count import Count
from giantstep.checks.statistics.comparison import (
    ComparedNumbers,
    Tolerance,
    Tolerances,
    compare,
    each_and_mean,
)


@dataclass(frozen=True)
class Judging:
    """The judges of a claim at one size. A call compares numbers by the judge of their name."""

    claim: Claim
    size: Size

    def __call__(
        self,
        what: str,
        samples: ArrayLike,
        predicted: ArrayLike = 0.0,
        *,
        by: str = "",
        at: Iterable[str] | None = None,
        margin: ArrayLike | None = None,
        side: Side | None = None,
        noisy: bool = True,
    ) -> ComparedNumbers:
        """Compare samples (..., seeds) with a prediction (...).

        Args:
            what: the quantity, as a table names it.
            samples: one value a seed; without that axis if they are not noisy.
            predicted: what the statement says they are.
            by: the judge's name, where it is another than ``what``.
            at: where it is measured, one label for each number.
            margin: of every number, where the judge declares it in words.
            side: that of the judge, unless a number has another.
            noisy: False for numbers without any randomness.
        """
        judge = self.claim.judge(by or what)
        within = self.tolerance(judge.what, margin)
        side = side or judge.side
        return compare(what, samples, predicted, within=within, at=at, side=side, relative=judge.relative, noisy=noisy)

    def each_and_mean(
        self,
        what: str,
        samples: ArrayLike,
        predicted: ArrayLike = 0.0,
        *,
        by: str = "",
        at: Iterable[str] | None = None,
    ) -> tuple[ComparedNumbers, ComparedNumbers]:
        """Every number against its prediction, and the mean of their differences."""
        judge = self.claim.judge(by or what)
        within = Tolerances(self.tolerance(judge.what), self.mean_tolerance(judge.what))
        return each_and_mean(what, samples, predicted, within=within, at=at, relative=judge.relative)

    def count(self, what: str, exceptions: int, trials: int, *, by: str = "") -> Count:
        """How many of independent trials do not what the statement says; the margin is a share."""
        allowed = self.tolerance(by or what)
        return Count(what, exceptions, trials, float(allowed.margin), float(allowed.departure))

    def tolerance(self, name: str, margin: ArrayLike | None = None) -> Tolerance:
        """Margin and departure of every number of a judge; ``margin`` where it is declared in words."""
        judge = self.claim.judge(name)
        if isinstance(judge.margin, str) != (margin is not None):
            raise ValueError(f"The margin of the {name} is given if and only if the judge declares it in words.")
        allowed = np.asarray(margin) if isinstance(judge.margin, str) else judge.at(self.size, judge.margin)
        return Tolerance(allowed, judge.at(self.size, judge.departure))

    def mean_tolerance(self, name: str) -> Tolerance:
        """Margin and departure of the mean over the numbers of a judge."""
        judge = self.claim.judge(name)
        if judge.mean is None:
            raise ValueError(f"The judge of the {name} has no margin of the mean.")
        return Tolerance(*(judge.at(self.size, each) for each in judge.mean))


def judging(claim: Claim, size: Size) -> Judging:
    """What compares numbers at this size by the margins that the claim declares."""
    return Judging(claim, size)

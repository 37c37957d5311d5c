"""Count: how many of independent trials do what a statement says, judged by exact binomial bounds."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from giantstep.checks.statistics.comparison import MISSED, Mark


@dataclass(frozen=True)
class Count:
    """``exceptions`` among ``trials`` independent trials; the statement is that their probability is at most ``allowed``.

    ``allowed`` is the probability of a borderline trial, which theory predicts, and a probability of ``departure`` must be
    noticed.
    """

    what: str
    exceptions: int
    trials: int
    allowed: float
    departure: float

    def __post_init__(self) -> None:
        if not 0 <= self.allowed < self.departure <= 1:
            raise ValueError(f"The departure of {self.what} must be larger than the share that is allowed.")
        if not 0 <= self.exceptions <= self.trials or self.trials == 0:
            raise ValueError(f"{self.what}: {self.exceptions} exceptions in {self.trials} trials make no count.")

    @property
    def count(self) -> int:
        return 1

    def judge(self, alpha: float) -> "Counted":
        """A one-sided bound of Clopper and Pearson (1934) for the probability of an exception."""
        lower = _lower(self.exceptions, self.trials, alpha)
        return Counted(self, lower, _seen(self, self.trials, alpha), _needed(self, alpha))


@dataclass(frozen=True)
class Counted:
    """A count with the lower bound of its probability, the chance that the departure is noticed, and the trials it needs."""

    comparison: Count
    lower: float
    seen: float
    needed: float

    @property
    def missed(self) -> np.ndarray:
        return np.array([self.lower > self.comparison.allowed])

    @property
    def precise(self) -> np.ndarray:
        return self.missed | (self.seen >= 1 - MISSED)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Whether the share is one that is allowed, cannot be told from it, hides a departure, or is too large."""
        if self.missed[0]:
            return ("outside",)
        if not self.precise[0]:
            return ("open",)
        count = self.comparison
        return ("within" if count.exceptions <= count.allowed * count.trials else "not distinguishable",)

    @property
    def usage(self) -> np.ndarray:
        return np.array([self.comparison.exceptions / self.comparison.trials / self.comparison.departure])

    @property
    def finite(self) -> bool:
        return True


def _lower(exceptions: int, trials: int, alpha: float) -> float:
    """The probability below which so many exceptions would come with a chance below alpha."""
    return float(betaincinv(exceptions, trials - exceptions + 1, alpha)) if exceptions else 0.0


def _seen(count: Count, trials: int, alpha: float) -> float:
    """The chance that exceptions of probability ``departure`` are noticed among so many trials."""
    from scipy.stats import binom  # here: it takes longer to import than most claims take to judge

    least = int(binom.isf(alpha, trials, count.allowed)) + 1  # P(X >= least | allowed) <= alpha
    return float(binom.sf(least - 1, trials, count.departure))


def _needed(count: Count, alpha: float) -> float:
    trials = count.trials
    while _seen(count, trials, alpha) < 1 - MISSED and trials < 10**7:
        trials = int(np.ceil(1.2 * trials))
    return float(trials)

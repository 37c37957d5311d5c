"""Amounts of training, rate * steps.

They are multiples of that at which the bound known before it says no more than predicting zero.
"""

from functools import lru_cache

from scipy.optimize import brentq

from giantstep.systems.bounds import Bounds
from giantstep.systems.bounds.theory import on_fresh, trivial
from giantstep_papers.nguwi import trainings

AMOUNTS = (0.25, 1.0, 4.0, 16.0)
N = 4000  # fresh samples of that bound; the training samples are as many as steps


@lru_cache(maxsize=8)
def passed(case: str) -> float:
    """The amount of training at which the bound known before it is the error of predicting zero."""

    def at(amount: float) -> Bounds:
        return trainings.bounds(case, rate=amount / trainings.STEPS)

    useless = trivial(at(0.0))

    def beyond(amount: float) -> float:
        return on_fresh(at(amount), N) - useless

    return float(brentq(beyond, 0.0, 20.0))  # type: ignore[arg-type]

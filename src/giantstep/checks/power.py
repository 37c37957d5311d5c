"""Power: how often a test calls a true statement false, and which departure it detects, both from its error bars."""

from collections.abc import Iterable
from itertools import repeat
from math import erfc, isfinite, prod, sqrt
from typing import Literal

__all__ = ["SEEN", "alarm", "counted", "decided", "detectable", "stated"]

SEEN = 0.9  # the probability of detection at which a departure counts as detectable
_Z_SEEN = 1.2815515655446004  # Phi^{-1}(SEEN)


def alarm(error: float, level: float, granted: float = 0.0, seeds: int | None = None) -> float:
    """The probability that a comparison of a true statement exceeds ``level`` standard errors and the tolerance ``granted``.

    It is the smaller of the two probabilities. With an error measured over few ``seeds`` the first follows Student's t.
    """
    from scipy.special import stdtr

    # P(|z| > level), and P(|x| > granted) for x ~ N(0, se^2)
    beyond = erfc(level / sqrt(2)) if seeds is None else 2 * float(stdtr(seeds - 1, -level))
    return min(beyond, erfc(granted / error / sqrt(2)) if error > 0 else 0.0)


def detectable(error: float, level: float, granted: float = 0.0) -> float:
    """The departure that exceeds ``level`` standard errors and the tolerance ``granted`` with probability 0.9."""
    # P(x + se z > bound) = 0.9 at x = bound + z_0.9 se
    return max(level * error, granted) + _Z_SEEN * error


def decided(contradicted: bool, departure: float, needed: float) -> Literal["holds", "fails", "inconclusive"]:
    """The outcome of a test that detects ``departure``, for a statement that a departure of ``needed`` would falsify."""
    return "fails" if contradicted else "holds" if departure <= needed else "inconclusive"


def stated(
    errors: Iterable[float],
    level: float,
    granted: float | Iterable[float] = 0.0,
    unit: str = "",
    *,
    scale: float = 1.0,
    seeds: int | None = None,
) -> str:
    """A sentence about the size and power of comparisons with these standard errors, in units of ``scale`` and ``unit``.

    A comparison fails if it exceeds both ``level`` standard errors and the tolerance ``granted``, one for all or one for each.
    Shared draws make false alarms rarer, so the probability is a bound. ``seeds`` is the number of seeds behind the errors, if
    it is small.
    """
    grants = repeat(granted) if isinstance(granted, int | float) else granted
    known = [(float(error), float(grant)) for error, grant in zip(errors, grants, strict=False) if isfinite(error)]
    if not known:
        return "No error bar is known: the test has no stated power."
    departures = [scale * detectable(error, level, grant) for error, grant in known]
    least, most = (f"{bound:.2g}" for bound in (min(departures), max(departures)))
    count = "One comparison" if len(known) == 1 else f"{len(known)} comparisons"
    span = f"{least if least == most else f'{least} to {most}'}{unit}"
    return (
        f"{count} at {level:g} s.e.: a true statement is called false with probability "
        f"{_small(1 - prod(1 - alarm(error, level, grant, seeds) for error, grant in known))} at most; a departure of {span} "
        f"is seen with probability {SEEN:g}."
    )


def counted(count: int, what: str) -> str:
    """A sentence about the power of a test that looks at ``count`` things and fails if one of them is wrong."""
    if not count:
        return f"No {what}: the test has no power."
    # 1 - (1 - share)^count = SEEN
    return f"{count} {what}: if a share of {1 - (1 - SEEN) ** (1 / count):.2g} were not, one is seen with probability {SEEN:g}."


def _small(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.001 else f"{max(probability, 1e-6):.0e}"  # no tail is known better

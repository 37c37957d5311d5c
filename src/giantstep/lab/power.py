"""Power: how often a test calls a true statement false, and which departure it would see, both from its error bars."""

from collections.abc import Iterable, Sequence
from math import erfc, isfinite, prod, sqrt

__all__ = ["SEEN", "detectable", "false_alarm", "stated"]

SEEN = 0.9  # probability with which a departure counts as one that the test sees
_Z_SEEN = 1.2815515655446004  # Phi^{-1}(SEEN)


def false_alarm(comparisons: int, level: float, seeds: int | None = None) -> float:
    """The chance that one of so many independent comparisons of a true statement is beyond ``level`` standard errors.

    Standard errors from so many ``seeds`` are uncertain themselves: Student's law in place of the normal one.
    """
    from scipy.special import stdtr

    # 1 - (1 - P(|t| > level))^k
    one = erfc(level / sqrt(2)) if seeds is None else 2 * float(stdtr(seeds - 1, -level))
    return 1 - (1 - one) ** comparisons


def detectable(error: float, level: float, granted: float = 0.0) -> float:
    """The departure that is seen with probability 0.9 where it must pass ``level`` standard errors and what is ``granted``."""
    # P(x + se z > bound) = 0.9 at x = bound + z_0.9 se
    return max(level * error, granted) + _Z_SEEN * error


def stated(
    errors: Iterable[float],
    level: float,
    granted: float | Sequence[float] = 0.0,
    unit: str = "",
    *,
    scale: float = 1.0,
    seeds: int | None = None,
) -> str:
    """Size and power of comparisons with these standard errors, in words; ``scale`` and ``unit`` are those of what is said.

    A comparison fails beyond ``level`` standard errors and beyond what is granted, to all or to each, both. Shared draws make
    false alarms rarer than said: the number is a bound. ``seeds`` says from how many the errors are.
    """
    errors = [float(error) for error in errors]
    grants = granted if isinstance(granted, Sequence) else [granted] * len(errors)
    known = [(error, grant) for error, grant in zip(errors, grants, strict=True) if isfinite(error)]
    if not known:
        return "No error bar is known: the test has no stated power."
    seen = [scale * detectable(error, level, grant) for error, grant in known]
    least, most = f"{min(seen):.2g}", f"{max(seen):.2g}"
    alarm = 1 - prod(1 - false_alarm(1, max(level, grant / error if error else level), seeds) for error, grant in known)
    return (
        f"{'One comparison' if len(known) == 1 else f'{len(known)} comparisons'} at {level:g} s.e.: a true statement is "
        f"called false with probability {_small(alarm)} at most; a departure of "
        f"{least if least == most else f'{least} to {most}'}{unit} is seen with probability {SEEN:g}."
    )


def _small(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.001 else f"{probability:.0e}"

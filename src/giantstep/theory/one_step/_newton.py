"""Newton's method, by NumPy or JAX: the one loop behind every fixed point of the theories."""

from collections.abc import Callable
from typing import Any

from giantstep._machine.arrays import until, xp


def newton(move: Callable[[Any], Any], x: Any, settled: float, most: int, *, relative: bool = False) -> tuple[Any, Any]:
    """``x <- x + move(x)`` until no entry moves by more than ``settled``, ``most`` times at most; x and the number of steps.

    With ``relative`` a move counts in units of the entry it leads to. An entry that becomes NaN stops nothing but itself.
    """

    def unfinished(state: tuple[Any, ...]) -> Any:
        _, longest, steps = state
        return (longest > settled) & (steps < most)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        x, _, steps = state
        change = move(x)
        x = x + change
        length = xp.abs(change / x if relative else change)
        return x, xp.max(xp.where(xp.isnan(length), 0.0, length)), steps + 1

    x, _, steps = until(unfinished, step, (x, xp.inf, 0))
    return x, steps

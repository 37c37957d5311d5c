"""ScalingCase: the checked arguments of ``explain``, which are a target, a batch, a width and a number of steps."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from giantstep._given.plain import whole
from giantstep.errors import InputError, quoted
from giantstep.experiment.target import Target
from giantstep.explain._steps import MAX_STEPS, Rule
from giantstep.functions._tensors import Series, series
from giantstep.functions.staircase import FoundDirection, climb, empty, extended

MAX_EXPONENT = 20


@dataclass(frozen=True)
class ScalingCase:
    """A target with batches of d^batch samples, a width of d^width, and a number of steps (None: until it stops)."""

    target: Target
    batch: float
    width: float
    steps: int | None

    @cached_property
    def f(self) -> Series:
        """The target in orthonormal Hermite products."""
        return series(self.target.hermite)

    @property
    def limit(self) -> int:
        """The largest order that a batch shows; order l needs d^l samples."""
        return int(self.batch + 1e-9)

    @property
    def kappa(self) -> int:
        """The degree that a readout fits outside the learned directions."""
        return int(min(self.batch, self.width) + 1e-9)

    @property
    def threshold(self) -> float:
        """The mass below which a part of the target counts as zero, in units of f^2."""
        return self.target.hermite.threshold * self.f.variance

    @property
    def top(self) -> int:
        """The largest order of the target."""
        return max(self.target.hermite.degree, 1)

    @property
    def symbol(self) -> str:
        """The variables: x, or q for the orthonormal coordinates of directions that are not orthonormal."""
        return "x" if self.target.mixing is None else "q"

    @cached_property
    def stairs(self) -> list[list[FoundDirection]]:
        """The staircase of a batch that shows every order."""
        return climb([self.f], self.threshold)

    @cached_property
    def whole(self) -> np.ndarray:
        """All directions on which the target depends."""
        return extended(empty(self.f.rank), [v for new in self.stairs for v in new])

    def fresh(self, visible: frozenset[int] | None = None) -> Rule:
        """The rule of a step on a fresh batch."""
        return Rule([self.f], self.threshold, self.limit, visible)


def case(target: Target, batch: Any, width: Any, steps: Any) -> ScalingCase:
    """Check the arguments and make a ScalingCase."""
    steps = None if steps is None else whole(steps, "steps", least=0)
    if steps is not None and steps > MAX_STEPS:
        raise InputError(f"steps must be at most {MAX_STEPS}, not {steps}: no staircase has more steps than directions")
    return ScalingCase(target, exponent(batch, "batch"), exponent(width, "width"), steps)


_POWER = re.compile(r"\s*(?:1|d(?:\s*(?:\^|\*\*)\s*(\d+\.?\d*|\.\d+))?)\s*", re.ASCII)


def exponent(text: Any, what: str) -> float:
    """1.5 for "d^1.5", 0 for "1"."""
    match = _POWER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(
            f'{what} must be a power of the dimension such as "1", "d", "d^2" or "d^1.5", not {quoted(text)}'
        )
    power = 0.0 if text.strip() == "1" else float(match[1] or 1)
    if power > MAX_EXPONENT:
        raise InputError(f"{what} may be d^{MAX_EXPONENT} at most, not {text.strip()}")
    return power

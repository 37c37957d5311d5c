"""The directions that each step finds, and sentences that say why."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.explain.words import combination, listing, reason
from giantstep.functions._tensors import Series
from giantstep.functions.staircase import FoundDirection, empty, extended, found, lowest

MAX_STEPS = 100


@dataclass(frozen=True)
class Rule:
    """What one step can see: functions of the label, their threshold, the largest order of the batch, and visible orders."""

    functions: list[Series]
    threshold: float
    limit: int
    visible: frozenset[int] | None = None

    def new(self, basis: np.ndarray) -> list[FoundDirection]:
        """The directions that the step adds to the span of the basis."""
        return found(self.functions, basis, range(1, self.limit + 1), self.threshold, self.visible)


@dataclass(frozen=True)
class Walk:
    """Bases U_0, U_1, ... and the directions each step found."""

    bases: list[np.ndarray]
    directions: list[list[FoundDirection]]

    @property
    def last(self) -> np.ndarray:
        return self.bases[-1]


def walk(rank: int, rule: Callable[[int], Rule], steps: int | None) -> Walk:
    """Take the steps: U_{t+1} is U_t and what rule(t) finds. With ``steps=None``, stop when nothing new can be found."""
    bases, news = [empty(rank)], []
    for t in range(MAX_STEPS if steps is None else steps):
        new = rule(t).new(bases[-1]) if len(bases[-1]) < rank else []
        if steps is None and not new and (t > 0 or len(bases[-1]) == rank or not rule(1).new(bases[-1])):
            break
        bases.append(extended(bases[-1], new))
        news.append(new)
    return Walk(bases, news)


def reasons(f: Series, path: Walk, reuse: bool, symbol: str) -> list[str]:
    """One sentence for every direction found."""
    sentences = []
    for t, new in enumerate(path.directions):
        basis = path.bases[t]
        for i, direction in enumerate(new):
            name = combination(direction.vector)
            order = "" if direction.order == 1 else f" at order {direction.order}"
            if reuse and t > 0:
                given = f", {listing(basis.tolist(), symbol)}" if len(basis) else ""
                what = combination(direction.vector, symbol)
                what = what if direction.order == 1 else f"h{direction.order} along {what}"
                why = f"on a reused batch the step acts on functions of y, and E[{what} | y{given}] is not zero"
            else:
                why = reason(f, basis, new, i, symbol)
            sentences.append(f"Step {t + 1} finds {name}{order}: {why}.")
        if not new and any(path.directions[t:]):
            sentences.append(f"Step {t + 1} finds nothing new.")
    return sentences


def ending(rule: Rule, top: int, path: Walk, whole: np.ndarray, fresh: Rule | None = None) -> str:
    """Say why the staircase ends; ``fresh`` is the rule of fresh batches if ``rule`` is that of a reused one."""
    basis, missing = path.last, len(whole) - len(path.last)
    if len(whole) == 0:
        return "The target is a constant: there is no direction to find."
    if missing <= 0:
        return "Every direction of the target is found."
    if rule.limit < 1:
        return "A batch smaller than d finds nothing, for any step size and any number of steps."
    more = rule.new(basis)
    if more:
        return f"Another step would find {listing([v.vector for v in more])}."
    later = lowest(rule.functions, basis, range(rule.limit + 1, top + 1), rule.threshold)
    stop = f"The steps do not find {missing} of {len(whole)} directions"
    if fresh is not None:
        stop = f"{stop}: up to order {rule.limit} no function of y shows more."
        return stop + _reused(later, rule.limit) + _fresh(fresh, basis, top)
    stop = f"{stop}: up to order {rule.limit} there is nothing left to see"
    if not later:
        return f"{stop}."
    order = later[0].order
    return f"{stop}; {listing([v.vector for v in later])} would be seen at order {order}, which needs a batch of d^{order}."


def _reused(later: list[FoundDirection], limit: int) -> str:
    """What more a reused batch can find, and how.

    Directions on which y depends evenly only take of order log d steps at n = alpha d (Dandi et al. 2402.03220).
    """
    if not later:
        return ""
    order = later[0].order
    slowly = ", or about log d steps on one of d" if (order, limit) == (2, 1) else ""
    shown = f"At order {order} a function of y shows {listing([v.vector for v in later])}"
    return f" {shown}: that takes a few steps on a reused batch of d^{order}{slowly}."


def _fresh(fresh: Rule, basis: np.ndarray, top: int) -> str:
    """The size of the fresh batches that would find more."""
    seen = lowest(fresh.functions, basis, range(1, top + 1), fresh.threshold)
    return f" Fresh batches would need d^{seen[0].order} samples." if seen and seen[0].order > 1 else ""


def blocked(sigma: str, f: Series, rule: Rule, basis: np.ndarray) -> str | None:
    """A sentence about the terms that would find more if the activation saw their order."""
    free = Rule(rule.functions, rule.threshold, rule.limit)
    more = free.new(basis)
    if not more or rule.new(basis):
        return None
    orders = [
        k for k in sorted(f.orders) if found([f], basis, range(1, rule.limit + 1), rule.threshold, frozenset({k}))
    ]
    names, many = listing([v.vector for v in more]), "s" * (len(orders) > 1)
    visible = ", ".join(map(str, sorted(k for k in rule.visible or () if 1 <= k <= max(orders) + 1)))
    sees = f"only orders {visible}, ..." if visible else "none up to that"
    needs = f"that needs the target's order{many} {', '.join(map(str, orders))}"
    return f"{sigma} does not find {names}: {needs}, and {sigma} sees {sees} (E sigma^(k) is zero for the others)."

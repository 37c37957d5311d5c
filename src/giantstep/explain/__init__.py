"""explain(target): what a few giant steps can learn of a target, in the limit of large d, and why."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep._callable import callable_module
from giantstep._errors import InputError
from giantstep._record import flag, whole
from giantstep._staircase import climb, empty, extended
from giantstep._tensors import Series, series
from giantstep.activation import Activation
from giantstep.activation import activation as as_activation
from giantstep.explain.explanation import Climb, Explanation
from giantstep.explain.floors import floors, terms
from giantstep.explain.generative import ENOUGH, transforms
from giantstep.explain.notes import notes
from giantstep.explain.steps import MAX_STEPS, Rule, Walk, blocked, ending, reasons, walk
from giantstep.explain.visible import visible_orders
from giantstep.target import Target
from giantstep.target import target as as_target

MAX_EXPONENT = 20


def explain(
    target: "str | Callable[[Any], Any] | Target",
    batch: str = "d",
    width: str = "d",
    steps: int | None = None,
    reuse: bool = False,
    activation: "str | Activation | None" = None,
) -> Explanation:
    """Which directions of a target a network finds step by step, which terms it can fit, and the error it cannot go below.

    Args:
        target: a formula or a Target.
        batch: size of every batch as a power of the dimension: "d", "d^2", "d^1.5", "d^0.5".
        width: the same for the width: "1", "d", "d^2".
        steps: number of steps; None means until nothing more is found.
        reuse: all steps go over one batch, instead of a fresh one each.
        activation: also say which part of the staircase this activation can climb.
    """
    target = as_target(target)
    n, p = exponent(batch, "batch"), exponent(width, "width")
    steps = None if steps is None else whole(steps, "steps", least=0)
    if steps is not None and steps > MAX_STEPS:
        raise InputError(
            f"steps must be at most {MAX_STEPS}, not {steps}: a staircase has at most as many as directions"
        )
    if flag(reuse, "reuse") and activation is not None:
        raise InputError(
            "which orders an activation sees on a batch it has seen before is not known: give reuse or activation"
        )
    expansion, symbol = target.hermite, "x" if target.mixing is None else "q"
    f = series(expansion)
    threshold, top = expansion.threshold * f.variance, max(expansion.degree, 1)
    limit, kappa = int(n + 1e-9), int(min(n, p) + 1e-9)
    full = climb([f], threshold)
    whole_basis = extended(empty(f.rank), [v for new in full for v in new])
    again, again_leaps, missing = _generative(target, f, limit, reuse)

    fresh = Rule([f], threshold, limit)
    path = walk(f.rank, lambda t: again if reuse and t > 0 and again else fresh, steps)
    last = again if reuse and again else fresh
    told = [*reasons(f, path, reuse, symbol), ending(last, top, path, whole_basis)]
    found = _climb(target, f, path, kappa, whole_basis, symbol, told)
    sigma = None if activation is None else as_activation(activation)
    realised = None if sigma is None else _realised(target, f, fresh, sigma, steps, kappa, whole_basis, symbol, path)
    return Explanation(
        target=target.name, rank=target.rank, batch=batch, width=width, reuse=bool(reuse),
        information_exponent=target.information_exponent,
        leap=max((new[0].order for new in full), default=None),
        leaps=[new[0].order for new in full],
        generative_exponent=None if not again_leaps else again_leaps[0],
        generative_leaps=again_leaps,
        **found.to_dict(),
        warnings=[*notes(target, path, fresh, again if reuse else None, whole_basis), *missing],
        activation=None if sigma is None else sigma.name,
        realised=realised,
    )  # fmt: skip


def exponent(text: Any, what: str) -> float:
    """1.5 for "d^1.5", 0 for "1"."""
    match = (
        re.fullmatch(r"\s*(?:1|d(?:\s*(?:\^|\*\*)\s*(\d+\.?\d*|\.\d+))?)\s*", text) if isinstance(text, str) else None
    )
    if match is None:
        raise InputError(f'{what} must be a power of the dimension such as "1", "d", "d^2" or "d^1.5", not {text!r}')
    power = 0.0 if text.strip() == "1" else float(match[1] or 1)
    if power > MAX_EXPONENT:
        raise InputError(f"{what} may be d^{MAX_EXPONENT} at most, not {text.strip()}")
    return power


def _generative(target: Target, f: Series, limit: int, reuse: bool) -> tuple[Rule | None, list[int] | None, list[str]]:
    """The rule of a step on a batch seen before, the generative leaps, and what could not be computed."""
    try:
        functions, threshold = transforms(target)
    except InputError as problem:
        if reuse:
            raise
        return None, None, [f"{problem}; the generative exponent is left out."]
    leaps = [new[0].order for new in climb(functions, threshold)]
    if target.polynomial:  # E[f^2 (|z_perp|^2 - dim)| z_U] > 0 for a polynomial: never above 2
        leaps = [min(order, 2) for order in leaps]
    few = len(functions) < ENOUGH and max(leaps, default=1) > 1
    told = [f"the generative exponents come from y^j, j <= {len(functions)}, and may be too large."] if few else []
    return Rule(functions, threshold, limit), leaps, told


def _climb(
    target: Target, f: Series, path: Walk, kappa: int, whole_basis: np.ndarray, symbol: str, told: list[str]
) -> Climb:
    expansion, basis = target.hermite, path.last
    complete = len(basis) >= len(whole_basis)
    return Climb(
        staircase=[b.tolist() for b in path.bases],
        orders=[[v.order for v in new] for new in path.found],
        strengths=[[v.strength for v in new] for new in path.found],
        terms=terms(expansion, f, basis, kappa, complete, symbol),
        floor=floors(f, basis, kappa, expansion.truncated, complete),
        reasons=told,
    )


def _realised(
    target: Target, f: Series, fresh: Rule, sigma: Activation, steps: int | None, kappa: int, whole_basis: np.ndarray,
    symbol: str, plain: Walk,
) -> Climb:  # fmt: skip
    """The staircase of the terms whose orders the activation sees."""
    first, later = visible_orders(sigma, max(target.hermite.degree, 1) + 1)
    rules = [Rule(fresh.functions, fresh.threshold, fresh.limit, orders) for orders in (first, later)]
    path = walk(f.rank, lambda t: rules[min(t, 1)], steps)
    told = [sentence.replace("Step", f"With {sigma.name}, step") for sentence in reasons(f, path, False, symbol)]
    stuck = blocked(sigma.name, f, rules[1], path.last)
    told.append(stuck or ending(rules[1], max(target.hermite.degree, 1), path, whole_basis))
    if path.found == plain.found:
        told = [f"{sigma.name} sees every order that these steps need."]
    return _climb(target, f, path, kappa, whole_basis, symbol, told)


__all__ = ["Climb", "Explanation", "explain", "exponent"]
callable_module(__name__, explain)

"""explain(target): what a few giant steps can learn about a target in the limit of large d, and why."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep._given.callable import callable_module
from giantstep._given.declared import at_least, given
from giantstep._given.plain import flag
from giantstep.errors import InputError
from giantstep.experiment.target import Target
from giantstep.experiment.target import target as as_target
from giantstep.explain._case import ScalingCase, case
from giantstep.explain._floors import Seen, floors, terms
from giantstep.explain._generative import transforms
from giantstep.explain._notes import notes
from giantstep.explain._steps import Rule, Walk, blocked, ending, reasons, walk
from giantstep.explain._visible import visible_orders
from giantstep.explain.explanation import Climb, Explanation
from giantstep.functions._tensors import Series
from giantstep.functions.activation import Activation
from giantstep.functions.activation import activation as as_activation
from giantstep.functions.staircase import climb

if TYPE_CHECKING:
    from giantstep.experiment.setting import Setting


@given(steps=at_least(0), reuse=flag)
def explain(
    target: "str | Callable[[Any], Any] | Target | Setting",
    batch: str | None = None,
    width: str | None = None,
    steps: int | None = None,
    reuse: bool | None = None,
    activation: "str | Activation | None" = None,
) -> Explanation:
    """Say which directions of a target a network finds in each step, which terms it can fit, and its smallest possible error.

    Args:
        target: a formula or a Target; or a Setting, which has all the rest: arguments that contradict it are refused.
        batch: size of every batch as a power of the dimension: "d" (the default), "d^2", "d^1.5", "d^0.5".
        width: the same for the width: "1", "d" (the default), "d^2".
        steps: number of steps; None goes on until no step finds a new direction.
        reuse: all steps use one batch, instead of a fresh batch each, the default.
        activation: also say which part of the staircase this activation can climb.

    Examples:
        >>> x = gs.explain("x1 + x1*x2", batch="d")
        >>> x.information_exponent, x.leap
        (1, 1)
        >>> [len(basis) for basis in x.staircase]  # directions known after 0, 1, 2 steps
        [0, 1, 2]
    """
    told: list[str] = []
    if not isinstance(target, str | Target):
        from giantstep.experiment.setting import Setting

        if isinstance(target, Setting):
            from giantstep.explain._of_setting import arguments

            given = {"batch": batch, "width": width, "steps": steps, "reuse": reuse, "activation": activation}
            own, told = arguments(target, given)
            target, batch, width, steps = target.target, own["batch"], own["width"], own["steps"]
            reuse, activation = own["reuse"], own["activation"]
    batch, width = ("d" if given is None else given for given in (batch, width))
    asked = case(as_target(target), batch, width, steps)
    if reuse and activation is not None:
        raise InputError("there is no theory of an activation on a reused batch: give either reuse or activation")
    sigma = None if activation is None else as_activation(activation)
    again, generative, missing = _generative(asked, bool(reuse))
    later = again if reuse and again is not None else asked.fresh()
    path = walk(asked.f.rank, lambda t: later if t > 0 else asked.fresh(), asked.steps)
    end = ending(later, asked.top, path, asked.whole, asked.fresh() if reuse else None)
    leaps = [new[0].order for new in asked.stairs]
    return Explanation(
        **_climb(asked, path, [*reasons(asked.f, path, bool(reuse), asked.symbol), end]).to_dict(),
        target=asked.target.name,
        rank=asked.target.rank,
        batch=batch,
        width=width,
        reuse=bool(reuse),
        information_exponent=asked.target.information_exponent,
        leap=max(leaps, default=None),
        leaps=leaps,
        generative_exponent=generative[0] if generative else None,
        generative_leaps=generative,
        warnings=[*told, *notes(asked, path, bool(reuse)), *missing],
        activation=None if sigma is None else sigma.name,
        realised=None if sigma is None else _realised(asked, sigma, path),
    )


def _generative(asked: ScalingCase, reuse: bool) -> tuple[Rule | None, list[int] | None, list[str]]:
    """The rule of a step on a reused batch, the generative leaps, and notes on what could not be computed."""
    try:
        functions, threshold, doubt = transforms(asked.target)
    except InputError as problem:
        if reuse:
            raise
        return None, None, [f"The generative exponent is left out: {problem}."]
    leaps = [new[0].order for new in climb(functions, threshold)]
    if asked.target.polynomial:  # E[f^2 (|z_perp|^2 - dim) | z_U] > 0 for a polynomial: never above 2
        leaps = [min(order, 2) for order in leaps]
    doubtful = doubt and max(leaps, default=1) > 1
    doubts = [f"The generative exponents {doubt}, and may be too large."] if doubtful else []
    return Rule(functions, threshold, asked.limit), leaps, doubts


def _climb(asked: ScalingCase, path: Walk, sentences: list[str], seen: Seen | None = None) -> Climb:
    """The staircase of a walk, and the parts of the target that are not fitted; ``seen`` are the orders of an activation."""
    expansion, basis = asked.target.hermite, path.last
    complete = len(basis) >= len(asked.whole)
    return Climb(
        staircase=[b.tolist() for b in path.bases],
        orders=[[v.order for v in new] for new in path.directions],
        strengths=[[v.strength for v in new] for new in path.directions],
        terms=terms(expansion, asked.f, basis, asked.kappa, complete, asked.symbol, seen),
        floor=floors(asked.f, basis, asked.kappa, expansion.truncated, complete, seen),
        reasons=sentences,
    )


def _realised(asked: ScalingCase, sigma: Activation, conjectured: Walk) -> Climb:
    """The staircase of the terms whose orders the activation sees."""
    first, later = visible_orders(sigma, asked.top + 1)
    rules = [asked.fresh(first), asked.fresh(later)]
    path = walk(asked.f.rank, lambda t: rules[min(t, 1)], asked.steps)
    seen = Seen(first, first | later if len(path.last) else first)
    unseen = [k for k, a in asked.f.orders.items() if k not in seen.stepped and float(np.sum(a**2)) > asked.threshold]
    fits = f"its readout cannot fit {_orders(unseen)} of the target" if unseen else ""
    if path.directions == conjectured.directions:
        found = f"{sigma.name} sees every order that these steps need"
        return _climb(asked, path, [f"{found}, but {fits}." if fits else f"{found}."], seen)
    visible = Series(asked.f.rank, {k: a for k, a in asked.f.orders.items() if k in first | later})
    sentences = [
        sentence.replace("Step", f"With {sigma.name}, step") for sentence in reasons(visible, path, False, asked.symbol)
    ]
    stuck = blocked(sigma.name, asked.f, rules[1], path.last)
    last = [f"With {sigma.name}, {fits}."] if fits else []
    return _climb(asked, path, [*sentences, stuck or ending(rules[1], asked.top, path, asked.whole), *last], seen)


def _orders(orders: list[int]) -> str:
    """order 3, or orders 3 and 5."""
    *first, last = map(str, orders)
    return f"orders {', '.join(first)} and {last}" if first else f"order {last}"


__all__ = ["Climb", "Explanation", "explain"]
callable_module(__name__, explain)

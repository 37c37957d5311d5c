"""What a staircase silently asks of a network, and where its numbers end: one sentence each."""

import numpy as np

from giantstep._staircase import lowest
from giantstep.explain.steps import Rule, Walk
from giantstep.explain.words import listing
from giantstep.target import Target


def notes(target: Target, path: Walk, limit: int, reuse: bool, last: Rule, whole: np.ndarray) -> list[str]:
    """All that apply."""
    found = [*_deflation(target, path, reuse), *_second_layer(path, reuse), *_reuse(path, limit, reuse, last)]
    expansion = target.hermite
    if target.mixing is not None:
        found.append(
            "the directions are not orthonormal: q1, q2, ... are the orthonormal coordinates of their Gram-Schmidt basis, "
            "in the order given."
        )
    beyond = expansion.truncated
    if beyond > 1e-9 * expansion.power and 0 < len(path.last) < len(whole):
        found.append(f"orders above {expansion.degree} hold {beyond:.3g} of E f^2, by which the floors may be too low.")
    if expansion.error > 1e-6 * expansion.power**0.5:
        found.append(
            f"the Hermite coefficients come from quadrature, to {expansion.error:.1g}; smaller ones count as zero."
        )
    return found


def _deflation(target: Target, path: Walk, reuse: bool) -> list[str]:
    """At step size p d^((l-1)/2) a lower order m < l is larger by d^((l-m)/2) and must be removed (Dandi et al. 2305.18270)."""
    for t, new in enumerate(path.found):
        order = max((v.order for v in new), default=1)
        lower = [m for m in range(1, order) if target.hermite.mass(m) > 0]
        if lower and not (reuse and t > 0):
            return [
                f"step {t + 1} sees order {order} only if the lower orders are taken out of the labels first: "
                f"deflate={order} in its GiantStep."
            ]
    return []


def _second_layer(path: Walk, reuse: bool) -> list[str]:
    """One known direction v: the new overlap is a function of (a_i, |<w_i, v>|), the same for all neurons if |a_i| is."""
    for t, new in enumerate(path.found):
        several = sum(v.order == 1 for v in new)
        if len(path.bases[t]) == 1 and several > 1 and not reuse:
            names = listing([v.vector for v in new if v.order == 1])
            return [
                f"step {t + 1} finds {names} together only if |a_i| takes at least {several} values: with "
                f"second_layer='rademacher' it adds one direction."
            ]
    return []


def _reuse(path: Walk, limit: int, reuse: bool, last: Rule) -> list[str]:
    if not reuse or limit != 1 or last.new(path.last):
        return []
    left = lowest(last.functions, path.last, (2,), last.threshold)
    if not left:
        return []
    names = listing([v.vector for v in left])
    return [f"{names} is seen at order 2 of a function of y: with a batch of d that takes of order log d steps."]

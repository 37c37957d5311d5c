"""Notes of an explanation: conditions that a staircase needs, and limits of its numbers, one sentence each."""

import numpy as np

from giantstep.experiment.protocol import MAX_DEFLATE
from giantstep.experiment.target import Target
from giantstep.explain._case import ScalingCase
from giantstep.explain._steps import Rule, Walk
from giantstep.explain.words import listing
from giantstep.functions.staircase import empty, extended, found


def notes(asked: ScalingCase, path: Walk, reuse: bool) -> list[str]:
    """All notes that apply to fresh batches or to a reused one."""
    target = asked.target
    sentences = _deflation(target, path, asked.fresh(), reuse)
    sentences += [] if reuse else _second_layer(path)
    expansion = target.hermite
    if target.mixing is not None:
        sentences.append(
            "The directions are not orthonormal. w1, w2, ... stand for their Gram-Schmidt basis in the order given, and "
            "q1, q2, ... for the coordinates along it."
        )
    beyond = expansion.truncated
    if beyond > 1e-9 * expansion.power and 0 < len(path.last) < len(asked.whole):
        sentences.append(
            f"Orders above {expansion.degree} hold {beyond:.3g} of E f^2, so the floors may be too low by that much."
        )
    if expansion.error > 1e-6 * expansion.power**0.5:
        least = expansion.threshold * expansion.power
        sentences.append(
            f"Quadrature has an error of {expansion.error:.1g} on this target: parts of mass below {least:.1g} count as zero."
        )
    return sentences


def _deflation(target: Target, path: Walk, fresh: Rule, reuse: bool) -> list[str]:
    """At step size p d^((l-1)/2) a lower order m < l is larger by d^((l-m)/2) and must be removed (Dandi et al. 2305.18270)."""
    for t, new in enumerate(path.directions[:1] if reuse else path.directions):
        order = max((v.order for v in new), default=1)
        if not any(target.hermite.mass(m) > 0 for m in range(1, order)):
            continue
        how = (
            f"by deflate={order} in its GiantStep" if order <= MAX_DEFLATE else f"but deflate is at most {MAX_DEFLATE}"
        )
        basis = extended(empty(target.rank), found(fresh.functions, path.bases[t], (order,), fresh.threshold))
        rest = [v.vector for v in new if np.linalg.norm(basis @ v.vector) < 1 - 1e-6]
        later = [f"Then {listing(rest)} needs a step of its own."] if rest else []
        return [
            " ".join(
                [
                    f"Step {t + 1} sees order {order} only if the lower orders are removed from the labels, {how}.",
                    *later,
                ]
            )
        ]
    return []


def _second_layer(path: Walk) -> list[str]:
    """One known direction v: the new overlap is a function of (a_i, |<w_i, v>|), the same for all neurons if |a_i| is."""
    for t, new in enumerate(path.directions):
        several = sum(v.order == 1 for v in new)
        if len(path.bases[t]) == 1 and several > 1:
            names = listing([v.vector for v in new if v.order == 1])
            return [
                f"Step {t + 1} finds {names} together only if |a_i| takes at least {several} values. With "
                f"second_layer='rademacher' it adds one direction."
            ]
    return []

"""Lower bounds of the error: masses of the target by degree and by the number of slots outside the learned directions.

With U learned, width p = d^k1, batch n = d^k2 and kappa = floor(min(k1, k2)), the readout fits everything in x_U and degree up to
kappa in what is perpendicular to U (Conjecture 3 of Dandi et al., arXiv 2305.18270; kappa = 0 is their theorem for p = O(1)).
Without steps U = 0: random features fit degree up to kappa (Mei, Misiakiewicz and Montanari, arXiv 2101.10588).

An activation fits less. A neuron of squared norm q has the features ``E[sigma(w.x) | x_U]`` and, times x_perp,
``E[sigma'(w.x) | x_U]``; their parts of total order m carry ``E sigma^(m)(sqrt(q) z)``. So a term of an order that the activation
does not see is lost.
"""

from math import factorial, prod
from typing import NamedTuple

import numpy as np

from giantstep.explain.words import hermite_term
from giantstep.functions._tensors import Series, frame, outside, places, rotated
from giantstep.functions.expansion import Expansion

ALMOST = 1e-6
ROUNDING = 1e-15  # of E f^2: smaller masses are noise of the quadrature


class Seen(NamedTuple):
    """The orders that the features of an activation carry: at the start, and after the steps."""

    initial: frozenset[int]
    stepped: frozenset[int]


def masses(f: Series, basis: np.ndarray) -> dict[tuple[int, int], float]:
    """``m_{k,j} = binom(k, j) ||C_k(P_U^(k-j), P_perp^j)||^2 / k!``: mass of degree k with j slots outside U."""
    turned = rotated(f, frame(basis))
    table: dict[tuple[int, int], float] = {}
    for k, j in outside(turned, len(basis)).items():
        for slots in sorted(set(j.ravel().tolist())):  # np.unique imports numpy.ma, which takes longer than all of this
            table[k, slots] = float(np.sum(turned.orders[k][j == slots] ** 2))
    return table


def floors(
    f: Series, basis: np.ndarray, kappa: int, beyond: float, complete: bool, seen: Seen | None = None
) -> dict[str, float]:
    """The three floors of the mean square error; ``beyond`` is the mass of higher orders, which is certainly lost if U = 0.

    ``complete`` means that f depends on x_U alone, so that any mass outside is an error of the quadrature. ``seen`` are the
    orders that an activation fits; None stands for all.

    narrow: ``E Var(f | P_U x) = sum_{j >= 1} m_{k,j}``; network: ``sum_{j > kappa} m_{k,j}``; random_features:
    ``sum_{k > kappa} m_{k,.}``.
    """
    table = masses(f, basis)
    total = sum(table.values())
    rest = beyond if len(basis) == 0 else 0.0

    def clean(mass: float) -> float:  # a is a square root: its square is right to 15 digits, not to all
        return float(f"{mass:.14g}") if mass > 1e-14 * total else 0.0

    def lost(k: int, j: int, slots: int) -> bool:
        return (j > slots and not complete) or (seen is not None and k not in seen.stepped)

    def above(slots: int) -> float:
        return clean(sum(m for (k, j), m in table.items() if lost(k, j, slots)) + (0.0 if complete else rest))

    def without_steps(k: int) -> bool:
        return k > kappa or (seen is not None and k not in seen.initial)

    return {
        "narrow": above(0),
        "network": above(kappa),
        "random_features": clean(sum(m for (k, _), m in table.items() if without_steps(k)) + beyond),
    }


def terms(
    expansion: Expansion,
    f: Series,
    basis: np.ndarray,
    kappa: int,
    complete: bool,
    symbol: str,
    seen: Seen | None = None,
) -> list[dict]:
    """Every Hermite term with its mass ``beta! c^2`` and the share of its coefficient that the fitted part of f keeps.

    With P the projection on what the regime fits, the share is ``E[h_beta P f] / E[h_beta f]``: 1 is fitted, 0 lost, else
    partial. So the masses that are lost, ``mass (1 - share)``, add up to the floor of the network. A term found by quadrature
    whose mass is below the rounding of ``E f^2`` is noise and not listed.
    """
    least = ROUNDING * expansion.power if expansion.error > 0 else 0.0
    fitted, listed = f if complete else _fitted(f, basis, kappa), []
    if seen is not None:
        fitted = Series(f.rank, {k: a if k in seen.stepped else 0.0 * a for k, a in fitted.orders.items()})
    for order in sorted({sum(beta) for beta in expansion}):
        betas = sorted((b for b in expansion if sum(b) == order), reverse=True)
        rows = places(f.rank, order, np.array(betas).reshape(len(betas), f.rank))
        for beta, share in zip(betas, fitted.orders[order][rows] / f.orders[order][rows], strict=True):
            c = expansion[beta]
            fate = "fitted" if abs(share - 1) < ALMOST else "lost" if abs(share) < ALMOST else "partial"
            mass = float(c * c * prod(map(factorial, beta)))
            if mass < least:
                continue
            share = {"fitted": 1.0, "lost": 0.0}.get(fate, float(share))
            listed.append(_entry(hermite_term(beta, symbol), mass, fate, float(c), share))
    beyond = expansion.truncated
    if beyond > 1e-9 * expansion.power:
        fate = "lost" if len(basis) == 0 else "fitted" if complete else "partial"
        share = {"lost": 0.0, "fitted": 1.0}.get(fate)
        listed.append(_entry(f"orders above {expansion.degree}", beyond, fate, None, share))
    return listed


def _entry(term: str, mass: float, fate: str, coefficient: float | None, share: float | None) -> dict:
    return {"term": term, "mass": mass, "fate": fate, "coefficient": coefficient, "share": share}


def _fitted(f: Series, basis: np.ndarray, kappa: int) -> Series:
    """P f: the part of f with at most kappa slots outside U, in the coordinates of f."""
    axes = frame(basis)
    turned = rotated(f, axes)
    slots = outside(turned, len(basis))
    orders = {k: np.where(slots[k] <= kappa, a, 0.0) for k, a in turned.orders.items()}
    return rotated(Series(f.rank, orders), axes.T)

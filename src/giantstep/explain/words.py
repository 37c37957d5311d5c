"""Directions, terms and reasons in words and formulas."""

from collections.abc import Sequence
from math import factorial, prod, sqrt

import numpy as np

from giantstep.functions._tensors import Series, frame, index_table, rotated
from giantstep.functions.staircase import FoundDirection, extended

LARGEST, SHOWN = 12, 3


def hermite_term(beta: Sequence[int], symbol: str = "x") -> str:
    """``H2(x1)*x2`` for (2, 1); ``1`` for the constant."""
    names = [f"{symbol}{i + 1}" for i in range(len(beta))]
    return _product(beta, names)


def _product(beta: Sequence[int], names: Sequence[str]) -> str:
    factors = [_factor(int(k), name) for k, name in zip(beta, names, strict=True) if k]
    return "*".join(factors) or "1"


def _factor(order: int, name: str) -> str:
    return name if order == 1 else f"H{order}({name.strip('[]')})"


def combination(vector: Sequence[float], symbol: str = "w") -> str:
    """``w1``, ``(w1 + w2)/sqrt2``, ``(4*w1 + w2)/sqrt17``, or decimals when the ratios are not simple."""
    v = np.asarray(vector)
    inside = np.flatnonzero(np.abs(v) > 1e-9)
    for scale in (k / float(np.min(np.abs(v[inside]))) for k in range(1, LARGEST + 1)):
        whole = np.round(scale * v).astype(int)
        if np.max(np.abs(whole)) <= LARGEST and np.allclose(scale * v, whole, atol=1e-7):
            break
    else:
        return "(" + _signed([(f"{abs(v[i]):.3g}", f"{symbol}{i + 1}", v[i] < 0) for i in inside]) + ")"
    text = _signed([(str(abs(whole[i])), f"{symbol}{i + 1}", whole[i] < 0) for i in inside])
    if len(inside) == 1:
        return text
    square = int(np.sum(whole**2))
    root = round(sqrt(square))
    return f"({text})/{root if root * root == square else f'sqrt{square}'}"


def _signed(parts: list[tuple[str, str, bool]]) -> str:
    words = [("-" if negative else "+", name if size == "1" else f"{size}*{name}") for size, name, negative in parts]
    first = ("-" if words[0][0] == "-" else "") + words[0][1]
    return " ".join([first, *(f"{sign} {word}" for sign, word in words[1:])])


def listing(vectors: Sequence[Sequence[float]], symbol: str = "w") -> str:
    """The vectors separated by commas, or ``nothing``."""
    return ", ".join(combination(v, symbol) for v in vectors) or "nothing"


def reason(f: Series, basis: np.ndarray, new: list[FoundDirection], which: int, symbol: str = "x") -> str:
    """The mean derivative of f along a new direction, given the known ones, that is not zero: ``E[df/dx2 | x1] = H2(x1)``."""
    learned, order = len(basis), new[which].order
    axes = frame(extended(basis, new))
    names = [_coordinate(row, symbol) for row in axes]
    slots, series = _largest_derivative(rotated(f, axes), learned, learned + which, order)
    if learned == 0 and order == 1:
        return f"E[grad f] = {_sum([(series[0][1], combination(new[which].vector))])} is not zero"
    below = " ".join(f"d{names[i]}" + (f"^{k}" if k > 1 else "") for i, k in slots)
    below = f"({below})" if len(slots) > 1 else below
    above = "df" if order == 1 else f"d^{order}f"
    given = " | " + ", ".join(names[:learned]) if learned else ""
    return f"E[{above}/{below}{given}] = {_sum([(c, _product(gamma, names[:learned])) for gamma, c in series])} is not zero"


def _largest_derivative(turned: Series, learned: int, place: int, order: int) -> tuple[list[tuple[int, int]], list]:
    """Among derivatives of that order with a slot along ``place``: the one of largest mean square, and its Hermite series."""
    sizes: dict[tuple[int, ...], list[tuple[tuple[int, ...], float]]] = {}
    for k, a in turned.orders.items():
        rows = index_table(turned.rank, k)
        chosen = (rows[:, learned:].sum(axis=1) == order) & (rows[:, place] > 0) & (a != 0)
        for beta, value in zip(rows[chosen].tolist(), a[chosen], strict=True):
            gamma, delta = tuple(beta[:learned]), tuple(beta[learned:])
            # d^delta of h_delta is sqrt(delta!); h_gamma = He_gamma / sqrt(gamma!)
            c = float(value) * sqrt(prod(map(factorial, delta)) / prod(map(factorial, gamma)))
            sizes.setdefault(delta, []).append((gamma, c))
    weight = lambda series: sum(c * c * prod(map(factorial, g)) for g, c in series)  # noqa: E731
    delta = max(sizes, key=lambda d: weight(sizes[d]))
    slots = [(learned + i, k) for i, k in enumerate(delta) if k]
    largest = max(abs(c) for _, c in sizes[delta])
    terms = [(gamma, c) for gamma, c in sizes[delta] if abs(c) > 1e-9 * largest]  # the others are rounding
    return slots, sorted(terms, key=lambda item: (sum(item[0]), item[0]))


def _coordinate(row: np.ndarray, symbol: str) -> str:
    """The coordinate along a unit vector as a linear form, in parentheses if it is a sum."""
    text = combination(row.tolist(), symbol)
    return text if np.count_nonzero(np.abs(row) > 1e-9) == 1 else f"[{text}]"


def _sum(parts: list[tuple[float, str]]) -> str:
    """A sum of coefficients times names; if there are many, only the largest."""
    shown = sorted(parts, key=lambda part: -abs(part[0]))[:SHOWN] if len(parts) > SHOWN else parts
    signed = [("1", f"{abs(c):.4g}", c < 0) if name == "1" else (f"{abs(c):.4g}", name, c < 0) for c, name in shown]
    return _signed(signed) + (" + ..." if len(parts) > len(shown) else "")

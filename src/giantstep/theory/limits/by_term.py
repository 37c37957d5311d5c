"""What the readout fits of every term of the target after giant steps, at any n, d and p: the share of each, and the risk.

After the steps a neuron is w = u + b v: u along the learned directions, v a random unit vector across them. With r^2 = |u|^2 +
b^2, orthonormal Hermite polynomials h and C_m(r) = E h_m(z) sigma(r z), its feature has along h_j(kappa) h_k(⟨v, x⟩)

    g_kj = C_m(r) sqrt(m!/(j! k!)) (u/r)^j (b/r)^k,    m = |j| + k

where kappa are the learned coordinates. Across them there are B_k = C(d' + k - 1, k) Hermite polynomials of degree k in d'
dimensions, and random v share a feature equally between them (derived here). So the modes of the features are phi(kappa) times
each of these, with phi an eigenvector of M_k = E g_k g_k^T over the law of (u, b), and the eigenvalue is that of M_k over B_k.
The rest is the theory of ``by_degree``: a mode of eigenvalue lam is fitted with the share lam/(lam + v2).

The length r of a row is a factor of the feature if sigma is relu, relu(r z) = r relu(z), and a factor of a feature changes
nothing in the fit but its penalty, to penalty/r^2. So rows of relu are taken at length one, with the mean of 1/r^2 in the
penalty: with their lengths, long rows would have more weight in M_k than they have in the fit (derived here).

With deflate in the readout the features fit what is left of the labels. The linear part X^T y/n that is taken from them is off by
a vector of square length (d/n) E y^2 in a random direction, and the features fit that, too.
"""

from dataclasses import replace
from functools import lru_cache
from math import comb, factorial, sqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.theory.limits import by_degree
from giantstep.theory.limits._grouped_rows import grouped_rows
from giantstep.theory.limits.by_degree import Modes
from giantstep.theory.sgd_readout.population import expanded

LEARNED = 1e-4  # mean square of u along a learned direction
ACROSS, ALONG = 6, {0: 0, 1: 24, 2: 12, 3: 10}  # degrees across the learned directions, and along them by their number
Index = tuple[int, ...]


class FittedTerms(NamedTuple):
    """The Hermite terms of the target as multi-indices, their shares in the fit (terms, L), and the risk (L,), by penalty."""

    terms: tuple[Index, ...]
    shares: Float[np.ndarray, "terms L"]
    risk: Float[np.ndarray, " L"]


def fitted(setting: Setting, *, n: float | None = None, d: int | None = None, p: float | None = None) -> FittedTerms:
    """The shares and the risk for every penalty of the readout, which must be positive; steps are on fresh batches.

    Args:
        setting: the experiment; its steps give the law of the neurons.
        n: samples of the readout, where they are not those of the setting; they may be as many as no setting has.
        d: the dimension, likewise.
        p: the width, likewise.
    """
    readout = setting.protocol.readout
    if readout is None or setting.network.symmetric:
        raise InputError("the shares of terms need a ridge readout and neurons that do not come in pairs")
    penalties = np.atleast_1d(np.asarray(readout.path, dtype=float))
    if not np.all(penalties > 0):
        raise InputError("the shares of terms need positive penalties")
    n, p = n or setting.protocol.readout_size, p or setting.p
    left, d = readout.deflate, d or setting.d
    missed = d / n * (setting.target.power + setting.target.noise**2) if left > 1 else 0.0
    of, products, factor = sectors(replace(setting, protocol=replace(setting.protocol, readout=None)), d, left, missed)
    penalties = factor * penalties
    kept = of.values / (of.values + by_degree.solved(of, n, p, penalties)[:, None])  # (L, modes)
    shares = np.stack([kept @ each for each in products.values()])
    return FittedTerms(tuple(products), shares, by_degree.at(of, n, p, penalties) - setting.target.noise**2)


@lru_cache(maxsize=16)
def sectors(
    setting: Setting, d: int, least: int = 0, missed: float = 0.0
) -> tuple[Modes, dict[Index, Float[np.ndarray, " modes"]], float]:
    """The modes in d dimensions, for every term t of the target f its ⟨t, phi⟩ ⟨f, phi⟩/|t|^2 on them, and a factor of penalties.

    f has the terms of degree ``least`` and above, and a linear one of power ``missed`` across the learned directions.
    """
    sigma, target = setting.network.activation, setting.target
    rows, rank = grouped_rows(setting), target.rank
    inside = [k for k in range(len(rows.u)) if rows.u[k] ** 2 @ rows.omega > LEARNED]
    if len(inside) not in ALONG:
        raise InputError(f"the shares of terms cover three learned directions, not {len(inside)}")
    u = rows.u[inside]
    lengths = np.sqrt(np.sum(u**2, axis=0) + rows.b**2)
    homogeneous = sigma.formula == "relu" and not sigma.centred
    table = expanded(sigma, np.ones_like(lengths) if homogeneous else lengths)
    factor = float(lengths**-2.0 @ rows.omega) if homogeneous else 1.0
    basis = hermite.indices(len(inside), ALONG[len(inside)])
    # the target's coefficients on orthonormal polynomials, by what they are across the learned directions
    parts: dict[Index, dict[Index, float]] = {}
    terms = {tuple(index): c for index, c in target.hermite.items() if sum(index) >= least}
    for index, c in terms.items():
        own = tuple(index[k] if k < rank else 0 for k in inside)  # what the neurons share is no direction of the target
        other = tuple(0 if k in inside else index[k] for k in range(rank))
        parts.setdefault(other, {})[own] = float(c) * sqrt(np.prod([float(factorial(j)) for j in index]))
    found: list[tuple[np.ndarray, ...]] = []
    known = 0.0
    products: dict[Index, list[np.ndarray]] = {index: [] for index in terms}
    for k in range(ACROSS + 1):
        g = np.stack([_along(table.coefficients, u / lengths, rows.b / lengths, j, k) for j in basis])
        known += float(np.sum(g**2 @ rows.omega))
        if k == 0:
            g[0] += table.constant  # the first of the basis is 1
        phi, sizes, _ = np.linalg.svd(g * np.sqrt(rows.omega), full_matrices=g.shape[0] > g.shape[1])
        values = np.pad(sizes**2, (0, len(basis) - sizes.size))
        count = comb(d - len(inside) + k - 1, k)
        theta = missed * phi[0] ** 2 if k == 1 else np.zeros(len(basis))
        on: dict[Index, np.ndarray] = {}
        for other, part in parts.items():
            if sum(other) == k:
                f = np.array([part.get(tuple(j), 0.0) for j in basis])
                along = f @ phi
                theta += along**2
                for own, c in part.items():
                    whole = _joined(inside, own, other)
                    on[whole] = phi[basis.index(own)] * along / c if own in basis else 0 * along
        found.append((values / count, np.full(len(basis), float(count)), theta))
        for index, rows_of in products.items():
            rows_of.append(on.get(index, np.zeros(len(basis))))
    values, counts, theta = (np.concatenate(each) for each in zip(*found, strict=True))
    rest = float(table.square @ rows.omega) - known
    lower = sum(
        float(c) ** 2 * np.prod([float(factorial(j)) for j in i]) for i, c in target.hermite.items() if sum(i) < least
    )
    left = target.power - float(lower) + missed - float(theta.sum())
    of = Modes(values, counts, theta, max(rest, 0.0), max(left, 0.0) + target.noise**2)
    return of, {index: np.concatenate(each) for index, each in products.items()}, factor


def _along(
    table: Float[np.ndarray, "J orders"],
    u: Float[np.ndarray, "m J"],
    b: Float[np.ndarray, " J"],
    index: Index,
    k: int,
) -> Float[np.ndarray, " J"]:
    """g_kj(a) at every value of a, for u and b over r."""
    m = sum(index) + k
    ways = factorial(m) / (np.prod([float(factorial(j)) for j in index]) * factorial(k))
    return table[:, m] * sqrt(ways) * np.prod([x**j for x, j in zip(u, index, strict=True)], axis=0) * b**k


def _joined(inside: list[int], own: Index, other: Index) -> Index:
    """The index of a term from its parts along and across the learned directions."""
    whole = list(other)
    for k, j in zip(inside, own, strict=True):
        if k < len(whole):
            whole[k] = j
    return tuple(whole)

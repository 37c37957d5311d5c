"""Polynomials through the values of a function at Chebyshev points of [-1, 1]."""

import numpy as np
from jaxtyping import Float


def nodes(count: int) -> Float[np.ndarray, " n"]:
    """The zeros cos((j + 1/2) pi/n) of T_n."""
    return np.cos((np.arange(count) + 0.5) * np.pi / count)


def interpolation(x: Float[np.ndarray, "..."], count: int) -> Float[np.ndarray, "... n"]:
    """Weights of the values at the nodes in the polynomial through them at x: (2/n) sum'_k T_k(x) T_k(node)."""
    inverse = np.polynomial.chebyshev.chebvander(nodes(count), count - 1) * (2 / count)
    inverse[:, 0] /= 2
    return np.polynomial.chebyshev.chebvander(x, count - 1) @ inverse.T

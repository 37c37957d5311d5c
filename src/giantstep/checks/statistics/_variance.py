"""Moderated variances: comparisons of one kind lend each other degrees of freedom (Smyth 2004)."""

import numpy as np
from jaxtyping import Float
from scipy.special import digamma, polygamma

MOST_BORROWED = 8.0  # degrees of freedom that the other comparisons may lend
_FEWEST = 4  # comparisons from which their spread can be estimated


def moderated(variances: Float[np.ndarray, " k"], freedom: int) -> tuple[Float[np.ndarray, " k"], float]:
    """Variances in one unit, each with ``freedom`` degrees of freedom, drawn towards their mean; and the new degrees of freedom.

    v~_k = (nu0 mean_j v_j + nu v_k)/(nu0 + nu).
    """
    borrowed = _borrowed(variances, freedom)
    return (borrowed * np.mean(variances) + freedom * variances) / (borrowed + freedom), borrowed + freedom


def _borrowed(variances: np.ndarray, freedom: int) -> float:
    """nu0 from the spread of the log variances: Var log v = psi'(nu/2) + psi'(nu0/2)."""
    positive = variances[variances > 0]
    if len(positive) < _FEWEST:
        return 0.0
    logs = np.log(positive) - digamma(freedom / 2)
    excess = float(np.var(logs, ddof=1) - polygamma(1, freedom / 2))
    return min(2 * _inverse_trigamma(excess), MOST_BORROWED) if excess > 0 else MOST_BORROWED


def _inverse_trigamma(value: float) -> float:
    """x with psi'(x) = value, by Newton's steps on 1/psi' (Smyth 2004, appendix)."""
    x = 0.5 + 1 / value
    for _ in range(30):
        trigamma = float(polygamma(1, x))
        x += trigamma * (1 - trigamma / value) / float(polygamma(2, x))
    return x

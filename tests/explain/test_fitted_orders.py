"""Which terms an activation can fit: the features themselves, projected on Hermite products by quadrature."""

from itertools import product
from math import factorial, prod, sqrt

import numpy as np
import pytest

import giantstep as gs

ACTIVATIONS = ("relu", "tanh", "gelu", "elu", "tanh(x+0.8)")
TARGETS = (
    "x1 + H2(x1)*x2/sqrt(2)",
    "x1 + H3(x1)/sqrt(6)",
    "x1 + x1*x2",
    "x1 + H2(x1)/sqrt(2)",
    "x1 + H2(x2)/sqrt(2)",
    "H2(x1)",
    "x1 + x1*x2*x3",
    "x1 + H4(x1)/sqrt(24)",
    "1 + x1",
    "x1 + x2 + x1*x2",
    "x1 + H3(x1)*x2/sqrt(6)",
    "x1 + H2(x1)*H2(x2)/2",
)


def projected(activation: str, beta: tuple[int, ...], w: np.ndarray, rest: float) -> float:
    """E[sigma(w.x + rest z) h_beta(x)] over Gaussian x and z, h_beta orthonormal: no derivative of sigma is used."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / sqrt(2 * np.pi)
    # along w and one coordinate after the other: w.x = |w| u, and He_beta(x) is averaged given u
    norm = sqrt(float(w @ w) + rest**2)
    values = np.asarray(gs.activation(activation)(norm * nodes))
    # E[h_beta(x) | u] = prod (w_i/|w|)^beta_i sqrt(|beta|!/beta!) h_|beta|(u)
    order = sum(beta)
    hermite = np.polynomial.hermite_e.hermeval(nodes, [0] * order + [1]) / sqrt(factorial(order))
    ratio = sqrt(factorial(order) / prod(map(factorial, beta))) * prod((w[i] / norm) ** b for i, b in enumerate(beta))
    return ratio * float(np.sum(weights * values * hermite))


@pytest.mark.parametrize(("target", "activation"), list(product(TARGETS, ACTIVATIONS)))
def test_a_term_is_lost_exactly_if_no_neuron_has_it(target, activation):
    found = gs.explain(target, batch="d^4", width="d^4", activation=activation).realised  # every degree is in reach
    assert found is not None
    expansion = gs.target(target).hermite
    rng = np.random.default_rng(0)
    stepped = len(found.staircase[-1]) > 0
    lost = 0.0
    for entry, beta in zip(found.terms, _in_order(expansion), strict=True):
        neurons = [rng.standard_normal(len(beta)) for _ in range(6)]
        rests = rng.uniform(0.5, 1.5, 6)
        if not stepped:  # rows of length one
            rests = np.array([0.6] * 6)
            neurons = [0.8 * w / np.linalg.norm(w) for w in neurons]
        sizes = [abs(projected(activation, beta, w, r)) for w, r in zip(neurons, rests, strict=True)]
        assert (entry["fate"] == "lost") == (max(sizes) < 2e-4), (entry, sizes)
        lost += entry["mass"] if entry["fate"] == "lost" else 0.0
    assert found.floor["network"] == pytest.approx(lost)


def _in_order(expansion):
    """The multi-indices in the order of ``terms``."""
    for order in sorted({sum(beta) for beta in expansion}):
        yield from sorted((b for b in expansion if sum(b) == order), reverse=True)

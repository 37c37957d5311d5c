"""The experiment of the single step on labels without their linear part, and its two errors.

They are the printed one and the risk.
"""

import numpy as np

import giantstep as gs
from giantstep.simulate import deflated_errors

FORMULA = "(x1 + H2(x1)/2 + H4(x1)/24 + x2 + H2(x2)/2 + H4(x2)/24)/2"
D, P = 512, 1024


def experiment(n: int, d: int = D, p: int = P, steps: int = 1) -> gs.Setting:
    """f(x) = p^(-1/2) sum a_i relu(<w_i, x>), a_i ~ N(0, 1/p), eta = 10 sqrt(n p).

    The readout minimises sum (y - f)^2 + ||a||^2 on the same batch.
    """
    step = gs.GiantStep(n, 10 * (n * p) ** 0.5, residual="full", deflate=2)
    readout = gs.Ridge(n, p / n, batch="reuse" if steps else "fresh", deflate=2)
    network = gs.Network(p, "relu", rows="gaussian", scale="1/p")
    protocol = gs.Protocol((step,) * steps, readout)
    return gs.Setting(gs.Gaussian(d), gs.target(FORMULA), network, protocol)


def both(sizes: tuple[int, ...], d: int, p: int, seed: int, n_test: int) -> np.ndarray:
    """``deflated_errors`` of the experiments with so many samples."""
    return deflated_errors([experiment(n, d, p) for n in sizes], seed, n_test)

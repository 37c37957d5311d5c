"""The law of the rows after giant steps: w_i = sum_f u_f(a_i) e_f + g_i, one group for every value of a.

The frame e_1, e_2, ... holds the target's r orthonormal directions and the noise directions that steps have added; u is of order
one. g is Gaussian: along the frame its covariance is D/d, elsewhere its variance on the modes (mu_1, mu_2, ...) of the steps is

    V(mu)/d,     V = base prod_t (1 + t_t mu_t)^2 + white,      b^2 = E_mu V

with t_t = eta_t s a E sigma''(.) and mu_t of the spectral law of the step's X^T diag(r) X/n (see ``one_step.gradient_law``). The
matrices of different steps are free of one another; taking their modes as independent has the same moments up to the third
(derived here). The curve u has few directions that matter, its principal ones: the coordinates kappa that features depend on.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting
from giantstep.theory.one_step.conditional import second_layer
from giantstep.theory.one_step.gradient_law import SpectralModes

LEARNED = 3  # principal directions of the curve that features are conditioned on
SEEN = 0.02  # p theta^2 of the least of them
MODES = 32  # of all steps together, at most


@dataclass(frozen=True)
class MovedRows:
    """Groups of neurons: a and weights omega (J,), u (F, J), D (J, F, F), the modes of every step with its t (J,), and b^2.

    The first ``rank`` directions of the frame are the target's.
    """

    rank: int
    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    u: Float[np.ndarray, "F J"]
    D: Float[np.ndarray, "J F F"]
    turns: tuple[tuple[SpectralModes, Float[np.ndarray, " J"]], ...]
    base: Float[np.ndarray, " J"]
    white: Float[np.ndarray, " J"]

    @cached_property
    def modes(self) -> tuple[Float[np.ndarray, " M"], Float[np.ndarray, "M J"]]:
        """Weights of the products of the steps' modes, and V on them."""
        weights, factor = np.ones(1), self.base[None]
        for own, t in self.turns:
            turned = (1 + np.asarray(own.nodes)[:, None] * t) ** 2
            factor = (factor[:, None] * turned).reshape(-1, self.a.size)
            weights = np.multiply.outer(weights, np.asarray(own.weights)).ravel()
        return weights, factor + self.white

    @property
    def square(self) -> Float[np.ndarray, " J"]:
        """b^2 of every group."""
        weights, variance = self.modes
        return weights @ variance

    @cached_property
    def principal(self) -> tuple[Float[np.ndarray, "F m"], Float[np.ndarray, " m"]]:
        """The principal directions of the curve u, as columns, and its strengths theta along them."""
        f, theta, _ = np.linalg.svd(self.u * np.sqrt(self.omega), full_matrices=False)
        return f[:, :LEARNED], theta[:LEARNED]


def start(setting: Setting) -> MovedRows:
    """The rows before any step.

    Where a residual keeps the output, the frame has omega = s sum_i a_i w_i too: every row leans on it by s a/||omega||.
    """
    a, weights = (np.asarray(x) for x in second_layer(setting.network.second_layer))
    rank, network = setting.target.rank, setting.network
    keeps = any(step.residual == "full" for step in setting.protocol.steps) and not network.symmetric
    u = np.zeros((rank + keeps, a.size))
    if keeps:
        u[rank] = a / setting.p**0.5
    one = np.ones(a.size)
    D = np.tile(np.eye(rank + keeps), (a.size, 1, 1))
    return MovedRows(rank, a, weights, u, D, (), one, 0 * one)


def learned(rows: MovedRows, p: int) -> Float[np.ndarray, "F m"]:
    """The principal directions that p neurons make felt, at least one."""
    f, theta = rows.principal
    return f[:, : max(int(np.sum(p * theta**2 > SEEN)), 1)]


def fewer(
    turns: tuple[tuple[SpectralModes, Float[np.ndarray, " J"]], ...], base: Float[np.ndarray, " J"]
) -> tuple[tuple[tuple[SpectralModes, Float[np.ndarray, " J"]], ...], Float[np.ndarray, " J"]]:
    """Turn the oldest steps' modes into their mean square until few enough are left."""
    while np.prod([len(own.nodes) for own, _ in turns]) > MODES:
        (own, t), turns = turns[0], turns[1:]
        base = base * (np.asarray(own.weights) @ (1 + np.asarray(own.nodes)[:, None] * t) ** 2)
    return turns, base

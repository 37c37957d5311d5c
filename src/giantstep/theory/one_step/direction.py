"""What one giant step does to the rows: w_i -> U a_i v + g_i, in the limit of large n, d and p.

    beta = X^T r / n_1,   ||beta||^2 = ||E r x||^2 + (d/n_1) E r^2,   v = beta/||beta||,   rho = <v, beta*> = c*_1/||beta||
    U = eta s c_1 ||beta||                                                        (s the network's scale, a_i of unit square)
    g_i = (1 + t_i M) w_i + white,   t_i = turn a_i,   turn = eta s E[z sigma'] = 2 eta s c_2,   E ||white||^2 = white a_i^2
    white = (eta s)^2 (d/n_1) E r^2 (Var sigma' - 4 c_2^2)

(Ba et al. 2022, Moniri et al. 2024 for the rank-one part; M is the matrix of ``gradient_law``.) With the initial output kept in
the residual, r = y - f_0(x), f_0 = c_1 <omega, x> + ..., omega = s sum_i a_i w_i: E r x = c*_1 beta* - c_1 omega.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.functions import hermite
from giantstep.functions.gaussian_averages import Scalar
from giantstep.theory.one_step import gradient_law
from giantstep.theory.one_step.gradient_law import SpectralModes
from giantstep.theory.one_step.parameters import Form, GaussianFunction, Parameters

MODE_NODES, DIRECTION_NODES = 5, 4
NOISE_NODES = 10


class StepDirection(NamedTuple):
    """The step in numbers.

    Attributes:
        strength: U.
        beta: the length of beta.
        rho: cos(beta, beta*).
        omega: components of omega/||omega|| along v, e and f (e the target beyond v, f what omega has beyond both); None when
            the residual is the label.
        turn, white: the remainder, per unit a_i.
        modes: quadrature of the spectral law of M.
        along: that of its matrix measure on the directions (v, e[, f]).
    """

    strength: Scalar
    beta: Scalar
    rho: Scalar
    omega: Float[Array, " 3"] | None
    turn: Scalar
    white: Scalar
    modes: SpectralModes
    along: SpectralModes

    def variance(self, mu: Float[Array, " M"], a: Float[Array, " J"]) -> Float[Array, "M J"]:
        """V(mu) d-times the variance of g_i along a mode, (modes, neurons)."""
        return (1 + self.turn * a * mu[:, None]) ** 2 + self.white * a**2


class StepResidual(NamedTuple):
    """r = f*(z) - shift + noise - f_0: E r^2, and f_0's variance and its part along omega."""

    square: Scalar
    shift: Scalar
    output: Scalar
    along: Scalar


class Push(NamedTuple):
    """eta times the scale s, ||beta||, rho = cos(beta, beta*) and the residual."""

    step: Scalar
    beta: Scalar
    rho: Scalar
    residual: StepResidual


def push(numbers: Parameters, form: Form, sigma: GaussianFunction, star: GaussianFunction) -> Push:
    """How far and where the rank-one part of the step goes."""
    p = numbers.p_over_d * numbers.d
    scale = {"1/sqrt(p)": p**-0.5, "1/p": 1 / p, "1": xp.ones_like(p)}[form.scale]
    r = _residual(numbers, form, sigma, star, scale, p)
    beta = xp.sqrt(star.coefficients[1] ** 2 + r.along**2 + r.square / numbers.n1_over_d)
    return Push(numbers.eta * scale, beta, star.coefficients[1] / beta, r)


def direction(numbers: Parameters, form: Form, sigma: GaussianFunction, star: GaussianFunction) -> StepDirection:
    """The step's direction, strength and remainder."""
    c1, c2, phi = sigma.coefficients[1], sigma.coefficients[2], 1 / numbers.n1_over_d
    step, beta, rho, r = push(numbers, form, sigma, star)
    rest = xp.sqrt(1 - rho**2)
    # Directions in terms of (beta*, [omega,] beta): v = beta/||beta||, e = (beta* - rho v)/rest, f = (omega - ...)/o_f
    v, e, omega = xp.array([0.0, 1 / beta]), xp.array([1 / rest, -rho / (rest * beta)]), None
    basis = xp.stack([v, e])
    if form.full:
        o_v = -r.along / beta  # <omega/||omega||, v>;  <omega, beta*> = 0 gives the one along e
        o_e = -rho * o_v / rest
        o_f = xp.sqrt(1 - o_v**2 - o_e**2)
        v, e = xp.insert(v, 1, 0.0), xp.insert(e, 1, 0.0)
        basis = xp.stack([v, e, (xp.array([0.0, 1.0, 0.0]) - o_v * v - o_e * e) / o_f])
        omega = xp.stack([o_v, o_e, o_f])
    rank_one = StepDirection(step * c1 * beta, beta, rho, omega, 0.0, 0.0, *_no_modes(len(basis)))
    if form.rank_one:
        return rank_one
    law = _residual_law(numbers, form, star, r)
    modes, along = gradient_law.quadratures(law, phi, basis, MODE_NODES, DIRECTION_NODES)
    white = step**2 * phi * r.square * xp.maximum(sigma.slope_square - c1**2 - 4 * c2**2, 0.0)
    return rank_one._replace(turn=2 * step * c2, white=white, modes=modes, along=along)


def _no_modes(directions: int) -> tuple[SpectralModes, SpectralModes]:
    """The rank-one update leaves the rows' bulk as it was: one mode, at zero."""
    return SpectralModes(xp.zeros(1), xp.ones(1)), SpectralModes(xp.zeros(1), xp.eye(directions)[None])


def _residual(
    numbers: Parameters, form: Form, sigma: GaussianFunction, star: GaussianFunction, scale: Scalar, p: Scalar
) -> StepResidual:
    c0, shift = sigma.coefficients[0], star.coefficients[0] if form.deflated else 0.0
    square = star.square + numbers.noise**2 - star.coefficients[0] ** 2 + (star.coefficients[0] - shift) ** 2
    if not form.full:
        return StepResidual(square, shift, 0.0, 0.0)
    output = scale**2 * p * (sigma.square - c0**2)
    if form.second_layer == "constant":  # all a_i equal: f_0 has a mean, and a radial part of degree two
        mean = scale * p * c0
        output = output + (scale * p) ** 2 * 2 * sigma.coefficients[2] ** 2 / numbers.d
        square = square - (star.coefficients[0] - shift) ** 2 + (star.coefficients[0] - shift - mean) ** 2
        shift = shift + mean
    else:  # the mean of f_0 is c_0 times a sum of signs: its square counts, on average
        square = square + scale**2 * p * c0**2
    return StepResidual(square + output, shift, output, sigma.coefficients[1] * scale * xp.sqrt(p))


def _residual_law(
    numbers: Parameters, form: Form, star: GaussianFunction, r: StepResidual
) -> gradient_law.ResidualMoments:
    """Moments of the residual, with the label's argument cut softly where the largest of n_1 samples lies."""
    order = 2 * max(MODE_NODES, DIRECTION_NODES) + 3
    z, w = hermite.gaussian_panels(star.kinks, 0.5, 6.0)
    largest = xp.sqrt(2 * xp.log(numbers.n1_over_d * numbers.d))
    w = w / (1 + xp.exp(-8.0 * (largest - np.abs(z))))
    w = w / xp.sum(w)
    x, v = hermite.gauss_hermite(NOISE_NODES)
    plain = star.value(xp.asarray(z)) - r.shift
    if not form.full:
        shape = (z.size, x.size)
        residual, weights = plain[:, None] + numbers.noise * x, w[:, None] * v
        coordinates = [xp.broadcast_to(z[:, None], shape).ravel()]
    else:
        shape = (z.size, x.size, x.size)
        rest = xp.sqrt(numbers.noise**2 + xp.maximum(r.output - r.along**2, 0.0))
        residual, weights = plain[:, None, None] - r.along * x[:, None] + rest * x, w[:, None, None] * v[:, None] * v
        coordinates = [xp.broadcast_to(c, shape).ravel() for c in (z[:, None, None], x[:, None])]
    return gradient_law.moments(residual.ravel(), xp.stack(coordinates), weights.ravel(), order)

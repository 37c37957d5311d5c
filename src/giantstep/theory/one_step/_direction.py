"""What one giant step does to the rows: w_i -> U a_i v + g_i, in the limit of large n, d and p.

    beta = X^T r / n_1,   ||beta||^2 = ||E r x||^2 + (d/n_1) E r^2,   v = beta/||beta||,   rho = <v, z> = E[f* z]/||beta||
    U = eta s c_1 ||beta||                                                        (s the network's scale, a_i of unit square)
    g_i = (1 + t_i M) w_i + white,   t_i = turn a_i,   turn = eta s E[z sigma'] = 2 eta s c_2,   E ||white||^2 = white a_i^2
    white = (eta s)^2 (d/n_1) E r^2 (Var sigma' - 4 c_2^2)

(Ba et al. 2022, Moniri et al. 2024 for the rank-one part; M is the matrix of ``gradient_law``.) With the initial output kept in
the residual, r = y - f_0(x), f_0 = c_1 <omega, x> + ..., omega = s sum_i a_i w_i: E r x = E[f* z] - c_1 omega.

One step moves along one direction whatever the rank r of the target is: the target's other coordinates stay of order 1/sqrt(d),
and are ordinary directions of the bulk, which M turns (its measure there knows E[r z z^T]).
"""

from typing import NamedTuple

from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import Scalar
from giantstep.theory.one_step import _gradient_law as gradient_law
from giantstep.theory.one_step._gradient_law import SpectralModes
from giantstep.theory.one_step._label import Label
from giantstep.theory.one_step._label import law as label_law
from giantstep.theory.one_step.parameters import Form, GaussianFunction, Parameters

MODE_NODES, DIRECTION_NODES = 5, 4
NOISE_NODES, FEWER_NODES = 10, 7  # of the noise, and with more than two directions


class StepDirection(NamedTuple):
    """The step in numbers.

    Attributes:
        strength: U.
        beta: the length of beta.
        rho: the target's r orthonormal coordinates along v.
        rest: L with z = rho kappa + L tau: the r directions e of tau are what the target has beyond v.
        omega: components of omega/||omega|| along v, the e and f (what omega has beyond them); None when the residual is the
            label.
        turn, white: the remainder, per unit a_i.
        modes: quadrature of the spectral law of M.
        along: that of its matrix measure on the directions (v, e_1 .. e_r[, f]).
    """

    strength: Scalar
    beta: Scalar
    rho: Float[Array, " r"]
    rest: Float[Array, "r r"]
    omega: Float[Array, " directions"] | None
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
    """eta times the scale s, ||beta||, the target's coordinates rho along beta, and the residual."""

    step: Scalar
    beta: Scalar
    rho: Float[Array, " r"]
    residual: StepResidual


def push(numbers: Parameters, form: Form, sigma: GaussianFunction, star: Label) -> Push:
    """How far and where the rank-one part of the step goes."""
    p = numbers.p_over_d * numbers.d
    scale = form.factor(p)
    r = _residual(numbers, form, sigma, star, scale, p)
    beta = xp.sqrt(star.first @ star.first + r.along**2 + r.square / numbers.n1_over_d)
    return Push(numbers.eta * scale, beta, star.first / beta, r)


def direction(numbers: Parameters, form: Form, sigma: GaussianFunction, star: Label) -> StepDirection:
    """The step's direction, strength and remainder."""
    c1, c2, phi = sigma.coefficients[1], sigma.coefficients[2], 1 / numbers.n1_over_d
    step, beta, rho, r = push(numbers, form, sigma, star)
    rank = star.rank
    rest = xp.linalg.cholesky(xp.eye(rank) - rho[:, None] * rho)
    # Directions in terms of (z, [omega,] beta): v = beta/||beta||, e = L^{-1} (z - rho v), f = (omega - ...)/o_f
    back = xp.linalg.solve(rest, xp.concatenate([xp.eye(rank), rho[:, None]], 1))
    v = xp.concatenate([xp.zeros(rank), xp.reshape(1 / beta, 1)])
    e, omega = xp.concatenate([back[:, :rank], -back[:, rank:] / beta], 1), None
    basis = xp.concatenate([v[None], e])
    if form.full:
        o_v = -r.along / beta  # <omega/||omega||, v>;  <omega, z> = 0 = rho o_v + L o_e gives those along e
        o_e = -back[:, rank] * o_v
        o_f = xp.sqrt(1 - o_v**2 - o_e @ o_e)
        basis = xp.insert(basis, rank, 0.0, axis=1)
        known = o_v * basis[0] + o_e @ basis[1:]
        basis = xp.concatenate([basis, ((xp.eye(rank + 2)[rank] - known) / o_f)[None]])
        omega = xp.concatenate([xp.reshape(o_v, 1), o_e, xp.reshape(o_f, 1)])
    rank_one = StepDirection(step * c1 * beta, beta, rho, rest, omega, 0.0, 0.0, *_no_modes(len(basis)))
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
    numbers: Parameters, form: Form, sigma: GaussianFunction, star: Label, scale: Scalar, p: Scalar
) -> StepResidual:
    c0, shift = sigma.coefficients[0], star.mean if form.deflated else 0.0
    square = star.square + numbers.noise**2 - star.mean**2 + (star.mean - shift) ** 2
    if not form.full:
        return StepResidual(square, shift, 0.0, 0.0)
    output = scale**2 * p * sigma.variance
    if form.second_layer == "constant":  # all a_i equal: f_0 has a mean, and a radial part of degree two
        mean = scale * p * c0
        output = output + (scale * p) ** 2 * 2 * sigma.coefficients[2] ** 2 / numbers.d
        square = square - (star.mean - shift) ** 2 + (star.mean - shift - mean) ** 2
        shift = shift + mean
    else:  # the mean of f_0 is c_0 times a sum of signs: its square counts, on average
        square = square + scale**2 * p * c0**2
    return StepResidual(square + output, shift, output, sigma.coefficients[1] * scale * xp.sqrt(p))


def _residual_law(numbers: Parameters, form: Form, star: Label, r: StepResidual) -> gradient_law.ResidualMoments:
    """Moments of the residual, its tails cut softly where the largest of n_1 samples lies."""
    order = 2 * max(MODE_NODES, DIRECTION_NODES) + 3
    z, w = label_law(star, numbers.n1_over_d * numbers.d, form.scramble)
    x, v = hermite.gauss_hermite(NOISE_NODES if star.rank < 3 else FEWER_NODES)
    plain = star.value(xp.asarray(z)) - r.shift
    if not form.full:
        residual, weights = plain[:, None] + numbers.noise * x, w[:, None] * v
        coordinates = [xp.broadcast_to(own[:, None], residual.shape).ravel() for own in z]
    else:
        rest = xp.sqrt(numbers.noise**2 + xp.maximum(r.output - r.along**2, 0.0))
        residual, weights = plain[:, None, None] - r.along * x[:, None] + rest * x, w[:, None, None] * v[:, None] * v
        coordinates = [xp.broadcast_to(c, residual.shape).ravel() for c in (*z[:, :, None, None], x[:, None])]
    return gradient_law.moments(residual.ravel(), xp.stack(coordinates), weights.ravel(), order)

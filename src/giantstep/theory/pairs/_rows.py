"""Pairs of neurons (w, a) and (w, -a) after a giant step: their rows, and the tables of their features.

Both rows start from one w, and the gradient moves them to opposite sides: with a_1 = a, a_2 = -a

    w_i = U a_i v + (1 + t_i M) w + a_i zeta,      V_ii'(mu) = (1 + t_i mu)(1 + t_i' mu) + white a_i a_i',      B = E_mu V

where zeta is the white part of ``one_step.direction``. Given kappa the noise of two features has the covariance

    N_ii' = E sigma(b_i z_i + t_i) sigma(b_i' z_i' + t_i') - m_i m_i' - B_ii' l_i l_i',      corr(z_i, z_i') = B_ii'/(b_i b_i')

and the lengths ||g_i||^2 have (2/d) (E_mu V_ii'^2 - (B_ii - white_i)(B_i'i' - white_i')) on the sphere, without the last term for
Gaussian rows.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array
from giantstep.functions._gaussian_averages import averages, together
from giantstep.theory.one_step._conditional import Samples, Sizes, samples_of, second_layer
from giantstep.theory.one_step._direction import direction
from giantstep.theory.one_step.errors import Signal
from giantstep.theory.one_step.parameters import Form, GaussianFunction, Parameters, activation_of, label_of
from giantstep.theory.pairs._errors import PairedProblem
from giantstep.theory.pairs._fixed_point import PairedFeatures


class PairedRows(NamedTuple):
    """J pairs: coordinates u (m, I) of their I = 2 J neurons along the learned directions and, by entries (left, right) of
    the pairs' blocks, the law of g: variances on the modes, on those of the directions (``along``, ``spread``), and white."""

    omega: Float[np.ndarray, " E"]
    left: Int[np.ndarray, " E"]
    right: Int[np.ndarray, " E"]
    u: Float[np.ndarray, "m I"]
    modes: Float[np.ndarray, " M"]
    variance: Float[np.ndarray, "M E"]
    white: Float[np.ndarray, " E"]
    along: Float[np.ndarray, "B X X"]
    spread: Float[np.ndarray, "B E"]


def entries(pairs: int) -> tuple[Int[np.ndarray, " E"], Int[np.ndarray, " E"]]:
    """The neurons (left, right) of every entry of the pairs' blocks; pair j has the neurons 2 j and 2 j + 1."""
    first = 2 * np.repeat(np.arange(pairs), 4)
    return first + np.tile([0, 0, 1, 1], pairs), first + np.tile([0, 1, 0, 1], pairs)


def signed(law: str) -> tuple[Float[np.ndarray, " I"], Float[np.ndarray, " J"]]:
    """The second layer of pairs, a and -a in turn, and the pairs' weights."""
    a, weights = (np.asarray(x) for x in second_layer("gaussian" if law == "gaussian" else "rademacher"))
    return np.stack([a[a > 0], -a[a > 0]], axis=1).ravel(), 2 * weights[a > 0]


def stepped_pairs(numbers: Parameters, form: Form) -> PairedProblem:
    """The features of pairs after one step, and what the readout can use of them."""
    sigma, star = activation_of(numbers, form), label_of(numbers, form)
    step = direction(numbers, form, sigma, star)
    a, weights = signed(form.second_layer)
    left, right = entries(weights.size)
    strength, turn, white = (float(x) for x in (step.strength, step.turn, step.white))
    square = white * a[left] * a[right]

    def variance(mu: Float[Array, " M"]) -> Float[np.ndarray, "M E"]:
        turned = 1 + turn * a * np.asarray(mu)[:, None]
        return turned[:, left] * turned[:, right] + square

    rows = PairedRows(
        np.repeat(weights, 4), left, right, (strength * a)[None], np.asarray(step.modes.weights),
        variance(step.modes.nodes), square, np.asarray(step.along.weights), variance(step.along.nodes),
    )  # fmt: skip
    d = float(numbers.d)
    sizes = Sizes(d, float(numbers.p_over_d) * d, float(numbers.n_over_d) * d)
    samples = samples_of(numbers, form, star, step)
    return tabulated_pairs(sigma, rows, samples, sizes, gaussian_rows=form.gaussian_rows)


def tabulated_pairs(
    sigma: GaussianFunction, rows: PairedRows, samples: Samples, sizes: Sizes, *, gaussian_rows: bool
) -> PairedProblem:
    """The law of the pairs' features on these samples."""
    (d, p, n), left, right = map(float, sizes), rows.left, rows.right
    B, own = rows.modes @ rows.variance, left == right
    b2, white = B[own], rows.white[own]
    b = np.sqrt(b2)
    t = rows.u.T @ np.asarray(samples.kappa)
    table = averages(sigma.value, t, b[:, None], sigma.kinks)
    mean, gain = np.asarray(table.mean), np.asarray(table.gain)
    product = np.empty((B.size, samples.pi.size))
    product[own] = table.square
    i, k = left[~own][::2], right[~own][::2]  # each pair once
    across = B[~own][::2] / (b[i] * b[k])
    cross = together(sigma.value, (t[i], t[k]), (b[i, None], b[k, None]), np.clip(across, -1, 1)[:, None], sigma.kinks)
    product[~own] = np.repeat(cross, 2, axis=0)
    noise = product - mean[left] * mean[right] - B[:, None] * gain[left] * gain[right]
    noise[own] = np.maximum(noise[own], 0.0)
    most = np.sqrt(noise[own][left] * noise[own][right])
    features = PairedFeatures(
        rows.omega, left, right, np.asarray(samples.pi), rows.modes, gain, np.clip(noise, -most, most), rows.variance,
        p / (2 * d), p / (2 * n),
    )  # fmt: skip
    lengths = rows.modes @ rows.variance**2 - (0.0 if gaussian_rows else (b2 - white)[left] * (b2 - white)[right])
    signal = Signal(
        weights=rows.along,
        variance=rows.spread,
        patterns=np.stack([mean, np.asarray(table.curve) / np.sqrt(2 * d)]),
        scatter=(np.asarray(table.curve) / (2 * b2[:, None] * np.sqrt(d)))[None],
        mean=samples.on[0].T,
        second=np.einsum("sck,sdk->kcd", samples.on, samples.on),
        label=np.einsum("sck,sk->kc", samples.on[: len(samples.label)], samples.label),
        power=samples.power,
        p=p / 2,
        constant=float(sigma.constant),
    )
    return PairedProblem(features, signal, 2 * lengths)

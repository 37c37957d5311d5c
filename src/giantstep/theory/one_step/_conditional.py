"""One theory for every step size: the features after one giant step are Gaussian given the learned coordinate.

The rows after the step are w_i = U a_i v + g_i (``direction``). With kappa = <v, x> and t = U a_i kappa a feature is

    sigma(<w_i, x>) ~ m(t; b) + l(t; b) <g_i, x> + c(t; b) xi_i
    m = E sigma(b z + t),  l = E sigma'(b z + t),  c^2 = E sigma^2(b z + t) - m^2 - b^2 l^2,   b^2 = E ||g_i||^2

(conditional Gaussian equivalence: Dandi et al. 2023, Cui et al. 2024). Nothing is expanded in U, so one curve runs from random
features (eta = 0) through the staircase of Moniri et al. (2024) to eta ~ sqrt(n) and beyond. The neurons are grouped by a_i,
the samples by kappa; v stays an ordinary direction for g_i, so that nothing is counted twice.
"""

from typing import NamedTuple

from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import Scalar, averages
from giantstep.theory.one_step._direction import StepDirection, direction
from giantstep.theory.one_step._fixed_point import Features, FixedPoint, solve
from giantstep.theory.one_step._label import Label, given
from giantstep.theory.one_step.errors import Errors, Signal, errors
from giantstep.theory.one_step.parameters import Form, GaussianFunction, Parameters, activation_of, label_of

# sigma(U a kappa) bends within 1/(U kappa): too few values of a have too few features after a long step
NEURON_NODES, SAMPLE_NODES = 42, 16
NEURON_REACH = 6.125  # of a; beyond it is a neuron in 10^9


class Rows(NamedTuple):
    """The rows in groups: the values of a, the groups' weights, coordinates u along the learned directions, and the law of g.

    ``white`` is the part of E ||g||^2 that the rows did not have from the start. ``along`` and ``spread`` are the spectral
    measure and the variances on the directions (learned, then what the target has beyond them[, then f]).
    """

    a: Float[Array, " J"]
    omega: Float[Array, " J"]
    u: Float[Array, "m J"]
    modes: Float[Array, " M"]
    variance: Float[Array, "M J"]
    white: Float[Array, " J"] | float
    along: Float[Array, "B X X"]
    spread: Float[Array, "B J"]


class Samples(NamedTuple):
    """The samples in groups: coordinates kappa, weights, every channel's coordinate over the independent parts (``on``), the
    label's moments with the first of the parts, and E[y^2 | kappa]."""

    kappa: Float[Array, "m K"]
    pi: Float[Array, " K"]
    on: Float[Array, "parts C K"]
    label: Float[Array, "known K"]
    power: Float[Array, " K"]


class Sizes(NamedTuple):
    """d, p and the readout's n."""

    d: Scalar
    p: Scalar
    n: Scalar


class StepProblem(NamedTuple):
    """A prediction ready to be solved at any penalty: the step, the features' law, and what the readout can use."""

    step: StepDirection
    features: Features
    signal: Signal
    width: Float[Array, " J"]  # b_j


def second_layer(law: str) -> tuple[Float[Array, " J"], Float[Array, " J"]]:
    """The values of a_i and their weights."""
    if law == "gaussian":
        a, weights = hermite.offset_trapezoid(NEURON_NODES, NEURON_REACH)
        return xp.asarray(a), xp.asarray(weights)
    return (xp.array([-1.0, 1.0]), xp.array([0.5, 0.5])) if law == "rademacher" else (xp.ones(1), xp.ones(1))


def problem(numbers: Parameters, form: Form) -> StepProblem:
    """Tabulate the law of the features and of the labels given (a_i, kappa)."""
    sigma, star = activation_of(numbers, form), label_of(numbers, form)
    step = direction(numbers, form, sigma, star)
    a, omega = second_layer(form.second_layer)
    rows = Rows(
        a, omega, (step.strength * a)[None], step.modes.weights, step.variance(step.modes.nodes, a), step.white * a**2,
        step.along.weights, step.variance(step.along.nodes, a),
    )  # fmt: skip
    samples = samples_of(numbers, form, star, step)
    p = numbers.p_over_d * numbers.d
    sizes = Sizes(numbers.d, p, numbers.n_over_d * numbers.d)
    lean = step.omega is not None
    return StepProblem(step, *tabulated(sigma, rows, samples, sizes, gaussian_rows=form.gaussian_rows, lean=lean))


def samples_of(numbers: Parameters, form: Form, star: Label, step: StepDirection) -> Samples:
    """The samples of the readout, on fresh data, in groups by kappa."""
    kappa, pi = (xp.asarray(x) for x in hermite.gauss_hermite(SAMPLE_NODES))
    label = given(star, step.rho[:, None], step.rest, kappa[None], form.scramble)
    moments = xp.concatenate([label.mean[None], label.along])
    return Samples(kappa[None], pi, _coordinates(step, kappa), moments, label.square + numbers.noise**2)


def tabulated(
    sigma: GaussianFunction, rows: Rows, samples: Samples, sizes: Sizes, *, gaussian_rows: bool, lean: bool
) -> tuple[Features, Signal, Float[Array, " J"]]:
    """The features' law, the signal and the widths b of these rows on these samples; ``lean`` adds the pattern along omega."""
    b2, (d, p, n) = rows.modes @ rows.variance, sizes
    b = xp.sqrt(b2)
    table = averages(sigma.value, rows.u.T @ samples.kappa, b[:, None], sigma.kinks)
    features = Features(
        omega=rows.omega,
        pi=samples.pi,
        modes=rows.modes,
        gain=table.gain,
        noise=xp.maximum(table.square - table.mean**2 - b2[:, None] * table.gain**2, 0.0),
        variance=rows.variance,
        p_over_d=p / d,
        p_over_n=p / n,
    )
    # Lengths: ||x||^2 = d + sqrt(2d) xi and ||g_i||^2 = b^2 + sd xi_i scale the argument, so the mean moves by curve/(2 b^2) each
    patterns = [table.mean, table.curve / xp.sqrt(2 * d)]
    if lean:
        patterns.append(table.gain * rows.a[:, None] / xp.sqrt(p))
    scatter = table.curve * (length_spread(rows, b2, gaussian_rows) / (2 * b2) / xp.sqrt(d))[:, None]
    signal = Signal(
        weights=rows.along,
        variance=rows.spread,
        patterns=xp.stack(patterns),
        scatter=scatter[None],
        mean=samples.on[0].T,
        second=xp.einsum("sck,sdk->kcd", samples.on, samples.on),
        label=xp.einsum("sck,sk->kc", samples.on[: len(samples.label)], samples.label),
        power=samples.power,
        p=p,
        constant=sigma.constant,
    )
    return features, signal, b


def length_spread(rows: Rows, b2: Float[Array, " J"], gaussian_rows: bool) -> Float[Array, " J"]:
    """sqrt(d) times the standard deviation of ||g_i||^2: 2 E_mu V^2, less 2 (E_mu V - white)^2 for rows on the sphere."""
    spread = rows.modes @ rows.variance**2 - (0.0 if gaussian_rows else (b2 - rows.white) ** 2)
    safe = xp.where(spread > 1e-14, spread, 1.0)  # the square root has no slope at zero, where the rank-one update sits
    return xp.where(spread > 1e-14, xp.sqrt(2 * safe), 0.0)


def _coordinates(step: StepDirection, kappa: Float[Array, " K"]) -> Float[Array, "parts C K"]:
    """Every channel's coordinate as a combination of (1, tau_1 .. tau_r, f, xi): independent, of unit variance but the first.

    Channels: the directions v, e_1 .. e_r[, f]; the mean m_k; the inputs' length; [l_k o a, along omega;] the rows' lengths.
    """
    r = step.rho.shape[0]
    one, part = xp.ones_like(kappa), xp.eye(r + 3)[:, :, None] * xp.ones_like(kappa)
    constant, tau, f, length = part[0], part[1 : r + 1], part[r + 1], part[r + 2]
    if step.omega is None:
        channels = [kappa * constant, *tau, constant, length, constant]
    else:
        along = step.omega[0] * kappa * constant + xp.einsum("l,lpk->pk", step.omega[1:], part[1 : r + 2])
        channels = [kappa * constant, *tau, f, constant, length, along * one, constant]
    return xp.swapaxes(xp.stack(channels), 0, 1)


def predict(numbers: Parameters, form: Form) -> tuple[Errors, FixedPoint]:
    """Errors at one step size and one penalty, and the fixed point behind them."""
    made = problem(numbers, form)
    return predict_from(made, numbers.penalty)


def predict_from(made: StepProblem, penalty: Scalar) -> tuple[Errors, FixedPoint]:
    """Predict from tables that are already made."""
    at = solve(made.features, penalty)
    return errors(made.features, made.signal, penalty, at), at

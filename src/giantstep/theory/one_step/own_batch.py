"""The readout on the step's own batch, after the rank-one update (derived here).

Given the labels and the target's coordinates, X outside the target's span conditioned on X^T r = n beta is

    X = (n/|r|^2) r beta^T + (1 - r r^T/|r|^2) X~,     X~ fresh

so that a training sample has (i) the coordinate N(0, 1) + sqrt(d/n) r/sqrt(E r^2) along the noise of beta, where a new one has
N(0, 1), and (ii) all other coordinates orthogonal to r as vectors over the samples. The second takes from the samples' bulk

    1 + delta_k  ->  1 + delta_k - (1/n) z_j S_kl z_l',     z = r/sqrt(E r^2),   S = (d/n) sum_mu w_mu S^mu

one more channel with the coordinate z and a negative block. TrainingBins and test samples are then groups of different laws. With
test samples of weight epsilon, endlessly many, in the objective O,

    test = dO/d epsilon at 0,      train = O - lam dO/d lam
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import on_host
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.theory.answer import Answer, penalties_of
from giantstep.theory.one_step.conditional import Rows, Samples, Sizes, problem, second_layer, tabulated
from giantstep.theory.one_step.direction import StepDirection
from giantstep.theory.one_step.errors import Signal, channels, projected
from giantstep.theory.one_step.fixed_point import TOLERANCE, Features, FixedPoint, alphas, modes, solve
from giantstep.theory.one_step.label import Label, points
from giantstep.theory.one_step.parameters import Form, Parameters, activation_of, label_of, parameters

BINS = 64  # groups of training samples, of equal weight
ALONG, NOISES = 40, 7  # nodes of kappa and of the noise behind them
BEYOND = {1: 32, 2: 12, 3: 7}  # nodes of tau along each direction, by the rank
MANY = 2**9  # Sobol points of more directions
STEP = 1e-3  # of the differences in epsilon, and in log lam


class OwnProblem(NamedTuple):
    """Features and signal on training groups, then on test groups, whose number is ``tests``; phi = d/n."""

    features: Features
    signal: Signal
    tests: int
    phi: float


def own_problem(numbers: Parameters, form: Form) -> OwnProblem:
    """Tables on the training samples' law and on the test samples'."""
    sigma, star = activation_of(numbers, form), label_of(numbers, form)
    fresh = problem(numbers, form)
    step = fresh.step
    a, omega = (np.asarray(x) for x in second_layer(form.second_layer))
    own = _training(numbers, form, star, step)
    rows = Rows(
        a, omega, (step.strength * a)[None], step.modes.weights, step.variance(step.modes.nodes, a), 0.0,
        step.along.weights, step.variance(step.along.nodes, a),
    )  # fmt: skip
    d, p, n = float(numbers.d), float(numbers.p_over_d * numbers.d), float(numbers.n_over_d * numbers.d)
    made = Samples(own.kappa[None], own.pi, own.on, own.on[:, 0, :0].T, own.power)
    f, s, _ = tabulated(sigma, rows, made, Sizes(d, p, n), gaussian_rows=form.gaussian_rows, lean=False)
    nothing = np.zeros_like(f.gain)
    s = s._replace(
        scatter=np.concatenate([s.scatter, nothing[None]]), mean=own.mean, second=own.second, label=own.label
    )
    g, t = fresh.features, fresh.signal
    wide = lambda x, axes: np.pad(np.asarray(x), [(0, int(k in axes)) for k in range(np.ndim(x))])  # noqa: E731
    join = lambda x, y: np.concatenate([x, y], -1)  # noqa: E731
    features = f._replace(
        pi=join(f.pi, g.pi), gain=join(f.gain, g.gain), noise=join(f.noise, g.noise),
        p_over_n=join(np.full(f.pi.size, p / n), np.full(g.pi.size, 1e-12)),
    )  # fmt: skip
    scatter = np.concatenate([np.asarray(t.scatter), np.zeros_like(t.scatter)])
    signal = s._replace(
        patterns=join(s.patterns, t.patterns), scatter=join(s.scatter, scatter),
        mean=np.concatenate([s.mean, wide(t.mean, (1,))]), second=np.concatenate([s.second, wide(t.second, (1, 2))]),
        label=np.concatenate([s.label, wide(t.label, (1,))]), power=join(s.power, t.power),
    )  # fmt: skip
    return OwnProblem(features, signal, g.pi.size, 1 / float(numbers.n_over_d))


class TrainingBins(NamedTuple):
    """The training samples in bins of kappa: weights, and the moments of channels and labels; ``on`` is a stand-in."""

    kappa: Float[np.ndarray, " K"]
    pi: Float[np.ndarray, " K"]
    on: Float[np.ndarray, "1 C K"]
    mean: Float[np.ndarray, "K C"]
    second: Float[np.ndarray, "K C C"]
    label: Float[np.ndarray, "K C"]
    power: Float[np.ndarray, " K"]


def _training(numbers: Parameters, form: Form, star: Label, step: StepDirection) -> TrainingBins:
    """Channels: v, e_1 .. e_r, the mean, the inputs' length, the rows' lengths, and z = r/sqrt(E r^2)."""
    r, phi = star.rank, 1 / float(numbers.n1_over_d)
    (k, w), (x, v) = hermite.gauss_hermite(ALONG), hermite.gauss_hermite(NOISES)
    tau, t = points(r, BEYOND.get(r, MANY), form.scramble)
    rho, L = np.asarray(step.rho), np.asarray(step.rest)
    plain = np.asarray(star.value(rho[:, None, None] * k[:, None] + (L @ tau)[:, None, :]))
    y = (plain[:, :, None] + float(numbers.noise) * x).ravel()
    residual = y - (float(star.mean) if form.deflated else 0.0)
    weights = (w[:, None, None] * t[:, None] * v).ravel()
    z = residual / np.sqrt(weights @ residual**2)
    beyond = np.sqrt(max(1 - float(rho @ rho), 1e-12))  # <xi, v>, and <xi, e> = -rho^T L/beyond
    shape = (k.size, t.size, x.size)
    kappa = np.broadcast_to(k[:, None, None], shape).ravel() + beyond * phi**0.5 * z
    e = [
        np.broadcast_to(own[:, None], shape).ravel() - phi**0.5 * c / beyond * z
        for own, c in zip(tau, rho @ L, strict=True)
    ]
    one, zero = np.ones(y.size), np.zeros(y.size)
    coordinates = np.array([kappa, *e, one, zero, one, z])
    order = np.argsort(kappa)
    place = np.empty(y.size, int)
    reached = np.cumsum(weights[order]) / weights.sum()
    place[order] = np.minimum((reached * BINS * (1 - 1e-12)).astype(int), BINS - 1)
    used, place = np.unique(place, return_inverse=True)
    pi = np.bincount(place, weights)
    mean_of = lambda values: np.bincount(place, weights * values, minlength=used.size) / pi  # noqa: E731
    C = len(coordinates)
    second = np.array([[mean_of(a * b) for a in coordinates] for b in coordinates])
    second[r + 2, r + 2] = 1.0  # the inputs' length is independent of all else
    mean = np.array([mean_of(c) for c in coordinates])
    label = np.array([mean_of(c * y) for c in coordinates])
    stand_in = np.zeros((1, C - 1, used.size))
    return TrainingBins(mean[0], pi, stand_in, mean.T, np.transpose(second, (2, 0, 1)), label.T, mean_of(y**2))


def objective(
    made: OwnProblem, penalty: float, epsilon: float = 0.0, near: FixedPoint | None = None
) -> tuple[float, FixedPoint]:
    """The least objective with test samples of that weight, and the fixed point; ``near`` is one nearby to start from."""
    weights = np.array(made.features.pi)
    weights[-made.tests :] *= epsilon
    f = made.features._replace(pi=weights)
    at = solve(f, penalty, None if near is None else np.log(np.concatenate([near.q, near.delta])))
    alpha = alphas(f, at.delta)
    S, excess, _, _ = channels(f, made.signal, at.q, alpha)
    bulk = np.einsum("m,mkl->kl", f.modes, modes(f, at.q, alpha, f.variance)[0])
    S[-1, :, -1, :] = -made.phi * bulk
    b = (alpha[:, None] * made.signal.label).T
    _, _, psi = projected(f, S, excess, alpha, b)
    return float(np.sum(alpha * made.signal.power) - np.sum(b * psi)), at


def own_errors(made: OwnProblem, penalty: float) -> tuple[float, float, float, float]:
    """Test error, training error, objective and the largest residual at one penalty."""
    least, at = objective(made, penalty)
    up, down = (objective(made, penalty, s * STEP, at)[0] for s in (1, -1))
    more, less = (objective(made, penalty * np.exp(s * STEP), 0.0, at)[0] for s in (1, -1))
    return (up - down) / (2 * STEP), least - (more - less) / (2 * STEP), least, float(at.residual)


def own_batch(setting: Setting) -> Answer:
    """Predict one rank-one update and a readout on its batch; the arrays are (E, L)."""
    notes: list[str] = []
    numbers, form = parameters(setting)
    penalties, etas = penalties_of(setting, notes), np.atleast_1d(numbers.eta)
    with on_host():
        made = [own_problem(numbers._replace(eta=eta), form) for eta in etas]
        table = np.array([[own_errors(one, penalty) for penalty in penalties] for one in made])  # (E, L, 4)
    if np.max(table[..., 3]) > TOLERANCE:
        notes.append(f"not converged: the largest residual is {np.max(table[..., 3]):.1e}")
    notes.append("the readout uses the step's own batch, whose samples have shaped the features already")
    values = {name: table[..., k] for k, name in enumerate(("test_error", "train_error", "train_objective"))}
    return Answer(values | {"penalty": penalties}, notes)

"""The readout on the step's own batch (derived here).

The law of the training samples is that of ``own_samples``: their coordinates are shifted along the noise of beta, and the others
are orthogonal to the residuals, which takes from their bulk

    1 + delta_k  ->  1 + delta_k - (1/n) z_j S_kl z_l',     z = r/sqrt(E r^2),   S = (d/n) sum_mu w_mu S^mu

one more channel with the coordinate z and a negative block.

The gradient has the sample itself in it. To the rest of the gradient the sample is new, so that, exactly,

    <w_i, x_j>  ->  U a_i kappa_j + <g_i, x_j> + t_i (d/n) r_j (sigma'(h_ij) - c_1),     h_ij = <w_i, x_j>,   t_i = eta s a_i

where kappa has c_1 (d/n) r_j of it already and g_i is made of the other samples. So the mean of a feature given kappa depends on
z: it is m_0 + z m_1 by least squares, and m_1 is one more pattern. With the initial output in the residual, the features know of
xi_0, its part that is not linear in x, by C a_i/sqrt(p) each, C = E[sigma(.) (sigma(h) - c_1 h)]/sqrt(E (sigma(h) - c_1 h)^2).
That and the part along omega are in the features' bulk already, from which they are taken. The rows' remainder is taken as
independent of the other samples, which is right to first order in the step.

Training and test samples are then groups of different laws. With test samples of weight epsilon, endlessly many, in the
objective O,

    test = dO/d epsilon at 0,      train = O - lam dO/d lam
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import on_host
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory.one_step._conditional import Rows, StepProblem, length_spread, problem, second_layer
from giantstep.theory.one_step._direction import push
from giantstep.theory.one_step._fixed_point import Features, FixedPoint, alphas, modes, solve
from giantstep.theory.one_step._own_samples import TrainingBins, training
from giantstep.theory.one_step.errors import Signal, channels, lean_part, projected, without
from giantstep.theory.one_step.parameters import Form, GaussianFunction, Parameters, activation_of, label_of, parameters

WIDTH, REACH, ACROSS = 2.0, 5.0, 5  # panels of h, and nodes of what g has beyond it
LONG = 0.3  # eta s from which a correlation of the remainder with the batch was seen in training errors
STEP = 1e-3  # of the differences in epsilon, and in log lam


class OwnProblem(NamedTuple):
    """Features and signal on training groups, then on test groups, whose number is ``tests``; phi = d/n."""

    features: Features
    signal: Signal
    tests: int
    phi: float
    lean: int | None = None  # the channel along omega, if there is one


class OwnTables(NamedTuple):
    """Features of given samples: the mean m_0 + z m_1, E sigma', the variance beyond both, E (z^2 - 1) sigma, and C."""

    mean: Float[np.ndarray, "J K"]
    slope: Float[np.ndarray, "J K"]
    gain: Float[np.ndarray, "J K"]
    noise: Float[np.ndarray, "J K"]
    curve: Float[np.ndarray, "J K"]
    output: Float[np.ndarray, "J K"]


def own_problem(numbers: Parameters, form: Form, offset: float = 0.0) -> OwnProblem:
    """Tables on the training samples' law and on the test samples'; ``offset`` is the mean of the initial output."""
    sigma, star = activation_of(numbers, form), label_of(numbers, form)
    fresh, pushed = problem(numbers, form), push(numbers, form, sigma, star)
    step = fresh.step
    a, omega = (np.asarray(x) for x in second_layer(form.second_layer))
    rows = Rows(
        a, omega, (step.strength * a)[None], step.modes.weights, step.variance(step.modes.nodes, a), step.white * a**2,
        _whole(np.asarray(step.along.weights)), step.variance(step.along.nodes, a),
    )  # fmt: skip
    own, phi = training(numbers, form, star, step, pushed, offset), 1 / float(numbers.n1_over_d)
    shared = np.asarray(step.modes.weights @ (1 + step.turn * a * step.modes.nodes[:, None]))  # E <g_i, x> <w_i, x>
    kept = 0.0 if form.rank_one else float(pushed.step * pushed.residual.square**0.5) * phi
    made = _tables(sigma, rows, shared, own.kappa, kept, own.z, own.share)
    nodes, _ = hermite.gauss_hermite(fresh.features.pi.size)
    one = np.ones((nodes.size, 1))
    tested = _tables(sigma, rows, shared, nodes, 0.0, one, one)
    return _joined(numbers, form, rows, own, fresh, made, tested)._replace(phi=phi)


def _whole(weights: Float[np.ndarray, "B X X"]) -> Float[np.ndarray, "B X X"]:
    """The spectral measure with total weight one, which the cut of the residual's tails has left: shifts and (ii) must cancel."""
    half = np.linalg.inv(np.linalg.cholesky(weights.sum(axis=0)))
    return half @ weights @ half.T


def _tables(
    sigma: GaussianFunction,
    rows: Rows,
    shared: Float[np.ndarray, " J"],
    kappa: Float[np.ndarray, " K"],
    kept: float,
    z: Float[np.ndarray, "K Q"],
    share: Float[np.ndarray, "K Q"],
) -> OwnTables:
    """Averages over h and <g, x> of features that have kept a (sigma'(h) - c_1) kept z of their own residual."""
    c1 = float(sigma.coefficients[1])
    b2 = np.asarray(rows.modes @ rows.variance)
    b, rho = np.sqrt(b2)[:, None], np.clip(shared / np.sqrt(b2), -1, 1)[:, None]
    place = (rows.u[0][:, None] * kappa)[:, None, :, None]
    h, w = hermite.gaussian_panels(sigma.kinks, WIDTH, REACH)
    slope, rest = np.asarray(sigma.slope(h)) - c1, np.asarray(sigma.value(h)) - c1 * h
    rest = (rest - w @ rest) / np.sqrt(max(w @ (rest - w @ rest) ** 2, 1e-30))
    moved = (rows.a[:, None] * slope)[:, :, None, None] * (kept * z)
    sums: Any = (
        0.0  # of the feature times 1, <g, x>, <g, x>^2 - 1 and the rest of the output, and of its square, (J, 5, K Q)
    )
    for x, v in zip(*hermite.gauss_hermite(ACROSS), strict=True):
        g = rho * h + np.sqrt(1 - rho**2) * x
        value = np.asarray(sigma.value(place + (b * g)[:, :, None, None] + moved)).reshape(*g.shape, -1)
        times = np.stack([np.ones_like(g), g, g**2 - 1, np.broadcast_to(rest, g.shape)], axis=1)
        square = np.einsum("h,jhm,jhm->jm", w, value, value)[:, None]
        sums = sums + v * np.concatenate([(w * times) @ value, square], axis=1)
    mean, gain, curve, output, square = np.moveaxis(sums, 1, 0).reshape(5, b2.size, *z.shape)
    centre = np.sum(share * z, -1)
    spread = np.sum(share * (z - centre[:, None]) ** 2, -1)
    m1 = np.sum(share * (z - centre[:, None]) * mean, -1) / np.maximum(spread, 1e-12)
    m0 = np.sum(share * mean, -1) - m1 * centre
    average = lambda table: np.sum(share * table, -1)  # noqa: E731
    fitted = average((m0[..., None] + m1[..., None] * z) ** 2)
    along = average(gain)  # b E sigma'
    noise = np.maximum(average(square) - fitted - along**2, 0.0)
    return OwnTables(m0, m1, along / b, noise, average(curve), average(output))


def _joined(
    numbers: Parameters,
    form: Form,
    rows: Rows,
    own: TrainingBins,
    fresh: StepProblem,
    made: OwnTables,
    tested: OwnTables,
) -> OwnProblem:
    """Training groups, then test groups. Channels: directions; 1, the inputs' length[, omega, xi_0], z; the rows' lengths, z."""
    g, t, full = fresh.features, fresh.signal, fresh.step.omega is not None
    d, p, n = float(numbers.d), float(numbers.p_over_d * numbers.d), float(numbers.n_over_d * numbers.d)
    K, tests, X, D = own.pi.size, g.pi.size, t.weights.shape[-1], len(t.patterns)
    b2 = np.asarray(rows.modes @ rows.variance)
    lengths = (length_spread(rows, b2, form.gaussian_rows) / (2 * b2) / np.sqrt(d))[:, None]
    lean = np.asarray(rows.a)[:, None] / np.sqrt(p)
    output = [made.gain * lean, made.output * lean] if full else []
    patterns = [made.mean, made.curve / np.sqrt(2 * d), *output, made.slope]
    known = [*np.asarray(t.patterns), *([tested.output * lean] if full else []), np.zeros_like(g.gain)]
    scatter = np.stack([made.curve * lengths, 0 * made.curve])
    join = lambda x, y: np.concatenate([np.asarray(x), np.asarray(y)], -1)  # noqa: E731
    # The coordinates of the bins in the channels' order; the last column stands for the inputs' length, independent of all
    order = [*range(X), X, -1, *((X + 1, X + 2) if full else ()), -2, X, -2]
    wide = lambda x, axes: np.pad(np.asarray(x), [(0, int(k in axes)) for k in range(np.ndim(x))])  # noqa: E731
    mean, label = (wide(x, (1,))[:, order] for x in (own.mean, own.label))
    second = wide(own.second, (1, 2))[:, order][:, :, order]
    second[:, X + 1, X + 1] = 1.0
    if full:
        second[:, X + D, X + D] -= 1.0  # xi_0 is in the features' noise already, as it is for new samples
    # New samples have no z
    new = [X + D] * (2 if full else 1)
    also = lambda x, axes: wide(_inserted(np.asarray(x), new, axes), axes)  # noqa: E731
    features = Features(
        rows.omega, join(own.pi, g.pi), rows.modes, join(made.gain, g.gain), join(made.noise, g.noise), rows.variance,
        p / d, join(np.full(K, p / n), np.full(tests, 1e-12)),
    )  # fmt: skip
    signal = t._replace(
        weights=rows.along,
        patterns=join(patterns, known),
        scatter=join(scatter, np.concatenate([np.asarray(t.scatter), np.zeros_like(t.scatter)])),
        mean=np.concatenate([mean, also(t.mean, (1,))]),
        second=np.concatenate([second, also(t.second, (1, 2))]),
        label=np.concatenate([label, also(t.label, (1,))]),
        power=join(own.power, t.power),
    )
    return OwnProblem(features, signal, tests, 0.0, X + 2 if full else None)


def _inserted(x: Float[np.ndarray, "..."], places: list[int], axes: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    for axis in axes:
        x = np.insert(x, places, 0.0, axis=axis)
    return x


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
    if made.lean is not None:
        S = without(S, made.lean, lean_part(np.diag(alpha), bulk))
    S.around[-1, :, -1, :] = -made.phi * bulk
    b = (alpha[:, None] * made.signal.label).T
    _, _, psi, _ = projected(f, S, excess, alpha, b)
    return float(np.sum(alpha * made.signal.power) - np.sum(b * psi)), at


def own_errors(made: OwnProblem, penalty: float) -> tuple[float, float, float, float]:
    """Test error, training error, objective and the largest residual at one penalty."""
    least, at = objective(made, penalty)
    up, down = (objective(made, penalty, s * STEP, at)[0] for s in (1, -1))
    more, less = (objective(made, penalty * np.exp(s * STEP), 0.0, at)[0] for s in (1, -1))
    return (up - down) / (2 * STEP), least - (more - less) / (2 * STEP), least, float(at.residual)


def offsets(numbers: Parameters, form: Form) -> tuple[float, ...]:
    """The means c_0 s sum_i a_i of the initial output that stand for its law, where the residual has it in it."""
    c0, p = float(numbers.activation[0]), float(numbers.p_over_d * numbers.d)
    size = c0 * float(form.factor(p)) * p**0.5
    return (size, -size) if form.full and abs(c0) > 1e-12 else (0.0,)


def mean_errors(numbers: Parameters, form: Form, penalties: Float[np.ndarray, " L"]) -> Float[np.ndarray, "L 4"]:
    """Test error, training error, objective and residual at every penalty, over the means of the initial output."""
    every = offsets(numbers, form)
    made = [own_problem(numbers, form, offset) for offset in every]
    return np.mean([[own_errors(each, penalty) for penalty in penalties] for each in made], axis=0)


def own_batch(setting: Setting) -> Answer:
    """Predict one step and a readout on its batch; the arrays are (E, L)."""
    notes: list[str] = []
    numbers, form = parameters(setting)
    penalties, etas = penalties_of(setting, notes), np.atleast_1d(numbers.eta)
    with on_host():
        table = np.stack([mean_errors(numbers._replace(eta=eta), form, penalties) for eta in etas])
    worst = float(np.max(np.where(np.isnan(table[..., 0]), np.inf, table[..., 3])))
    notes.append("The readout uses the step's own batch, whose samples have shaped the features already.")
    longest = float(np.max(np.abs(etas))) * setting.network.factor
    if not form.rank_one and longest > LONG:
        notes.insert(0, "The training error may be 3 to 15% too low.")
        notes.insert(1, f"That was seen where eta times the scale is above {LONG:g}, and here it is {longest:.2g}.")
    values = {name: table[..., k] for k, name in enumerate(("test_error", "train_error", "train_objective"))}
    return Answer(values | {"penalty": penalties}, notes, residual=worst)

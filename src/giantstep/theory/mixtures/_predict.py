"""One giant step on a mixture with spikes: the conditional theory with groups (component, coordinates along spikes and step).

Samples are grouped by (c, kappa, kappa_v), kappa their coordinates inside the span B of spikes and means; neurons by (a_i, u_i),
u_i theirs, which strong spikes make felt. With t = <u_j, kappa_k> + U_j kappa_v and b_j^2 = E ||g_j||^2

    sigma(<w_i, x>) ~ m(t; b) + l(t; b) <g_i, x> + c(t; b) xi_i                          (as in ``conditional``)

The features that are Gaussian given (c, kappa) are those of Demir and Dogan (2025), Theorem 3; the errors that follow are ours.
Up to three coordinates take products of Gauss rules, more of them scrambled Sobol points, with an estimate of their error.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import on_host
from giantstep.errors import InputError, quoted
from giantstep.experiment.labels import labels
from giantstep.experiment.setting import Setting
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory.mixtures._rows import RowStart, SteppedRows, after_step, label, table
from giantstep.theory.mixtures._structure import Structure, samples, structure
from giantstep.theory.one_step._fixed_point import Features, spanning
from giantstep.theory.one_step._predict import lowest_gcv, worst_of
from giantstep.theory.one_step.errors import Errors, Signal, path

COUNT = 256  # Sobol points of the neurons, and of the samples of all components, by default
LEAST, MOST = 64, 4096  # of them
STRETCHED = 0.1  # variance of <w, x> gained along spikes and means, beyond which 10 of 42 settings were off by over 10%
UNRESOLVED = 0.05  # relative error of E y^2 by the nodes, which the test error shares
SMALL = 1e-4  # singular values left out of the basis, against the largest


class MixtureProblem(NamedTuple):
    """The features' law and the signal of a mixture, which can be solved at any penalty."""

    features: Features
    signal: Signal


class Groups(NamedTuple):
    """Samples: coordinates inside B (k, K) and along v (K,), weights, bulks, and E y, E f*', E f*^2 given them."""

    kappa: Float[np.ndarray, "k K"]
    along: Float[np.ndarray, " K"]
    weights: Float[np.ndarray, " K"]
    bulk: Float[np.ndarray, " K"]
    label: Float[np.ndarray, " K"]
    slope: Float[np.ndarray, " K"]
    power: Float[np.ndarray, " K"]


def groups(of: Structure, rows: SteppedRows, count: int, seed: int) -> Groups:
    """Group the samples of all components by their coordinates."""
    typical = np.sqrt(rows.u**2 @ rows.omega)
    along = float(np.sqrt(rows.omega @ rows.U**2))
    each = max(2 ** int(np.log2(count / len(of.parts))), 32)
    parts = []
    for i, part in enumerate(of.parts):
        points, weights, bulk = samples(part, of, typical, [along], each, seed + 31 + i)
        root, beyond = bulk**0.5, np.sqrt(1 - rows.rho**2)
        centre = of.inside @ points[: of.k] + of.outside * rows.rho * root * points[of.k]
        means = label(part, centre, of.outside * beyond * root)
        parts.append([points[: of.k], points[of.k], part.weight * weights, bulk, *means])
    return Groups(*(np.concatenate(x, axis=-1) for x in zip(*parts, strict=True)))


def problem(setting: Setting, of: Structure, rows: SteppedRows, count: int, seed: int) -> MixtureProblem:
    """Tables of the features' and the labels' law given (a_i, u_i) and (c, kappa, kappa_v)."""
    d, p, sigma = float(setting.d), float(setting.p), setting.network.activation
    k = groups(of, rows, count, seed)
    variance = rows.variance(rows.modes.nodes)
    b2 = rows.modes.weights @ variance
    t = rows.u.T @ k.kappa + rows.U[:, None] * np.sqrt(k.bulk) * k.along
    mean, gain, square, curve = table(sigma, t, np.sqrt(b2[:, None] * k.bulk))
    gain = gain * np.sqrt(k.bulk)  # x outside B is sqrt(bulk) times a standard Gaussian
    noise = np.maximum(square - mean**2 - b2[:, None] * gain**2, 0.0)
    length = curve / np.sqrt(2 * d)  # of the inputs, as in ``conditional``
    spread = np.sqrt(2 * rows.modes.weights @ variance**2) if setting.network.rows != "sphere" else 0.0 * b2
    scatter = curve * (spread / (2 * b2) / np.sqrt(d))[:, None]
    one, zero = np.ones(k.weights.size), np.zeros(k.weights.size)
    # every channel's coordinate over (1, tau, length): v, e, the mean, the inputs' length, the rows' lengths
    on = np.array([[k.along, zero, zero], [zero, one, zero], [one, zero, zero], [zero, zero, one], [one, zero, zero]])
    slope = of.outside * np.sqrt((1 - rows.rho**2) * k.bulk) * k.slope
    arrays = {
        "weights": rows.along.weights, "variance": rows.variance(rows.along.nodes), "patterns": np.stack([mean, length]),
        "scatter": scatter[None], "mean": on[:, 0].T, "second": np.einsum("csk,dsk->kcd", on, on),
        "label": (on[:, 0] * k.label + on[:, 1] * slope).T, "power": k.power + setting.target.noise**2, "p": p,
        "constant": sigma.split[1],
    }  # fmt: skip
    signal = Signal(**arrays)  # type: ignore[arg-type]
    law = {
        "omega": rows.omega, "pi": k.weights, "modes": rows.modes.weights, "gain": gain, "noise": noise, "variance": variance,
        "p_over_d": p / d, "p_over_n": p / setting.protocol.readout_size,
        "basis": spanning(rows.omega, k.weights, [gain, *signal.tables], SMALL),
        "leverage": mean, "constant": signal.constant, "p": p,
    }  # fmt: skip
    return MixtureProblem(Features(**law), signal)  # type: ignore[arg-type]


class MixturePrediction(NamedTuple):
    """Errors (E, L), what the choice of nodes moves them by, residuals of the fixed points, and the rows at every step size."""

    errors: Errors
    doubt: Errors
    residual: Float[np.ndarray, "E L"]
    rows: tuple[SteppedRows, ...]
    power: float  # E f*^2 by the nodes


def predicted(
    setting: Setting,
    of: Structure,
    etas: Float[np.ndarray, " E"],
    penalties: Float[np.ndarray, "E L"],
    count: int = COUNT,
) -> MixturePrediction:
    """Errors at every step size and its penalties (E, L).

    Sobol nodes are drawn three times more, half as many: the bias, about as 1 / N, is the change from their mean v_(N/2), and
    the scatter, about as 1 / N too, half their standard deviation. So doubt^2 = (v_N - v_(N/2))^2 + s_(N/2)^2 / 4.
    """
    sets = [(count, 0), *((count // 2, seed) for seed in (1, 2, 3))] if not of.exact else [(count, 0)]
    every = [[_made(setting, of, eta, *nodes) for eta in etas.tolist()] for nodes in sets]
    answers = [_solved([made for made, _ in each], penalties) for each in every]
    values = np.array([errors for errors, _ in answers])  # (sets, 5, E, L)
    doubt = np.zeros_like(values[0])
    if len(sets) > 1:
        doubt = np.hypot(values[0] - values[1:].mean(axis=0), values[1:].std(axis=0, ddof=1) / 2)
    residual = np.max([residual for _, residual in answers], axis=0)
    first: MixtureProblem = every[0][0][0]
    power = float(first.features.pi @ first.signal.power) - setting.target.noise**2
    rows = tuple(rows for _, rows in every[0])
    return MixturePrediction(Errors(*values[0]), Errors(*doubt), residual, rows, power)  # type: ignore[arg-type]


def _made(setting: Setting, of: Structure, eta: float, count: int, seed: int) -> tuple[MixtureProblem, SteppedRows]:
    with on_host():
        rows = after_step(setting, of, eta, count, seed)
        return problem(setting, of, rows, count, seed), rows


def _solved(
    problems: list[MixtureProblem], penalties: Float[np.ndarray, "E L"]
) -> tuple[Float[np.ndarray, "5 E L"], Float[np.ndarray, "E L"]]:
    """Errors (5, E, L) and residuals (E, L)."""
    with on_host():
        paths = [path(*made, own) for made, own in zip(problems, penalties, strict=True)]
        return np.stack([errors for errors, _ in paths], axis=1), np.stack([residual for _, residual in paths])


def checked(count: Any, what: str = "nodes") -> int:
    """Return ``count`` if it is a valid number of Sobol points, and refuse it otherwise."""
    known = isinstance(count, int) and not isinstance(count, bool)
    if not known or not LEAST <= count <= MOST or count & (count - 1):
        raise InputError(f"{what} must be a power of two from {LEAST} to {MOST}, not {quoted(count)}")
    return count


def mixed(setting: Setting, count: int = COUNT) -> Answer:
    """The theory at a setting's own sizes, step sizes and penalties; arrays (E, L)."""
    notes: list[str] = []
    protocol, of = setting.protocol, structure(setting)
    etas = (
        np.atleast_1d(protocol.steps[0].etas(protocol.sizes()[0], setting.d, setting.p))
        if protocol.steps
        else np.zeros(1)
    )
    if protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        made = [_made(setting, of, eta, count, 0)[0] for eta in etas.tolist()]
        penalties = lowest_gcv(lambda grid: _solved(made, grid)[0][3], etas.size)
    else:
        penalties = np.tile(penalties_of(setting, notes), (etas.size, 1))
    prediction = predicted(setting, of, etas, penalties, count)
    notes += _notes(setting, of, prediction, count)
    learned = [_learned(setting, of, rows) for rows in prediction.rows]
    values = {
        "test_error": prediction.errors.test, "train_error": prediction.errors.train,
        "train_objective": prediction.errors.objective,
        "captured": np.array([[c] for c, _ in learned]), "null_level": np.array([n for _, n in learned]), "penalty": penalties,
    }  # fmt: skip
    if np.any(prediction.doubt.test > 0):
        values["test_error_se"] = prediction.doubt.test
    return Answer(values, notes, tuple(_doubts(setting, of, prediction)), worst_of(prediction.residual))


def _doubts(setting: Setting, of: Structure, prediction: MixturePrediction) -> list[str]:
    """A sentence for each measured reason not to rely on the prediction."""
    doubts = []
    moved = max(_moved(setting, of, rows) for rows in prediction.rows)
    if moved > STRETCHED:
        doubts.append(
            f"The step moves the neurons along spikes or means of the inputs by {moved**0.5:.2g} in what they see. Test "
            "errors 20% off are common there."
        )
    power, exact = prediction.power, labels(setting).power
    if abs(power - exact) > UNRESOLVED * exact:
        doubts.append(
            f"The nodes do not resolve the target: they give the labels a mean square of {power:.4g}, and it is {exact:.4g}."
        )
    return doubts


def _moved(setting: Setting, of: Structure, rows: SteppedRows) -> float:
    """What the step adds to the variance of <w, x> inside B: tr C (E u u^T - entry I), C = E kappa kappa^T."""
    C = sum(part.weight * (part.root @ part.root.T + np.outer(part.mean, part.mean)) for part in of.parts)
    before = RowStart.of(setting, of.k).entry * np.eye(of.k)
    return float(np.sum(C * ((rows.u * rows.omega) @ rows.u.T - before)))


def _learned(setting: Setting, of: Structure, rows: SteppedRows) -> tuple[float, float]:
    """E cos^2(w_i, xi), and what a direction that was not learned captures."""
    length2 = float(of.inside @ of.inside + of.outside**2)
    b2 = rows.modes.weights @ rows.variance(rows.modes.nodes)
    along = of.inside @ rows.u + of.outside * rows.rho * rows.U
    shares = (along**2 + of.outside**2 * b2 / setting.d) / length2 / (np.sum(rows.u**2, axis=0) + rows.U**2 + b2)
    captured = float(rows.omega @ shares)
    return captured, (1 - captured) / (setting.d - 1)


def _notes(setting: Setting, of: Structure, prediction: MixturePrediction, count: int) -> list[str]:
    """What the prediction is made of."""
    notes = []
    rows = prediction.rows[int(np.argmax([r.omega @ r.U**2 for r in prediction.rows]))]
    neurons, along = rows.a.size, float(np.sqrt(rows.omega @ rows.U**2))
    notes.append(
        f"The prediction takes the component of an input and {of.k + 1} of its coordinates as given, for {neurons} groups of "
        "neurons."
    )
    if setting.protocol.steps:
        notes.append(f"The step moves them by {along:.3g} times a unit length outside the spikes.")
    if any(part.rows is not None for part in of.parts):
        notes.append(
            "The coordinates are those of rows of the data set, with the means and covariances of the fitted mixture."
        )
    if np.any(prediction.doubt.test > 0):
        worst = float(np.max(prediction.doubt.test / prediction.errors.test))
        notes.append(
            f"Neurons and samples are {count} Sobol nodes each, whose choice moves the test error by up to {100 * worst:.1g}%."
        )
    return notes

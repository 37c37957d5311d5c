"""The published limits: random features (Mei and Montanari 2022), and the staircase above them (Moniri et al. 2024)."""

from dataclasses import replace

import numpy as np

from giantstep.experiment import _regime as regime
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory._band import Move, bands
from giantstep.theory.limits import gains as _gains
from giantstep.theory.limits import random_features as _random_features
from giantstep.theory.limits.bulk import Shape, shape
from giantstep.theory.one_step._label import label, target_constants

ORDERS = 20  # of the activation's coefficients looked at


def _target_parts(setting: Setting) -> tuple[float, float]:
    """||E f* x||^2, and what acts as noise; the target's mean is noise too unless the features hold a constant."""
    star = label(setting.target, target_constants(setting.target)[0])
    fitted = abs(setting.network.activation.hermite(0)[0]) > 1e-12
    linear = float(star.first @ star.first)
    rest = star.square - linear - (star.mean**2 if fitted else 0.0)
    return linear, max(float(rest), 0.0) + setting.target.noise**2


def _along_gradient(target: Target) -> list[float]:
    """c_k = E[f* He_k(<u, z>)]/k! = sum over |b| = k of c_b u^b, along the unit vector u of E[f* z]: what one step learns."""
    u = label(target, target_constants(target)[0]).first
    u = u / (np.linalg.norm(u) or 1.0) if target.rank > 1 else np.ones(1)
    total = np.zeros(target.hermite.degree + 1)
    for b, c in target.hermite.items():
        total[sum(b)] += float(c) * float(np.prod(u ** np.array(b)))
    return total.tolist()


def _shape(setting: Setting) -> tuple[Shape, float]:
    """The features' shape, and what multiplies the penalty: symmetric pairs are half as many features at half the penalty."""
    half = 2 if setting.network.symmetric else 1
    size = setting.protocol.readout_size
    return shape(setting.network.activation, size, setting.d, setting.p // half), 1 / half


def random_features(setting: Setting) -> Answer:
    """Predict without a step: the limit of Mei and Montanari, exact for every ratio; the arrays are (1, L)."""
    notes: list[str] = []
    of, factor = _shape(setting)
    if setting.protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        grid = np.geomspace(1e-8, 1e3, 2000)
        errors = _random_features.random_features(of, grid * factor, *_target_parts(setting))
        penalties = grid[[int(np.argmin(errors.test))]]  # GCV is exact here
    else:
        penalties = penalties_of(setting, notes)
    errors = _random_features.random_features(of, penalties * factor, *_target_parts(setting))
    notes.append("Random features are predicted by the limit in which n, d and p grow in fixed ratios.")
    share = np.full((1, 1), 1 / setting.d)
    values = {
        "test_error": errors.test[None],
        "train_error": errors.train[None],
        "train_objective": errors.objective[None],
    }
    alone = _random_features.random_features(of, penalties * factor, 0.0, 1.0).test[None]
    still = Move(np.zeros(1), np.eye(setting.target.rank)[None])
    values |= bands(values, setting, still, alone)
    return Answer(values | {"captured": share, "null_level": share[:, 0], "penalty": penalties}, notes)


def staircase(setting: Setting) -> Answer:
    """Predict random features less the published gains of the step's regime; NaN from alpha = 1/2 on."""
    still = random_features(replace(setting, protocol=replace(setting.protocol, steps=())))
    values, notes = still.values, still.notes
    step, network, penalties = setting.protocol.steps[0], setting.network, values["penalty"]
    coefficients = _along_gradient(setting.target)
    _, power = target_constants(setting.target)
    mean = coefficients[0] if step.deflate else 0.0
    n1 = setting.protocol.sizes()[0]
    first = coefficients[1] if len(coefficients) > 1 else 0.0
    rho = _gains.direction(setting.d / n1, first, power - mean**2 + setting.target.noise**2).cosine
    alphas = regime.exponents(setting)
    sigma = network.activation.hermite(ORDERS)
    rows: dict[str, list] = {k: [] for k in ("test_error", "train_error", "train_objective")}
    degrees = []
    for alpha in alphas:
        degrees.append(regime.degree(alpha) if alpha < 0.5 else None)
        orders = [k for k in range(1, min(degrees[-1] or 0, ORDERS) + 1) if abs(sigma[k]) > 1e-12]
        gains = _gains.improvements(_shape(setting)[0], penalties, coefficients, rho, orders, abs(sigma[0]) > 1e-12)
        hidden = np.nan if degrees[-1] is None else 0.0
        for name, gain in (
            ("test_error", gains.test),
            ("train_error", gains.train),
            ("train_objective", gains.objective),
        ):
            rows[name].append(values[name][0] - gain + hidden)
    known = sorted({k for k in degrees if k is not None})
    span = f"degree {known[0]}" if len(known) == 1 else f"degrees {known[0]} to {known[-1]}" if known else "nothing"
    notes = [*notes[:-1], f"In the published limit the network learns {span}."]
    if None in degrees:
        notes.insert(0, "The published limits end at alpha = 1/2. Beyond, there is no number.")
    return Answer({k: np.stack(v) for k, v in rows.items()} | {"penalty": penalties}, notes)

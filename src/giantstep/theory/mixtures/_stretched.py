"""One giant step on a mixture as a change of the inputs: every component stretched by the covariance of the rows after the step.

⟨S^(1/2) g, x⟩ = ⟨g, S^(1/2) x⟩ holds whatever the law of x. With rows of covariance S/d after the step N(mu, Sigma) is seen as

    N(S^(1/2) mu, S^(1/2) Sigma S^(1/2)),    f*(x) = g(⟨v, x⟩) = g(⟨S^(-1/2) v, x~⟩)

S is b I outside the frame of the spikes, the means, the target's direction and that of the step. Inside it is d E w w^T of the
groups of neurons of ``rows``: Gaussian rows of the same covariance stand for them.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.experiment.data.mixture import Component, Mixture, Spike
from giantstep.experiment.setting import Setting
from giantstep.theory.mixtures._rows import SteppedRows, after_step
from giantstep.theory.mixtures._structure import Part, span, structure

COUNT = 2**10  # points, where products of rules would be too many
SMALL = 1e-10  # a spike that is none


def stretched_mixture(setting: Setting) -> Setting:
    """The setting without the step, on components that are stretched as the step would have stretched the features."""
    data, d = setting.data, setting.d
    assert isinstance(data, Mixture)
    of, star = structure(setting), setting.length * setting.target.matrix(d)[0]
    rows = after_step(setting, of, float(setting.protocol.etas(d, setting.p).ravel()[0]), COUNT, 0)
    frame = _frame(span(data), star)
    b = (
        float(rows.modes.weights @ rows.variance(rows.modes.nodes) @ rows.omega) * d / (d - of.k)
    )  # V is E ||g||^2 outside B
    values, vectors = np.linalg.eigh(_covariance(rows, d, b))
    root, inverse = ((vectors * values**power) @ vectors.T for power in (0.5, -0.5))
    parts = iter(of.parts)
    components = tuple(_component(next(parts), root, frame, b) if one.weight > 0 else one for one in data.components)
    inside = frame @ star
    seen = (star - inside @ frame) / b**0.5 + (inverse @ inside) @ frame
    return replace(
        setting,
        data=Mixture(d, components),
        target=replace(setting.target, directions=(tuple(seen.tolist()),), scale="1"),
        network=replace(setting.network, rows="gaussian"),
        protocol=replace(setting.protocol, steps=()),
    )


def _frame(B: Float[np.ndarray, "k d"], star: Float[np.ndarray, " d"]) -> Float[np.ndarray, "F d"]:
    """B, what the target has outside it, and one more direction: all others are alike to bulk I."""
    frame = list(B)
    for row in (star, *np.eye(B.shape[1])):
        left = row - sum(((row @ other) * other for other in frame), np.zeros_like(row))
        if len(frame) < len(B) + 2 and np.linalg.norm(left) > SMALL * np.linalg.norm(row):
            frame.append(left / np.linalg.norm(left))
    return np.array(frame)


def _covariance(rows: SteppedRows, d: int, b: float) -> Float[np.ndarray, "F F"]:
    """S in the frame: d E w w^T, with U along v = rho e + sqrt(1 - rho^2) f and what is left of a row, b, on e and f."""
    along = np.outer([rows.rho, (1 - rows.rho**2) ** 0.5], rows.U)
    w = np.concatenate([rows.u, along])
    return d * (w * rows.omega) @ w.T + b * np.diag([0.0] * len(rows.u) + [1.0, 1.0])


def _component(part: Part, root: Float[np.ndarray, "F F"], frame: Float[np.ndarray, "F d"], b: float) -> Component:
    """S^(1/2) Sigma S^(1/2) as a bulk and spikes along its eigenvectors in the frame."""
    k, bulk = len(part.mean), part.bulk
    inside = bulk * np.eye(len(frame))
    inside[:k, :k] = part.root @ part.root.T
    values, vectors = np.linalg.eigh(root @ inside @ root - b * bulk * np.eye(len(frame)))
    spikes = [
        Spike(float(value), tuple((vector @ frame).tolist()))
        for value, vector in zip(values, vectors.T, strict=True)
        if abs(value) > SMALL
    ]
    mean = (root[:, :k] @ part.mean) @ frame
    return Component(part.weight, tuple(spikes), tuple(mean.tolist()), b * bulk)

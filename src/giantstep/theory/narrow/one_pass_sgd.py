"""One-pass SGD, one new sample a step: the overlaps follow closed differential equations (Saad and Solla 1995).

    W <- W + eta s a Delta sigma'(lambda) x^T,    Delta = y - s a^T sigma(lambda),    (lambda, lambda*) ~ N(0, Omega)
    dM/dnu = eta s a E[Delta sigma'(lambda) lambda*^T]
    dQ/dnu = B + B^T + d (eta s)^2 (a a^T) o E[(Delta^2 + noise^2) sigma' sigma'^T],   B = eta s a E[Delta sigma' lambda^T]

with nu the number of samples, as d grows with eta of order 1/d. The expectations are closed for erf networks and targets that are
sums of erf (``committee``), and means over fixed Gaussian points for everything else.
"""

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._given.plain import whole
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting, need_gaussian
from giantstep.results.trajectory import Trajectory
from giantstep.theory.narrow import _erf_committee as erf_committee
from giantstep.theory.narrow._erf_committee import Means
from giantstep.theory.narrow.evolution import STARTS, labels, overlaps_of, points

LARGEST = 1e100  # a step size whose square is a number too
POINTS = 2**13  # of the expectations without a closed form, right to about 0.5%


@given(
    setting=a(Setting),
    samples=whole,
    eta=number(-LARGEST, LARGEST),
    seed=at_least(0),
    records=at_least(2),
    start=one_of(*STARTS),
)
def sgd(
    setting: Setting, samples: int, eta: float, seed: int = 0, *, records: int = 50, start: str = "draw"
) -> Trajectory:
    """Follow the overlaps through ``samples`` steps of size ``eta``; the setting's protocol is not used.

    Args:
        setting: data, target and network.
        samples: how many.
        eta: step size of each; the interesting ones are of order p/d for scale="1/p".
        seed: whose second layer and, with ``start="draw"``, whose initial overlaps.
        records: how many points of the path are kept.
        start: "draw", or "limit" for orthogonal neurons that know nothing of the target.

    Examples:
        >>> s = gs.Setting(gs.Gaussian(200), gs.target("erf(x1)"), gs.Network(2, "erf", scale="1/p"), gs.Protocol())
        >>> path = gs.theory.sgd(s, samples=2000, eta=0.02, records=5)
        >>> bool(path.risk[-1] < path.risk[0])
        True
    """
    need_gaussian(setting, "theory.sgd")
    if setting.network.weights is not None and start == "limit":
        raise InputError("start='limit' needs the law of the weights, and this network has weights of its own")
    Q, M, a = overlaps_of(setting, seed, start)
    p, rate = setting.p, eta * setting.network.factor
    closed = erf_committee.means(setting, a)
    means, tolerance = (closed, 1e-7) if closed else (_sampled(setting, a), 1e-4)

    def flow(_: float, state: np.ndarray) -> np.ndarray:
        Q, M = _unpacked(state, p)
        drift, spread, _ = means(Q, M)
        inward = rate * a[:, None] * drift
        B = inward[:, :p]
        dQ = B + B.T + setting.d * rate**2 * np.outer(a, a) * spread
        return np.concatenate([dQ.ravel(), inward[:, p:].ravel()])

    nu = np.linspace(0, samples, records)
    solution = solve_ivp(
        flow, (0, samples), np.concatenate([Q.ravel(), M.ravel()]), t_eval=nu, rtol=tolerance, atol=1e-2 * tolerance
    )
    if not solution.success:
        raise InputError(
            f"the differential equations could not be followed to {samples} samples: {solution.message}; lower eta"
        )
    path = [_unpacked(state, p) for state in solution.y.T]
    risk = np.array([means(Q, M)[2] for Q, M in path])
    return Trajectory("theory", nu, np.stack([Q for Q, _ in path]), np.stack([M for _, M in path]), risk)


def _unpacked(state: Float[np.ndarray, " _"], p: int) -> tuple[Float[np.ndarray, "p p"], Float[np.ndarray, "p r"]]:
    Q = state[: p * p].reshape(p, p)
    return (Q + Q.T) / 2, state[p * p :].reshape(p, -1)


def _sampled(setting: Setting, a: Float[np.ndarray, " p"]) -> Means:
    """E[Delta sigma' (lambda, lambda*)^T] (p, p + r), E[(Delta^2 + noise^2) sigma' sigma'^T] (p, p) and E Delta^2."""
    sigma, factor, noise, p = setting.network.activation, setting.network.factor, setting.target.noise, setting.p

    def means(Q: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        values, vectors = np.linalg.eigh(np.block([[Q, M], [M.T, np.eye(M.shape[1])]]))
        # the symmetric root moves smoothly with Omega, as the solver of the equations needs; one by eigenvectors jumps
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        z = points(len(root), POINTS) @ root
        delta = labels(setting, z[:, p:]) - factor * np.asarray(sigma(z[:, :p])) @ a
        slope = np.asarray(sigma.slope(z[:, :p]))
        spread = slope.T @ (slope * (delta**2 + noise**2)[:, None]) / len(z)
        return (slope * delta[:, None]).T @ z / len(z), spread, float(np.mean(delta**2))

    return means

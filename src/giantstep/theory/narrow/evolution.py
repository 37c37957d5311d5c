"""Narrow networks: the overlaps of p = O(1) neurons after giant steps on fresh batches, as d grows with n/d fixed.

With Q = W W^T and ``M = W W*^T`` the preactivations and the target's coordinates are ``(lambda, lambda*)`` ~ N(0, Omega),
Omega = [[Q, M], [M^T, I]]. A step adds C^T X to W, C_mu,i = D_i(x_mu)/n, and its sums become expectations (Dandi et al. 2023):

    D_i = eta s a_i Delta sigma'(lambda_i),    b = E[D (lambda, lambda*)^T],    V = E[D D^T],    k = rank Omega
    M <- M + b_{lambda*}
    Q <- Q + b_lambda + b_lambda^T + b Omega^+ b^T + ((d - k)/n) V

The expectations are means over scrambled Sobol points, the same at every step.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, at_least, given, one_of
from giantstep.experiment import draw
from giantstep.experiment.protocol import GiantStep
from giantstep.experiment.setting import Setting
from giantstep.results.trajectory import Evolution
from giantstep.theory._coverage import is_narrow
from giantstep.theory._refusal import Refusal, only_gaussian, own_weights, refuse, with_dimension, with_steps

NAME = "the evolution of overlaps"
STARTS = ("limit", "draw")
POINTS = 2**16
NULL = 1e-9  # eigenvalues of Omega below this share of the largest are directions that do not exist


@given(setting=a(Setting), seed=at_least(0), eta=at_least(0), start=one_of(*STARTS))
def evolution(setting: Setting, seed: int = 0, eta: int = 0, *, start: str = "limit") -> Evolution:
    """Follow the overlaps of the network with that seed's second layer through the steps.

    Args:
        setting: giant steps on fresh batches of isotropic Gaussian data, a width far below d.
        seed: whose second layer, and with ``start="draw"`` whose initial overlaps.
        eta: which of the listed step sizes.
        start: "limit" has orthogonal neurons that know nothing of the target; "draw" the seed's own overlaps, of order 1/sqrt(d),
            from which targets of information exponent two and more are learned.

    Examples:
        >>> step = gs.GiantStep(n=4000, eta=18.0, residual="full")
        >>> network = gs.Network(12, "relu", scale="1/p")
        >>> s = gs.Setting(gs.Gaussian(2000), gs.target("x1 + x1*x2"), network, gs.Protocol((step, step)))
        >>> e = gs.theory.evolution(s)
        >>> e.shares.shape  # before the steps and after each, neurons, directions
        (3, 12, 2)
        >>> one, two = e.shares[1:].mean(axis=1)
        >>> bool(one[1] < 1e-6 < 0.01 < two[1])  # the first step learns x1 alone, the second also x2
        True
    """
    check(setting)
    Q, M, a = overlaps_of(setting, seed, start)
    steps = setting.protocol.steps
    etas = setting.protocol.etas(setting.d, setting.p).reshape(-1, len(steps))[eta] if steps else np.zeros(0)
    history = [(Q, M)]
    for step, n, size in zip(steps, setting.protocol.sizes(), etas.tolist(), strict=True):
        history.append(_stepped(setting, step, n, size, *history[-1], a))
    return Evolution(np.stack([Q for Q, _ in history]), np.stack([M for _, M in history]), a, "theory")


REFUSALS = (
    only_gaussian(NAME),
    Refusal(
        f"{NAME} needs fresh batches, since with reused ones labels and weights depend on each other",
        lambda s: any(step.batch == "reuse" for step in s.protocol.steps), with_steps(batch="fresh"),
        "batch='fresh' in every step",
    ),
    Refusal(
        f"{NAME} covers deflate = 0 or 1", lambda s: any(step.deflate > 1 for step in s.protocol.steps), with_steps(deflate=1),
        "deflate=1 in every step",
    ),
    own_weights(NAME),
    Refusal(
        f"{NAME} needs a width far below d, not {{p}} + {{rank}} against {{d}}", lambda s: not is_narrow(s),
        lambda s: with_dimension(s, 10 * (s.p + s.target.rank)), "d of at least 10 (p + r)",
    ),
)  # fmt: skip


def check(setting: Setting) -> None:
    """Refuse, in one sentence, a protocol or network the evolution does not cover."""
    refuse(setting, REFUSALS, NAME)


def overlaps_of(
    setting: Setting, seed: int, start: str
) -> tuple[Float[np.ndarray, "p p"], Float[np.ndarray, "p r"], Float[np.ndarray, " p"]]:
    """Q, M and a before the first step: the seed's own, or those of the limit."""
    network, r = setting.network, setting.target.rank
    if start == "draw":
        W, a = draw.weights(setting, seed)
        return W @ W.T, W @ setting.target.orthonormal(setting.d).T, a
    pairs = draw.paired(setting, np.eye(network.drawn))  # rows of orthogonal neurons, in a space of their own
    return pairs @ pairs.T, np.zeros((network.width, r)), draw.second_layer(setting, seed)


def _stepped(
    setting: Setting,
    step: GiantStep,
    n: int,
    eta: float,
    Q: Float[np.ndarray, "p p"],
    M: Float[np.ndarray, "p r"],
    a: Float[np.ndarray, " p"],
) -> tuple[Float[np.ndarray, "p p"], Float[np.ndarray, "p r"]]:
    p, target, sigma = setting.p, setting.target, setting.network.activation
    omega, root = root_of(Q, M)
    z = points(root.shape[1]) @ root.T
    y = labels(setting, z[:, p:])
    residual = y - y.mean() if step.deflate else y
    if step.residual == "full":
        residual = residual - setting.network.factor * np.asarray(sigma(z[:, :p])) @ a
    slope = sigma.hermite(1)[1] + 0 * z[:, :p] if step.update == "rank1" else np.asarray(sigma.slope(z[:, :p]))
    D = eta * setting.network.factor * a * slope
    b = (D * residual[:, None]).T @ z / len(z)
    V = D.T @ (D * (residual**2 + target.noise**2)[:, None]) / len(z)
    grown = Q + b[:, :p] + b[:, :p].T + b @ np.linalg.pinv(omega, rcond=NULL, hermitian=True) @ b.T
    return grown + (setting.d - root.shape[1]) / n * V, M + b[:, p:]


def root_of(
    Q: Float[np.ndarray, "p p"], M: Float[np.ndarray, "p r"]
) -> tuple[Float[np.ndarray, "pr pr"], Float[np.ndarray, "pr k"]]:
    """Omega = R R^T with R (p + r, k), k = rank Omega."""
    omega = np.block([[Q, M], [M.T, np.eye(M.shape[1])]])
    values, vectors = np.linalg.eigh(omega)
    large = values > NULL * values[-1]
    return omega, vectors[:, large] * np.sqrt(values[large])


def labels(setting: Setting, z: Float[np.ndarray, "points r"]) -> Float[np.ndarray, " points"]:
    """f*(z) at orthonormal coordinates z (points, r), without noise."""
    mix = setting.target.mixing
    return np.asarray(setting.target(np.ascontiguousarray((z if mix is None else z @ mix.T).T)), dtype=float)


@lru_cache(maxsize=4)
def points(dimension: int, count: int = POINTS) -> Float[np.ndarray, "count dimension"]:
    """Standard normal points (count, dimension): scrambled Sobol with their mirror images, so that odd moments vanish, and
    whitened, so that the second ones are exact."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    half = ndtri(qmc.Sobol(dimension, rng=np.random.default_rng(0)).random(count // 2))
    half = np.linalg.solve(np.linalg.cholesky(half.T @ half / len(half)), half.T).T
    return np.concatenate([half, -half])


def readout(setting: Setting, at: Evolution, penalties: Float[np.ndarray, " L"]) -> dict[str, Float[np.ndarray, " L"]]:
    """Ridge on the final features with many samples: errors (L,), corrections of relative order p/n left out.

    b = (E[phi phi^T] + lam)^{-1} E[phi y],    test error = E (y - b phi)^2 + noise^2 = training error

    With phi = m + psi, E psi = 0, however long m is: b = R (E[psi y] + u m), R = (E[psi psi^T] + lam)^{-1}, where u = E y - m.b,
    what the fit leaves of the mean, is (E y - m^T R E[psi y])/(1 + m^T R m).
    """
    Q, M = at.Q[-1], at.M[-1]
    _, root = root_of(Q, M)
    z = points(root.shape[1]) @ root.T
    value, constant = setting.network.activation.split
    F, y = np.asarray(value(z[:, : setting.p])), labels(setting, z[:, setting.p :])
    m, mean = F.mean(axis=0), y.mean()
    F, y = F - m, y - mean
    values, vectors = np.linalg.eigh(F.T @ F / len(F))
    values = np.maximum(values, 0.0)
    c, m = vectors.T @ (F.T @ y) / len(F), vectors.T @ (m + constant)
    safe = np.maximum(values + penalties[:, None], 1e-12 * values[-1])
    u = (mean - c / safe @ m) / (1 + m / safe @ m)
    b = (c + u[:, None] * m) / safe
    error = np.mean(y**2) - 2 * b @ c + (b**2) @ values + u**2 + setting.target.noise**2
    return {"test_error": error, "train_error": error, "train_objective": error + penalties * np.sum(b**2, axis=1)}

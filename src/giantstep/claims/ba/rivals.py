"""One step of gradient descent and its three rivals: ridge regression on the inputs, random features, and the kernel.

Each at the penalty with the least predicted test error, predicted and simulated.
"""

from typing import TYPE_CHECKING, NamedTuple

import giantstep as gs

if TYPE_CHECKING:
    import numpy as np

    from giantstep.setting import Setting
    from giantstep.target import Target

METHODS = ("giant step", "small step", "random features", "ridge on the inputs", "kernel")
WIDTH = 2  # p/d
SMALL = 1.0  # a step of order one, in the units of Ba et al.


class Best(NamedTuple):
    """The least predicted test error and its penalty."""

    error: float
    penalty: float


def target() -> "Target":
    return gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5)


def floor() -> float:
    """The error of the best linear predictor: E f*^2 beyond degree one, plus the noise."""
    t = target()
    return t.power - t.hermite.mass(0) - t.hermite.mass(1) + t.noise**2


def etas(p: int) -> tuple[float, float, float]:
    """Giant, small and no step, in the units of Ba et al., where eta = O(1) leaves the features Gaussian."""
    return p**0.5, SMALL, 0.0


def experiment(d: int, ratio: float, penalties: list[float], steps: int = 3) -> "Setting":
    """The preset at n = ratio d and p = 2d with the first so many of the step sizes."""
    p = WIDTH * d
    sizes: list[float] = list(etas(p)[:steps])
    return gs.presets.ba(round(ratio * d), d, p, sizes, penalties, target=target(), activation="relu")  # type: ignore[arg-type]


def predicted(d: int, ratio: float) -> dict[str, Best]:
    """Every method at its best penalty."""
    import numpy as np

    from giantstep.theory import features
    from giantstep.theory.bulk import shape

    grid = np.geomspace(0.01, 30, 16)
    setting = experiment(d, ratio, grid.tolist(), steps=2)
    of, rest = shape(setting.network.activation, round(ratio * d), d, setting.p), floor()  # c*_1 = 1, the rest is noise
    curves = [
        *gs.theory(setting).test_error,
        features.random_features(of, grid, 1.0, rest).test,
        features.linear_regression(of.phi, grid, 1.0, rest).test,
        features.kernel(of.phi, of.linear, of.rest, grid, 1.0, rest).test,
    ]
    return {m: Best(float(c.min()), float(grid[np.argmin(c)])) for m, c in zip(METHODS, curves, strict=True)}


def measured(d: int, ratio: float, best: dict[str, Best], seeds: int) -> dict[str, "np.ndarray"]:
    """Test errors at those penalties, one a seed; all methods see the same samples."""
    import numpy as np

    network = METHODS[:3]
    setting = experiment(d, ratio, [best[m].penalty for m in network])
    outcome = gs.simulate(setting, seed=range(seeds), n_test=2000)
    found = {m: outcome.test_error[i, i] for i, m in enumerate(network)}
    for m, fit in (("ridge on the inputs", _inputs), ("kernel", _kernel)):
        found[m] = np.array([fit(setting, seed, best[m].penalty) for seed in range(seeds)])
    return found


def _samples(setting: "Setting", seed: int) -> tuple:
    """The readout's samples, and a test set with labels free of noise."""
    from giantstep import draw

    return *draw.rows(setting, seed, draw.readout_batch(setting)), *draw.rows(setting, seed, draw.test_batch(2000))


def _inputs(setting: "Setting", seed: int, penalty: float) -> float:
    X, y, Xt, yt = _samples(setting, seed)
    b = gs.ridge(X, y, penalty).coefficients
    return float(((yt - Xt @ b) ** 2).mean() + setting.target.noise**2)


def _kernel(setting: "Setting", seed: int, penalty: float) -> float:
    """(1/n) ||y - f||^2 + (penalty/d) ||f||^2 with the kernel of infinitely many ReLU neurons."""
    import numpy as np

    X, y, Xt, yt = _samples(setting, seed)
    n, d = X.shape
    weights = np.linalg.solve(relu_kernel(X, X) + n * penalty / d * np.eye(n), y)
    return float(((yt - relu_kernel(Xt, X) @ weights) ** 2).mean() + setting.target.noise**2)


def relu_kernel(A: "np.ndarray", B: "np.ndarray") -> "np.ndarray":
    """E relu(<w, x>) relu(<w, x'>) = ||x|| ||x'|| (sin t + (pi - t) cos t) / (2 pi d), w ~ N(0, I/d), t the angle."""
    import numpy as np

    lengths = np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))
    cosine = np.clip(A @ B.T / lengths, -1, 1)
    angle = np.arccos(cosine)
    return lengths * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi * A.shape[1])

"""The experiment of the single step on labels without their linear part, and its two errors: as printed, and the risk."""

from typing import TYPE_CHECKING

import giantstep as gs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from giantstep.setting import Setting

FORMULA = "(x1 + H2(x1)/2 + H4(x1)/24 + x2 + H2(x2)/2 + H4(x2)/24)/2"
D, P, N_TEST = 512, 1024, 100_000


def experiment(n: int, d: int = D, p: int = P, steps: int = 1) -> "Setting":
    """f(x) = p^(-1/2) sum a_i relu(<w_i, x>), a_i ~ N(0, 1/p), eta = 10 sqrt(n p), sum (y - f)^2 + ||a||^2 on the same batch."""
    step = gs.GiantStep(n, 10 * (n * p) ** 0.5, residual="full", deflate=2)
    readout = gs.Ridge(n, p / n, batch="reuse" if steps else "fresh", deflate=2)
    network = gs.Network(p, "relu", rows="gaussian", scale="1/p")
    return gs.Setting(gs.Gaussian(d), gs.target(FORMULA), network, gs.Protocol((step,) * steps, readout))


def errors(settings: "Sequence[Setting]", seed: int, n_test: int = N_TEST, dtype: str = "float32") -> "np.ndarray":
    """As printed, and the risk, (settings, 2), from one pass through one test batch.

    As printed, the mean and linear part of the test labels are estimated on the test labels; the risk takes those of the
    training batch, which the prediction has.
    """
    import numpy as np

    from giantstep import _features, _train, draw
    from giantstep._plan import make_plan

    found, held, theirs, test = [], (), None, draw.test_batch(n_test)
    for setting in settings:
        plan = make_plan(setting, 1, n_test, np.dtype(dtype).itemsize, None)
        run = _train.Run(setting, (seed,), plan, np.dtype(dtype), lambda work: None, held, host=True).holding(test)
        held = run.held
        theirs = theirs or _train.linear_part(run, test, 2)
        run = run.holding_the_last()
        family = _features.NetworkFeatures(_features.Neurons(run.sigma), _train.train(run).layers)
        ours = _train.linear_part(run, draw.readout_batch(setting), 2)
        b = [fit.coefficients for fit in _features.fit(run, family, False, ours)]
        found.append(_features.test(run, family, b, n_test, [theirs, ours])[0][:, 0, 0, 0])
    return np.array(found)


def both(sizes: tuple[int, ...], d: int, p: int, seed: int, n_test: int) -> "np.ndarray":
    """``errors`` of the experiments with so many samples."""
    return errors([experiment(n, d, p) for n in sizes], seed, n_test)

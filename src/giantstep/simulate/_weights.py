"""The weights of one seed for your own measurements: after the steps, or as a network after the readout."""

from dataclasses import dataclass

import numpy as np

from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._machine.backend import alone, full_precision
from giantstep._machine.memory import check
from giantstep._training import first_layer
from giantstep._training.batches import Batches
from giantstep._training.job import DTYPES
from giantstep._training.plan import make_plan, runs_on_numpy
from giantstep._training.source import RANDOM, resolved
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.network import Network
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.ridge import ridge


@dataclass(frozen=True)
class Trained:
    """The weights of one seed.

    Attributes:
        initial: W before the first step (p x d).
        second_layer: a (p).
        descent: minus the gradient of the first step (p x d); None without steps.
        final: W after all steps; a first axis of step sizes when the protocol lists them.
    """

    initial: np.ndarray
    second_layer: np.ndarray
    descent: np.ndarray | None
    final: np.ndarray


@alone()
@given(setting=a(Setting), seed=at_least(0), dtype=one_of(*DTYPES), memory=number(1e-3), random=one_of(*RANDOM))
def train(
    setting: Setting, seed: int = 0, *, dtype: str = "float64", memory: float | None = None, random: str = "auto"
) -> Trained:
    """Train the weights of one seed, for your own measurements; there is no readout and no test.

    ``dtype``, "float64" or "float32", is the type of the matrix products and of the weights returned; ``random`` says who draws
    the random numbers, as in ``simulate``.

    Examples:
        >>> trained = gs.simulate.train(gs.presets.ba(n=60, d=30, N=20, eta=1.0, penalty=0.1))
        >>> trained.initial.shape, trained.final.shape
        ((20, 30), (20, 30))
    """
    plan = make_plan(setting, 1, 2, 8 if dtype == "float64" else 4, memory)
    device = resolved(random, setting) == "device"
    host = not device and runs_on_numpy(setting, plan, 1, 0)
    with full_precision():
        trained = first_layer.train(first_layer.start(setting, (seed,), plan, dtype, host=host, device=device))
    several = any(step.listed for step in setting.protocol.steps)
    final = np.stack([np.asarray(trained.layers[e][0]) for e in range(len(trained.layers))])
    descent = None if trained.descent is None else np.asarray(trained.descent[0])
    return Trained(np.asarray(trained.W0[0]), np.asarray(trained.a[0]), descent, final if several else final[0])


@given(setting=a(Setting), seed=at_least(0), memory=number(1e-3), random=one_of(*RANDOM))
def network(setting: Setting, seed: int = 0, *, memory: float | None = None, random: str = "auto") -> Network:
    """The network of one seed after all steps and after the readout, if there is one, with its trained weights.

    After a readout its second layer is b and its scale 1, so that f is the prediction. The setting must have one step size and
    one penalty. ``random`` says who draws the random numbers, as in ``simulate``.

    Examples:
        >>> s = gs.presets.ba(n=60, d=30, N=20, eta=1.0, penalty=0.1)
        >>> trained = gs.simulate.network(s)
        >>> trained.width, trained.scale
        (20, '1')
    """
    if any(step.listed for step in setting.protocol.steps):
        raise InputError("simulate.network takes one step size: this protocol lists several")
    trained = train(setting, seed, memory=memory, random=random)
    own, readout = setting.network, setting.protocol.readout
    if readout is None:
        weights = (trained.final, trained.second_layer)
        return Network(own.width, own.activation, scale=own.scale, weights=weights)
    if not isinstance(readout, Ridge):
        raise InputError("simulate.network takes a ridge readout or none: use simulate for SGD")
    if isinstance(readout.penalty, tuple):
        raise InputError("simulate.network takes one penalty: this readout lists several")
    if readout.deflate:
        raise InputError(
            "simulate.network takes a readout without deflate, whose prediction would be a network plus a linear part"
        )
    batch = draw.readout_batch(setting)
    needed = 8.0 * (2 * batch.n * (own.width + setting.d) + own.width**2)
    check(needed, memory, lambda share: f"a readout of {max(int(batch.n * share), 1)} samples")
    X, y = _rows(setting, seed, batch, resolved(random, setting))
    fit = ridge(np.asarray(own.activation(X @ trained.final.T)), y, readout.penalty)
    return Network(own.width, own.activation, scale="1", weights=(trained.final, np.asarray(fit.coefficients)))


def _rows(setting: Setting, seed: int, batch: draw.Batch, random: str) -> tuple[np.ndarray, np.ndarray]:
    if random == "host":
        return draw.rows(setting, seed, batch)
    drawn = Batches(setting, (seed,), batch.n, 0, np.dtype(float), device=True).whole(batch)
    return np.asarray(drawn.X)[0], np.asarray(drawn.y)[0]

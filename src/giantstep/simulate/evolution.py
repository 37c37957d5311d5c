"""The overlaps of one seed after every giant step, by the method of ``overlap``, in a time that does not depend on d."""

import numpy as np

from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._machine.backend import alone, one_blas_thread
from giantstep._training.first_layer import start
from giantstep._training.job import DTYPES
from giantstep._training.plan import runs_on_numpy
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.results.trajectory import Evolution
from giantstep.simulate import _cost as cost
from giantstep.simulate import _overlap as overlap


@alone()
@given(setting=a(Setting), seed=at_least(0), dtype=one_of(*DTYPES), memory=number(1e-3))
def evolution(setting: Setting, seed: int = 0, *, dtype: str = "float64", memory: float | None = None) -> Evolution:
    """Simulate the overlaps before the first step and after every step; ``theory.evolution`` predicts the same.

    Args:
        setting: giant steps of one size each on isotropic Gaussian data, with fresh or reused batches; its readout is not used.
        seed: the seed of the weights and the batches, as in ``simulate(setting, seed, method="overlap")``.
        dtype: "float64", or "float32" for the matrix products (what they are put together to stays in float64).
        memory: GiB to stay within.

    Examples:
        >>> step = gs.GiantStep(2000, 6.0)
        >>> s = gs.Setting(gs.Gaussian(1000), "x1 + x1*x2", gs.Network(4, "relu", scale="1/p"), gs.Protocol((step, step)))
        >>> gs.simulate.evolution(s).shares.shape  # before the first step and after each, neurons, directions
        (3, 4, 2)
    """
    if any(step.listed for step in setting.protocol.steps):
        raise InputError("simulate.evolution takes one step size: this protocol lists several")
    precision = np.dtype(dtype)
    plan = cost.plan(setting, 1, 2, precision.itemsize, memory)
    run = start(setting, (seed,), plan, precision, host=runs_on_numpy(setting, plan, 1, 0))
    a, r = draw.second_layer(setting, seed), setting.target.rank
    with one_blas_thread():
        layers = [np.asarray(branches[0].layers[0][0]) for branches in overlap.walk(run, a[None])]
    return Evolution(np.stack([W @ W.T for W in layers]), np.stack([W[:, :r] for W in layers]), a, "simulate")

"""The experiment of these claims: y = tanh(2 x1), one step of size eta~ = eta/sqrt(p),
and the kernel of the features."""

import numpy as np

import giantstep as gs
from giantstep.experiment import draw
from giantstep.measure.kernel_modes import KernelModes
from giantstep.simulate import train
from giantstep.systems.function_space.simulate import direction
from giantstep.theory import kernel

TARGET = "tanh(2*x1)"
SMOOTH = "tanh(x+0.8)"  # a smooth activation with a mean and a quadratic part
ACTIVATIONS = ("relu", SMOOTH)
WIDTH = 8  # p/d
TITLES = {"relu": "ReLU", SMOOTH: "tanh(x + 0.8)", "tanh": "tanh"}
NUMBERS = ("radial", "aligned", "transverse", "mixing")


def setting(
    activation: str, d: int, ratio: float, etas: tuple[float, ...], second_layer: str
) -> gs.Setting:
    """n = ratio d samples; step sizes eta = eta~ sqrt(p), since the scale of the network is
    1/sqrt(p)."""
    p = WIDTH * d
    step = gs.GiantStep(int(ratio * d), tuple(e * p**0.5 for e in etas))
    network = gs.Network(p, activation, rows="gaussian", second_layer=second_layer)
    return gs.Setting(gs.Gaussian(d), gs.target(TARGET), network, gs.Protocol((step,)))


def numbers(modes: KernelModes) -> list[float]:
    """The top radial and the aligned eigenvalue, the transverse one,
    and the mixing angle in degrees."""
    values = modes.values
    return [
        float(values[modes.constant]),
        float(values[modes.aligned]),
        float(modes.transverse or 0.0),
        modes.mixing,
    ]


def measured(
    activation: str, d: int, ratio: float, etas: tuple[float, ...], law: str, seed: int
) -> np.ndarray:
    """The numbers before the step and after a step of every size, (1 + etas, numbers)."""
    case = setting(activation, d, ratio, etas, law)
    layers, u = train(case, seed), direction(case, seed)
    return np.array(
        [numbers(gs.measure.kernel(W, activation, u)) for W in (layers.initial, *layers.final)]
    )


def given(case: gs.Setting, seed: int) -> tuple[np.ndarray, float]:
    """A network's own second layer and its batch's own ||beta||, known before a weight is."""
    X, y = draw.rows(case, seed, draw.step_batches(case)[0])
    return draw.second_layer(case, seed), float(np.linalg.norm(X.T @ y / len(y)))


def predicted(case: gs.Setting, seed: int | None = None, *, rho: bool = True) -> np.ndarray:
    """The same numbers by theory, from the laws or given a seed's second layer and ||beta||."""
    a, beta = (None, None) if seed is None else given(case, seed)
    laws = kernel.kernel(case, rho, second_layer=a, beta=beta)
    assert isinstance(laws, tuple)  # a list of step sizes was given
    return np.array([numbers(laws[0].before), *(numbers(each.after) for each in laws)])


def layer(case: gs.Setting, seed: int, *, rho: bool) -> tuple[float, ...]:
    """Spread, top eigenvalue, overlap and edge of the first layer by theory given a seed,
    at the only step size."""
    (law,) = kernel.rows(case, rho, *given(case, seed))
    return tuple(kernel.layer(case, law))

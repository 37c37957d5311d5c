"""A setting in words: one line for the data, the target, the network, the steps and the readout."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.protocol import SGD, GiantStep, Power

if TYPE_CHECKING:
    from giantstep.experiment.setting import Setting
    from giantstep.experiment.target import Target

MOST = 6  # numbers of a list that are shown


def lines(setting: "Setting") -> list[tuple[str, str]]:
    """The parts of a setting and what they are."""
    network, protocol = setting.network, setting.protocol
    kind = ", ".join(word for word in (network.activation.name, _rest(network)) if word)
    parts = [
        ("data", _data(setting.data)),
        ("target", target_line(setting.target)),
        ("network", f"{network.width} neurons, {kind}"),
        ("steps", _steps(protocol.steps)),
    ]
    return [*parts, ("readout", _readout(protocol.readout))]


def target_line(target: "Target") -> str:
    """The formula, with the noise and the directions if there are any."""
    noise = f", noise {target.noise:g}" if target.noise else ""
    directions = (
        f", along {target.rank} given direction{'s' * (target.rank > 1)}" if target.directions is not None else ""
    )
    return f"{target.name}{noise}{directions}"


def _data(data: Any) -> str:
    if isinstance(data, Mixture):
        count = len(data.components)
        return f"mixture of {count} component{'s' * (count > 1)}, d = {data.d}"
    if isinstance(data, Dataset):
        classes = "" if data.regression else f", classes {', '.join(map(str, data.classes))}"
        return f"{data.name}{classes}, d = {data.d}"
    return f"Gaussian, d = {data.d}"


def _rest(network: Any) -> str:
    """The options that are not the defaults."""
    words = [] if network.scale == "1/sqrt(p)" else [f"scale {network.scale}"]
    words += [] if network.rows == "sphere" else [f"{network.rows} rows"]
    words += [] if network.second_layer == "gaussian" else [f"{network.second_layer} second layer"]
    words += ["symmetric"] if network.symmetric else []
    return ", ".join([*words, *(["weights of its own"] if network.weights is not None else [])])


def _steps(steps: tuple[GiantStep, ...]) -> str:
    if not steps:
        return "none"
    each = [_step(step) for step in steps]
    same = f"{len(steps)} × ({each[0]})" if len(steps) > 1 else each[0]
    return same if len(set(each)) == 1 else "; ".join(each)


def _step(step: GiantStep) -> str:
    samples = "the batch before" if step.batch == "reuse" else f"n = {step.n}"
    return f"{samples}, eta = {_eta(step.eta)}"


def _eta(eta: Any) -> str:
    if isinstance(eta, Power):
        times = "" if eta.times == 1 else f"{eta.times:g} "
        alpha = _numbers(eta.alpha)
        return f"{times}{eta.of}^{alpha}" if np.ndim(eta.alpha) == 0 else f"{times}{eta.of}^({alpha})"
    return _numbers(eta)


def _readout(readout: Any) -> str:
    if readout is None:
        return "none"
    samples = "the batch of the last step" if readout.batch == "reuse" else f"n = {readout.n}"
    name = "SGD" if isinstance(readout, SGD) else "ridge"
    return f"{name}, {samples}, {readout.axis} = {_numbers(readout.path)}"


def _numbers(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Iterable):
        return f"{value:.4g}"
    every = [f"{each:.4g}" for each in value]
    return ", ".join(every if len(every) <= MOST else [*every[: MOST // 2], "…", *every[-MOST // 2 :]])

"""Attacks measured: one gradient step on inputs of random networks, or of the networks of a setting after training."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from giantstep._machine import memory
from giantstep._machine.random import Stream, generator, normals
from giantstep.experiment import draw
from giantstep.experiment.network import Network, Weights
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.results.system import Curve, Number, Reading
from giantstep.simulate._weights import network as trained
from giantstep.systems.attack import ray

if TYPE_CHECKING:
    from giantstep.systems.attack import Attack

UNIT = 1.0  # the move after which the gradient is compared


def random_network(attack: "Attack", width: int, seed: int, number: int) -> tuple[Network, Float[np.ndarray, "1 d"]]:
    """A network of the paper's law, and an input uniform on the sphere of radius sqrt(d)."""
    assert attack.d is not None
    W = normals(seed, (Stream.ROWS, number), 0, width, attack.d) / np.sqrt(attack.d)
    a = np.where(generator(seed, Stream.SECOND_LAYER, number).random(width) < 0.5, -1.0, 1.0)
    x = normals(seed, (Stream.TEST, number), 0, 1, attack.d)
    return Network(width, attack.activation, weights=Weights(W, a)), x * (np.sqrt(attack.d) / np.linalg.norm(x))


def flips(rays: ray.Rays, etas: tuple[float, ...]) -> Bool[np.ndarray, "n etas"]:
    """Whether steps of these sizes flip the sign, (inputs, etas)."""
    return np.stack([rays.output * rays.at(eta * rays.length) < 0 for eta in etas], axis=1)


def changes(rays: ray.Rays, V: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    """||grad f(x + u) - grad f(x)||^2 at every input, for u the unit vector of its ray and for v/||v||, v a row of V."""
    network = rays.network
    W, a = network.weights.W, network.factor * network.weights.a
    slope = rays.slopes_at(np.zeros(len(rays.z)))
    across = UNIT * (V / np.linalg.norm(V, axis=1, keepdims=True)) @ W.T
    aside = np.asarray(network.activation.slope(rays.z + across))
    along = rays.slopes_at(np.full(len(rays.z), UNIT))
    return np.stack([np.sum((((moved - slope) * a) @ W) ** 2, axis=1) for moved in (along, aside)], axis=1)


def tried(attack: "Attack", width: int, seed: int, number: int) -> dict[str, np.ndarray | float]:
    """One input of one network."""
    rays = ray.rays(*random_network(attack, width, seed, number))
    V = generator(seed, Stream.STEP, number).standard_normal(rays.gradient.shape)
    change, random_change = changes(rays, V)[0].tolist()
    return {
        "output": rays.output[0] ** 2,
        "gradient": rays.length[0] ** 2,
        "root": rays.roots()[0],
        "flips": flips(rays, attack.etas)[0],
        "change": change,
        "random_change": random_change,
    }


def sample(attack: "Attack", width: int, seed: int) -> dict[str, np.ndarray]:
    """What was found at every network, one row each."""
    assert attack.d is not None
    memory.check(8.0 * 4 * width * attack.d, None, lambda share: f"a width of {max(int(width * share), 1)}")
    each = [tried(attack, width, seed, k) for k in range(attack.networks)]
    return {name: np.array([one[name] for one in each]) for name in each[0]}


def quantile(values: Float[np.ndarray, " n"], level: float) -> Number:
    """The quantile with its standard error: half the distance of the quantiles one standard error around the level."""
    error = (level * (1 - level) / len(values)) ** 0.5
    near = np.quantile(values, np.clip([level - error, level + error], 0, 1))
    return Number(float(np.quantile(values, level)), float(near[1] - near[0]) / 2)


def median(values: Float[np.ndarray, " n"]) -> Number:
    """The median with its standard error."""
    return quantile(values, 0.5)


def measured(attack: "Attack", seed: int) -> Reading:
    """Means over the networks of one seed."""
    if attack.setting is not None:
        return _of_setting(attack, attack.setting, seed)
    samples = [sample(attack, width, seed) for width in attack.widths]
    numbers = [_numbers(attack, one) for one in samples]
    lost = int(sum(np.sum(np.isinf(one["root"])) for one in samples))
    notes = (f"The sign does not change on {lost} rays, which count as infinitely far.",) if lost else ()
    if not isinstance(attack.width, tuple):
        return Reading(numbers[0], _curves(attack, samples[0]), notes)
    curves = {name: _over(attack, [one[name] for one in numbers]) for name in numbers[0]}
    for k, eta in enumerate(attack.etas):
        shares = [Number.of(one["flips"][:, k]) for one in samples]
        curves[f"flips, η = {eta:g}"] = _over(attack, shares)
    return Reading({}, curves, notes)


def _numbers(attack: "Attack", values: dict[str, np.ndarray]) -> dict[str, Number]:
    assert attack.d is not None
    names = ("output", "gradient", "change", "random_change")
    means = {name: Number.of(values[name]) for name in names}
    return {**means, "median": median(values["root"]), "relative": median(values["root"] / attack.d**0.5)}


def _over(attack: "Attack", values: list[Number]) -> Curve:
    y, se = np.array(values, dtype=float).T
    return Curve("width", np.array(attack.widths, dtype=float), y, se, log="x")


def _curves(attack: "Attack", values: dict[str, np.ndarray]) -> dict[str, Curve]:
    flips = Curve("η", np.array(attack.etas), *mean_and_error(values["flips"], axis=0))
    inside = values["root"][:, None] <= np.array(attack.distances)
    within = Curve("distance", np.array(attack.distances), *mean_and_error(inside, axis=0))
    if not attack.failures:
        return {"flips": flips, "within": within}
    needed = np.array([quantile(values["root"], 1 - failure) for failure in attack.failures])
    return {
        "flips": flips,
        "within": within,
        "needed": Curve("failure probability", np.array(attack.failures), needed[:, 0], needed[:, 1], log="x"),
    }


def _of_setting(attack: "Attack", setting: Setting, seed: int) -> Reading:
    """The networks ``seed * networks + k`` of the setting, on the first inputs of their own test sets; errors over networks."""
    rows = [_one(attack, setting, seed * attack.networks + k) for k in range(attack.networks)]
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    inside = np.mean(values["root"][:, :, None] <= np.array(attack.distances), axis=1)
    lost = int(np.sum(np.isinf(values["root"])))
    notes = (f"The sign does not change on {lost} rays, which count as infinitely far.",) if lost else ()
    numbers = {
        "output": Number.of(values["output"].mean(axis=1)),
        "gradient": Number.of(values["gradient"].mean(axis=1)),
        **{name: _clustered(values[key]) for name, key in (("median", "root"), ("relative", "relative"))},
        "untrained": _clustered(values["untrained"]),
    }
    return Reading(
        numbers, {"within": Curve("distance", np.array(attack.distances), *mean_and_error(inside, axis=0))}, notes
    )


def _one(attack: "Attack", setting: Setting, seed: int) -> dict[str, np.ndarray]:
    network = trained(setting, seed)
    X, _ = draw.rows(setting, seed, draw.test_batch(attack.inputs))
    start = Network(network.width, network.activation, scale=setting.network.scale, weights=draw.weights(setting, seed))
    rays, before = ray.rays(network, X), ray.rays(start, X)
    root = rays.roots()
    return {
        "output": rays.output**2,
        "gradient": rays.length**2,
        "root": root,
        "relative": root / np.linalg.norm(X, axis=1),
        "untrained": before.roots(),
    }


def _clustered(values: Float[np.ndarray, "networks inputs"]) -> Number:
    """The median over all inputs, with the standard error of medians over networks."""
    error = (
        1.2533 * float(mean_and_error(np.median(values, axis=1))[1]) if values.shape[1] > 1 else median(values[:, 0]).se
    )
    return Number(float(np.median(values)), error)

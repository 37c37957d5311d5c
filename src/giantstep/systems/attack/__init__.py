"""Attack: one gradient step on the input, and the system of networks that it is tried on.

delta = eta grad f(x), the sign of eta opposite to that of f: on random two-layer networks a step of length ~1 flips the sign of f
though ||x|| = sqrt(d) (Bubeck, Cherapanamjeri, Gidel and Tachet des Combes 2021, arXiv 2104.03863).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float, Int

from giantstep._given.callable import callable_module
from giantstep._given.declared import given, number
from giantstep._given.plain import build, reals, settle, several, whole
from giantstep.errors import InputError
from giantstep.experiment.layers import Layers
from giantstep.experiment.setting import Setting
from giantstep.functions.activation import activation as read_activation
from giantstep.results.system import System
from giantstep.systems.attack.margin_ray import MarginRays, margin_chunks
from giantstep.systems.attack.ray import REACH

ETAS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
DISTANCES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Attacked:
    """What the step did to n inputs; arrays of length n unless said otherwise.

    Attributes:
        perturbation: delta, (n, d).
        relative: ||delta||/||x||.
        flipped: whether f(x + delta) has the other sign.
        before: f(x).
        after: f(x + delta).
        eta: the step, with its sign.
        gradient: ||grad f(x)||.
        root: distance from x to the first change of sign along the ray x - sign(f) t grad f/||grad f||; infinite where none was
            found within ``reach`` first-order distances |f|/||grad f||.
        notes: sentences on inputs that have no answer.
        decision: of a network with several outputs the class with the largest output before the step; then ``before`` and
            ``after`` are by how much that class is ahead, ``gradient`` and ``eta`` are of this margin, and ``flipped`` and
            ``root`` are of the first change of class. None for one output.
        reached: the class with the largest output after the step. None for one output.
    """

    perturbation: Float[np.ndarray, "n d"] = field(repr=False)
    relative: Float[np.ndarray, " n"]
    flipped: Bool[np.ndarray, " n"]
    before: Float[np.ndarray, " n"]
    after: Float[np.ndarray, " n"]
    eta: Float[np.ndarray, " n"]
    gradient: Float[np.ndarray, " n"]
    root: Float[np.ndarray, " n"]
    notes: tuple[str, ...] = ()
    decision: Int[np.ndarray, " n"] | None = None
    reached: Int[np.ndarray, " n"] | None = None


@given(eta=number(0.0), reach=number(0.0))
def attack(network: Any, x: npt.ArrayLike, eta: float | None = None, *, reach: float = REACH) -> Attacked:
    """One gradient step on given inputs, and where the sign changes along its ray.

    Args:
        network: with weights of its own: ``gs.Network(p, "relu", weights=(W, a))``, what ``gs.simulate.network(setting, seed)``
            returns, trained or not, ``gs.Layers(W, A, ...)`` with biases and several outputs, or a fitted MLP of scikit-learn
            with one hidden layer.
        x: inputs, (n, d) or one of length d.
        eta: size of the step; its sign is set against that of f. None takes 2 |f|/||grad f||^2, which to first order
            turns f into -f. With several outputs f is the margin to the nearest other class.
        reach: how far to look for the change of sign, in first-order distances.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> W, a = rng.standard_normal((30, 20)) / 20**0.5, rng.choice([-1.0, 1.0], 30)
        >>> found = gs.attack(gs.Network(30, "relu", weights=(W, a)), rng.standard_normal((5, 20)))
        >>> found.root.shape  # the distance to the change of sign
        (5,)
    """
    layers = Layers.of(network)
    if layers.activation.jumps:
        raise InputError(f"attack follows a gradient, and {layers.activation.name!r} has no useful one")
    X = layers.inputs(x, "x")
    parts = [_part(rays, eta, reach) for rays in margin_chunks(layers, X)]
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    lengths = np.linalg.norm(X, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.abs(values["eta"]) * values["gradient"] / lengths
    return Attacked(relative=relative, notes=_notes(values), **values)


def _full(value: Float[np.ndarray, " n"], length: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """2 |f|/||grad f||^2, and 0 without a gradient."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length > 0, 2 * np.abs(value) / length**2, 0.0)


def _part(rays: MarginRays, eta: float | None, reach: float) -> dict[str, np.ndarray]:
    """The step on some inputs: with one output before and after are f itself, with several the margin."""
    size = _full(rays.margin, rays.length) if eta is None else np.full(len(rays.margin), eta)
    moved, after = size * rays.length, rays.at(size * rays.length)
    one = rays.network.outputs == 1
    sign = np.where(rays.decision == 1, 1.0, -1.0) if one else np.ones(len(size))
    values = {
        "perturbation": -size[:, None] * rays.gradient,
        "flipped": after < 0,
        "before": sign * rays.at(np.zeros(len(size))),
        "after": sign * after,
        "eta": -sign * size,
        "gradient": rays.length,
        "root": rays.roots(reach),
    }
    reached = {"decision": rays.decision, "reached": np.argmax(rays.outputs_at(moved), axis=1)}
    return values if one else values | reached


def _notes(values: dict[str, np.ndarray]) -> tuple[str, ...]:
    counts = {
        "not finite: the output or gradient at {} inputs": ~np.isfinite(values["before"] + values["gradient"]),
        "the gradient vanishes at {} inputs: they have no ray": values["gradient"] == 0,
        "no change of sign was found on the rays of {} inputs": np.isinf(values["root"]) & (values["gradient"] > 0),
    }
    return tuple(sentence.format(int(np.sum(of))) for sentence, of in counts.items() if np.any(of))


@given()
@dataclass(frozen=True)
class Attack(System):
    """One gradient step on inputs of many networks: random ones as in the paper, or those of a setting.

    Attributes:
        d: dimension; inputs are uniform on the sphere of radius sqrt(d).
        width: neurons p, or a list of widths; rows N(0, I/d), second layer +-1, scale 1/sqrt(p).
        activation: a name or a formula.
        etas: step sizes.
        distances: at which the share of inputs is counted whose sign has changed along the ray.
        failures: probabilities; the curve ``needed`` is the distance that changes the sign of a random network but for them.
        networks: how many for a seed, one input each.
        setting: instead of d, width and activation: the networks of a setting after its steps and its readout, on inputs of
            its own data; what is said is then of the distances alone.
        inputs: of every network of a setting.

    Examples:
        >>> attack = gs.Attack(d=50, width=200, activation="tanh", networks=50)
        >>> simulated, predicted = gs.simulate(attack, seed=0), gs.theory(attack)
        >>> sorted(simulated.numbers.keys() & predicted.numbers.keys())
        ['change', 'gradient', 'median', 'output', 'random_change', 'relative']
    """

    kind: ClassVar[str] = "attack"
    words: ClassVar[Mapping[str, str]] = {
        "gradient": "mean of ||grad f||^2",
        "output": "mean of f^2",
        "median": "median distance to the other sign",
        "relative": "the same relative to ||x||",
        "change": "gradient change after a unit move along it",
        "random_change": "gradient change after a unit move at random",
        "flips": "share of signs flipped by one step",
        "within": "share of signs changed along the ray",
        "needed": "distance that changes the sign but for this probability",
        "untrained": "median distance before training",
    }

    d: int | None = None
    width: int | tuple[int, ...] | None = None
    activation: Any = "relu"
    etas: tuple[float, ...] = ETAS
    distances: tuple[float, ...] = DISTANCES
    networks: int = 200
    setting: Setting | None = None
    inputs: int = 50
    failures: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        failures = several(self.failures, "failures")
        put(self, "failures", (self.failures,) if failures is None else failures)
        for name in ("etas", "distances", *(("failures",) if self.failures else ())):
            values = reals(getattr(self, name), name, least=0.0)
            values = values if isinstance(values, tuple) else (values,)
            if sorted(set(values)) != list(values):
                raise InputError(f"{name} must increase")
            put(self, name, values)
        if self.failures and not 0 < self.failures[0] <= self.failures[-1] < 1:
            raise InputError("failures must be probabilities between 0 and 1, both excluded")
        settle(self, whole, "networks", least=2)
        settle(self, whole, "inputs")
        put(self, "activation", read_activation(self.activation))
        if self.setting is not None:
            if not isinstance(self.setting, Setting):
                raise InputError(f"setting must be a Setting, not {type(self.setting).__name__}")
            if self.d is not None or self.width is not None:
                raise InputError("d and width are the setting's own: leave them out, or leave out setting")
            return
        if self.d is None or self.width is None:
            raise InputError("an attack needs d and width, or a setting")
        settle(self, whole, "d", least=2)
        put(self, "width", _widths(self.width))
        if self.activation.jumps:
            raise InputError(f"an attack follows a gradient, and {self.activation.name!r} has no useful one")

    @property
    def widths(self) -> tuple[int, ...]:
        """All widths, as a tuple."""
        return self.width if isinstance(self.width, tuple) else (self.width,)  # type: ignore[return-value]

    @classmethod
    def from_plain(cls, data: Any) -> "Attack":
        return build(cls, data, cls.kind, {"setting": lambda value, where: Setting.from_plain(value)})

    def __str__(self) -> str:
        if self.setting is not None:
            return f"attack on the networks of setting {self.setting.id}, {self.networks} of them"
        return (
            f"attack on random {self.activation.name} networks, d = {self.d}, p = {self.width}, {self.networks} of them"
        )


def _widths(width: Any) -> int | tuple[int, ...]:
    entries = several(width, "width")
    if entries is not None:
        widths = tuple(whole(p, "every width") for p in entries)
        if not widths or sorted(set(widths)) != list(widths):
            raise InputError("a list of widths must not be empty and must increase")
        return widths
    return whole(width, "width")


callable_module(__name__, attack)

"""Network: ``f(x) = scale * sum_i a_i sigma(<w_i, x>)``, and how its weights start."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.declared import given
from giantstep._given.plain import PlainNoun, build, choice, flag, numbers, short, whole
from giantstep.errors import InputError
from giantstep.functions.activation import activation

ISOTROPIC = ("sphere", "gaussian")
ROWS = (*ISOTROPIC, "trace")
SECOND_LAYERS = ("gaussian", "rademacher", "constant")
SCALES = ("1/sqrt(p)", "1/p", "1")


@dataclass(frozen=True, eq=False)
class Weights:
    """A user's own first layer W (p x d) and second layer a (p), frozen."""

    W: Float[np.ndarray, "p d"] = field(repr=False)
    a: Float[np.ndarray, " p"] = field(repr=False)

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(self, W: npt.ArrayLike, a: npt.ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        needed = "weights must be finite numbers, W of shape (p, d) and a of shape (p,)"
        W = numbers(self.W, (None, None), needed)
        a = numbers(self.a, W.shape[:1], needed)
        for name, array in (("W", W), ("a", a)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weights) and np.array_equal(self.W, other.W) and np.array_equal(self.a, other.a)

    def __hash__(self) -> int:
        return hash((self.W.shape, self.W.tobytes(), self.a.tobytes()))

    def to_plain(self) -> dict[str, Any]:
        return {"W": self.W.tolist(), "a": self.a.tolist()}


@given()
@dataclass(frozen=True, repr=False)
class Network(PlainNoun):
    """A two-layer network of ``width`` p.

    Attributes:
        width: number of neurons p.
        activation: a name, a formula in x, or a JAX-traceable callable.
        rows: "sphere" (rows uniform on the unit sphere), "gaussian" (entries ``N(0, 1/d)``) or, for a ``Mixture``, "trace"
            (entries ``N(0, 1/Tr Sigma)``, Sigma the covariance of the inputs).
        second_layer: law of ``a_i``, of unit second moment: "gaussian" ``N(0, 1)``, "rademacher" ``+-1``, "constant" 1.
        scale: the factor in front of the sum: "1/sqrt(p)", "1/p" or "1".
        symmetric: neurons in pairs ``(w, a), (w, -a)``, so that the initial output is zero; needs an even width.
        centred: subtract ``E sigma(z)`` from the activation.
        weights: the user's own ``(W, a)`` instead of a draw.

    Examples:
        >>> network = gs.Network(width=200, activation="relu", centred=True)
        >>> network.width, network.activation.name
        (200, 'relu (centred)')
    """

    width: int
    activation: Any  # an Activation once built; a name, formula or callable may be given
    rows: str = "sphere"
    second_layer: str = "gaussian"
    scale: str = "1/sqrt(p)"
    symmetric: bool = False
    centred: bool = False
    weights: Any = None  # Weights once built; a pair (W, a) may be given

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "width", whole(self.width, "width"))
        try:
            sigma = activation(self.activation)
        except InputError as error:
            raise InputError(f"activation: {error}") from None
        put(self, "centred", flag(self.centred, "centred") or sigma.centred)
        put(self, "activation", sigma.centre() if self.centred else sigma)
        choice(self.rows, ROWS, "rows")
        choice(self.second_layer, SECOND_LAYERS, "second_layer")
        choice(self.scale, SCALES, "scale")
        put(self, "symmetric", flag(self.symmetric, "symmetric"))
        if self.symmetric and self.width % 2:
            raise InputError(f"symmetric needs an even width, not {self.width}")
        if self.weights is not None:
            own = self.weights if isinstance(self.weights, Weights) else _own_weights(self.weights)
            if self.symmetric or self.rows != ROWS[0] or self.second_layer != SECOND_LAYERS[0]:
                raise InputError(
                    "weights are given, so rows, second_layer and symmetric have nothing to say: leave them out"
                )
            if own.a.shape != (self.width,):
                raise InputError(f"weights have {own.a.shape[0]} neurons but width is {self.width}")
            put(self, "weights", own)

    @property
    def drawn(self) -> int:
        """The number of neurons that are drawn: half of them in a symmetric network."""
        return self.width // 2 if self.symmetric else self.width

    @property
    def factor(self) -> float:
        """The value of the scale."""
        return {"1/sqrt(p)": self.width**-0.5, "1/p": 1.0 / self.width, "1": 1.0}[self.scale]

    def __repr__(self) -> str:
        return short(self, activation=self.activation.formula or self.activation)

    @staticmethod
    def from_plain(data: Any, where: str) -> "Network":
        return build(Network, data, where, {"weights": lambda v, at: build(Weights, v, at)})


def _own_weights(pair: Any) -> Weights:
    try:
        W, a = pair
    except Exception:  # whatever the object raises
        raise InputError("weights must be a pair (W, a)") from None
    return Weights(W, a)


def canonical(network: Network) -> dict[str, Any]:
    """The plain form with the activation in its canonical text: what the id is made of."""
    data = network.to_plain()
    data["activation"] = network.activation.canonical or data["activation"]
    return data

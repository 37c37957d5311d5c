"""Layers: a user's own two-layer network, with biases and any number of outputs, ``f(x) = A sigma(W x + b) + c``."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.declared import given, text
from giantstep._given.plain import as_numbers, numbers
from giantstep.errors import InputError
from giantstep.experiment.network import Network
from giantstep.functions.activation import activation

MLP = {"identity": "x", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}  # scikit-learn's words for activations


@given()
@dataclass(frozen=True, eq=False)
class Layers:
    """``f(x) = A sigma(W x + b) + c``: p neurons, d inputs and q outputs.

    Attributes:
        W: first layer, (p, d).
        A: second layer, (q, p); an array of length p is one output.
        activation: a name, a formula in x, or a JAX-traceable callable.
        b: biases of the neurons, (p,); None is zero.
        c: biases of the outputs, (q,); None is zero.

    Examples:
        >>> import numpy as np
        >>> layers = gs.Layers(np.eye(2), np.ones(2), "relu")
        >>> layers(np.array([[1.0, -1.0]]))
        array([[1.]])
    """

    W: Float[np.ndarray, "p d"] = field(repr=False)
    A: Float[np.ndarray, "q p"] = field(repr=False)
    activation: Any = "relu"
    b: Float[np.ndarray, " p"] = field(repr=False, default=None)  # type: ignore[assignment]
    c: Float[np.ndarray, " q"] = field(repr=False, default=None)  # type: ignore[assignment]

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            W: npt.ArrayLike,
            A: npt.ArrayLike,
            activation: Any = "relu",
            b: npt.ArrayLike | None = None,
            c: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        W = numbers(self.W, (None, None), "W must be a matrix of finite numbers")
        A = numbers(_rows(self.A), (None, None), "A must be a matrix of finite numbers")
        if A.shape[1] != W.shape[0]:
            raise InputError(f"W has {W.shape[0]} neurons (rows) and A has {A.shape[1]} (columns): they must agree")
        biases = [("b", self.b, len(W)), ("c", self.c, len(A))]
        b, c = (
            np.zeros(n) if given is None else numbers(given, (n,), f"{name} must be {n} finite numbers")
            for name, given, n in biases
        )
        for name, array in (("W", W), ("A", A), ("b", b), ("c", c)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "activation", activation(self.activation))

    @staticmethod
    @given()
    def of(network: Any) -> "Layers":
        """Layers of a ``Network`` with weights of its own, or of a fitted scikit-learn MLP with one hidden layer."""
        if isinstance(network, Layers):
            return network
        if isinstance(network, Network):
            if network.weights is None:
                raise InputError("the network needs weights of its own: write Network(..., weights=(W, a))")
            own = network.weights
            return Layers(own.W, network.factor * own.a, network.activation)
        if hasattr(network, "coefs_") and hasattr(network, "intercepts_"):
            if len(network.coefs_) != 2:
                raise InputError(f"the network must have one hidden layer, not {len(network.coefs_) - 1}")
            (first, second), (b, c) = network.coefs_, network.intercepts_
            return Layers(first.T, second.T, MLP[network.activation], b, c)
        raise InputError(
            "the network must be gs.Layers(W, A, ...), a Network with weights of its own, or a fitted MLP of scikit-learn"
        )

    @property
    def d(self) -> int:
        """The dimension of the inputs."""
        return self.W.shape[1]

    @property
    def p(self) -> int:
        """The number of neurons."""
        return self.W.shape[0]

    @property
    def outputs(self) -> int:
        """The number of outputs q."""
        return self.A.shape[0]

    def __call__(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n q"]:
        """The outputs of the rows of X."""
        return np.asarray(self.activation(X @ self.W.T + self.b)) @ self.A.T + self.c

    @given(what=text)
    def inputs(self, X: npt.ArrayLike, what: str = "X") -> Float[np.ndarray, "n d"]:
        """Rows that the network can take, or a refusal in one sentence."""
        array = as_numbers(X)
        if array is None:
            raise InputError(f"{what} must be numbers of shape (n, {self.d})")
        rows = np.atleast_2d(array.astype(float))
        if rows.ndim != 2 or rows.shape[1] != self.d or not rows.size or not np.all(np.isfinite(rows)):
            raise InputError(f"{what} must be finite numbers of shape (n, {self.d}), not of shape {array.shape}")
        return rows


def _rows(given: Any) -> Any:
    """An array of one axis as one row."""
    array = as_numbers(given)
    return given if array is None else np.atleast_2d(array)

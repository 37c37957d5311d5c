"""Losses of a table's labels, and their Lipschitz constants L1 in the prediction and L2 in the label.

    absolute        ||f - y||                                    L1 = L2 = 1
    huber           ||f - y||^2/2 up to 1, ||f - y|| - 1/2 beyond  L1 = L2 = 1
    square          ||f - y||^2                                  L1 = L2 = 2 max ||f - y||
    logistic        log(1 + exp(-y f)),  y = +1 or -1            L1 = 1,        L2 = max |f|/2
    cross_entropy   log sum_k exp(f_k) - f_y,  y = e_0, e_1, ...  L1 = sqrt(2),  L2 = max_kl |f_k - f_l|/sqrt(2)

Maxima are over the rows of the table: there the constants are theirs, and beyond them an assumption. Classes are unit vectors,
sqrt(2) apart; the labels +1 and -1 are 2 apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.plain import as_numbers, choice, real
from giantstep.errors import InputError
from giantstep.functions import losses

REGRESSION = ("absolute", "huber", "square")
OWN_LOSSES = (*REGRESSION, "logistic", "cross_entropy")
ON_ROWS = ("square", "logistic", "cross_entropy")  # with a maximum over the rows in L1 or L2


@dataclass(frozen=True)
class OwnLoss:
    """A loss by its name, or the user's own function ``(outputs, y) -> losses`` with its constants (L1, L2)."""

    name: str
    function: Callable[[Any, Any], Any] | None = None
    given: tuple[float, float] | None = None

    @staticmethod
    def of(loss: Any, constants: Any) -> "OwnLoss":
        """Read the arguments ``loss`` and ``lipschitz``."""
        if callable(loss):
            try:
                first, second = constants
            except Exception:  # whatever the object raises
                raise InputError(
                    "a loss of your own needs lipschitz=(L1, L2), in the prediction and in the label"
                ) from None
            pair = (real(first, "L1", least=0.0), real(second, "L2", least=0.0))
            return OwnLoss(getattr(loss, "__name__", "own"), loss, pair)
        if constants is not None:
            raise InputError(
                "lipschitz=(L1, L2) belongs to a loss of your own; the constants of a named loss are computed"
            )
        return OwnLoss(choice(loss, OWN_LOSSES, "loss"))

    def labels(self, y: npt.ArrayLike, n: int, outputs: int) -> Float[np.ndarray, "n q"]:
        """The labels as rows: numbers, +1 and -1, or unit vectors of classes."""
        array = as_numbers(y)
        if array is None:
            raise InputError("y must be numbers")
        values = array.astype(float)
        if values.shape[:1] != (n,) or values.ndim > 2 or not np.all(np.isfinite(values)):
            raise InputError(f"y must be finite numbers for {n} rows, not of shape {values.shape}")
        if self.name == "cross_entropy" and self.function is None:
            return _classes(values, outputs)
        values = values[:, None] if values.ndim == 1 else values
        if self.function is None and values.shape[1] != outputs:
            raise InputError(f"the network has {outputs} outputs and y has {values.shape[1]} columns")
        if self.name == "logistic" and self.function is None and (outputs > 1 or not np.all(np.abs(values) == 1)):
            raise InputError("the logistic loss needs one output and labels +1 and -1; classes need 'cross_entropy'")
        return values

    def values(self, f: Float[np.ndarray, "n q"], y: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
        """The loss of every row."""
        if self.function is not None:
            found = np.asarray(self.function(f, y), dtype=float)
            if found.shape != (len(f),) or not np.all(np.isfinite(found)):
                raise InputError(
                    f"your loss must return {len(f)} finite numbers, one for each row, not shape {found.shape}"
                )
            return found
        if self.name == "logistic":
            return np.asarray(losses.value("logistic", f[:, 0], y[:, 0]))
        if self.name == "cross_entropy":
            top = f.max(axis=1, keepdims=True)
            return np.log(np.sum(np.exp(f - top), axis=1)) + top[:, 0] - np.sum(f * y, axis=1)
        size = np.linalg.norm(f - y, axis=1)
        plain = {"absolute": size, "square": size**2, "huber": np.where(size < 1, size**2 / 2, size - 0.5)}
        return plain[self.name]

    def constants(self, f: Float[np.ndarray, "n q"], y: Float[np.ndarray, "n k"]) -> tuple[float, float]:
        """L1 and L2 on the rows."""
        if self.given is not None:
            return self.given
        if self.name == "square":
            most = 2 * float(np.max(np.linalg.norm(f - y, axis=1)))
            return most, most
        if self.name == "logistic":
            return 1.0, float(np.max(np.abs(f))) / 2
        if self.name == "cross_entropy":
            return 2**0.5, float(np.max(np.ptp(f, axis=1))) / 2**0.5
        return 1.0, 1.0

    def constants_up_to(self, height: float) -> tuple[float, float]:
        """L1 and L2 for all outputs with ||f|| <= height: |f| <= height, and |f_k - f_l| <= sqrt(2) height."""
        if self.name == "square" and self.function is None:
            raise InputError("the square loss has no Lipschitz constant before training: take 'absolute' or 'huber'")
        if self.given is not None:
            return self.given
        if self.name == "logistic":
            return 1.0, height / 2
        return (2**0.5, height) if self.name == "cross_entropy" else (1.0, 1.0)


def _classes(values: Float[np.ndarray, "n ..."], outputs: int) -> Float[np.ndarray, "n q"]:
    if outputs < 2:
        raise InputError(
            "cross_entropy needs an output for each class; for one output take 'logistic' with labels +1 and -1"
        )
    if values.ndim != 1 or np.any(values != np.round(values)) or values.min() < 0 or values.max() >= outputs:
        raise InputError(f"cross_entropy needs y as whole numbers from 0 to {outputs - 1}, the classes of the outputs")
    return np.eye(outputs)[values.astype(int)]

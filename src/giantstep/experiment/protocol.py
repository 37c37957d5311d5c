"""Protocol: a few giant gradient steps on the first layer, then a fit of the second, by ridge or by SGD."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import given, one_of
from giantstep._given.plain import PlainNoun, build, choice, flag, real, reals, settle, several, whole
from giantstep.errors import InputError, quoted

BATCHES = ("fresh", "reuse")
RESIDUALS = ("target", "full")
UPDATES = ("gradient", "rank1")
MAX_DEFLATE = 2


@dataclass(frozen=True, repr=False)
class Power(PlainNoun):
    """``times * n^alpha``, or a power of d or p; alpha may be a list."""

    alpha: float | tuple[float, ...]
    of: str = "n"
    times: float = 1.0

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(self, alpha: float | Iterable[float], of: str = "n", times: float = 1.0) -> None: ...

    def __post_init__(self) -> None:
        settle(self, reals, "alpha")
        choice(self.of, ("n", "d", "p"), "of")
        settle(self, _downhill, "times")


def _downhill(value: Any, what: str) -> float | tuple[float, ...]:
    """Step sizes, or the factor of one: none is negative."""
    sizes = real(value, what) if what == "times" else reals(value, what)
    if np.min(sizes) < 0:
        raise InputError(
            f"{what} must not be negative, not {quoted(value)}: a giant step goes down the gradient, and its size says how far"
        )
    return sizes


@given(alpha=reals, of=one_of("n", "d", "p"), times=_downhill)
def power(alpha: float | Iterable[float], of: str = "n", times: float = 1.0) -> Power:
    """A step size that is a power of the batch size n, the dimension d or the width p.

    Examples:
        >>> step = gs.GiantStep(n=100, eta=gs.power(0.5))
        >>> float(step.etas(100, 50, 80))
        10.0
    """
    return Power(alpha, of, times)


@given()
@dataclass(frozen=True, repr=False)
class GiantStep(PlainNoun):
    """``W <- W - eta * gradient`` of ``(1/2n) sum (y - f(x))^2`` in W.

    Attributes:
        n: batch size; None with batch="reuse" means that of the batch reused.
        eta: step size, 0 or more: a number, a list (the outcome then has an eta axis) or ``gs.power``.
        batch: "fresh" samples, or "reuse" for those of the step before.
        residual: "target" puts f = 0 inside the gradient (the papers' clean case), "full" keeps ``y - f(x)``.
        update: "gradient", or "rank1" for its rank-one part ``c_1 * scale * a beta^T``, ``beta = X^T residual / n`` (first
            step only).
        deflate: remove from the labels their parts of degree below this, estimated on the batch itself: 1 subtracts the
            mean, 2 the mean and the linear part ``X (X^T y / n)``.

    Examples:
        >>> gs.GiantStep(n=2000, eta=gs.power(0.3)).n
        2000
        >>> gs.GiantStep(n=2000, eta=[0, 10, 30]).listed  # several step sizes share one batch
        True
    """

    n: int | None
    eta: float | tuple[float, ...] | Power
    batch: str = "fresh"
    residual: str = "target"
    update: str = "gradient"
    deflate: int = 0

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            n: int | None,
            eta: float | Iterable[float] | Power,
            batch: str = "fresh",
            residual: str = "target",
            update: str = "gradient",
            deflate: int = 0,
        ) -> None: ...

    def __post_init__(self) -> None:
        choice(self.batch, BATCHES, "batch")
        object.__setattr__(self, "n", _batch_size(self.n, self.batch))
        if not isinstance(self.eta, Power):
            settle(self, _downhill, "eta")
        choice(self.residual, RESIDUALS, "residual")
        choice(self.update, UPDATES, "update")
        object.__setattr__(self, "deflate", _degree(self.deflate))

    @property
    def listed(self) -> bool:
        """Whether several step sizes were given, so that the outcome has an eta axis."""
        return bool(_as_tuple(self))

    def etas(self, n: int, d: int, p: int) -> Float[np.ndarray, "..."]:
        """The step sizes as numbers: shape () for one, (E,) for a list."""
        if isinstance(self.eta, Power):
            base = float({"n": n, "d": d, "p": p}[self.eta.of])
            return np.asarray(self.eta.times * base ** np.asarray(self.eta.alpha))
        return np.asarray(self.eta)

    @staticmethod
    def from_plain(data: Any, where: str) -> "GiantStep":
        return build(GiantStep, _with_n(data), where, {"eta": _eta_from_plain})


@given()
@dataclass(frozen=True, repr=False)
class Ridge(PlainNoun):
    """Coefficients b of the plain features ``F = sigma(X W^T)``: minimise ``(1/n) ||y - F b||^2 + penalty ||b||^2``.

    Attributes:
        n: number of samples; None with batch="reuse" means that of the last step.
        penalty: a number, a list (the outcome then has a penalty axis) or "gcv"; 0 is the minimum-norm fit.
        batch: "fresh" samples, or "reuse" for those of the last step.
        deflate: fit what is left of the labels without their parts of degree below this, estimated on the batch itself as
            in ``GiantStep``, and add those parts back to the prediction: 1 is the mean, 2 the mean and the linear part.

    Examples:
        >>> gs.Ridge(n=500, penalty=[0.01, 0.1]).penalty
        (0.01, 0.1)
    """

    axis: ClassVar[str] = "penalty"  # the field that may be a list

    n: int | None
    penalty: float | tuple[float, ...] | str
    batch: str = "fresh"
    deflate: int = 0

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self, n: int | None, penalty: float | Iterable[float] | str, batch: str = "fresh", deflate: int = 0
        ) -> None: ...

    def __post_init__(self) -> None:
        choice(self.batch, BATCHES, "batch")
        object.__setattr__(self, "deflate", _degree(self.deflate))
        object.__setattr__(self, "n", _batch_size(self.n, self.batch))
        if isinstance(self.penalty, str):
            if self.penalty != "gcv":
                raise InputError(f"penalty must be a number, a list of numbers or 'gcv', not {quoted(self.penalty)}")
        else:
            settle(self, reals, "penalty", least=0.0)

    @property
    def path(self) -> float | tuple[float, ...] | str:
        """The value or values of the field that may be a list."""
        return self.penalty

    @staticmethod
    def from_plain(data: Any, where: str) -> "Ridge":
        return build(Ridge, _with_n(data), where)


@given()
@dataclass(frozen=True, repr=False)
class SGD(PlainNoun):
    """Coefficients b of the plain features from b = 0, one sample a step: ``b <- b + (rate / p) t^-decay (y_t - F_t b) F_t``.

    The rate is that of the features ``F / sqrt(p)``: one pass is stable below about ``1 / E F^2`` at any width.

    Attributes:
        n: number of samples; None with batch="reuse" means that of the last step.
        rate: a number, or a list (the outcome then has a rate axis).
        decay: the power of t = 1, 2, ... by which the rate falls; 0 keeps it constant.
        average: take the mean of all b_0, ..., b_{T-1} before a step; False takes the last, b_T.
        passes: how often the samples are gone through, in the same order; t counts on.
        batch: "fresh" samples, or "reuse" for those of the last step.

    Examples:
        >>> gs.SGD(n=500, rate=0.5).passes
        1
    """

    axis: ClassVar[str] = "rate"  # the field that may be a list
    deflate: ClassVar[int] = 0  # it fits the labels as they are

    n: int | None
    rate: float | tuple[float, ...]
    decay: float = 0.0
    average: bool = True
    passes: int = 1
    batch: str = "fresh"

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            n: int | None,
            rate: float | Iterable[float],
            decay: float = 0.0,
            average: bool = True,
            passes: int = 1,
            batch: str = "fresh",
        ) -> None: ...

    def __post_init__(self) -> None:
        choice(self.batch, BATCHES, "batch")
        object.__setattr__(self, "n", _batch_size(self.n, self.batch))
        settle(self, reals, "rate", least=0.0)
        settle(self, real, "decay", least=0.0)
        settle(self, flag, "average")
        settle(self, whole, "passes")

    @property
    def path(self) -> float | tuple[float, ...]:
        """The value or values of the field that may be a list."""
        return self.rate

    @staticmethod
    def from_plain(data: Any, where: str) -> "SGD":
        return build(SGD, _with_n(data), where)


@given()
@dataclass(frozen=True, repr=False)
class Protocol(PlainNoun):
    """Steps on the first layer, then a readout (None keeps the network's own second layer).

    Examples:
        >>> protocol = gs.Protocol(steps=(gs.GiantStep(n=500, eta=2.0),), readout=gs.Ridge(n=500, penalty=0.1))
        >>> protocol.sizes()
        (500,)
    """

    steps: tuple[GiantStep, ...] = ()
    readout: Ridge | SGD | None = None

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(self, steps: GiantStep | Iterable[GiantStep] = (), readout: Ridge | SGD | None = None) -> None: ...

    def __post_init__(self) -> None:
        given: Any = (self.steps,) if isinstance(self.steps, GiantStep) else self.steps
        entries = several(given, "steps")
        steps = (given,) if entries is None else entries
        if not all(isinstance(s, GiantStep) for s in steps):
            raise InputError("steps must be a tuple of GiantStep")
        if self.readout is not None and not isinstance(self.readout, Ridge | SGD):
            raise InputError("readout must be a Ridge or an SGD")
        object.__setattr__(self, "steps", steps)
        size = None
        for t, step in enumerate(steps):
            _check_reuse(step, size, f"step {t + 1}")
            size = step.n if step.n is not None else size
            if t > 0 and step.update == "rank1":
                raise InputError(f"step {t + 1} has update='rank1', which is defined for the first step only")
        if self.readout is not None:
            _check_reuse(self.readout, size, "the readout")
        lengths = {len(_as_tuple(s)) for s in steps if s.listed}
        if len(lengths) > 1:
            raise InputError(f"lists of step sizes vary together, so they need the same length, not {sorted(lengths)}")

    def sizes(self) -> tuple[int, ...]:
        """Batch size of every step, reuse resolved."""
        sizes: list[int] = []
        for step in self.steps:
            sizes.append(step.n if step.n is not None else sizes[-1])
        return tuple(sizes)

    @property
    def readout_size(self) -> int:
        """Number of samples of the readout, reuse resolved."""
        if self.readout is None:
            raise InputError("the protocol has no readout")
        return self.readout.n if self.readout.n is not None else self.sizes()[-1]

    def etas(self, d: int, p: int) -> Float[np.ndarray, "... T"]:
        """Step sizes, shape (T,) or (E, T): lists move together, single numbers are shared."""
        values = [step.etas(n, d, p) for step, n in zip(self.steps, self.sizes(), strict=True)]
        return np.stack(np.broadcast_arrays(*values), axis=-1) if values else np.zeros(0)

    @staticmethod
    def from_plain(data: Any, where: str) -> "Protocol":
        return build(Protocol, data, where, {"steps": _steps_from_plain, "readout": _readout_from_plain})


def _batch_size(n: Any, batch: str) -> int | None:
    if n is None and batch == "reuse":
        return None
    return whole(n, "n")


def _degree(deflate: Any) -> int:
    degree = whole(deflate, "deflate", least=0)
    if degree > MAX_DEFLATE:
        raise InputError(f"deflate must be 0, 1 or {MAX_DEFLATE}, not {degree}")
    return degree


def _check_reuse(part: GiantStep | Ridge | SGD, size: int | None, what: str) -> None:
    if part.batch == "reuse" and size is None:
        raise InputError(f"{what} reuses a batch but there is no step before it")
    if part.batch == "reuse" and part.n not in (None, size):
        raise InputError(f"{what} reuses a batch of {size} samples but says n = {part.n}")


def _as_tuple(step: GiantStep) -> tuple[float, ...]:
    value = step.eta.alpha if isinstance(step.eta, Power) else step.eta
    return value if isinstance(value, tuple) else ()


def _with_n(data: Any) -> Any:
    """Fill in n = None for a reused batch, whose table may leave n out."""
    return {"n": None, **data} if isinstance(data, dict) and data.get("batch") == "reuse" else data


def _eta_from_plain(value: Any, where: str) -> Any:
    return build(Power, value, where) if isinstance(value, dict) else value


def _readout_from_plain(value: Any, where: str) -> Ridge | SGD:
    """A table with a rate is an SGD, any other a Ridge."""
    return (SGD if isinstance(value, dict) and "rate" in value else Ridge).from_plain(value, where)


def _steps_from_plain(value: Any, where: str) -> tuple[GiantStep, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list of steps")
    return tuple(GiantStep.from_plain(step, f"{where}[{i}]") for i, step in enumerate(value))

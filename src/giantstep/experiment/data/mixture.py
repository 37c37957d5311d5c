"""Mixture: Gaussian components with spiked covariances, ``x | c ~ N(mu_c, s_c I + sum_i theta_ci gamma_ci gamma_ci^T)``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int

from giantstep._given.declared import at_least, given, number
from giantstep._given.plain import PlainNoun, build, choice, plain, real, settle, several, whole
from giantstep._machine.arrays import is_jax, xp
from giantstep.errors import InputError
from giantstep.experiment.data import _directions as _directions
from giantstep.experiment.data import fit_mixture
from giantstep.experiment.data._directions import Along, Vector

COUNTS = ("drawn", "exact")
Array = Any  # of NumPy, or of JAX
TOGETHER = 64  # directions of all components up to which they are met at once; with more, each component meets its own
SLACK = 1e-9  # of sums of weights, lengths and angles
_Given = Vector | dict[str, float] | None
_Accepted = str | Along | Mapping[str, float] | Iterable[float] | None


@given()
@dataclass(frozen=True, repr=False)
class Spike(PlainNoun):
    """``strength * gamma gamma^T`` in a covariance: a variance of ``bulk + strength`` along gamma, in a
    component with that bulk.

    Attributes:
        strength: theta > -bulk.
        direction: gamma. None is a random direction of its own. A name, as "u", is a random direction that all who say the
            name share; "x1", "x2", ... are the coordinate axes, which a target without directions depends on. A table, as
            {"u": 0.6, "v": 0.8}, is the unit vector along a combination. Or d numbers of unit length.

    Examples:
        >>> gs.Mixture(100, (gs.Component(spikes=(gs.Spike(8.0, "x1"),)),)).d  # a variance of 9 along the first axis
        100
    """

    strength: float
    direction: _Given = None

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(self, strength: float, direction: _Accepted = None) -> None: ...

    def __post_init__(self) -> None:
        settle(self, real, "strength")
        if self.direction is not None:
            object.__setattr__(self, "direction", _unit(_directions.vector(self.direction, "direction")))


@given()
@dataclass(frozen=True, repr=False)
class Component(PlainNoun):
    """A share ``weight`` of the inputs, ``N(mean, bulk * I + sum_i theta_i gamma_i gamma_i^T)``.

    Attributes:
        weight: the share.
        spikes: tuple of ``Spike``; numbers are strengths along random directions of their own.
        mean: as a spike's direction, but of any length; None is zero.
        bulk: variance along every direction orthogonal to the spikes.

    Examples:
        >>> one = gs.Component(0.5, (gs.Spike(8.0, "x1"),), mean="u")
        >>> gs.Mixture(100, (one, gs.Component(0.5))).d
        100
    """

    weight: float = 1.0
    spikes: tuple[Spike, ...] = ()
    mean: _Given = None
    bulk: float = 1.0

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            weight: float = 1.0,
            spikes: Spike | Iterable[Spike | float] = (),
            mean: _Accepted = None,
            bulk: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        settle(self, real, "weight", least=0.0)
        settle(self, real, "bulk")
        if self.bulk <= 0:
            raise InputError(f"bulk is a variance and must be above zero, not {self.bulk:g}")
        given: Any = (self.spikes,) if isinstance(self.spikes, Spike) else self.spikes
        entries = several(given, "spikes")
        if entries is None:
            raise InputError("spikes must be a list of Spike or of strengths")
        object.__setattr__(self, "spikes", tuple(s if isinstance(s, Spike) else Spike(s) for s in entries))
        for spike in self.spikes:
            if spike.strength + self.bulk <= 0:
                least = "-1" if self.bulk == 1 else f"minus the bulk, {-self.bulk:g}"
                raise InputError(f"strength must be above {least}, for a variance above zero, not {spike.strength:g}")
        if self.mean is not None:
            object.__setattr__(self, "mean", _directions.vector(self.mean, "mean"))

    @property
    def strengths(self) -> Float[np.ndarray, " k"]:
        """The strengths theta_1, theta_2, ... of the spikes."""
        return np.array([s.strength for s in self.spikes])

    @staticmethod
    def fitted(own: fit_mixture.FittedClass) -> "Component":
        """Build the component of a fitted class."""
        pairs = zip(own.strengths.tolist(), own.directions.tolist(), strict=True)
        spikes = tuple(Spike(strength, tuple(direction)) for strength, direction in pairs)
        return Component(own.weight, spikes, None if own.mean is None else tuple(own.mean.tolist()), own.bulk)

    @staticmethod
    def from_plain(data: Any, where: str) -> "Component":
        return build(Component, data, where, {"spikes": _spikes_from_plain})


@given()
@dataclass(frozen=True)
class Mixture:
    """``x ~ sum_c weight_c N(mu_c, s_c I + sum_i theta_ci gamma_ci gamma_ci^T)``: s_c the bulk, gamma_ci orthonormal for each c.

    Attributes:
        d: dimension.
        components: tuple of ``Component``.
        seed: of the random directions. They belong to the population: the seed of a run does not change them.
        counts: "drawn", the component of every row at random; "exact", a fixed pattern with floor(weight_1 n) of the first n
            rows in the first component, and so on among the rows left, for every n.

    Examples:
        >>> far = gs.Component(0.5, mean={"u": 2.0})
        >>> data = gs.Mixture(d=50, components=(gs.Component(0.5, spikes=(gs.Spike(4.0, "u"),)), far))
        >>> data.covariance(0).shape
        (50, 50)
    """

    d: int
    components: tuple[Component, ...]
    seed: int = 0
    counts: str = "drawn"

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self, d: int, components: Component | Iterable[Component], seed: int = 0, counts: str = "drawn"
        ) -> None: ...

    def __post_init__(self) -> None:
        settle(self, whole, "d")
        settle(self, whole, "seed", least=0)
        choice(self.counts, COUNTS, "counts")
        given: Any = (self.components,) if isinstance(self.components, Component) else self.components
        entries = several(given, "components")
        parts = (given,) if entries is None else entries
        if not all(isinstance(c, Component) for c in parts):
            raise InputError("components must be a list of Component")
        object.__setattr__(self, "components", parts)
        total = sum(c.weight for c in self.components)
        if not abs(total - 1) <= SLACK:
            raise InputError(f"the weights of the components must sum to one, not to {total:g}")
        for c in range(len(self.components)):
            self._check(c)
        if not _directions.room(self.d, self._vectors):
            raise InputError(f"d = {self.d} dimensions do not hold so many orthonormal directions")

    def _check(self, c: int) -> None:
        where, gammas, mean = f"component {c + 1}", self._gammas[c], self.components[c].mean
        for i, gamma in enumerate(gammas):
            _directions.check(gamma, self.d, f"direction {i + 1} of {where}")
        cosines = np.triu(_directions.gram(gammas), 1)
        for i, j in np.argwhere(np.abs(cosines) > 1e-8)[:1]:
            raise InputError(
                f"directions {i + 1} and {j + 1} of {where} must be orthogonal: their cosine is {cosines[i, j]:g}"
            )
        if mean is not None:
            _directions.check(mean, self.d, f"the mean of {where}")  # type: ignore[arg-type]

    @cached_property
    def _gammas(self) -> tuple[tuple[Vector, ...], ...]:
        """Directions of the spikes; one of its own has a name that nobody can say."""
        return tuple(
            tuple(f"#{c}.{i}" if s.direction is None else s.direction for i, s in enumerate(part.spikes))  # type: ignore[misc]
            for c, part in enumerate(self.components)
        )

    @property
    def _vectors(self) -> list[Vector]:
        means = [c.mean for c in self.components if c.mean is not None]
        return [*(g for gammas in self._gammas for g in gammas), *means]  # type: ignore[list-item]

    @cached_property
    def _built(self) -> tuple[tuple[Float[np.ndarray, "k d"], Float[np.ndarray, " d"] | None], ...]:
        """Directions (k x d) and mean (or None) of every component."""
        random, parts = _directions.frame(self.d, self.seed, self._vectors), []
        for part, gammas in zip(self.components, self._gammas, strict=True):
            rows = np.array([_directions.built(g, self.d, random) for g in gammas]).reshape(len(gammas), self.d)
            mean = None if part.mean is None else _directions.built(part.mean, self.d, random)  # type: ignore[arg-type]
            parts.append((rows, mean))
        return tuple(parts)

    @property
    def weights(self) -> Float[np.ndarray, " components"]:
        """The shares of the components."""
        return np.array([c.weight for c in self.components])

    def directions(self, c: int) -> Float[np.ndarray, "k d"]:
        """Orthonormal directions of the spikes of component c (from 0), k x d."""
        return self._built[c][0]

    def mean(self, c: int | None = None) -> Float[np.ndarray, " d"]:
        """Mean of component c, or of all, (d,)."""
        if c is not None:
            own = self._built[c][1]
            return np.zeros(self.d) if own is None else own
        return sum((w * self.mean(k) for k, w in enumerate(self.weights)), np.zeros(self.d))

    def bulk(self, c: int | None = None) -> float:
        """What the covariance of component c, or of all, has beside its low-rank part: ``bulk * I``."""
        bulks = [part.bulk for part in self.components]
        return float(np.average(bulks, weights=self.weights)) if c is None else bulks[c]

    def low_rank(
        self, c: int | None = None, *, centred: bool = True
    ) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k k"]]:
        """B (k x d) and M (k x k) with covariance ``bulk(c) I + B^T M B``, of component c or of all; the second moment with
        ``centred=False``."""
        chosen = [(k, 1.0 if c is not None else w) for k, w in enumerate(self.weights) if c in (None, k)]
        means = [(w, m) for k, w in chosen if (m := self._built[k][1]) is not None]
        B = np.concatenate([*(self.directions(k) for k, _ in chosen), *(m[None] for _, m in means)])
        shares = np.array([w for w, _ in means])
        among = np.diag(shares) - np.outer(shares, shares) if centred else np.diag(shares)
        spikes = np.concatenate([w * self.components[k].strengths for k, w in chosen])
        M = np.zeros((len(B), len(B)))
        M[: len(spikes), : len(spikes)], M[len(spikes) :, len(spikes) :] = np.diag(spikes), among
        return B, M

    def covariance(self, c: int | None = None) -> Float[np.ndarray, "d d"]:
        """Covariance of component c, or of all (with what the means add), d x d."""
        B, M = self.low_rank(c)
        return self.bulk(c) * np.eye(self.d) + B.T @ M @ B

    def second_moment(self, c: int | None = None) -> Float[np.ndarray, "d d"]:
        """E x x^T of component c, or of all, d x d."""
        B, M = self.low_rank(c, centred=False)
        return self.bulk(c) * np.eye(self.d) + B.T @ M @ B

    @cached_property
    def spread(self) -> float:
        """The operator norm of the covariance of the whole mixture."""
        B, M = self.low_rank()
        _, R = np.linalg.qr(B.T)
        # s I + B^T M B has the eigenvalues of s I + R M R^T, and s outside the span of B
        inside = self.bulk() + np.linalg.eigvalsh(R @ M @ R.T)
        return float(np.max(inside, initial=self.bulk() if len(R) < self.d else -np.inf))

    @cached_property
    def trace(self) -> float:
        """The trace of the covariance of the whole mixture."""
        B, M = self.low_rank()
        return float(self.d * self.bulk() + np.sum(M * (B @ B.T)))

    @cached_property
    def _stretched(self) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "components k"], Any]:
        """Directions gamma and means of all components; what each component adds to coordinates along them,
        ``sqrt(s + theta) - sqrt(s)``; and which of the means is its own."""
        B = np.concatenate([*(G for G, _ in self._built), *(mean[None] for _, mean in self._built if mean is not None)])
        growth, own = np.zeros((2, len(self.components), len(B)))
        spike, mean = 0, sum(len(G) for G, _ in self._built)
        for c, (part, (G, m)) in enumerate(zip(self.components, self._built, strict=True)):
            growth[c, spike : spike + len(G)] = np.sqrt(part.bulk + part.strengths) - part.bulk**0.5
            own[c, mean : mean + (m is not None)] = 1.0
            spike, mean = spike + len(G), mean + (m is not None)
        return B, growth, own

    def shaped(self, Z: Float[Array, "n d"], components: Int[Array, " n"]) -> Float[Array, "n d"]:
        """N(0, I) rows made rows of their components:
        ``mu + sqrt(s) z + sum_i (sqrt(s + theta_i) - sqrt(s)) <gamma_i, z> gamma_i``."""
        B, growth, own = self._stretched
        roots = np.sqrt([part.bulk for part in self.components])
        bulk = Z if np.all(roots == 1) else Z * xp.take(roots, components)[:, None]
        if not len(B):
            return bulk
        if len(B) > TOGETHER and not is_jax(Z):
            X = np.array(bulk)
            for c in range(len(self.components)):
                rows, some = np.flatnonzero(components == c), np.flatnonzero((growth[c] != 0) | (own[c] != 0))
                X[rows] += (Z[rows] @ B[some].T * growth[c, some] + own[c, some]) @ B[some]
            return X
        # all directions at once: a component has zeros for those of the others
        X = (Z @ B.T * xp.take(growth, components, axis=0) + xp.take(own, components, axis=0)) @ B
        X += bulk
        return X

    @staticmethod
    @given(spikes=at_least(0), noise=number(0.0, 1e100))
    def fit(
        X: npt.ArrayLike,
        labels: npt.ArrayLike,
        spikes: int | None = None,
        *,
        classes: Iterable[Any] | None = None,
        noise: float = 0.0,
    ) -> "Mixture":
        """A component for every class of the rows X (N x d), with the weight, mean and trace of its rows.

        Spikes are the eigenvalues of its covariance beyond the edge of a bulk, at most ``spikes`` of them (None for all): their
        eigenvectors are the directions, their strengths are freed from the bias of finite samples (``fit_mixture``). The rest
        makes the bulk. A mean that could be chance is left out. ``classes`` are the labels of the components in order, or all.
        ``noise`` is the standard deviation of noise to come: it is added to the bulk, and spikes that it would hide are left out.
        """
        fits = fit_mixture.fit(X, labels, spikes, classes, noise)
        return Mixture(np.shape(X)[1], tuple(Component.fitted(each) for each in fits))

    def __str__(self) -> str:
        lines = [f"Mixture of {len(self.components)} in {self.d} dimensions"]
        for c, part in enumerate(self.components):
            strengths = [f"{s:.4g}" for s in sorted(part.strengths, key=abs, reverse=True)]
            strongest = ", ".join([*strengths[:5], *(["..."] if len(strengths) > 5 else [])])
            head = (
                f"  weight {part.weight:.4g}, mean of length {np.linalg.norm(self.mean(c)):.4g}, bulk {part.bulk:.4g}"
            )
            count = f"{len(strengths)} spikes of strengths" if len(strengths) > 1 else "one spike of strength"
            lines.append(f"{head}, {count} {strongest}" if strengths else f"{head}, no spikes")
        return "\n".join(lines)

    def to_plain(self) -> dict[str, Any]:
        return {"law": "mixture", **plain(self)}

    @staticmethod
    def from_plain(data: Any, where: str) -> "Mixture":
        return build(Mixture, data, where, {"components": _components_from_plain})


def pattern(weights: Float[np.ndarray, " components"], start: int, stop: int) -> Int[np.ndarray, " n"]:
    """Components of rows start..stop when counts are exact."""
    return pattern_at(weights, np.arange(start, stop))


def pattern_at(weights: Float[np.ndarray, " components"], rows: Int[Array, " n"]) -> Int[Array, " n"]:
    """Components of these rows when counts are exact: of the first n rows floor(rho_1 n) are in the first, of the n' others
    floor(rho_2 n' / (1 - rho_1)) in the second, and so on."""
    result, free, left = 0 * rows + (len(weights) - 1), rows >= 0, 1.0
    for c, w in enumerate(weights[:-1]):
        share = min(w / left, 1.0) if left > SLACK else 0.0
        before, after = (xp.floor(share * m + SLACK) for m in (rows, rows + 1))
        here = free & (after > before)
        result, free = xp.where(here, c, result), free & ~here
        rows, left = rows - before.astype(rows.dtype), left - w  # the place among those that are free
    return result


def _unit(v: Vector) -> Vector:
    """A name or a combination, made of unit length; numbers must have it already."""
    length = hypot(*(v if isinstance(v, tuple) else _directions.terms(v).values()))
    if isinstance(v, tuple) and abs(length - 1) > 1e-8:
        raise InputError(f"direction must have unit length, and this one has {length:g}")
    if isinstance(v, Along) and abs(length - 1) > 1e-14:
        return _directions.vector({name: c / length for name, c in v.parts}, "direction")
    return v


def _spikes_from_plain(value: Any, where: str) -> tuple[Spike, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list of spikes")
    return tuple(build(Spike, s, f"{where}[{i}]") if isinstance(s, dict) else Spike(s) for i, s in enumerate(value))


def _components_from_plain(value: Any, where: str) -> tuple[Component, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list of components")
    return tuple(Component.from_plain(c, f"{where}[{i}]") for i, c in enumerate(value))

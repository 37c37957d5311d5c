"""Target: the labels' law, ``y = f(<w*_1, x>, ..., <w*_r, x>) + noise * N(0, 1)``; in a mixture f may depend on the component."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given import unwritten
from giantstep._given.callable import callable_module
from giantstep._given.declared import at_least, given, number, one_of
from giantstep._given.plain import choice, numbers, real, whole
from giantstep._machine.arrays import is_jax, xp
from giantstep._shown import html
from giantstep.errors import InputError, quoted
from giantstep.functions import _algebra as algebra
from giantstep.functions import expansion as _expansion
from giantstep.functions import staircase
from giantstep.functions._named import Array
from giantstep.functions._own import held
from giantstep.functions._parser import LARGEST, MAX_RANK, Constant, Node, Product, Sum, Variable, parse

Expansion = _expansion.Expansion
SCALES = ("1", "1/sqrt(spread)")
OWN = "y"  # the formula of labels that come with the data
OF_DATA = (
    "the target 'y' is the labels of a data set and no function of projections: data.fitted_target() fits one to them, and "
    "data.fitted() is the mixture that goes with it"
)
BY_COMPONENT = "this target has a formula for every component of a mixture: it is no function of the projections alone"


@dataclass(frozen=True, repr=False)
class Target:
    """A multi-index target; build it with ``gs.target``.

    Attributes:
        formula: the formula in ``x1``..``xr`` as typed, or None for a callable. Several with ``|`` between them are those of
            the components of a mixture, in order: ``"1 | -1"`` says which of two components an input is from. ``"y"`` is the
            real labels of a ``Dataset``; its one direction is then that of least squares.
        function: a callable, or None for a formula. It gets ``z`` of shape (r, points), ``z[0], z[1], ...`` the
            projections, or ``z`` of shape (points, r) if that is what it expects.
        rank: r, the number of directions.
        noise: standard deviation of the label noise.
        directions: r rows of length d (any independent rows); None means the first r coordinate axes, which for
            isotropic data is no loss of generality.
        scale: what the directions are multiplied by: "1", or "1/sqrt(spread)" with the spread of the data, so that
            ``<w*, x>`` has at most unit variance.
    """

    formula: str | None = field(compare=False)
    function: Callable[[Any], Any] | None = None
    rank: int = 0
    noise: float = 0.0
    directions: tuple[tuple[float, ...], ...] | None = None
    scale: str = "1"
    canonical: str | None = field(init=False, repr=False, default=None)
    _node: Node | None = field(init=False, repr=False, compare=False, default=None)
    _nodes: tuple[Node, ...] = field(init=False, repr=False, compare=False, default=())
    _rows_first: bool = field(init=False, repr=False, compare=False, default=False)

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(
            self,
            formula: str | None,
            function: Callable[[Any], Any] | None = None,
            rank: int = 0,
            noise: float = 0.0,
            directions: npt.ArrayLike | None = None,
            scale: str = "1",
        ) -> None: ...

    def __post_init__(self) -> None:
        if (self.formula is None) == (self.function is None):
            raise InputError("a target is either a formula or a callable with its rank")
        put = object.__setattr__
        put(self, "noise", real(self.noise, "noise", least=0.0))
        if self.noise > LARGEST:
            raise InputError(
                f"noise must be at most {LARGEST:g}, so that its powers are numbers too; not {self.noise:g}"
            )
        put(self, "rank", whole(self.rank, "rank", least=0))
        if self.rank > MAX_RANK:
            raise InputError(f"rank must be at most {MAX_RANK}, not {self.rank}")
        if self.of_data:
            if self.rank > 1:
                raise InputError(f"the target 'y' has one direction, not {self.rank}")
            put(self, "formula", OWN)
            put(self, "canonical", OWN)
            put(self, "rank", 1)
        elif self.formula is not None:
            texts = self.formula.split("|") if isinstance(self.formula, str) else [self.formula]
            nodes = tuple(parse(text) for text in texts)
            needed = _needed(nodes)
            if self.rank not in (0, needed) and self.rank < needed:
                raise InputError(f"rank {self.rank} is too small for a formula with x{needed}")
            put(self, "formula", " | ".join(" ".join(text.split()) for text in texts))
            put(self, "_nodes", nodes)
            put(self, "_node", nodes[0] if len(nodes) == 1 else None)
            put(self, "canonical", " | ".join(algebra.canonical(node) for node in nodes))
            put(self, "rank", max(self.rank, needed))
        elif self.rank < 1:
            raise InputError("a callable target needs its rank: target(f, rank=2)")
        put(self, "directions", _checked_directions(self.directions, self.rank))
        choice(self.scale, SCALES, "scale")
        if self.function is not None:
            put(self, "function", held(self.function))
            put(self, "_rows_first", _rows_first(self.function, self.rank))

    @property
    def of_data(self) -> bool:
        """Whether the labels come with the data."""
        return isinstance(self.formula, str) and self.formula.strip() == OWN

    @property
    def components(self) -> int:
        """The number of components that have a formula of their own; 1 if all share one function."""
        return max(len(self._nodes), 1)

    def __call__(self, z: Any, components: Any = None) -> Any:
        """f at ``z[0], ..., z[r-1]`` (NumPy or JAX arrays of equal shape); no noise. ``components``, of that shape, says which
        component (from 0) each point is from, where the target depends on it."""
        if self.components > 1:
            if components is None:
                raise InputError(BY_COMPONENT)
            values = [algebra.value(node, z) + 0.0 * z[0] for node in self._nodes]
            if is_jax((z, components)):
                return sum(xp.where(components == c, value, 0.0) for c, value in enumerate(values))
            return np.choose(components, values)
        if self._node is not None:
            return algebra.value(self._node, z) + 0.0 * z[0]
        if self.of_data:
            raise InputError(OF_DATA)
        if not self._rows_first:
            return self.function(z)  # type: ignore[misc]
        shape = z[0].shape
        return self.function(z.reshape(self.rank, -1).T).reshape(shape)  # type: ignore[misc]

    def gradient(self, z: Any) -> Float[Array, "r ..."]:
        """The r partial derivatives at z, stacked on the first axis; a callable must be JAX-traceable."""
        self._check_single()
        if self._node is not None:
            return np.stack([np.asarray(algebra.slope(self._node, z, i)) + 0.0 * z[0] for i in range(self.rank)])
        from giantstep._machine.backend import jax, jnp

        value, pull = jax.vjp(self, jnp.asarray(z))
        return pull(jnp.ones_like(value))[0]

    @cached_property
    def hermite(self) -> Expansion:
        """Hermite expansion in orthonormal directions; exact for polynomials. For directions that are not orthonormal it
        is that of ``f(L q)``, L the Cholesky factor of their Gram matrix and q the orthonormal coordinates."""
        return self.under(self.mixing)

    def under(self, root: Float[np.ndarray, "r r"] | None, mean: Float[np.ndarray, " r"] | None = None) -> Expansion:
        """Hermite expansion of ``f(mean + root q)`` in q ~ N(0, I): of f when its projections are N(mean, root root^T)."""
        self._check_single()
        t = np.zeros(self.rank) if mean is None else np.asarray(mean)
        if self._node is None:
            mix = np.eye(self.rank) if root is None else root
            return _expansion.of_function(lambda q: np.asarray(self(mix @ q + t[:, None])), self.rank)
        node = self._node if root is None else algebra.substitute(self._node, _rows_as_nodes(root, t))
        terms = algebra.polynomial(node, self.rank)
        if terms is not None:
            return _expansion.of_polynomial(terms, self.rank)
        separable = _expansion.of_separable(node, self.rank)
        if separable is not None:
            return separable
        kinks = algebra.kinks(node) if self.rank == 1 else ()
        return _expansion.of_function(lambda z: np.asarray(algebra.value(node, z)) + 0.0 * z[0], self.rank, kinks)

    def part(self, c: int) -> "Target":
        """The target in component c, from 0, of a mixture; itself when it is the same in all."""
        if self.components == 1:
            return self
        return replace(self, formula=(self.formula or "").split("|")[c])

    def _check_single(self) -> None:
        if self.of_data:
            raise InputError(OF_DATA)
        if self.components > 1:
            raise InputError(BY_COMPONENT)

    @property
    def polynomial(self) -> bool:
        """Whether the formula is a polynomial, so that everything about it is exact."""
        return self._node is not None and not algebra.calls(self._node)

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where a formula of rank one is not smooth; () for a callable, whose kinks are not known."""
        return algebra.kinks(self._node) if self._node is not None and self.rank == 1 else ()

    @property
    def information_exponent(self) -> int | None:
        """Smallest order k >= 1 whose Hermite tensor is not zero; None for a constant."""
        expansion = self.hermite
        orders = {sum(b) for b in expansion} - {0}
        return min((k for k in orders if expansion.mass(k) > expansion.threshold * expansion.power), default=None)

    @property
    def leap(self) -> int | None:
        """Largest order a step must see to find every direction, each step knowing those found before; None for a constant."""
        return max(staircase.leaps(self.hermite), default=None)

    @property
    def power(self) -> float:
        """The mean square ``E f^2``, without the noise."""
        return self.hermite.power

    def orthonormal(self, d: int) -> Float[np.ndarray, "r d"]:
        """Orthonormal rows (r x d) in which the expansion ``hermite`` is written: Q of ``directions = L Q``."""
        rows = self.matrix(d)
        return rows if self.mixing is None else np.linalg.solve(self.mixing, rows)

    @cached_property
    def mixing(self) -> Float[np.ndarray, "r r"] | None:
        """L with ``directions = L Q``, Q orthonormal rows; None when the directions are orthonormal already."""
        if self.directions is None:
            return None
        rows = np.asarray(self.directions)
        gram = rows @ rows.T
        return None if np.allclose(gram, np.eye(self.rank), atol=1e-10) else np.linalg.cholesky(gram)

    @given(d=whole)
    def check_dimension(self, d: int) -> None:
        """Refuse a dimension that does not fit the directions."""
        if self.directions is None:
            if d < self.rank:
                raise InputError(f"the target has {self.rank} directions but the data only d = {d} dimensions")
        elif len(self.directions[0]) != d:
            raise InputError(
                f"the target's directions have {len(self.directions[0])} entries but the data d = {d} dimensions"
            )

    @given(d=whole)
    def matrix(self, d: int) -> Float[np.ndarray, "r d"]:
        """The directions as an r x d array."""
        self.check_dimension(d)
        return np.eye(self.rank, d) if self.directions is None else np.asarray(self.directions)

    @property
    def name(self) -> str:
        """The name shown in tables and pictures."""
        return self.formula or getattr(self.function, "__name__", "callable")

    def __repr__(self) -> str:
        noise = f", noise={self.noise:g}" if self.noise else ""
        rank = f", rank={self.rank}" if self.formula is None else ""
        directions = f", directions={self.rank} rows" if self.directions is not None else ""
        return f"target({self.name!r}{rank}{noise}{directions})"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [("formula", self.name), ("directions", self.rank)]
        facts += [("label noise", f"standard deviation {self.noise:g}")] if self.noise else []
        if self.polynomial:
            facts += [("information exponent", self.information_exponent), ("leap", self.leap)]
            facts.append(("mean square", f"{float(self.power):.4g}"))
        return html.block("Target", html.table((), facts, "left"))

    def to_plain(self) -> dict[str, Any]:
        if self.formula is None:
            result: dict[str, Any] = {"formula": unwritten.name(self.function, "a target"), "rank": self.rank}
        else:
            result = {"formula": self.formula}
        if self.formula is not None and self.rank > _needed(self._nodes):
            result["rank"] = self.rank
        if self.noise:
            result["noise"] = self.noise
        if self.directions is not None:
            result["directions"] = [list(row) for row in self.directions]
        if self.scale != "1":
            result["scale"] = self.scale
        return result


@given(rank=at_least(0, MAX_RANK), noise=number(0.0), scale=one_of(*SCALES))
def target(
    source: "str | Sequence[str] | Callable[[Any], Any] | Target",
    *,
    rank: int = 0,
    noise: float = 0.0,
    directions: Any = None,
    scale: str = "1",
) -> Target:
    """A Target from a formula such as ``"x1 + H2(x1)*x2"``, several for the components of a mixture, or a callable with its
    rank.

    Examples:
        >>> y = gs.target("x1 + H2(x1)*x2", noise=0.5)
        >>> y.rank, y.noise
        (2, 0.5)
        >>> gs.target("x1 + foo(x1)")
        Traceback (most recent call last):
            ...
        giantstep.errors.InputError: ...
    """
    if isinstance(source, Target):
        if rank or noise or directions is not None or scale != "1":
            raise InputError("this is already a target; change it with dataclasses.replace(target, noise=...)")
        return source
    if callable(source):
        return Target(None, source, rank=rank, noise=noise, directions=directions, scale=scale)
    if isinstance(source, list | tuple) and source and all(isinstance(text, str) for text in source):
        source = " | ".join(source)
    return Target(source, rank=rank, noise=noise, directions=directions, scale=scale)  # type: ignore[arg-type]


def _needed(nodes: tuple[Node, ...]) -> int:
    """The rank that formulas ask for, at least one."""
    return max((i for node in nodes for i in algebra.variables(node)), default=0) + 1


def _checked_directions(directions: Any, rank: int) -> tuple[tuple[float, ...], ...] | None:
    if directions is None:
        return None
    rows = numbers(directions, (rank, None), f"directions must be {rank} rows of finite numbers of equal length")
    if np.linalg.matrix_rank(rows) < rank:
        raise InputError("the rows of directions must be linearly independent")
    return tuple(tuple(row) for row in rows.tolist())


def _rows_first(function: Callable[[Any], Any], rank: int) -> bool:
    """Whether a callable wants z as (points, r) rather than (r, points); refuse one that is neither."""
    points = 11
    z = np.random.default_rng(0).standard_normal((rank, points))
    said = ""
    for rows_first, probe in ((False, z), (True, z.T)):
        try:
            values = np.asarray(function(probe))
        except Exception as error:  # whatever the user's function raises
            said = said or f"; it raised {quoted(error)}"
            continue
        if values.shape == (points,):
            return rows_first
    raise InputError(
        "a callable target must map z of shape (rank, points), with z[0], z[1], ... the projections, to one value per "
        f"point{said}"
    )


def _rows_as_nodes(matrix: Float[np.ndarray, "r r"], shift: Float[np.ndarray, " r"]) -> list[Node]:
    """x_i -> shift_i + sum_j matrix_ij q_j."""
    rows = [[Product((Constant(float(c)), Variable(j))) for j, c in enumerate(row) if c != 0] for row in matrix]
    return [Sum((*row, *([Constant(float(t))] if t else []))) for row, t in zip(rows, shift, strict=True)]


callable_module(__name__, target)

"""Vectors said in words: names of random orthonormal directions, ``x1, x2, ...`` for the coordinate axes, or d numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import real, reals, several
from giantstep._machine.random import Stream, generator
from giantstep.errors import InputError, quoted

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
_AXIS = re.compile(r"x([1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Along:
    """A combination of named directions, as pairs (name, coefficient) in the order of the names."""

    parts: tuple[tuple[str, float], ...]

    def to_plain(self) -> dict[str, float]:
        return dict(self.parts)


Vector = str | Along | tuple[float, ...]


def vector(value: Any, what: str) -> Vector:
    """A name, a table of names and coefficients, or d numbers; one name with coefficient 1 is that name."""
    if isinstance(value, Along):
        value = value.to_plain()
    if isinstance(value, str):
        return _name(value, what)
    if isinstance(value, Mapping):
        pairs = sorted(
            (_name(name, what), real(c, f"the coefficient of {name} in {what}")) for name, c in value.items()
        )
        parts = tuple((name, c) for name, c in pairs if c != 0)
        if not parts:
            raise InputError(f"{what} must not be zero")
        return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else Along(parts)
    if several(value, what) is None:
        raise InputError(f"{what} must be a name, a table of names and numbers, or d numbers, not {quoted(value)}")
    return reals(value, what)  # type: ignore[return-value]


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InputError(f"{what} names a direction by letters and digits, as 'u' or 'x1', not {quoted(value)}")
    return value


def axis(name: str) -> int | None:
    """The coordinate that ``x1``, ``x2``, ... stands for, from 0; None for the name of a random direction."""
    match = _AXIS.fullmatch(name)
    return None if match is None else int(match[1]) - 1


def terms(v: Vector) -> dict[str, float]:
    """Names and coefficients; none for d numbers."""
    return {v: 1.0} if isinstance(v, str) else dict(v.parts) if isinstance(v, Along) else {}


def inner(u: Vector, v: Vector) -> float:
    """<u, v>, without drawing anything: random directions are orthogonal to each other and to all that is given."""
    if isinstance(u, tuple) and isinstance(v, tuple):
        return float(np.dot(u, v))
    if isinstance(u, tuple) or isinstance(v, tuple):
        numbers, named = (u, terms(v)) if isinstance(u, tuple) else (v, terms(u))
        places = ((axis(name), c) for name, c in named.items())
        return float(sum(c * numbers[k] for k, c in places if k is not None))  # type: ignore[index]
    return float(sum(c * terms(v).get(name, 0.0) for name, c in terms(u).items()))


def gram(vectors: Sequence[Vector]) -> Float[np.ndarray, "k k"]:
    """<u, v> of all pairs; at once for those given as numbers, all of one length."""
    numbers = [i for i, v in enumerate(vectors) if isinstance(v, tuple)]
    others = [i for i, v in enumerate(vectors) if not isinstance(v, tuple)]
    result, A = np.zeros((len(vectors), len(vectors))), np.array([vectors[i] for i in numbers], dtype=float)
    if numbers:
        result[np.ix_(numbers, numbers)] = A @ A.T
    for i in others:
        for j, v in enumerate(vectors):
            result[i, j] = result[j, i] = inner(vectors[i], v)
    return result


def check(v: Vector, d: int, what: str) -> None:
    """Refuse a vector that does not fit into d dimensions."""
    if isinstance(v, tuple) and len(v) != d:
        raise InputError(f"{what} has {len(v)} entries but d = {d}")
    for name in terms(v):
        k = axis(name)
        if k is not None and k >= d:
            raise InputError(f"{what} uses {name}, but d is {d}")


def names(vectors: Iterable[Vector]) -> list[str]:
    """The random directions that are named, in order of appearance."""
    return list(dict.fromkeys(name for v in vectors for name in terms(v) if axis(name) is None))


def frame(d: int, seed: int, vectors: list[Vector]) -> dict[str, Float[np.ndarray, " d"]]:
    """Random orthonormal directions for the names, orthogonal to the axes named and to the vectors given as numbers.

    Each starts from numbers of its own, which depend on (seed, name) alone, and is then made orthogonal to those before it.
    """
    wanted, result = names(vectors), {}
    known = _known(d, vectors) if wanted else np.zeros((d, 0))
    for name in wanted:
        v = generator(seed, Stream.POPULATION, *name.encode()).standard_normal(d)
        for _ in range(2):  # twice is enough for rounding
            v = v - known @ (known.T @ v)
        result[name] = v / np.linalg.norm(v)
        known = np.column_stack([known, result[name]])
    return result


def room(d: int, vectors: list[Vector]) -> bool:
    """Whether d dimensions can hold all named directions beside the given vectors."""
    axes = {k for v in vectors for name in terms(v) if (k := axis(name)) is not None}
    wanted = len(names(vectors))
    given = len({v for v in vectors if isinstance(v, tuple)})
    return wanted == 0 or wanted + len(axes) + given <= d or wanted + _known(d, vectors).shape[1] <= d


def _known(d: int, vectors: list[Vector]) -> Float[np.ndarray, "d k"]:
    """Orthonormal columns that span the axes named and the vectors given as numbers."""
    axes = sorted({k for v in vectors for name in terms(v) if (k := axis(name)) is not None})
    columns = [np.eye(1, d, k)[0] for k in axes] + [np.asarray(v) for v in vectors if isinstance(v, tuple)]
    if not columns:
        return np.zeros((d, 0))
    U, s, _ = np.linalg.svd(np.stack(columns, axis=1), full_matrices=False)
    return U[:, s > 1e-10 * s[0]]


def built(v: Vector, d: int, random: Mapping[str, Float[np.ndarray, " d"]]) -> Float[np.ndarray, " d"]:
    """Convert a vector to its d numbers."""
    if isinstance(v, tuple):
        return np.asarray(v)
    result = np.zeros(d)
    for name, c in terms(v).items():
        k = axis(name)
        if k is None:
            result += c * random[name]
        else:
            result[k] += c
    return result

"""Axis: one dimension of a sweep, a name with its values, or several names that move together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep._given import unwritten
from giantstep._given.plain import real, several, whole
from giantstep.errors import InputError, quoted

__all__ = ["Axis", "Value", "axis", "together"]

Value = str | int | float
MAX_POINTS = 100_000
MAX_TRIALS = 1_000_000
_SPACES = {"linspace": np.linspace, "logspace": np.logspace, "geomspace": np.geomspace}


@dataclass(frozen=True)
class Axis:
    """One dimension: ``names`` that move together, usually one, and their ``values``, one row for each point.

    ``spaced`` lists the names whose values come from linspace, logspace or geomspace. Such values are rounded where a field
    takes whole numbers.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    spaced: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the dimension, which is the first of its names."""
        return self.names[0]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> tuple[Value, ...]:
        """The values of one name."""
        return tuple(row[self.names.index(name)] for row in self.values)


def axis(name: str, given: Any) -> Axis:
    """Make an axis from a list, or from a table with one key: ``linspace = [from, to, count]`` takes even steps, ``logspace``
    the same with powers of ten at its ends, as in NumPy, and ``geomspace`` even factors between its ends."""
    return Axis((name,), tuple((value,) for value in _values(name, given)), _spaces({name: given}))


def together(given: Mapping[str, Any]) -> Axis:
    """Make an axis of several names that move together; their lists must have the same length."""
    if not isinstance(given, Mapping) or len(given) < 2:
        raise InputError("a zip group must be a table of at least two names whose lists have the same length")
    columns = {name: _values(name, values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the lists of a zip group must have the same length, but {counts}")
    return Axis(tuple(columns), tuple(zip(*columns.values(), strict=True)), _spaces(given))


def _spaces(given: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, values in given.items() if isinstance(values, Mapping))


def _values(name: str, given: Any) -> tuple[Value, ...]:
    if isinstance(given, Mapping):
        given = _spaced(name, given)
    entries = several(given, f"the axis {name!r}", MAX_POINTS)
    if entries is None:
        raise InputError(
            f"the axis {name!r} needs a list, an expression in quotes, or a table such as "
            f"{{logspace = [-2, 2, 9]}}, not {quoted(given)}"
        )
    values = tuple(_value(name, each) for each in entries)
    if not values:
        raise InputError(f"the axis {name!r} has no values")
    if len(set(values)) < len(values):
        raise InputError(f"the axis {name!r} has the same value twice")
    return values


def _value(name: str, given: Any) -> Value:
    if isinstance(given, str):
        return given
    if isinstance(given, bool):
        return str(given).lower()
    if callable(given):
        return unwritten.name(given, f"a value of the axis {name!r}")
    number = real(given, f"every value of the axis {name!r}")
    return int(given) if isinstance(given, int | np.integer) else number  # a float has no room for all of its digits


def _spaced(name: str, given: Mapping[str, Any]) -> list[float]:
    kinds = [kind for kind in given if kind in _SPACES]
    if len(given) != 1 or len(kinds) != 1:
        raise InputError(
            f"the axis {name!r} takes one of {', '.join(_SPACES)} = [from, to, count], not {quoted(dict(given))}"
        )
    (kind,), ends = kinds, given[kinds[0]]
    if not isinstance(ends, list | tuple) or len(ends) != 3:
        raise InputError(f"{kind} of the axis {name!r} needs [from, to, count], not {quoted(ends)}")
    first, last = (real(end, f"an end of {kind} of the axis {name!r}") for end in ends[:2])
    count = whole(ends[2], f"the count of {kind} of the axis {name!r}")
    if count > MAX_POINTS:
        raise InputError(f"the axis {name!r} has {count} values; an axis may have at most {MAX_POINTS}")
    if kind == "geomspace" and not first * last > 0:
        raise InputError(
            f"geomspace of the axis {name!r} needs two ends that are not zero and have the same sign, not {quoted(ends)}"
        )
    with np.errstate(all="ignore"):
        spaced = [float(f"{x:.15g}") for x in _SPACES[kind](first, last, count)]
    return [int(x) if x == int(x) and abs(x) < 2**53 else x for x in spaced] if np.all(np.isfinite(spaced)) else spaced

"""Arrays as a user gives them: real numbers, as many axes as annotated, lengths that agree.

The declaration is the annotation itself, that of jaxtyping: ``W: Float[np.ndarray, "p d"]`` is a
matrix of real numbers, and whatever else has an axis ``d`` in the same call has the same length
there. Annotated ``Float[Array, ...]``, an array of JAX stays where it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from giantstep._given.plain import as_numbers
from giantstep.errors import InputError, quoted

NAMES = {0: "number", 1: "vector", 2: "matrix"}  # by the number of axes
_AXIS = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True)
class Entries:
    """What is asked of the entries: that they are ``finite``, or that there may be none."""

    finite: bool = False
    empty: bool = False


ANY, FINITE, OR_NONE = Entries(), Entries(finite=True), Entries(empty=True)


class ArrayCheck:
    """The check of one argument.

    Args:
        axes: their names; "..." or "*seeds" first where there may be more before them.
        truths: entries are true or false.
        host: the answer is an array of NumPy in any case.
        scalar: a float will do.
        entries: what is asked of them besides.

    Examples:
        >>> ArrayCheck(("p", "d"))([[1, 2]], "W")
        array([[1., 2.]])
    """

    def __init__(
        self,
        axes: tuple[str, ...],
        *,
        truths: bool = False,
        host: bool = True,
        scalar: bool = False,
        entries: Entries = ANY,
    ) -> None:
        self.truths, self.host, self.scalar, self.entries = truths, host, scalar, entries
        self.open = any(axis[0] in "*." for axis in axes)
        self.own = tuple(axis for axis in axes if axis[0] not in "*.")
        self.count = -1 if self.open or truths else len(self.own)  # of axes, where it is known

    def __call__(self, value: Any, what: str) -> Any:
        if type(value) is np.ndarray and value.dtype.kind == "f" and value.ndim == self.count and value.size:
            if self.entries.finite and not np.isfinite(value).all():
                raise InputError(f"{what} must be finite: it has NaN or infinite entries")
            return value  # the usual case, at once
        if self.scalar and isinstance(value, float):
            return value
        array = value if not self.host and _of_jax(value) else as_numbers(value)
        if array is None or (self.truths and array.dtype.kind != "b") or array.dtype.kind not in "fiubV":
            raise InputError(f"{what} must be {self.words}, not {quoted(value)}")
        if array.ndim != len(self.own) and not (self.open and array.ndim > len(self.own)):
            raise InputError(f"{what} must be {self.words}, not of shape {tuple(array.shape)}")
        if not (self.entries.empty or all(array.shape)):
            raise InputError(f"{what} must not be empty")
        if self.entries.finite and not np.all(np.isfinite(array)):
            raise InputError(f"{what} must be finite: it has NaN or infinite entries")
        return array if self.truths or array.dtype.kind in "fV" else array.astype(float)

    @property
    def words(self) -> str:
        """What the argument must be."""
        of = "of truth values" if self.truths else "of real numbers"
        if self.open:
            return f"an array {of}" + (f", the last axes of shape ({', '.join(self.own)})" if self.own else "")
        name = NAMES.get(len(self.own), f"array of {len(self.own)} axes")
        return f"a {name} {of} of shape ({', '.join(self.own)}{',' * (len(self.own) == 1)})"


def _of_jax(value: Any) -> bool:
    other = not isinstance(value, np.ndarray | type)
    return other and hasattr(value, "__array_namespace__")


def array_check(annotation: Any, entries: Entries = ANY) -> ArrayCheck | None:
    """The check that an annotation of jaxtyping declares; None for all other annotations."""
    for part in (annotation, *get_args(annotation)):
        text = getattr(part, "dim_str", None)
        if text is not None:
            axes = tuple(text.split())
            beside = part is not annotation and float in get_args(annotation)
            host, truths = part.array_type is np.ndarray, "bool" in _kinds(part.dtypes)
            return ArrayCheck(axes, truths=truths, host=host, scalar=beside, entries=entries)
    return None


def _kinds(dtypes: Any) -> tuple[str, ...]:
    return dtypes if isinstance(dtypes, tuple) else ()  # any dtype


class Lengths:
    """The axes that arrays of one call share.

    ``axes`` has the name of each, its array, and where it is there, counted from the end.
    """

    def __init__(self, checks: Mapping[str, ArrayCheck]) -> None:
        every = [
            (axis, what, place - len(check.own))
            for what, check in checks.items()
            for place, axis in enumerate(check.own)
        ]
        names = [axis for axis, _, _ in every]
        self.axes = tuple(each for each in every if names.count(each[0]) > 1 and _AXIS.fullmatch(each[0]))

    def agree(self, values: Mapping[str, Any]) -> None:
        """Refuse arrays whose axes of one name have two lengths."""
        lengths: dict[str, tuple[int, str]] = {}
        for axis, what, place in self.axes:
            shape = getattr(values.get(what), "shape", ())
            if not shape:
                continue
            known, other = lengths.setdefault(axis, (shape[place], what))
            if known != shape[place]:
                found = f"{what} has {axis} = {shape[place]} and {other} has {axis} = {known}"
                raise InputError(f"{found}: they must agree")

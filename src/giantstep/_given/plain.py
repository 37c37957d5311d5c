"""Frozen nouns to plain data and back, ids, and the checks their fields share.

Fields at their default are left out of the plain form, so a noun keeps its id when a later version adds a field.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from itertools import islice
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from giantstep.errors import InputError, hint, quoted

Noun = TypeVar("Noun")
MOST = 10**6  # entries of a list

LONGEST = 12  # numbers of a list that is shown whole


def plain(noun: Any) -> dict[str, Any]:
    """A noun's fields as JSON-like data, without those at their default."""
    result = {}
    for field in fields(noun):
        value = getattr(noun, field.name)
        if not field.init or (field.default is not MISSING and value == field.default):
            continue
        result[field.name] = _plain_value(value)
    return result


def _plain_value(value: Any) -> Any:
    if hasattr(value, "to_plain"):
        return value.to_plain()
    if isinstance(value, tuple):
        return [_plain_value(v) for v in value]
    return value


def short(noun: Any, **shown: Any) -> str:
    """The call that makes a noun, without the fields at their default; ``shown`` has values that stand for those of fields."""
    seen = [(f, shown.get(f.name, getattr(noun, f.name))) for f in fields(noun) if f.repr]
    named = [f"{f.name}={_told(value)}" for f, value in seen if f.default is MISSING or value != f.default]
    return f"{type(noun).__name__}({', '.join(named)})"


def _told(value: Any) -> str:
    """A value as it is written, but a long list of numbers by their count."""
    if isinstance(value, tuple) and len(value) > LONGEST and all(isinstance(x, float) for x in value):
        return f"<{len(value)} numbers>"
    return repr(value)


class PlainNoun:
    """The base of nouns that are shown as the call that makes them, and that are plain data by their fields."""

    def __repr__(self) -> str:
        return short(self)

    def to_plain(self) -> dict[str, Any]:
        return plain(self)


def build(cls: type[Noun], data: Any, where: str, inner: Mapping[str, Callable[[Any, str], Any]] | None = None) -> Noun:
    """A noun from plain data; ``inner`` builds the fields that are nouns themselves. Refusals name the place."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a table of fields, not {quoted(data)}")
    known = [f.name for f in fields(cls) if f.init]  # type: ignore[arg-type]
    for key in data:
        if key not in known:
            raise InputError(f"unknown field {quoted(key)} in {where}{hint(key, known)}")
    for f in fields(cls):  # type: ignore[arg-type]
        if f.init and f.default is MISSING and f.default_factory is MISSING and f.name not in data:
            raise InputError(f"{where} lacks the field {f.name!r}")
    values = {key: (inner or {}).get(key, _as_is)(value, f"{where}.{key}") for key, value in data.items()}
    try:
        return cls(**values)
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None


def _as_is(value: Any, where: str) -> Any:
    return value


def settle(noun: Any, check: Callable[..., Any], *names: str, **limits: Any) -> None:
    """Put the checked values of these fields into a frozen noun: ``settle(self, real, "rate", "decay", least=0.0)``."""
    for name in names:
        object.__setattr__(noun, name, check(getattr(noun, name), name, **limits))


def identifier(data: Any) -> str:
    """16 hexadecimal digits: the SHA-256 of the canonical JSON."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def whole(value: Any, what: str, least: int = 1, most: int | None = None) -> int:
    """A whole number of at least ``least`` and at most ``most``."""
    number = _number(value)
    low = number is None or abs(number) >= 2**63 or number != int(number) or number < least
    if low or (most is not None and number > most):  # type: ignore[operator]
        bound = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{what} must be a whole number {bound}, not {quoted(value)}")
    return int(number)  # type: ignore[arg-type]


def real(value: Any, what: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number of at least ``least`` and at most ``most``."""
    number = _number(value)
    if number is None or not least <= number <= most:
        bound = "" if least == -math.inf else f" of at least {least:g}"
        bound = bound if most == math.inf else f" from {least:g} to {most:g}"
        raise InputError(f"{what} must be a finite number{bound}, not {quoted(value)}")
    return float(number) + 0.0  # -0.0 and 0.0 are one number


def reals(value: Any, what: str, *, least: float = -math.inf) -> float | tuple[float, ...]:
    """A number, or a non-empty one-dimensional list of numbers as a tuple."""
    entries = several(value, what)
    if entries is not None:
        values = tuple(real(v, f"every entry of {what}", least=least) for v in entries)
        if not values:
            raise InputError(f"{what} must not be an empty list")
        return values
    if hasattr(value, "__array__") and np.ndim(value) == 0:  # an array of one number without axes
        value = np.ma.asarray(value).tolist()
    return real(value, what, least=least)


def several(value: Any, what: str, most: int = MOST) -> tuple[Any, ...] | None:
    """The entries of a list, an array or another iterable, at most so many.

    None where one thing was given, also a text or a table.
    """
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping | type):
        return None
    try:
        if hasattr(value, "__array__"):  # NumPy, JAX or a column of a table
            value = np.ma.asarray(value).tolist()  # what is masked becomes None
        if not isinstance(value, Iterable):
            return None
        entries = tuple(islice(value, most + 1))  # a generator may have no end
    except Exception:  # whatever the object raises
        raise InputError(f"{what} cannot be read, being {quoted(value)}") from None
    if len(entries) > most:
        raise InputError(f"{what} must have at most {most} entries")
    return entries


def numbers(value: Any, shape: tuple[int | None, ...], needed: str) -> np.ndarray:
    """A copy as finite numbers of a shape, None for any length above 0; ``needed`` is the sentence that refuses all else."""
    array = as_numbers(value)
    if array is None:
        raise InputError(needed)
    if array.ndim != len(shape) or not all(n and m in (None, n) for n, m in zip(array.shape, shape, strict=True)):
        raise InputError(f"{needed}, not of shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(needed)
    return np.array(array, dtype=float)


def as_numbers(value: Any) -> np.ndarray | None:
    """An array of real numbers, whatever their number of bits; None for all else.

    That is texts, dates, complex numbers, entries that are masked, lists of unequal lengths.
    """
    try:
        masked = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
        array = np.asarray(value)
        if array.dtype.kind == "O" and array.ndim and all(isinstance(x, Real) for x in array.flat):
            array = array.astype(float)  # fractions, and columns of tables
    except Exception:  # whatever the object raises
        return None
    return None if masked or array.dtype.kind not in "fiub" else array


def choice(value: Any, options: tuple[str, ...], what: str) -> str:
    """One of the spelled options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{what} must be one of {', '.join(map(repr, options))}, not {quoted(value)}")
    return value


def flag(value: Any, what: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} must be true or false, not {quoted(value)}")
    return bool(value)


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool | np.bool_ | np.timedelta64):  # NumPy counts a duration among the integers
        return None
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) < 2**63 else None
    if not isinstance(value, float | np.floating):
        return None
    return float(value) if math.isfinite(value) else None

"""Own functions of the user's have no text. Within ``named()`` each has a name, by which plain data mean it.

A sweep makes its settings from plain data and tells them apart by their ids, and so takes own functions as long as nothing is
written to a file that lasts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from giantstep.errors import InputError, cut


@dataclass(frozen=True)
class Named:
    """Own functions by their names; ``refusal`` is the sentence that refuses them, if they cannot be taken."""

    refusal: str = ""
    functions: dict[str, Any] = field(default_factory=dict)


_named: ContextVar[Named | None] = ContextVar("named", default=None)


@contextmanager
def named(refusal: str = "") -> Iterator[Named]:
    """Give own functions names as long as the ``with`` statement lasts, or refuse them with this sentence."""
    token = _named.set(Named(refusal))
    try:
        yield _named.get()  # type: ignore[misc]
    finally:
        _named.reset(token)


def name(function: Any, what: str) -> str:
    """The name of an own function: ``bent()``, and ``bent() 2`` for another one that is called so, too.

    Examples:
        >>> with named():
        ...     name(len, "a function"), name(len, "a function"), meant("len()")
        ('len()', 'len()', <built-in function len>)
    """
    inside = _named.get()
    if inside is None:
        raise InputError(f"{what} given as a Python callable has no id and cannot be saved; give a formula")
    if inside.refusal:
        raise InputError(f"{what} is given as a Python callable: {inside.refusal}")
    for known, each in inside.functions.items():
        if each is function or (hasattr(each, "to_plain") and each == function):
            return known
    called = cut(str(getattr(function, "__name__", None) or getattr(function, "name", "function")), 40)
    alike = sum(known.startswith(f"{called}()") for known in inside.functions)
    new = f"{called}() {alike + 1}" if alike else f"{called}()"
    inside.functions[new] = function
    return new


def any_named() -> bool:
    """Whether an own function has a name, so that ids hold for a while only."""
    inside = _named.get()
    return inside is not None and bool(inside.functions)


def meant(text: Any) -> Any:
    """The own function of this name, or None."""
    inside = _named.get()
    return inside.functions.get(text) if inside is not None and isinstance(text, str) else None

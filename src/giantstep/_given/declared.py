"""What the arguments of a verb must be, declared beside its signature: a call that gives anything
else is refused in one sentence.

    @given(setting=a(Setting), seed=seeds, n_test=at_least(2), spectrum=flag)
    def simulate(setting, seed=0, *, n_test=10_000, spectrum=False): ...

A check takes the value and the argument's name, and returns the value to go on with. A default is
not checked, so that None may be given where it is the default. Arrays are declared by their
annotations, see ``arrays``, and ``W=FINITE`` asks more of one. A missing argument, one too many and
a mistyped one are told as well.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from math import inf
from os import PathLike, fsencode
from pathlib import PurePath
from typing import Any, TypeVar

from giantstep._given.arrays import ANY, ArrayCheck, Entries, Lengths, array_check
from giantstep._given.plain import choice, quoted, real, several, whole
from giantstep.errors import InputError, hint

Declared = TypeVar("Declared", bound=Callable[..., Any])
Check = Callable[[Any, str], Any]


def given(**checks: Check | Entries) -> Callable[[Declared], Declared]:
    """Declare what the arguments of a function, or the fields of a class, must be.

    Examples:
        >>> wide = given(width=whole)(lambda width: width)
        >>> wide(3)
        3
        >>> wide("3")
        Traceback (most recent call last):
        giantstep.errors.InputError: <lambda>: width must be a whole number of at least 1, not '3'
        >>> wide()
        Traceback (most recent call last):
        giantstep.errors.InputError: <lambda> needs 'width': write <lambda>(width=...)
    """

    def declare(call: Declared) -> Declared:
        if isinstance(call, type):
            # annotations of fields say what is kept, not what may be given
            call.__init__ = _declared(call.__init__, call.__name__, checks, annotated=False)  # type: ignore[misc]
            return call  # type: ignore[return-value]
        return _declared(call, call.__name__, checks, annotated=True)

    return declare


def _declared(call: Any, name: str, declared: dict[str, Check | Entries], *, annotated: bool) -> Any:
    parameters = dict(inspect.signature(call).parameters)
    checks = _all(parameters, declared, annotated=annotated)
    shared = Lengths({key: each for key, each in checks.items() if isinstance(each, ArrayCheck)})
    places = tuple(key for key, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD)
    open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    defaults = {key: each.default for key, each in parameters.items()}
    extra = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    needed = tuple(key for key, each in parameters.items() if each.default is each.empty and each.kind not in extra)

    @wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        values = dict(zip(places, args, strict=False))
        fits = len(args) <= len(places)
        if kwargs:
            fits = fits and values.keys().isdisjoint(kwargs)
            fits = fits and (open_ended or kwargs.keys() <= parameters.keys())
            values.update(kwargs)
        for key in needed:
            fits = fits and key in values
        if not fits:
            raise _misfit(name, parameters, places, len(args), kwargs)
        try:
            for key, value in values.items():
                if key in checks and value is not defaults[key]:
                    values[key] = checks[key](value, key)
            if shared.axes:
                shared.agree(values)
        except InputError as error:
            raise type(error)(f"{name}: {error}") from None
        return call(**values)

    checked.__declared__ = checks  # type: ignore[attr-defined]
    return checked


def _all(
    parameters: dict[str, inspect.Parameter], declared: dict[str, Check | Entries], *, annotated: bool
) -> dict[str, Check]:
    """The checks that are named, and those that annotations of arrays declare."""
    unknown = declared.keys() - parameters.keys()
    assert not unknown, f"no such argument: {unknown}"
    entries = {key: check for key, check in declared.items() if isinstance(check, Entries)}
    read = parameters if annotated else {}
    found = {key: array_check(each.annotation, entries.get(key, ANY)) for key, each in read.items()}
    arrays = {key: check for key, check in found.items() if check is not None}
    return arrays | {key: check for key, check in declared.items() if not isinstance(check, Entries)}


def _misfit(
    name: str, parameters: dict[str, inspect.Parameter], places: tuple[str, ...], count: int, given: Iterable[str]
) -> InputError:
    """The refusal of a call whose arguments do not fit the signature."""
    known = [key for key, each in parameters.items() if key != "self" and each.kind is not each.VAR_KEYWORD]
    closed = all(each.kind is not each.VAR_KEYWORD for each in parameters.values())
    for one in given:
        if closed and one not in known:
            return InputError(f"{name} has no argument {one!r}{hint(one, known)}")
        if one in places[:count]:
            return InputError(f"{name} is given the argument {one!r} twice")
    hidden = "self" in places
    if count > len(places):
        most = len(places) - hidden
        arguments = "one argument" if most == 1 else f"{most} arguments"
        return InputError(f"{name} takes at most {arguments} without a name, not {count - hidden}")
    there = {*places[:count], *given}
    needed = [key for key in known if parameters[key].default is inspect.Parameter.empty]
    missing = [repr(key) for key in needed if key not in there]
    listed = " and ".join([", ".join(missing[:-1])] * (len(missing) > 1) + missing[-1:])
    whole = ", ".join(f"{key}=..." for key in needed)
    return InputError(f"{name} needs {listed}: write {name}({whole})")


def a(*kinds: type) -> Check:
    """One of these types."""
    said = [{str: "text", PurePath: "path"}.get(kind, kind.__name__) for kind in kinds]
    names = " or ".join(f"{'an' if name[0] in 'AEIOU' else 'a'} {name}" for name in said)

    def check(value: Any, what: str) -> Any:
        if not isinstance(value, kinds):
            other = value.__name__ if isinstance(value, type) else type(value).__name__
            raise InputError(f"{what} must be {names}, not {'the class ' * isinstance(value, type)}{other}")
        return value

    return check


def at_least(least: int, most: int | None = None) -> Check:
    """A whole number in a range."""
    return partial(whole, least=least, most=most)


def number(least: float, most: float = inf) -> Check:
    """A finite number in a range."""
    return partial(real, least=least, most=most)


def one_of(*options: str) -> Check:
    """One of the spelled options."""

    def check(value: Any, what: str) -> str:
        return choice(value, options, what)

    return check


def maybe(check: Check) -> Check:
    """None as well, where it is not the default."""

    def checked(value: Any, what: str) -> Any:
        return None if value is None else check(value, what)

    return checked


def list_of(check: Check, names: str = "") -> Check:
    """Any number of them, as a tuple; ``names`` is what a refusal calls them."""

    def checked(value: Any, what: str) -> tuple[Any, ...]:
        entries = several(value, what)
        if entries is None:
            raise InputError(f"{what} must be a list{names and ' of '}{names}, not {quoted(value)}")
        return tuple(check(each, f"every entry of {what}") for each in entries)

    return checked


def table(value: Any, what: str) -> Mapping[str, Any]:
    """A table of names and what they stand for."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{what} must be a table of names and values, not {quoted(value)}")
    return value


def text(value: Any, what: str) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text, not {quoted(value)}")
    return value


def one_or_more(check: Check) -> Check:
    """One, or a list of them as a tuple."""

    def checked(value: Any, what: str) -> Any:
        entries = None if isinstance(value, str) else several(value, what)
        if entries is None:
            return check(value, what)
        return tuple(check(each, f"every entry of {what}") for each in entries)

    return checked


texts = one_or_more(text)
"""A text, or several."""


def a_path(value: Any, what: str) -> Any:
    """The name of a file: a text or a path."""
    if not isinstance(value, str | PathLike) or isinstance(value, PathLike) and not isinstance(value.__fspath__(), str):
        raise InputError(f"{what} must be the path of a file, not {quoted(value)}")
    try:
        good = all(b"\0" not in part and len(part) < 256 for part in map(fsencode, PurePath(value).parts))
    except UnicodeEncodeError:
        good = False
    if not good:
        raise InputError(f"{what} must be a path that a file can have, not {quoted(value)}")
    return value


def anything(value: Any, what: str) -> Any:
    """Judged by the verb itself."""
    return value

"""A verb and the module that holds it share a name: ``gs.simulate(setting)`` and ``gs.simulate.dense``.

Importing a submodule binds its name in the package, which would hide a function of the same name. So the module itself
can be called, and calling it calls the verb. A mistyped argument is answered with the nearest name; ``named`` gives this to
the other verbs and to the nouns.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

from giantstep.errors import InputError, hint

Named = TypeVar("Named", bound=Callable[..., Any])


def callable_module(name: str, verb: Callable[..., Any]) -> None:
    """Make the module ``name`` callable as ``verb``, with its signature; it can be pickled by name."""

    class Verb(ModuleType):
        __doc__ = verb.__doc__
        __wrapped__ = staticmethod(verb)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if kwargs:
                _check_names(verb, verb.__name__, kwargs)
            return verb(*args, **kwargs)

        def __reduce__(self) -> Any:
            return importlib.import_module, (name,)

    sys.modules[name].__class__ = Verb


def named(call: Named) -> Named:
    """A function, or a class of frozen data, that answers a mistyped argument with the nearest name and one that is missing with
    what to write; its signature stays.

    Examples:
        >>> named(lambda width: width)(widht=3)
        Traceback (most recent call last):
        giantstep.errors.InputError: <lambda> has no argument 'widht'; did you mean 'width'?
        >>> named(lambda width, activation: width)(3)
        Traceback (most recent call last):
        giantstep.errors.InputError: <lambda> needs 'activation': write <lambda>(width=..., activation=...)
    """
    if isinstance(call, type):
        call.__init__ = _checked(call.__init__, call.__name__)  # type: ignore[misc]
        return call  # type: ignore[return-value]
    return _checked(call, call.__name__)


def _checked(call: Any, name: str) -> Any:
    @wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except TypeError:
            _check_names(call, name, kwargs)
            _check_missing(call, name, args, kwargs)
            raise

    return checked


def _check_names(call: Callable[..., Any], name: str, given: Iterable[str]) -> None:
    """Refuse an argument that a call does not have."""
    known = [each for each in inspect.signature(call).parameters.values() if each.name != "self"]
    if any(each.kind is each.VAR_KEYWORD for each in known):
        return
    names = [each.name for each in known]
    for one in given:
        if one not in names:
            raise InputError(f"{name} has no argument {one!r}{hint(one, names)}") from None


def _check_missing(call: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a call that leaves out what has no default."""
    signature = inspect.signature(call)
    try:
        given = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:  # too many, or one twice, which Python tells
        return
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        each.name for each in signature.parameters.values() if each.default is each.empty and each.kind not in variable
    ]
    missing = [repr(each) for each in needed if each not in given]
    if missing:
        whole = ", ".join(f"{each}=..." for each in needed if each != "self")
        listed = " and ".join([", ".join(missing[:-1])] * (len(missing) > 1) + missing[-1:])
        raise InputError(f"{name} needs {listed}: write {name}({whole})") from None

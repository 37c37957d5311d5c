"""A verb and the module that holds it share a name: ``gs.simulate(setting)`` and ``gs.simulate.dense``.

Importing a submodule binds its name in the package, which would hide a function of the same name. So the module itself
can be called, and calling it calls the verb. A mistyped argument is answered with the nearest name.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from giantstep.errors import InputError, hint


def callable_module(name: str, verb: Callable[..., Any]) -> None:
    """Make the module ``name`` callable as ``verb``, with its signature; it can be pickled by name."""

    class Verb(ModuleType):
        __doc__ = verb.__doc__
        __wrapped__ = staticmethod(verb)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if kwargs:
                _check_names(verb, kwargs)
            return verb(*args, **kwargs)

        def __reduce__(self) -> Any:
            return importlib.import_module, (name,)

    sys.modules[name].__class__ = Verb


def _check_names(verb: Callable[..., Any], given: Iterable[str]) -> None:
    """Refuse an argument that the verb does not have."""
    known = inspect.signature(verb).parameters
    if any(each.kind is each.VAR_KEYWORD for each in known.values()):
        return
    for name in given:
        if name not in known:
            raise InputError(f"{verb.__name__} has no argument {name!r}{hint(name, known)}")

"""A verb and the module that holds it share a name: ``gs.simulate(setting)`` and ``gs.simulate.dense``.

Importing a submodule binds its name in the package, which would hide a function of the same name. So the module itself
can be called, and calling it calls the verb.
"""

import importlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def callable_module(name: str, verb: Callable[..., Any]) -> None:
    """Make the module ``name`` callable as ``verb``, with its signature and its text for ``help``; it can be pickled by name."""

    class Verb(ModuleType):
        __wrapped__ = staticmethod(verb)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return verb(*args, **kwargs)

        def __reduce__(self) -> Any:
            return importlib.import_module, (name,)

    module = sys.modules[name]
    module.__class__ = Verb
    first, _, rest = (inspect.getdoc(verb) or "").partition("\n")
    module.__doc__ = f"{first}\n\n{verb.__name__}{inspect.signature(verb)}\n{rest}"

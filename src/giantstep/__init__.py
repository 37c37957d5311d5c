"""giantstep: the laboratory for feature learning in two-layer networks.

Describe a data law, a target, a network and a few giant gradient steps once, as a ``Setting``. ``simulate`` measures what a
finite network does with it, ``equivalent`` what a simpler model does, and ``theory`` predicts it. Names are loaded when they
are first used, so that what needs no JAX does not import it; ``__init__.pyi`` lists them.
"""

import ast
import os
from importlib import import_module
from importlib.resources import files
from typing import Any

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # read when NumPy is loaded: see _machine.blas


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # here: half of the import, and seldom needed

    try:
        return version("giantstep")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0"


def _homes() -> dict[str, tuple[str, str]]:
    """The module and the name in it of every public name."""
    listed = ast.parse(files(__name__).joinpath("__init__.pyi").read_text(encoding="utf-8")).body
    lines = [line for line in listed if isinstance(line, ast.ImportFrom)]
    # the others are for types
    named = [(line.module, each.name) for line in lines for each in line.names if each.asname]
    homes = {name: (str(module), name) for module, name in named}
    return homes | {"system": homes["systems"]}


_HOMES = _homes()
__all__ = ["__version__", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]
    if name not in _HOMES:
        from giantstep.errors import hint

        raise AttributeError(f"module 'giantstep' has no attribute {name!r}{hint(name, __all__)}")
    home, inside = _HOMES[name]
    if home == "giantstep._verbs":
        value = import_module(f"giantstep.{name}")
    elif home.rpartition(".")[2] == inside:  # a verb: the module can be called, see _given.callable
        value = import_module(home)
    else:
        module = import_module(home) if home != __name__ else None
        value = getattr(module, inside) if hasattr(module, inside) else import_module(f"{home}.{inside}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

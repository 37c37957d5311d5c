"""The version of the code that numbers come from: a digest of the sources that they depend on."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from giantstep import __version__

__all__ = ["digest"]

_LEFT_OUT = ("cli", "lab", "explorer", "estimator.py", "plot.py", "canvas.py", "papers.py", "__pycache__")


@cache
def digest() -> str:
    """8 hexadecimal digits that change with the package's version and with any line that could change a measurement."""
    text = hashlib.sha256(__version__.encode())
    home = files("giantstep")
    for name, source in [*_sources(home, ""), ("lab/power.py", home.joinpath("lab", "power.py").read_bytes())]:
        text.update(name.encode())
        text.update(source)
    return text.hexdigest()[:8]


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    found = []
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.name in _LEFT_OUT:
            continue
        if each.is_dir():
            found += _sources(each, f"{path}{each.name}/")
        elif each.name.endswith(".py"):
            found.append((f"{path}{each.name}", each.read_bytes()))
    return found

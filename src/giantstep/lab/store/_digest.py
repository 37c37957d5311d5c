"""A digest of all source files, by which two machines see whether they have the same code."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from giantstep import __version__

PACKAGES = ("giantstep", "giantstep_papers")  # the import packages that are installed together


@cache
def digest() -> str:
    """8 hexadecimal digits that change with the package's version and with any byte of its sources."""
    text = hashlib.sha256(__version__.encode())
    for package in PACKAGES:
        for name, source in _sources(files(package), f"{package}/"):
            text.update(name.encode())
            text.update(source)
    return text.hexdigest()[:8]


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    sources = []
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_dir() and each.name != "__pycache__":
            sources += _sources(each, f"{path}{each.name}/")
        elif each.name.endswith(".py"):
            sources.append((f"{path}{each.name}", each.read_bytes()))
    return sources

"""A digest of source files, which is the version of the code that numbers come from."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from giantstep import __version__


@cache
def digest(*parts: str) -> str:
    """8 hexadecimal digits that change with the package's version and with any line of the sources named.

    Args:
        parts: files and folders of the package, such as "theory" or "claims/growth.py"; by default the whole package.
    """
    text = hashlib.sha256(__version__.encode())
    for part in parts or ("",):
        place = files("giantstep").joinpath(*part.split("/"))
        for name, source in [(part, place.read_bytes())] if place.is_file() else _sources(place, f"{part}/"):
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

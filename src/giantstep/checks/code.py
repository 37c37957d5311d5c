"""The sources that a measurement and a verdict depend on. A stored result is used again only if none of them has changed."""

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from giantstep.lab.store.digest import digest

# Everything that computes numbers. Folders that only show numbers, or that claims do not use, are left out:
# _shown, citations, plot, lab.store, lab.sweep, lab.compare, estimator, explorer, cli.
COMPUTING = (
    "_given", "_machine", "functions", "experiment", "ridge", "measure", "results", "_training", "simulate", "equivalent",
    "theory", "explain", "systems", "lab/work",
)  # fmt: skip
_IMPORT = re.compile(r"^ *from giantstep\.claims(?:\.(\w+)[\w.]*)? import (\([^)]*\)|[^#\n]*)", re.MULTILINE)
_NAME = re.compile(r"(?<!as )\b(?!as\b)\w+")  # of those imported, not the one it has from then on
JUDGING = ("checks", "plot")  # what turns numbers into a verdict, with its figure


def computing() -> str:
    """The version of the code that computes numbers."""
    return digest(*COMPUTING)


def measuring(claim: str) -> str:
    """The version of the sources of a claim: the folder of its paper, and the modules of ``claims`` that it imports."""
    return digest(*_own(claim.partition("/")[0].replace("-", "_")))


def judging(claim: str) -> str:
    """The version of these sources and of the code that judges."""
    return f"{measuring(claim)}-{digest(*JUDGING)}"


@cache
def _own(paper: str) -> tuple[str, ...]:
    home, parts, todo = files("giantstep.claims"), set(), [paper]
    while todo:
        name = todo.pop()
        place = home.joinpath(name)
        place = place if place.is_dir() else home.joinpath(f"{name}.py")
        part = f"claims/{place.name}"
        if part in parts or not (place.is_dir() or place.is_file()):
            continue
        parts.add(part)
        todo += [name for source in _texts(place) for name in _used(source)]
    return tuple(sorted(parts)) or ("claims/__init__.py",)


def _texts(place: Traversable) -> list[str]:
    """The sources of a file, or of a folder and those inside it."""
    if place.is_dir():
        return [text for one in place.iterdir() for text in _texts(one)]
    return [place.read_text(encoding="utf-8")] if place.name.endswith(".py") else []


@cache
def _used(source: str) -> list[str]:
    """The folders and files of ``claims`` that a source imports."""
    found = [([first] if first else _NAME.findall(names)) for first, names in _IMPORT.findall(source)]
    return [name for names in found for name in names]

"""The versions of the code that stored results come from.

A stored result is used again as long as its version is the same. A version has 8 hexadecimal
digits. It follows what the sources import, and counts neither docstrings nor comments nor the
words of a claim.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from giantstep.checks.code._graph import Graph
from giantstep.checks.code._uses import Asked
from giantstep.lab.store._digest import PACKAGES, digest

if TYPE_CHECKING:
    from giantstep.lab.store import Store

MEASURED = ("measure", "predict", "predict_draws")  # the functions of a claim that make numbers
# These show numbers and make none, so no measurement depends on them.
SHOWING = ("giantstep.plot", "giantstep._shown", "giantstep.citations")
# Here measuring, judging and drawing stand side by side.
PARTED = ("giantstep.checks", "giantstep_papers")
# A bench keeps numbers and spreads work. What computes them is followed from the claim.
CUTS = {"giantstep.checks.cache": ("giantstep.lab", "giantstep.checks.code")}
JUDGING = (("giantstep.checks._check", ("gather",)), ("giantstep.checks.verdict", ("rule",)))
# A task is a simulation, an equivalent model or a prediction; the trials of claims are of the first two.
TRIALS, PREDICTION = "giantstep.lab.work._perform", "giantstep.theory"

_KNOWN: dict[str, str] = {}  # versions of verdicts


@cache
def library() -> Graph:
    """The graph of this installation."""
    return Graph({name: Path(str(files(name))) for name in PACKAGES}, PACKAGES, PARTED)


@cache
def measuring(claim: str) -> str:
    """The version of what makes the numbers of a claim, by the module of the claim."""
    return library().version(measured(library(), claim), SHOWING, CUTS)


def judging(claim: str) -> str:
    """The version of the whole module of a claim with its figure, and of the rule that judges."""
    if claim not in _KNOWN:
        _KNOWN[claim] = library().version([(claim, ()), *JUDGING], cuts=CUTS)
    return _KNOWN[claim]


def recall(store: "Store", claims: Iterable[str]) -> None:
    """Take the versions of verdicts from a store, or write them to it.

    To find those of all claims takes a second. A store has them for sources of which not a byte
    has changed. Modules outside of the packages are not among them.
    """
    for claim in claims:
        if claim in _KNOWN or claim.partition(".")[0] not in PACKAGES:
            continue
        key = f"version {digest()} {claim}"
        record = store.get_record(key)
        if record is None:
            store.put_record(key, judging(claim))
        else:
            _KNOWN[claim] = record[0]


@cache
def calling(function: str) -> str:
    """The version of a function that is called by ``module:name``."""
    module, _, name = function.partition(":")
    return library().version([(module, (name,))], SHOWING, CUTS)


@cache
def trials() -> str:
    """The version of what simulates settings and their equivalent models."""
    return library().version([(TRIALS, ())], (*SHOWING, PREDICTION))


def measured(graph: Graph, claim: str) -> list[tuple[str, Asked]]:
    """What makes the numbers of a claim: its functions of these names, or else its whole module."""
    source = graph.source(claim)
    known = {*source.binding, *source.shared} if source is not None else set()
    return [(claim, (name,)) for name in MEASURED if name in known] or [(claim, ())]

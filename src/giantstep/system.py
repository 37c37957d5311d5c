"""System: an experiment that is no ``Setting``: a small frozen noun of its own, with the same verbs.

``simulate(system, seed)`` and ``theory(system)`` give a ``Finding`` each; ``giantstep simulate | predict | compare FILE`` do so
for a file whose first line says ``system = "kind"``. The kind names three modules: the noun ``giantstep.kind``, what measures
it, ``simulate.kind.measured(system, seed)``, and what predicts it, ``theory.kind.predicted(system)``; both give ``Reading``.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import tomli_w

from giantstep._errors import InputError
from giantstep._record import build, choice, identifier, plain, whole
from giantstep.dataset import Dataset
from giantstep.finding import Curve, Finding, Number, pooled
from giantstep.outcome import Status
from giantstep.setting import Setting, read_plain, without_none

__all__ = ["KINDS", "Reading", "System", "from_plain", "measured", "predicted", "read", "refuse_options"]

KINDS: dict[str, str] = {
    "attack": "Attack",
    "bounds": "Bounds",
    "early": "Early",
    "kernel": "FunctionSpace",
    "mean_field": "MeanField",
}  # kind: the name of its noun


class Reading(NamedTuple):
    """What a route returns: numbers and curves by name, and sentences; one that starts "not " says not to trust them."""

    numbers: Mapping[str, Number | float] = {}
    curves: Mapping[str, Curve] = {}
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """The base of such nouns. ``kind`` is its word in files; ``words`` say in a few words what each number and curve is."""

    kind: ClassVar[str]
    words: ClassVar[Mapping[str, str]] = {}

    def said(self, name: str) -> str:
        """A number or curve in words."""
        return self.words.get(name, name.replace("_", " "))

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits that depend on the content alone."""
        return identifier(self.to_plain())

    def to_plain(self) -> dict[str, Any]:
        return {"system": self.kind, **plain(self)}

    def to_toml(self) -> str:
        return tomli_w.dumps(without_none(self.to_plain()))

    @classmethod
    def from_plain(cls, data: Any) -> "System":
        """From the fields of a file, without ``system``; a noun with nouns inside overrides this."""
        return build(cls, data, cls.kind)


def from_plain(data: Any) -> Setting | System:
    """A setting, or the system that ``system = "kind"`` names."""
    if not isinstance(data, Mapping) or "system" not in data:
        return Setting.from_plain(data)
    kind = choice(data["system"], tuple(KINDS), "system")
    noun = getattr(import_module(f"giantstep.{kind}"), KINDS[kind])
    return noun.from_plain({key: value for key, value in data.items() if key != "system"})


def read(path: str | Path) -> Setting | System:
    """A setting or a system from a .toml or .json file."""
    data = read_plain(path)
    try:
        return from_plain(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def measured(system: System, seed: int | Iterable[int], measure: Callable[[Any, int], Reading]) -> Finding:
    """The mean over seeds of what ``measure(system, seed)`` finds."""
    given = tuple(seed) if isinstance(seed, Iterable) else (seed,)
    seeds = tuple(whole(s, "seed", least=0) for s in given)
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError("seed must be a whole number, or several that differ")
    return pooled([_finding(system, "simulate", lambda s=s: measure(system, s), (s,)) for s in seeds])


def refuse_options(system: System, verb: Callable[..., Any], **given: Any) -> None:
    """Options of a verb that are for settings, where one was given."""
    defaults = signature(verb).parameters
    for name, value in given.items():
        if value is not defaults[name].default and value != defaults[name].default:
            raise InputError(f"{name} is an option for a Setting: a system of kind {system.kind!r} does not take it")


def predicted(system: System, predict: Callable[[Any], Reading]) -> Finding:
    """What ``predict(system)`` says."""
    return _finding(system, "theory", lambda: predict(system), None)


def _finding(system: System, route: str, work: Callable[[], Reading], seeds: tuple[int, ...] | None) -> Finding:
    start = time.perf_counter()
    parts = work()
    numbers = {k: v if isinstance(v, Number) else Number(float(v)) for k, v in parts.numbers.items()}
    unknown = [k for k, v in numbers.items() if not np.isfinite(v.value)]
    unknown += [k for k, c in parts.curves.items() if not np.all(np.isfinite(c.y))]
    data = getattr(system, "data", None)
    source = data.notes if isinstance(data, Dataset) else ()
    notes = tuple(parts.notes) + source + tuple(f"not a number: {system.said(k)}" for k in unknown)
    status = Status(not any(note.startswith("not ") for note in notes), notes)
    return Finding(system, route, numbers, dict(parts.curves), seeds, status, time.perf_counter() - start)

"""System: an experiment that is not a ``Setting``. Finding: the numbers and curves that a route computes for it.

``simulate(system, seed)`` and ``theory(system)`` give a ``Finding`` each. A system defines them by two methods, ``measured`` and
``predicted``, which both return a ``Reading``. Each of the package's own systems is a folder of ``giantstep.systems``, where the
two are functions of the modules ``simulate`` and ``theory``.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np
import tomli_w
from numpy.typing import ArrayLike

from giantstep._given.declared import Check, a, at_least, given, list_of, maybe, one_of, table
from giantstep._given.plain import build, identifier, plain, real
from giantstep._given.seeds import checked as seeds_given
from giantstep._shown import html
from giantstep.errors import InputError, quoted
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.setting import without_none
from giantstep.measure import mean_and_error
from giantstep.results.outcome import Status
from giantstep.results.table import MAX_ROWS, aligned, shortened, with_error


class Number(NamedTuple):
    """A value and its standard error, if it has one."""

    value: float
    se: float | None = None

    @staticmethod
    def of(values: ArrayLike) -> "Number":
        """The mean of values, and its standard error."""
        return Number(*map(float, mean_and_error(np.asarray(values))))


class Curve(NamedTuple):
    """Values y over x; ``along`` says what x is. ``log`` names the logarithmic axes of a figure: "", "x", "y" or "xy"."""

    along: str
    x: np.ndarray
    y: np.ndarray
    se: np.ndarray | None = None
    log: str = ""


class Reading(NamedTuple):
    """Numbers and curves by name, notes, and doubts: sentences for which the numbers cannot be trusted."""

    numbers: Mapping[str, Number | float] = {}
    curves: Mapping[str, Curve] = {}
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """The base class of systems. ``kind`` is its name in files; ``words`` describes each number and curve in a few words."""

    kind: ClassVar[str]
    words: ClassVar[Mapping[str, str]] = {}

    def measured(self, seed: int) -> Reading:
        """Simulate one seed."""
        return import_module(f"{type(self).__module__}.simulate").measured(self, seed)

    def predicted(self) -> Reading:
        """Compute the predictions of theory."""
        return import_module(f"{type(self).__module__}.theory").predicted(self)

    def said(self, name: str) -> str:
        """The name of a number or curve in words."""
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
        """Make a system from the fields of a file, without ``system``; a system with nested nouns overrides this."""
        return build(cls, data, cls.kind)


def _named(kind: type) -> Check:
    """A table of names and values of this kind."""

    def check(value: Any, what: str) -> Any:
        for name, each in table(value, what).items():
            a(kind)(each, f"{what}[{quoted(name)}]")
        return value

    return check


@given(
    system=a(System),
    route=one_of("simulate", "theory"),
    numbers=_named(Number),
    curves=_named(Curve),
    seeds=maybe(list_of(at_least(0))),
    status=a(Status),
    seconds=real,
)
@dataclass(frozen=True, repr=False, eq=False)
class Finding:
    """The measurement of ``simulate`` or the prediction of ``theory`` for a system; both use the same names.

    Attributes:
        system: the experiment.
        route: "simulate" or "theory".
        numbers: numbers by name; the system's ``words`` say what a name means.
        curves: curves by name.
        seeds: the seeds of a simulation; None for theory.
        status: whether the numbers can be trusted.
        seconds: how long it took.

    Examples:
        >>> found = gs.simulate(gs.Attack(d=50, width=200, activation="tanh", networks=50), seed=0)
        >>> found.route, 0 < found["median"].value < 1  # a number, here a distance, with its standard error
        ('simulate', True)
        >>> found["flips"].along  # a curve
        'η'
    """

    system: System
    route: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    seeds: tuple[int, ...] | None = None
    status: Status = field(default_factory=Status)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the numbers can be trusted; ``status`` says why not."""
        return self.status.ok

    def __getitem__(self, name: str) -> Number | Curve:
        if not isinstance(name, str):
            raise InputError(f"a finding has numbers and curves by name, not by {quoted(name)}")
        if name in self.numbers:
            return self.numbers[name]
        if name in self.curves:
            return self.curves[name]
        raise InputError(f"this finding has no {quoted(name)}; it has {', '.join([*self.numbers, *self.curves])}")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "system": self.system.to_plain(),
            "route": self.route,
            "numbers": {k: {"value": float(v.value), "se": _plain(v.se)} for k, v in self.numbers.items()},
            "curves": {
                k: {"along": c.along, "x": _plain(c.x), "y": _plain(c.y), "se": _plain(c.se)} for k, c in self.curves.items()
            },
            "seeds": None if self.seeds is None else list(self.seeds),
            "status": {"ok": self.status.ok, "notes": list(self.status.notes)},
            "seconds": self.seconds,
        }  # fmt: skip

    def __repr__(self) -> str:
        tables = [line for header, body in _tables(self) for line in aligned(header, body)]
        return "\n".join([_heading(self), *tables, f"status: {self.status}  ({self.seconds:.1f} s)"])

    def _repr_html_(self) -> str:
        tables = [html.table(header, shortened(body, MAX_ROWS)) for header, body in _tables(self)]
        return html.block(_heading(self), *tables, html.line(f"status: {self.status}"))


def _heading(finding: Finding) -> str:
    count = len(finding.seeds or ())
    seeds = "" if finding.seeds is None else f", mean of {count} seed{'s' * (count > 1)}"
    return f"{finding.route}: {finding.system}{seeds}"


def _tables(finding: Finding) -> list[tuple[list[str], list[list[str]]]]:
    """The numbers, then every curve: a header and rows each."""
    said = finding.system.said
    numbers = [[said(k), with_error(v.value, v.se)] for k, v in finding.numbers.items()]
    tables = [(["quantity", "value"], numbers)] if numbers else []
    for name, c in finding.curves.items():
        body = [
            [f"{x:.4g}", with_error(float(y), None if c.se is None else float(c.se[i]))]
            for i, (x, y) in enumerate(zip(c.x, c.y, strict=True))
        ]
        tables.append(([c.along, said(name)], body))
    return tables


def _plain(value: Any) -> Any:
    return None if value is None else np.asarray(value, dtype=float).tolist()


def pooled(findings: Sequence[Finding]) -> Finding:
    """Average over seeds, with standard errors; one seed keeps the errors it has."""
    first = findings[0]
    if len(findings) == 1:
        return first
    numbers = {name: Number.of([f.numbers[name].value for f in findings]) for name in first.numbers}
    curves = {}
    for name, curve in first.curves.items():
        mean, error = mean_and_error(np.array([f.curves[name].y for f in findings]), 0)
        curves[name] = curve._replace(y=np.asarray(mean), se=np.asarray(error))
    notes = tuple(dict.fromkeys(note for f in findings for note in f.status.notes))
    seeds, status = tuple(s for f in findings for s in f.seeds or ()), Status(all(f.status.ok for f in findings), notes)
    return Finding(first.system, first.route, numbers, curves, seeds, status, sum(f.seconds for f in findings))


def measured(system: System, seed: int | Iterable[int]) -> Finding:
    """Simulate the system and average over the seeds."""
    seeds, _ = seeds_given(seed)
    return pooled([_finding(system, "simulate", lambda s=s: system.measured(s), (s,)) for s in seeds])


def refuse_options(system: System, verb: Callable[..., Any], **given: Any) -> None:
    """Raise if an option that is only for settings was given."""
    defaults = signature(verb).parameters
    for name, value in given.items():
        if value is not defaults[name].default and value != defaults[name].default:
            raise InputError(f"{name} is an option for a Setting; a system of kind {system.kind!r} does not take it")


def predicted(system: System) -> Finding:
    """Compute the theory of the system."""
    return _finding(system, "theory", system.predicted, None)


def _finding(system: System, route: str, work: Callable[[], Reading], seeds: tuple[int, ...] | None) -> Finding:
    start = time.perf_counter()
    parts = work()
    numbers = {k: v if isinstance(v, Number) else Number(float(v)) for k, v in parts.numbers.items()}
    unknown = [k for k, v in numbers.items() if not np.isfinite(v.value)]
    unknown += [k for k, c in parts.curves.items() if not np.all(np.isfinite(c.y))]
    data = getattr(system, "data", None)
    source = data.notes if isinstance(data, Dataset) else ()
    doubts = (*parts.doubts, *(f"This is not a number: {system.said(k)}." for k in unknown))
    status = Status(not doubts, (*doubts, *parts.notes, *source))
    return Finding(system, route, numbers, dict(parts.curves), seeds, status, time.perf_counter() - start)

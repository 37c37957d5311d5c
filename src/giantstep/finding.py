"""Finding: what a route finds out about a system. Numbers and curves, each with its standard error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giantstep._errors import InputError
from giantstep._table import aligned, with_error
from giantstep.measure import mean_and_error
from giantstep.outcome import Status

if TYPE_CHECKING:
    from giantstep.system import System


class Number(NamedTuple):
    """A value and its standard error, where it has one."""

    value: float
    se: float | None = None


class Curve(NamedTuple):
    """Values y over x; ``along`` says what x is. ``log`` names the axes that a picture has logarithmic: "", "x", "y" or "xy"."""

    along: str
    x: np.ndarray
    y: np.ndarray
    se: np.ndarray | None = None
    log: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Finding:
    """What ``simulate`` measured or ``theory`` predicts of a system: the same names on both routes.

    Attributes:
        system: what it is about.
        route: "simulate" or "theory".
        numbers: by name; the system's ``words`` say what a name means.
        curves: by name.
        seeds: those measured, None on a route without.
        status: whether the numbers can be trusted.
        seconds: how long it took.
    """

    system: "System"
    route: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    seeds: tuple[int, ...] | None = None
    status: Status = field(default_factory=Status)
    seconds: float = 0.0

    def __getitem__(self, name: str) -> Number | Curve:
        if name in self.numbers:
            return self.numbers[name]
        if name in self.curves:
            return self.curves[name]
        raise InputError(f"this finding has no {name!r}; it has {', '.join([*self.numbers, *self.curves])}")

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
        count = "" if self.seeds is None else f", mean of {len(self.seeds)} seed{'s' * (len(self.seeds) > 1)}"
        lines = [f"{self.route}: {self.system}{count}"]
        if self.numbers:
            body = [[self.system.said(k), with_error(v.value, v.se)] for k, v in self.numbers.items()]
            lines += aligned(["quantity", "value"], body)
        for name, c in self.curves.items():
            body = [
                [f"{x:.4g}", with_error(float(y), None if c.se is None else float(c.se[i]))]
                for i, (x, y) in enumerate(zip(c.x, c.y, strict=True))
            ]
            lines += aligned([c.along, self.system.said(name)], body)
        return "\n".join([*lines, f"status: {self.status}  ({self.seconds:.1f} s)"])

    __str__ = __repr__


def _plain(value: Any) -> Any:
    return None if value is None else np.asarray(value, dtype=float).tolist()


def pooled(found: Sequence[Finding]) -> Finding:
    """The mean over seeds with its standard error; one seed keeps the errors it has."""
    first = found[0]
    if len(found) == 1:
        return first
    numbers = {}
    for name in first.numbers:
        mean, error = mean_and_error(np.array([f.numbers[name].value for f in found]), 0)
        numbers[name] = Number(float(mean), float(error))
    curves = {}
    for name, curve in first.curves.items():
        mean, error = mean_and_error(np.array([f.curves[name].y for f in found]), 0)
        curves[name] = curve._replace(y=np.asarray(mean), se=np.asarray(error))
    notes = tuple(dict.fromkeys(note for f in found for note in f.status.notes))
    return Finding(
        first.system,
        first.route,
        numbers,
        curves,
        tuple(s for f in found for s in f.seeds or ()),
        Status(all(f.status.ok for f in found), notes),
        sum(f.seconds for f in found),
    )

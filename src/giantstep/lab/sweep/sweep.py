"""Sweep: a setting with axes, seeds and routes; every combination is a trial.

A short name stands for every field whose path ends with it: ``n`` is the batch of every step and of the readout, ``eta`` the
size of every step, ``steps.0.n`` the batch of the first step, and ``p`` the width. Any other name is a parameter for expressions.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from giantstep._given.plain import choice, identifier
from giantstep._given.seeds import checked as seeds_given
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.lab.store._setting_paths import filled, flatten
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.store.trial import Route, Trial
from giantstep.lab.sweep import _arithmetic as arithmetic
from giantstep.lab.sweep.axis import MAX_POINTS, MAX_TRIALS, Axis, Value, axis, together

__all__ = ["SweepPoint", "Sweep", "make"]

MEASURES = tuple(
    name for name in (*NUMBERS, *ARRAYS) if not name.endswith(("_se", "_band")) and name not in ("eta", "penalty")
)
HOW_EXPRESSIONS_ARE_WRITTEN = (
    'an expression is a text, as in {"d": [40, 60], "n": "2*d"}, or a ratio, as in {"n/d": [1, 2]}'
)
_SPECTRAL = ("singular_values", "bulk_edge", "outliers")


@dataclass(frozen=True)
class SweepPoint:
    """One combination of the axes: its place along each of them, the values of all names, and the setting."""

    place: tuple[int, ...]
    values: Mapping[str, Value]
    setting: Setting


@dataclass(frozen=True)
class Sweep:
    """A sweep to run; ``make`` builds one from lists and expressions.

    Attributes:
        base: the setting that the axes change.
        axes: the dimensions.
        formulas: names that are expressions of others, in the order in which they can be computed.
        seeds: the seeds of the random routes.
        routes: how the numbers are computed.
        measures: the fields of the outcomes that tables and figures show.
    """

    base: Setting
    axes: tuple[Axis, ...]
    formulas: tuple[tuple[str, str], ...] = ()
    seeds: tuple[int, ...] = (0,)
    routes: tuple[Route, ...] = (Route("simulate"),)
    measures: tuple[str, ...] = ("test_error",)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(each) for each in self.axes)

    @cached_property
    def points(self) -> tuple[SweepPoint, ...]:
        """Every combination of the axes, the last one moving fastest."""
        return tuple(self._points())

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits that depend on the settings, seeds and routes alone."""
        routes = [route.key for route in self.routes]
        return identifier([[point.setting.id for point in self.points], list(self.seeds), routes])

    def trials(self) -> Iterator[Trial]:
        """All trials: routes, points and seeds, in this order."""
        for route in self.routes:
            for point in self.points:
                for seed in self.seeds if route.random else (None,):
                    yield Trial(point.setting, seed, route)

    def __len__(self) -> int:
        """How many trials there are."""
        return math.prod(self.shape) * sum(len(self.seeds) if route.random else 1 for route in self.routes)

    def _points(self) -> Iterator[SweepPoint]:
        plain = self.base.to_plain()
        leaves = filled(flatten(plain))
        places = {name: _places(name, plain, leaves) for each in self.axes for name in each.names}
        places |= {name: _places(name, plain, leaves) for name, _ in self.formulas}
        ends = ("p", *dict.fromkeys(path.rpartition(".")[2] for path in leaves))
        numbers = {name: x for name in ends if isinstance(x := _one(name, leaves), int | float)}
        rounded = {name for each in self.axes for name in each.spaced} | {name for name, _ in self.formulas}
        whole_ones = {name for name in rounded if any(isinstance(leaves.get(path), int) for path in places[name])}
        for place in product(*(range(len(each)) for each in self.axes)):
            rows = [zip(each.names, each.values[i], strict=True) for each, i in zip(self.axes, place, strict=True)]
            values = {name: v for row in rows for name, v in row}
            values = {name: round(v) if name in whole_ones else v for name, v in values.items()}  # type: ignore[arg-type]
            for name, text in self.formulas:
                number = arithmetic.value(text, numbers | _known(values))
                values[name] = round(number) if name in whole_ones else number
            yield SweepPoint(place, values, self._setting(plain, values, places))

    def _setting(self, plain: dict[str, Any], values: Mapping[str, Value], places: Mapping[str, tuple]) -> Setting:
        changed = copy.deepcopy(plain)
        for name, value in values.items():
            for path in places[name]:
                _put(changed, path, value)
        try:
            return Setting.from_plain(changed)
        except InputError as problem:
            at = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise InputError(f"the sweep cannot make a setting at {at}: {problem}") from None


def make(
    base: Setting,
    axes: Mapping[str, Any],
    *,
    zipped: Iterable[Mapping[str, Any]] = (),
    seeds: int | Iterable[int] = (0,),
    routes: str | Iterable[str | Route] = ("simulate",),
    measures: str | Iterable[str] = ("test_error",),
    random: str = "auto",
) -> Sweep:
    """Make a sweep and check it: every axis names a field, and every combination is a valid setting. ``random`` says who draws
    the numbers of a route that does not say so itself."""
    if not isinstance(base, Setting):
        raise InputError(f"a sweep starts from a Setting, not {type(base).__name__}")
    if not isinstance(axes, Mapping):
        raise InputError("the axes are a table of names and their values")
    dimensions = [axis(name, given) for name, given in axes.items() if not isinstance(given, str)]
    dimensions += [together(group) for group in zipped]
    ratios = [pair for each in dimensions for name in each.names for pair in _ratio(name)]
    formulas = [(name, given) for name, given in axes.items() if isinstance(given, str)] + ratios
    _once([name for each in dimensions for name in each.names] + [name for name, _ in formulas])
    wanted = (measures,) if isinstance(measures, str) else tuple(measures)
    if not wanted:
        raise InputError("a sweep needs at least one measure")
    for name in wanted:
        choice(name, MEASURES, "measure")
    listed = tuple(_route(each, wanted) for each in ((routes,) if isinstance(routes, str | Route) else routes))
    if not listed or len(set(listed)) < len(listed):
        raise InputError("a sweep needs at least one route, and no route twice")
    chosen, _ = seeds_given(seeds)
    sweep = Sweep(base, tuple(dimensions), tuple(_ordered(dict(formulas))), chosen, listed, wanted)
    _check(sweep)
    return replace(sweep, routes=tuple(_drawn(route, random, base) for route in listed))


def _drawn(route: Route, random: str, base: Setting) -> Route:
    """The route with "host" or "device" in the place of "auto", so that a stored number says who drew."""
    choice(random, ("auto", "host", "device"), "random")
    if not route.random or "random" in dict(route.options) or random == "host":
        return route
    from giantstep._training.source import resolved  # imports JAX: after the sweep has been checked

    return Route(route.verb, {**dict(route.options), "random": resolved(random, base)})


def _ratio(name: str) -> Iterator[tuple[str, str]]:
    """The expression that an axis such as ``n/d`` stands for: n is ``n_over_d*d``."""
    above, slash, below = (part.strip() for part in name.partition("/"))
    if slash:
        yield above, f"{_alias(name)}*{below}"


def _alias(name: str) -> str:
    """The name by which expressions know an axis: ``n_over_d`` for the ratio ``n/d``."""
    return "_over_".join(part.strip() for part in name.split("/")).replace(".", "_") if "/" in name else name


def _known(values: Mapping[str, Value]) -> dict[str, float]:
    """The numbers among the values, as expressions know them; p is the width."""
    known: dict[str, float] = {_alias(name): v for name, v in values.items() if isinstance(v, int | float)}
    width = {known[name] for name in ("p", "width") if name in known}
    return {**known, **{name: next(iter(width)) for name in ("p", "width") if width}}


def _once(names: list[str]) -> None:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(f"{doubled[0]!r} is given twice in the sweep")


def _check(sweep: Sweep) -> None:
    names = [name for each in sweep.axes for name in each.names] + [name for name, _ in sweep.formulas]
    if math.prod(sweep.shape) > MAX_POINTS:
        raise InputError(f"the sweep has {math.prod(sweep.shape)} points; a sweep may have at most {MAX_POINTS}")
    if len(sweep) > MAX_TRIALS:
        raise InputError(f"the sweep has {len(sweep)} trials; a sweep may have at most {MAX_TRIALS}")
    plain = sweep.base.to_plain()
    leaves = filled(flatten(plain))
    used = {name for _, text in sweep.formulas for name in arithmetic.names(text)}
    owners: dict[str, str] = {}
    for name in names:
        places = _places(name, plain, leaves)
        if not places and _alias(name) not in used:
            known = ", ".join(dict.fromkeys(path.rpartition(".")[2] for path in leaves))
            raise InputError(
                f"the setting has no field {name!r} and no expression uses it; fields are {known}; {HOW_EXPRESSIONS_ARE_WRITTEN}"
            )
        for path in places:
            other = next(
                (owners[each] for each in owners if f"{path}.".startswith(f"{each}.") or each.startswith(f"{path}.")),
                None,
            )
            if other is not None:
                raise InputError(f"{name!r} and {other!r} both set {path}")
            owners[path] = name
    for point in sweep.points[:1]:
        Trial(point.setting, None, Route("theory"))  # this refuses lists in the base setting
    first: dict[str, SweepPoint] = {}
    for point in sweep.points:
        other = first.setdefault(point.setting.id, point)
        if other is not point:
            values = " and ".join(", ".join(f"{k} = {v}" for k, v in each.values.items()) for each in (other, point))
            raise InputError(f"two points of the sweep have the same setting: {values}")


def _route(given: str | Route, measures: tuple[str, ...]) -> Route:
    route = given if isinstance(given, Route) else Route.parse(given)
    if not any(name in _SPECTRAL for name in measures):
        return route
    return Route(route.verb, {**dict(route.options), "spectrum": True})  # type: ignore[arg-type]


def _ordered(formulas: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Sort the expressions so that each comes after those it uses."""
    left = dict(formulas)
    while left:
        ready = [name for name, text in left.items() if not set(arithmetic.names(text)) & set(left)]
        if not ready:
            raise InputError(f"the expressions of {' and '.join(left)} need each other")
        for name in ready:
            yield name, left.pop(name)


def _one(name: str, leaves: Mapping[str, Any]) -> Any:
    """The value of a short name, if all fields it stands for agree; otherwise None."""
    end = "width" if name == "p" else name
    values = {leaves[path] for path in leaves if path == end or path.endswith(f".{end}")}
    return values.pop() if len(values) == 1 else None


def _places(name: str, plain: Mapping[str, Any], leaves: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths that a name stands for. A step size that is a power is set as a whole."""
    steps = plain["protocol"].get("steps", ())
    paths = dict.fromkeys([*leaves, *(f"protocol.steps.{t}.eta" for t in range(len(steps)))])
    end = "width" if name == "p" else name
    return tuple(path for path in paths if path == end or path.endswith(f".{end}"))


def _put(plain: dict[str, Any], path: str, value: Value) -> None:
    *parents, last = path.split(".")
    inner: Any = plain
    for key in parents:
        if isinstance(inner, list):
            inner = inner[int(key)]
        else:
            inner = inner.setdefault(key, {})
    inner[last] = {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value

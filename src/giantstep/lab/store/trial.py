"""Trial: one run, identified by a setting, a seed and a route; a store has one row for each."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from giantstep._given.declared import a, given, text
from giantstep._given.plain import choice, flag, real, several, whole
from giantstep.errors import InputError, quoted
from giantstep.experiment.setting import Setting

__all__ = ["DEFAULTS", "Route", "Trial"]

Value = str | int | float | bool | None

# The options of the verbs with their defaults. A test compares them with the signatures, whose modules would import JAX.
# Only random differs: there it is "auto", which depends on the machine, and a stored number must say who drew.
_MEASURED: dict[str, Value] = {"n_test": 10_000, "spectrum": False, "dtype": "float64", "random": "host"}
DEFAULTS: dict[str, dict[str, Value]] = {
    "simulate": {"method": "auto", **_MEASURED, "precision": "full"},
    "equivalent": {
        "model": "gaussian",
        "degree": None,
        "base": "network",
        "directions": None,
        "spikes": None,
        "width": None,
        **_MEASURED,
    },  # fmt: skip
    "theory": {"regime": "finite", "spectrum": False, "nodes": 256},
}
OLDER = {("theory", "spectra"): "spectrum"}  # names that files written before may have
MODELS = ("gaussian", "spiked", "conditional", "hermite")  # of the verb equivalent, whose module imports JAX
REAL = ("width",)  # options that are any number, where others are whole
RANDOM = ("simulate", "equivalent")  # the verbs that take a seed


@given()
@dataclass(frozen=True)
class Route:
    """The way a number is computed: a verb, and those of its options that are not at their default.

    Attributes:
        verb: "simulate", "equivalent" or "theory".
        options: sorted pairs of name and value; a mapping is accepted too. Seed, memory, progress, solver and
            devices are not among them, because they do not change the number.
    """

    verb: str
    options: tuple[tuple[str, Value], ...] = ()

    if TYPE_CHECKING:  # what is accepted, where the fields say what is kept

        def __init__(self, verb: str, options: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.verb, str) and self.verb in MODELS:
            raise InputError(
                f"{quoted(self.verb)} is an equivalent model: write the route as 'equivalent(model={self.verb})'"
            )
        choice(self.verb, tuple(DEFAULTS), "route")
        given = self.options.items() if isinstance(self.options, Mapping) else self.options
        known = DEFAULTS[self.verb]
        checked = {}
        for name, value in _pairs(given):
            name = OLDER.get((self.verb, name), name)
            if name not in known:
                raise InputError(
                    f"the route {self.verb!r} has no option {quoted(name)}; it has {', '.join(sorted(known))}"
                )
            what = f"the option {name!r} of the route {self.verb!r}"
            if name == "random":
                choice(value, ("host", "device"), what)
            measured = name in REAL and value is not None
            checked[name] = real(value, what) if measured else _checked(value, known[name], what)
        changed = sorted((name, value) for name, value in checked.items() if value != known[name])
        object.__setattr__(self, "options", tuple(changed))

    @cached_property
    def key(self) -> str:
        """Canonical text, such as ``simulate`` or ``equivalent(degree=2, model=spiked)``."""
        inside = ", ".join(f"{name}={_text(value)}" for name, value in self.options)
        return f"{self.verb}({inside})" if inside else self.verb

    @property
    def random(self) -> bool:
        """Whether it takes a seed."""
        return self.verb in RANDOM

    @property
    def regime(self) -> str | None:
        """The regime of a prediction; None for what is measured."""
        value = {**DEFAULTS[self.verb], **dict(self.options)}.get("regime")
        return None if value is None else str(value)

    @staticmethod
    @given(text=text)
    def parse(text: str) -> "Route":
        """Read a route from its key; options at their default may be written too."""
        match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", text)
        if match is None:
            raise InputError(
                f"a route must look like simulate or equivalent(model=spiked, degree=2), not {quoted(text)}"
            )
        pairs = [part.partition("=") for part in (match[2] or "").split(",") if part.strip()]
        return Route(match[1], tuple((name.strip(), _value(value.strip())) for name, _, value in pairs))

    def __str__(self) -> str:
        return self.key


def _pairs(options: Any) -> Iterator[tuple[str, Any]]:
    """Names and values."""
    entries = several(options, "the options of a route")
    if entries is None:
        raise InputError(f"the options of a route must be a table of names and values, not {quoted(options)}")
    for each in entries:
        pair = several(each, "an option of a route")
        if pair is None or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"an option of a route must be a name and a value, not {quoted(each)}")
        yield pair[0], pair[1]


@given(setting=a(Setting), route=a(Route))
@dataclass(frozen=True)
class Trial:
    """One setting with one step size and one penalty or rate, one seed (None if the route is not random), and one route."""

    setting: Setting
    seed: int | None
    route: Route

    def __post_init__(self) -> None:
        protocol = self.setting.protocol
        if any(step.listed for step in protocol.steps):
            raise InputError(
                "a trial must have one step size in each step, not a list: a sweep takes the list as an axis, {'eta': [0, 5]}"
            )
        if protocol.readout is not None and isinstance(protocol.readout.path, tuple):
            name = protocol.readout.axis
            raise InputError(
                f"a trial must have one {name}, not a list: a sweep takes the list as an axis, {{{name!r}: [...]}}"
            )
        if not self.route.random and self.seed is not None:
            raise InputError(
                f"the route {self.route.key!r} is not random: its seed must be None, not {quoted(self.seed)}"
            )
        if self.route.random:
            object.__setattr__(self, "seed", whole(self.seed, f"the seed of the route {self.route.key!r}", least=0))

    @cached_property
    def key(self) -> tuple[str, int | None, str]:
        """The identity of the trial: the id of the setting, the seed and the key of the route."""
        return (self.setting.id, self.seed, self.route.key)


def _checked(value: Any, default: Value, what: str) -> Value:
    """Check that a value is of the same kind as the default; None means that a whole number is chosen."""
    if isinstance(default, bool):
        return flag(value, what)
    if default is None and value is None:
        return None
    if default is None or isinstance(default, int):
        return whole(value, what, least=0)
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z]\w*", value):
        raise InputError(f"{what} must be a word, not {value!r}")
    return value


def _text(value: Value) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _value(text: str) -> Value:
    words: dict[str, Value] = {"true": True, "false": False, "none": None}
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return float(text) if text[:1].isdigit() or text[:1] == "." else words.get(text, text)
    except ValueError:
        return text

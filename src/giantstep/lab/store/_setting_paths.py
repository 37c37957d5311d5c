"""Leaves: a setting flattened to dotted paths such as ``data.d`` or ``protocol.steps.0.eta``, for filtering and tables.

A setting's plain form leaves out fields at their default, and so do its leaves in the store; ``default`` and ``filled`` put
them back. An array (own weights, directions) is one leaf, a digest of its content.
"""

import re
from dataclasses import MISSING, fields
from typing import Any

from giantstep._given.plain import identifier
from giantstep.experiment.network import Network
from giantstep.experiment.protocol import SGD, GiantStep, Power, Ridge
from giantstep.experiment.target import Target

Value = str | int | float | None


def flatten(plain: Any, path: str = "") -> dict[str, Value]:
    """The leaves of plain data by their dotted paths; lists of tables are numbered, true and false are words."""
    if isinstance(plain, dict):
        items = plain.items()
    elif isinstance(plain, list) and plain and isinstance(plain[0], dict):
        items = enumerate(plain)
    elif isinstance(plain, list):
        return {path: f"array {identifier(plain)[:8]}"} if plain else {}
    else:
        return {path: _word(plain)}
    leaves: dict[str, Value] = {}
    for key, value in items:
        leaves |= flatten(value, f"{path}.{key}" if path else str(key))
    return leaves


def leaf(plain: Any, path: str) -> Value:
    """The leaf of plain data at a dotted path, as ``flatten`` has it; None if there is none."""
    inner = plain
    for key in path.split("."):
        if isinstance(inner, list):
            inner = dict(enumerate(inner)).get(int(key)) if key.isdecimal() else None
        else:
            inner = inner.get(key) if isinstance(inner, dict) else None
    return flatten(inner, path).get(path) if isinstance(inner, list | dict) else _word(inner)


def _word(value: Any) -> Value:
    return str(value).lower() if isinstance(value, bool) else value


def _defaults(noun: type) -> dict[str, Value]:
    plain = {f.name: f.default for f in fields(noun) if f.init and f.default is not MISSING}
    return {name: _word(value) for name, value in plain.items() if isinstance(value, str | int | float)}


def _shared(*nouns: type) -> dict[str, Value]:
    """The fields that all nouns share with the same default."""
    first, *rest = (_defaults(noun) for noun in nouns)
    return {name: value for name, value in first.items() if all(each.get(name) == value for each in rest)}


# Where a noun stands in a setting, the leaf that is always there with it, and its fields at their default.
_NOUNS = (
    (r"target", "formula", {k: v for k, v in _defaults(Target).items() if k != "rank"}),
    (r"network", "width", _defaults(Network)),
    (r"protocol\.steps\.\d+", "n", _defaults(GiantStep)),
    (r"protocol\.steps\.\d+\.eta", "alpha", _defaults(Power)),
    (r"protocol\.readout", "n", _shared(Ridge, SGD)),
    (r"protocol\.readout", "penalty", _defaults(Ridge)),
    (r"protocol\.readout", "rate", _defaults(SGD)),
)


def default(path: str) -> Value:
    """The value of a leaf that a setting leaves out; None if it has no default."""
    parent, _, name = path.rpartition(".")
    return next((known[name] for place, _, known in _NOUNS if re.fullmatch(place, parent) and name in known), None)


def anchor(path: str) -> str:
    """The leaf that is always present when the noun of this path is."""
    parent, _, name = path.rpartition(".")
    return next(
        f"{parent}.{always}" for place, always, known in _NOUNS if re.fullmatch(place, parent) and name in known
    )


def filled(leaves: dict[str, Value]) -> dict[str, Value]:
    """The leaves together with the fields that are at their default."""
    complete = dict(leaves)
    for path in leaves:
        parent, _, name = path.rpartition(".")
        for place, always, known in _NOUNS:
            if name == always and re.fullmatch(place, parent):
                complete |= {
                    f"{parent}.{key}": value for key, value in known.items() if f"{parent}.{key}" not in leaves
                }
    return complete

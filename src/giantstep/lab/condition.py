"""Condition: ``d=1000``, ``test_error<0.2`` or ``route=theory`` as parameterised SQL over trials and leaves.

A name is a column of trials, a leaf's dotted path, or the end of exactly one such path. What a user types as a value never
becomes part of the SQL text.
"""

import difflib
import math
import operator
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from giantstep._errors import InputError
from giantstep.lab.leaf import Value, anchor, default, filled
from giantstep.lab.row import NUMBERS
from giantstep.lab.trial import Route

__all__ = ["Condition", "known_paths", "parse", "resolve", "where_sql"]

_OPERATORS = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_COLUMNS = {
    **{name: f"t.{name}" for name in ("seed", "ok", *NUMBERS, "seconds", "created")},
    "setting": "s.id", "route": "r.route", "verb": "r.verb", "version": "p.version", "device": "p.device",
}  # fmt: skip
_WORDS = ("setting", "route", "verb", "version", "device")  # the columns that hold text
_SHORT = {"p": "network.width"}  # the notation's name where the leaf has another


@dataclass(frozen=True)
class Condition:
    """``name`` as typed, one of = != < <= > >=, and a number or a text."""

    name: str
    sign: str
    value: str | int | float

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.value}"


def parse(text: str) -> Condition:
    """A condition from text."""
    match = re.fullmatch(r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(<=|>=|!=|==|=|<|>)\s*(\S(?:.*\S)?)\s*", text)
    if match is None:
        raise InputError(f"a condition is written like d=1000, test_error<0.2 or activation=relu, not {text!r}")
    name, sign, value = match.groups()
    return Condition(name, "=" if sign == "==" else sign, _value(value))


def _value(text: str) -> str | int | float:
    try:
        if re.fullmatch(r"[-+]?[0-9]+", text) and abs(int(text[:30])) < 2**63:
            return int(text)
        number = float(text) if re.fullmatch(r"[-+.0-9einf]+", text) else math.nan
    except ValueError:
        return text
    return text if math.isnan(number) else number


def known_paths(connection: sqlite3.Connection) -> list[str]:
    """Every leaf's path in the store, with those that every setting leaves at their default."""
    return list(filled(dict(connection.execute("SELECT path, NULL FROM paths ORDER BY key"))))


def resolve(name: str, paths: Sequence[str]) -> str:
    """The column of trials or the full path that a name stands for."""
    if name in _COLUMNS or name in paths:
        return name
    if _SHORT.get(name) in paths:
        return _SHORT[name]
    ends = [path for path in paths if path.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise InputError(f"{name!r} is ambiguous: it may be {', '.join(ends)}")
    names = [*_COLUMNS, *paths, *(path.rpartition(".")[2] for path in paths)]
    near = list(dict.fromkeys(difflib.get_close_matches(name, names, 3))) or [*("seed", "route", "test_error"), *paths]
    raise InputError(f"the store has no column or setting {name!r}; there is for example {', '.join(near[:8])}")


def where_sql(conditions: Sequence[Condition], paths: Sequence[str]) -> tuple[str, list[Any]]:
    """A WHERE clause over trials t, settings s, routes r and provenance p (empty for none), and its parameters."""
    clauses, parameters = [], []
    for condition in conditions:
        name = resolve(condition.name, paths)
        clause, values = _of_column(condition, name) if name in _COLUMNS else _of_leaf(condition, name)
        clauses.append(clause)
        parameters += values
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), parameters


def _of_column(condition: Condition, name: str) -> tuple[str, list[Any]]:
    value: Any = condition.value
    column = _COLUMNS[name]
    if name == "route":
        value = Route.parse(str(value)).key
    elif name in _WORDS:
        value = str(value)
    elif isinstance(value, str):
        words = {"true": 1, "false": 0} if name == "ok" else {"none": -1} if name == "seed" else {"none": None}
        if value.lower() not in words:
            raise InputError(f"{name} is compared with a number{_or(name)}, not {value!r}")
        value = words[value.lower()]
        if value is None:
            if condition.sign not in ("=", "!="):
                raise InputError(f"{name} can be = none or != none, not {condition.sign} none")
            return f"{column} IS {'NOT ' * (condition.sign == '!=')}NULL", []
    return f"{column} {condition.sign} ?", [value]


def _or(name: str) -> str:
    return " (true or false)" if name == "ok" else " or none"


def _of_leaf(condition: Condition, path: str) -> tuple[str, list[Any]]:
    """Settings with such a leaf; where the default meets the condition, also those that leave it out."""
    value = condition.value
    kind = ""
    if condition.sign in ("<", "<=") and isinstance(value, str):
        kind = "AND value >= ''"  # in SQLite every text is above every number
    elif condition.sign in (">", ">=") and not isinstance(value, str):
        kind = "AND value < ''"
    have = "SELECT setting FROM leaves WHERE path = (SELECT key FROM paths WHERE path = ?)"
    clause, parameters = f"{have} AND value {condition.sign} ? {kind}", [path, value]
    if _met(default(path), condition):
        clause = f"{have} EXCEPT {have} UNION ALL {clause}"
        parameters = [anchor(path), path, *parameters]
    return f"t.setting IN ({clause})", parameters


def _met(value: Value, condition: Condition) -> bool:
    if value is None:
        return False
    if isinstance(value, str) != isinstance(condition.value, str):
        return condition.sign == "!="
    return bool(_OPERATORS[condition.sign](value, condition.value))

"""Condition: text such as ``d=1000``, ``test_error<0.2`` or ``route=theory``, turned into parameterised SQL.

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

from giantstep.errors import InputError
from giantstep.lab.store._damage import Damage
from giantstep.lab.store._setting_paths import Value, anchor, default, filled, leaf
from giantstep.lab.store.stored_row import NUMBERS
from giantstep.lab.store.trial import Route

_OPERATORS = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_TEXTS = {  # columns that hold text, in tables that trials point to
    "setting": ("setting", "settings", "id"),
    "route": ("route", "routes", "route"),
    "verb": ("route", "routes", "verb"),
    "version": ("provenance", "provenance", "version"),
    "device": ("provenance", "provenance", "device"),
}
_COLUMNS = ("seed", "ok", *NUMBERS, "seconds", "created", *_TEXTS)
_SHORT = {"p": "network.width"}  # the notation's name where the leaf has another


@dataclass(frozen=True)
class Condition:
    """A name as the user typed it, one of = != < <= > >=, and a number or a text."""

    name: str
    sign: str
    value: str | int | float

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.value}"


def parse(text: str) -> Condition:
    """Read a condition from text."""
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(f"a condition must be text in UTF-8, not {text!r}")
    match = re.fullmatch(r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(<=|>=|!=|==|=|<|>)\s*(\S(?:.*\S)?)\s*", text)
    if match is None:
        raise InputError(f"a condition must look like d=1000, test_error<0.2 or activation=relu, not {text!r}")
    name, sign, value = match.groups()
    return Condition(name, "=" if sign == "==" else sign, _value(value))


def _value(text: str) -> str | int | float:
    try:
        if re.fullmatch(r"[-+]?[0-9]{1,400}", text) and abs(int(text)) < 2**63:
            return int(text)
        number = float(text) if re.fullmatch(r"[-+.0-9einf]+", text) else math.nan
    except ValueError:
        return text
    return text if math.isnan(number) else number


def known_paths(connection: sqlite3.Connection) -> list[str]:
    """The paths of all leaves in the store, with those that every setting leaves at their default."""
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
    raise InputError(f"the store has no column or setting {name!r}; it has, for example, {', '.join(near[:8])}")


def check_leaves(name: str, plain: Any, conditions: Sequence[tuple[str, Condition]]) -> None:
    """Raise Damage unless a setting that was found meets the conditions by its own text, too."""
    for path, each in conditions:
        value = leaf(plain, path)
        if not _met(default(path) if value is None else value, each):
            raise Damage(f"its table of leaves has another {path} for setting {name}")


OnLeaves = list[tuple[str, Condition]]  # conditions on leaves, with their paths


def where_sql(conditions: Sequence[Condition], connection: sqlite3.Connection) -> tuple[str, list[Any], OnLeaves]:
    """A WHERE clause over trials t (empty for none), its parameters, and the conditions on leaves.

    A condition that every setting meets is left out. If few settings meet the rarest of the others, it becomes a list of
    settings, and the rest is looked up for each setting of that list.
    """
    paths = known_paths(connection)
    named = [(resolve(each.name, paths), each) for each in conditions]
    parts = [_of_column(each, name) for name, each in named if name in _COLUMNS]
    (settings,) = connection.execute("SELECT count(*) FROM settings").fetchone()
    on_leaves = [(name, each) for name, each in named if name not in _COLUMNS]
    leaves = [(_count(connection, each, name), name, each) for name, each in on_leaves]
    leaves = sorted((each for each in leaves if each[0] < settings), key=lambda each: each[0])
    if leaves and leaves[0][0] <= settings / 4:
        parts.append(_listed(leaves[0][2], leaves[0][1]))
        leaves = leaves[1:]
    parts += [_looked_up(each, name) for _, name, each in leaves]
    clauses, values = [clause for clause, _ in parts], [value for _, some in parts for value in some]
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), values, on_leaves


def _of_column(condition: Condition, name: str) -> tuple[str, list[Any]]:
    value: Any = condition.value
    if name in _TEXTS:
        own, table, column = _TEXTS[name]
        value = Route.parse(str(value)).key if name == "route" else str(value)
        return f"t.{own} IN (SELECT key FROM {table} WHERE {column} {condition.sign} ?)", [value]
    if isinstance(value, str):
        words = {"true": 1, "false": 0} if name == "ok" else {"none": -1} if name == "seed" else {"none": None}
        if value.lower() not in words:
            other = " (true or false)" if name == "ok" else " or none"
            raise InputError(f"{name} must be compared with a number{other}, not {value!r}")
        value = words[value.lower()]
        if value is None:
            if condition.sign not in ("=", "!="):
                raise InputError(f"{name} can only be = none or != none, not {condition.sign} none")
            return f"t.{name} IS {'NOT ' * (condition.sign == '!=')}NULL", []
    has_seed = " AND t.seed >= 0" if name == "seed" and value != -1 else ""  # -1 stands for none, which is not a number
    return f"t.{name} {condition.sign} ?{has_seed}", [value]


_HAVE = "FROM leaves WHERE path = (SELECT key FROM paths WHERE path = ?)"


def _meeting(condition: Condition, path: str) -> tuple[str, list[Any]]:
    """SQL for the leaves of a path that meet a condition; in SQLite every text is larger than every number."""
    kind = ""
    if condition.sign in ("<", "<=") and isinstance(condition.value, str):
        kind = " AND value >= ''"
    elif condition.sign in (">", ">=") and not isinstance(condition.value, str):
        kind = " AND value < ''"
    return f"{_HAVE} AND value {condition.sign} ?{kind}", [path, condition.value]


def _count(connection: sqlite3.Connection, condition: Condition, path: str) -> int:
    """The number of settings that meet a condition on a leaf; a setting that leaves it out has its default."""
    clause, values = _meeting(condition, path)
    count = connection.execute(f"SELECT count(*) {clause}", values).fetchone()[0]
    if _met(default(path), condition):
        there, have = (connection.execute(f"SELECT count(*) {_HAVE}", [x]).fetchone()[0] for x in (anchor(path), path))
        count += there - have
    return count


def _listed(condition: Condition, path: str) -> tuple[str, list[Any]]:
    """SQL for the settings that meet a condition, as a list."""
    clause, values = _meeting(condition, path)
    if _met(default(path), condition):
        absent = f"SELECT setting {_HAVE} EXCEPT SELECT setting {_HAVE}"
        return f"t.setting IN ({absent} UNION ALL SELECT setting {clause})", [anchor(path), path, *values]
    return f"t.setting IN (SELECT setting {clause})", values


def _looked_up(condition: Condition, path: str) -> tuple[str, list[Any]]:
    """SQL for the same condition, looked up for one setting at a time."""
    clause, values = _meeting(condition, path)
    own = "AND setting = t.setting"
    if _met(default(path), condition):
        absent = f"EXISTS (SELECT 1 {_HAVE} {own}) AND NOT EXISTS (SELECT 1 {_HAVE} {own})"
        return f"(EXISTS (SELECT 1 {clause} {own}) OR {absent})", [*values, anchor(path), path]
    return f"EXISTS (SELECT 1 {clause} {own})", values


def _met(value: Value, condition: Condition) -> bool:
    if value is None:
        return False
    if isinstance(value, str) != isinstance(condition.value, str):
        return condition.sign == "!="
    return bool(_OPERATORS[condition.sign](value, condition.value))

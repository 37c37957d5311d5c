"""Checksums: whether the rows of a store are those that were written.

A checksum covers all columns of a row that are read back, with the texts that its keys stand for
instead of the keys, so that it is the same in every store. It also covers the checksums of the
row's arrays. It is the CRC-32 (that of zlib) of doubles, low byte first, and then of texts in UTF-8
with a line feed between them; NULL is a NaN (7ff8000000000000) or an empty text.
"""

import math
import sqlite3
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from giantstep.lab.store import _serialise as serialise
from giantstep.lab.store._damage import Damage, row_named
from giantstep.lab.store.stored_row import NUMBERS, numbers, sentences

# In the place of a checksum in a store that was written before there was one and cannot be upgraded.
UNSEALED = -1

# What is read of every row: its checksum, the texts, and the doubles. Others may follow.
TEXTS = ("arrays", "nans", "notes")
DOUBLES = ("created", "ok", *NUMBERS, "seconds")
_READ = ("t.checksum", "s.id", "t.seed", "r.route", "t.provenance")
SEALED = ", ".join([*_READ, *(f"t.{name}" for name in (*TEXTS, *DOUBLES))])
_FIRST = len(_READ) + len(TEXTS)
_END = _FIRST + len(DOUBLES)
AT = {name: _FIRST + i for i, name in enumerate(DOUBLES)}  # the places of the doubles
NUMBERED = slice(AT[NUMBERS[0]], AT[NUMBERS[-1]] + 1)
AFTER = _END  # where other columns begin
FROM = (  # a row whose setting or route is lost is damaged: it does not vanish
    "FROM trials t LEFT JOIN settings s ON s.key = t.setting LEFT JOIN routes r ON r.key = t.route"
)

MADE = ("version", "python", "jax", "numpy", "machine", "device")  # the texts of a provenance
_doubles = struct.Struct(f"<{len(DOUBLES)}d").pack
_NAN = math.nan
_two = struct.Struct("<2d").pack
WRONG = (
    TypeError,
    ValueError,
    KeyError,
    OverflowError,
    struct.error,
)  # of a text in the place of a number, and the like


def of_setting(name: str, plain: str) -> int:
    """The checksum of a setting: its id and its text."""
    return crc32(f"{name}\n{plain}".encode())


def of_row(
    setting: str,
    seed: int,
    route: str,
    made: str,
    texts: Sequence[Any],
    numbers: Sequence[float | None],
) -> int:
    """The checksum of a trial that is to be written; ``texts`` are TEXTS and ``numbers`` DOUBLES.

    SQLite has neither -0 nor NaN.
    """
    doubles = [_NAN if v is None or v != v else v + 0.0 for v in numbers]
    return _sum(setting, seed, route, made, texts, doubles)


def _sum(setting: Any, seed: Any, route: Any, made: str, texts: Sequence[Any], doubles: list[float]) -> int:
    arrays, nans, notes = texts
    text = f"{setting}\n{seed}\n{route}\n{made}\n{arrays or ''}\n{nans or ''}\n{notes or ''}"
    return crc32(text.encode(), crc32(_doubles(*doubles)))


def of_record(key: str, made: str, seconds: float, created: float, data: bytes) -> int:
    """The checksum of a record, which covers that of its data."""
    text = f"{key}\n{made}\n{data[-4:].hex()}"
    return crc32(text.encode(), crc32(_two(seconds + 0.0, created + 0.0)))


def of_arrays(arrays: Sequence[tuple[str, bytes]]) -> str:
    """The names of the arrays with their own checksums: the last four bytes of a zlib stream."""
    return " ".join([f"{name}:{data[-4:].hex()}" for name, data in arrays])


def provenances(connection: sqlite3.Connection) -> dict[int, str]:
    """The texts of every provenance by its key, a space between them."""
    return {
        key: " ".join(map(str, texts))
        for key, *texts in connection.execute(f"SELECT key, {', '.join(MADE)} FROM provenance")
    }


def check_row(row: Sequence[Any], made: Mapping[int, str]) -> None:
    """Raise Damage unless the row, SEALED and perhaps more, is the one that was written."""
    stored, setting, seed, route, by, *texts = row[:_FIRST]
    try:
        doubles = [_NAN if v is None else v for v in row[_FIRST:_END]]
        if stored == _sum(setting, seed, route, made[by], texts, doubles):
            return
        whole = stored == UNSEALED and None not in (setting, route) and _texts(texts)
    except WRONG:
        whole = False
    if not whole:
        raise Damage(f"{row_named(*row[1:4])} is not as it was written")


def opened(row: Sequence[Any]) -> tuple[bool, dict[str, float | None], tuple[str, ...], float]:
    """Of a checked row: whether it is ok, the numbers by name, the notes, and the seconds."""
    nans, notes = row[6:_FIRST]
    return bool(row[AT["ok"]]), numbers(tuple(row[NUMBERED]), nans), sentences(notes), row[AT["seconds"]]


def check_setting(name: Any, plain: Any, stored: Any) -> None:
    """Raise Damage unless the text of a setting is the one that was written with its id."""
    if not (isinstance(plain, str) and stored in (UNSEALED, of_setting(name, plain))):
        raise Damage(f"the text of setting {name} is not the one that its id stands for")


def check_record(key: str, data: Any, seconds: Any, created: Any, made: str | None, stored: Any) -> None:
    """Raise Damage unless a record is the one that was written."""
    try:
        whole = isinstance(data, bytes) and made is not None
        whole = whole and stored in (UNSEALED, of_record(key, str(made), seconds, created, data))
    except WRONG:
        whole = False
    if not whole:
        raise Damage(f"the record {key[:60]!r} is not as it was written")


def record(key: str, data: bytes) -> Any:
    """The value of a record, whose stream has a checksum of its own."""
    try:
        return serialise.loads(data)
    except (zlib.error, *WRONG) as problem:
        raise Damage(f"the record {key[:60]!r} cannot be read, {problem}") from None


def check_arrays(row: Sequence[Any], arrays: Mapping[str, Any], asked: Sequence[str]) -> None:
    """Raise Damage unless these are the row's arrays among those asked for.

    ``check_row`` comes first.
    """
    stored, listed = row[0], row[5] or ""
    known: dict[str, str] = {name: seal for name, _, seal in (one.partition(":") for one in listed.split())}
    wanted = {*arrays, *(name for name in known if name in asked)}
    for name in wanted:
        data = arrays.get(name)
        if name in asked and isinstance(data, bytes):
            if stored == UNSEALED or known.get(name) == data[-4:].hex():
                continue
        where = row_named(*row[1:4])
        raise Damage(f"the array {name[:60]!r} in {where} is not the one that was written")


def _texts(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)

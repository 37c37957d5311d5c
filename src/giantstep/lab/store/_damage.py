"""Damage: what is wrong inside a store, as the part of a sentence that names the row."""

from typing import Any

from giantstep.errors import InputError

_MOST = 60  # letters of a value that is quoted


class Damage(Exception):
    """What in a store is not as it was written; ``explain_errors`` makes a DamagedStore of it."""


class DamagedStore(InputError):
    """A store that is damaged, told in a sentence with the path, the row and the cure."""


def row_named(setting: Any, seed: Any, route: Any) -> str:
    """The words for a row."""
    place = f"the row of setting {_short(setting)}"
    return f"{place}, seed {'none' if seed == -1 else _short(seed)} and route {_short(route)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."

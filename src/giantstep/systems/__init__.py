"""The systems: experiments that are no ``Setting``. Each is a folder: the noun, what measures it and what predicts it.

``giantstep simulate | predict | compare FILE`` take a file whose first line says ``system = "kind"``.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from giantstep._given.plain import choice
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting, read_plain
from giantstep.results.system import Reading, System

__all__ = ["KINDS", "Reading", "System", "from_plain", "read"]


def _attack() -> type[System]:
    from giantstep.systems.attack import Attack

    return Attack


def _bounds() -> type[System]:
    from giantstep.systems.bounds import Bounds

    return Bounds


def _early() -> type[System]:
    from giantstep.systems.early import Early

    return Early


def _function_space() -> type[System]:
    from giantstep.systems.function_space import FunctionSpace

    return FunctionSpace


def _mean_field() -> type[System]:
    from giantstep.systems.mean_field import MeanField

    return MeanField


KINDS: dict[str, Callable[[], type[System]]] = {
    "attack": _attack,
    "bounds": _bounds,
    "early": _early,
    "kernel": _function_space,
    "mean_field": _mean_field,
}  # the word in a file: its noun, imported when it is needed


def from_plain(data: Any) -> Setting | System:
    """Build a setting, or the system that ``system = "kind"`` names."""
    if not isinstance(data, Mapping) or "system" not in data:
        return Setting.from_plain(data)
    noun = KINDS[choice(data["system"], tuple(KINDS), "system")]()
    return noun.from_plain({key: value for key, value in data.items() if key != "system"})


def read(path: str | Path) -> Setting | System:
    """Read a setting or a system from a .toml or .json file."""
    data = read_plain(path)
    try:
        return from_plain(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None

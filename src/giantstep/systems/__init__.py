"""The systems: experiments that are no ``Setting``. Each is a folder: the noun, what measures it and what predicts it.

``giantstep simulate | predict | compare FILE`` take a file whose first line says ``system = "kind"``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from giantstep._given.declared import a_path, given
from giantstep._given.plain import choice
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting, read_plain
from giantstep.results.system import Reading, System

__all__ = ["KINDS", "Reading", "System", "from_plain", "read"]


def _noun(kind: str) -> type[System]:
    """The noun of a kind, imported when it is needed."""
    match kind:
        case "attack":
            from giantstep.systems.attack import Attack as noun
        case "bounds":
            from giantstep.systems.bounds import Bounds as noun
        case "early":
            from giantstep.systems.early import Early as noun
        case "kernel":
            from giantstep.systems.function_space import FunctionSpace as noun
        case _:
            from giantstep.systems.mean_field import MeanField as noun
    return noun


KINDS: dict[str, Callable[[], type[System]]] = {
    kind: partial(_noun, kind) for kind in ("attack", "bounds", "early", "kernel", "mean_field")
}  # the word in a file, and its noun


@given()
def from_plain(data: Any) -> Setting | System:
    """Build a setting, or the system that ``system = "kind"`` names."""
    if not isinstance(data, Mapping) or "system" not in data:
        return Setting.from_plain(data)
    noun = KINDS[choice(data["system"], tuple(KINDS), "system")]()
    return noun.from_plain({key: value for key, value in data.items() if key != "system"})


@given(path=a_path)
def read(path: str | Path) -> Setting | System:
    """Read a setting or a system from a .toml or .json file."""
    data = read_plain(path)
    try:
        return from_plain(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None

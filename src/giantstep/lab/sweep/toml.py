"""Read a sweep from a file such as SWEEP.toml:

```toml
seeds = "0-9"                               # or a number, or a list
routes = ["simulate", "theory"]             # or equivalent(model=spiked), ...
measure = ["test_error", "train_error"]
random = "auto"                             # who draws the random numbers: host, device, or auto
setting = "setting.toml"                    # or the setting itself as a table

[axes]
d = [200, 400, 800]
eta = { logspace = [-1, 1, 9] }             # also linspace and geomspace
n = "2*d"                                   # an expression of other axes and of numbers of the setting

[[zip]]                                     # names that move together
penalty = [0.1, 0.01]
noise = [0.0, 0.5]
```
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from giantstep._given import seeds
from giantstep.errors import InputError, hint
from giantstep.experiment.setting import Setting, read_plain
from giantstep.lab.sweep.sweep import Sweep, make

__all__ = ["from_plain", "read"]

_FIELDS = ("setting", "axes", "zip", "seeds", "routes", "measure", "random")


def read(path: str | Path) -> Sweep:
    """Read the sweep in a .toml or .json file; the path of its setting is relative to that file."""
    data = read_plain(path, "a sweep")
    try:
        return from_plain(data, Path(path).parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def from_plain(data: Any, folder: Path = Path()) -> Sweep:
    """Make a sweep from plain data."""
    if not isinstance(data, Mapping):
        raise InputError("a sweep must be a table of fields")
    for key in data:
        if key not in _FIELDS:
            raise InputError(f"unknown field {key!r} in the sweep{hint(key, _FIELDS)}")
    if "setting" not in data:
        raise InputError("the sweep lacks the field 'setting': a table, or a file such as \"setting.toml\"")
    given = data["setting"]
    base = Setting.read(folder / given) if isinstance(given, str) else Setting.from_plain(given)
    chosen = data.get("seeds", 0)
    groups = data.get("zip", ())
    if not isinstance(groups, list | tuple):
        raise InputError("zip groups must be written as [[zip]], each a table of names and lists")
    return make(
        base,
        data.get("axes", {}),
        zipped=groups,
        seeds=seeds.parse(chosen) if isinstance(chosen, str) else chosen,
        routes=_texts(data.get("routes", "simulate"), "routes"),
        measures=_texts(data.get("measure", "test_error"), "measure"),
        random=data.get("random", "auto"),
    )


def _texts(given: Any, what: str) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        raise InputError(f"{what} must be a text or a list of texts, not {given!r}")
    return tuple(texts)

"""StoredRow: one trial in a store; and conversions between an outcome and its columns and compressed arrays."""

import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.lab.store._damage import Damage
from giantstep.lab.store._packed import packed, unpacked
from giantstep.lab.store._setting_paths import Value, filled, flatten
from giantstep.lab.store.trial import Route, Trial
from giantstep.results.outcome import Outcome, Status

__all__ = ["ARRAYS", "NUMBERS", "StoredRow", "arrays", "columns", "outcome"]

NUMBERS = (
    "eta", "penalty", "test_error", "test_error_se", "risk", "risk_se", "train_error", "train_error_se", "train_objective",
    "train_objective_se", "null_level", "bulk_edge", "bulk_edge_se", "outliers", "outliers_se",
)  # fmt: skip
ARRAYS = (
    "overlaps", "norms", "captured", "captured_se", "learned", "singular_values", "test_error_band", "train_error_band",
)  # fmt: skip


@dataclass(frozen=True)
class StoredRow:
    """One trial in a store.

    Attributes:
        setting_id: the setting's id.
        seed: None if the route is not random.
        route: the route's key.
        ok: whether the numbers can be trusted.
        numbers: the scalar fields of the outcome by name; None for a field that the route does not compute.
        notes: the sentences of its status.
        seconds: how long it took.
        created: when it was written, in seconds since 1970 (UTC).
        plain: the setting as plain data.
    """

    setting_id: str
    seed: int | None
    route: str
    ok: bool
    numbers: Mapping[str, float | None]
    notes: tuple[str, ...]
    seconds: float
    created: float
    plain: Mapping[str, Any]

    @cached_property
    def leaves(self) -> dict[str, Value]:
        """The setting's dotted paths and their values, defaults included."""
        return filled(flatten(self.plain))

    @property
    def trial(self) -> Trial:
        """The trial, to run again or to ask the store for its whole outcome."""
        return Trial(Setting.from_plain(dict(self.plain)), self.seed, Route.parse(self.route))

    def to_dict(self) -> dict[str, Any]:
        """The columns and then the leaves of the setting, as one flat table."""
        head = {"setting": self.setting_id, "seed": self.seed, "route": self.route, "ok": self.ok}
        tail = {"seconds": self.seconds, "created": self.created, "notes": "; ".join(self.notes)}
        return {**head, **self.numbers, **tail, **self.leaves}


def columns(trial: Trial, result: Outcome) -> tuple[tuple[Any, ...], tuple[str | None, str | None]]:
    """The columns of a row without its key: ok, the numbers and seconds, and then the texts nans and notes."""
    _check(trial, result)
    values = [_number(getattr(result, name), name) for name in NUMBERS]
    nans = ",".join([name for name, v in zip(NUMBERS, values, strict=True) if v is not None and v != v])
    doubles = (int(result.status.ok), *values, float(result.seconds))
    return doubles, (nans or None, _column(tuple(result.status.notes)))


def arrays(result: Outcome, names: Iterable[str] = ARRAYS) -> list[tuple[str, bytes]]:
    """The array fields as bytes."""
    values = [(name, getattr(result, name)) for name in names]
    return [(name, packed(np.asarray(value))) for name, value in values if value is not None]


@lru_cache(maxsize=64)
def _column(notes: tuple[str, ...]) -> str | None:
    """The notes as a column; the trials of a block have the same."""
    return json.dumps(notes, ensure_ascii=False) if notes else None


def numbers(values: tuple[Any, ...], nans: str | None) -> dict[str, float | None]:
    """The numbers by name, with NaN where SQLite stored NULL for it."""
    lost = set(nans.split(",")) if nans else ()
    return {name: math.nan if name in lost else value for name, value in zip(NUMBERS, values, strict=True)}


def outcome(
    trial: Trial,
    ok: bool,
    known: dict[str, float | None],
    notes: tuple[str, ...],
    seconds: float,
    stored: Mapping[str, bytes],
) -> Outcome:
    """Rebuild the outcome from its columns and arrays."""
    fields: dict[str, Any] = {**known, **{name: array(name, data) for name, data in stored.items()}}
    if isinstance(trial.setting.protocol.readout, SGD):
        fields["rate"] = trial.setting.protocol.readout.rate  # it has no column, because the setting has it
    fields |= {"status": Status(ok, notes), "regime": trial.route.regime}
    return Outcome(trial.setting, trial.route.verb, seconds=seconds, **fields)


def sentences(notes: str | None) -> tuple[str, ...]:
    """The notes of a column."""
    found = json.loads(notes) if notes else []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise Damage(f"notes must be a list of sentences, not {notes[:60] if notes else notes!r}")
    return tuple(found)


def array(name: str, data: bytes) -> np.ndarray:
    """The array; zlib's own checksum tells whether its bytes are those that were written."""
    try:
        return unpacked(data)
    except (zlib.error, ValueError, TypeError) as problem:
        raise Damage(f"the array {name!r} of a row cannot be read, {problem}") from None


def _check(trial: Trial, result: Outcome) -> None:
    if result.axes:
        raise InputError(
            f"the outcome of a trial must have no axes, not {', '.join(result.axes)}: store one for each trial"
        )
    if result.route != trial.route.verb:
        raise InputError(f"the outcome comes from the route {result.route!r}, but the trial needs {trial.route.key!r}")
    if result.setting is not trial.setting and result.setting.id != trial.setting.id:
        raise InputError(f"the outcome belongs to the setting {result.setting.id}, but the trial to {trial.setting.id}")


def _number(value: Any, name: str) -> float | int | None:
    if type(value) is float:  # nearly always
        return value
    if value is None or np.ndim(value) == 0:
        return None if value is None else np.asarray(value).item()
    raise InputError(f"{name} of a trial must be one number, not an array of shape {np.shape(value)}")

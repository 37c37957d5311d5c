"""The results of a sweep as an xarray Dataset with the dimensions route, one for each axis, and seed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep._given import unwritten
from giantstep.experiment._header import shared
from giantstep.experiment._words import target_line
from giantstep.lab.store import Store
from giantstep.lab.store.stored_row import ARRAYS
from giantstep.lab.store.trial import Route
from giantstep.lab.sweep.sweep import Sweep

if TYPE_CHECKING:
    from giantstep.lab.sweep._ended import Ended

_INNER = {
    "overlaps": ("neuron", "direction"), "norms": ("neuron",), "captured": ("direction",), "learned": ("direction", "other"),
    "singular_values": ("index",), "test_error_band": ("end",), "train_error_band": ("end",),
}  # fmt: skip


def dataset(sweep: Sweep, store: Store, ended: "Ended | None" = None) -> Any:
    """Collect every measure; it is NaN where a trial is missing or where a route does not compute it.

    A route that is not random (theory) has the same number at every seed, so that differences and means are simple. ``ok``
    says where numbers can be trusted. Arrays whose size changes along an axis are padded with NaN. A prediction that has a
    band has it beside the measure (``test_error_band``, with the dimension ``end``: low, high). ``attrs["held"]`` says in words
    what all points have in common.
    """
    import xarray as xr

    arrays, banded = [name for name in sweep.measures if name in ARRAYS], bands(sweep)
    errors = [f"{name}_se" for name in sweep.measures if name in ("test_error", "risk")]
    shape = (len(sweep.routes), *sweep.shape, len(sweep.seeds))
    names = [name for name in (*sweep.measures, *errors) if name not in ARRAYS]
    numbers, ok, there = _numbers(sweep, store, names)
    parts: dict[str, list[tuple[tuple, np.ndarray]]] = {name: [] for name in (*arrays, *banded)}
    for wanted, random in ((arrays, (True, False)), (banded, (False,))):  # only predictions have bands
        for place, outcome in _outcomes(sweep, store, wanted, random) if wanted else ():
            for name in wanted:
                if getattr(outcome, name) is not None:
                    parts[name].append((place, np.asarray(getattr(outcome, name), dtype=float)))
    dims = ("route", *(axis.name for axis in sweep.axes), "seed")
    variables: dict[str, Any] = {name: (dims, value) for name, value in numbers.items()}
    variables |= {
        name: ((*dims, *_INNER[name]), _padded(shape, some, len(_INNER[name])))
        for name, some in parts.items()
        if some or name in arrays
    }
    variables |= {"ok": (dims, ok), "stored": (dims, there)}
    attributes: dict[str, Any] = {"held": ", ".join(held(sweep))}
    attributes |= {} if unwritten.any_named() else {"sweep": sweep.id, "base": sweep.base.id}
    if ended is not None and ended.refused:
        attributes["refused"] = "; ".join(f"{sentence} ({count} trials)" for sentence, count in ended.refused)
    return xr.Dataset(variables, coords=_coordinates(sweep), attrs=attributes)


def _numbers(sweep: Sweep, store: Store, names: list[str]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """The numbers by name, where they are ok, and where the store has them: arrays over routes, axes and seeds."""
    points, seeds, shape = len(sweep.points), len(sweep.seeds), (len(sweep.routes), *sweep.shape, len(sweep.seeds))
    found = np.full((len(sweep.routes), points * seeds, len(names)), np.nan)
    ok, there = np.zeros(found.shape[:2], bool), np.zeros(found.shape[:2], bool)
    rows = store.numbers(sweep.trials(), names)
    places = np.array([row[0] for row in rows], int)
    values = np.array([row[1:] for row in rows], float).reshape(len(rows), 1 + len(names))  # NULL becomes NaN
    first = 0
    for r, route in enumerate(sweep.routes):  # the order of sweep.trials()
        count = points * seeds if route.random else points
        mine = (first <= places) & (places < first + count)
        at, some = places[mine] - first, values[mine]
        if not route.random:  # the same number at every seed
            at, some = (at[:, None] * seeds + np.arange(seeds)).ravel(), np.repeat(some, seeds, axis=0)
        found[r, at], ok[r, at], there[r, at] = some[:, 1:], some[:, 0] > 0, True
        first += count
    by_name = {name: found[:, :, i].reshape(shape) for i, name in enumerate(names)}
    return by_name, ok.reshape(shape), there.reshape(shape)


def held(sweep: Sweep) -> list[str]:
    """What all points have in common, in the words of a header."""
    settings = [point.setting for point in sweep.points]
    targets = {target_line(s.target) for s in settings}
    activations = {s.network.activation.name for s in settings}
    alike = [word for words in (targets, activations) if len(words) == 1 for word in words]
    return [*alike, *shared(settings).values()]


def bands(sweep: Sweep) -> list[str]:
    """The bands of the measures, if a route predicts."""
    if all(route.random for route in sweep.routes):
        return []
    return [f"{name}_band" for name in sweep.measures if f"{name}_band" in ARRAYS]


def _outcomes(sweep: Sweep, store: Store, arrays: list[str], random: tuple[bool, ...]) -> Iterator[tuple[tuple, Any]]:
    """The stored outcomes and their places in the Dataset; an outcome that is not random fills all seeds."""
    routes = {route.key: i for i, route in enumerate(sweep.routes)}
    points = {point.setting.id: point.place for point in sweep.points}
    seeds = {seed: i for i, seed in enumerate(sweep.seeds)}
    for trial, outcome in store.find((t for t in sweep.trials() if t.route.random in random), arrays):
        setting, seed, route = trial.key
        yield (routes[route], *points[setting], slice(None) if seed is None else seeds[seed]), outcome


def _coordinates(sweep: Sweep) -> dict[str, Any]:
    coordinates: dict[str, Any] = {"route": labels(sweep), "seed": list(sweep.seeds)}
    for axis in sweep.axes:
        coordinates |= {name: (axis.name, list(axis.column(name))) for name in axis.names}
    for name in (
        name for axis in sweep.axes for name in axis.spaced
    ):  # the values used, which are rounded where a field takes whole numbers
        axis = next(a for a in sweep.axes if name in a.names)
        used = {point.place[sweep.axes.index(axis)]: point.values[name] for point in sweep.points}
        coordinates[name] = (axis.name, [used[i] for i in range(len(axis))])
    for name, _ in sweep.formulas:
        values = np.reshape([point.values[name] for point in sweep.points], sweep.shape)
        moving = [k for k in range(values.ndim) if np.any(values != np.take(values, [0], axis=k))]
        still = tuple(slice(None) if k in moving else 0 for k in range(values.ndim))
        coordinates[name] = (tuple(sweep.axes[k].name for k in moving), values[still])
    return coordinates


def labels(sweep: Sweep) -> list[str]:
    """The routes as they were written: without the spectra that the measures ask for, where that is unambiguous."""
    bare = [Route(r.verb, tuple(o for o in r.options if o[0] != "spectrum")).key for r in sweep.routes]
    return bare if len(set(bare)) == len(bare) else [route.key for route in sweep.routes]


def _padded(shape: tuple[int, ...], parts: list[tuple[tuple, np.ndarray]], inner: int) -> np.ndarray:
    most = tuple(max((part.shape[k] for _, part in parts), default=0) for k in range(inner))
    padded = np.full((*shape, *most), np.nan)
    for place, part in parts:
        padded[(*place, *(slice(n) for n in part.shape))] = part
    return padded

"""Block: trials that one call runs together because they share work.

All step sizes share the data and the first gradient, all penalties one factorisation, and all rates one pass; small runs of
several seeds go side by side. Blocks depend on the trials alone, not on what is stored or on who runs them. So a sweep that was
interrupted and continued gives the same numbers to the last digit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from giantstep.experiment.protocol import SGD, GiantStep, Power, Protocol, Ridge
from giantstep.experiment.setting import Setting
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.store.trial import Route, Trial
from giantstep.results.outcome import OVERFLOW, SCALARS, Outcome, Status, drop

__all__ = ["Block", "blocks", "join", "members", "portions", "split"]


@dataclass(frozen=True)
class Block:
    """One call: ``members[e][l]`` is the setting at step size e and penalty (or rate) l of ``setting``, which lists them."""

    setting: Setting
    members: tuple[tuple[Setting, ...], ...]
    seeds: tuple[int, ...]  # empty if the route is not random
    route: Route

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """The trials in the order of step sizes, penalties and seeds."""
        seeds = self.seeds or (None,)
        return tuple(Trial(each, seed, self.route) for row in self.members for each in row for seed in seeds)

    def narrowed(self, seeds: Iterable[int]) -> "Block":
        """The same block for some of the seeds."""
        return replace(self, seeds=tuple(seeds))


def blocks(
    settings: Iterable[Setting], seeds: Sequence[int], routes: Sequence[Route], together: Any = None
) -> Iterator[Block]:
    """Make the blocks of all settings, seeds and routes; ``together(setting, route)`` is the number of seeds in one call."""
    groups = list(_grouped(settings))
    for route in routes:
        for setting, inner in groups:
            if not route.random:
                yield Block(setting, inner, (), route)
                continue
            count = len(seeds) if together is None else max(1, together(setting, route))
            yield from (Block(setting, inner, some, route) for some in portions(seeds, count))


def portions(seeds: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Split the seeds into portions of at most ``most``, of one size if possible, so that one compiled program serves all."""
    divisors = [k for k in range(min(most, len(seeds)), most // 2, -1) if len(seeds) % k == 0]
    size = divisors[0] if divisors else -(-len(seeds) // -(-len(seeds) // most))
    return [tuple(seeds[start : start + size]) for start in range(0, len(seeds), size)]


def members(setting: Setting) -> tuple[tuple[Setting, ...], ...]:
    """The settings that a setting with lists of step sizes and penalties stands for."""
    steps, readout = setting.protocol.steps, setting.protocol.readout
    count = max((len(_values(step)) for step in steps if step.listed), default=1)
    rows = [tuple(_single(step, e) for step in steps) for e in range(count)]
    path = [readout]
    if readout is not None and isinstance(readout.path, tuple):
        path = [_along(readout, x) for x in readout.path]
    return tuple(tuple(replace(setting, protocol=Protocol(row, each)) for each in path) for row in rows)


def _grouped(settings: Iterable[Setting]) -> Iterator[tuple[Setting, tuple[tuple[Setting, ...], ...]]]:
    """Group settings that differ only in step sizes and penalties; a group is one setting with lists."""
    families: dict[str, dict[tuple, dict[Any, Setting]]] = {}
    for setting in settings:
        steps, readout = setting.protocol.steps, setting.protocol.readout
        penalty = None if readout is None else readout.path
        bare = readout if readout is None or isinstance(penalty, str) else _along(readout, 0.0)
        family = replace(setting, protocol=Protocol(tuple(_with(step, 0.0) for step in steps), bare)).id
        etas = tuple(_values(step)[0] for step in steps)
        families.setdefault(family, {}).setdefault(etas, {})[penalty] = setting
    for family in families.values():
        alike: dict[tuple, list[tuple]] = {}
        for etas, path in family.items():
            alike.setdefault(tuple(path), []).append(etas)
        for penalties, rows in alike.items():
            inner = tuple(tuple(family[etas][penalty] for penalty in penalties) for etas in rows)
            yield _listing(inner, rows, penalties), inner


def _listing(inner: tuple[tuple[Setting, ...], ...], rows: list[tuple], penalties: tuple) -> Setting:
    """One setting with lists; a list with one entry becomes a number."""
    first = inner[0][0]
    steps, readout = first.protocol.steps, first.protocol.readout
    if len(rows) > 1:
        columns = list(zip(*rows, strict=True))
        steps = tuple(_with(s, c) if len(set(c)) > 1 else s for s, c in zip(steps, columns, strict=True))
    if readout is not None and len(penalties) > 1:
        readout = _along(readout, penalties)
    return replace(first, protocol=Protocol(steps, readout))


def _along(readout: Ridge | SGD, value: Any) -> Ridge | SGD:
    """The readout at another penalty or rate, or at several."""
    return replace(readout, **{readout.axis: value})


def _values(step: GiantStep) -> tuple[float, ...]:
    value = step.eta.alpha if isinstance(step.eta, Power) else step.eta
    return value if isinstance(value, tuple) else (value,)


def _with(step: GiantStep, values: Any) -> GiantStep:
    return replace(step, eta=replace(step.eta, alpha=values) if isinstance(step.eta, Power) else values)


def _single(step: GiantStep, e: int) -> GiantStep:
    return _with(step, _values(step)[e]) if step.listed else step


def split(block: Block, outcome: Outcome) -> list[tuple[Trial, Outcome]]:
    """Split the outcome of a block into the outcomes of its trials."""
    etas, penalties, seeds = len(block.members), len(block.members[0]), len(block.seeds)
    has = ("eta" in outcome.axes, "penalty" in outcome.axes or "rate" in outcome.axes, "seed" in outcome.axes)
    shape = tuple(n for n, there in zip((etas, penalties, seeds), has, strict=True) if there)
    assert outcome.test_error is None or np.shape(outcome.test_error) == shape
    count, trials, pairs = len(block.trials), iter(block.trials), []
    parts = {name: _entries(getattr(outcome, name), _axes(name, has)) for name in (*NUMBERS, *ARRAYS)}
    for e, row in enumerate(block.members):
        for k, setting in enumerate(row):
            given = _given(setting)
            own = {name: value for name, value in parts.items() if name not in given}
            places = {name: _axes(name, has) for name in own}
            for s, trial in enumerate(islice(trials, max(seeds, 1))):
                at = (e, k, s)
                fields = {**given, **{name: _entry(value, at, places[name]) for name, value in own.items()}}
                status = _status(outcome.status, fields)
                told = {"status": status, "seconds": outcome.seconds / count, "regime": outcome.regime}
                one = Outcome(setting, outcome.route, **told, **fields)
                pairs.append((trial, one))
    return pairs


def _given(setting: Setting) -> dict[str, Any]:
    """The step size and the penalty or rate of one trial, which its setting has; gcv chooses a penalty in every run."""
    own, readout = setting.protocol.etas(setting.d, setting.p), setting.protocol.readout
    given: dict[str, Any] = {"eta": float(own[0]) if own.size == 1 else None, "penalty": None}
    given |= {} if readout is None else {readout.axis: readout.path}
    return {name: value for name, value in given.items() if value != "gcv"}


def _axes(name: str, has: tuple[bool, bool, bool]) -> tuple[int, ...]:
    """Which of step size, penalty and seed are axes of a field; one that depends on the features alone has no penalty axis."""
    return tuple(axis for axis in range(3) if has[axis] and (axis != 1 or _by_penalty(name)))


def _entries(value: Any, axes: tuple[int, ...]) -> Any:
    """A field to take entries from: nested lists of Python's numbers, or of arrays where an entry is an array."""
    if value is None:
        return None
    array = np.asarray(value)
    return array.tolist() if array.ndim == len(axes) else array


def _entry(value: Any, at: tuple[int, int, int], axes: tuple[int, ...]) -> Any:
    """The entry of one trial in a field."""
    if value is None:
        return None
    for axis in axes:
        value = value[at[axis]]
    return value


def _by_penalty(name: str) -> bool:
    """Whether a field has a penalty axis."""
    return name.removesuffix("_se").removesuffix("_band") in SCALARS


def _status(status: Status, fields: dict[str, Any]) -> Status:
    """The status of one trial, without the overflows of other trials of the block."""
    known = [fields[name] for name in ("risk", "train_error", "overlaps", "captured") if fields[name] is not None]
    if status.ok or not all(np.all(np.isfinite(each)) for each in known):
        return status
    unmet = tuple(name for name in status.unmet if name != "finite")
    return Status(len(unmet) < len(status.unmet) and not unmet, tuple(n for n in status.notes if n != OVERFLOW), unmet)


def join(block: Block, pairs: Iterable[tuple[Trial, Outcome]], *, several: bool) -> Outcome:
    """Join the outcomes of the trials of a block, the inverse of ``split``. One seed makes an axis only if ``several``."""
    outcomes = {trial.key: outcome for trial, outcome in pairs}
    each = [outcomes[trial.key] for trial in block.trials]
    etas, penalties, seeds = len(block.members), len(block.members[0]), max(len(block.seeds), 1)
    first, readout = each[0], block.setting.protocol.readout
    lists = (
        any(step.listed for step in block.setting.protocol.steps),
        readout is not None and isinstance(readout.path, tuple),
    )
    keep = (*lists, several)
    values: dict[str, Any] = {}
    for name in (*NUMBERS, *ARRAYS):
        known = [getattr(outcome, name) for outcome in each]
        if name in ("eta", "penalty") or any(value is None for value in known):
            continue
        array = np.asarray(known).reshape(etas, penalties, seeds, *np.shape(known[0]))
        if _by_penalty(name):
            values[name] = drop(array, keep)
        else:
            values[name] = drop(array[:, 0], (keep[0], keep[2]))
    steps = [step for step in block.setting.protocol.steps if step.listed]
    eta: Any = first.eta
    if steps:
        every = block.setting.protocol.etas(block.setting.d, block.setting.p)
        eta = tuple(every[:, block.setting.protocol.steps.index(steps[0])].tolist())
    own: dict[str, Any] = {} if readout is None else {readout.axis: readout.path}
    if own.get("penalty") == "gcv":
        chosen = np.asarray([o.penalty for o in each]).reshape(etas, penalties, seeds)[:, 0]
        own["penalty"] = drop(chosen, (keep[0], keep[2]))
    notes = tuple(dict.fromkeys(note for outcome in each for note in outcome.status.notes))
    names = ("eta", "penalty" if readout is None else readout.axis, "seed")
    axes = tuple(name for name, there in zip(names, keep, strict=True) if there)
    unmet = tuple(dict.fromkeys(name for outcome in each for name in outcome.status.unmet))
    status = Status(all(outcome.status.ok for outcome in each), notes, unmet)
    return Outcome(
        block.setting, first.route, axes, eta, seeds=block.seeds if several else None, **own, **values,
        status=status, seconds=sum(outcome.seconds for outcome in each), regime=first.regime,
    )  # fmt: skip

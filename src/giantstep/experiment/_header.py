"""What fixes the error, in the few words of a header: sizes, which step uses which batch, and the readout."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from giantstep.experiment.protocol import SGD, Protocol

if TYPE_CHECKING:
    from giantstep.experiment.setting import Setting

SYMBOLS = {"eta": "η", "penalty": "λ", "rate": "γ"}
FEWEST = 3  # equal batches in a row that are counted: 3 × 400


def header(setting: "Setting", *, alike: bool = False, symbols: bool = False) -> dict[str, str]:
    """The parts of a header by name; ``n = 1000`` alone says that every step and the readout have fresh batches of that size.

    ``alike`` names the readout's samples also there, for headers that are compared; ``symbols`` writes λ for penalty.
    """
    protocol = setting.protocol
    return {
        "d": f"d = {setting.d}",
        "p": f"p = {setting.p}",
        "steps": _steps(protocol),
        "readout": "" if one_n(protocol) and not alike else _readout(protocol),
        "eta": _etas(setting, symbols),
        "path": _path(protocol, symbols),
    }


def shared(settings: Sequence["Setting"], *, symbols: bool = False) -> dict[str, str]:
    """The parts that are the same in all settings."""
    alike = len({one_n(s.protocol) for s in settings}) > 1
    every = [header(s, alike=alike, symbols=symbols) for s in settings]
    return {name: words for name, words in every[0].items() if words and all(each[name] == words for each in every)}


def samples(setting: "Setting") -> str:
    """The batches of the steps and of the readout."""
    parts = header(setting)
    return ", ".join(words for words in (parts["steps"], parts["readout"]) if words)


def folded(parts: Sequence[str], width: int) -> list[str]:
    """The parts, separated by commas, in lines of at most so many letters where a part is not longer."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f", {part}"
        else:
            lines = [*lines[:-1], f"{lines[-1]},", part] if lines else [part]
    return lines


def one_n(protocol: Protocol) -> bool:
    """Whether every step and the readout have fresh batches of one size."""
    if protocol.readout is None:
        return False
    every = (*protocol.steps, protocol.readout)
    return {each.batch for each in every} == {"fresh"} and len({each.n for each in every}) == 1


def _steps(protocol: Protocol) -> str:
    """``n = 400``; ``2 steps on one batch of 400``; ``3 steps, n = 400, 300, 300, step 3 reuses the batch of step 2``."""
    sizes, count = protocol.sizes(), len(protocol.steps)
    if not count:
        return f"no step, n = {protocol.readout_size}" if protocol.readout is not None else "no step"
    reusing = [t for t, step in enumerate(protocol.steps) if step.batch == "reuse"]
    if count > 1 and len(reusing) == count - 1:
        return f"{count} steps on one batch of {sizes[0]}"
    steps = f"{count} steps, " if count > 1 else ""
    each = " each" if count > 1 and len(set(sizes)) == 1 and not one_n(protocol) else ""
    listed = [f"{sizes[0]}{each}"] if len(set(sizes)) == 1 else _runs(sizes)
    return ", ".join([f"{steps}n = {', '.join(listed)}", *_reuses(protocol)])


def _runs(sizes: Sequence[int]) -> list[str]:
    """The sizes, with many equal ones in a row counted."""
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    return [
        text for size, times in runs for text in ([f"{times} × {size}"] if times >= FEWEST else [str(size)] * times)
    ]


def _reuses(protocol: Protocol) -> list[str]:
    """``step 2 reuses the batch of step 1``, for every batch that is used again."""
    owners: dict[int, list[int]] = {}
    owner = 0
    for t, step in enumerate(protocol.steps, start=1):
        if step.batch == "reuse":
            owners.setdefault(owner, []).append(t)
        else:
            owner = t
    return [
        f"step {again[0]} reuses the batch of step {first}"
        if len(again) == 1
        else f"steps {', '.join(map(str, again[:-1]))} and {again[-1]} reuse the batch of step {first}"
        for first, again in owners.items()
    ]


def _readout(protocol: Protocol) -> str:
    """``readout n = 800``, or which batch it reuses."""
    readout, steps = protocol.readout, protocol.steps
    if readout is None:
        return "no readout"
    if readout.batch == "fresh":
        return f"readout n = {readout.n}" if steps else ""
    one_batch = all(step.batch == "reuse" for step in steps[1:])
    return "readout on the same batch" if one_batch else f"readout on the batch of step {len(steps)}"


def _etas(setting: "Setting", symbols: bool) -> str:
    """The step sizes where none is a list; one number if all are equal."""
    if not setting.protocol.steps or any(step.listed for step in setting.protocol.steps):
        return ""
    sizes = [f"{eta:.4g}" for eta in np.ravel(setting.protocol.etas(setting.d, setting.p))]
    return f"{_name('eta', symbols)} = {', '.join(sizes if len(set(sizes)) > 1 else sizes[:1])}"


def _path(protocol: Protocol, symbols: bool) -> str:
    """The penalty or the rate, where it is one number; a penalty that GCV chooses."""
    readout = protocol.readout
    if readout is None or isinstance(readout.path, tuple):
        return ""
    if readout.path == "gcv":
        return "penalty by GCV"
    passes = f", {readout.passes} passes" if isinstance(readout, SGD) and readout.passes > 1 else ""
    return f"{_name(readout.axis, symbols)} = {readout.path:.4g}{passes}"


def _name(axis: str, symbols: bool) -> str:
    return SYMBOLS[axis] if symbols else axis

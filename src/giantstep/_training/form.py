"""RunForm: what a whole run on the device is compiled for, and how much of it is done side by side in its memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from giantstep._machine import memory as _memory
from giantstep._machine.backend import jax
from giantstep._training.plan import Plan
from giantstep.experiment.protocol import Protocol, Ridge
from giantstep.experiment.setting import Setting
from giantstep.ridge._many import BLOCKED

CHUNK = 2.0**32  # bytes of the rows of a chunk and of what is computed from them
LITTLE = 2.0**28  # the same of a small run, where more rows at a time would be most of its memory
TOGETHER = 2.0**34  # bytes of seeds side by side
DISPATCH = 5e13  # operations of one call of the program, about a second: the time between two updates of a progress bar
LEAST = 128  # rows of a chunk


@dataclass(frozen=True)
class RunForm:
    """What a program is compiled for."""

    setting: Setting  # the experiment at step sizes 0 and penalty 1, as the numbers are arguments
    n_test: int  # the number of test samples
    dtype: str  # the type of the products
    rows: int  # samples at a time
    seeds: int = 1  # seeds side by side
    grams: int = 1  # Gram matrices of one seed in memory, a divisor of the number of step sizes
    members: int = 1  # step sizes side by side, at most ``grams``
    penalties: int = 1  # penalties side by side
    printed: bool = (
        False  # whether errors are also measured on test labels without the linear part that is estimated on them
    )
    precision: str = "full"  # "full", or "tf32" for products that a GPU rounds, and ridge fits that are refined

    @property
    def blocked(self) -> bool:
        """Whether several factorisations are at work at once."""
        return self.seeds * self.members * self.penalties > 1


def bare(setting: Setting) -> Setting:
    """The setting at step sizes 0 and penalty 1: settings that differ in these alone share a program."""
    steps = tuple(replace(step, eta=0.0) for step in setting.protocol.steps)
    readout = setting.protocol.readout
    readout = replace(readout, penalty=1.0) if isinstance(readout, Ridge) else readout
    return replace(setting, protocol=Protocol(steps, readout))


def covers(setting: Setting, spectrum: bool) -> bool:
    """Whether a run is one program: several step sizes in the last step alone, no readout or positive penalties, no spectrum."""
    readout, steps = setting.protocol.readout, setting.protocol.steps
    if spectrum or setting.network.weights is not None or any(step.listed for step in steps[:-1]):
        return False
    if readout is None:
        return True
    return isinstance(readout, Ridge) and readout.penalty != "gcv" and float(np.min(np.asarray(readout.penalty))) > 0


def arguments(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """The step sizes (E, T) and the penalties (L,)."""
    etas = np.atleast_2d(setting.protocol.etas(setting.d, setting.p)).astype(float)
    readout = setting.protocol.readout
    return etas, np.ravel(np.asarray(1.0 if readout is None else readout.path, float))


def formed(
    setting: Setting, seeds: int, n_test: int, dtype: str, memory: float | None, work: float
) -> tuple[RunForm, Plan]:
    """The form of a run of so many seeds of so many operations each, and its plan; refused if one seed does not fit."""
    allowed = _memory.on_each(memory, jax.local_devices()[:1])
    d, p, item = setting.d, setting.p, np.dtype(dtype).itemsize
    etas, path = arguments(setting)
    readout = setting.protocol.readout
    n = 0 if readout is None else setting.protocol.readout_size
    small, dual = min(n, p), 0 < n <= p
    held = (4.0 * item + 8.0) * p * d + dual * (d + 2.0 * p) * n * item  # layers, a gradient's sum; rows of the dual
    row = (2.0 * d + 4.0 * p) * item  # an input, its preactivations along W and the gradient, features, a temporary
    sizes = [*setting.protocol.sizes(), *([] if dual or not n else [n]), n_test]
    rows = _chunk_rows(sizes, int(min(CHUNK, allowed / 4, max(LITTLE, 2 * held)) // row))
    large = small >= BLOCKED.stop
    together = 1 if large else _divisor(path.size, lambda k: 3 * 8.0 * small**2 * k <= CHUNK / 4)

    def solves(members: int) -> float:
        """Bytes of the factorisations of so many members: shifted matrices, factors and what is left of them."""
        features = 8.0 * n * p if dual else float(rows) * p * item
        return members * (2 * features + 3 * 8.0 * small**2 * together)

    def grams(members: int) -> float:
        return 8.0 * small**2 * members

    least = held + rows * row + grams(1) + solves(1)
    if least > allowed:
        raise _memory.refuse(least, allowed, "a smaller width or batch")
    several = _divisor(len(etas), lambda k: held + rows * row + grams(k) + solves(1) <= allowed / 2)
    aside = 1 if large else _divisor(several, lambda k: solves(k) <= min(CHUNK, allowed / 4))
    one = held + rows * row + grams(several) + solves(aside)
    beside = 1 if large else max(1, min(seeds, int(min(TOGETHER, 0.8 * allowed) // one)))
    group = max(beside, min(seeds, int(DISPATCH // max(work, 1.0)) // beside * beside))
    group = -(-seeds // -(-seeds // group))  # groups of one size if possible, so that one program serves all
    even = _divisor(group, lambda k: k <= beside)
    beside = even if 2 * even > beside else beside  # what is left over would be compiled apart
    form = RunForm(bare(setting), n_test, dtype, rows, beside, several, aside, together)
    return form, Plan(rows, group, several, work, beside * one)


def _chunk_rows(sizes: list[int], most: int) -> int:
    """The rows of a chunk: all of the longest batch, or a number that divides all batches, or at least equal parts."""
    longest, most = max(sizes), max(most, LEAST)
    if longest <= most:
        return longest
    common = gcd(*sizes)
    least = -(-common // most)
    divisors = [common // k for k in range(least, 4 * least + 1) if common % k == 0 and 4 * common >= k * most]
    return max(divisors) if divisors else -(-longest // -(-longest // most))


def _divisor(count: int, fits: Callable[[int], bool]) -> int:
    """The largest divisor that fits, at least 1."""
    return next((k for k in range(count, 0, -1) if count % k == 0 and fits(k)), 1)

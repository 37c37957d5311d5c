"""The memory and operations of the overlap method, and the choice of method="auto"."""

from dataclasses import replace

from giantstep._machine import memory as _memory
from giantstep._machine.random import block_rows
from giantstep._training.plan import MAX_SEEDS, TOGETHER_BYTES, Plan, make_plan, operations
from giantstep.errors import InputError
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.setting import Setting, need_gaussian
from giantstep.simulate import _reuse as reuse
from giantstep.simulate._projections import reduced

CHUNK_BLOCKS = 8  # blocks of random numbers in a chunk: enough for threads to share, small enough for the cache
NORMAL = 100.0  # operations that take as long as one random number
SLOW = 1e11  # operations, a few seconds: below this "auto" uses the dense method
FASTER = 10.0  # "auto" uses the overlap method if it needs this many times fewer operations
CHOSEN = (
    "The simulation follows overlaps (method='overlap'), which have exactly the same distribution. With method='dense' it "
    "would take too long or too much memory."
)


def aligned(rows: int, columns: int) -> int:
    """The number of rows of a chunk: whole blocks of random numbers, at most ``rows`` unless one block is larger."""
    block = block_rows(columns)
    return min(CHUNK_BLOCKS, max(1, rows // block)) * block


def plan(
    setting: Setting,
    seeds: int,
    n_test: int,
    item: int,
    memory: float | None,
    noise: int = 0,
    *,
    solver: str = "direct",
) -> Plan:
    """Plan the overlap method; its work includes the random numbers, which are most of it for small p."""
    need_gaussian(setting, "method='overlap'")
    protocol, p, r = setting.protocol, setting.p, setting.target.rank
    usual, most = min(setting.d, r + p), min(setting.d, r + 2 * p)  # coordinates, without and with shared step sizes
    base = make_plan(reduced(setting, most), seeds, n_test, item, memory, solver=solver)
    held, allowed = _held_bytes(setting), _memory.budget(memory) - base.bytes
    if held > allowed:
        largest = int(max(protocol.sizes()) * max(allowed, 0.0) / held)
        raise _memory.refuse(held + base.bytes, allowed + base.bytes, f"a batch of {largest} samples to be held")
    readout = 0 if protocol.readout is None else protocol.readout_size
    # rows of a block that short batches leave empty
    spare = max(0, base.rows - max([*protocol.sizes(), readout, n_test]))
    one = base.bytes / base.seeds - spare * (2 * most + 5 * p) * item + held
    together = int(min(TOGETHER_BYTES, allowed) // one)
    together = max(1, min(seeds, MAX_SEEDS, together))
    products = operations(reduced(setting, usual), n_test, base.solver, base.features)
    work = products + NORMAL * _rows(setting, n_test) * usual
    return replace(base, seeds=together, work=work, method="overlap")


def _rows(setting: Setting, n_test: int) -> int:
    """The number of samples that a run draws."""
    protocol = setting.protocol
    return sum(protocol.sizes()) + n_test + (protocol.readout_size if protocol.readout is not None else 0)


def _held_bytes(setting: Setting) -> float:
    """Bytes of the largest reused batch: n (p + r + 2 p T) numbers after T products with it, and work space."""
    protocol, p, d = setting.protocol, setting.p, setting.d
    largest, products = 0.0, 0
    for t, (step, n) in enumerate(zip(protocol.steps, protocol.sizes(), strict=True)):
        products = (products if step.batch == "reuse" else 0) + 1
        if reuse.held(protocol, t):
            left = min(n, products * p)
            right = min(d, p + setting.target.rank + left)
            largest = max(largest, 8.0 * n * (left + right + 4 * p))
    if protocol.readout is not None and protocol.readout.deflate > 1 and protocol.readout.batch == "fresh":
        largest = max(largest, 8.0 * protocol.readout_size * (2 * min(d, 2 * p + setting.target.rank) + 4))
    return largest


def fewer_coordinates(setting: Setting) -> bool:
    """Whether the overlap method applies and has fewer coordinates than the dense one."""
    return isinstance(setting.data, Gaussian) and setting.d > setting.target.rank + setting.p


def best(
    setting: Setting,
    seeds: int,
    n_test: int,
    item: int,
    memory: float | None,
    noise: int = 0,
    *,
    solver: str = "direct",
) -> Plan:
    """The plan of "auto": dense, unless it does not fit in memory, or takes more than a few seconds and ten times as long."""
    try:
        dense = make_plan(setting, seeds, n_test, item, memory, noise, solver=solver)
    except InputError:
        if not fewer_coordinates(setting):
            raise
        return plan(setting, seeds, n_test, item, memory, solver=solver)
    try:
        overlap = plan(setting, seeds, n_test, item, memory, solver=solver)
    except InputError:
        return dense
    operations = dense.work + NORMAL * _rows(setting, n_test) * setting.d
    return overlap if operations > max(SLOW / seeds, FASTER * overlap.work) else dense

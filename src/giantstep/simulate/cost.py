"""What the overlap route costs, and when "auto" takes it: memory before anything is allocated, operations against dense."""

from dataclasses import replace

from giantstep import _memory
from giantstep._errors import InputError
from giantstep._plan import MAX_SEEDS, TOGETHER_BYTES, Plan, make_plan
from giantstep._random import block_rows
from giantstep.setting import Setting
from giantstep.simulate.projections import reduced

CHUNK_BLOCKS = 8  # blocks of random numbers in a chunk: enough for threads to share, and not far from the cache
NORMAL = 100.0  # operations in the time that a random number takes
SLOW = 1e11  # operations, a few seconds: below that "auto" keeps the dense route and its draws
FASTER = 10.0  # times fewer operations from which "auto" takes the overlap route
CHOSEN = (
    "simulated from overlaps (method='overlap'): exact in law and free of d, where the dense route would take too long "
    "or too much memory"
)


def aligned(rows: int, columns: int) -> int:
    """Rows of a chunk, at most that many unless one block is more: whole blocks of random numbers."""
    block = block_rows(columns)
    return min(CHUNK_BLOCKS, max(1, rows // block)) * block


def plan(setting: Setting, seeds: int, n_test: int, item: int, memory: float | None, noise: bool = False) -> Plan:
    """The plan of the overlap route: chunks that stay near the cache, and seeds side by side while they are small."""
    columns = min(setting.d, setting.target.rank + 2 * setting.p)
    base = make_plan(reduced(setting, columns), seeds, n_test, item, memory)
    held, allowed = held_bytes(setting), _memory.budget(memory) - base.bytes
    if held > allowed:
        largest = int(max(setting.protocol.sizes()) * max(allowed, 0.0) / held)
        raise _memory.refuse(held + base.bytes, allowed + base.bytes, f"a batch of {largest} samples to be held")
    together = int(min(TOGETHER_BYTES, allowed) // (base.bytes / base.seeds + held))
    return replace(base, seeds=max(1, min(seeds, MAX_SEEDS, together)), method="overlap")


def held_bytes(setting: Setting) -> float:
    """Bytes of the largest batch that is used again: n (p + r + 2 p T) numbers for T products with it, and work space."""
    protocol, r, p = setting.protocol, setting.target.rank, setting.p
    largest, products = 0.0, 0
    for t, (step, n) in enumerate(zip(protocol.steps, protocol.sizes(), strict=True)):
        products = (products if step.batch == "reuse" else 0) + 1
        after = protocol.steps[t + 1] if t + 1 < len(protocol.steps) else protocol.readout
        if step.batch == "reuse" or step.deflate > 1 or (after is not None and after.batch == "reuse"):
            new = min(p, setting.d)
            largest = max(largest, 8.0 * n * (min(setting.d, p + r + products * new) + products * new + 4 * p))
    return largest


def best(setting: Setting, seeds: int, n_test: int, item: int, memory: float | None, noise: bool = False) -> Plan:
    """The plan of "auto": dense, unless it does not fit, or takes more than a few seconds and ten times as long."""
    try:
        dense = make_plan(setting, seeds, n_test, item, memory, noise)
    except InputError:
        if setting.d <= setting.target.rank + setting.p:
            raise  # no fewer coordinates than d
        return plan(setting, seeds, n_test, item, memory)
    try:
        overlap = plan(setting, seeds, n_test, item, memory)
    except InputError:
        return dense
    protocol = setting.protocol
    rows = sum(protocol.sizes()) + n_test + (protocol.readout_size if protocol.readout is not None else 0)
    columns = min(setting.d, setting.target.rank + setting.p)
    operations = dense.work + NORMAL * rows * setting.d
    slow = seeds * operations > SLOW
    return overlap if slow and operations > FASTER * (overlap.work + NORMAL * rows * columns) else dense

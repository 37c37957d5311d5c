"""Plan: how many rows, seeds and Gram matrices fit in memory at a time, and the operations ahead."""

from dataclasses import dataclass, replace

import numpy as np

from giantstep._machine import memory as _memory
from giantstep._machine.backend import jax
from giantstep._machine.mesh import size
from giantstep._machine.random import block_rows
from giantstep._machine.threads import cores
from giantstep.errors import InputError
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.ridge._conjugate_gradients import RANK

MOST_TESTED = 10**9  # samples: the test error is then known to some hundred-thousandths, and the run takes hours
CHUNK_BYTES = 2.0**28  # the rows of a chunk and what is computed from them; larger chunks are not faster on a CPU
ON_DEVICE = 8.0  # this many times more on an accelerator, whose host draws with all its cores meanwhile
HELD_BYTES = 2.0**32  # the largest reused batch that stays in memory; a larger one is drawn again
TOGETHER_BYTES = 2.0**27  # the most memory of seeds that run side by side; large products gain nothing from that
MAX_SEEDS = 32
RUNTIME = 0.15 * _memory.GIB  # what compiled programs, threads and the allocator take beside the arrays
ITERATIONS = 100  # a guess of the iterations of conjugate gradients, for the work ahead
CACHED = 2.0**22  # bytes of the features of a chunk on NumPy, which stay in the cache
SUMMED = 1024  # rows of a chunk from which its Gram matrix takes much longer than adding it to the others
# up to this many features in a call NumPy is done before XLA has compiled; on one core it is always faster
AT_ONCE = 2.0**28


@dataclass(frozen=True)
class Plan:
    """The sizes of a run."""

    rows: int  # samples at a time
    seeds: int  # runs side by side
    grams: int  # Gram matrices in memory at a time
    work: float  # floating-point operations of one seed
    bytes: float  # memory of one group of seeds on one device
    method: str = "dense"  # the method of simulation that the plan is for
    room: int = 0  # samples of a batch that may stay in memory
    solver: str = "direct"  # "direct" or "cg" for a ridge problem, or "sgd"
    features: bool = False  # whether "cg" and "sgd" have all of F in memory


@dataclass(frozen=True)
class _Sizes:
    d: int
    p: int
    r: int
    readout: int  # samples of the readout, 0 for none
    etas: int
    affine: bool  # all step sizes share one gradient
    item: int  # bytes of a number in the products
    noise: int  # additional numbers for every feature of a row: random ones, and what is computed with them
    table: int  # numbers held for every neuron
    devices: int = 1  # devices that share the rows; bytes are for one of them
    columns: int = 0  # penalties of conjugate gradients, or rates of SGD; 0 for a factorisation
    features: bool = False  # whether F stays in memory
    passes: int = 0  # passes of SGD through the rows; 0 for ridge

    def held(self, grams: int) -> float:
        """Bytes of one seed that do not depend on the chunk: layers, gradient, Gram matrices and their factor."""
        layers = ((4 if self.affine else 3 + 3 * self.etas) * self.d + self.table) * self.p * self.item
        if not self.readout:
            return layers
        if self.columns:  # the preconditioner and what it is made of, and the vectors of an iteration
            iterated = 8.0 * self.p * ((0 if self.passes else 4 * min(RANK, self.p)) + 10 * self.columns)
            return layers + iterated + self.features * float(self.readout) * self.p * self.item / self.devices
        small = min(self.readout, self.p)
        dual = self.readout <= self.p
        features = (4.0 + self.noise) * self.readout * self.p * self.item / self.devices if dual else 0.0
        return layers + features + 8.0 * small**2 * ((1 if dual else grams) + 4)

    def row(self) -> float:
        """Bytes of one row at work: input, two preactivations, features, a temporary, and noise as drawn and as used."""
        return (2 * self.d + (5 + self.noise) * self.p) * self.item + 8.0 * self.noise * self.p


def make_plan(
    setting: Setting, seeds: int, n_test: int, item: int, memory: float | None, noise: int = 0, table: int = 0,
    mesh: jax.sharding.Mesh | None = None, solver: str = "direct",
) -> Plan:  # fmt: skip
    """Plan a run within the memory allowed; if nothing fits, raise a sentence that says what would.

    On a mesh the bytes are those of one device, and every device has its share of the rows.
    """
    if n_test > MOST_TESTED:
        raise InputError(f"n_test must be at most {MOST_TESTED:.0e}, which takes hours already, not {n_test:.3g}")
    allowed = _memory.on_each(memory, jax.local_devices()[:1] if mesh is None else mesh.devices.tolist())
    allowed = max(allowed - RUNTIME, allowed / 2)
    solver = "sgd" if isinstance(setting.protocol.readout, SGD) else solver
    s = replace(_sizes(setting, item, noise, table, solver), devices=size(mesh))
    block = block_rows(s.d)
    if solver != "direct":
        whole = replace(s, features=True)
        s = whole if whole.held(1) + block * s.row() <= allowed / 2 else s  # the other half is for temporary arrays
    outcome = 8.0 * seeds * s.etas * (s.p * s.r + min(s.readout, s.p))  # bytes of its overlaps and singular values
    if outcome > allowed / 2:
        fit = int(seeds * allowed / (2 * outcome))
        raise _memory.refuse(2 * outcome, allowed, f"{fit} seeds" if fit else f"a width far below {s.p}")
    allowed -= outcome
    least = s.held(1) + block * s.row()
    if least > allowed:
        raise _memory.refuse(least, allowed, _what_fits(s, block, allowed))
    longest = -(-max([*setting.protocol.sizes(), s.readout, n_test]) // s.devices)  # rows of one device
    chunk = CHUNK_BYTES * (1.0 if jax.default_backend() == "cpu" else ON_DEVICE)
    wanted = min(chunk, allowed - s.held(1)) // s.row()
    if s.devices > 1:  # the host draws for all of them: a chunk as drawn, and a copy
        wanted = min(wanted, _memory.budget(None) // (2 * 8 * s.d * s.devices))
    rows = min(-(-longest // block), max(1, int(wanted // block))) * block
    grams = 1
    while not s.columns and grams < s.etas and s.held(grams + 1) + rows * s.row() <= allowed:
        grams += 1
    one = s.held(grams) + rows * s.row()
    together = max(1, min(seeds, MAX_SEEDS, int(min(TOGETHER_BYTES, allowed) // one)))
    # groups of one size if possible, so that one compiled program serves all
    together = -(-seeds // -(-seeds // together))
    spare = min(HELD_BYTES, (allowed - together * one) / 2)  # two batches at most
    room = int(spare // (together * (s.d + 1) * item)) * s.devices
    work = _work(setting, s, n_test)
    return Plan(rows * s.devices, together, grams, work, together * one, "dense", room, solver, s.features)


def operations(setting: Setting, n_test: int, solver: str, features: bool) -> float:
    """The work of a plan with this solver that holds its features or not; free memory, slow to ask for, plays no part."""
    return _work(setting, replace(_sizes(setting, 8, 0, 0, solver), features=features), n_test)


def runs_on_numpy(setting: Setting, plan: Plan, seeds: int, n_test: int, mesh: jax.sharding.Mesh | None = None) -> bool:
    """Whether NumPy runs it: on the CPU, with a factorisation, and either small or on one core."""
    if mesh is not None or plan.solver != "direct" or jax.default_backend() != "cpu":
        return False
    s = _sizes(setting, 8, 0, 0, plan.solver)
    rows = sum(setting.protocol.sizes()) + s.readout + n_test
    return len(cores()) == 1 or float(rows) * s.p * s.etas * seeds <= AT_ONCE


def in_cache(plan: Plan, setting: Setting) -> Plan:
    """The plan with chunks that stay in the cache, unless that makes them too short for their products."""
    block = block_rows(setting.d)
    rows = max(int(CACHED / (8.0 * setting.p)), min(SUMMED, setting.p), block) // block * block
    return replace(plan, rows=min(plan.rows, rows))


def _sizes(setting: Setting, item: int, noise: int, table: int, solver: str) -> _Sizes:
    protocol = setting.protocol
    readout = protocol.readout
    etas = protocol.etas(setting.d, setting.p)
    return _Sizes(
        d=setting.d,
        p=setting.p,
        r=setting.target.rank,
        readout=protocol.readout_size if protocol.readout is not None else 0,
        etas=len(etas) if etas.ndim == 2 else 1,
        affine=not any(step.listed for step in protocol.steps[:-1]),
        item=item,
        noise=int(noise),
        table=table,
        columns=int(np.size(readout.path)) if solver != "direct" and readout is not None else 0,
        passes=readout.passes if isinstance(readout, SGD) else 0,
    )


def _work(setting: Setting, s: _Sizes, n_test: int) -> float:
    """Operations of one seed: two products a step, features (two products shared by all step sizes), Gram, factor, test."""
    product = 2.0 * s.d * s.p
    products = 2 if s.affine and s.etas > 1 else (1 if s.affine else s.etas)
    steps = sum(setting.protocol.sizes()) * 2 * product * (1 if s.affine else s.etas)
    small = min(s.readout, s.p)
    penalty = setting.protocol.readout.path if setting.protocol.readout is not None else ()
    factor = (1 / 3 if isinstance(penalty, float) and penalty > 0 else 4 / 3 * 3) * small**3
    gram = float(s.readout) * s.p * small
    if s.columns:  # the second term counts what is computed again in every iteration
        again = 0.0 if s.features else s.readout * product * products
        gram, factor = (s.passes or ITERATIONS) * (4.0 * s.readout * s.p * s.columns + again), 0.0
    return steps + (s.readout + n_test) * product * products + s.etas * (gram + factor)


def _what_fits(s: _Sizes, block: int, allowed: float) -> str:
    """The largest width that fits if everything else stays the same."""
    low, high = 0, s.p
    while high - low > 1:
        middle = (low + high) // 2
        size = replace(s, p=middle)
        low, high = (middle, high) if size.held(1) + block * size.row() <= allowed else (low, middle)
    return f"a width of {low}" if low else "no width at this d"

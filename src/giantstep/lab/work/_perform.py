"""Perform a task, which is a block of trials or a call. Every executor runs this."""

import threading
import time
from dataclasses import dataclass, replace
from typing import Any, Literal

from giantstep._machine.memory import within
from giantstep.errors import InputError, MissingData
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.trial import Trial
from giantstep.lab.work._call import Call
from giantstep.lab.work.block import Block, split
from giantstep.results.outcome import Outcome

Task = Block | Call
# A Dask worker may have several threads, and the memory is planned for one task. A claim runs tasks inside a task.
_ALONE = threading.RLock()


@dataclass(frozen=True)
class Done:
    """A task that was tried, with the outcomes of a block or the value of a call, the seconds it took and its provenance.

    If it failed, ``refused`` is a sentence that says why, and ``cause`` is bad input, missing data, or an error.
    """

    task: Task
    pairs: tuple[tuple[Trial, Outcome], ...] = ()
    value: Any = None
    seconds: float = 0.0
    provenance: Provenance | None = None
    refused: str | None = None
    cause: Literal["input", "data", "error"] = "error"


def attempt(task: Task, memory: float | None = None) -> Done:
    """Perform the task; a failure is returned as a sentence, not raised."""
    try:
        with _ALONE, within(memory):
            start = time.perf_counter()
            pairs = tuple(perform(task, memory)) if isinstance(task, Block) else ()
            value = task.perform() if isinstance(task, Call) else None
            return Done(task, pairs, value, time.perf_counter() - start, Provenance.here())
    except InputError as problem:
        cause = "data" if isinstance(problem, MissingData) else "input"
        return Done(task, refused=str(problem), cause=cause)
    except Exception as problem:  # the failure is returned with the task, and the other tasks go on
        lines = str(problem).strip().splitlines()
        return Done(task, refused=f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__)


def perform(block: Block, memory: float | None = None) -> list[tuple[Trial, Outcome]]:
    """Run the block and return the outcome of every trial."""
    options: dict[str, Any] = dict(block.route.options)
    verb = block.route.verb
    if verb == "theory":
        from giantstep.theory import theory

        outcome = theory(block.setting, **options)
        if outcome.status.ok or len(block.trials) == 1:
            return split(block, outcome)
        alone = (replace(block, setting=each, members=((each,),)) for row in block.members for each in row)
        # so that each has its own status
        return [pair for one in alone for pair in split(one, theory(one.setting, **options))]
    options |= {"memory": memory, "progress": False, "random": options.get("random", "host")}
    if verb == "equivalent":
        from giantstep.equivalent import equivalent

        return split(block, equivalent(block.setting, seed=block.seeds, **options))
    from giantstep.simulate import simulate

    if options.get("method", "auto") == "auto":  # chosen for one trial, so that its draws do not depend on the block
        from giantstep.lab.work.forecast import planned

        options["method"] = planned(block.members[0][0], block.route, memory).method
    return split(block, simulate(block.setting, seed=block.seeds, **options))

"""Perform a block: call its verb and take the outcome apart. This is what every executor runs, here or elsewhere."""

import threading
from dataclasses import dataclass, replace
from typing import Any

from giantstep._errors import InputError
from giantstep.lab.block import Block, split
from giantstep.lab.provenance import Provenance
from giantstep.lab.trial import Trial
from giantstep.outcome import Outcome

__all__ = ["Done", "attempt", "perform"]

_ALONE = threading.Lock()  # small solves of JAX from several threads of one process may hang


@dataclass(frozen=True)
class Done:
    """A block that was tried: its outcomes and what made them, or the sentence that says why there are none."""

    block: Block
    pairs: tuple[tuple[Trial, Outcome], ...] = ()
    provenance: Provenance | None = None
    refused: str | None = None


def attempt(block: Block, memory: float | None = None) -> Done:
    """The block performed; what goes wrong is told, not raised."""
    try:
        with _ALONE:
            return Done(block, tuple(perform(block, memory)), Provenance.here())
    except InputError as problem:
        return Done(block, refused=str(problem))
    except Exception as problem:  # whatever a verb stumbles over is told with its block; the others go on
        lines = str(problem).strip().splitlines()
        return Done(block, refused=f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__)


def perform(block: Block, memory: float | None = None) -> list[tuple[Trial, Outcome]]:
    """Every trial of the block with its outcome."""
    options: dict[str, Any] = dict(block.route.options)
    verb = block.route.verb
    if verb == "theory":
        from giantstep.theory import theory

        found = theory(block.setting, **options)
        if found.status.ok or len(block.trials) == 1:
            return split(block, found)
        alone = (replace(block, setting=each, members=((each,),)) for row in block.members for each in row)
        return [
            pair for one in alone for pair in split(one, theory(one.setting, **options))
        ]  # each with its own status
    options |= {"memory": memory, "progress": False}
    if verb == "equivalent":
        from giantstep.equivalent import equivalent

        return split(block, equivalent(block.setting, seed=block.seeds, **options))
    from giantstep.simulate import simulate

    if options.get("method", "auto") == "auto":  # chosen for one trial: its draws do not depend on its block
        from giantstep.lab.forecast import planned

        options["method"] = planned(block.members[0][0], block.route, memory).method
    return split(block, simulate(block.setting, seed=block.seeds, **options))

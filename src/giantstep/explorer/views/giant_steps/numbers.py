"""The numbers of the view of giant steps: the recursion of the limit by the second process, the exact chain by the third."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer import settings
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.runs import Piece, Refused
from giantstep.explorer.state import GiantSteps

__all__ = ["GiantStepsNumbers", "KnownPaths"]

MOST_KEPT = 200
COMPILED = 120.0  # seconds: a new activation or target is compiled first
MEMORY = 2.0  # GiB of a simulation


@dataclass(frozen=True)
class KnownPaths:
    """What is known: the simulated chain and the theory's, either of which may be missing, with a sentence on it."""

    chain: Any = None
    theory: Any = None
    said: str = ""
    busy: bool = False

    @property
    def best(self) -> Any:
        """The chain if it is there, else the theory."""
        return self.chain if self.chain is not None else self.theory


class GiantStepsNumbers:
    """What the view computes."""

    def __init__(self, lab: Laboratory) -> None:
        self._lab = lab
        self._kept: OrderedDict[GiantSteps, Any] = OrderedDict()

    def start(self, s: GiantSteps, page: str) -> None:
        """Simulate, where the batch is not too large."""
        settings.giant_steps(s)
        if not self._too_large(s):
            self._lab.runs.start([Piece(_key(s), chain_of, (_same(s),))], page)

    def stop(self) -> None:
        self._lab.runs.stop()

    def busy(self, s: GiantSteps) -> bool:
        return self._lab.runs.busy([_key(s)])

    def seen(self, s: GiantSteps, page: str) -> KnownPaths:
        """Theory, and the simulation if it has arrived."""
        chain, busy, said = self._lab.runs.kept(_key(s)), self.busy(s), self._too_large(s)
        if isinstance(chain, Refused):
            chain, said = None, chain.sentence
        theory, why = self._theory(s, page)
        if busy:
            said = "Simulating …"
        elif chain is None and not said:
            said = "Stopped."
        return KnownPaths(chain, theory, " ".join(one for one in (said, why) if one), busy)

    def _theory(self, s: GiantSteps, page: str) -> tuple[Any, str]:
        same = _same(s)
        if same not in self._kept:
            try:
                self._kept[same] = self._lab.theory.ask(page, theory_of, same, limit=COMPILED), ""
            except InputError as problem:
                self._kept[same] = None, f"No theory here: {problem}."
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[same]

    def _too_large(self, s: GiantSteps) -> str:
        _, n = settings.dimension(s)
        most = settings.LARGEST_BATCH[s.batches]
        return (
            "" if n <= most else f"Batches of more than {most:,} samples are not simulated here.".replace(",", "\u202f")
        )


def _same(s: GiantSteps) -> GiantSteps:
    """What is shown changes nothing that is computed."""
    return replace(s, shown=0)


def _key(s: GiantSteps) -> Any:
    return "chain", _same(s)


def chain_of(s: GiantSteps) -> Any:
    """The simulated chain."""
    from giantstep.simulate import evolution

    return evolution(settings.giant_steps(s), s.seed, memory=MEMORY)


def theory_of(s: GiantSteps) -> Any:
    """The recursion of the limit, with the same second layer."""
    from giantstep.theory import evolution

    return evolution(settings.giant_steps(s), s.seed)

"""The numbers of the view of giant steps: a second process computes the limit's recursion, a third one the exact chain."""

from dataclasses import dataclass, replace
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._state import GiantSteps
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.processes._jobs import Failure, JobPart
from giantstep.explorer.processes._queue import Newest
from giantstep.explorer.processes._recent import Recent

MOST_STORED = 200
LIMIT = 120.0  # seconds of a prediction
MEMORY = 2.0  # GiB of a simulation


@dataclass(frozen=True)
class KnownPaths:
    """The simulated chain and that of the theory, either of which may be missing.

    ``message`` says how the simulation goes and ``refusal`` why there is no theory.
    ``first`` has the chains of the setting A, if there is one.
    """

    chain: Any = None
    theory: Any = None
    message: str = ""
    refusal: str = ""
    busy: bool = False
    first: "KnownPaths | None" = None

    @property
    def known(self) -> list[Any]:
        return [one for one in (self.chain, self.theory) if one is not None]

    @property
    def best(self) -> Any:
        """The simulated chain if it has arrived, else the theory."""
        return next(iter(self.known), None)


class GiantStepsNumbers:
    """The theory and the simulations of the view."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._theories = Recent(MOST_STORED)
        self.newest = Newest()

    def start(self, s: GiantSteps, page: str) -> None:
        """Simulate, where the batch is not too large."""
        settings.giant_steps(s)
        if not self._too_large(s):
            self._backend.jobs.start([JobPart(_key(s), chain_of, (_same(s),))], page)

    def stop(self) -> None:
        self._backend.jobs.stop()

    def busy(self, s: GiantSteps) -> bool:
        return self._backend.jobs.busy([_key(s)])

    def paths(self, s: GiantSteps, page: str) -> KnownPaths:
        """The theory, and the simulation if it has arrived; also those of the setting A, which is not simulated anew.

        Raises Replaced if the page asks for others meanwhile.
        """
        first = state.other(s)
        found = replace(self._paths(s, page), first=None if first is None else self._paths(first, f"{page} A"))
        self.newest.require(page, s)
        return found

    def _paths(self, s: GiantSteps, page: str) -> KnownPaths:
        chain, busy, message = self._backend.jobs.result(_key(s)), self.busy(s), self._too_large(s)
        if isinstance(chain, Failure):
            chain, message = None, chain.sentence
        theory, refusal = self._theories.find(_same(s), lambda: self._theory(_same(s), page))
        if busy:
            message = "Simulating …"
        elif chain is None and not message:
            message = "Stopped."
        return KnownPaths(chain, theory, message, refusal, busy)

    def _theory(self, s: GiantSteps, page: str) -> tuple[Any, str]:
        """The theory, or None and the sentence that refuses it."""
        try:
            return self._backend.theory.ask(page, theory_of, s, limit=LIMIT), ""
        except InputError as problem:
            return None, f"There is no theory here: {problem}."

    def _too_large(self, s: GiantSteps) -> str:
        most = settings.LARGEST_BATCH[s.batches]
        if settings.dimension(s)[1] <= most:
            return ""
        return f"Batches of more than {most:,} samples are not simulated here.".replace(",", "\u202f")


def _same(s: GiantSteps) -> GiantSteps:
    """The step that is shown and the setting A do not change the numbers."""
    return replace(state.alone(s), shown=0)


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

"""Backend: a queue for the theory of this process, and three worker processes that can be stopped."""

from dataclasses import dataclass, field
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.processes._jobs import JobRunner
from giantstep.explorer.processes._queue import RequestQueue
from giantstep.explorer.processes._worker import Stopped, TimedOut, WorkerProcess

PAUSE = 0.25  # seconds
PATIENCE = 12.0  # seconds for an answer that a page waits for


@dataclass(frozen=True)
class TimedWorker:
    """A worker process that answers one request after another, each within a time limit."""

    queue: RequestQueue = field(default_factory=RequestQueue)
    process: WorkerProcess = field(default_factory=WorkerProcess)

    def ask(self, page: str, function: Any, *arguments: Any, limit: float = PATIENCE) -> Any:
        """The value of a function of a module. One that takes too long is ended with a sentence. Raises Replaced."""
        return self.queue.ask(page, lambda: self._call(function, arguments, limit))

    def _call(self, function: Any, arguments: tuple[Any, ...], limit: float) -> Any:
        try:
            return self.process.call(function, *arguments, limit=limit)
        except TimedOut:
            sentence = f"This takes more than {limit:.0f} seconds. Try fewer directions or lower degrees."
            raise InputError(sentence) from None
        except Stopped:
            raise InputError("The explorer is closing.") from None


@dataclass(frozen=True)
class Backend:
    """``queue`` computes fast theory in this process, ``explanations`` explains targets, ``theory`` computes slow theory, and
    ``jobs`` runs simulations."""

    queue: RequestQueue = field(default_factory=RequestQueue)
    explanations: TimedWorker = field(default_factory=TimedWorker)
    theory: TimedWorker = field(default_factory=TimedWorker)
    jobs: JobRunner = field(default_factory=JobRunner)

    def pause(self) -> None:
        """Halt the slow processes for a moment, because a slider moves and the browser has to draw."""
        self.theory.process.pause(PAUSE)
        self.jobs.pause(PAUSE)

    def close(self) -> None:
        """End the processes."""
        self.jobs.close()
        self.explanations.process.close()
        self.theory.process.close()

"""Laboratory: what computes behind the page. A desk of this process, and three processes beside it that can be ended."""

from dataclasses import dataclass, field
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.processes.queue import Desk
from giantstep.explorer.processes.runs import Runs
from giantstep.explorer.processes.worker import Child, Overdue, Stopped

__all__ = ["Laboratory", "Reader"]

REST = 0.25  # seconds
PATIENCE = 12.0  # seconds for an answer that a page waits for


@dataclass(frozen=True)
class Reader:
    """A process that answers one question after the other, and does not go on for ever."""

    desk: Desk = field(default_factory=Desk)
    child: Child = field(default_factory=Child)

    def ask(self, page: str, function: Any, *arguments: Any, limit: float = PATIENCE) -> Any:
        """The value of a function of a module; one that takes too long is ended and told in a sentence. Raises Replaced."""
        return self.desk.ask(page, lambda: self._patient(function, arguments, limit))

    def _patient(self, function: Any, arguments: tuple[Any, ...], limit: float) -> Any:
        try:
            return self.child.call(function, *arguments, limit=limit)
        except Overdue:
            sentence = f"This takes more than {limit:.0f} seconds: fewer directions or lower degrees would do."
            raise InputError(sentence) from None
        except Stopped:
            raise InputError("The explorer is being closed.") from None


@dataclass(frozen=True)
class Laboratory:
    """``line`` is the theory of this process, ``words`` explains targets, ``theory`` takes longer, ``runs`` simulates."""

    line: Desk = field(default_factory=Desk)
    words: Reader = field(default_factory=Reader)
    theory: Reader = field(default_factory=Reader)
    runs: Runs = field(default_factory=Runs)

    def rest(self) -> None:
        """Halt the processes beside this one for a moment: a slider moves, and the browser has to draw."""
        self.theory.child.rest(REST)
        self.runs.rest(REST)

    def close(self) -> None:
        """End the processes."""
        self.runs.close()
        self.words.child.close()
        self.theory.child.close()

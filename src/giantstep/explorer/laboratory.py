"""Laboratory: what computes behind the page. One desk and one child for theory, one child for simulations."""

from dataclasses import dataclass, field
from typing import Any

from giantstep._errors import InputError
from giantstep.explorer.child import Child, Overdue, Stopped
from giantstep.explorer.desk import Desk
from giantstep.explorer.runs import Runs

__all__ = ["Laboratory"]

PATIENCE = 12.0  # seconds for an answer that a page waits for


@dataclass(frozen=True)
class Laboratory:
    """``line`` is the desk of this process; ``reader`` that of a second one, which may be ended; ``runs`` has a third."""

    line: Desk = field(default_factory=Desk)
    reader: Desk = field(default_factory=Desk)
    runs: Runs = field(default_factory=Runs)
    child: Child = field(default_factory=Child)

    def read(self, page: str, function: Any, *arguments: Any, limit: float = PATIENCE) -> Any:
        """A function of a module, by the second process; one that takes too long is ended and told in a sentence."""
        return self.reader.ask(page, lambda: self._patient(function, arguments, limit))

    def _patient(self, function: Any, arguments: tuple[Any, ...], limit: float) -> Any:
        try:
            return self.child.call(function, *arguments, limit=limit)
        except Overdue:
            sentence = f"This takes more than {limit:.0f} seconds: fewer directions or lower degrees would do."
            raise InputError(sentence) from None
        except Stopped:
            raise InputError("The explorer is being closed.") from None

    def close(self) -> None:
        """End the processes."""
        self.runs.close()
        self.child.close()

"""What is known of the claims beside the verdicts that come with the package: those run here, and those of a report."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.checks.check import check, verdict_of
from giantstep.checks.claim import Verdict
from giantstep.checks.code import computing
from giantstep.checks.report.duration import duration
from giantstep.claims import CLAIMS, select
from giantstep.errors import InputError
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.runs import Piece, Refused

__all__ = ["ClaimNumbers", "Shown"]

NAMES = frozenset(claim.name for claim in CLAIMS)


@dataclass(frozen=True)
class Shown:
    """A verdict with its figure, and where it is from; or the sentence why there is none."""

    verdict: Verdict | None
    words: str = ""
    refused: str = ""

    @property
    def made(self) -> str:
        """A word that changes with the figure."""
        return hashlib.sha256(self.verdict.figure.encode()).hexdigest()[:12] if self.verdict else ""


class ClaimNumbers:
    """Verdicts by the names of the registry; ``report`` is a folder that ``giantstep check`` wrote."""

    def __init__(self, lab: Laboratory, report: Path | None) -> None:
        self._runs = lab.runs
        self._store = None if report is None else report / f"measured-{computing()}.sqlite"

    def known(self, name: Any) -> bool:
        return isinstance(name, str) and name in NAMES

    def start(self, name: str, page: str) -> None:
        self._runs.start([Piece(("claim", name), checked, (name,))], page)

    def stop(self) -> None:
        self._runs.stop()

    def busy(self, name: str) -> bool:
        return self._runs.busy([("claim", name)])

    def shown(self, name: str) -> Shown | None:
        """The verdict that ran here, else that of the report, at full size if it has it."""
        found = self._runs.kept(("claim", name))
        if isinstance(found, Refused):
            return Shown(None, refused=found.sentence)
        return found if found is not None else self._reported(name)

    def _reported(self, name: str) -> Shown | None:
        if self._store is None or not self._store.is_file():
            return None
        from giantstep.lab.store import Store

        try:
            with Store.open(self._store, "read") as store:
                for size in ("full", "quick"):
                    verdict = verdict_of(store, name, size)
                    if verdict is not None:
                        return Shown(verdict, f"In the report, at {size} size")
        except InputError:  # a store that cannot be read has nothing to show
            return None
        return None


def checked(name: str) -> Shown:
    """Check a claim at quick size."""
    (result,) = check(select([name]), "quick")
    if result.verdict.outcome == "not run":  # a refusal is not kept: once the data are there, it runs
        raise InputError(result.verdict.sentence)
    return Shown(result.verdict, f"Just now, at quick size, in {duration(result.seconds)}")

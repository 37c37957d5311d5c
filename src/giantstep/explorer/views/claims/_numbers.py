"""The verdicts on claims that ran here or stand in a report, beside those that come with the package."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.checks._check import check, verdict_of
from giantstep.checks.code import trials
from giantstep.checks.verdict import Verdict
from giantstep.claims import TEXTS, select
from giantstep.errors import InputError
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.processes._jobs import Failure, JobPart
from giantstep.results.table import duration

BY_NAME = {claim.name: claim for claim in TEXTS}


@dataclass(frozen=True)
class Latest:
    """A verdict with its figure and its origin, or the sentence that says why there is none."""

    verdict: Verdict | None
    origin: str = ""
    refused: str = ""

    @property
    def digest(self) -> str:
        """A digest that changes with the figure."""
        return hashlib.sha256(self.verdict.figure.encode()).hexdigest()[:12] if self.verdict else ""


class ClaimNumbers:
    """Verdicts by the names of the registry; ``report`` is a folder that ``giantstep check`` wrote."""

    def __init__(self, backend: Backend, report: Path | None) -> None:
        self._jobs = backend.jobs
        self._store = None if report is None else report / f"measured-{trials()}.sqlite"

    def known(self, name: Any) -> bool:
        return isinstance(name, str) and name in BY_NAME

    def start(self, name: str, page: str) -> None:
        self._jobs.start([JobPart(("claim", name), check_claim, (name,))], page)

    def stop(self) -> None:
        self._jobs.stop()

    def busy(self, name: str) -> bool:
        return self._jobs.busy([("claim", name)])

    def latest(self, name: str) -> Latest | None:
        """The verdict that ran here, else that of the report, at full size if the report has it."""
        result = self._jobs.result(("claim", name))
        if isinstance(result, Failure):
            return Latest(None, refused=result.sentence)
        return result if result is not None else self._read_report(name)

    def _read_report(self, name: str) -> Latest | None:
        if self._store is None or not self._store.is_file():
            return None
        from giantstep.lab.store import Store

        try:
            with Store.open(self._store, "read") as store:
                for size in ("full", "quick"):
                    verdict = verdict_of(store, BY_NAME[name], size)
                    if verdict is not None:
                        return Latest(verdict, f"From the report, at {size} size")
        except InputError:  # a store that cannot be read has nothing to show
            return None
        return None


def check_claim(name: str) -> Latest:
    """Check a claim at quick size."""
    (result,) = check(select([name]), "quick")
    if result.verdict.outcome == "not run":  # a failure is not stored: the claim runs once the data are there
        raise InputError(result.verdict.sentence)
    return Latest(result.verdict, f"Just now, at quick size, in {duration(result.seconds)}")

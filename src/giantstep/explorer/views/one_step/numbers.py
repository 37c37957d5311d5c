"""The numbers of the one-step view: this process computes lines, a second one spectra, a third one simulations."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.explorer import settings
from giantstep.explorer.processes.backend import Backend
from giantstep.explorer.processes.jobs import Failure, Task
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.processes.recent import Recent
from giantstep.explorer.state import OneStep

__all__ = ["Known", "OneStepNumbers", "join"]

BLOCK = 8  # points of the theory that are solved together: few enough to follow a slider
MOST_STORED = 200
COMPILED = 120.0  # seconds: a new activation or target is compiled first
REST = 0.25  # seconds that a slider must rest before more than its line is computed
TRIMMED: dict[str, Any] = {
    "overlaps": None,
    "norms": None,
    "learned": None,
    "captured": None,
    "captured_se": None,
    "null_level": None,
}


@dataclass(frozen=True)
class Known:
    """The results of a state: the errors predicted at ``alphas``, the spectrum, and the simulations that have arrived."""

    alphas: tuple[float, ...]
    test: np.ndarray
    train: np.ndarray
    theory: Any = None
    limit: Any = None
    law: Any = None
    simulation: Any = None
    values: np.ndarray | None = None
    refused: str = ""

    @property
    def seeds(self) -> int:
        """How many seeds have arrived."""
        return 0 if self.simulation is None else len(self.simulation.seeds)


class OneStepNumbers:
    """The theory and the simulations of the view; recent predictions are stored."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._predictions = Recent(MOST_STORED)
        self._newest = Recent(MOST_STORED)  # the last request of every page

    def line(self, s: OneStep, page: str) -> Known:
        """The errors at a few step sizes, fast."""
        self._newest[page] = ("all", replace(s, seeds=1))
        same = ("line", replace(s, alpha=0.0, seeds=1))
        self._backend.pause()
        test, train = self._predictions.find(same, lambda: self._backend.queue.ask(page, lambda: few(s)))
        return self._add_simulations(s, Known(settings.FAST, test, train))

    def known(self, s: OneStep, page: str) -> Known:
        """All results, with the simulations that have arrived."""
        same = ("all", replace(s, seeds=1))
        if same not in self._predictions:
            time.sleep(REST)
            if self._newest.get(page, same) != same:
                raise Replaced
        theory, limit, law = self._predictions.find(
            same, lambda: self._backend.theory.ask(page, everything, s, limit=COMPILED)
        )
        return self._add_simulations(s, Known(_alphas(s), theory.test_error, theory.train_error, theory, limit, law))

    def start(self, s: OneStep, page: str) -> None:
        """Simulate the spectrum first, then the errors seed by seed."""
        n, p = settings.sizes(s)
        if p > settings.WIDEST:
            raise InputError(
                f"This page simulates at most {settings.WIDEST} neurons, not {p}; the theory has no such limit."
            )
        settings.one_step(s, s.alpha)  # refuse a bad target before anything starts
        tasks = [Task(_spectrum_key(s), spectrum_of, (s,))]
        tasks += [Task(_errors_key(s, seed), errors_of, (replace(s, alpha=0.0), seed)) for seed in range(s.seeds)]
        self._backend.jobs.start(tasks, page)

    def stop(self) -> None:
        self._backend.jobs.stop()

    def drop_other_jobs(self, s: OneStep, page: str) -> None:
        """Drop a job of this page for another state."""
        self._backend.jobs.drop_unless(page, self._keys(s))

    def busy(self, s: OneStep) -> bool:
        return self._backend.jobs.busy(self._keys(s))

    def count(self, s: OneStep) -> int:
        """How many tasks have ended."""
        return sum(self._backend.jobs.result(key) is not None for key in self._keys(s))

    def simulated(self, s: OneStep) -> tuple[Any, Any]:
        """The simulation of the errors and that of the spectrum; each is None until it is complete."""
        results = [self._backend.jobs.result(key) for key in self._keys(s)]
        spectrum, *errors = [None if isinstance(one, Failure) else one for one in results]
        return None if any(one is None for one in errors) else join(errors), spectrum

    def _keys(self, s: OneStep) -> list[Any]:
        return [_spectrum_key(s), *(_errors_key(s, seed) for seed in range(s.seeds))]

    def _add_simulations(self, s: OneStep, known: Known) -> Known:
        spectrum, *errors = [self._backend.jobs.result(key) for key in self._keys(s)]
        refused = next((one.sentence for one in (*errors, spectrum) if isinstance(one, Failure)), "")
        arrived = [one for one in errors if one is not None and not isinstance(one, Failure)]
        values = None if spectrum is None or isinstance(spectrum, Failure) else spectrum.singular_values
        return replace(known, simulation=join(arrived) if arrived else None, values=values, refused=refused)


def _errors_key(s: OneStep, seed: int) -> Any:
    return "errors", replace(s, alpha=0.0, seeds=1), seed


def _spectrum_key(s: OneStep) -> Any:
    return "spectrum", replace(s, seeds=1)


def _alphas(s: OneStep) -> tuple[float, ...]:
    """Where the theory is evaluated: at the dots, and at the slider."""
    return tuple(sorted({*settings.ALPHAS, s.alpha}))


def few(s: OneStep) -> tuple[np.ndarray, np.ndarray]:
    """Test and training error at the few step sizes of the line that follows a slider."""
    from giantstep.theory.one_step.grid import curves
    from giantstep.theory.one_step.parameters import parameters

    errors = curves(*parameters(settings.one_step(s, settings.FAST)), BLOCK).errors
    return np.asarray(errors.test)[:, 0], np.asarray(errors.train)[:, 0]


def everything(s: OneStep) -> tuple[Any, Any, Any]:
    """The prediction at all step sizes, its published limit, and the predicted spectrum at the slider's step size."""
    from giantstep.theory import spectrum, theory

    setting = settings.one_step(s, _alphas(s))
    return theory(setting), theory(setting, "limit"), spectrum(settings.one_step(s, s.alpha))


def spectrum_of(s: OneStep) -> Any:
    """The outcome of one simulated network at the slider's step size, with its singular values."""
    import giantstep as gs

    return replace(gs.simulate(settings.one_step(s, s.alpha), 0, spectrum=True, progress=False), **TRIMMED)


def errors_of(s: OneStep, seed: int) -> Any:
    """The outcome of one seed at all step sizes, as one of several."""
    import giantstep as gs

    return replace(gs.simulate(settings.one_step(s, settings.ALPHAS), [seed], progress=False), **TRIMMED)


def join(outcomes: list[Any]) -> Any:
    """One outcome of several seeds from outcomes of one seed each."""
    names = [f"{name}{end}" for name in ("test_error", "risk", "train_error", "train_objective") for end in ("", "_se")]
    known = {name: [getattr(one, name) for one in outcomes] for name in names}
    arrays: dict[str, Any] = {
        name: np.concatenate(values, axis=-1) for name, values in known.items() if values[0] is not None
    }
    return replace(outcomes[0], seeds=tuple(seed for one in outcomes for seed in one.seeds), **arrays)

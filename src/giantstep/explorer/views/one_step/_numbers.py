"""The numbers of the one-step view: this process computes lines, a second one spectra, a third one simulations."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._state import OneStep
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.processes._jobs import Failure, JobPart
from giantstep.explorer.processes._queue import Newest, Replaced
from giantstep.explorer.processes._recent import Recent
from giantstep.explorer.views.one_step._tasks import Few, Unit, curves_of, errors_of, few, join, law_of, spectrum_of
from giantstep.results.outcome import Outcome

MOST_STORED = 200
LIMIT = 120.0  # seconds of a prediction
REST = 0.25  # seconds that a slider must rest before more than its line is computed


@dataclass(frozen=True)
class OneStepAnswer:
    """The results of a state: the errors predicted at ``alphas``, the spectrum, and the simulations that have arrived.

    ``bands`` are those of the two errors, (alphas, 2); ``spectra`` the singular values of every simulated seed at the slider's
    step size; ``first`` the results of the setting A, if there is one.
    """

    alphas: tuple[float, ...]
    test: np.ndarray
    train: np.ndarray
    unit: Unit
    bands: dict[str, np.ndarray] = field(default_factory=dict)
    theory: Any = None
    limit: Any = None
    law: Any = None
    simulation: Any = None
    spectra: tuple[np.ndarray, ...] = ()
    refused: str = ""
    first: "OneStepAnswer | None" = None

    @property
    def seeds(self) -> int:
        """How many seeds have arrived."""
        return 0 if self.simulation is None else len(self.simulation.seeds)


class OneStepNumbers:
    """The theory and the simulations of the view; recent predictions are stored."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._predictions = Recent(MOST_STORED)
        self.newest = Newest()
        self._ahead: set[Any] = set()  # what Play is waiting for

    def line(self, s: OneStep, page: str) -> OneStepAnswer:
        """The errors at a few step sizes, fast; also those of the setting A."""
        self._backend.pause()
        first = state.other(s)
        return replace(self._line(s, page), first=None if first is None else self._line(first, page))

    def _line(self, s: OneStep, page: str) -> OneStepAnswer:
        """All step sizes with dots, if another place of the slider has brought them; otherwise the few."""
        curves = self._predictions.get(_curves_key(replace(s, alpha=settings.ALPHAS[0])))
        line = self._few(s, page)
        if curves is not None:
            return self._add_simulations(s, _predicted(settings.ALPHAS, line.unit, *curves))
        return self._add_simulations(s, OneStepAnswer(settings.FAST, line.test, line.train, line.unit, line.bands))

    def _few(self, s: OneStep, page: str) -> Few:
        return self._predictions.find(("line", _same(s)), lambda: self._backend.queue.ask(page, lambda: few(s)))

    def known(self, s: OneStep, page: str) -> OneStepAnswer:
        """All results, with the simulations that have arrived. Raises Replaced if the page asks for others meanwhile."""
        if not self.complete(s):
            time.sleep(REST)
            self.newest.require(page, s)
        first = state.other(s)
        found = replace(self._known(s, page), first=None if first is None else self._known(first, f"{page} A"))
        self.newest.require(page, s)
        return found

    def _known(self, s: OneStep, page: str) -> OneStepAnswer:
        line = self._few(s, f"{page} all")  # the line comes first

        def ask(function: Any) -> Any:
            return self._backend.theory.ask(page, function, s, limit=LIMIT)

        theory, limit = self._predictions.find(_curves_key(s), lambda: ask(curves_of))
        law = self._predictions.find(_all_key(s), lambda: ask(law_of))
        return self._add_simulations(s, replace(_predicted(settings.alphas(s), line.unit, theory, limit), law=law))

    def complete(self, s: OneStep) -> bool:
        """Whether everything that the theory says is there, also about the setting A."""
        first = state.other(s)
        return all(_all_key(one) in self._predictions for one in (s, first) if one is not None)

    def prepare(self, s: OneStep, page: str) -> bool:
        """Compute the results of a state before it is shown; whether they are there, or refused, and not still under way."""
        key = page, _all_key(s)
        if key in self._ahead:
            return False
        self._ahead.add(key)
        try:
            self._known(s, f"{page} next")
        except InputError:  # the page says it when the state is shown
            pass
        except Replaced:
            return False
        finally:
            self._ahead.discard(key)
        return True

    def start(self, s: OneStep, page: str) -> None:
        """Simulate the errors and the spectra seed by seed; those at the slider's step size first, if they are not among them."""
        n, p = settings.sizes(s)
        if p > settings.WIDEST:
            raise InputError(
                f"This page simulates at most {settings.WIDEST} neurons, not {p}; the theory has no such limit."
            )
        settings.one_step(s, s.alpha)  # refuse a bad target before anything starts
        own = state.alone(s)
        tasks = [JobPart(key, spectrum_of, (own, seed)) for seed, key in enumerate(_spectrum_keys(s))]
        tasks += [JobPart(key, errors_of, (replace(own, alpha=0.0), seed)) for seed, key in enumerate(_errors_keys(s))]
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
        """The simulation of the errors and the spectrum of the first seed; each is None until it is complete."""
        errors = [self._result(key) for key in _errors_keys(s)]
        spectra = self._spectra(s, errors)
        seed = None if spectra[0] is None else _of_spectrum(s, spectra[0])
        return None if any(one is None for one in errors) else join(errors), seed

    def _keys(self, s: OneStep) -> list[Any]:
        return [*_spectrum_keys(s), *_errors_keys(s)]

    def _result(self, key: Any) -> Any:
        """A result, or None where there is none or the task failed."""
        found = self._backend.jobs.result(key)
        return None if isinstance(found, Failure) else found

    def _spectra(self, s: OneStep, errors: list[Any]) -> list[np.ndarray | None]:
        """The singular values of every seed at the slider's step size, as far as they have arrived."""
        if s.alpha not in settings.ALPHAS:
            return [self._result(key) for key in _spectrum_keys(s)]
        at = settings.ALPHAS.index(s.alpha)
        return [None if one is None else one.singular_values[at, 0] for one in errors]

    def _add_simulations(self, s: OneStep, known: OneStepAnswer) -> OneStepAnswer:
        failed = (one for one in map(self._backend.jobs.result, self._keys(s)) if isinstance(one, Failure))
        errors = [self._result(key) for key in _errors_keys(s)]
        arrived = [one for one in errors if one is not None]
        spectra = tuple(one for one in self._spectra(s, errors) if one is not None)
        refused = next((one.sentence for one in failed), "")
        return replace(known, simulation=join(arrived) if arrived else None, spectra=spectra, refused=refused)


def _same(s: OneStep) -> OneStep:
    """The state without what changes no number: the slider's place, the number of seeds, and the setting A."""
    return replace(state.alone(s), alpha=0.0, seeds=1)


def _all_key(s: OneStep) -> Any:
    return "all", replace(_same(s), alpha=s.alpha)


def _curves_key(s: OneStep) -> Any:
    return "curves", _same(s), settings.alphas(s)


def _errors_keys(s: OneStep) -> list[Any]:
    return [("errors", _same(s), seed) for seed in range(s.seeds)]


def _spectrum_keys(s: OneStep) -> list[Any]:
    """Those of the tasks that a step size between the dots needs."""
    return [] if s.alpha in settings.ALPHAS else [("spectrum", _all_key(s), seed) for seed in range(s.seeds)]


def _of_spectrum(s: OneStep, values: np.ndarray) -> Any:
    """The outcome of one network of which only the singular values are known."""
    setting = settings.one_step(s, s.alpha)
    return Outcome(setting, "simulate", eta=float(settings.sizes(s)[0] ** s.alpha), singular_values=values)


def _predicted(alphas: tuple[float, ...], unit: Unit, theory: Any, limit: Any) -> OneStepAnswer:
    """The curves of a prediction and of its published limit."""
    bands = {name: getattr(theory, f"{name}_error_band") for name in ("test", "train")}
    bands = {name: np.asarray(band) for name, band in bands.items() if band is not None}
    return OneStepAnswer(alphas, theory.test_error, theory.train_error, unit, bands, theory, limit)

"""The numbers of the one-step view: lines by this process, spectra by the second, simulations by the third."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.explorer import settings
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.processes.runs import Piece, Refused
from giantstep.explorer.state import OneStep

__all__ = ["Found", "OneStepNumbers", "joined"]

BLOCK = 8  # points of the theory solved together: small enough to follow a slider
MOST_KEPT = 200
COMPILED = 120.0  # seconds: a new activation or target is compiled first
REST = 0.25  # seconds that a slider rests before more than its line is computed
TRIMMED: dict[str, Any] = {
    "overlaps": None,
    "norms": None,
    "learned": None,
    "captured": None,
    "captured_se": None,
    "null_level": None,
}


@dataclass(frozen=True)
class Found:
    """What is known of a state: errors predicted at ``alphas``, the spectrum, and the simulations that have arrived."""

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
        """How many have arrived."""
        return 0 if self.simulation is None else len(self.simulation.seeds)


class OneStepNumbers:
    """Everything the view computes; what was predicted is kept for a while."""

    def __init__(self, lab: Laboratory) -> None:
        self._lab = lab
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._newest: OrderedDict[str, Any] = OrderedDict()  # what every page asked for last

    def line(self, s: OneStep, page: str) -> Found:
        """The errors at a few step sizes, soon."""
        self._newest[page] = ("all", replace(s, seeds=1))
        while len(self._newest) > MOST_KEPT:
            self._newest.popitem(last=False)
        same = ("line", replace(s, alpha=0.0, seeds=1))
        self._lab.rest()
        test, train = self._keep(same, lambda: self._lab.line.ask(page, lambda: few(s)))
        return self._with_runs(s, Found(settings.FAST, test, train))

    def found(self, s: OneStep, page: str) -> Found:
        """Everything, as far as simulations have come."""
        same = ("all", replace(s, seeds=1))
        if same not in self._kept:
            time.sleep(REST)
            if self._newest.get(page, same) != same:
                raise Replaced
        theory, limit, law = self._keep(same, lambda: self._lab.theory.ask(page, everything, s, limit=COMPILED))
        return self._with_runs(s, Found(_alphas(s), theory.test_error, theory.train_error, theory, limit, law))

    def start(self, s: OneStep, page: str) -> None:
        """Simulate: the spectrum first, then the errors seed by seed."""
        n, p = settings.sizes(s)
        if p > settings.WIDEST:
            raise InputError(
                f"A simulation here has at most {settings.WIDEST} neurons, not {p}: the theory goes on beyond."
            )
        settings.one_step(s, s.alpha)  # a target that is refused is refused before anything starts
        pieces = [Piece(_spectrum_key(s), spectrum_of, (s,))]
        pieces += [Piece(_errors_key(s, seed), errors_of, (replace(s, alpha=0.0), seed)) for seed in range(s.seeds)]
        self._lab.runs.start(pieces, page)

    def stop(self) -> None:
        self._lab.runs.stop()

    def leave(self, s: OneStep, page: str) -> None:
        """A job of this page that was for another state goes no further."""
        self._lab.runs.leave(page, self._keys(s))

    def busy(self, s: OneStep) -> bool:
        return self._lab.runs.busy(self._keys(s))

    def count(self, s: OneStep) -> int:
        """How many pieces have arrived."""
        return sum(self._lab.runs.kept(key) is not None for key in self._keys(s))

    def simulated(self, s: OneStep) -> tuple[Any, Any]:
        """The simulation of the errors if all seeds have arrived, and that of the spectrum; or None."""
        kept = [self._lab.runs.kept(key) for key in self._keys(s)]
        spectrum, *errors = [None if isinstance(one, Refused) else one for one in kept]
        return None if any(one is None for one in errors) else joined(errors), spectrum

    def _keys(self, s: OneStep) -> list[Any]:
        return [_spectrum_key(s), *(_errors_key(s, seed) for seed in range(s.seeds))]

    def _with_runs(self, s: OneStep, found: Found) -> Found:
        kept = [self._lab.runs.kept(_errors_key(s, seed)) for seed in range(s.seeds)]
        arrived = [one for one in kept if one is not None and not isinstance(one, Refused)]
        one = self._lab.runs.kept(_spectrum_key(s))
        refused = next((each.sentence for each in (*kept, one) if isinstance(each, Refused)), "")
        values = None if one is None or isinstance(one, Refused) else one.singular_values
        return replace(found, simulation=joined(arrived) if arrived else None, values=values, refused=refused)

    def _keep(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


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

    found = curves(*parameters(settings.one_step(s, settings.FAST)), BLOCK).errors
    return np.asarray(found.test)[:, 0], np.asarray(found.train)[:, 0]


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


def joined(outcomes: list[Any]) -> Any:
    """One outcome of several seeds from outcomes of one seed each."""
    names = [f"{name}{end}" for name in ("test_error", "risk", "train_error", "train_objective") for end in ("", "_se")]
    known = {name: [getattr(one, name) for one in outcomes] for name in names}
    arrays: dict[str, Any] = {
        name: np.concatenate(values, axis=-1) for name, values in known.items() if values[0] is not None
    }
    return replace(outcomes[0], seeds=tuple(seed for one in outcomes for seed in one.seeds), **arrays)

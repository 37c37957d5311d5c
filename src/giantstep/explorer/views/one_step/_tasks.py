"""What the processes of the one-step view compute: the line and its step, the law of the spectrum, and simulations."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from giantstep.explorer import _settings as settings
from giantstep.explorer._state import OneStep

TRIMMED = dict.fromkeys(
    (
        *("overlaps", "norms", "learned", "captured", "captured_se", "null_level"),
        *("bulk_edge", "bulk_edge_se", "outliers", "outliers_se"),
    )
)


class Unit(NamedTuple):
    """What a step of size one does to a typical neuron.

    It moves it by ``move`` times its length, which grows as eta. The noise of the gradient adds the share ``noise`` to its
    squared length, which grows as eta^2.
    """

    move: float
    noise: float


class Few(NamedTuple):
    """The line at a few step sizes: test and training error (alphas), their bands (alphas, 2), and the step itself."""

    test: np.ndarray
    train: np.ndarray
    bands: dict[str, np.ndarray]
    unit: Unit


def few(s: OneStep) -> Few:
    """The errors at the few step sizes of the line that follows a slider."""
    from giantstep.theory._band import bands
    from giantstep.theory.one_step._grid import curves
    from giantstep.theory.one_step._predict import move
    from giantstep.theory.one_step.parameters import parameters

    setting = settings.one_step(s, settings.FAST)
    found = curves(*parameters(setting))
    test, train = np.asarray(found.errors.test), np.asarray(found.errors.train)
    both = {"test_error": test, "train_error": train}
    moved = move(found, setting)
    ends = bands(both, setting, moved, np.asarray(found.errors.noise))
    largest = settings.sizes(s)[0] ** settings.FAST[-1]
    unit = Unit(float(moved.strength[-1] / largest), float(found.bend[-1] / largest**2))
    return Few(test[:, 0], train[:, 0], {name: ends[f"{name}_error_band"][:, 0] for name in ("test", "train")}, unit)


def curves_of(s: OneStep) -> tuple[Any, Any]:
    """The prediction at all step sizes, and its published limit."""
    from giantstep.theory import theory

    setting = settings.one_step(s, settings.alphas(s))
    return theory(setting), theory(setting, "limit")


def law_of(s: OneStep) -> Any:
    """The predicted spectrum at the slider's step size."""
    from giantstep.theory import spectrum

    return spectrum(settings.one_step(s, s.alpha))


def spectrum_of(s: OneStep, seed: int) -> np.ndarray:
    """The singular values of one simulated network at the slider's step size."""
    import giantstep as gs

    return gs.simulate(settings.one_step(s, s.alpha), seed, spectrum=True, progress=False).singular_values


def errors_of(s: OneStep, seed: int) -> Any:
    """The outcome of one seed at all step sizes, as one of several, with its singular values."""
    import giantstep as gs

    setting = settings.one_step(s, settings.ALPHAS)
    return replace(gs.simulate(setting, [seed], spectrum=True, progress=False), **TRIMMED)


def join(outcomes: list[Any]) -> Any:
    """One outcome of several seeds from outcomes of one seed each."""
    names = [f"{name}{end}" for name in ("test_error", "risk", "train_error", "train_objective") for end in ("", "_se")]
    known = {name: [getattr(one, name) for one in outcomes] for name in names}
    arrays: dict[str, Any] = {
        name: np.concatenate(values, axis=-1) for name, values in known.items() if values[0] is not None
    }
    seeds = tuple(seed for one in outcomes for seed in one.seeds)
    return replace(outcomes[0], seeds=seeds, singular_values=None, **arrays)

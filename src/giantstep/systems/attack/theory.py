"""Attacks predicted: the law of the ray of random networks, and after one giant step."""

from typing import TYPE_CHECKING

import numpy as np

from giantstep.results.system import Curve, Reading
from giantstep.systems.attack import stepped_ray
from giantstep.systems.attack.random_ray import RayLaw

if TYPE_CHECKING:
    from giantstep.systems.attack import Attack

FEWEST = 20  # neurons below which f is far from Gaussian


def predicted(attack: "Attack") -> Reading:
    """Predict the numbers and curves that ``simulate`` measures."""
    if attack.setting is not None:
        return stepped_ray.predicted(attack, attack.setting)
    assert attack.d is not None
    laws = [RayLaw(attack.activation, width, attack.d) for width in attack.widths]
    notes = (
        (f"Below {FEWEST} neurons the output is far from Gaussian, so the shares are rough.",)
        if laws[0].p < FEWEST
        else ()
    )
    if not isinstance(attack.width, tuple):
        return Reading(_numbers(laws[0]), _curves(attack, laws[0]), notes)
    numbers, x = [_numbers(law) for law in laws], np.array(attack.widths, dtype=float)
    curves = {name: Curve("width", x, np.array([one[name] for one in numbers]), log="x") for name in numbers[0]}
    flips = np.array([law.flips(np.array(attack.etas)) for law in laws])
    for eta, share in zip(attack.etas, flips.T, strict=True):
        curves[f"flips, η = {eta:g}"] = Curve("width", x, share, log="x")
    return Reading({}, curves, notes)


def _numbers(law: RayLaw) -> dict[str, float]:
    return {
        "output": law.v0,
        "gradient": law.gradient,
        "change": law.change(),
        "random_change": law.random_change(),
        "median": law.median,
        "relative": law.median / law.d**0.5,
    }


def _curves(attack: "Attack", law: RayLaw) -> dict[str, Curve]:
    """The predicted curves, on a finer grid than the measured ones."""
    etas, distances = np.array(attack.etas), np.array(attack.distances)
    between = lambda x: np.unique(np.concatenate([x, np.linspace(x[0], x[-1], 25)]))  # noqa: E731
    curves = {
        "flips": Curve("η", between(etas), law.flips(between(etas))),
        "within": Curve("distance", between(distances), law.within(between(distances))),
    }
    if attack.failures:
        needed = np.array([law.distance(failure) for failure in attack.failures])
        curves["needed"] = Curve("failure probability", np.array(attack.failures), needed, log="x")
    return curves

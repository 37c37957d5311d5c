"""By how much errors change with spiked Gaussian features in place of the network's own.

Both are on the same draws.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.checks import ComparedNumbers, Data, Evidence, Judging, cache, statistics
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired

UPDATES = {"gradient": "full gradient", "rank1": "rank-one update"}
CHANGE = "change of an error"  # the name of the judge of claims that compare these


class Arm(NamedTuple):
    """An activation, an update of the first layer and step sizes n^alpha beside no step.

    The update is the gradient or its rank-one part.
    """

    activation: str
    update: str
    alphas: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.activation}, {UPDATES[self.update]}" if self.alphas else self.activation

    @property
    def steps(self) -> tuple[str, ...]:
        return ("no step", *(f"α = {alpha:g}" for alpha in self.alphas))


def experiment(n: int, arm: Arm) -> Setting:
    """Setting 2 of the talk, step size 0 first."""
    target = talk.setting_2()
    return paired.experiment(n, arm.alphas, target, activation=arm.activation, update=arm.update)


def errors(n: int, arm: Arm, seeds: range) -> Float[np.ndarray, "2 errors steps seeds"]:
    """Test error and training objective of the network, and with spiked Gaussian features.

    These stand in place of its own, on one draw.
    """
    setting, options = experiment(n, arm), {"n_test": paired.N_TEST, "dtype": "float32"}
    network = cache.simulate(setting, seeds, **options)
    model = cache.equivalent(setting, "spiked", seeds, base="gaussian", **options)
    found = [[getattr(outcome, error) for error in paired.ERRORS] for outcome in (network, model)]
    return np.reshape(found, (2, len(paired.ERRORS), len(arm.steps), len(seeds)))


def changes(
    found: Float[np.ndarray, "2 errors steps seeds"],
) -> Float[np.ndarray, "errors steps seeds"]:
    """By which share of the network's mean error the model's is off."""
    network, model = found
    return (model - network) / network.mean(axis=-1, keepdims=True)


def unchanged(
    arm: Arm, found: Float[np.ndarray, "2 errors steps seeds"], judge: Judging
) -> tuple[ComparedNumbers, ComparedNumbers]:
    """Every change of an arm against zero, and their mean."""
    at = [f"{error}, {step}" for error in paired.ERRORS.values() for step in arm.steps]
    return judge.each_and_mean(f"change with {arm.name}", changes(found), by=CHANGE, at=at)


def by_size(sizes: Sequence[int], arms: Sequence[Arm], seeds: range) -> Data:
    """The errors of every arm.

    last: at the last n.
    small: at the others on a third of the seeds, for the trend, (sizes, 2, errors, steps, seeds).
    """
    *small, n = sizes
    some, found = seeds[: max(2, len(seeds) // 3)], {}
    for arm in arms:
        before = np.array([errors(k, arm, some) for k in small])
        found[arm.name] = {"small": before, "last": errors(n, arm, seeds)}
    return found


def evidence(arms: Sequence[Arm], measured: Data, judge: Judging) -> Evidence:
    """Changes of both errors at the last n against zero."""
    compared = (unchanged(arm, measured[arm.name]["last"], judge) for arm in arms)
    return statistics.stated(*(each for pair in compared for each in pair))


def furthest_of(arms: Sequence[Arm], measured: Data) -> tuple[float, float]:
    """The size of the largest change of all arms in %, at the smallest and at the last n."""
    each = [measured[arm.name] for arm in arms]
    smallest = max(abs(furthest(found["small"][0])) for found in each)
    last = max(abs(furthest(found["last"])) for found in each)
    return smallest, last


def furthest(found: Float[np.ndarray, "2 errors steps seeds"]) -> float:
    """The mean change that is furthest from zero, in %."""
    mean = 100 * changes(found).mean(axis=-1)
    return float(mean.flat[np.argmax(np.abs(mean))])


def draw(n: int, arms: Sequence[Arm], found: Sequence[np.ndarray]) -> str:
    """Changes of both errors in % against the step size, one colour for each arm."""
    with style.figure(2, width=3.6, height=3.0) as (fig, axes):
        alphas = sorted({alpha for arm in arms for alpha in arm.alphas})
        for e, (ax, what) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
            ax.axhline(0, color=style.INK, label="universality")
            for i, (arm, one, marker) in enumerate(zip(arms, found, "osD", strict=False)):
                mean, se = mean_and_error(100 * changes(one))
                x = np.array([0.0, *arm.alphas]) + 0.007 * (i - 1)
                look = {"color": style.COLOURS[i], "marker": marker}
                style.dots(ax, x, mean[e], se[e], label=formula(arm.name), **look)
            ax.set_xticks([0.0, *alphas], ["no step", *(f"{a:g}" for a in alphas)])
            xlabel = paired.STEP_SIZE if alphas else ""
            ax.set(xlabel=xlabel, ylabel="change in %", title=f"{what}, n = {n}")
        low = min(ax.get_ylim()[0] for ax in axes)
        high = max(ax.get_ylim()[1] for ax in axes)
        for ax in axes:
            ax.set_ylim(low, high)
            if not alphas:
                ax.set_xlim(-0.1, 0.1)
        return style.svg(fig, below=2)

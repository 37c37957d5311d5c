"""Gaussian features, with the spikes that a step calls for, in place of the network's leave the errors as they are."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula

ALPHAS = (0.28, 0.39)  # inside the regimes of degree 2 and 4; step size 0 comes first
SHORT = ALPHAS[:1]  # step sizes of the correction
SIZES = {"quick": (100, 400), "full": (375, 1500)}  # n, a smaller one for the trend
SEEDS: dict[Size, Seeds] = {"quick": Seeds(36, 80), "full": Seeds(50, 280)}
FEWER = {"quick": 1.0, "full": 0.75}  # the share of the seeds for the correction, whose changes scatter less
CELL = {"quick": Tolerance(0.05, 0.16), "full": Tolerance(0.02, 0.045)}  # of an error
ALONE = {"quick": Tolerance(0.03, 0.16), "full": CELL["full"]}  # of the test error after the gradient
RULE = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.04)}  # of their mean
TREND = {"quick": Tolerance(0.0, 0.25), "full": Tolerance(0.0, 0.04)}  # of an error


class UpdateArm(NamedTuple):
    """An activation and an update of the first layer, the gradient or its rank-one part."""

    activation: str
    update: str

    @property
    def name(self) -> str:
        return f"{self.activation}, {'full gradient' if self.update == 'gradient' else 'rank-one update'}"

    @property
    def alphas(self) -> tuple[float, ...]:
        return ALPHAS if self.update == "gradient" else SHORT


# The gradient's remainder shows where the features are far from linear: with the sine.
STATED, CORRECTED = (UpdateArm("sin(1.5*x)", "gradient"),), (UpdateArm("relu", "rank1"), UpdateArm("tanh", "rank1"))


def experiment(n: int, arm: UpdateArm) -> Setting:
    """Setting 2 of the talk, step size 0 first."""
    return paired.experiment(n, arm.alphas, talk.setting_2(), activation=arm.activation, update=arm.update)


def errors(n: int, arm: UpdateArm, seeds: range) -> Float[np.ndarray, "2 errors steps seeds"]:
    """Test error and training loss of the network, and with spiked Gaussian features in place of its own, on the same data."""
    setting, options = experiment(n, arm), {"n_test": paired.N_TEST, "dtype": "float32"}
    network = cache.simulate(setting, seeds, **options)
    model = cache.equivalent(setting, "spiked", seeds, base="gaussian", **options)
    return np.array([[getattr(outcome, error) for error in paired.ERRORS] for outcome in (network, model)])


def measure(size: Size, seeds: range) -> Data:
    """The errors by arm, and those of the last arm at the smaller n."""
    small, n = SIZES[size]
    fewer = seeds[: round(FEWER[size] * len(seeds))]
    found = {arm.name: errors(n, arm, seeds if arm in STATED else fewer) for arm in (*STATED, *CORRECTED)}
    return {**found, "small": errors(small, CORRECTED[-1], fewer)}


def changes(found: Float[np.ndarray, "2 errors steps seeds"]) -> Float[np.ndarray, "errors steps seeds"]:
    """By which share of the network's mean error the model's is off."""
    network, model = found
    return (model - network) / network.mean(axis=-1, keepdims=True)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Changes of the test error after the gradient, and of both errors after the rank-one update, against zero.

    Where the change is largest with tanh, in the training loss at alpha = 0.28, it must be nearer to zero at the larger n.
    """
    last = CORRECTED[-1].name
    small, large = (changes(measured[name])[1, -1] for name in ("small", last))
    trend = statistics.compare(
        "the change nearer to zero at the larger n", _size_of(large) - _size_of(small), 0.0,
        at=[f"training loss, {last}, α = {SHORT[-1]:g}"], side="below", within=TREND[size],
    )  # fmt: skip
    return Evidence(_blocks(STATED, size, measured, 1, ALONE), (*_blocks(CORRECTED, size, measured), trend))


def _size_of(change: Float[np.ndarray, " seeds"]) -> Float[np.ndarray, "1 seeds"]:
    """The size of the mean change, as jackknife values."""
    return statistics.pseudovalues(lambda c: np.abs(np.mean(c, axis=-1)), change[None])


def _blocks(
    arms: tuple[UpdateArm, ...], size: Size, measured: Data, kinds: int = 2, cell: dict[str, Tolerance] = CELL
) -> tuple[statistics.ComparedNumbers, ...]:
    """Of the first ``kinds`` errors: the test error alone, or both."""
    made = []
    for arm in arms:
        change = changes(measured[arm.name])[:kinds]
        names = ("no step", *(f"α = {alpha:g}" for alpha in arm.alphas))
        at = [f"{error}, {name}" for error in list(paired.ERRORS.values())[:kinds] for name in names]
        within = Tolerances(cell[size], RULE[size])
        made += statistics.each_and_mean(f"change with {arm.name}", change, at=at, within=within)
    return tuple(made)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    small, n = SIZES[size]
    numbers = {arm: mean_and_error(100 * changes(measured[arm.name])) for arm in (*STATED, *CORRECTED)}
    first = numbers[STATED[0]]
    return Verdict(
        sizes=f"n = {n}, and {small} for the trend; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, numbers),
        caption=f"Changes of test error (left) and training loss (right) in % when spiked Gaussian features replace those of "
        f"the network, against the step size, n = {n}. After a gradient step of size n^{ALPHAS[-1]:g} the test error changes "
        f"by {first[0][0, -1]:+.1f} ± {first[1][0, -1]:.1f}%; the line at zero is universality.",
        settings=tuple(experiment(n, arm).id for arm in (*STATED, *CORRECTED)),
    )


def _figure(n: int, numbers: dict[UpdateArm, tuple[np.ndarray, np.ndarray]]) -> str:
    with style.figure(2, width=3.6, height=3.0) as (fig, axes):
        for e, (ax, what) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
            ax.axhline(0, color=style.INK, label="universality")
            for i, ((arm, (mean, se)), marker) in enumerate(zip(numbers.items(), "osD", strict=True)):
                x = np.array([0.0, *arm.alphas]) + 0.007 * (i - 1)
                style.dots(ax, x, mean[e], se[e], color=style.COLOURS[i], marker=marker, label=formula(arm.name))
            ax.set_xticks([0.0, *ALPHAS], ["no step", *(f"{a:g}" for a in ALPHAS)])
            ax.set(xlabel=paired.STEP_SIZE, ylabel="change in %", title="")
            ax.set_title(f"{what}, n = {n}")
        low, high = min(ax.get_ylim()[0] for ax in axes), max(ax.get_ylim()[1] for ax in axes)
        for ax in axes:
            ax.set_ylim(low, high)
        return style.svg(fig, below=2)

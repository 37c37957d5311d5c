"""One giant step on mixtures: training and test error predicted at the experiment's own sizes, against simulation."""

from typing import NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.experiment.setting import Setting
from giantstep.plot import style


class MixtureCase(NamedTuple):
    """Activation, labels along the spikes or a random direction, weighting, strength, and neurons per sample."""

    activation: str
    along: bool
    alpha: float
    beta: float
    width: float

    def __str__(self) -> str:
        where = "along the spikes" if self.along else "random"
        return f"{self.activation}, ξ {where}, α = {self.alpha:g}, β = {self.beta:g}, k/m = {self.width:g}"


CASES = (
    MixtureCase("relu", False, 0.0, 0.74, 1.0),
    MixtureCase("relu", False, 0.5, 1.0, 1.0),
    MixtureCase("relu", False, 1.0, 0.74, 3.0),
    MixtureCase("relu", True, 0.0, 0.5, 0.5),
    MixtureCase("relu", True, 0.5, 0.74, 3.0),
    MixtureCase("relu", True, 1.0, 1.0, 1.0),
    MixtureCase("tanh", False, 1.0, 1.0, 0.5),
    MixtureCase("tanh", True, 0.0, 0.74, 1.0),
)
QUICK = (0, 3, 5, 6)  # cases at quick size
SIZES = {"quick": (200, 16), "full": (1000, 10)}  # n = m, seeds
PENALTY = 0.1  # lambda n
TEST = 5  # test samples over m
ERRORS = {"test_error": "test error", "train_error": "training error"}
LEVEL = 3.0  # standard errors
ENOUGH = 25.0  # % that the test should see
HEADER = ("activation", "ξ", "α", "β", "k/m", "error", "measured", "s.e.", "predicted", "gap in %", "gap in s.e.")
NEAR = {"quick": 6.0, "full": 4.0}  # % granted to corrections of order 1/n and to a large step inside the spikes' span


def experiment(case: MixtureCase, n: int) -> Setting:
    """Demir and Dogan's, with the penalty that their lambda is at n = 1000."""
    options = {"alpha": case.alpha, "beta": case.beta, "spiked_target": case.along, "activation": case.activation}
    return gs.presets.demir(n, n, round(case.width * n), penalty=PENALTY / n, **options)


def cases(size: Size) -> tuple[MixtureCase, ...]:
    return tuple(CASES[i] for i in QUICK) if size == "quick" else CASES


def measure(size: Size) -> Data:
    """Errors, (cases, errors, seeds)."""
    n, seeds = SIZES[size]
    work = {"n_test": TEST * n, "dtype": "float32", "method": "dense"}
    outcomes = [cache.simulate(experiment(case, n), range(seeds), **work) for case in cases(size)]
    return {"errors": np.array([[getattr(each, name) for name in ERRORS] for each in outcomes])}


def predict(size: Size) -> Data:
    """The same without seeds."""
    return {"errors": np.array([limits(experiment(case, SIZES[size][0])) for case in cases(size)])}


def limits(setting: Setting) -> list[float]:
    """Both errors by theory."""
    outcome = gs.theory(setting)
    return [float(getattr(outcome, name)) for name in ERRORS]


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), expected, every = SIZES[size], predicted["errors"], cases(size)
    comparison = compare(measured["errors"], expected, level=LEVEL, granted=NEAR[size] / 100 * expected)
    off = 100 * (comparison.mean / comparison.predicted - 1)
    i, j = np.unravel_index(np.argmax(np.abs(off)), off.shape)
    missed, total = int(np.sum(comparison.missed)), comparison.mean.size
    return Verdict(
        outcome=decided(missed > 0, 100 * float(np.max(comparison.relative().seen)), ENOUGH),
        sentence=f"{total - missed} of {total} errors are the predicted ones within 3 s.e. or {NEAR[size]:g}%: "
        f"{np.mean(np.abs(off)):.1f}% off on average, {off[i, j]:+.1f}% or {comparison.distance[i, j]:+.1f} s.e. at most "
        f"({comparison.mean[i, j]:.4f} ± {comparison.error[i, j]:.4f} against {expected[i, j]:.4f}, "
        f"{[*ERRORS.values()][j]}; {every[i]}).",
        header=HEADER,
        rows=tuple(_rows(every, comparison, off)),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}",
        figure=_figure(every, comparison),
        caption=f"Gaps between simulated and predicted errors in %, one place a case, test errors beside training errors, with "
        f"one standard error, over a grey band of ± {NEAR[size]:g}%: the furthest is {off[i, j]:+.1f}%.",
        settings=tuple(experiment(case, n).id for case in cases(size)),
        power=comparison.relative().power("% of an error", 100),
    )


def _rows(every: tuple[MixtureCase, ...], comparison: Compared, off: np.ndarray) -> list[tuple]:
    columns = (comparison.mean, comparison.error, comparison.predicted, off, comparison.distance)
    return [
        (case.activation, "spikes" if case.along else "random", *case[2:], what, *(float(x[i, j]) for x in columns))
        for i, case in enumerate(every)
        for j, what in enumerate(ERRORS.values())
    ]


def _figure(every: tuple[MixtureCase, ...], comparison: Compared) -> str:
    here = comparison.relative()
    places = np.arange(len(every), dtype=float)
    with style.figure(1, width=7.4, height=3.4) as (fig, ax):
        near = 100 * float(np.max(here.granted))
        ax.axhspan(-near, near, color=style.INK, alpha=0.08, linewidth=0, label=f"granted, {near:g}%")
        ax.axhline(0.0, color=style.INK, linewidth=0.8)
        for j, (what, colour) in enumerate(zip(ERRORS.values(), style.COLOURS, strict=False)):
            off = 100 * (here.mean[:, j] - 1)
            style.dots(ax, places + 0.2 * j - 0.1, off, 100 * here.error[:, j], color=colour, label=what)
        where = {True: "spikes", False: "random"}
        label = "{}\nα = {:g}\nβ = {:g}\nk/m = {:g}\n{}"
        names = [label.format(c.activation, c.alpha, c.beta, c.width, where[c.along]) for c in every]
        ax.set_xticks(places, names, fontsize=8)
        ax.set_ylabel("simulated / predicted − 1, in %")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5)
        return style.svg(fig)


CLAIM = claim("giantstep/mixtures", measure=measure, predict=predict, judge=judge)

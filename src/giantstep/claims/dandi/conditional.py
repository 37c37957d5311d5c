"""Given what the giant steps have learned, wide networks' features can be replaced by Gaussian ones; not without it."""

from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import line
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

SQUARES, PRODUCTS = "x1 + x2 + x1^2 - x2^2", "x1 + x1*x2 + x1*x3"
NAMES = {SQUARES: "$x_1 + x_2 + x_1^2 - x_2^2$", PRODUCTS: "$x_1 + x_1x_2 + x_1x_3$"}
CASES = ((SQUARES, "gelu", 1), (SQUARES, "relu", 2), (PRODUCTS, "relu", 2))  # target, activation, steps
SIZES = {"quick": ((200,), 12), "full": ((250, 500), 16)}  # d, and seeds
RATIO = 4  # n/d
STRENGTH = 1.0  # s = eta/p
PENALTY = 0.1  # of the ridge fit
N_TEST = 2000  # test samples
GIVEN, PLAIN = "conditional", "gaussian"
ERRORS = {"test_error": "test error", "train_error": "training error"}
LEVEL = 3.0  # standard errors
NEAR = 4.0  # % of the network's error granted to finite sizes


def experiment(target: str, activation: str, steps: int, d: int) -> Setting:
    network = gs.Network(d, activation, scale="1/p")
    many = (gs.GiantStep(RATIO * d, STRENGTH * d),) * steps
    return gs.Setting(gs.Gaussian(d), gs.target(target), network, gs.Protocol(many, gs.Ridge(RATIO * d, PENALTY)))


def measure(size: Size) -> Data:
    """Errors of the network and of the models on the same draws, (cases, seeds), by kind of error, model and d."""
    (sizes, seeds), errors = SIZES[size], {name: {} for name in ERRORS}
    work: Any = {"n_test": N_TEST, "dtype": "float32"}
    for d in sizes:
        settings = [experiment(*case, d) for case in CASES]
        outcomes = {"network": [cache.simulate(s, range(seeds), method="dense", **work) for s in settings]}
        for model in (GIVEN, PLAIN) if d == sizes[-1] else (GIVEN,):  # what is off at the largest d needs no trend
            outcomes[model] = [cache.equivalent(s, model, range(seeds), **work) for s in settings]
        for name in ERRORS:
            errors[name] |= {f"{m}, d = {d}": np.stack([getattr(o, name) for o in all]) for m, all in outcomes.items()}
    return errors


def predict(size: Size) -> Data:
    """By how many % the errors of the conditional model differ from the network's as d grows."""
    return {"difference": 0.0}


class ModelRow(NamedTuple):
    """By how many % of the network's error that of the model is off, on the same draws."""

    target: str
    activation: str
    steps: int
    model: str
    what: str
    d: int
    network: float
    mean: float
    error: float

    def off(self, expected: float) -> bool:
        return abs(self.mean - expected) > max(LEVEL * self.error, NEAR)


def rows_of(sizes: tuple[int, ...], measured: Data) -> list[ModelRow]:
    rows = []
    for name, what in ERRORS.items():
        for d in sizes:
            network = measured[name][f"network, d = {d}"]
            for model in (GIVEN, PLAIN) if d == sizes[-1] else (GIVEN,):
                for case, here, there in zip(CASES, network, measured[name][f"{model}, d = {d}"], strict=True):
                    mean, error = mean_and_error(100 * (there - here) / here.mean())
                    rows.append(ModelRow(*case, model, what, d, float(here.mean()), float(mean), float(error)))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether the model's errors are the network's."""
    sizes, seeds = SIZES[size]
    last, rows, expected = sizes[-1], rows_of(sizes, measured), predicted["difference"]
    given, plain = ([r for r in rows if (r.model, r.d) == (m, last)] for m in (GIVEN, PLAIN))
    missed = [r for r in given if r.off(expected)]
    visible = [c for c in CASES if any(r.off(expected) for r in plain if r[:3] == c)]
    sure = all(LEVEL * r.error < NEAR for r in given) and len(visible) == len(CASES)
    worst = max(given, key=lambda r: abs(r.mean - expected))
    mean = [sum(abs(r.mean - expected) for r in some) / len(some) for some in (given, plain)]
    return Verdict(
        outcome="fails" if missed else ("holds" if sure else "inconclusive"),
        sentence=f"At d = {last} {len(given) - len(missed)} of {len(given)} errors of the conditional model are the "
        f"network's within 3 s.e. or {NEAR:g}% (the largest difference is {worst.mean:+.1f} ± {worst.error:.1f}%: "
        f"{worst.target}, {worst.activation}, {worst.steps} step{'s' * (worst.steps > 1)}, {worst.what}), {mean[0]:.1f}% "
        f"on average. The Gaussian model without conditions is off by {mean[1]:.0f}% on average and visibly in {len(visible)} "
        f"of {len(CASES)} cases.",
        header=("target", "activation", "steps", "model", "error", "d", "network", "difference in %", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; p = d, n = {RATIO}d a step and in the readout; s = {STRENGTH:g}; "
        f"penalty {PENALTY:g}",
        figure=_figure(rows, expected),
        caption="Differences from the network's errors in % against 1/d, one panel a case. The conditional model comes to within "
        f"{abs(worst.mean - expected):.1f}% of the line at zero at d = {last}; the Gaussian model without conditions is "
        f"{mean[1]:.0f}% away on average.",
        power=power.stated([r.error for r in given], LEVEL, NEAR, "% of the network's error", seeds=seeds),
        trend=_trend(sizes, rows, expected) if len(sizes) > 1 else "",
        settings=tuple(experiment(*case, last).id for case in CASES),
    )


def fitted(rows: list[ModelRow]) -> tuple[float, float, float]:
    """A + B/d through the differences: A, what is left at infinite d, its standard error, and B."""
    return line([1 / r.d for r in rows], [r.mean for r in rows], [r.error for r in rows])[:3]


def _trend(sizes: tuple[int, ...], rows: list[ModelRow], expected: float) -> str:
    given = [r for r in rows if r.model == GIVEN]
    left = [fitted([r for r in given if r[:5] == one[:5]]) for one in given if one.d == sizes[0]]
    close = sum(abs(a - expected) < LEVEL * e for a, e, _ in left)
    far = [[abs(r.mean - expected) for r in given if r.d == d] for d in sizes]
    words = ", ".join(f"{sum(each) / len(each):.1f}% at d = {d}" for each, d in zip(far, sizes, strict=True))
    return (
        f"The mean distance of the conditional model from the network is {words}; {close} of {len(left)} differences fitted by "
        "A + B/d have A = 0 within 3 s.e."
    )


def _figure(rows: list[ModelRow], expected: float) -> str:
    """Differences in % against 1/d, around the zero that the equivalence predicts, with the lines A + B/d."""
    colours = dict(zip([(m, w) for m in (GIVEN, PLAIN) for w in ERRORS.values()], style.COLOURS, strict=False))
    with style.figure(len(CASES), width=2.8, height=2.5) as (fig, axes):
        for ax, case in zip(np.atleast_1d(axes), CASES, strict=True):
            ax.axhline(expected, color=style.INK, linewidth=0.8)
            for i, ((model, what), colour) in enumerate(colours.items()):
                here = [r for r in rows if r[:5] == (*case, model, what)]
                x, y, error = (np.array([r[k] for r in here], dtype=float) for k in (5, 7, 8))
                style.dots(ax, 1.02 ** (i - 1.5) / x, y, error, color=colour, label=f"{model}: {what}")
                if len(here) > 1:
                    a, _, b = fitted(here)
                    ends = np.array([0.0, 1 / x[0]])
                    ax.plot(ends, a + b * ends, color=colour, linewidth=1.0, alpha=0.7)
            ax.set_title(f"{NAMES[case[0]]}\n{case[1]}, {case[2]} step{'s' * (case[2] > 1)}", loc="left", fontsize=9)
            ax.set_xlim(0, 1.1 / min(r.d for r in rows))
            ax.set_xlabel("1/d")
            ax.locator_params(axis="x", nbins=4)
        ax = np.atleast_1d(axes)[0]
        ax.set_ylabel("difference in %")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return style.svg(fig)


CLAIM = claim("dandi/conditional", measure=measure, predict=predict, judge=judge)

"""Images in place of a mixture: the polynomial and the conditional model have the network's test error at every width."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.demir.conditional import difference
from giantstep.claims.margins import Margins
from giantstep.errors import InputError, MissingData
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

PAIRS = ((0, 1), (5, 9))
SIZES = {"quick": (240, 4), "full": (500, 8)}  # m, and seeds
RATIOS = {"quick": (0.1, 1.0), "full": (0.1, 0.5, 1.0, 5.0)}  # k/m
ACTIVATIONS = {"quick": ("relu",), "full": ("relu", "tanh", "sigmoid")}
CONDITIONED = {"quick": (0.1,), "full": RATIOS["full"]}  # k/m where the conditional model is measured too
HERMITE, GIVEN = "polynomial", "conditional"
ORDER = 5  # l, and b = 1: the choice of the paper
N_TEST = 2000  # all test images of two classes, in the sample too
SOURCES = {"quick": "sample", "full": "full"}  # quick verdicts are the same on every machine
NAMES = {"quick": "the sample of Fashion-MNIST", "full": "Fashion-MNIST"}
MARGINS = Margins(level=3.0, granted=5.0, needed=15.0)  # % of an error


def experiment(size: Size, m: int, pair: Any, activation: str, ratio: float, eta: Any = 1.0) -> Setting:
    return gs.presets.fashion(m, round(ratio * m), tuple(pair), eta, activation=activation, path=SOURCES[size])


def read(setting: Setting) -> Setting:
    """The setting, once its images are there: a claim that cannot read them is unmeasured, and the sentence says why."""
    try:
        setting.data.split()  # type: ignore[union-attr]
    except MissingData:
        raise
    except InputError as problem:
        raise cache.Unmeasured(str(problem)) from None
    return setting


def errors(setting: Setting, seeds: int, model: str | None = None) -> np.ndarray:
    """Test errors of the network or of a model on the same draws."""
    how: Any = {"n_test": N_TEST, "dtype": "float32"}
    if model is None:
        return cache.simulate(setting, range(seeds), **how).test_error
    if model == HERMITE:
        return cache.equivalent(setting, "hermite", range(seeds), degree=ORDER - 1, width=1.0, **how).test_error
    return cache.equivalent(setting, GIVEN, range(seeds), **how).test_error


def cells(size: Size) -> dict[str, tuple[Any, str, float]]:
    every = [(pair, a, ratio) for a in ACTIVATIONS[size] for ratio in RATIOS[size] for pair in PAIRS]
    return {f"{pair[0]} vs {pair[1]}, {a}, {ratio:g}": (pair, a, ratio) for pair, a, ratio in every}


def measure(size: Size) -> Data:
    """Test errors of the network (no step and the step, seeds) and of the models (seeds), by classes, activation and k/m."""
    (m, seeds), errors_of = SIZES[size], {}
    for name, (pair, activation, ratio) in cells(size).items():
        here = read(experiment(size, m, pair, activation, ratio))
        models = (HERMITE, GIVEN) if ratio in CONDITIONED[size] else (HERMITE,)
        errors_of[name] = {
            "network": errors(experiment(size, m, pair, activation, ratio, [0.0, 1.0]), seeds),
            "variance": gs.labels(here).total,
            **{model: errors(here, seeds, model) for model in models},
        }
    return errors_of


def predict(size: Size) -> Data:
    """By how many % the errors of the models differ from the network's."""
    return {HERMITE: 0.0, GIVEN: 0.0}


class FashionRow(NamedTuple):
    """``network`` and ``none``, without a step, as shares of the labels' variance; the model's difference in %."""

    classes: str
    activation: str
    ratio: float
    model: str
    none: float
    network: float
    spread: float
    mean: float
    error: float

    def off(self, expected: Data) -> bool:
        return abs(self.mean - expected[self.model]) > max(MARGINS.level * self.error, MARGINS.granted)


def rows_of(size: Size, measured: Data) -> list[FashionRow]:
    rows = []
    for name, (pair, activation, ratio) in cells(size).items():
        errors_of = measured[name]
        (none, here), (_, spread) = mean_and_error(errors_of["network"] / errors_of["variance"])
        for model in (HERMITE, GIVEN):
            if model in errors_of:
                off = difference(errors_of["network"][1], errors_of[model])
                shares = float(none), float(here), float(spread)
                rows.append(FashionRow(f"{pair[0]} vs {pair[1]}", activation, ratio, model, *shares, *off))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (m, seeds), rows = SIZES[size], rows_of(size, measured)
    missed, worst = [r for r in rows if r.off(predicted)], max(rows, key=lambda r: abs(r.mean))
    sure = all(power.detectable(r.error, MARGINS.level, MARGINS.granted) < MARGINS.needed for r in rows)
    mean = {name: [abs(r.mean) for r in rows if r.model == name] for name in (HERMITE, GIVEN)}
    gain = max(rows, key=lambda r: r.none / r.network)
    least, most = (pick(rows, key=lambda r: r.network) for pick in (min, max))
    return Verdict(
        outcome="fails" if missed else ("holds" if sure else "inconclusive"),
        sentence=f"{len(rows) - len(missed)} of {len(rows)} test errors of the models are the network's within 3 s.e. or "
        f"{MARGINS.granted:g}%: "
        + " and ".join(f"the {name} {sum(each) / len(each):.1f}%" for name, each in mean.items())
        + f" off on average, {worst.mean:+.1f} ± {worst.error:.1f}% at most ({worst.model}, {worst.classes}, {worst.activation}, "
        f"k = {worst.ratio:g}m). The step changes the error by {100 * (gain.none / gain.network - 1):.0f}% at most, at k = "
        f"{gain.ratio:g}m. Errors are {least.network:.2f} to {most.network:.2f} of the labels' variance, where 1 is predicting "
        "their mean.",
        header=(
            "classes",
            "activation",
            "k/m",
            "model",
            "no step, of Var y",
            "network, of Var y",
            "s.e.",
            "difference in %",
            "its s.e.",
        ),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"m = {m}, d = 784; λ = 1e-4, η = 1; l = {ORDER}, b = 1; images of {NAMES[size]}, {N_TEST} for the test",
        figure=_figure(size, rows),
        caption="Above, test error over the labels' variance against the width k/m, one column a pair of classes: the network, "
        f"the network without a step and the two models on top of each other, from {least.network:.2f} to {most.network:.2f}, "
        "highest at intermediate widths for relu. Below, the models' differences from the network in %, at most "
        f"{worst.mean:+.1f}%.",
        power=power.stated(
            [r.error for r in rows], MARGINS.level, MARGINS.granted, "% of the network's error", seeds=seeds
        ),
        settings=tuple(experiment(size, m, *cell).id for cell in cells(size).values()),
    )


def _figure(size: Size, rows: list[FashionRow]) -> str:
    marks = {HERMITE: ("x", 1), GIVEN: ("^", 2)}
    with style.figure(len(PAIRS), 2, width=3.6, height=2.3) as (fig, axes):
        for column, pair in zip(axes.T, PAIRS, strict=True):
            for i, activation in enumerate(ACTIVATIONS[size]):
                here = [r for r in rows if r[:2] == (f"{pair[0]} vs {pair[1]}", activation)]
                _panel(column, here, style.COLOURS[i], marks)
            column[0].set_title(f"classes {pair[0]} and {pair[1]}", loc="left")
            for ax in column:
                ax.set_xscale("log")
                ax.set_xticks(RATIOS[size], [f"{r:g}" for r in RATIOS[size]])
                ax.minorticks_off()
            column[1].set_xlabel("width k/m")
            column[1].axhline(0, color=style.INK, linewidth=0.8)
            column[1].axhspan(-MARGINS.granted, MARGINS.granted, color=style.INK, alpha=0.07, linewidth=0)
        axes[0, 0].set_ylabel("test error / Var y")
        axes[1, 0].set_ylabel("model − network in %")  # noqa: RUF001
        ink: Any = {"color": style.INK}
        handles = [
            Line2D([], [], marker="o", **ink, label="network"),
            Line2D([], [], linestyle=":", **ink, label="no step"),
        ]
        handles += [Line2D([], [], marker=mark, linestyle="", **ink, label=name) for name, (mark, _) in marks.items()]
        handles += [
            Line2D([], [], color=style.COLOURS[i], linewidth=4, label=a) for i, a in enumerate(ACTIVATIONS[size])
        ]
        fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return style.svg(fig)


def _panel(column: np.ndarray, rows: list[FashionRow], colour: str, marks: dict[str, tuple[str, int]]) -> None:
    """Errors above, differences below, of one activation on one pair."""
    own = [r for r in rows if r.model == HERMITE]
    x = [r.ratio for r in own]
    style.dots(
        column[0], x, [r.network for r in own], [r.spread for r in own], color=colour, linestyle="-", linewidth=0.8
    )
    column[0].plot(x, [r.none for r in own], ":", color=colour)
    for model, (mark, side) in marks.items():
        here = [r for r in rows if r.model == model]
        x = [r.ratio * 1.04 ** (2 * side - 3) for r in here]
        column[0].plot(x, [r.network * (1 + r.mean / 100) for r in here], mark, color=colour, markersize=6)
        style.dots(column[1], x, [r.mean for r in here], [r.error for r in here], color=colour, marker=mark)


CLAIM = claim("demir/fashion", measure=measure, predict=predict, judge=judge)

"""On a mixture with spikes, features that are Gaussian given the component, its spikes and the step have the network's errors."""

from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.margins import Margins
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

CASES = (
    ("relu", 0.0, 0.5),
    ("relu", 0.0, 0.74),
    ("relu", 0.0, 0.86),
    ("relu", 0.5, 0.74),
    ("relu", 0.5, 1.0),
    ("relu", 1.0, 1.0),
    ("tanh", 0.0, 0.74),
)  # activation, alpha, beta; the step does most in the sixth
LARGEST = CASES.index(("relu", 1.0, 1.0))
SIZES = {"quick": (200, 16), "full": (400, 48)}  # n, and seeds; m = k = 5n/4 as in their figure 4
ERRORS = {"test_error": "test error", "train_objective": "training error"}  # theirs has the penalty's term
MARGINS = Margins(level=3.0, granted=5.0, needed=20.0)  # % of an error
NONE = "no step"


def experiment(n: int, activation: str, alpha: float, beta: float, baseline: bool = False) -> Setting:
    """Labels along the sum of the spikes; with a baseline at step sizes 0 and n^(alpha beta)."""
    eta: Any = [0.0, float(n) ** (alpha * beta)] if baseline else None
    size = 5 * n // 4
    return gs.presets.demir(n, size, size, eta, alpha=alpha, beta=beta, spiked_target=True, activation=activation)


def network(n: int, case: tuple[str, float, float], seeds: int) -> dict[str, np.ndarray]:
    """Both errors (no step and the step, seeds) on 5 m test samples."""
    outcome = cache.simulate(experiment(n, *case, baseline=True), range(seeds), n_test=25 * n // 4, dtype="float32")
    return {name: getattr(outcome, name) for name in ERRORS}


def replaced(n: int, case: tuple[str, float, float], seeds: int, model: str, **options: Any) -> dict[str, np.ndarray]:
    """Both errors (seeds) of an equivalent model on the same draws."""
    setting = experiment(n, *case)
    outcome = cache.equivalent(setting, model, range(seeds), n_test=25 * n // 4, dtype="float32", **options)
    return {name: getattr(outcome, name) for name in ERRORS}


def measure(size: Size) -> Data:
    """Errors of the network (cases, no step and the step, seeds) and of the model (cases, seeds), and the labels' variance."""
    n, seeds = SIZES[size]
    ours = [network(n, case, seeds) for case in CASES]
    theirs = [replaced(n, case, seeds, "conditional") for case in CASES]
    return {
        "variance": [gs.labels(experiment(n, *case)).total for case in CASES],
        **{
            name: {"network": np.stack([o[name] for o in ours]), "model": np.stack([o[name] for o in theirs])}
            for name in ERRORS
        },
    }


def predict(size: Size) -> Data:
    """By how many % the errors of the model differ from the network's as n grows."""
    return {"difference": 0.0}


def difference(here: np.ndarray, there: np.ndarray) -> tuple[float, float]:
    """Of the model's errors (seeds) from the network's on the same draws, in % of the network's mean, and its standard error."""
    mean, error = mean_and_error(100 * (there - here) / here.mean())
    return float(mean), float(error)


class ConditionalRow(NamedTuple):
    """``network`` and ``no step`` as shares of the labels' variance, the model's difference from the network in %."""

    activation: str
    alpha: float
    beta: float
    what: str
    none: float
    network: float
    mean: float
    error: float

    def off(self, expected: float) -> bool:
        return abs(self.mean - expected) > max(MARGINS.level * self.error, MARGINS.granted)


def rows_of(measured: Data) -> list[ConditionalRow]:
    rows = []
    for name, what in ERRORS.items():
        for i, case in enumerate(CASES):
            both, model = measured[name]["network"][i], measured[name]["model"][i]
            none, here = (both.mean(axis=-1) / measured["variance"][i]).tolist()
            rows.append(ConditionalRow(*case, what, none, here, *difference(both[1], model)))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), rows, expected = SIZES[size], rows_of(measured), predicted["difference"]
    missed = [r for r in rows if r.off(expected)]
    worst, learned = max(rows, key=lambda r: abs(r.mean)), rows[LARGEST]
    gain, bound = (
        100 * (learned.none / learned.network - 1),
        power.detectable(learned.error, MARGINS.level, MARGINS.granted),
    )
    sure = gain > bound and all(
        power.detectable(r.error, MARGINS.level, MARGINS.granted) < MARGINS.needed for r in rows
    )
    mean = sum(abs(r.mean) for r in rows) / len(rows)
    idle = max(100 * abs(r.none / r.network - 1) for r in rows if r.alpha == 0)
    return Verdict(
        outcome="fails" if missed else ("holds" if sure else "inconclusive"),
        sentence=f"{len(rows) - len(missed)} of {len(rows)} errors of the conditional model are the network's within 3 s.e. or "
        f"{MARGINS.granted:g}%: {mean:.1f}% apart on average, {worst.mean:+.1f} ± {worst.error:.1f}% at most "
        f"({worst.activation}, "
        f"α = {worst.alpha:g}, β = {worst.beta:g}, {worst.what}). At α = β = 1 it follows what the step learns, from "
        f"{learned.none:.3f} to {learned.network:.3f} of the labels' variance ({learned.mean:+.1f} ± {learned.error:.1f}%); "
        f"at α = 0 the step changes an error by {idle:.1f}% at most, and the spread alone makes it small.",
        header=("activation", "α", "β", "error", "no step, of Var y", "network, of Var y", "difference in %", "s.e."),  # noqa: RUF001
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; m = k = {5 * n // 4}; λ = 1e-4; labels along γ₁ + γ₂",
        figure=_figure(rows, expected),
        caption="Left, test errors as shares of the labels' variance by α and β: the network, the network without a step, and "
        f"the conditional model, from {min(r.network for r in rows[: len(CASES)]):.2f} to "
        f"{max(r.network for r in rows[: len(CASES)]):.2f}; only at larger α and β is the network below the one without a step. "
        f"Right, the differences between model and network in %: no further than {abs(worst.mean):.1f}% from the line at zero.",
        power=power.stated(
            [r.error for r in rows], MARGINS.level, MARGINS.granted, "% of the network's error", seeds=seeds
        ),
        settings=tuple(experiment(n, *case).id for case in CASES),
    )


def ticks(ax: Any) -> None:
    """A logarithmic axis of errors, named in plain numbers."""
    ax.set_yscale("log")
    ax.set_yticks(
        at := [x for x in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000) if ax.get_ylim()[0] <= x <= ax.get_ylim()[1]]
    )
    ax.set_yticklabels([f"{x:g}" for x in at])
    ax.minorticks_off()


def _figure(rows: list[ConditionalRow], expected: float) -> str:
    x, test = range(len(CASES)), rows[: len(CASES)]
    with _style.figure(2, width=4.2, height=3.0) as (fig, (left, right)):
        style = {"color": _style.INK, "markerfacecolor": "none", "markersize": 8}
        left.plot(x, [r.none for r in test], "s", **style, label="network, no step")
        left.plot(x, [r.network for r in test], "o", color=_style.COLOURS[0], label="network")
        model = [r.network * (1 + r.mean / 100) for r in test]
        left.plot(x, model, "x", color=_style.COLOURS[1], markersize=7, label="conditional model")
        left.set(yscale="log", ylim=(0.04, 2.0), ylabel="test error / Var y")
        left.axhline(1.0, color=_style.INK, linewidth=0.7, linestyle=":", zorder=0)
        right.axhspan(
            expected - MARGINS.granted,
            expected + MARGINS.granted,
            color=_style.INK,
            alpha=0.07,
            linewidth=0,
            label=f"±{MARGINS.granted:g}%",
        )
        right.axhline(expected, color=_style.INK, linewidth=0.8)
        for i, what in enumerate(ERRORS.values()):
            here = [r for r in rows if r.what == what]
            at = [j + 0.16 * (i - 0.5) for j in x]
            colour = _style.COLOURS[1 + i]
            _style.dots(right, at, [r.mean for r in here], [r.error for r in here], color=colour, label=what)
        right.set(ylabel="model − network in %")  # noqa: RUF001
        for ax in (left, right):
            ax.set_xticks(x, [f"{r.alpha:g}, {r.beta:g}\n{r.activation}" for r in test], fontsize=8)
            ax.set_xlabel("α, β and activation")  # noqa: RUF001
            ax.margins(x=0.08)
        ticks(left)
        fig.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=3)
        fig.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=3)
        return _style.svg(fig)


CLAIM = claim("demir/conditional", measure=measure, predict=predict, judge=judge)

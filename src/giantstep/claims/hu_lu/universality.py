"""Gaussian and spiked features in place of the network's leave the errors as they are; a spike left out does not."""

from typing import Any, NamedTuple

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

ALPHAS = (0.08, 0.16, 0.28, 0.35)  # well inside the regimes of degree 1, 1, 2 and 3
ACTIVATIONS = ("relu", "tanh")
SIZES = {"quick": (400, 18), "full": (1500, 40)}
SPIKED, GAUSSIAN, SHORT = "spiked", "spiked, Gaussian base", "spiked, degree 1 only"  # at step size 0 the base alone
MODELS: dict[str, dict[str, Any]] = {SPIKED: {}, GAUSSIAN: {"base": "gaussian"}, SHORT: {"degree": 1}}
NONE = "no step"
LEVEL = 3.0  # standard errors
ENOUGH = 10.0  # % that the test should see
RATE = 10.0  # % granted to what the expansion leaves out, times its rate n^(alpha - 1/2)


def experiment(n: int, activation: str) -> Setting:
    """Setting 2 after the rank-one part of a step, step size 0 first."""
    return paired.experiment(n, ALPHAS, talk.setting_2(), activation=activation, update="rank1")


def models(activation: str) -> tuple[str, ...]:
    return tuple(MODELS) if activation == "relu" else (SPIKED, GAUSSIAN)  # tanh has no second spike to leave out


def measure(size: Size) -> Data:
    """Errors of the network and of the models on the same draws, (step sizes, seeds), by activation, features and error."""
    n, seeds = SIZES[size]
    errors_of: Data = {}
    for activation in ACTIVATIONS:
        setting = experiment(n, activation)
        outcomes = {"network": paired.simulated(setting, seeds)}
        for model in models(activation):
            outcomes[model] = cache.equivalent(
                setting, "spiked", range(seeds), n_test=paired.N_TEST, dtype="float32", **MODELS[model]
            )
        errors_of[activation] = {m: {e: getattr(outcome, e) for e in paired.ERRORS} for m, outcome in outcomes.items()}
    return errors_of


def predict(size: Size) -> Data:
    """By how many % the errors change, as n grows."""
    return {"change": 0.0}


class Change(NamedTuple):
    """One row of the table: by how many % of the network's error the model's is off."""

    activation: str
    model: str
    what: str
    alpha: float | str
    mean: float
    error: float

    def granted(self, n: int) -> float:
        """What finite sizes may change; nothing for random features."""
        return 0.0 if isinstance(self.alpha, str) else RATE * n ** (self.alpha - 0.5)

    def shows(self, n: int, expected: float) -> bool:
        return abs(self.mean - expected) > max(LEVEL * self.error, self.granted(n))


def changes(measured: Data) -> list[Change]:
    rows = []
    for activation in ACTIVATIONS:
        for model in models(activation):
            for error, what in paired.ERRORS.items():
                values = measured[activation]["network"][error]
                share = 100 / values.mean(axis=-1)
                mean, se = (share * x for x in mean_and_error(measured[activation][model][error] - values))
                for i, alpha in enumerate((NONE, *ALPHAS)):
                    if model == GAUSSIAN or i:  # with the network's own base, step size 0 changes nothing
                        rows.append(Change(activation, model, what, alpha, float(mean[i]), float(se[i])))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), rows, expected = SIZES[size], changes(measured), predicted["change"]
    proper, short = [r for r in rows if r.model != SHORT], [r for r in rows if r[1:4:2] == (SHORT, ALPHAS[-1])]
    changed, flat = [r for r in proper if r.shows(n, expected)], [r for r in proper if r.alpha == NONE]
    worst, most = (max(some, key=lambda r: abs(r.mean)) for some in (proper, flat))
    sure = all(power.detectable(r.error, LEVEL, r.granted(n)) < ENOUGH for r in proper)
    sure = sure and all(r.shows(n, expected) for r in short)
    off = " and ".join(f"{r.mean:+.1f} ± {r.error:.1f}% in {r.what}" for r in short)
    granted = [r.granted(n) for r in proper]
    return Verdict(
        outcome="fails" if changed else ("holds" if sure else "inconclusive"),
        sentence=f"Gaussian features change the errors of random features by at most {most.mean:+.1f} ± {most.error:.1f}%. "
        f"{len(proper) - len(changed)} of {len(proper)} replacements, those after a step with the degree its size calls for, "
        f"stay within 3 s.e. or {RATE:g} n^(alpha − 1/2) % (the largest is {worst.mean:+.1f} ± {worst.error:.1f}%: "
        f"{worst.activation}, {worst.what}, alpha = {worst.alpha}). Degree 1 alone at alpha = {ALPHAS[-1]} is off, as it "
        f"should be, by {off}.",
        header=("activation", "features", "error", "alpha", "change in %", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(rows, expected),
        caption=f"Changes of test error and training loss in % when features are replaced, against the step size, for "
        f"{' and '.join(ACTIVATIONS)}. With the degree that the step size calls for they stay near the line at zero, at most "
        f"{worst.mean:+.1f}%; with degree 1 alone they rise with the step size, to {off}.",
        power=power.stated([r.error for r in proper], LEVEL, granted, "% of an error", seeds=seeds),
        settings=tuple(experiment(n, a).id for a in ACTIVATIONS),
    )


def _figure(rows: list[Change], expected: float) -> str:
    """Changes of both errors in %, around the zero that universality predicts."""
    with style.figure(2, len(ACTIVATIONS), width=3.5, height=2.3) as (fig, axes):
        for line, activation in zip(axes.reshape(-1, 2), ACTIVATIONS, strict=True):
            for ax, what in zip(line, paired.ERRORS.values(), strict=True):
                ax.axhline(expected, color=style.INK, label="universality")
                for i, model in enumerate(MODELS):
                    here = [r for r in rows if r[:3] == (activation, model, what)]
                    x = [(0.0 if isinstance(r.alpha, str) else r.alpha) + 0.006 * (i - 1) for r in here]
                    values = [r.mean for r in here], [r.error for r in here]
                    style.dots(ax, x, *values, color=style.COLOURS[i], label=model)
                ax.set_xticks([0.0, *ALPHAS], ["none", *(f"{a:g}" for a in ALPHAS)])
                ax.set_title(f"{activation}: {what}", loc="left")
                ax.set_xlabel(paired.STEP_SIZE if activation == ACTIVATIONS[-1] else "")
            line[0].set_ylabel("change in %")
        fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return style.svg(fig)


CLAIM = claim("hu_lu/universality", measure=measure, predict=predict, judge=judge)

"""The test error after one step of size eta ~ sqrt(n) has a limit: features that are Gaussian given the learned direction."""

from typing import NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.cache import one_blas_thread
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims import fit
from giantstep.claims.margins import Margins
from giantstep.claims.texts import claim
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train

SIZES = {"quick": (250, 16), "full": (2000, 10)}  # d = p, seeds
RATIOS = (0.3, 0.6, 1.0, 2.0, 3.0)  # n/d
LINE = (0.2, 3.0, 29)  # n/d where the line is predicted
MARGINS = Margins(level=3.0, granted=0.03, needed=0.25)  # of a predicted error


class NotebookCase(NamedTuple):
    """An experiment of the paper's notebooks: teacher, step size, samples of the step over d, and penalty, in its units."""

    teacher: str
    eta: float
    step_samples: float
    penalty: float


CASES = (NotebookCase("sin(x1)", 3.0, 20.0, 0.1), NotebookCase("tanh(x1)", 1.0, 0.5, 0.01))


def experiment(case: NotebookCase, d: int, ratio: float) -> Setting:
    """The preset with d = p, a tanh network and n = ratio d."""
    first, n = round(case.step_samples * d), round(ratio * d)
    return gs.presets.cui(first, n, d, d, case.eta, case.penalty, target=case.teacher)


def limit(case: NotebookCase, d: int, ratio: float) -> float:
    """The test error predicted."""
    return float(gs.theory(experiment(case, d, ratio)).test_error)


def errors(teacher: str, eta: float, step_samples: float, penalty: float, d: int, seed: int) -> list[float]:
    """Test errors at every n/d: one step, and the readout on the first rows of the largest batch."""
    case = NotebookCase(teacher, eta, step_samples, penalty)
    largest = experiment(case, d, max(RATIOS))
    X, y, Xt, yt = fit.samples(largest, seed, 4000)
    with one_blas_thread(d):
        W = train(largest, seed, memory=4.0).final
        F, Ft, losses = np.tanh(X @ W.T), np.tanh(Xt @ W.T), []
        for ratio in RATIOS:
            readout = experiment(case, d, ratio).protocol.readout
            losses.append(fit.error(F[: readout.n], y[: readout.n], Ft, yt, readout.penalty))  # type: ignore[union-attr, arg-type]
    return losses


def measure(size: Size) -> Data:
    """Test errors, (cases, seeds, n/d)."""
    d, seeds = SIZES[size]
    runs = np.array(cache.each(errors, [(*case, d, seed) for case in CASES for seed in range(seeds)]))
    return {"errors": runs.reshape(len(CASES), seeds, -1)}


def predict(size: Size) -> Data:
    """Test errors, (cases, n/d), and along the line."""
    d, _ = SIZES[size]
    return {
        "errors": np.array([[limit(case, d, r) for r in RATIOS] for case in CASES]),
        "lines": np.array([[limit(case, d, r) for r in np.linspace(*LINE)] for case in CASES]),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    means, errors = mean_and_error(measured["errors"], axis=1)
    rows = []
    for i, case in enumerate(CASES):
        for ratio, *numbers in zip(RATIOS, means[i], errors[i], predicted["errors"][i], strict=True):
            mean, se, expected = map(float, numbers)
            rows.append(
                (
                    case.teacher,
                    case.step_samples,
                    ratio,
                    mean,
                    se,
                    expected,
                    100 * (expected / mean - 1),
                    (expected - mean) / se,
                )
            )
    misses = [r for r in rows if abs(r[3] - r[5]) > max(MARGINS.level * r[4], MARGINS.granted * r[5])]
    worst = max(rows, key=lambda r: abs(r[6]))
    relative = [r[4] / r[5] for r in rows]
    sure = power.detectable(max(relative), MARGINS.level, MARGINS.granted) < MARGINS.needed
    return Verdict(
        outcome="fails" if misses else ("holds" if sure else "inconclusive"),
        sentence=f"{len(rows) - len(misses)} of {len(rows)} test errors lie within 3 s.e. or "
        f"{100 * MARGINS.granted:g}% of the prediction; "
        f"the largest gap is {worst[6]:+.1f}% or {worst[7]:+.1f} s.e. ({worst[5]:.4f} predicted, {worst[3]:.4f} ± "
        f"{worst[4]:.4f} measured, {worst[0]}, n = {worst[2]:g}d).",
        header=("teacher", "n₀/d", "n/d", "test error", "s.e.", "predicted", "gap in %", "gap in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = p = {d}; "
        + "; ".join(f"{c.teacher}: η = {c.eta:g}, n₀ = {c.step_samples:g}d, λ = {c.penalty:g}" for c in CASES),
        figure=_figure(d, means, errors, predicted),
        caption="Test error against samples per dimension, one panel a teacher, dots over the predicted line, from n = "
        + f"{RATIOS[0]:g}d to {RATIOS[-1]:g}d: "
        + "; ".join(f"{c.teacher} {m[0]:.3f} to {m[-1]:.3f}" for c, m in zip(CASES, means, strict=True))
        + f". No dot is further than {abs(worst[6]):.1f}% from its line.",
        power=power.stated(relative, MARGINS.level, MARGINS.granted, "% of a predicted error", scale=100, seeds=seeds),
        settings=tuple(experiment(case, d, r).id for case in CASES for r in RATIOS),
    )


def _figure(d: int, means: np.ndarray, errors: np.ndarray, predicted: Data) -> str:
    with style.figure(len(CASES), width=3.5, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, CASES, strict=True)):
            colour = style.COLOURS[i]
            ax.plot(np.linspace(*LINE), predicted["lines"][i], color=colour, label="theory")
            style.dots(ax, RATIOS, means[i], errors[i], color=colour, label=f"simulation, d = p = {d}")
            ax.set(xlabel="samples per dimension n/d", ylabel="test error")
            ax.set_ylim(0, None)
            teacher = case.teacher.replace("x1", "x₁")
            ax.set_title(
                f"y = {teacher}, η = {case.eta:g}, n₀ = {case.step_samples:g}d, λ = {case.penalty:g}", loc="left"
            )
            ax.legend()
        return style.svg(fig)


CLAIM = claim("cui/test-error", measure=measure, predict=predict, judge=judge)

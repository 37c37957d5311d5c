"""Online: the excess of dual averaging falls as one over the number of samples."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.claims.nishikawa import exact
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.mean_field.dual import averaging

CASES = {"square, λ = 0.02": ("square", 0.02), "logistic, λ = 0.02": ("logistic", 0.02)}
SIZES = {"quick": (40, 40, 5), "full": (200, 100, 20)}  # curves of the law, samples over n, seeds
MARGINS = Margins(level=3.0, granted=0.3, needed=0.7)  # of an exponent
POINTS = 12  # records of a curve
HEADER = ("case", "samples T", "excess", "s.e.", "guaranteed", "exponent", "s.e. of it")


def times(n: int, passes: int) -> np.ndarray:
    """From one sample a curve to all."""
    return np.unique(np.round(np.geomspace(n, n * passes, POINTS)).astype(int))


def excess(loss: str, lam: float, n: int, passes: int, seed: int) -> np.ndarray:
    """2/(T(T+1)) sum_{s<=T} s [P(mu_s) - P*] at those T; the law mu_s is that before sample s. The last number is KL(mu*)."""
    records = exact.run(loss, lam, "online", n, passes, seed)
    s = np.arange(1, n * passes + 1)
    mean = np.cumsum(s * records["objective"][:-1]) / np.cumsum(s)
    return np.append(mean[times(n, passes) - 1], records["kl"])


def measure(size: Size) -> Data:
    """For every case, (seeds, points) and the entropy of the optimum."""
    n, passes, seeds = SIZES[size]
    jobs = [(*case, n, passes, seed) for case in CASES.values() for seed in range(seeds)]
    runs = np.array(cache.each(excess, jobs)).reshape(len(CASES), seeds, -1)
    return {name: {"excess": each[:, :-1], "kl": float(each[0, -1])} for name, each in zip(CASES, runs, strict=True)}


def predict(size: Size) -> Data:
    """The exponent, and the largest slope of the loss and B, of which the guarantee is made."""
    n, passes, _ = SIZES[size]
    systems = {name: exact.system(*case, "online", n, passes) for name, case in CASES.items()}
    return {"exponent": -1.0, **{k: losses.steepest(s.loss, s.bound, s.curves[1]) for k, s in systems.items()}}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, passes, seeds = SIZES[size]
    T = times(n, passes)
    rows, wrong, errors, words, over = [], [], [], [], 0
    for case, (_, lam) in CASES.items():
        mean, error = mean_and_error(measured[case]["excess"], 0)
        bound = averaging(T, measured[case]["kl"], predicted[case], 1.0, lam)
        slope, spread = growth(T.tolist(), measured[case]["excess"].T)
        wrong += [case] if abs(slope - predicted["exponent"]) > max(MARGINS.level * spread, MARGINS.granted) else []
        over += int(np.sum(mean - MARGINS.level * error > bound))
        errors.append(spread)
        words.append(f"{slope:.2f} ± {spread:.2f} ({case})")
        rows += [
            (case, int(t), float(m), float(e), float(b), slope, spread)
            for t, m, e, b in zip(T, mean, error, bound, strict=True)
        ]
    loose = min(row[4] / row[2] for row in rows)
    return Verdict(
        outcome=power.decided(
            bool(wrong or over),
            max(power.detectable(e, MARGINS.level, MARGINS.granted) for e in errors),
            MARGINS.needed,
        ),
        sentence=f"The excess falls as T to the {' and '.join(words)}; the guarantee, 2λ KL/T + 2G²B²/(λ(T + 1)), holds at "
        f"{len(rows) - over} of {len(rows)} points and is at least {loose:.0f} times the excess.",
        header=HEADER,
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"a law of {n} curves, J = 16, up to T = {n * passes} samples, a pool of {exact.POOL} draws as the prior, B = 1",
        figure=_figure(T, measured, predicted),
        caption="Excess of the objective, averaged over a run, against the number of samples, on logarithmic axes: dots with "
        "error bars fall along the dotted line, which has the slope -1; the dashed guarantee has the same slope far above.",
        power=power.stated(errors, MARGINS.level, MARGINS.granted, " in the exponent", seeds=seeds),
        settings=tuple(exact.system(*case, "online", n, passes).id for case in CASES.values()),
    )


def _figure(T: np.ndarray, measured: Data, predicted: Data) -> str:
    with style.figure(len(CASES), width=3.2, height=2.8) as (fig, axes):
        for ax, (case, (_, lam)), colour in zip(axes, CASES.items(), style.COLOURS, strict=False):
            mean, error = mean_and_error(measured[case]["excess"], 0)
            style.dots(ax, T, mean, error, color=colour, label="excess")
            ax.plot(T, mean[-1] * (T / T[-1]) ** predicted["exponent"], ":", color=colour, label="slope −1")
            ax.plot(
                T,
                averaging(T, measured[case]["kl"], predicted[case], 1.0, lam),
                "--",
                color=style.INK,
                label="guaranteed",
            )
            ax.set(xscale="log", yscale="log", xlabel="samples T")
            ax.set_title(case, loc="left")
            ax.legend()
        axes[0].set_ylabel("mean of P(μₛ) − P*, weights s")
        return style.svg(fig)


CLAIM = claim("nishikawa/online", measure=measure, predict=predict, judge=judge)

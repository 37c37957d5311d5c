"""Online: the excess of dual averaging falls as a power of the number of samples,
and is below its guarantee."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.mean_field import dual
from giantstep_papers.nishikawa import exact
from giantstep_papers.shared import said

CLAIM = Claim(
    order=3,
    quote="their rates of convergence are of polynomial order in the online setting and exponential"
    " order in the finite sample setting, respectively",
    place="abstract only",
    kind="upper bound",
    statement="In the online setting the rate of convergence is of polynomial order.",
    where="abstract; the guarantee and its constant are derived in "
    "giantstep.systems.mean_field.dual",
    how="The excess, averaged over samples T/2 to T, must be at most the guarantee at every T. "
    "Over the last factor of four in T it must still fall, as any power that can be told from"
    " a level. A pool of draws is the prior. Quick size has the square loss, full size also "
    "the logistic one.",
    judges=(
        Judge(
            "exponent of the excess in T",
            side="below",
            margin=EXPONENT,
            departure=0.2,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "excess over the guarantee",
            side="below",
            percent=True,
            margin=0.0,
            departure=0.1,
        ),
    ),
    seeds={"quick": Seeds(40, 600), "full": Seeds(200, 1200)},
)

# the first alone at quick size
CASES = {"square, λ = 0.02": ("square", 0.02), "logistic, λ = 0.02": ("logistic", 0.02)}
SIZES = {"quick": (20, 160), "full": (40, 320)}  # curves of the law, samples over n
LATE = 3  # of the windows, over which the excess must still fall
LEAST = -0.25  # the least power of T that can be told from a level
# T is the number of all samples over these; samples T/2 to T are averaged
WINDOWS = (32, 16, 8, 4, 2, 1)
KEPT = 50  # samples of a window at which the excess is computed


def cases(size: Size) -> list[str]:
    return list(CASES)[: 1 if size == "quick" else None]


def times(n: int, passes: int) -> np.ndarray:
    return np.array([n * passes // k for k in WINDOWS])


def excess(loss: str, lam: float, n: int, passes: int, seed: int) -> np.ndarray:
    """The mean of P(mu_s) - P* over T/2 < s <= T with weights s, at every T;
    and then the entropy KL(mu*) and max |l'|.

    The law mu_s is that before sample s. The first half is left out, because the
    start would dominate it at every T.
    """
    solved, T = exact.optimum(loss, lam, n, seed), times(n, passes)
    g = exact.duals(loss, lam, "online", n, passes, seed)
    s = np.concatenate([np.linspace(t // 2 + 1, t, KEPT).astype(int) for t in T])
    over = dual.path(solved.H, solved.y, g[s - 1], lam, loss)[0] - solved.best.objective
    means = np.average(over.reshape(len(T), -1), axis=1, weights=s.reshape(len(T), -1))
    return np.array([*means, solved.best.kl, losses.steepest(loss, 1.0, solved.y)])


def measure(size: Size, seeds: range) -> Data:
    """For every case, (T, seeds); and the entropies and slopes of the guarantee, (2, seeds)."""
    runs = {
        name: cache.over(excess, (*CASES[name], *SIZES[size]), seeds)
        for name in CASES
        if name in cases(size)
    }
    return {name: {"excess": each[:-2], "constants": each[-2:]} for name, each in runs.items()}


def exponents(size: Size, measured: Data, last: int = len(WINDOWS)) -> np.ndarray:
    """Free exponents of the excess in T over so many of the last windows, (cases, seeds)."""
    T = times(*SIZES[size])[-last:].tolist()
    return np.array(
        [statistics.exponent(T, measured[case]["excess"][-last:]) for case in cases(size)]
    )


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The excess still falls as a power of T at the end, whichever,
    and is at most the guarantee at every T."""
    T, own = times(*SIZES[size]), cases(size)
    over = [measured[case]["excess"] / guarantee(case, measured, T)[:, None] for case in own]
    at = [f"{case}, T = {t}" for case in own for t in T]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of the excess in T", exponents(size, measured, LATE), LEAST, at=own),
        judge("excess over the guarantee", np.array(over), 1.0, at=at),
    )


def guarantee(case: str, measured: Data, T: np.ndarray) -> np.ndarray:
    """The guaranteed mean over samples T/2 to T: (A_T G_T - A_{T/2} G_{T/2})/(A_T - A_{T/2}) is at
    most A_T G_T/(...)."""
    kl, steepest = measured[case]["constants"].mean(axis=1)
    weight = T * (T + 1) / (T * (T + 1) - T // 2 * (T // 2 + 1))
    return weight * dual.averaging(T, kl, steepest, 1.0, CASES[case][1])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (n, passes), T = SIZES[size], times(*SIZES[size])
    slopes = ruling.stated.of("exponent of the excess in T")
    slowest = int(np.argmax(slopes.difference))
    fall = said.power("T", LEAST + slopes.difference[slowest], slopes.half[slowest])
    loose = [
        guarantee(case, measured, T) / measured[case]["excess"].mean(axis=1) for case in cases(size)
    ]
    return Verdict(
        sentence="Late in the run the excess goes as "
        f"{fall}{' or faster' if len(slopes.difference) > 1 else ''}. The guarantee is at least "
        f"{np.min(loose):.0f} times as large, by constants of ours.",
        sizes=f"a law of {n} curves, J = {exact.BASIS}, up to T = {n * passes} samples, a pool of "
        f"{exact.POOL} draws as the prior, B = 1",
        figure=figure(T, measured),
        caption="The excess falls as one over the samples (dotted), far below its guarantee "
        "(dashed).",
        settings=tuple(exact.system(*case, "online", n, passes).id for case in CASES.values()),
        looseness=float(np.median(loose)),
    )


def figure(T: np.ndarray, measured: Data) -> str:
    with style.figure(len(measured), width=3.6, height=3.0) as (fig, axes):
        axes = np.atleast_1d(axes)
        for ax, case, colour, marker in zip(axes, measured, style.COLOURS, "os", strict=False):
            mean, error = mean_and_error(measured[case]["excess"])
            line = np.geomspace(T[0], T[-1], 50).astype(int)
            ax.plot(
                line,
                guarantee(case, measured, line),
                "--",
                color=style.INK,
                linewidth=1,
                label="guarantee",
            )
            centre = np.exp(np.mean(np.log(mean * T)))
            ax.plot(line, centre / line, ":", color=style.INK, label="slope −1")
            style.dots(ax, T, mean, error, color=colour, marker=marker, label="measured")
            ax.set(xlabel="samples T", title=case)
            ticks.logarithmic(ax, "x", T)
            ticks.logarithmic(ax)
        axes[0].set_ylabel("excess of the objective, P − P*")
        return style.svg(fig, below=3)

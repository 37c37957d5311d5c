"""The figure of one giant step on deflated labels: its printed errors again, and the risk behind them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import giantstep as gs
from giantstep.claims.dandi.deflated import FORMULA, N_TEST, D, P, errors, experiment
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

EXPONENTS = (1.3, 1.65, 2.0)  # log n / log d
PRINTED = ((0.33600, 0.00632), (0.20675, 0.00589), (0.07742, 0.00208))  # mean and spread of ten batches of one network
SEEDS = {"quick": (2, 1, 0), "full": (10, 10, 10)}
RANDOM = {"quick": (1, 1, 0), "full": (10, 4, 2)}  # seeds of random features


class Row(NamedTuple):
    """Errors at one n: printed, as it was printed again with its distance in s.e., the risk, and that of random features."""

    exponent: float
    n: int
    seeds: int
    printed: float
    again: float
    error: float
    distance: float
    risk: float
    risk_error: float
    random: float


def summary(values: "np.ndarray", printed: float, spread: float) -> tuple[float, float, float, float, float]:
    """Mean and s.e. of the error as printed, its distance from the printed one in s.e., mean and s.e. of the risk; (seeds, 2).

    The printed mean is that of ten batches of one network, so its own error has what our seeds spread beyond the batches once
    more: the spread between networks.
    """
    import numpy as np

    count = len(values)
    own = np.maximum(
        values.std(axis=0, ddof=1) if count > 1 else np.zeros(2), spread
    )  # of few seeds it is too small by chance
    mean, error = values.mean(axis=0), own / count**0.5
    apart = np.sqrt(error[0] ** 2 + spread**2 / 10 + own[0] ** 2 - spread**2)
    return tuple(map(float, (mean[0], error[0], (mean[0] - printed) / apart, mean[1], error[1])))  # type: ignore[return-value]


def measured(size: Size) -> list[Row]:
    import numpy as np

    seeds = SEEDS[size]  # no more at larger n
    settings = [experiment(int(D**e), D, P) for e in EXPONENTS]
    runs = [errors(settings[: sum(seed < k for k in seeds)], seed, N_TEST) for seed in range(max(seeds))]
    rows = []
    for i, count in enumerate(seeds):
        if count:
            n = settings[i].protocol.readout_size
            found = summary(np.array([run[i] for run in runs[:count]]), *PRINTED[i])
            without = experiment(n, D, P, 0)
            random = gs.simulate(without, range(RANDOM[size][i]), dtype="float32", progress=False).risk
            rows.append(Row(EXPONENTS[i], n, count, PRINTED[i][0], *found, float(random.mean())))
    return rows


def run(size: Size) -> Verdict:
    rows = measured(size)
    missed = [r for r in rows if abs(r.distance) > 3]
    said = ", ".join(f"{r.again:.4f} ± {r.error:.4f} where {r.printed:.3f} is printed" for r in rows)
    risks = ", ".join(f"{r.risk:.4f} ± {r.risk_error:.4f}" for r in rows)
    most = max(rows, key=lambda r: abs(r.distance))
    left = "" if len(rows) == len(EXPONENTS) else " n = d² is left to the full size."
    return Verdict(
        outcome="fails" if missed else "holds",
        sentence=f"At n = {', '.join(f'd^{r.exponent:g}' for r in rows)} the error is {said}: at most {abs(most.distance):.1f} "
        f"s.e. apart. The printed numbers take the linear part of the test labels from the test labels. The risk of the "
        f"prediction, with that of the training batch, is {risks}: the features mend part of its error. Random features "
        f"have {', '.join(f'{r.random:.3f}' for r in rows)}, and {floors()[0]:.3f} at best as d grows.{left}",
        header=(
            "log n / log d",
            "n",
            "seeds",
            "printed",
            "again",
            "s.e.",
            "distance in s.e.",
            "risk",
            "s.e.",
            "random features",
        ),
        rows=tuple(rows),
        seeds=f"0-{max(SEEDS[size]) - 1}",
        sizes=f"d = {D}, p = {P}, {N_TEST} test samples; products in float32",
        figure=_figure(rows),
        settings=tuple(experiment(r.n, D, P).id for r in rows),
    )


def floors() -> tuple[float, float]:
    """What random features cannot fit, and what is left when only w1 + w2 is known, which is all that labels as they are show."""
    found = gs.explain(FORMULA, batch="d", width="d").floor
    return found["random_features"], found["network"]


def _figure(rows: list[Row]) -> str:
    """Errors against log n / log d: as printed, again, and the risk; dotted, the floors."""
    from giantstep import canvas

    with canvas.figure(width=4.8, height=3.4) as (fig, ax):
        ax.plot(EXPONENTS, [m for m, _ in PRINTED], "_", color=canvas.INK, markersize=30, label="printed", zorder=1)
        series: tuple[tuple[str, Any, Any], ...] = (
            ("as printed, again", [r.again for r in rows], [r.error for r in rows]),
            ("risk", [r.risk for r in rows], [r.risk_error for r in rows]),
        )
        for (label, y, error), colour, shift in zip(series, canvas.COLOURS, (-0.015, 0.015), strict=False):
            canvas.dots(ax, [r.exponent + shift for r in rows], y, error, color=colour, label=label)
        at = [r.exponent + 0.045 for r in rows]
        canvas.dots(ax, at, [r.random for r in rows], color=canvas.COLOURS[3], marker="s", label="random features")
        names = ("random features at best, as d grows", "$w_1 + w_2$ alone at best")
        for level, name in zip(floors(), names, strict=True):
            ax.axhline(level, color=canvas.INK, linewidth=0.8, linestyle=":", zorder=0)
            ax.annotate(name, (EXPONENTS[0] - 0.05, level), (0, -9), textcoords="offset points", fontsize=8)
        ax.set(
            xlabel="log n / log d",
            ylabel="test error",
            ylim=(0, 0.45),
            xlim=(EXPONENTS[0] - 0.06, EXPONENTS[-1] + 0.06),
        )
        ax.legend(loc="upper right", ncols=2)
        return canvas.svg(fig)


SINGLE_STEP = Claim(
    name="dandi/single-step",
    statement="After one giant step on labels without their linear part, a network of 1024 neurons in d = 512 has the test "
    "errors 0.336, 0.207 and 0.077 at n = d^1.3, d^1.65 and d²: the second order is learned as n reaches d².",
    paper="dandi",
    where="the published notebook of the single step",
    run=run,
)

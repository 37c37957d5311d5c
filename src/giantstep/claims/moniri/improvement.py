"""One step of any size n^alpha, 0 < alpha < 1/2, improves on random features."""

from typing import NamedTuple

from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.claims.paired import Compared
from giantstep.lab.verdict import Claim, Size, Verdict

ALPHAS = (0.05, 0.15, 0.25, 0.35, 0.42, 0.49)
SIZES = {"quick": (500, 14), "full": (2000, 40)}
NAMES = {"setting 1": "$y = x_1$ + noise", "setting 2": r"$y = x_1 + H_2(x_1)/\sqrt{2}$"}


class Gain(NamedTuple):
    """One row of the table; ``sure`` is the distance from zero in standard errors."""

    target: str
    what: str
    alpha: float
    mean: float
    error: float
    predicted: float
    sure: float


def measured(n: int, seeds: int) -> dict[tuple[str, str], Compared]:
    """The gains at every alpha, for every setting and both errors."""
    found = {}
    for name, target in zip(NAMES, (talk.setting_1(), talk.setting_2()), strict=True):
        setting = paired.experiment(n, ALPHAS, target)
        outcome, theory = paired.simulated(setting, seeds), paired.predicted(setting)
        for error in paired.ERRORS:
            found[name, error] = paired.compare(paired.gains(outcome, error), paired.gains(theory, error))
    return found


def run(size: Size) -> Verdict:
    n, seeds = SIZES[size]
    found = measured(n, seeds)
    rows = [
        Gain(name, paired.ERRORS[error], *map(float, column))
        for (name, error), each in found.items()
        for column in zip(ALPHAS, *each, each.mean / each.error, strict=True)
    ]
    negative, positive = [r for r in rows if r.sure < -3], [r for r in rows if r.sure > 3]
    least = min(rows, key=lambda r: r.sure)
    far = max(abs(float(z)) for each in found.values() for z in each.distance)
    return Verdict(
        outcome="fails" if negative else ("holds" if len(positive) == len(rows) else "inconclusive"),
        sentence=f"{len(positive)} of {len(rows)} gains over random features are positive by 3 s.e., and {len(negative)} "
        f"negative; the least sure is {least.mean:.3f} ± {least.error:.3f}, {least.sure:+.1f} s.e. from zero ({least.what}, "
        f"{least.target}, alpha = {least.alpha:g}). The finite-size theory is never further than {far:.1f} s.e.",
        header=("target", "error", "alpha", "gain", "s.e.", "predicted", "from zero in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, found),
        settings=tuple(paired.experiment(n, ALPHAS, t).id for t in (talk.setting_1(), talk.setting_2())),
    )


def _figure(n: int, found: dict[tuple[str, str], Compared]) -> str:
    """The gains in both errors over the theory's lines."""
    import numpy as np

    from giantstep import canvas

    fine = np.linspace(0.01, max(ALPHAS) + 0.005, 31).tolist()
    with canvas.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, (name, target) in enumerate(zip(NAMES, (talk.setting_1(), talk.setting_2()), strict=True)):
            line = paired.predicted(paired.experiment(n, fine, target))
            for ax, (error, label) in zip(axes, paired.ERRORS.items(), strict=True):
                each, colour = found[name, error], canvas.COLOURS[i]
                ax.plot(fine, paired.gains(line, error), color=colour)
                canvas.dots(ax, ALPHAS, each.mean, each.error, color=colour, label=NAMES[name])
                ax.set_ylabel(f"gain in {label}")
        for ax in axes:
            paired.step_axis(ax, 0.5)
            ax.set(xlim=(0, 0.51), ylim=(0, None))
        axes[0].plot([], [], color=canvas.INK, label=f"theory at n = {n}")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return canvas.svg(fig)


IMPROVEMENT = Claim(
    name="moniri/improvement",
    statement="For every 0 < alpha < 1/2 a step of size n^alpha lowers both the training loss and the test error of random "
    "features.",
    paper="moniri",
    where="the improvements over random features are positive",
    run=run,
)

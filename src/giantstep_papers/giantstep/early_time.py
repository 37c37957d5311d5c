"""The loss falls by a fixed share in a time 1/m, whatever n,
and for the square loss along a closed curve."""

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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.early.path import crossing
from giantstep.theory import theory
from giantstep_papers.shared.said import power
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=31,
    of="giantstep",
    statement="In the early stage the square loss falls by a fifth in a time of order 1/p, which "
    "on separable data does not grow with n and is predicted.",
    where="the early stage of Wang and Ma (2022) on ReLU networks with the square loss; the curve "
    "is ours",
    how="Times of a drop by a fifth must be those predicted on separable data. By free fits "
    "they must go with the width to the −1 on all data, and with n to the 0 on separable data. "
    "Losses of single runs must be those followed from their initial patterns.",
    judges=(
        Judge(
            "time of the drop",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="discrete steps",
        ),
        Judge(
            "power of the width or of n",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "loss over the followed one",
            percent=True,
            margin=1e-3,
            departure=3e-3,
            because="a start that is 10⁻⁶ and not zero",
        ),
    ),
    seeds={"quick": Seeds(12, 60), "full": Seeds(40, 240)},
)

WIDTHS = {"quick": (8, 16, 32, 64), "full": (8, 16, 32, 64, 128, 256)}
CASES = {
    "cones, n = 20": (20, False),
    "cones, n = 40": (40, False),
    "cones, n = 160": (160, False),
    "overlapping classes, n = 40": (40, True),
}
CONES = [n for n, general in CASES.values() if not general]
SPEED = 0.03  # rate times width
STEPS = 60
DROP = 0.2
FOLLOWED = (1, 10, 30, 60)  # steps at which losses of single runs are followed


def job(seed: int, case: str, width: int) -> tuple:
    n, general = CASES[case]
    return seed, "square", n, width, SPEED / width, STEPS, None, general


def measure(size: Size, seeds: range) -> Data:
    """Times of the drop, (cases, widths, seeds), and losses of the first case,
    (widths, steps + 1, seeds)."""
    widths = WIDTHS[size]
    jobs = [job(seed, case, m) for case in CASES for m in widths for seed in seeds]
    runs = np.array(cache.each(cases.simulated, jobs))
    losses = runs[:, :-2].reshape(len(CASES), len(widths), len(seeds), -1)
    clock = [SPEED / m * np.arange(STEPS + 1) for m in widths]
    times = [
        [[crossing(clock[j], one, DROP) for one in own] for j, own in enumerate(case)]
        for case in losses
    ]
    return {"times": np.array(times), "losses": losses[0].swapaxes(1, 2)}


def predict(size: Size) -> Data:
    """Mean times of the drop on cones, (cases, widths)."""
    law = [
        [
            theory(cases.system("square", n, m, SPEED / m, STEPS))["drop_time"][0]
            for m in WIDTHS[size]
        ]
        for n in CONES
    ]
    return {"times": np.array(law)}


def predict_draws(size: Size, seeds: range) -> Data:
    """Losses of the first case followed from the start, (widths, steps + 1, seeds)."""
    first = next(iter(CASES))
    jobs = [job(seed, first, m) for m in WIDTHS[size] for seed in seeds]
    own = cache.each(cases.followed, jobs)
    return {"losses": np.reshape(own, (len(WIDTHS[size]), len(seeds), -1))[..., :-2].swapaxes(1, 2)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Times against the law, powers of the width and of n, and losses against those followed from
    the same starts."""
    widths, times, law = WIDTHS[size], measured["times"], predicted["times"]
    ratio = (measured["losses"] / predicted["losses"])[:, list(FOLLOWED)]
    powers = statistics.exponent(widths, np.moveaxis(times, 1, 0))
    by_n = statistics.exponent(CONES, times[: len(CONES)].mean(axis=1))
    cells = [f"n = {n}, p = {m}" for n in CONES for m in widths]
    points = [f"p = {m}, step {k}" for m in widths for k in FOLLOWED]
    judge, either = judging(CLAIM, size), "power of the width or of n"
    return statistics.stated(
        judge("time of the drop", times[: len(CONES)], law, at=cells),
        judge("power of the width", powers, -1.0, by=either, at=list(CASES)),
        judge("power of n on cones", by_n, 0.0, by=either),
        judge("loss over the followed one", ratio, 1.0, at=points),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    widths = WIDTHS[size]
    widths_fit = ruling.stated.of("power of the width")
    by_n = ruling.stated.of("power of n on cones")
    effort = measured["times"].mean(axis=2) * np.array(widths)
    low, high = (
        f"{x - 1:.3f}".replace("-", "−")
        for x in (widths_fit.difference.min(), widths_fit.difference.max())
    )
    return Verdict(
        sentence=f"The time of a {DROP:.0%} drop goes with the width to a power between {low} and "
        f"{high}. On separable data it goes with n like "
        f"{power('n', by_n.difference[0], by_n.half[0])}. {ruling.stated.sentence}",
        sizes=f"d = {cases.D}, p = {', '.join(map(str, widths))}, n = "
        f"{', '.join(map(str, CONES))}; square loss",
        figure=_figure(widths, measured, predicted),
        caption=f"The loss falls along predicted lines (left). A drop of {DROP:.0%} takes a time "
        "of one over the width (right).",
        trend=f"Width times time goes from {effort[0, 0]:.3f} at p = {widths[0]} to "
        f"{effort[0, -1]:.3f} at p = {widths[-1]}.",
        settings=tuple(cases.system("square", CONES[0], m, SPEED / m, STEPS).id for m in widths),
    )


def _figure(widths: tuple[int, ...], measured: Data, predicted: Data) -> str:
    with style.figure(2, width=3.7, height=3.3) as (fig, (left, right)):
        effort = SPEED * np.arange(STEPS + 1)
        for i, marker in zip(range(0, len(widths), 2), "osD", strict=False):
            colour, at = style.COLOURS[i // 2], slice(2 * i, None, 8)
            left.plot(effort, predicted["losses"][i, :, 0], color=colour, linewidth=1)
            left.plot(
                effort[at],
                measured["losses"][i, at, 0],
                marker,
                color=colour,
                label=f"p = {widths[i]}",
            )
        left.plot([], [], color=style.INK, linewidth=1, label="followed")
        left.set(xlabel="width × time", ylabel="square loss of a run")
        left.legend()
        several = np.array(widths)
        named = zip(CASES, measured["times"], strict=True)
        for (name, times), colour, marker in zip(named, style.COLOURS, "osD^", strict=False):
            mean, error = mean_and_error(times)
            look = {"color": colour, "marker": marker, "label": name}
            style.dots(right, widths, mean * several, error * several, **look)
        for line, colour in zip(predicted["times"], style.COLOURS, strict=False):
            right.plot(widths, line * several, color=colour, linewidth=1)
        right.plot([], [], color=style.INK, linewidth=1, label="predicted, cones")
        right.set(xlabel="width", ylabel=f"width × time of a drop of {DROP:.0%}", ylim=(0.6, 0.75))
        ticks.logarithmic(right, "x", widths)
        fig.legend(
            *right.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
        )
        return style.svg(fig)

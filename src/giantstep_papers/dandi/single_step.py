"""The figure of one giant step on deflated labels: its printed errors again.

One network was printed, and networks differ by 4% in their error: no measurement can tell how
near the printed number is to the mean over networks. So the printed errors only have to lie
where one network may.
"""

import numpy as np

from giantstep.checks import (
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
from giantstep.plot import style
from giantstep_papers.dandi import deflated
from giantstep_papers.dandi.deflated import D, P, experiment

CLAIM = Claim(
    order=3,
    quote="for regime exponent & n,d = 2.0 & (262144, 512) the gen error is 0.07741778601141551, "
    "the std is 0.002084362460098963",
    place="single_step.ipynb, the published notebook of arXiv:2305.18270",
    kind="figure",
    statement="In the regime with exponent 2.0 and n,d = (262144, 512) the generalisation error is "
    "0.07741778601141551, with a standard deviation of 0.002084362460098963.",
    where="the published notebook of the single step, this run and those at n = d^1.3 and d^1.65 "
    "beside it",
    how="We compute the mean error over networks as in the notebook, on as many test samples, and"
    " compare it with the printed number as a prediction interval. This runs at full size only, "
    "because one seed takes seconds.",
    judges=(
        Judge(
            "error over the printed one",
            relative=True,
            margin=0.15,
            departure=0.25,
            because="the scatter of 3 to 4% between networks, of which one was printed",
        ),
    ),
    seeds={"full": Seeds(12, 48)},
)

EXPONENTS = (1.3, 1.65, 2.0)  # log n / log d
# mean and spread of ten batches of one network
PRINTED = ((0.33600, 0.00632), (0.20675, 0.00589), (0.07742, 0.00208))
N_TEST = 100_000  # as in the notebook: the printed error depends on it
SIZES = tuple(int(D**e) for e in EXPONENTS)


def measure(size: Size, seeds: range) -> Data:
    """Printed error and risk, (2, seeds) for every n; two thirds of the seeds at the largest."""
    counts = [len(seeds), len(seeds), 2 * len(seeds) // 3]
    jobs = [
        ((n,), D, P, seed, N_TEST)
        for n, count in zip(SIZES, counts, strict=True)
        for seed in seeds[:count]
    ]
    runs = iter(cache.each(deflated.both, jobs))
    errors = [np.stack([next(runs)[0] for _ in range(count)], axis=-1) for count in counts]
    return {"errors": errors}


def predict(size: Size) -> Data:
    """The printed means and spreads."""
    return {"printed": [mean for mean, _ in PRINTED], "spread": [spread for _, spread in PRINTED]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The mean errors against the printed ones."""
    judge, by = judging(CLAIM, size), "error over the printed one"
    each = zip(EXPONENTS, measured["errors"], predicted["printed"], strict=True)
    return statistics.stated(
        *(judge(f"error at n = d^{e:g}", found[:1], [one], by=by) for e, found, one in each)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    mean = [each.mean(axis=1) for each in measured["errors"]]
    (first, early), *_, (again, risk) = mean
    return Verdict(
        sentence=f"{ruling.stated.sentence} The printed error takes the linear part of the test "
        "labels from the test labels. The risk, which takes it from the training batch, is "
        f"{risk:.4f} at the largest n.",
        sizes=f"d = {D}, p = {P}, {N_TEST} test samples; products in float32",
        figure=_figure(measured, predicted),
        caption=f"Measured again, the test error at n = d^{EXPONENTS[-1]:g} is {mean[-1][0]:.3f}, "
        f"where {predicted['printed'][-1]:.3f} is printed.",
        settings=tuple(experiment(n, D, P).id for n in SIZES),
        trend=f"Between n = d^{EXPONENTS[0]:g} and d^{EXPONENTS[-1]:g} the printed error, "
        f"measured again, goes from {first:.4f} to {again:.4f}, and the risk from {early:.4f} to "
        f"{risk:.4f}.",
    )


def _figure(measured: Data, predicted: Data) -> str:
    """Errors against log n / log d: as printed, and again."""
    both = zip(*map(mean_and_error, measured["errors"]), strict=True)
    mean, error = (np.stack(part) for part in both)
    x = np.array(EXPONENTS)
    with style.figure(width=5.6, height=3.6) as (fig, ax):
        look = {"fmt": "_", "color": style.INK, "markersize": 16, "capsize": 3, "zorder": 1}
        name = "printed (spread of 10 batches)"
        ax.errorbar(EXPONENTS, predicted["printed"], predicted["spread"], **look, label=name)
        for k, (label, marker) in enumerate((("measured again", "o"), ("risk", "s"))):
            marks = {"color": style.COLOURS[k], "marker": marker, "label": label}
            style.dots(ax, x + 0.02 * (2 * k - 1), mean[:, k], error[:, k], **marks)
        ax.set(xlabel="log n / log d", ylabel="test error")
        ax.set(ylim=(0, 0.45), xlim=(EXPONENTS[0] - 0.06, 2.06))
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)

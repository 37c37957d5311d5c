"""The bulk of the features and of the first layer, before and after a step, follows the predicted law."""

from typing import TYPE_CHECKING, NamedTuple

from giantstep.claims.moniri import predicted, talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

    from giantstep.setting import Setting
    from giantstep.theory import Law

ALPHA = 0.35  # two spikes for ReLU
CASES = ((("F0", "F"), "relu"), (("F0", "F"), "tanh"), (("W",), "relu"))
SIZES = {"quick": (1000, 3), "full": (2500, 8)}
CLOSE = (
    8.0  # sup distance allowed, over the number of singular values: a spectrum is rigid, its counts move by order one
)
EDGE = 0.01  # relative distance allowed of the edges, both read off in one way


class Case(NamedTuple):
    """A matrix, its singular values for every seed, and their predicted law."""

    name: str
    sigma: str
    values: "list[np.ndarray]"
    law: "Law"


def experiment(n: int, sigma: str, count: int = 2) -> "Setting":
    """The last ``count`` of the step sizes 0 and n^alpha."""
    return predicted.experiment(n, (0.0, n**ALPHA)[-count:], activation=sigma, update="gradient")


def cases(n: int, seeds: int) -> list[Case]:
    """F/sqrt(n) at step sizes 0 and n^alpha of the true gradient, and W after it."""
    found = []
    for names, sigma in CASES:
        setting, weights = experiment(n, sigma, len(names)), names == ("W",)
        laws = predicted.laws(setting, "weights" if weights else "features", density=True)
        seen = [predicted.values(setting, seed, weights) for seed in range(seeds)]
        found += [Case(name, sigma, [one[i] for one in seen], laws[i]) for i, name in enumerate(names)]
    return found


def run(size: Size) -> Verdict:
    import numpy as np

    from giantstep import measure

    n, seeds = SIZES[size]
    found, rows, misses = cases(n, seeds), [], 0
    for case in found:
        far = float(np.mean([predicted.distance(v, case.law) for v in case.values]))
        edge, error = measure.mean_and_error(np.array([measure.bulk_edge(v) for v in case.values]))
        read, close = predicted.edge(case.law), CLOSE / case.law.count
        misses += far > close or abs(edge - read) > EDGE * read + 3 * error
        gap = f"{edge / read - 1:+.1%}"
        rows.append((case.name, case.sigma, far, close, float(edge), float(error), read, gap, case.law.edge))
    worst, widest = max(rows, key=lambda r: r[2] / r[3]), max(rows, key=lambda r: abs(r[4] / r[6] - 1))
    return Verdict(
        outcome="fails" if misses else "holds",
        sentence=f"{len(rows) - misses} of {len(rows)} bulks follow the predicted law: the largest sup distance of their "
        f"distribution functions is {worst[2]:.4f} ({worst[0]}, {worst[1]}; allowed {worst[3]:.4f}), the furthest edge "
        f"{widest[4]:.3f} ± {widest[5]:.3f} against {widest[6]:.3f} ({widest[0]}, {widest[1]}, {widest[7]}).",
        header=tuple("matrix|activation|sup distance|allowed|edge|s.e.|read off the law|gap|law's edge".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; true gradient, alpha = {ALPHA}",
        figure=_figure([case for case in found if case.sigma == "relu"]),
        settings=tuple(experiment(n, sigma, len(names)).id for names, sigma in CASES),
    )


def _figure(found: list[Case]) -> str:
    """The first seed's histograms with the predicted densities and outliers on top; the other seeds' outliers are pale."""
    from giantstep import canvas, measure

    titles = {"F0": "random features", "F": f"after a step, η = n$^{{{ALPHA}}}$", "W": "first layer after the step"}
    names = {"F0": r"$F_0/\sqrt{n}$", "F": r"$F/\sqrt{n}$", "W": "$W$"}
    with canvas.figure(len(found), width=2.9, height=2.6) as (fig, axes):
        for ax, case in zip(axes, sorted(found, key=lambda c: list(titles).index(c.name)), strict=True):
            canvas.spectrum_panel(ax, case.values[0], show_edge=False)
            canvas.law_panel(ax, case.law)
            others = [x for values in case.values[1:] for x in measure.outliers(values)]
            pale = {"color": canvas.COLOURS[1], "alpha": 0.35, "transform": ax.get_xaxis_transform()}
            ax.plot(others, [0.03] * len(others), "v", **pale)
            ax.set_title(titles[case.name], loc="left")
            ax.set(xlabel=f"singular values of {names[case.name]}", ylabel="density" if ax is axes[0] else "")
        handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
        return canvas.svg(fig)


BULK = Claim(
    name="moniri/bulk",
    statement="Apart from a few outliers the singular values of the features, before and after the step, and of the first layer "
    "follow a deterministic law with a sharp edge.",
    paper="moniri",
    where="the bulk of the spectrum of the feature matrix, here with the law of our conditional theory",
    run=run,
)

"""How many directions a narrow network has learned, and how sure that is: eigenvalues of the mean of pi pi^T over chance, 1/d.

A learned direction keeps its share of a neuron as d grows, so its eigenvalue grows like d over chance; the others stay at it.
"""

from typing import TYPE_CHECKING, NamedTuple

from giantstep.claims.dandi.narrow import chain, experiment
from giantstep.lab.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from giantstep.setting import Setting

FLAT = 0.5  # exponent in d that separates what stays at chance (0) from what is learned (1)


class Case(NamedTuple):
    """One experiment at every d: n = ratio d^power, s = strength d^((power - 1)/2)."""

    name: str
    formula: str
    rank: int  # predicted
    sizes: tuple[int, ...]
    power: int = 1
    ratio: int = 4
    strength: float = 1.0
    steps: int = 1
    second_layer: str = "rademacher"
    deflate: int = 0
    width: int = 16

    def setting(self, d: int) -> "Setting":
        strength = self.strength * d ** ((self.power - 1) / 2)
        return experiment(
            self.formula, d, self.ratio * d**self.power, self.steps, p=self.width, strength=strength,
            second_layer=self.second_layer, deflate=self.deflate,
        )  # fmt: skip


class Found(NamedTuple):
    """Eigenvalues times d, (sizes, seeds, r), in decreasing order."""

    case: Case
    ratios: "np.ndarray"

    def growth(self, k: int) -> tuple[float, float]:
        """Exponent in d of the k-th eigenvalue, and its standard error over seeds."""
        import numpy as np

        from giantstep.measure import mean_and_error

        logs = np.log(self.ratios[:, :, k])
        x = np.log(self.case.sizes)
        slopes = ((x - x.mean()) @ logs) / np.sum((x - x.mean()) ** 2)
        mean, error = mean_and_error(slopes)
        return float(mean), float(error)

    @property
    def rank(self) -> int | None:
        """How many eigenvalues grow with d; None when the error bars of one cannot decide."""
        growths = [self.growth(k) for k in range(self.ratios.shape[2])]
        if any(abs(value - FLAT) < 3 * error for value, error in growths):
            return None
        return sum(value > FLAT for value, _ in growths)


def measured(case: Case, seeds: int) -> Found:
    import numpy as np

    ratios = []
    for d in case.sizes:
        ratios.append(np.linalg.eigvalsh(chain(case.setting(d), seeds).learned)[:, ::-1] * d)
    return Found(case, np.stack(ratios))


def judged(found: "Sequence[Found]") -> Verdict:
    """Whether the learned ranks are the predicted ones."""
    cases, seeds = [f.case for f in found], found[0].ratios.shape[1]
    ranks = [f.rank for f in found]
    wrong = [f for f, rank in zip(found, ranks, strict=True) if rank is not None and rank != f.case.rank]
    said = [
        f"{f.case.name}: {'undecided' if rank is None else rank} of {f.ratios.shape[2]} (predicted {f.case.rank}; exponents "
        + ", ".join(f"{f.growth(k)[0]:+.2f} ± {f.growth(k)[1]:.2f}" for k in range(f.ratios.shape[2]))
        + ")"
        for f, rank in zip(found, ranks, strict=True)
    ]
    return Verdict(
        outcome="fails" if wrong else ("inconclusive" if None in ranks else "holds"),
        sentence="Directions whose share of a neuron grows over chance, 1/d, as d does: " + "; ".join(said) + ".",
        header=("case", "d", "eigenvalue", "over chance", "s.e."),
        rows=tuple(row for f in found for row in _rows(f)),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"{c.name}: d = {', '.join(map(str, c.sizes))}" for c in cases)
        + f"; p = {cases[0].width}, relu, pairs",
        figure=_figure(found),
        settings=tuple(c.setting(c.sizes[-1]).id for c in cases),
    )


def _rows(found: Found) -> list[tuple]:
    from giantstep.measure import mean_and_error

    rows = []
    for d, ratios in zip(found.case.sizes, found.ratios, strict=True):
        mean, error = mean_and_error(ratios, axis=0)
        rows += [
            (found.case.name, d, k + 1, float(m), float(e)) for k, (m, e) in enumerate(zip(mean, error, strict=True))
        ]
    return rows


def _figure(found: "Sequence[Found]") -> str:
    """Eigenvalues over chance against d, one panel a case; the grey line grows like d."""
    import numpy as np

    from giantstep import canvas
    from giantstep.measure import mean_and_error

    with canvas.figure(len(found), width=2.6, height=2.7) as (fig, axes):
        for ax, f in zip(np.atleast_1d(axes), found, strict=True):
            d = np.array(f.case.sizes)
            mean, error = mean_and_error(f.ratios, axis=1)
            for k in range(mean.shape[1]):
                canvas.dots(ax, d, mean[:, k], error[:, k], color=canvas.COLOURS[k], label=f"eigenvalue {k + 1}")
                ax.plot(d, mean[:, k], color=canvas.COLOURS[k], linewidth=0.8)
            ax.plot(d, mean[0, 0] * d / d[0], color=canvas.INK, linewidth=0.7, linestyle=":", label="∝ d")
            ax.set(xscale="log", yscale="log", xlabel="d", ylim=(0.05, 2 * mean.max()))
            ax.set_xticks(d, [str(each) for each in d])
            ax.minorticks_off()
            ax.set_title(f"{f.case.name}\npredicted rank {f.case.rank}", loc="left", fontsize=8)
        np.atleast_1d(axes)[0].set_ylabel("share of a neuron, times d")
        fig.legend(*np.atleast_1d(axes)[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return canvas.svg(fig)

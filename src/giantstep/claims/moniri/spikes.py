"""Spikes of the updated features appear one by one as the step size n^alpha grows, along powers of X beta."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from giantstep.claims.moniri import talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

ALPHAS = (0.0, 0.1, 0.2, 0.28, 0.33, 0.37, 0.42)
JUDGED = 3 / 8  # the theorem's first three regimes; at finite n the gradient's remainder grows with alpha
ACTIVATIONS = ("relu", "sin(x+pi/4)")
SIZES = {"quick": (1000, 2), "full": (2500, 6)}
POWERS = 4
ALIGNED = 0.3


@dataclass(frozen=True)
class Spikes:
    """The outliers at one step size that random features do not have: positions, best cos^2 and its power of X beta."""

    values: "np.ndarray"
    cosines: "np.ndarray"
    powers: "np.ndarray"
    all_values: "np.ndarray"


def spikes(n: int, activation: str, seed: int) -> list[Spikes]:
    """New outliers of F / sqrt(n) at every step size; F and its random-feature version share weights and samples."""
    import numpy as np

    from giantstep import draw, measure
    from giantstep.simulate import train

    setting = talk.experiment(n, ALPHAS, talk.setting_1(), activation=activation)
    found = train(setting, seed)
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    g, sigma = X @ talk.direction(setting, seed), setting.network.activation
    basis = measure.gram_schmidt_powers(g, POWERS)
    before = measure.spectrum(sigma(X @ found.initial.T) / np.sqrt(n), vectors=4)
    known = before.left[:, : min(4, len(measure.outliers(before.values)))]
    result = []
    for W in found.final:
        after = measure.spectrum(sigma(X @ W.T) / np.sqrt(n), vectors=12)
        count = min(12, len(measure.outliers(after.values)))
        left = after.left[:, :count]
        new = measure.alignments(left, known).sum(axis=1) < 0.5  # not an outlier that random features have already
        cos2 = measure.alignments(left, basis)[new]
        best = cos2.argmax(axis=1) if len(cos2) else np.zeros(0, int)
        result.append(Spikes(after.values[:count][new], cos2.max(axis=1, initial=0.0), best + 1, after.values))
    return result


def run(size: Size) -> Verdict:
    import numpy as np

    n, seeds = SIZES[size]
    rows, example, extra, stray, monotone, most = [], {}, 0, 0, True, []
    judged = [i for i, alpha in enumerate(ALPHAS) if alpha < JUDGED]
    for activation in ACTIVATIONS:
        runs = [spikes(n, activation, seed) for seed in range(seeds)]
        example[activation] = runs[0]
        counts = np.array([[len(s.values) for s in each] for each in runs])
        monotone &= bool(np.all(np.diff(counts[:, judged], axis=1) >= 0))
        most.append(float(counts[:, judged[-1]].mean()))
        for i, alpha in enumerate(ALPHAS):
            cos = np.concatenate([each[i].cosines for each in runs])
            stray += int(np.sum(cos <= ALIGNED)) if i in judged else 0
            extra += int(np.sum(cos <= ALIGNED)) if i not in judged else 0
            kinds = sorted(
                {int(k) for each in runs for k, c in zip(each[i].powers, each[i].cosines, strict=True) if c > ALIGNED}
            )
            least = float(cos.min()) if len(cos) else float("nan")
            rows.append((activation, alpha, float(counts[:, i].mean()), ", ".join(map(_name, kinds)) or "none", least))
    outcome = "fails" if stray or not monotone else ("holds" if min(most) >= 2 else "inconclusive")
    return Verdict(
        outcome=outcome,
        sentence=_sentence(stray, monotone, most, extra),
        header=("activation", "alpha", "new outliers", "along", "least cos²"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(example),
        settings=tuple(talk.experiment(n, ALPHAS, talk.setting_1(), activation=a).id for a in ACTIVATIONS),
    )


def _sentence(stray: int, monotone: bool, most: list[float], extra: int) -> str:
    found = ", ".join(f"{m:g} for {a}" for m, a in zip(most, ACTIVATIONS, strict=True))
    aligned = "every new outlier has" if not stray else f"{stray} new outliers do not have"
    return (
        f"Up to alpha = 3/8 {aligned} cos² > {ALIGNED} with a Gram-Schmidt power of g = Xβ, and their number "
        f"{'never falls' if monotone else 'falls somewhere'} as alpha grows (at the last such alpha: {found}). At alpha = "
        f"{ALPHAS[-1]}, which is not judged, {extra} more lie along no power. Spikes appear later than in the limit."
    )


def _name(power: int) -> str:
    return "g" if power == 1 else f"g^{power}"


def _figure(example: dict[str, list[Spikes]]) -> str:
    """Histograms of the first seed; one range a row, so that the spikes are seen to move."""
    from giantstep import canvas

    shown = [ALPHAS.index(a) for a in (0.1, 0.28, 0.37)]
    with canvas.figure(len(shown), len(example), width=2.6, height=2.2) as (fig, axes):
        for row, (activation, runs) in zip(axes, example.items(), strict=True):
            for ax, i in zip(row, shown, strict=True):
                canvas.spectrum_panel(ax, runs[i].all_values, runs[i].values, [f"${_name(k)}$" for k in runs[i].powers])
                ax.set_title(f"{activation.replace('pi', 'π')},  η = n$^{{{ALPHAS[i]}}}$", loc="left")
            widest, tallest = max(ax.get_xlim()[1] for ax in row), max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set(xlim=(0, widest), ylim=(0, tallest), ylabel="density" if ax is row[0] else "")
        for ax in axes[:-1].flat:
            ax.set_xlabel("")
        spike = axes[0, 0].plot([], [], "v", color=canvas.COLOURS[1], label="new outlier, along a power of g = Xβ")[0]
        bulk, edge = axes[0, 0].get_legend_handles_labels()[0][:2]
        fig.legend(handles=[bulk, edge, spike], loc="outside lower center", ncols=3)
    return canvas.svg(fig)


SPIKES = Claim(
    name="moniri/spikes",
    statement="As alpha grows, spikes leave the bulk of the updated features one by one, the k-th along the k-th power of Xβ.",
    paper="moniri",
    where="the spectrum of the updated feature matrix",
    run=run,
)

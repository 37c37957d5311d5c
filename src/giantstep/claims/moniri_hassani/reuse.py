"""Two steps on one batch learn directions of information exponent two and three; on fresh batches they do not."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.experiment.setting import Setting
from giantstep.functions.activation import activation as made
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train
from giantstep.theory.two_steps.null_matrix import initial, null, shuffles
from giantstep.theory.two_steps.signal import draws, second_slopes, signal

SOFT = "softplus(2*(x-1))/2"  # E sigma' sigma'' is not zero
CASES = {  # target, activation, the power of a that carries it, C1 mu_1, C2 at p = 1000, and whether reuse learns it
    "(h2 + h3)/√2": ("(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)", SOFT, 2, 0.4, 55.0, True),
    "h3": ("H3(x1)/sqrt(6)", "tanh(x+0.8)", 3, 0.6, 90.0, True),
    "h4, even": ("H4(x1)/sqrt(24)", SOFT, 2, 0.4, 55.0, False),
}
BATCHES = ("reuse", "fresh")
SIZES = {"quick": (180, 16, 6), "full": (800, 16, 8)}  # d, seeds, and how many of them are predicted
SURE = 4.0  # standard errors: cosines of few seeds scatter
ALLOWED = {"quick": 0.08, "full": 0.05}  # of a cosine: between simulation and signal matrix
NULL = 0.1  # a mean signed cosine granted where nothing is learned: it dies with d
NEEDED = {"quick": 0.6, "full": 0.3}  # a cosine that must be seen where nothing should be learned


def experiment(name: str, batch: str, d: int) -> Setting:
    """eta_1 = C1 sqrt(p) and eta_2 = C2 sqrt(p / 1000) in the paper's units."""
    target, activation, _, first, second, _ = CASES[name]
    C1 = first / float(made(activation).hermite(1)[1])
    return gs.presets.moniri_hassani(
        6 * d, d, 5 * d // 4, 0.5, 0.5, C1=C1, C2=second / 1000**0.5, batch=batch, target=target, activation=activation,
        residual="target",
    )  # fmt: skip


def cosine(name: str, batch: str, d: int, seed: int) -> float:
    """Of what the layer moved along, left power of a by power, with the target: measured."""
    setting, k = experiment(name, batch, d), CASES[name][2]
    layers = train(setting, seed, dtype="float32")
    moved = gs.measure.moved(layers.final - layers.initial, layers.second_layer, k)[:, -1]
    return gs.measure.cosine(moved, setting.target.orthonormal(d)[0])


def expected(name: str, batch: str, d: int, seed: int) -> float:
    """The same predicted: the signal along the target, over the length that signal and shuffled weights have together."""
    setting, k = experiment(name, batch, d), CASES[name][2]
    given, etas = draws(setting, seed), tuple(setting.protocol.etas(setting.d, setting.p).tolist())
    slopes = second_slopes(given, etas[0])
    moved = signal(given, slopes, etas).moved(gs.measure.gram_schmidt_powers(given.a, k))[:, -1]
    change = null(given, slopes, shuffles(given, slopes), etas, seed, False) - initial(seed, setting.p, d, False)
    noise = gs.measure.moved(change, given.a, k)[:, -1]
    return float(moved @ setting.target.orthonormal(d)[0] / np.hypot(np.linalg.norm(moved), np.linalg.norm(noise)))


def measure(size: Size) -> Data:
    """Signed cosines, (cases, batches, seeds)."""
    d, seeds, _ = SIZES[size]
    calls = [(name, batch, d, seed) for name in CASES for batch in BATCHES for seed in range(seeds)]
    return {"cosines": np.reshape(cache.each(cosine, calls), (len(CASES), len(BATCHES), seeds))}


def predict(size: Size) -> Data:
    """Cosines on one batch where it learns, (cases learned, seeds), and which those are."""
    d, _, seeds = SIZES[size]
    learned = [name for name in CASES if CASES[name][-1]]
    cosines = cache.each(expected, [(name, "reuse", d, seed) for name in learned for seed in range(seeds)])
    return {"cosines": np.reshape(cosines, (len(learned), seeds)), "learned": [case[-1] for case in CASES.values()]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds, shared = SIZES[size]
    learned, expected_cosines = np.array(predicted["learned"]), predicted["cosines"]
    place = np.array([case[-1] for case in CASES.values()])
    comparison = compare(
        measured["cosines"][place, 0, :shared] - expected_cosines, 0.0, level=SURE, granted=ALLOWED[size]
    )
    zero = compare(measured["cosines"], 0.0, level=SURE, granted=NULL)
    should = np.stack([learned, np.zeros(len(CASES), dtype=bool)], axis=1)
    wrong = bool(np.any(zero.missed != should)) or bool(np.any(comparison.missed))
    mean, error = mean_and_error(measured["cosines"])
    means = dict(zip([name for name in CASES if CASES[name][-1]], expected_cosines.mean(axis=-1).tolist(), strict=True))
    rows = tuple(
        (
            name,
            batch,
            CASES[name][2],
            float(mean[i, j]),
            float(error[i, j]),
            means.get(name, 0.0) if batch == "reuse" else 0.0,
        )
        for i, name in enumerate(CASES)
        for j, batch in enumerate(BATCHES)
    )
    text = {(name, batch): f"{m:+.3f} ± {e:.3f} ({s:+.3f} predicted)" for name, batch, _, m, e, s in rows}
    first, third, even = CASES
    return Verdict(
        outcome=decided(wrong, float(np.max(zero.seen[~should], initial=0.0)), NEEDED[size]),
        sentence=f"Mean signed cosine of the learned direction with the target: {text[first, 'reuse']} for {first} and "
        f"{text[third, 'reuse']} for {third} on one batch used twice, {text[first, 'fresh']} and {text[third, 'fresh']} on "
        f"fresh ones; for the even target {text[even, 'reuse']} and {text[even, 'fresh']}.",
        header=("target", "batch", "power of a", "cosine", "s.e.", "predicted"),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, p = {5 * d // 4}, n = {6 * d}; tanh(x+0.8) for h3, else softplus",
        figure=_figure(measured["cosines"], predicted["cosines"]),
        caption="Signed cosine with the target of what the layer moved along, projected on the power of a that carries it: every "
        "seed measured (dots), some beside their prediction (dashes), and the means (bars). One batch used twice "
        "has a sign and a size; fresh batches and the even target scatter around zero.",
        power=f"Against zero: {zero.power()} Against the signal matrix: {comparison.power()}",
        settings=tuple(experiment(name, batch, d).id for name in CASES for batch in BATCHES),
    )


def _figure(measured: np.ndarray, predicted: np.ndarray) -> str:
    with style.figure(len(CASES), width=2.6, height=2.7) as (fig, axes):
        for i, (ax, name) in enumerate(zip(axes, CASES, strict=True)):
            for j, label in enumerate(("one batch twice", "fresh batches")):
                colour = style.COLOURS[j]
                at = j + np.linspace(-0.3, 0.3, measured.shape[-1])
                ax.plot(at, measured[i, j], "o", color=colour, label=label, markersize=3.5)
                if j == 0 and i < len(predicted):  # the cases learned come first
                    ax.plot(at[: predicted.shape[1]], predicted[i], "_", color=style.INK, label="predicted")
                ax.plot([j - 0.36, j + 0.36], [measured[i, j].mean()] * 2, color=colour)
            ax.axhline(0, color=style.INK, linewidth=0.6, zorder=0)
            ax.set(xticks=[0, 1], xticklabels=["reused", "fresh"], ylim=(-0.75, 0.75), xlim=(-0.6, 1.6))
            ax.set_title(name, loc="left", fontsize=9)
        axes[0].set_ylabel("cosine with the target")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)


CLAIM = claim("moniri_hassani/reuse", measure=measure, predict=predict, judge=judge)

"""The step size at which a spike becomes visible grows as n^((k-1)/2k).

The finite-size theory knows its constant.
"""

from typing import Any

import numpy as np
from scipy.sparse.linalg import svds

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
    LIMIT,
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
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import train
from giantstep_papers.moniri import predicted as spectra
from giantstep_papers.moniri import talk
from giantstep_papers.shared.controls import controlled
from giantstep_papers.shared.said import signed

CLAIM = Claim(
    order=7,
    quote="Let η ≍ n^α with (ℓ−1)/(2ℓ) < α < ℓ/(2ℓ+2) for some ℓ ∈ ℕ. We have F = F_ℓ + Δ, with F_ℓ"
    " := F₀ + Σ_{k=1}^ℓ c_1^k c_k η^k (Xβ)^{∘k} (a^{∘k})ᵀ",
    place="Moniri's talk of March 2024, slide “Spectrum of Updated Feature Matrix”",
    kind="asymptotic limit",
    statement="For α beyond (ℓ−1)/(2ℓ) and below ℓ/(2ℓ+2) F_ℓ has its component ℓ.",
    where="where the regimes of alpha begin, at ℓ = 1 and 2",
    how="This runs at full size only. We find the step size at which a seed's k-th singular value "
    "reaches 1.2 times the edge of the bulk, a condition of ours. At hand its exponent of n must "
    "be (k−1)/(2k), so 0 and 1/4. The limit is judged by the exponent that our finite-size theory "
    "has at large n. That theory must also agree with every onset at hand.",
    judges=(
        Judge(
            "exponent of the step size at the onset",
            margin=EXPONENT,
            departure=0.1,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of the step size at the onset in theory",
            margin=LIMIT,
            departure=0.05,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "log of the step size at the onset over the predicted one",
            margin=0.06,
            departure=0.12,
            because="terms of order p^(−1/2)",
        ),
    ),
    seeds={"full": Seeds(16, 220)},
)

SIZES = {"full": (500, 900, 1600)}  # smaller ones are outside the regime of small η/√n
LIMITS = (0.0, 0.25)  # the k-th spike of the limit appears at (k - 1)/(2k)
# times the edge of the bulk: there a spike counts, well beyond the fluctuation of the edge
BEYOND = 1.2
SEARCHED = (3.5, 2.85)  # step sizes around which it is looked for, the second times n^0.2
FACTORS, PREDICTED = (0.6, 0.78, 1.0, 1.28, 1.65), (0.85, 1.0, 1.18)  # of these step sizes
FAR = (10**6, 10**8, 10**10)  # followed by theory
# of the step sizes looked at there, the second times n^0.25
FAR_FACTORS = tuple(np.geomspace(0.7, 2.2, 7).tolist())
ONSET = "exponent of the step size at the onset"  # the name of a judge


def experiment(n: int, etas: tuple[float, ...] | float = 1.0) -> gs.Setting:
    return spectra.experiment(n, etas)


def looked_at_far(n: int, k: int) -> tuple[float, ...]:
    """Step sizes around the onset of spike k at large n, found from that at n = 1000."""
    if k == 1:
        return tuple(f * SEARCHED[0] for f in FAR_FACTORS)
    return tuple(f * SEARCHED[1] * 1000**0.2 * (n / 1000) ** 0.25 for f in FAR_FACTORS)


def looked_at(n: int, k: int, factors: tuple[float, ...]) -> tuple[float, ...]:
    """Step sizes around the onset of spike k."""
    return tuple(f * SEARCHED[k - 1] * (n**0.2 if k == 2 else 1.0) for f in factors)


def crossing(etas: tuple[float, ...], ratios: list[float]) -> float:
    """The step size at which the ratio reaches BEYOND, by interpolation in log eta.

    It is an end of the interval if it is outside.
    """
    return float(np.exp(np.interp(BEYOND, np.maximum.accumulate(ratios), np.log(etas))))


def predicted_onset(n: int, k: int, etas: tuple[float, ...]) -> float:
    """The step size at which the k-th outlier is predicted at BEYOND times the edge.

    It is looked for between these step sizes.
    """
    ratios = [
        law.outliers[k - 1].position / law.edge if len(law.outliers) >= k else 1.0
        for law in spectra.laws(experiment(n, etas))
    ]
    return crossing(etas, ratios)


def onsets(n: int, seed: int) -> list[float]:
    """The step sizes at which the first two outliers reach BEYOND times the edge, and controls.

    The edge is that of the spectrum at the middle step size; outliers hardly move it. The controls
    have mean zero.
    """
    setting = experiment(n)
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    sigma, found = setting.network.activation, []
    with one_blas_thread(setting.p):
        layers = train(setting, seed)
        # linear in the step size
        before, slope = X @ layers.initial.T, X @ (layers.final - layers.initial).T
        for k in (1, 2):
            etas = looked_at(n, k, FACTORS)
            middle = np.asarray(sigma(before + etas[len(etas) // 2] * slope)) / np.sqrt(n)
            edge, ratios = gs.measure.bulk_edge(gs.measure.spectrum(middle).values), []
            for eta in etas:
                F = np.asarray(sigma(before + eta * slope)) / np.sqrt(n)
                start = np.ones(min(F.shape))
                options: Any = {"v0": start, "tol": 1e-3, "return_singular_vectors": False}
                top: Any = svds(F, k=k, **options)
                ratios.append(float(np.min(top)) / edge)
            found.append(crossing(etas, ratios))
    return [*found, *spectra.controls(setting, seed)]


def measure(size: Size, seeds: range) -> Data:
    """Logarithms of the step sizes at the onset, (sizes, 2, seeds), with control variates."""
    found = cache.over(onsets, [(n,) for n in SIZES[size]], seeds)
    return {"onsets": np.array([controlled(np.log(one[:2]), one[2:]) for one in found])}


def predict(size: Size) -> Data:
    """Step sizes at the onset, here and far away, (sizes, 2)."""
    here = [
        [predicted_onset(n, k, looked_at(n, k, PREDICTED)) for k in (1, 2)] for n in SIZES[size]
    ]
    far = [[predicted_onset(n, k, looked_at_far(n, k)) for k in (1, 2)] for n in FAR]
    return {"onsets": np.array(here), "far": np.array(far)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent of n of the step size at the onset.

    At hand, and in theory at large n; that theory has every onset at hand.
    """
    judge, spikes = judging(CLAIM, size), ["spike 1", "spike 2"]
    at = [f"{spike}, n = {n}" for n in SIZES[size] for spike in spikes]
    exponents = statistics.exponent(SIZES[size], np.exp(measured["onsets"]))
    far = statistics.exponent(FAR, predicted["far"])
    ratios = measured["onsets"] - np.log(predicted["onsets"])[..., None]
    return Evidence(
        (judge(ONSET, exponents, LIMITS, at=spikes),),
        limit=(
            judge(f"{ONSET} in theory", far, LIMITS, at=spikes, noisy=False),
            judge("log of the step size at the onset over the predicted one", ratios, at=at),
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    found = ruling.stated.of(ONSET)
    means = [float(np.mean(row)) for row in found.comparison.samples]
    exponents = [
        f"{signed(mean, '.3f')} ± {half:.3f}" for mean, half in zip(means, found.half, strict=True)
    ]
    grows = " and that of the second spike as n to the ".join(exponents)
    far = " and ".join(
        f"{round(x, 2) + 0.0:.2f}" for x in statistics.exponent(FAR, predicted["far"])
    )
    alphas = np.mean(measured["onsets"], axis=-1) / np.log(sizes)[:, None]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; centred ReLU, rank-one update",
        sentence=f"The step size at the onset of the first spike grows as n to the {grows}. "
        f"Theory at far larger n has the exponents {far}.",
        figure=_figure(size, measured["onsets"], predicted["onsets"]),
        caption="The step at which the first spike appears does not grow with n, and that of the "
        f"second has the exponent {exponents[1]}.",
        settings=tuple(experiment(n).id for n in sizes),
        trend=f"Written as n^α, the onset of the first spike goes from α = {alphas[0, 0]:.3f} to "
        f"{alphas[-1, 0]:.3f} and that of the second from {alphas[0, 1]:.3f} to "
        f"{alphas[-1, 1]:.3f} as n grows. They near the limits only as 1/log n, because of the "
        "constant in front of n^α.",
    )


def _figure(size: Size, measured: np.ndarray, predicted: np.ndarray) -> str:
    """The step size at the onset of both spikes against n."""
    sizes = np.array(SIZES[size], dtype=float)
    with style.figure(width=4.6, height=3.2) as (fig, ax):
        for k in (0, 1):
            mean, error = mean_and_error(np.exp(measured[:, k]))
            line, look = predicted[:, k], {"color": style.COLOURS[k]}
            ax.plot(sizes, line, label=f"theory, spike {k + 1}", **look)
            guide, growth = line[-1] * (sizes / sizes[-1]) ** LIMITS[k], f"n^{{{LIMITS[k]:g}}}"
            ax.plot(sizes, guide, "--", linewidth=0.9, label=rf"$\propto {growth}$", **look)
            look |= {"marker": "os"[k], "label": f"simulation, spike {k + 1}"}
            style.dots(ax, sizes, mean, error, **look)
        ax.set(xlabel="batch size n", ylabel="step size η at the onset")
        ticks.logarithmic(ax, "x", sizes)
        ticks.logarithmic(ax, at=(3, 4, 6, 8, 12, 16))
        return style.svg(fig, below=2)

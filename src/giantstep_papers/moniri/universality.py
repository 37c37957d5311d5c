"""Gaussian features, with the spikes of a step, in place of the network's leave the errors."""

from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired, replaced
from giantstep_papers.shared.replaced import Arm

CLAIM = Claim(
    order=17,
    quote="the limiting behavior of test/train error is unchanged if 1 we replace F = σ(XW₁ᵀ) "
    "with F = F₀ + Σ_{k=1}^ℓ c_1^k c_k η^k (Xβ)^{∘k} (a^{∘k})ᵀ. 2 we replace F₀ with F₀ = "
    "c₁XW₀ᵀ + c_{>1}Z.",
    place="Moniri's talk of March 2024, slide “Universality”",
    kind="asymptotic limit",
    statement="The limiting test and training errors are unchanged if F is replaced with F₀ and "
    "its spikes, and F₀ with c₁XW₀ᵀ + c_{>1}Z.",
    where="both replacements at once in the middle of the regimes ℓ = 1, 2, 3, for the rank-one "
    "update by which the slides approximate W₁, and with activations that have c₁, …, c_ℓ; "
    "giantstep/leftover has the true gradient, and sin(1.5x), for which c₂ = 0",
    how="We take ReLU and sin(x + π/4), without a step and at one alpha for each regime. Test "
    "error and training objective with the replaced features must be the network's own on the "
    "same draws: each of them, and their mean for an activation. Changes are in units of the "
    "error.",
    judges=(
        Judge(
            "change of an error",
            margin=(0.05, 0.02),
            departure=(0.16, 0.04),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="terms of order n^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(36, 80), "full": Seeds(40, 280)},
)

# the middles of the regimes (l - 1)/(2l) < alpha < l/(2l + 2), l = 1, 2, 3
ALPHAS = (0.125, 0.29, 0.355)
# the last is judged, the others show the trend
SIZES = {"quick": (100, 200, 400), "full": (375, 750, 1500)}
ARMS = tuple(Arm(activation, "rank1", ALPHAS) for activation in ("relu", "sin(x+pi/4)"))


def measure(size: Size, seeds: range) -> Data:
    return replaced.by_size(SIZES[size], ARMS, seeds)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    return replaced.evidence(ARMS, measured, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (small, *_, n), (before, most) = SIZES[size], replaced.furthest_of(ARMS, measured)
    return Verdict(
        sizes=f"n = {n}, and smaller ones for the trend; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        sentence=f"After the rank-one step both errors change by at most {most:.1f}% when spiked "
        "Gaussian features replace those of the network, in the middle of all three regimes.",
        figure=replaced.draw(n, ARMS, [measured[arm.name]["last"] for arm in ARMS]),
        caption="After the rank-one step spiked Gaussian features have the network's errors within "
        f"{most:.1f}%.",
        trend=f"The largest change goes from {before:.1f}% at n = {small} to {most:.1f}% at "
        f"n = {n}.",
        settings=tuple(replaced.experiment(n, arm).id for arm in ARMS),
    )

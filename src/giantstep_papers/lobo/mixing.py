"""The top radial mode turns towards the quadratic harmonic along the target."""

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
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep_papers.lobo import sweep
from giantstep_papers.lobo.experiment import ACTIVATIONS, NUMBERS, TITLES
from giantstep_papers.shared import said

CLAIM = Claim(
    order=4,
    quote="mixes leading eigenfunctions, coupling the top radial mode with a target-aligned "
    "quadratic harmonic",
    place="abstract only",
    kind="remark",
    statement="Feature learning mixes leading eigenfunctions: it couples the top radial mode with "
    "a target-aligned quadratic harmonic.",
    where="the mixing of the abstract, at n = d",
    how="We measure the angle of the top radial mode in the plane of 1 and h₂(⟨u, x⟩), for two "
    "activations at n = d. At the largest of five step sizes it must be at least 5°, a "
    "rotation that deserves the word.",
    judges=(
        Judge(
            "degrees turned by the largest step",
            side="above",
            margin=0.5,
            departure=4.0,
            because="the bound, which is our choice",
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(16, 60)},
)

LEAST = 5.0  # degrees: a rotation that deserves the word
measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The size of the angle after the largest step, whichever way the mode turns."""
    angles = measured["found"][:, -1, NUMBERS.index("mixing")]
    turned = np.abs(angles)
    names = [TITLES[a] for a in ACTIVATIONS]
    judge = judging(CLAIM, size)
    return statistics.stated(judge("degrees turned by the largest step", turned, LEAST, at=names))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    k = NUMBERS.index("mixing")
    angles, error = mean_and_error(measured["found"][:, 1:, k])
    expected = predicted["found"][:, 1:, k].mean(-1)
    turned, theory = (
        [f"{said.signed(x, '.1f')}°" for x in each[:, -1]] for each in (angles, expected)
    )
    words = " and ".join(f"{x} for {TITLES[a]}" for x, a in zip(turned, ACTIVATIONS, strict=True))
    sentence = (
        f"The longest step turns the top radial mode towards h₂(⟨u, x⟩) by {words}. Theory has "
        f"{' and '.join(theory)}."
    )
    lines, dashed = (predicted[name][:, 1:, k] for name in ("lines", "dashed"))
    panels = {a: ((angles[i], error[i]), lines[i], dashed[i]) for i, a in enumerate(ACTIVATIONS)}
    return Verdict(
        sentence=sentence if ruling.stated.outcome == "holds" else "",
        sizes=sweep.sizes(size),
        figure=sweep.figure(panels, "mixing angle in degrees", ""),
        caption="A longer step turns the top radial mode further, by up to "
        f"{np.abs(angles).max():.0f}°, on the predicted line (full).",
        settings=sweep.settings(size),
    )

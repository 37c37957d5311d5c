"""The top radial mode turns towards the quadratic harmonic along the target, by a predicted angle."""

from typing import Any

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.lobo import sweep
from giantstep.claims.lobo.experiment import ACTIVATIONS, NUMBERS
from giantstep.claims.lobo.sweep import ETAS
from giantstep.claims.margins import Margins

MARGINS = Margins(level=4.0, granted=0.4, needed=2.0)  # degrees


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    _, seeds = sweep.SIZES[size]
    k = NUMBERS.index("mixing")
    angles, expected, plain = (x[:, 1:, k] for x in (measured["found"], predicted["found"], predicted["unspread"]))
    comparison = compare(angles - expected, 0.0, level=MARGINS.level, granted=MARGINS.granted)
    rival = compare(angles - plain, 0.0, level=MARGINS.level, granted=MARGINS.granted)
    rows: list[Any] = [
        (a, e, angles[i, j].mean(), comparison.error[i, j], expected[i, j].mean(), comparison.mean[i, j], plain[i, j].mean())
        for i, a in enumerate(ACTIVATIONS) for j, e in enumerate(ETAS)
    ]  # fmt: skip
    worst, last = max(rows, key=lambda r: abs(r[5])), [r for r in rows if r[1] == ETAS[-1]]
    words = "; ".join(f"{a} {y:+.1f}° (predicted {x:+.1f}°, without ρ {z:+.1f}°)" for a, _, y, _, x, _, z in last)
    turned = bool(np.all(np.abs(np.array([r[2] for r in last])) > 5.0)) and bool(np.all(rival.missed[:, -1]))
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)) or not turned, float(np.max(comparison.seen)), MARGINS.needed),
        sentence=f"At η~ = {ETAS[-1]:g} the top radial mode has turned towards h₂(⟨u, x⟩) by {words}. "
        f"{np.sum(~comparison.missed)} of "
        f"{len(rows)} angles agree with theory, the furthest {worst[5]:+.2f}° off ({worst[0]}, η~ = {worst[1]:g}); without ρ "
        f"{np.sum(rival.missed)} are missed.",
        header=tuple("activation|η~|angle|s.e.|predicted|difference|without ρ".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=sweep.sizes(size),
        figure=sweep.figure(
            {a: ((angles[i].mean(-1), angles[i].std(-1, ddof=1) / seeds**0.5),
                 *(predicted[name][i, 1:, k] for name in ("lines", "dashed")))
             for i, a in enumerate(ACTIVATIONS)}, "mixing angle in degrees", ""),
        caption="Angle by which the top radial mode leans towards the quadratic harmonic, against the step size: it grows to "
        f"{last[0][2]:.0f}° for {last[0][0]} and to {last[1][2]:.0f}° for {last[1][0]}, on the predicted line; the dashed line "
        "without ρ is off.",
        settings=sweep.settings(size),
        power=comparison.power("°"),
    )  # fmt: skip


CLAIM = claim("lobo/mixing", measure=sweep.measure, predict=sweep.predict, judge=judge)

"""The step amplifies the eigenvalue aligned with the target and leaves those across it nearly where they were."""

from typing import Any

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.lobo import sweep
from giantstep.claims.lobo.experiment import ACTIVATIONS
from giantstep.claims.lobo.sweep import ETAS
from giantstep.claims.margins import Margins

MARGINS = Margins(level=4.0, granted=0.03, needed=0.15)  # of an amplification
MORE = 10.0  # the aligned eigenvalue grows so many times more than the transverse ones, at the largest step


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    _, seeds = sweep.SIZES[size]
    grown, expected = (sweep.amplified(x["found"], "aligned") for x in (measured, predicted))
    across, said_across = (sweep.amplified(x["found"], "transverse") for x in (measured, predicted))
    comparison = compare(grown / expected, 1.0, level=MARGINS.level, granted=MARGINS.granted)
    rest = compare(across / said_across, 1.0, level=MARGINS.level, granted=MARGINS.granted)
    selective = float(np.min(grown[:, -1].mean(-1) / across[:, -1].mean(-1)))
    rows: list[Any] = [
        (a, e, grown[i, k].mean(), grown[i, k].std(ddof=1) / seeds**0.5, expected[i, k].mean(), 100 * (comparison.mean[i, k] - 1),
         across[i, k].mean(), said_across[i, k].mean())
        for i, a in enumerate(ACTIVATIONS) for k, e in enumerate(ETAS)
    ]  # fmt: skip
    worst, last = max(rows, key=lambda r: abs(r[5])), [r for r in rows if r[1] == ETAS[-1]]
    words = "; ".join(f"{y:.0f} times for {a} (predicted {x:.0f}; across u {t:.2f})" for a, _, y, _, x, _, t, _ in last)
    wrong = bool(np.any(comparison.missed) or np.any(rest.missed)) or selective < MORE
    return Verdict(
        outcome=decided(
            wrong, float(np.max(comparison.seen)), MARGINS.needed
        ),
        sentence=f"At η~ = {ETAS[-1]:g} the aligned eigenvalue grows {words}. {np.sum(~comparison.missed)} of {len(rows)} "
        f"amplifications and {np.sum(~rest.missed)} of those across agree with theory; the furthest is {worst[5]:+.1f}% off "
        f"({worst[0]}, η~ = {worst[1]:g}).",
        header=tuple("activation|η~|amplification|s.e.|predicted|gap in %|across u|predicted ".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=sweep.sizes(size),
        figure=sweep.figure(
            {a: ((grown[i].mean(-1), grown[i].std(-1, ddof=1) / seeds**0.5),
                 *(sweep.amplified(predicted[name], "aligned")[i] for name in ("lines", "dashed")))
             for i, a in enumerate(ACTIVATIONS)}, "amplification", "y"),
        caption="Growth of the eigenvalue aligned with u against the step size, both axes logarithmic, one panel an activation: "
        f"the dots lie on the predicted rising line, up to {last[0][2]:.0f} and {last[1][2]:.0f}; for {last[1][0]} the line "
        "bends where the activation saturates.",
        settings=sweep.settings(size),
        power=comparison.power("% of an amplification", 100),
    )  # fmt: skip


CLAIM = claim("lobo/amplification", measure=sweep.measure, predict=sweep.predict, judge=judge)

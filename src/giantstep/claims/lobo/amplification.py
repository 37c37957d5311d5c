"""The step amplifies the eigenvalue aligned with the target and leaves those across it nearly where they were."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.claims.lobo import sweep
from giantstep.claims.lobo.experiment import ACTIVATIONS, NUMBERS, TITLES
from giantstep.claims.lobo.sweep import ETAS
from giantstep.measure import mean_and_error

SEEDS: dict[Size, Seeds] = {"quick": Seeds(8, 40), "full": Seeds(20, 120)}
RULE = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.04)}  # of a logarithm
ACROSS = {"quick": Tolerance(0.06, 0.15), "full": Tolerance(0.03, 0.06)}
MUCH = Tolerance(0.04, 0.4)
MORE = 10.0  # the aligned eigenvalue grows so many times more than the transverse ones, at the largest step
measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """How much the eigenvalue along u and those across it grow beyond that of the law before, and the first over the second."""
    along, across = (
        [np.log(data["found"][:, 1:, k] / predicted["found"][:, :1, k]) for data in (measured, predicted)]
        for k in (NUMBERS.index("aligned"), NUMBERS.index("transverse"))
    )
    at, names = sweep.labels(), [TITLES[a] for a in ACTIVATIONS]
    more = along[0][:, -1] - across[0][:, -1]
    return statistics.stated(
        statistics.compare("log growth along u over across u", more, np.log(MORE), at=names, side="above", within=MUCH),
        statistics.compare("log growth along u less predicted", along[0] - along[1], at=at, within=RULE[size]),
        statistics.compare("log growth across u less predicted", across[0] - across[1], at=at, within=ACROSS[size]),
    )  # fmt: skip


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    grown, error = mean_and_error(sweep.amplified(measured["found"], "aligned"))
    across = sweep.amplified(measured["found"], "transverse").mean(-1)
    expected = sweep.amplified(predicted["found"], "aligned").mean(-1)
    words = "; ".join(
        f"{grown[i, -1]:.0f} times for {TITLES[a]} (predicted {expected[i, -1]:.0f}; across u {across[i, -1]:.2f})"
        for i, a in enumerate(ACTIVATIONS)
    )
    return Verdict(
        sentence=f"At η~ = {ETAS[-1]:g} the aligned eigenvalue grows {words}. {ruling.stated.sentence}",
        sizes=sweep.sizes(size),
        figure=sweep.figure(
            {a: ((grown[i], error[i]), *(sweep.amplified(predicted[name], "aligned")[i] for name in ("lines", "dashed")))
             for i, a in enumerate(ACTIVATIONS)}, "growth of the aligned eigenvalue", "y"),
        caption="Growth of the eigenvalue aligned with u against the step size, both axes logarithmic, one panel for each "
        f"activation. The dots lie on the predicted line, up to {grown[0, -1]:.0f} and {grown[1, -1]:.0f}; for the smooth "
        "activation the line bends where it saturates.",
        settings=sweep.settings(size),
    )  # fmt: skip
